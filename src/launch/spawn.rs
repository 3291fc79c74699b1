//! Requests for further processes, in the form of PMI-1, which our mpiexec, MPICH's hydra and their kin understand.

use super::client::Client;
use super::pmix;
use super::start::{Program, Start};
use super::wire::Line;
use super::{Job, Launcher, Server};
use crate::error::{Class, Error, Result, fail};
use crate::os::library;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What has come of a request.
#[derive(Debug)]
pub struct Spawning {
    /// The error code of each process.
    pub codes: Vec<i32>,
    /// What the launcher calls the job, if it tells of its end.
    namespace: Option<String>,
}

impl Spawning {
    /// Why the processes will not come, as soon as the launcher has told of their end.
    pub fn end(&self) -> Option<String> {
        let code = pmix::end_of(self.namespace.as_deref()?)?;
        Some(format!(
            "they have ended, with exit code {code}, before MPI_Init was done"
        ))
    }
}

/// The lines of a request; `preput`: what the new processes find in their key-value store.
///
/// Errors: MPI_ERR_ARG, a line feed, which the form has no room for.
fn request(programs: &[Program], preput: &[(String, String)]) -> Result<String> {
    let mut lines = Vec::new();
    for (number, program) in (1..).zip(programs) {
        lines.push("mcmd=spawn".to_owned());
        lines.push(format!("nprocs={}", program.processes));
        lines.push(format!("execname={}", program.program));
        lines.push(format!("totspawns={}", programs.len()));
        lines.push(format!("spawnssofar={number}"));
        for (number, argument) in (1..).zip(&program.arguments) {
            lines.push(format!("arg{number}={argument}"));
        }
        lines.push(format!("argcnt={}", program.arguments.len()));
        // Those of the first count for all.
        let preput = if number == 1 { preput } else { &[] };
        for (list, pairs) in [("preput", preput), ("info", program.info.as_slice())] {
            lines.push(format!("{list}_num={}", pairs.len()));
            for (number, (key, text)) in pairs.iter().enumerate() {
                lines.push(format!("{list}_key_{number}={key}"));
                // Variables, the only values of several lines, have them so.
                let text = text.replace('\n', "\\n");
                lines.push(format!("{list}_val_{number}={text}"));
            }
        }
        lines.push("endcmd".to_owned());
    }
    if let Some(line) = lines.iter().find(|line| line.contains('\n')) {
        return fail!(
            Class::Arg,
            "{line:?} has a line feed, which the launcher cannot be told"
        );
    }
    Ok(lines.join("\n"))
}

impl Client {
    /// Has the launcher start processes. Their error codes.
    ///
    /// Errors: MPI_ERR_SPAWN, the launcher has started none, for a reason that it may give, or does not answer.
    fn spawn(
        &mut self,
        programs: &[Program],
        preput: &[(String, String)],
        limit: Option<Duration>,
    ) -> Result<Vec<i32>> {
        let all = programs.iter().map(|it| it.processes as usize).sum();
        let answer = self.call_within(&request(programs, preput)?, limit)?;
        let Some(answer) = answer else {
            return fail!(
                Class::Spawn,
                "it has not answered within {} seconds",
                limit.unwrap_or_default().as_secs()
            );
        };
        let line = Line(&answer);
        if !line.succeeded() {
            let why = line.rest("msg").unwrap_or("it does not say why");
            return fail!(
                Class::Spawn,
                "{}",
                if why.contains(' ') {
                    why.to_owned()
                } else {
                    why.replace('_', " ")
                }
            );
        }
        let codes = line.get("errcodes").unwrap_or_default();
        let mut codes: Vec<i32> = codes
            .split(',')
            .filter_map(|code| code.parse().ok())
            .map(|code: i32| if code == 0 { 0 } else { Class::Spawn.value() })
            .collect();
        codes.resize(all, 0);
        Ok(codes)
    }
}

/// The mpiexec that belongs to this library: `OXMPI_MPIEXEC`, or the one of its installation, or that of `PATH`.
fn own_mpiexec() -> PathBuf {
    let named = std::env::var_os("OXMPI_MPIEXEC").filter(|name| !name.is_empty());
    if let Some(named) = named {
        return named.into();
    }
    let beside = library::own_file().and_then(|file| {
        let prefix = file.parent()?.parent()?.to_owned();
        // lib/, or lib/ARCHITECTURE/.
        [
            prefix.join("bin/mpiexec"),
            prefix.parent()?.join("bin/mpiexec"),
        ]
        .into_iter()
        .find(|path| path.is_file())
    });
    beside.unwrap_or_else(|| "mpiexec".into())
}

