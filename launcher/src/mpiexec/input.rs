//! Standard input for the ranks. One rank gets mpiexec's own descriptor: no copy, and nothing is read that the rank does
//! not read (so mpiexec can stand in a loop of `while read`). A terminal, or several readers, get copies through pipes.
//!
//! Invariant: nothing is read ahead of the slowest reader.

use super::descendants;
use super::request::StandardInput;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::termios::{isatty, tcgetpgrp};
use std::os::fd::OwnedFd;

const CHUNK: usize = 1 << 16;

/// What a rank's standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Inherit,
    Pipe,
    Null,
}

/// The input of every rank known here. `ranks`: its rank in the job of `total` ranks, `None` if it is on another host. `direct`: as in
/// [`super::start::Starter`]. `at_root`: this process has mpiexec's own input.
pub fn sources(
    wish: &StandardInput,
    ranks: &[Option<usize>],
    total: usize,
    (direct, at_root): (bool, bool),
) -> Vec<Source> {
    let readers = (0..total).filter(|rank| wish.has(*rank)).count();
    let has = |rank: &Option<usize>| rank.is_some_and(|rank| wish.has(rank));
    let alone = at_root && readers == 1 && ranks.iter().any(has);
    // A rank in a process group of its own would be stopped when it reads from the terminal.
    let inherit = alone && (direct || !isatty(rustix::stdio::stdin()));
    ranks
        .iter()
        .map(|rank| source(has(rank), inherit))
        .collect()
}

fn source(reads: bool, inherit: bool) -> Source {
    match (reads, inherit) {
        (false, _) => Source::Null,
        (true, true) => Source::Inherit,
        (true, false) => Source::Pipe,
    }
}

struct Reader {
    pipe: OwnedFd,
    data: EventData,
    /// How much of the chunk it has.
    taken: usize,
    waiting: bool,
}

/// Copies standard input to the readers.
pub struct Input {
    readers: Vec<Reader>,
    chunk: Vec<u8>,
    data: EventData,
    /// Asked epoll to tell when there is something.
    listening: bool,
    /// A file: epoll does not know it, it is always ready.
    always_ready: bool,
    ended: bool,
    /// A reader wants more, but this process is in the background of the terminal.
    suspended: bool,
}

impl Input {
    pub fn new(data: EventData) -> Input {
        Input {
            readers: Vec::new(),
            chunk: Vec::new(),
            data,
            listening: false,
            always_ready: false,
            ended: false,
            suspended: false,
        }
    }

    /// Adds a reader by the non-blocking end of its pipe.
    pub fn add(&mut self, pipe: OwnedFd, data: EventData) {
        self.readers.push(Reader {
            pipe,
            data,
            taken: 0,
            waiting: false,
        });
    }

    /// Does what can be done without waiting, and asks epoll for the rest.
    pub fn advance(&mut self, epoll: &OwnedFd) {
        self.suspended = false;
        loop {
            self.hand_out(epoll);
            let pending = self.readers.iter().any(|it| it.taken < self.chunk.len());
            if self.readers.is_empty() || self.ended {
                if !pending {
                    // The readers see the end when their pipes are closed.
                    self.readers.clear();
                }
                self.stop_listening(epoll);
                return;
            }
            self.suspended = !pending && !self.may_read();
            if pending || self.suspended {
                self.stop_listening(epoll);
                return;
            }
            if !self.always_ready {
                self.listen(epoll);
                return;
            }
            self.read();
        }
    }

    /// Whether it has to be asked at times if this process is in the foreground now: no signal says so to a job that runs.
    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// Standard input is ready.
    pub fn ready(&mut self, epoll: &OwnedFd) {
        if self.listening && self.may_read() {
            self.read();
        }
        self.advance(epoll);
    }

    /// A reader can take more.
    pub fn reader_ready(&mut self, epoll: &OwnedFd) {
        for reader in self.readers.iter_mut().filter(|it| it.waiting) {
            let _ = epoll::delete(epoll, &reader.pipe);
            reader.waiting = false;
        }
        self.advance(epoll);
    }

    /// A background job that reads from its terminal is stopped; so do not.
    fn may_read(&self) -> bool {
        let stdin = rustix::stdio::stdin();
        match isatty(stdin) {
            // Both have no number where mpiexec was started together with its process namespace.
            true => match (tcgetpgrp(stdin), descendants::own_group()) {
                (Ok(foreground), Some(own)) => foreground.as_raw_nonzero().get() == own,
                (Err(Errno::OPNOTSUPP), Some(0)) => true,
                _ => false,
            },
            false => true,
        }
    }

    fn read(&mut self) {
        self.chunk.resize(CHUNK, 0);
        let count = match rustix::io::read(rustix::stdio::stdin(), self.chunk.as_mut_slice()) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => {
                self.chunk.clear();
                return self.rewind();
            }
            Err(_) => 0,
        };
        self.ended = count == 0;
        self.chunk.truncate(count);
        self.rewind();
    }

    fn rewind(&mut self) {
        for reader in &mut self.readers {
            reader.taken = 0;
        }
    }

    fn hand_out(&mut self, epoll: &OwnedFd) {
        let chunk = &self.chunk;
        self.readers.retain_mut(|reader| {
            while reader.taken < chunk.len() && !reader.waiting {
                match rustix::io::write(&reader.pipe, &chunk[reader.taken..]) {
                    Ok(count) => reader.taken += count,
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => {
                        let added = epoll::add(epoll, &reader.pipe, reader.data, EventFlags::OUT);
                        reader.waiting = added.is_ok();
                    }
                    // It has closed its input or is gone.
                    Err(_) => return false,
                }
            }
            true
        });
    }

    fn listen(&mut self, epoll: &OwnedFd) {
        if !self.listening {
            match epoll::add(epoll, rustix::stdio::stdin(), self.data, EventFlags::IN) {
                Ok(()) => self.listening = true,
                Err(_) => self.always_ready = true,
            }
            if self.always_ready {
                self.read();
                self.advance(epoll);
            }
        }
    }

    fn stop_listening(&mut self, epoll: &OwnedFd) {
        if self.listening {
            let _ = epoll::delete(epoll, rustix::stdio::stdin());
            self.listening = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_were_named_read() {
        let sources = |wish: &StandardInput, ranks, direct| {
            let here: Vec<_> = (0..ranks).map(Some).collect();
            sources(wish, &here, ranks, (direct, true))
        };
        let two = sources(&StandardInput::Ranks(vec![1, 2]), 3, false);
        assert_eq!(two, [Source::Null, Source::Pipe, Source::Pipe]);
        let all = sources(&StandardInput::All, 2, false);
        assert_eq!(all, [Source::Pipe, Source::Pipe]);
        assert_eq!(
            sources(&StandardInput::Ranks(vec![]), 1, true),
            [Source::Null]
        );
        let first = StandardInput::Ranks(vec![0]);
        assert_eq!(sources(&first, 1, true), [Source::Inherit]);
    }

    #[test]
    fn a_rank_of_another_host_does_not_inherit() {
        let first = StandardInput::Ranks(vec![0]);
        let at_root = sources(&first, &[None, Some(1)], 2, (false, true));
        assert_eq!(at_root, [Source::Null, Source::Null]);
        let below = sources(&first, &[Some(0)], 2, (false, false));
        assert_eq!(below, [Source::Pipe]);
    }
}
