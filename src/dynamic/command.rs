//! What MPI_Comm_spawn is told to start, and what its infos may say.

use crate::error::{Class, Error, Result, fail};
use crate::info::Info;
use crate::launch::{MOST_RANKS, Program, largest_of};

/// One program of MPI_Comm_spawn_multiple, or that of MPI_Comm_spawn.
#[derive(Clone, Debug)]
pub struct Command {
    pub program: String,
    pub arguments: Vec<String>,
    /// Processes wanted, at least one.
    pub processes: u32,
    pub info: Info,
}

const SOFT: &str = "soft";
const ERRHANDLERS: [&str; 3] = [
    "mpi_errors_are_fatal",
    "mpi_errors_abort",
    "mpi_errors_return",
];

impl Command {
    /// Whether the values of the keys that are known make sense.
    ///
    /// Errors: MPI_ERR_INFO_VALUE.
    pub fn check(&self) -> Result<()> {
        self.allowed()?;
        if let Some(handler) = self.info.get("mpi_initial_errhandler")?
            && !ERRHANDLERS.contains(&handler.trim().to_ascii_lowercase().as_str())
        {
            return fail!(
                Class::InfoValue,
                "the value of mpi_initial_errhandler is \"{handler}\"; it may be mpi_errors_are_fatal, mpi_errors_abort or \
                 mpi_errors_return"
            );
        }
        if let Some(lines) = self.info.get("env")? {
            let is_variable = |line: &&str| {
                line.split_once('=')
                    .is_some_and(|(name, _)| !name.is_empty())
            };
            if let Some(line) = lines.lines().find(|line| !is_variable(line)) {
                return fail!(
                    Class::InfoValue,
                    "the value of env has the line \"{line}\"; each is to be NAME=VALUE"
                );
            }
        }
        for key in ["wdir", "path", "host", "hosts", "hostfile"] {
            if self
                .info
                .get(key)?
                .is_some_and(|value| value.trim().is_empty())
            {
                return fail!(Class::InfoValue, "the value of {key} is empty");
            }
        }
        Ok(())
    }

    /// How many processes are to be started: as many as are wanted, or the largest number that the key `soft` allows and a job can have; `None`: it
    /// allows none.
    ///
    /// Errors: MPI_ERR_INFO_VALUE.
    pub fn allowed(&self) -> Result<Option<u32>> {
        match self.info.get(SOFT)? {
            Some(set) => largest_of(set, self.processes.min(MOST_RANKS))
                .map_err(|text| Error::new(Class::InfoValue, text)),
            None => Ok(Some(self.processes)),
        }
    }

    /// As the launcher is told of it.
    ///
    /// Errors: MPI_ERR_SPAWN, `soft` allows no number of processes.
    pub fn program(&self) -> Result<Program> {
        let Some(processes) = self.allowed()? else {
            return fail!(
                Class::Spawn,
                "the info key soft allows no number from 1 to {}; maxprocs is {}, and a job can have {MOST_RANKS} processes",
                self.processes.min(MOST_RANKS),
                self.processes
            );
        };
        let entries = self.info.entries().filter(|(key, _)| *key != SOFT);
        let info = entries.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Ok(Program {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            processes,
            info: info.collect(),
        })
    }
}
