//! Starts the ranks.
//!
//! Invariant: a rank inherits no descriptor that belongs to another rank.

use super::command::{Commands, How, Theirs};
use super::descriptors::{Descriptors, Supply};
use super::input::Source;
use super::leader::{Failure, Leader};
use super::plan::{Plan, RankPlan};
use super::request::Label;
use oxmpi::os::process::Leads;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::isatty;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

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

/// What is common to all ranks.
pub struct Starter<'a> {
    plan: &'a Plan,
    /// One rank whose output needs no treatment has mpiexec's own descriptors.
    direct: bool,
    /// One rank at a terminal stays in mpiexec's session.
    own_session: bool,
    inputs: Vec<Source>,
    pub descriptors: Descriptors,
    /// Our end and that of all ranks, where there are not enough descriptors for a pair each.
    shared_pmi: Option<(OwnedFd, OwnedFd)>,
    commands: Commands<'a>,
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
        Ok(Starter {
            inputs,
            commands: Commands::new(plan, segment, descriptors.before)?,
            descriptors,
            shared_pmi,
            plan,
            direct,
            // To read from a terminal, or to change it, a process must be in its session and in the foreground group.
            own_session: !(direct && terminal),
        })
    }

    /// Starts one rank, with a leader in its session. What the kernel cannot execute is run by the shell if it is text, as a shell
    /// and execvp do.
    fn start(&self, rank: usize, leader: Option<&Leader>) -> Result<Started, Failure> {
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
                let mut command = self.commands.of(rank, how, theirs, leads)?;
                match (&self.plan.crowd, plan.session) {
                    // Without the session on a processor in common ranks do not yield to each other there.
                    (Some(all), Some(_)) => self.commands.bind(all),
                    _ => self.commands.bind(&plan.processors),
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

    /// All are started: this process may run everywhere again. Our end of the socket that all ranks share, if they do.
    pub fn finish(self) -> Option<OwnedFd> {
        self.commands.unbind();
        self.shared_pmi.map(|(ours, _)| ours)
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
}

/// The leaders of the sessions that are being filled.
pub struct Leaders {
    running: HashMap<u32, Leader>,
    /// The last rank of each session.
    last: HashMap<u32, usize>,
    /// Each rank gets a session of its own.
    refused: bool,
}

impl Leaders {
    pub fn new(plan: &Plan) -> Leaders {
        Leaders {
            running: HashMap::new(),
            last: plan.last_ranks(),
            refused: false,
        }
    }

    /// Starts a rank in its session, or, where that is refused, in one of its own.
    pub fn start_rank(&mut self, starter: &Starter<'_>, rank: usize) -> io::Result<Started> {
        let session = starter.plan.ranks[rank].session;
        if let Some(session) = session.filter(|_| !self.refused) {
            let led = match self.leader(session, starter) {
                Ok(leader) => starter.start(rank, Some(leader)),
                Err(_) => Err(Failure::Refused),
            };
            if self.last.get(&session) == Some(&rank) {
                self.running.remove(&session);
            }
            match led {
                Ok(started) => return Ok(started),
                Err(Failure::Rank(error)) => return Err(error),
                Err(Failure::Refused) => {
                    self.refused = true;
                    self.running.clear();
                }
            }
        }
        starter.start(rank, None).map_err(|failure| match failure {
            Failure::Rank(error) => error,
            Failure::Refused => Errno::NOSYS.into(),
        })
    }

    fn leader(&mut self, session: u32, starter: &Starter<'_>) -> io::Result<&Leader> {
        Ok(match self.running.entry(session) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Leader::start(&starter.commands)?),
        })
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
