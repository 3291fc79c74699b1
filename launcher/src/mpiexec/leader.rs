//! Starts ranks in a common session. A process is in the session that it was born in: so a process of this program leads the session,
//! starts the ranks as children of the supervisor, and is gone when the last of them runs.
//!
//! The supervisor sends it the number of a rank and the descriptors for it, and gets a process id. Invariant: when a start has
//! returned, the rank runs its program, or there is no such process.

use super::command::{Commands, How, Theirs};
use oxmpi::os::process::{self, Fork, fork, fork_sibling};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recv, recvmsg, send, sendmsg,
    socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, setsid, wait, waitpid};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What `ps` shows.
const NAME: &CStr = c"oxmpi-session";
/// Descriptors for a rank: where it tells that its program cannot be run, its socket, three streams.
const DESCRIPTORS: usize = 5;
/// In place of an error code: the process that was started is no child of the supervisor.
const NO_SIBLING: i32 = 0;

/// Why a rank was not started.
pub enum Failure {
    /// Nothing can be started in this way here.
    Refused,
    /// This rank cannot be started.
    Rank(io::Error),
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Failure::Rank(error.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Rank(error)
    }
}

/// Whether a process can start one that is its sibling, for the doctor. For a process without children.
///
/// Errors: what the kernel says, or a filter of system calls.
pub fn try_sibling() -> io::Result<()> {
    match fork()? {
        Fork::Child => match fork_sibling() {
            Ok(_) => process::exit_now(0),
            Err(error) => process::exit_now(error.raw_os_error().unwrap_or(255)),
        },
        Fork::Parent(pid) => {
            let status = retry_on_intr(|| waitpid(Pid::from_raw(pid), WaitOptions::empty()))?;
            match status.and_then(|(_, status)| status.exit_status()) {
                // There is the other one, or it is no child of this process.
                Some(0) => Ok(retry_on_intr(|| wait(WaitOptions::empty())).map(drop)?),
                Some(code) => Err(io::Error::from_raw_os_error(code)),
                None => Err(Errno::NOSYS.into()),
            }
        }
    }
}

/// A process that leads a session. It ends with this value.
pub struct Leader {
    pid: Pid,
    line: OwnedFd,
}

impl Leader {
    pub fn start(commands: &Commands<'_>) -> io::Result<Leader> {
        let supervisor = std::process::id() as i32;
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        match fork()? {
            Fork::Parent(pid) => {
                let pid = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
                Ok(Leader { pid, line: ours })
            }
            Fork::Child => {
                drop(ours);
                process::die_with(supervisor);
                let _ = setsid();
                let _ = rustix::thread::set_name(NAME);
                let _ = process::rename(&NAME.to_string_lossy());
                while serve(commands, supervisor, &theirs).is_some() {}
                process::exit_now(0)
            }
        }
    }

    /// The session that the ranks are in.
    pub fn session(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Starts a rank; its process id.
    pub fn start_rank(&self, rank: usize, how: How, theirs: &Theirs<'_>) -> Result<i32, Failure> {
        let (report, reporter) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut order = Order {
            rank,
            how,
            null_input: theirs.null_input,
            streams: [false; 3],
        };
        let mut descriptors = vec![reporter.as_fd(), theirs.pmi];
        let streams = [&theirs.input, &theirs.output, &theirs.error];
        for (has, stream) in order.streams.iter_mut().zip(streams) {
            *has = stream.is_some();
            descriptors.extend(stream.as_ref().map(OwnedFd::as_fd));
        }
        self.send(&order.bytes(), &descriptors)?;
        let mut answer = [0; 4];
        let received = retry_on_intr(|| recv(&self.line, &mut answer[..], RecvFlags::empty()));
        let pid = match received {
            Ok((4, _)) => i32::from_le_bytes(answer),
            Ok(_) | Err(_) => return Err(Failure::Refused),
        };
        if pid < 0 {
            return Err(Failure::Refused);
        }
        drop(reporter);
        let mut code = Vec::new();
        let read = File::from(report).read_to_end(&mut code);
        read.map_err(Failure::Rank)?;
        let Ok(code) = <[u8; 4]>::try_from(&code[..]) else {
            return Ok(pid);
        };
        match i32::from_le_bytes(code) {
            NO_SIBLING => Err(Failure::Refused),
            code => {
                let gone = || waitpid(Pid::from_raw(pid), WaitOptions::empty());
                let _ = retry_on_intr(gone);
                Err(Failure::Rank(io::Error::from_raw_os_error(code)))
            }
        }
    }

    fn send(&self, order: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        beside.push(SendAncillaryMessage::ScmRights(descriptors));
        let order = [IoSlice::new(order)];
        sendmsg(&self.line, &order, &mut beside, SendFlags::NOSIGNAL).map(drop)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
    }
}

/// What the process that leads is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    rank: usize,
    how: How,
    null_input: bool,
    /// Which of them have descriptors.
    streams: [bool; 3],
}

impl Order {
    fn bytes(&self) -> [u8; 13] {
        let mut bytes = [0; 13];
        bytes[..8].copy_from_slice(&self.rank.to_le_bytes());
        bytes[8] = self.how as u8;
        bytes[9] = u8::from(self.null_input);
        for (byte, has) in bytes[10..].iter_mut().zip(self.streams) {
            *byte = u8::from(has);
        }
        bytes
    }

    fn parse(bytes: [u8; 13]) -> Option<Order> {
        let [a, b, c, d, e, f, g, h, how, null_input, streams @ ..] = bytes;
        let known = [How::Program, How::Shell];
        Some(Order {
            rank: usize::from_le_bytes([a, b, c, d, e, f, g, h]),
            how: known.into_iter().find(|it| *it as u8 == how)?,
            null_input: null_input != 0,
            streams: streams.map(|it| it != 0),
        })
    }
}

/// The process that leads: starts a rank. `None`: there is nothing more to do.
fn serve(commands: &Commands<'_>, supervisor: i32, line: &OwnedFd) -> Option<()> {
    let mut bytes = [0; 13];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut place = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(line, &mut place, &mut beside, RecvFlags::CMSG_CLOEXEC).ok()?;
    if received.bytes != 13 {
        return None;
    }
    let order = Order::parse(bytes)?;
    let mut descriptors = beside.drain().filter_map(|it| match it {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let mut descriptors = descriptors.next()?;
    let report = descriptors.next()?;
    let pmi = descriptors.next()?;
    let [input, output, error] = order.streams.map(|has| match has {
        true => descriptors.next(),
        false => None,
    });
    let theirs = Theirs {
        pmi: pmi.as_fd(),
        null_input: order.null_input,
        input,
        output,
        error,
    };
    let answer = match fork_sibling() {
        Ok(Fork::Parent(pid)) => pid,
        Ok(Fork::Child) => {
            let code = match process::parent() == supervisor {
                true => commands
                    .become_rank(order.rank, order.how, theirs)
                    .raw_os_error(),
                false => Some(NO_SIBLING),
            };
            let code = code.unwrap_or(Errno::INVAL.raw_os_error());
            let _ = File::from(report).write_all(&code.to_le_bytes());
            process::exit_now(127)
        }
        Err(error) => -error.raw_os_error().unwrap_or(Errno::NOSYS.raw_os_error()),
    };
    send(line, &answer.to_le_bytes(), SendFlags::NOSIGNAL)
        .ok()
        .map(drop)
}