/// Starts the keeper, which leaves the family of this process at once; our end of the socket to it.
fn start_keeper_of(mpiexec: &Path) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    fcntl_setfd(&theirs, FdFlags::empty())?;
    let mut command = Command::new(mpiexec);
    command
        .arg("-singleton-keeper")
        .arg(theirs.as_raw_fd().to_string())
        .arg(std::process::id().to_string())
        .stdin(Stdio::null());
    let status = command.spawn()?.wait()?;
    match status.success() {
        true => Ok(ours),
        false => Err(io::Error::other(format!("it has ended with {status}"))),
    }
}

impl Job {
    /// Has the launcher start processes, which find `preput` in their key-value store or environment. A launcher other than mpiexec
    /// must answer within `limit`.
    ///
    /// Errors: MPI_ERR_SPAWN, none was started.
    pub fn spawn(
        &self,
        programs: &[Program],
        preput: &[(String, String)],
        limit: Duration,
    ) -> Result<Spawning> {
        if self.how == Launcher::Singleton {
            self.start_keeper()?;
        }
        let wanted = programs.iter().map(|it| u64::from(it.processes)).sum();
        if let Some(text) = self.is_full_for(wanted) {
            return Err(self.refusal(&Error::new(Class::Spawn, text)));
        }
        let limit = (self.how == Launcher::Pmi1).then_some(limit);
        let here = self.local_ranks.len() == self.size as usize;
        self.with_server(|server| match server {
            Server::Pmi1(client) => client.spawn(programs, preput, limit).map(|codes| Spawning {
                codes,
                namespace: None,
            }),
            Server::Pmix(pmix) => {
                let starts: Result<Vec<Start>> = programs
                    .iter()
                    .map(|program| Start::of(program, preput, here))
                    .collect();
                let namespace = pmix.spawn(&starts?)?;
                let all = programs.iter().map(|it| it.processes as usize).sum();
                Ok(Spawning {
                    codes: vec![0; all],
                    namespace: Some(namespace),
                })
            }
        })
        .map_err(|error| self.refusal(&error))
    }

    /// Starts the mpiexec that serves a process which none has started, if that is not done.
    ///
    /// Errors: MPI_ERR_SPAWN, there is no mpiexec.
    fn start_keeper(&self) -> Result<()> {
        let mut server = self.server.lock().unwrap_or_else(|lock| lock.into_inner());
        if server.is_none() {
            let mpiexec = own_mpiexec();
            let socket = start_keeper_of(&mpiexec).map_err(|error| {
                Error::new(
                    Class::Spawn,
                    format!(
                        "{} cannot be started, which starts processes for a program that none has started itself (OXMPI_MPIEXEC names \
                         another one): {error}",
                        mpiexec.display()
                    ),
                )
            })?;
            *server = Some(Server::Pmi1(Client::silent(socket)));
        }
        Ok(())
    }

    /// Tells our mpiexec that a job that was spawned is connected to this one, or not any more, by the secret part of the port that it has
    /// connected to. There is no answer.
    pub fn tell_connection(&self, cookie: &str, connected: bool) {
        if !matches!(self.how, Launcher::Mpiexec | Launcher::Singleton) {
            return;
        }
        let state = if connected {
            "connected"
        } else {
            "disconnected"
        };
        // A launcher that is gone need not know.
        let _ = self.with_server(|server| match server {
            Server::Pmi1(client) => client.tell(&format!(
                "cmd=oxmpi_connection cookie={cookie} state={state}"
            )),
            Server::Pmix(_) => Ok(()),
        });
    }

    /// A value that those who have spawned this job have left for it; `None` if there is none.
    pub fn left_by_parents(&self, key: &str) -> Option<String> {
        if let Some(value) = std::env::var(key).ok().filter(|value| !value.is_empty()) {
            return Some(value);
        }
        // Under our mpiexec it is in the environment.
        let spawned = std::env::var("PMI_SPAWNED").is_ok_and(|value| value != "0");
        if self.how != Launcher::Pmi1 || !spawned {
            return None;
        }
        self.get(self.rank, key).ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_all_that_was_asked_for() {
        let program = |name: &str, processes| Program {
            program: name.into(),
            arguments: vec!["a b".into(), String::new()],
            processes,
            info: vec![("wdir".into(), "/tmp/x y".into())],
        };
        let preput = [("key".to_owned(), "value".to_owned())];
        let text = request(&[program("one", 2), program("two", 1)], &preput).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for line in [
            "nprocs=2",
            "totspawns=2",
            "spawnssofar=2",
            "arg1=a b",
            "arg2=",
            "argcnt=2",
            "preput_key_0=key",
            "preput_val_0=value",
            "info_val_0=/tmp/x y",
        ] {
            assert!(lines.contains(&line), "{line}");
        }
        let count = |line: &str| lines.iter().filter(|it| **it == line).count();
        assert_eq!((count("mcmd=spawn"), count("endcmd")), (2, 2));
        assert_eq!((count("preput_num=1"), count("preput_num=0")), (1, 1));
        assert!(request(&[program("a\nb", 1)], &[]).is_err());
    }
}
