//! What the supervisor of a node keeper does instead of deciding: it tells the root, and does what the root says.

use super::frames::Frame;
use crate::mpiexec::ending::Cause;
use crate::mpiexec::output::Kind;
use crate::mpiexec::rank::{Life, Stage};
use crate::mpiexec::show;
use crate::mpiexec::state::{AtKeeper, Pipe};
use crate::mpiexec::supervisor::{READER, Supervisor, tag};
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::process::Signal;
use std::os::fd::OwnedFd;

impl AtKeeper {
    pub fn add_input(&mut self, rank: usize, fd: OwnedFd) {
        let pipe = Pipe {
            fd,
            bytes: Vec::new(),
            ended: false,
            waiting: false,
        };
        self.inputs.insert(rank, pipe);
    }
}

impl Supervisor<'_> {
    pub(crate) fn report(&mut self, frame: &Frame) {
        if let Some(tree) = &mut self.tree {
            tree.report(frame);
        }
    }

    /// Says which ranks were started, and which could not be.
    pub(crate) fn report_start(&mut self, failure: Option<(usize, String)>) {
        let ranks = self.ranks.iter();
        let processes = ranks.map(|rank| (rank.world as u32, rank.pid)).collect();
        self.report(&Frame::Started { processes });
        if let Some((index, why)) = failure {
            let rank = self.plan.ranks.get(index).map(|rank| rank.number as u32);
            self.report(&Frame::Failed { rank, why });
        }
    }

    /// Passes on what ranks have said, and what they do.
    pub(crate) fn tell_root(&mut self) {
        for (source, bytes) in self.output.take_upwards() {
            if let Some((rank, kind)) = self.at_keeper.streams.get(&source) {
                let frame = Frame::Output {
                    rank: *rank as u32,
                    error: *kind == Kind::Error,
                    bytes,
                };
                self.report(&frame);
            }
        }
        self.tell_stages();
    }

    pub(crate) fn tell_stages(&mut self) {
        for number in 0..self.ranks.len() {
            let rank = &self.ranks[number];
            let now = (rank.stage(&self.segment), rank.mpi_pid(&self.segment));
            let world = rank.world as u32;
            let told = self
                .at_keeper
                .stages
                .entry(number)
                .or_insert((Stage::Outside, rank.pid));
            if *told != now {
                *told = now;
                let (stage, pid) = now;
                self.report(&Frame::Stage {
                    rank: world,
                    pid,
                    stage,
                });
            }
        }
    }

    /// A rank has ended; what it has said comes first.
    pub(crate) fn report_end(&mut self, number: usize) {
        self.tell_root();
        self.at_keeper.inputs.remove(&number);
        let rank = &self.ranks[number];
        let frame = Frame::Ended {
            rank: rank.world as u32,
            life: rank.life,
            stage: rank.stage(&self.segment),
            exchanged: self.exchanged_of(rank),
        };
        self.report(&frame);
    }

    /// What the root says.
    pub(crate) fn hear_root(&mut self, frame: Frame) {
        match frame {
            Frame::Input { rank, bytes } => {
                if let Some(number) = self.index_of(rank)
                    && let Some(pipe) = self.at_keeper.inputs.get_mut(&number)
                {
                    pipe.ended |= bytes.is_empty();
                    pipe.bytes.extend(bytes);
                    self.feed_rank(number);
                }
            }
            Frame::OutputTaken { rank, error, bytes } => {
                let kind = if error { Kind::Error } else { Kind::Output };
                let wanted = (rank as usize, kind);
                let mut streams = self.at_keeper.streams.iter();
                if let Some((source, _)) = streams.find(|(_, stream)| **stream == wanted) {
                    self.output.widen(&self.epoll, *source, bytes as usize);
                }
            }
            Frame::Answer { rank, line } => {
                if let Some(number) = self.index_of(rank) {
                    self.answer(number, &line);
                }
            }
            Frame::Signal { number } => match Signal::from_named_raw(number) {
                Some(Signal::KILL) => self.fail(128 + number, Cause::AtOnce),
                Some(signal) => self.signal_ranks(signal),
                None => {}
            },
            Frame::TableWanted => {
                let ranks = self.ranks.iter().map(|rank| rank.world as u32);
                let rows = ranks.zip(self.rows()).collect();
                self.report(&Frame::Table(rows));
            }
            Frame::Ends(news) => self.keep_ends(&news),
            Frame::StacksWanted => self.show_stacks(),
            Frame::SweepWanted { number, ask } => self.answer_sweep(number, ask),
            Frame::WaitsWanted { number } => self.answer_waits(number),
            Frame::SamplesWanted {
                number,
                milliseconds,
            } => self.answer_samples(number, milliseconds),
            Frame::End => self.at_keeper.released = true,
            _ => {}
        }
    }

    fn index_of(&self, rank: u32) -> Option<usize> {
        self.ranks.iter().position(|it| it.world == rank as usize)
    }

    /// Gives a rank what there is for it.
    pub(crate) fn feed_rank(&mut self, number: usize) {
        let Some(pipe) = self.at_keeper.inputs.get_mut(&number) else {
            return;
        };
        if std::mem::take(&mut pipe.waiting) {
            let _ = epoll::delete(&self.epoll, &pipe.fd);
        }
        let mut taken = 0;
        let mut closed = false;
        while taken < pipe.bytes.len() && !closed && !pipe.waiting {
            match rustix::io::write(&pipe.fd, &pipe.bytes[taken..]) {
                Ok(count) => taken += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let added =
                        epoll::add(&self.epoll, &pipe.fd, tag(READER, number), EventFlags::OUT);
                    pipe.waiting = added.is_ok();
                }
                Err(_) => closed = true,
            }
        }
        pipe.bytes.drain(..taken);
        let over = closed || pipe.ended && pipe.bytes.is_empty();
        if over {
            self.at_keeper.inputs.remove(&number);
        }
        let rank = self.ranks[number].world as u32;
        let bytes = if closed { u32::MAX } else { taken as u32 };
        if bytes > 0 {
            self.report(&Frame::InputTaken { rank, bytes });
        }
    }

    /// The parent is gone: nobody wants these ranks any more.
    pub(crate) fn orphaned(&mut self, why: &str) {
        show(&format!(
            "mpiexec on {}: the keeper above is lost: {why}\n",
            self.plan.host
        ));
        self.at_keeper.released = true;
        if let Some(tree) = &mut self.tree {
            tree.abandon();
        }
        self.fail(128 + 9, Cause::AtOnce);
    }

    /// This keeper ends, and its ranks with it.
    pub(crate) fn leave_root(&mut self, why: &str) {
        self.report(&Frame::Lost {
            why: why.to_owned(),
        });
        self.at_keeper.released = true;
        if let Some(tree) = &mut self.tree {
            tree.abandon();
        }
    }

    /// Says that nothing of the job is left here; the exit code.
    pub(crate) fn finish_keeper(mut self) -> i32 {
        for rank in self.ranks.iter().filter(|rank| rank.life == Life::Running) {
            // A process that resists SIGKILL.
            let text = format!(
                "mpiexec: process {} on {} could not be ended\n",
                rank.pid, self.plan.host
            );
            if let Some(tree) = &mut self.tree {
                tree.report(&Frame::Text(text));
            }
        }
        self.tell_root();
        self.report(&Frame::Done);
        if let Some(tree) = self.tree.take() {
            tree.finish();
        }
        0
    }
}
