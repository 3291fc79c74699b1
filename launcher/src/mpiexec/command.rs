//! The commands of ranks: program, environment, descriptors and processors. A rank of oxmpi finds everything in its environment and in
//! inherited descriptors: its place, the segment, and a socket, over which a program of another MPI of MPICH's family can speak PMI-1.

use super::environment::Variables;
use super::mpir;
use super::plan::Plan;
use super::timeline;
use oxmpi::launch::names;
use oxmpi::os::process::{Leads, lead, limit_files};
use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Rlimit;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Program,
    /// It is text that the kernel cannot execute.
    Shell,
}

/// The descriptors that a rank starts with.
pub struct Theirs<'a> {
    pub pmi: BorrowedFd<'a>,
    /// Whether input is /dev/null. Otherwise a stream that is `None` below is mpiexec's own.
    pub null_input: bool,
    pub input: Option<OwnedFd>,
    pub output: Option<OwnedFd>,
    pub error: Option<OwnedFd>,
}

/// Runs scripts that do not name an interpreter.
const SHELL: &str = "/bin/sh";

/// What they are made of.
pub struct Commands<'a> {
    plan: &'a Plan,
    segment: &'a OwnedFd,
    segment_inode: u64,
    /// This process.
    keeper: u32,
    /// The limit of descriptors that ranks get back, where it was raised.
    limit: Option<Rlimit>,
    all_processors: Option<CpuSet>,
}

impl<'a> Commands<'a> {
    pub fn new(
        plan: &'a Plan,
        segment: &'a OwnedFd,
        limit: Option<Rlimit>,
    ) -> io::Result<Commands<'a>> {
        fcntl_setfd(segment, FdFlags::empty())?;
        Ok(Commands {
            plan,
            segment,
            segment_inode: fstat(segment)?.st_ino,
            keeper: std::process::id(),
            limit,
            all_processors: sched_getaffinity(None).ok(),
        })
    }

    /// This process, which the leader of a session has started for it, is to be a rank. Returns why it cannot.
    pub fn become_rank(&self, rank: usize, how: How, theirs: Theirs<'_>) -> io::Error {
        self.bind(&self.plan.ranks[rank].processors);
        match self.of(rank, how, theirs, Some(Leads::Group)) {
            Ok(mut command) => command.exec(),
            Err(error) => error,
        }
    }

    /// What starts a rank. The next process that this one starts inherits the socket for PMI-1, too.
    pub fn of(
        &self,
        rank: usize,
        how: How,
        theirs: Theirs<'_>,
        leads: Option<Leads>,
    ) -> io::Result<Command> {
        let plan = &self.plan.ranks[rank];
        let program = &self.plan.programs[plan.program];
        let mut command = match (plan.tool.split_first(), how) {
            (Some((tool, words)), _) => {
                let mut command = Command::new(tool);
                command.args(words).arg(&program.executable);
                command
            }
            (None, How::Program) => {
                let mut command = Command::new(&program.executable);
                command.arg0(&program.shown);
                command
            }
            (None, How::Shell) => {
                let mut command = Command::new(SHELL);
                command.arg(&program.executable);
                command
            }
        };
        command
            .args(&program.arguments)
            .env_clear()
            .envs(&program.variables);
        self.add_place(
            &mut command,
            rank,
            plan.program,
            theirs.pmi,
            &program.variables,
        )?;
        fcntl_setfd(theirs.pmi, FdFlags::empty())?;
        if let Some(folder) = &program.folder {
            command.current_dir(folder);
        }
        match (theirs.null_input, theirs.input) {
            (true, _) => command.stdin(Stdio::null()),
            (false, None) => command.stdin(Stdio::inherit()),
            (false, Some(reader)) => command.stdin(reader),
        };
        let stream = |it: Option<OwnedFd>| it.map_or_else(Stdio::inherit, Stdio::from);
        command.stdout(stream(theirs.output));
        command.stderr(stream(theirs.error));
        if let Some(limit) = &self.limit {
            limit_files(&mut command, limit.current, limit.maximum);
        }
        if let Some(leads) = leads {
            let name = match command.get_program() == program.executable {
                true => program.shown.as_ref(),
                false => command.get_program(),
            }
            .to_owned();
            lead(&mut command, &name, leads)?;
        }
        Ok(command)
    }

    /// This process may run everywhere again.
    pub fn unbind(&self) {
        if let Some(all) = &self.all_processors {
            let _ = sched_setaffinity(None, all);
        }
    }

    fn add_place(
        &self,
        command: &mut Command,
        rank: usize,
        appnum: usize,
        pmi: BorrowedFd<'_>,
        variables: &Variables,
    ) -> io::Result<()> {
        let size = self.plan.size;
        let (number, seat) = (self.plan.ranks[rank].number, self.plan.ranks[rank].seat);
        let numbers = [
            (names::RANK, number as u64),
            (names::SIZE, size as u64),
            (names::SEGMENT, self.segment.as_raw_fd() as u64),
            (names::SEGMENT_INODE, self.segment_inode),
            (names::KEEPER, u64::from(self.keeper)),
            (names::PMI_INODE, fstat(pmi)?.st_ino),
            (names::APPNUM, appnum as u64),
            (names::PMI_FD, pmi.as_raw_fd() as u64),
            (names::PMI_RANK, number as u64),
            (names::PMI_SIZE, size as u64),
            ("MPI_LOCALRANKID", seat as u64),
            ("MPI_LOCALNRANKS", self.plan.here().count() as u64),
        ];
        for (name, number) in numbers {
            command.env(name, number.to_string());
        }
        if let Some(gate) = mpir::gate() {
            command.env(names::DEBUG_GATE, gate);
        }
        if let Some(told) = timeline::told_to_ranks() {
            command.env(names::TIMELINE, told);
        }
        if let Some(universe) = self.plan.request.universe.size(size as u32) {
            command.env(names::UNIVERSE_SIZE, universe.to_string());
        }
        command.env(names::JOB, format!("{:016x}", self.plan.job));
        if !self.plan.process_sets.is_empty() {
            command.env(names::PROCESS_SETS, &self.plan.process_sets);
        }
        if self.plan.is_spread() {
            command.env(names::HOSTS, self.plan.nodes.folded_hosts());
            command.env(names::MAPPING, self.plan.nodes.mapping());
        }
        // MPICH 5 asks for the host by this name; a user's own value wins.
        if !variables.contains_key(std::ffi::OsStr::new("PMI_HOSTNAME")) {
            command.env("PMI_HOSTNAME", self.plan.host_of(rank));
        }
        Ok(())
    }

    /// The child inherits the processors of this thread.
    pub fn bind(&self, processors: &[usize]) {
        if processors.is_empty() {
            // The one before may have been bound.
            return self.unbind();
        }
        let mut set = CpuSet::new();
        for processor in processors.iter().filter(|it| **it < CpuSet::MAX_CPU) {
            set.set(*processor);
        }
        let _ = sched_setaffinity(None, &set);
    }
}
