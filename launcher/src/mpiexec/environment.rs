//! The environment of the ranks, and the variables by which users steer a launcher.
//!
//! Invariant: no variable of a launcher further out reaches a rank, so a rank never talks to the wrong one.

use super::options;
use super::request::{Deadlock, Pass, Program, Request};
use super::sessions::Sessions;
use super::survival;
use oxmpi::launch::names;
use std::collections::BTreeMap;
use std::ffi::OsString;

pub type Variables = BTreeMap<OsString, OsString>;

/// Whether a variable is how some launcher talks to its ranks.
fn belongs_to_a_launcher(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PMI_FD",
        "PMI_RANK",
        "PMI_SIZE",
        "PMI_PORT",
        "PMI_ID",
        "PMI_SPAWNED",
        "PMI_JOBID",
        "PMI_HOSTNAME",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "HYDI_CONTROL_FD",
        "HYD_BSTRAP_FD",
    ];
    const BEGINNINGS: &[&str] = &["PMIX_", "OMPI_COMM_WORLD_", "PRTE_"];
    NAMES.contains(&name)
        || names::OWN.contains(&name)
        || BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
}

/// The variables common to all ranks of a program.
pub fn of_program(
    request: &Request,
    program: &Program,
    inherited: impl Iterator<Item = (OsString, OsString)>,
) -> Variables {
    let pass = program.pass.as_ref().or(request.pass.as_ref());
    let mut variables: Variables = inherited
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            let wanted = match pass {
                None | Some(Pass::All) => true,
                Some(Pass::Nothing) => false,
                Some(Pass::List(list)) => list.iter().any(|wanted| *wanted == name),
                Some(Pass::AllBut(list)) => list.iter().all(|unwanted| *unwanted != name),
            };
            (wanted || request.also_pass.iter().any(|wanted| *wanted == name))
                && !belongs_to_a_launcher(&name)
        })
        .collect();
    for (name, value) in request.set.iter().chain(&program.set) {
        variables.insert(name.into(), value.into());
    }
    variables
}

/// Takes what the environment says where the command line is silent.
///
/// Errors: a value that cannot be understood.
pub fn apply(request: &mut Request, get: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    let get = |name: &str| get(name).filter(|value| !value.is_empty());
    if request.hosts.is_empty() && request.host_file.is_none() {
        request.host_file = get("HYDRA_HOST_FILE");
    }
    if request.timeout.is_none()
        && let Some(value) = get("MPIEXEC_TIMEOUT")
    {
        let limit =
            options::seconds(&value).map_err(|error| format!("MPIEXEC_TIMEOUT: {error}"))?;
        request.timeout = Some(limit);
    }
    if request.deadlock.is_none()
        && let Some(value) = get("OXMPI_DEADLOCK")
    {
        let parsed = Deadlock::parse(&value);
        request.deadlock = Some(parsed.map_err(|error| format!("OXMPI_DEADLOCK: {error}"))?);
    }
    if request.bind_to.is_none() {
        request.bind_to = get("HYDRA_BINDING").or_else(|| get("HYDRA_BIND"));
    }
    if request.sessions.is_none()
        && let Some(value) = get("OXMPI_SESSIONS")
    {
        let parsed = Sessions::parse(&value);
        request.sessions = Some(parsed.map_err(|error| format!("OXMPI_SESSIONS: {error}"))?);
    }
    if request.ranks_per_host.is_none()
        && let Some(value) = get("HYDRA_PPN")
    {
        let ranks = value.parse().ok().filter(|ranks| *ranks > 0);
        request.ranks_per_host =
            Some(ranks.ok_or(format!("HYDRA_PPN={value} is not a positive number"))?);
    }
    for name in survival::variables() {
        if request.survive.is_none()
            && let Some(value) = get(&name)
        {
            let parsed = survival::parse(&value);
            request.survive = Some(parsed.map_err(|error| format!("{name}: {error}"))?);
        }
    }
    if request.pass.is_none() {
        request.pass = match get("HYDRA_ENV").as_deref() {
            Some("none") => Some(Pass::Nothing),
            Some("all") | None => None,
            Some(other) => return Err(format!("HYDRA_ENV={other} is neither all nor none")),
        };
    }
    request.verbose |= get("HYDRA_DEBUG").is_some_and(|value| value != "0" && value != "no");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
        [
            "A",
            "B",
            "PATH",
            "PMI_FD",
            "PMIX_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OXMPI_RANK",
        ]
        .into_iter()
        .map(|name| (name.into(), "old".into()))
    }

    fn names_of(variables: &Variables) -> Vec<&str> {
        variables.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn what_is_passed_can_be_chosen() {
        let mut request = Request::default();
        let mut program = Program::default();
        assert_eq!(
            names_of(&of_program(&request, &program, inherited())),
            ["A", "B", "PATH"]
        );
        request.pass = Some(Pass::Nothing);
        request.set.push(("G".into(), "1".into()));
        assert_eq!(
            names_of(&of_program(&request, &program, inherited())),
            ["G"]
        );
        program.pass = Some(Pass::List(vec!["B".into(), "PMI_FD".into()]));
        program.set.push(("G".into(), "2".into()));
        let variables = of_program(&request, &program, inherited());
        assert_eq!(names_of(&variables), ["B", "G"]);
        assert_eq!(variables[&OsString::from("G")], OsString::from("2"));
        request.also_pass.push("A".into());
        assert_eq!(
            names_of(&of_program(&request, &program, inherited())),
            ["A", "B", "G"]
        );
    }

    #[test]
    fn the_environment_speaks_where_the_command_line_is_silent() {
        let get = |name: &str| match name {
            "MPIEXEC_TIMEOUT" => Some("3".to_owned()),
            "HYDRA_ENV" => Some("none".to_owned()),
            "HYDRA_PPN" => Some("2".to_owned()),
            "OXMPI_SESSIONS" => Some("one".to_owned()),
            _ => None,
        };
        let mut request = Request::default();
        apply(&mut request, &get).unwrap();
        assert_eq!(request.timeout, Some(3.0));
        assert_eq!(request.pass, Some(Pass::Nothing));
        assert_eq!(request.ranks_per_host, Some(2));
        assert_eq!(request.sessions, Some(Sessions::One));
        for wrong in ["MPIEXEC_TIMEOUT", "OXMPI_SESSIONS"] {
            let get = |name: &str| (name == wrong).then(|| "soon".to_owned());
            assert!(apply(&mut Request::default(), &get).is_err());
        }
    }
}
