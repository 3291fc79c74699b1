//! Starts the ranks.
//!
//! A rank of oxmpi finds everything in its environment and in inherited descriptors: its place, the segment, and a
//! socket, over which a program of another MPI of MPICH's family can speak PMI-1.
//!
//! Invariant: a rank inherits no descriptor that belongs to another rank.

use super::descriptors::{Descriptors, Supply};
use super::environment::Variables;
use super::input::Source;
use super::leader::{Failure, Leader};
use super::plan::{Plan, RankPlan};
use super::request::Label;
use oxmpi::launch::names;
use oxmpi::os::process::{Leads, lead, limit_files};
use rustix::fs::fstat;
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::isatty;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A process that has been started, and our ends of what leads to it.
pub struct Started {
    pub pid: i32,
    /// The leader of its session; `None`: the session is mpiexec's own.
    pub session: Option<i32>,
    /// `None`: all ranks share one.
    pub pmi: Option<OwnedFd>,
    pub input: Option<OwnedFd>,
    pub output: Option<OwnedFd>,
    pub error: Option<OwnedFd>,
}

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

/// What is common to all ranks.
pub struct Starter<'a> {
    pub plan: &'a Plan,
    segment: &'a OwnedFd,
    segment_inode: u64,
    /// One rank whose output needs no treatment has mpiexec's own descriptors.
    pub direct: bool,
    /// One rank at a terminal stays in mpiexec's session.
    own_session: bool,
    /// This process.
    keeper: u32,
    inputs: Vec<Source>,
    pub descriptors: Descriptors,
    /// Our end and that of all ranks, where there are not enough descriptors for a pair each.
    shared_pmi: Option<(OwnedFd, OwnedFd)>,
    all_processors: Option<CpuSet>,
}

