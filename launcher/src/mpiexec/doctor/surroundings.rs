//! Containers, batch systems, other launchers, hosts, networks, and variables.

use super::Finding;
use super::view::View;
use crate::mpiexec::request::Request;
use crate::mpiexec::{environment, hosts, variables};
use oxmpi::process::settings;

pub fn findings(view: &View) -> Vec<Finding> {
    let mut found = vec![container(view), batch_system(view), launcher(view)];
    found.push(host_file(view));
    found.push(fabric(view));
    found.extend(own_variables(view));
    found
}

fn container(view: &View) -> Finding {
    const MARKS: &[(&str, &str)] = &[
        ("/.dockerenv", "Docker"),
        ("/run/.containerenv", "Podman"),
        ("/.singularity.d", "Apptainer"),
    ];
    let kind = MARKS.iter().find(|(path, _)| view.exists(path));
    let kind = kind.map(|(_, kind)| *kind);
    let kind = kind.or(view
        .variable("KUBERNETES_SERVICE_HOST")
        .map(|_| "Kubernetes"));
    match kind.or(view.variable("container")) {
        Some(kind) => Finding::ok(
            "container",
            format!("{kind}: its limits are in the lines above"),
        ),
        None => Finding::ok("container", "none seen"),
    }
}

fn batch_system(view: &View) -> Finding {
    const WHAT: &str = "batch system";
    // The last: whether mpiexec takes its hosts from there (allocation.rs).
    const SYSTEMS: &[(&str, &str, &str, bool)] = &[
        ("SLURM_JOB_ID", "Slurm", "SLURM_JOB_NUM_NODES", true),
        ("PBS_JOBID", "PBS", "PBS_NUM_NODES", true),
        ("LSB_JOBID", "LSF", "", true),
        ("PE_HOSTFILE", "Grid Engine", "NHOSTS", false),
        ("COBALT_JOBID", "Cobalt", "", false),
    ];
    let here = |(name, ..): &&(&str, &str, &str, bool)| view.variable(name).is_some();
    let Some((name, system, nodes, gives_hosts)) = SYSTEMS.iter().find(here) else {
        return Finding::ok(WHAT, "none seen");
    };
    let job = view.variable(name).unwrap_or_default();
    let nodes = view
        .variable(nodes)
        .and_then(|text| text.parse::<u32>().ok());
    match (nodes.filter(|nodes| *nodes > 1), gives_hosts) {
        (Some(nodes), true) => Finding::ok(
            WHAT,
            format!(
                "{system} job {job} with {nodes} nodes, where mpiexec starts the ranks; this page is of this one"
            ),
        ),
        (Some(nodes), false) => Finding::note(
            WHAT,
            format!("{system} job {job} with {nodes} nodes: mpiexec uses this one only"),
            "name the others by -hosts or -f",
        ),
        (None, _) => Finding::ok(
            WHAT,
            format!("{system} job {job}; mpiexec starts the ranks on its hosts"),
        ),
    }
}

/// Launchers further out, by what they tell their ranks.
fn launcher(view: &View) -> Finding {
    const WHAT: &str = "launcher";
    let set = |name: &str| view.variable(name).is_some();
    let begins = |beginning: &str| {
        view.variable_names()
            .any(|name| name.starts_with(beginning))
    };
    if set("OXMPI_RANK") {
        return Finding::note(
            WHAT,
            "this process is a rank of another mpiexec of oxmpi; the doctor's own job is apart from it",
            "",
        );
    }
    if set("PMI_FD") || set("PMI_PORT") {
        return Finding::ok(
            WHAT,
            "a PMI-1 server (hydra, srun --mpi=pmi2): programs can join its job",
        );
    }
    if set("PMIX_NAMESPACE") {
        return Finding::ok(
            WHAT,
            "a PMIx server (srun --mpi=pmix, Open MPI's mpirun, prterun): programs can join its job by libpmix.so.2",
        );
    }
    if begins("OMPI_COMM_WORLD_") {
        return Finding::note(
            WHAT,
            "this process was started by Open MPI's mpirun and does not have its PMIX_NAMESPACE, so programs cannot join",
            "start programs with this mpiexec",
        );
    }
    Finding::ok(WHAT, "no other: mpiexec starts the ranks itself")
}

fn host_file(view: &View) -> Finding {
    const WHAT: &str = "host file";
    let Some(path) = view.variable("HYDRA_HOST_FILE") else {
        return Finding::ok(WHAT, "none set");
    };
    let listed = match hosts::listed(&[], Some(&view.path(path).to_string_lossy())) {
        Ok(listed) => listed,
        Err(error) => {
            return Finding::problem(
                WHAT,
                format!("HYDRA_HOST_FILE is set, and mpiexec refuses it: {error}"),
                "unset HYDRA_HOST_FILE, or mend the file",
            );
        }
    };
    let (here, others): (Vec<_>, Vec<_>) = listed.into_iter().partition(|host| host.here);
    let here = match (hosts::slots_of(&here), here.is_empty()) {
        (Some(slots), _) => format!("{slots} slots on this host"),
        (None, false) => "this host".to_owned(),
        (None, true) => "not this host".to_owned(),
    };
    if others.is_empty() {
        return Finding::ok(WHAT, format!("{path}: {here}"));
    }
    const MOST: usize = 8;
    let names: Vec<&str> = others.iter().take(MOST).map(|host| &*host.name).collect();
    let more = match others.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Finding::note(
        WHAT,
        format!(
            "{path}: {here}, and others that this page says nothing about: {}{more}",
            names.join(", ")
        ),
        "mpiexec -ppn 1 mpiexec -doctor prints a page on each",
    )
}

