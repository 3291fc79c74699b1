//! The keeper of a singleton: a program that was started without mpiexec, and spawns. Its library starts this process, which serves
//! it as a supervisor serves a rank, and which ends after it and all that it has spawned.

use super::plan::{self, Refusal};
use super::rank::{Life, Rank, Stage};
use super::request::{Program, Request, StandardInput};
use super::supervisor::{self, PMI, Supervisor, tag};
use oxmpi::os::process::{Fork, fork, inherited, unblock_signals};
use rustix::event::epoll::{self, EventFlags};
use std::ffi::OsString;
use std::io;
use std::io::Write;
use std::os::unix::net::UnixStream;

/// The word by which an mpiexec knows that it is to keep a singleton.
pub const PART: &str = "-singleton-keeper";

/// Runs it; the exit code. The arguments are the number of the socket to the singleton, and its process id.
pub fn run(arguments: &[OsString]) -> i32 {
    let number = |at: usize| arguments.get(at)?.to_str()?.parse().ok();
    let (Some(socket), Some(pid)) = (number(0).and_then(inherited), number(1)) else {
        eprintln!("mpiexec: {PART} is for the library alone");
        return 1;
    };
    unblock_signals();
    // The program did not start this process and must not be told of its end.
    match fork() {
        Ok(Fork::Parent(_)) => return 0,
        Ok(Fork::Child) => {}
        Err(error) => {
            eprintln!("mpiexec: cannot start the keeper of a singleton: {error}");
            return 1;
        }
    }
    let program = Program {
        ranks: Some(1),
        command: vec!["/proc/self/exe".into()],
        ..Program::default()
    };
    let request = Request {
        programs: vec![program],
        input: StandardInput::Ranks(Vec::new()),
        bind_to: Some("none".to_owned()),
        ..Request::default()
    };
    let mut plan = match plan::make(request) {
        Ok(plan) => plan,
        Err(Refusal { text, code }) => {
            eprintln!("mpiexec: {text}");
            return code;
        }
    };
    plan.singleton = Some((socket, pid));
    // There is no front process: nobody passes signals on.
    let Ok((ours, mut theirs)) = UnixStream::pair() else {
        return 1;
    };
    let _ = theirs.write_all(&[0]);
    let code = supervisor::run(&plan, ours);
    drop(theirs);
    code
}

impl Supervisor<'_> {
    /// Takes the singleton in as the only rank.
    pub(super) fn add_singleton(&mut self) -> io::Result<()> {
        let Some((socket, pid)) = &self.plan.singleton else {
            return Ok(());
        };
        let pmi = socket.try_clone()?;
        // The plan has the socket as long as the job lasts.
        epoll::add(&self.epoll, socket, tag(PMI, 0), EventFlags::IN)?;
        self.ranks.push(Rank {
            pmi: Some(pmi),
            told: Stage::Inside,
            ..Rank::running(0, 0, 0, *pid)
        });
        Ok(())
    }

    /// The singleton has closed its socket: it has ended, or left MPI.
    pub(super) fn singleton_left(&mut self) {
        let Some((socket, _)) = &self.plan.singleton else {
            return;
        };
        if !self.ranks[0].is_running() {
            return;
        }
        let _ = epoll::delete(&self.epoll, socket);
        self.ranks[0].life = Life::Exited(0);
        if self.ranks[0].told == Stage::Inside {
            // What is connected to it ends with it.
            self.end_spawned();
        }
    }
}
