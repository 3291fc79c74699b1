//! Spawn: the launcher starts a job, which connects to a port of those that have spawned it.

use super::command::Command;
use super::connect::begin;
use super::job;
use super::meeting::{Codes, Opening, Side, opening};
use super::port::{self, Deadline, Port, Socket};
use super::reception::Addresses;
use crate::coll::CollContext;
use crate::comm::{self, Comm, Maker};
use crate::connections;
use crate::error::{Class, Error, Result, fail};
use crate::launch::{Job, MOST_RANKS, Program, names};
use crate::sync::{AtomicI32, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// What MPI_Comm_spawn gives.
pub struct Spawned {
    /// The intercommunicator to the new processes.
    pub comm: Result<&'static Comm>,
    /// The error codes of all processes that were asked for, on every rank; none if the arguments were wrong.
    pub codes: Codes,
}

/// The communicator to the processes that have spawned this one.
static PARENT: AtomicI32 = AtomicI32::new(comm::NULL);

/// How long children try to reach the port of their parents, seconds: those listen before children are started.
const PARENT_TIME: f64 = 60.0;

/// MPI_Comm_get_parent: a handle, MPI_COMM_NULL where there is none or after it was disconnected.
pub fn parent() -> i32 {
    let handle = PARENT.load(Ordering::Relaxed);
    match comm::find(handle) {
        Some(_) => handle,
        None => comm::NULL,
    }
}

/// MPI_Comm_spawn and MPI_Comm_spawn_multiple, as `function` says. `commands`: what only the root has.
///
/// Errors: on all ranks, MPI_ERR_SPAWN if not all processes could be started or they end before they call MPI_Init.
pub fn spawn(
    comm: &Comm,
    root: Result<i32>,
    commands: Result<Option<Vec<Command>>>,
    function: &'static str,
) -> Spawned {
    let commands = commands.and_then(|commands| {
        if let Some(commands) = &commands {
            commands.iter().try_for_each(Command::check)?;
        }
        Ok(commands)
    });
    let mut codes = Codes::new();
    let begun = begin(comm, root, commands, (function, Maker::Spawn));
    let comm = begun.and_then(|(side, commands)| {
        let job = side.job;
        let mut cookie = None;
        let opening = commands.map(|commands| {
            let port = fit(&commands).and_then(|()| port::open(Addresses::of_settings(), 0));
            let name = port.as_ref().ok().map(|port| port::cookie_of(&port.name));
            cookie = name.map(str::to_owned);
            let all_live = side.all_live();
            Box::new(move || start(job, &commands, port, all_live)) as Opening
        });
        // Some of the processes have come, and have ended since.
        let lost = |error: Error| match error.class() {
            Class::Port => Error::new(Class::Spawn, error.text()),
            _ => error,
        };
        let comm = side.meet(opening, &mut codes).map_err(lost)?;
        if let Some(cookie) = cookie {
            job.tell_connection(&cookie, true);
            tell_of_disconnect(job, comm, cookie);
        }
        Ok(comm)
    });
    Spawned { comm, codes }
}

/// Has mpiexec told when the other side of a connection, which the cookie names, is disconnected.
fn tell_of_disconnect(job: &'static Job, comm: &Comm, cookie: String) {
    let others = comm.peers_as_members();
    let others = (0..others.size()).map(|rank| others.process(rank));
    connections::at_disconnect(others.collect(), move || {
        job.tell_connection(&cookie, false);
    });
}

/// Has the launcher start the processes and waits for them at the port, which is closed then. The error code of each process, and the connection.
fn start(
    job: &Job,
    commands: &[Command],
    port: Result<Arc<Port>>,
    all_live: impl Fn() -> Result<()>,
) -> (Codes, Result<Socket>) {
    let wanted = commands.iter().map(|it| it.processes);
    let all: u64 = wanted.clone().map(u64::from).sum();
    let not_started = || wanted.map(|it| (it, Class::Spawn.value())).collect();
    let port = match port {
        Ok(port) => port,
        Err(error) => return (not_started(), Err(error)),
    };
    let preput = [(names::PARENT.to_owned(), port.name.clone())];
    let programs: Result<Vec<Program>> = commands.iter().map(Command::program).collect();
    let limit = Duration::from_secs(super::CONNECT_TIMEOUT.get());
    let asked = programs.and_then(|programs| job.spawn(&programs, &preput, limit));
    let (codes, socket) = match asked {
        Ok(started) if started.codes.contains(&0) => {
            let may_go_on = || match started.end() {
                Some(why) => fail!(Class::Spawn, "the processes do not come: {why}"),
                None => all_live(),
            };
            let socket = port.accept(None, may_go_on);
            (spread(commands, &started.codes), socket)
        }
        asked => {
            let none = |_| fail!(Class::Spawn, "none of {all} processes could be started");
            (not_started(), asked.and_then(none))
        }
    };
    let _ = port::close(&port.name);
    (codes, socket)
}

/// Whether so many processes can be started at a time.
///
/// Errors: MPI_ERR_SPAWN.
fn fit(commands: &[Command]) -> Result<()> {
    let allowed = |it: &Command| it.allowed().ok().flatten().unwrap_or(0);
    let all: u64 = commands.iter().map(|it| u64::from(allowed(it))).sum();
    if all <= u64::from(MOST_RANKS) {
        return Ok(());
    }
    fail!(
        Class::Spawn,
        "maxprocs is {all}{}, and at most {MOST_RANKS} processes can be started at a time",
        match commands {
            [_] => String::new(),
            commands => format!(" in all, for {} commands", commands.len()),
        }
    )
}

/// The error codes of the processes that were wanted, of which the info key `soft` may have left some out.
fn spread(commands: &[Command], started: &[i32]) -> Codes {
    let mut started = started.iter().copied();
    let mut codes = Codes::new();
    for command in commands {
        let asked = command.allowed().ok().flatten().unwrap_or(0);
        codes.extend(started.by_ref().take(asked as usize).map(|code| (1, code)));
        let others = command.processes.saturating_sub(asked);
        codes.push((others, Class::Spawn.value()));
    }
    codes
}

/// In MPI_Init of a process that was spawned: connects the world to those that have spawned it.
///
/// Errors: MPI_ERR_SPAWN, those that have spawned it have ended or cannot be reached; those of a meeting.
pub fn meet_parents() -> Result<()> {
    meet_parents_now().map_err(|error| match error.class() {
        Class::Port => Error::new(
            Class::Spawn,
            format!(
                "the processes that have spawned this one have ended, or cannot be reached: {}",
                error.text()
            ),
        ),
        _ => error,
    })
}

fn meet_parents_now() -> Result<()> {
    let job = job()?;
    let Some(name) = job.left_by_parents(names::PARENT) else {
        return Ok(());
    };
    let Some(world) = comm::find(comm::WORLD) else {
        return fail!(Class::Comm, "there is no MPI_COMM_WORLD");
    };
    let side = Side {
        comm: world,
        own: CollContext::new(world, "MPI_Init"),
        root: 0,
        made: Maker::Spawn,
        job,
    };
    let cookie = port::cookie_of(&name).to_owned();
    let opening = (world.rank() == 0).then(|| {
        let all_live = side.all_live();
        opening(move || port::connect(&name, Deadline::after(PARENT_TIME), all_live))
    });
    let parents = side.meet(opening, &mut Codes::new())?;
    // Both sides tell: a process may end as soon as it has left the other one, which may not know it yet.
    tell_of_disconnect(job, parents, cookie);
    parents.set_name("MPI_COMM_PARENT");
    PARENT.store(parents.handle, Ordering::Relaxed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::codec;
    use crate::info::Info;

    fn command(processes: u32, soft: Option<&str>) -> Command {
        let mut info = Info::new();
        if let Some(set) = soft {
            info.set("soft", set).unwrap();
        }
        Command {
            program: "x".to_owned(),
            arguments: Vec::new(),
            processes,
            info,
        }
    }

    #[test]
    fn codes_come_back_whatever_the_number_of_processes() {
        let commands = [command(3, None), command(u32::MAX, Some("2,2000000000"))];
        let codes = spread(&commands, &[0, 0, 42, 0, 0]);
        assert_eq!(codec::decode(&codec::encode(&codes)), Some(codes.clone()));
        let all: u64 = codes.iter().map(|(count, _)| u64::from(*count)).sum();
        assert_eq!(all, 3 + u64::from(u32::MAX));
        assert_eq!(codes.last(), Some(&(u32::MAX - 2, Class::Spawn.value())));
    }

    #[test]
    fn more_processes_than_a_job_can_have_are_refused() {
        assert!(fit(&[command(MOST_RANKS, None)]).is_ok());
        for commands in [
            vec![command(10_000_000, None)],
            vec![command(MOST_RANKS, None), command(1, None)],
        ] {
            let error = fit(&commands).err().unwrap();
            assert_eq!(error.class(), Class::Spawn);
            assert!(error.text().contains("65536"), "{error}");
        }
        // The largest number that is possible.
        let soft = command(10_000_000, Some("7,10000000"));
        assert_eq!(soft.allowed().unwrap(), Some(7));
        assert!(fit(&[soft]).is_ok());
    }
}