fn fabric(view: &View) -> Finding {
    let devices = view.names("/sys/class/infiniband");
    match devices.is_empty() {
        true => Finding::ok(
            "fabric",
            "no adapter is seen: messages to other hosts go over TCP, by libfabric",
        ),
        false => Finding::ok(
            "fabric",
            format!(
                "{} for messages to other hosts, where libfabric has a provider for it (OXMPI_SHOW=fabric shows it)",
                devices.join(", ")
            ),
        ),
    }
}

/// Variables that steer mpiexec or the library, and those that only seem to.
fn own_variables(view: &View) -> Vec<Finding> {
    const WHAT: &str = "variables";
    let mut found = Vec::new();
    let get = |name: &str| view.variable(name).map(str::to_owned);
    if let Err(error) = environment::apply(&mut Request::default(), &get) {
        found.push(Finding::problem(
            WHAT,
            format!("mpiexec refuses {error}"),
            "unset it",
        ));
    }
    let all = settings::all();
    let set: Vec<String> = all
        .iter()
        .filter_map(|it| Some(format!("{}={}", it.name(), view.variable(&it.name())?)))
        .collect();
    for variable in &all {
        // A value that cannot be read is noted down.
        let _ = variable.value();
    }
    for mistake in oxmpi::variables::take_mistakes() {
        found.push(Finding::note(WHAT, mistake, "set a value that is allowed"));
    }
    let unknown = variables::unknown(view.variable_names().cloned());
    if !unknown.ours.is_empty() {
        found.push(Finding::note(
            WHAT,
            format!("without effect: {}", unknown.ours.join(", ")),
            "mpiexec -info lists those that have one",
        ));
    }
    found.push(match set.is_empty() {
        true => Finding::ok(WHAT, "no variable of the library is set"),
        false => Finding::ok(WHAT, format!("set: {}", set.join(" "))),
    });
    found
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn with(variables: &[(&str, &str)]) -> View {
        View::of_test(&[], variables)
    }

    #[test]
    fn containers_are_known_by_their_marks() {
        assert!(
            container(&View::of_test(&[("/.dockerenv", "")], &[]))
                .found
                .contains("Docker")
        );
        assert!(
            container(&with(&[("container", "lxc")]))
                .found
                .contains("lxc")
        );
        assert_eq!(container(&with(&[])).found, "none seen");
    }

    #[test]
    fn batch_systems_and_launchers_are_told_apart() {
        let several = batch_system(&with(&[
            ("SLURM_JOB_ID", "7"),
            ("SLURM_JOB_NUM_NODES", "2"),
        ]));
        assert_eq!(several.state, State::Ok);
        assert!(
            several.found.contains("Slurm job 7 with 2 nodes"),
            "{several:?}"
        );
        assert_eq!(
            batch_system(&with(&[("PBS_JOBID", "8.x")])).state,
            State::Ok
        );
        assert_eq!(launcher(&with(&[("PMIX_NAMESPACE", "x")])).state, State::Ok);
        assert_eq!(
            launcher(&with(&[("OMPI_COMM_WORLD_SIZE", "2")])).state,
            State::Note
        );
        assert!(launcher(&with(&[("PMI_FD", "3")])).found.contains("PMI-1"));
        assert!(
            launcher(&with(&[("OXMPI_RANK", "0")]))
                .found
                .contains("a rank of")
        );
        assert_eq!(launcher(&with(&[])).state, State::Ok);
    }

    #[test]
    fn a_host_file_that_mpiexec_would_refuse_is_a_problem() {
        let view =
            |text: &str| View::of_test(&[("/hosts", text)], &[("HYDRA_HOST_FILE", "/hosts")]);
        let wrong = host_file(&view("localhost:many\n"));
        assert_eq!(wrong.state, State::Problem);
        assert!(wrong.found.contains("localhost:many"), "{wrong:?}");
        let other = host_file(&view("localhost:4\n198.51.100.1\n"));
        assert_eq!(other.state, State::Note);
        assert!(other.found.contains("4 slots on this host"), "{other:?}");
        assert!(other.found.ends_with(": 198.51.100.1"), "{other:?}");
        let many: String = (1..=20).map(|at| format!("198.51.100.{at}\n")).collect();
        let many = host_file(&view(&many));
        assert!(many.found.contains("not this host"), "{many:?}");
        assert!(many.found.ends_with("198.51.100.8 and 12 more"), "{many:?}");
        assert!(host_file(&view("localhost:4\n")).found.contains("4 slots"));
        assert_eq!(host_file(&with(&[])).state, State::Ok);
    }

    #[test]
    fn adapters_are_named() {
        let view = View::of_test(&[("/sys/class/infiniband/mlx5_0/node_type", "1")], &[]);
        assert_eq!(fabric(&view).state, State::Ok);
        assert!(fabric(&view).found.starts_with("mlx5_0"));
        assert_eq!(fabric(&with(&[])).state, State::Ok);
    }

    #[test]
    fn variables_are_sorted_into_good_and_bad() {
        let text = |variables: &[(&str, &str)], state: State| {
            let found = own_variables(&with(variables)).into_iter();
            let found = found.filter(|it| it.state == state).map(|it| it.found);
            found.collect::<Vec<_>>().join("\n")
        };
        assert!(text(&[("OXMPI_SPINS", "5")], State::Ok).contains("OXMPI_SPINS=5"));
        assert!(text(&[("OXMPI_SPIN", "5")], State::Note).contains("did you mean OXMPI_SPINS"));
        assert!(text(&[("HYDRA_PPN", "x")], State::Problem).contains("HYDRA_PPN=x"));
        assert_eq!(text(&[], State::Problem), "");
    }
}