impl<'a> Starter<'a> {
    pub fn new(plan: &'a Plan, segment: &'a OwnedFd) -> io::Result<Starter<'a>> {
        let request = &plan.request;
        let copied = request.output_folder.as_ref().is_some_and(|it| it.copy);
        let direct = plan.size == 1
            && !plan.is_spread()
            && request.label == Label::None
            && !request.timestamps
            && !copied;
        let terminal = isatty(rustix::stdio::stdin())
            || isatty(rustix::stdio::stdout())
            || isatty(rustix::stdio::stderr());
        let inputs = {
            let of = |rank: &RankPlan| (rank.place == plan.place).then_some(rank.number);
            let here: Vec<_> = plan.ranks.iter().map(of).collect();
            super::input::sources(&request.input, &here, plan.size, (direct, plan.place == 0))
        };
        let descriptors = Descriptors::arrange(plan, &inputs, direct)?;
        let shared_pmi = match descriptors.supply {
            Supply::All => None,
            _ => Some(pmi_pair()?),
        };
        fcntl_setfd(segment, FdFlags::empty())?;
        Ok(Starter {
            inputs,
            descriptors,
            shared_pmi,
            segment_inode: fstat(segment)?.st_ino,
            plan,
            segment,
            direct,
            // To read from a terminal, or to change it, a process must be in its session and in the foreground group.
            own_session: !(direct && terminal),
            keeper: std::process::id(),
            all_processors: sched_getaffinity(None).ok(),
        })
    }

    /// Starts one rank, with a leader in its session. What the kernel cannot execute is run by the shell if it is text, as a shell
    /// and execvp do.
    pub fn start(&self, rank: usize, leader: Option<&Leader>) -> Result<Started, Failure> {
        let program = &self.plan.programs[self.plan.ranks[rank].program];
        let tool = self.plan.ranks[rank].tool.first();
        let is_script =
            |error: &io::Error| is_not_executable(error) && is_text(&program.executable);
        let started = match self.start_by(How::Program, rank, leader) {
            Err(Failure::Rank(error)) if tool.is_none() && is_script(&error) => {
                self.start_by(How::Shell, rank, leader)
            }
            other => other,
        };
        let shown = match tool {
            Some(tool) => tool.to_string_lossy(),
            None => program.shown.as_str().into(),
        };
        started.map_err(|failure| match failure {
            Failure::Rank(error) => Failure::Rank(explained(&shown, error)),
            Failure::Refused => failure,
        })
    }

    fn start_by(&self, how: How, rank: usize, leader: Option<&Leader>) -> Result<Started, Failure> {
        let plan = &self.plan.ranks[rank];
        let folder = &self.plan.programs[plan.program].folder;
        if let Some(folder) = folder.as_ref().filter(|it| !it.is_dir()) {
            let shown = folder.display();
            let error = format!("-wdir {shown}: no such folder");
            return Err(io::Error::other(error).into());
        }
        let own_pmi = match self.shared_pmi {
            Some(_) => None,
            None => Some(pmi_pair()?),
        };
        let pmi = own_pmi.as_ref().or(self.shared_pmi.as_ref());
        let (_, pmi) = pmi.ok_or(Errno::BADF)?;
        let mut theirs = Theirs {
            pmi: pmi.as_fd(),
            null_input: self.inputs[rank] == Source::Null,
            input: None,
            output: None,
            error: None,
        };
        let mut input = None;
        if self.inputs[rank] == Source::Pipe {
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            ioctl_fionbio(&writer, true)?;
            theirs.input = Some(reader);
            input = Some(writer);
        }
        let (stdout, output) = self.stream(plan.output_file.as_deref())?;
        let one_file = plan.error_file == plan.output_file && plan.error_file.is_some();
        let (stderr, error) = match &stdout {
            // One file for both: one offset, or they would overwrite each other.
            Some(stdout) if one_file || self.plan.request.merge_error => {
                (Some(stdout.try_clone()?), None)
            }
            None if self.plan.request.merge_error => {
                (Some(rustix::stdio::stdout().try_clone_to_owned()?), None)
            }
            _ if plan.error_file.is_none() && self.descriptors.supply == Supply::OutputOnly => {
                (None, None)
            }
            _ => self.stream(plan.error_file.as_deref())?,
        };
        (theirs.output, theirs.error) = (stdout, stderr);
        let (pid, session) = match leader {
            Some(leader) => {
                let pid = leader.start_rank(rank, how, &theirs)?;
                (pid, Some(leader.session()))
            }
            None => {
                // The kernel divides a busy processor among sessions first (autogroup). In mpiexec's session all ranks together
                // would get what another user's single process gets.
                let leads = self.own_session.then_some(Leads::Session);
                let mut command = self.command(rank, how, theirs, leads)?;
                match (&self.plan.crowd, plan.session) {
                    // Without the session on a processor in common ranks do not yield to each other there.
                    (Some(all), Some(_)) => self.bind(all),
                    _ => self.bind(&plan.processors),
                }
                let pid = command.spawn()?.id() as i32;
                (pid, self.own_session.then_some(pid))
            }
        };
        Ok(Started {
            pid,
            session,
            pmi: own_pmi.map(|(ours, _)| ours),
            input,
            output,
            error,
        })
    }

    /// This process, which the leader of a session has started for it, is to be a rank. Returns why it cannot.
    pub fn become_rank(&self, rank: usize, how: How, theirs: Theirs<'_>) -> io::Error {
        self.bind(&self.plan.ranks[rank].processors);
        match self.command(rank, how, theirs, Some(Leads::Group)) {
            Ok(mut command) => command.exec(),
            Err(error) => error,
        }
    }

    /// What starts a rank. The next process that this one starts inherits the socket for PMI-1, too.
    fn command(
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
        if let Some(limit) = &self.descriptors.before {
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

    /// Our end of the socket that all ranks share, if they do.
    pub fn into_shared_pmi(self) -> Option<OwnedFd> {
        self.shared_pmi.map(|(ours, _)| ours)
    }

    /// This process may run everywhere again.
    pub fn unbind(&self) {
        if let Some(all) = &self.all_processors {
            let _ = sched_setaffinity(None, all);
        }
    }

    /// The rank's end (`None`: mpiexec's own) and ours (`None`: nothing to forward).
    fn stream(&self, file: Option<&Path>) -> io::Result<(Option<OwnedFd>, Option<OwnedFd>)> {
        if let Some(path) = file {
            let file = create(path)?;
            return Ok((Some(file.into()), None));
        }
        if self.direct {
            return Ok((None, None));
        }
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        ioctl_fionbio(&reader, true)?;
        Ok((Some(writer), Some(reader)))
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
    fn bind(&self, processors: &[usize]) {
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

fn pmi_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let pair = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    );
    Ok(pair?)
}

/// Makes a file for output.
pub fn create(path: &Path) -> io::Result<File> {
    File::create(path).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot write {}: {error}", path.display()),
        )
    })
}

fn is_not_executable(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOEXEC)
}

/// Whether the first line of a file has no byte that no text has: what shells ask before they take a file for a script.
fn is_text(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut beginning));
    let line = beginning.split(|byte| *byte == b'\n').next();
    read.is_ok() && !line.unwrap_or_default().contains(&0)
}

/// What the kernel does not say: that it is not the program which is missing, for that was found before.
fn explained(program: &str, error: io::Error) -> io::Error {
    let reason = match Errno::from_io_error(&error) {
        Some(Errno::NOENT) if !Path::new(program).exists() && program.contains('/') => {
            "there is no such program on this host"
        }
        Some(Errno::NOENT) => "the interpreter that it names, or /dev/null, is missing",
        Some(Errno::NOEXEC) => "it is neither a program for this machine nor a script",
        _ => return error,
    };
    io::Error::other(format!("{program}: {reason}"))
}
