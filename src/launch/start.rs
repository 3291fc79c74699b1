//! Programs to start, and what a launcher that knows nothing of MPI's infos is told of them.

use super::names;
use crate::error::{Class, Result, fail};
use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program to start, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub program: String,
    pub arguments: Vec<String>,
    pub processes: u32,
    /// Keys and values of the info, reserved ones.
    pub info: Vec<(String, String)>,
}

impl Program {
    /// For launchers that start what is not there, and do not tell, or take `path` for one folder: the program with its file.
    ///
    /// Errors: as of [`Start::of`].
    pub fn found(&self, here: bool) -> Result<Program> {
        let command = Start::of(self, &[], here)?.command;
        let mut found = self.clone();
        if command.starts_with('/') {
            found.info.retain(|(key, _)| key != "path");
        }
        found.program = command;
        Ok(found)
    }
}

/// A program with its infos understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    pub command: String,
    pub arguments: Vec<String>,
    /// `NAME=VALUE`.
    pub environment: Vec<String>,
    pub folder: String,
    pub processes: u32,
    pub host: Option<String>,
    pub host_file: Option<String>,
}

/// Variables that processes of one program have in common, whatever started them.
const COMMON: &[&str] = &["PATH", "LD_LIBRARY_PATH"];
const PREFIXES: &[&str] = &["OXMPI_", "MPIR_CVAR_"];

impl Start {
    /// `also`: more variables. `here`: the processes are sure to be on this host, so the program must be.
    ///
    /// Errors: MPI_ERR_SPAWN, there is no such program or folder.
    pub fn of(program: &Program, also: &[(String, String)], here: bool) -> Result<Start> {
        let get = |key: &str| {
            let mut info = program.info.iter();
            info.find(|(name, _)| name == key)
                .map(|(_, value)| value.clone())
        };
        let current = env::current_dir().unwrap_or_default();
        let folder = current.join(get("wdir").unwrap_or_default());
        let host = get("host").or(get("hosts"));
        let host_file = get("hostfile");
        let here = here && host.is_none() && host_file.is_none();
        if here && !folder.is_dir() {
            return fail!(Class::Spawn, "the folder {} is not there", folder.display());
        }
        let found = find(&program.program, &folder, get("path").as_deref());
        if here && found.is_none() {
            return fail!(
                Class::Spawn,
                "the program {} is not found, or may not be executed",
                program.program
            );
        }
        let command = found.map_or_else(
            || program.program.clone(),
            |path| path.to_string_lossy().into_owned(),
        );
        let mut variables: Vec<(String, String)> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| is_common(name))
            .collect();
        variables.extend_from_slice(also);
        if let Some(handler) = get("mpi_initial_errhandler") {
            let handler = handler.trim().to_ascii_lowercase();
            variables.push(("OXMPI_INITIAL_ERRHANDLER".to_owned(), handler));
        }
        if let Some(kinds) = get(crate::info::kinds::KEY) {
            variables.push((names::MEMORY_KINDS.to_owned(), kinds.clone()));
        }
        let lines = get("env").unwrap_or_default();
        let pairs = lines.lines().filter_map(|line| line.split_once('='));
        variables.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        // The last value of a name is the one that counts.
        let last = |at: usize, name: &str| !variables[at + 1..].iter().any(|(it, _)| it == name);
        let variables_of = variables.iter().enumerate();
        let environment = variables_of
            .filter(|(at, (name, _))| last(*at, name))
            .map(|(_, (name, value))| format!("{name}={value}"))
            .collect();
        Ok(Start {
            command,
            arguments: program.arguments.clone(),
            environment,
            folder: folder.to_string_lossy().into_owned(),
            processes: program.processes,
            host,
            host_file,
        })
    }
}

fn is_common(name: &str) -> bool {
    let ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    COMMON.contains(&name) || ours && !names::OWN.contains(&name) && name != "OXMPI_SINGLETON"
}

/// The program's file on this host: with a slash it is a path, relative to its folder; else it is looked for in the folders of `path`
/// and PATH.
fn find(program: &str, folder: &Path, path: Option<&str>) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let known = path.metadata();
        known.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(folder.join(program)).filter(is_program);
    }
    let all = env::var("PATH").unwrap_or_default();
    let folders = path.unwrap_or_default().split(':').chain(all.split(':'));
    folders
        .filter(|it| !it.is_empty())
        .map(|it| folder.join(it).join(program))
        .find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, info: &[(&str, &str)]) -> Program {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Program {
            program: name.into(),
            arguments: vec!["a".into()],
            processes: 2,
            info: info.iter().map(owned).collect(),
        }
    }

    #[test]
    fn infos_become_what_a_launcher_knows() {
        let wanted = program(
            "sh",
            &[
                ("wdir", "/"),
                ("path", "/nowhere:bin"),
                ("env", "A=1\nB=x y"),
                ("mpi_initial_errhandler", "MPI_ERRORS_RETURN"),
            ],
        );
        let port = [("OXMPI_PARENT".to_owned(), "oxmpi:1".to_owned())];
        let start = Start::of(&wanted, &port, true).unwrap();
        assert_eq!((start.folder.as_str(), start.processes), ("/", 2));
        assert_eq!(start.command, "/bin/sh");
        for line in [
            "A=1",
            "B=x y",
            "OXMPI_PARENT=oxmpi:1",
            "OXMPI_INITIAL_ERRHANDLER=mpi_errors_return",
        ] {
            assert!(start.environment.iter().any(|it| it == line), "{line}");
        }
        let far = Start::of(&program("./none", &[("host", "far")]), &[], true).unwrap();
        assert_eq!(
            (far.command.as_str(), far.host.as_deref()),
            ("./none", Some("far"))
        );
    }

    #[test]
    fn what_is_not_there_is_refused() {
        for (name, info) in [
            ("/nowhere/program", &[][..]),
            ("no_such_program_anywhere", &[]),
            ("/", &[]),
            ("/etc/passwd", &[]),
            ("sh", &[("wdir", "/nowhere")]),
        ] {
            let error = Start::of(&program(name, info), &[], true).unwrap_err();
            assert_eq!(error.class(), Class::Spawn, "{name}");
        }
        assert!(Start::of(&program("/nowhere/program", &[]), &[], false).is_ok());
    }

    #[test]
    fn a_file_that_is_found_needs_no_path() {
        let found = program("sh", &[("path", "/bin"), ("wdir", "/")]).found(true);
        let wanted = program("/bin/sh", &[("wdir", "/")]);
        assert_eq!(found.unwrap(), wanted);
        let far = program("no_such_program_anywhere", &[("path", "/bin")]);
        assert_eq!(far.found(false).unwrap(), far);
        assert!(far.found(true).is_err());
    }

    #[test]
    fn places_of_ranks_are_not_passed_on() {
        assert!(is_common("PATH") && is_common("OXMPI_FABRIC") && is_common("MPIR_CVAR_X"));
        assert!(!is_common("OXMPI_RANK") && !is_common("OXMPI_PARENT") && !is_common("HOME"));
    }
}
