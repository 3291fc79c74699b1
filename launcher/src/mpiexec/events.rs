//! What the supervisor hears: from the front process, from the kernel about its children, from ranks over PMI-1.
//!
//! Invariant: what a rank said or wrote before it died is taken before its death is judged.

use super::ending::Cause;
use super::front::BY_KERNEL;
use super::mpir;
use super::nodes::frames::Frame;
use super::output::Kind;
use super::oversight;
use super::rank::{Life, Stage};
use super::server::Effect;
use super::spawned;
use super::supervisor::{
    FEED, FRONT, INPUT, PMI, READER, SHARED, SIGNALS, SINK, SOURCE, SPAWNED, Supervisor, TREE,
    WATCHED, WATCHER,
};
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::process::{WaitOptions, wait};
use std::io::Read;

/// What the socket of the front process brings beside signals: each has a byte of its own.
const _: () = {
    let all = [
        mpir::RELEASE,
        oversight::QUESTION,
        spawned::SWEEP,
        spawned::WAITS,
        spawned::LOOKS,
    ];
    let mut pair = 0;
    while pair < all.len() * all.len() {
        let (one, other) = (pair / all.len(), pair % all.len());
        assert!(one == other || all[one] != all[other]);
        pair += 1;
    }
};

impl Supervisor<'_> {
    /// Handles an event of epoll.
    pub(super) fn handle(&mut self, about: u64, number: usize) {
        match about {
            FRONT => self.hear_front(),
            SIGNALS => self.hear_signals(),
            PMI => self.hear_rank(number),
            SHARED => self.hear_all_ranks(),
            SOURCE => self.output.read(&self.epoll, number, false),
            SINK => {
                let kind = if number == 0 {
                    Kind::Output
                } else {
                    Kind::Error
                };
                self.output.ready(&self.epoll, kind);
            }
            INPUT => self.input.ready(&self.epoll),
            READER if self.is_keeper() => self.feed_rank(number),
            READER => self.input.reader_ready(&self.epoll),
            FEED => self.pass_input(number),
            // Each turn of the loop looks at it.
            TREE => {}
            WATCHED => self.watched_ended(number),
            SPAWNED => self.hear_spawned(number),
            WATCHER => self.hear_watcher(number),
            _ => {}
        }
    }

    fn hear_front(&mut self) {
        let mut bytes = [0u8; 64];
        match (&self.front).read(&mut bytes) {
            // The front process is dead: nobody wants this job any more.
            Ok(0) => {
                let _ = epoll::delete(&self.epoll, &self.front);
                if self.is_keeper() {
                    self.leave_root("the front process of its node keeper was killed");
                }
                self.fail(128 + 9, Cause::AtOnce);
            }
            Ok(count) => {
                for signal in &bytes[..count] {
                    if *signal == mpir::RELEASE {
                        mpir::release_ranks();
                        continue;
                    }
                    if *signal == oversight::QUESTION {
                        oversight::answer(&self.front);
                        continue;
                    }
                    if [spawned::SWEEP, spawned::WAITS, spawned::LOOKS].contains(signal) {
                        self.asked_by_parents(*signal);
                        continue;
                    }
                    let number = i32::from(signal & !BY_KERNEL);
                    self.told_signal(number, signal & BY_KERNEL != 0);
                }
            }
            Err(_) => {}
        }
    }

    fn hear_signals(&mut self) {
        for signal in self.signals.take() {
            self.told_signal(signal, false);
        }
        self.reap();
    }

    /// Takes the dead off the kernel's list. Of those that died meanwhile the killed ones come first: the others may have ended because of them.
    pub(super) fn reap(&mut self) {
        let mut dead = Vec::new();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let life = match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => Life::Exited(code),
                        (None, Some(signal)) => Life::Killed(signal),
                        _ => continue,
                    };
                    let pid = pid.as_raw_nonzero().get();
                    match self.rank_of_pid.remove(&pid) {
                        Some(number) => dead.push((number, life)),
                        None => self.spawned_ended(pid, life),
                    }
                }
                Ok(None) => break,
                Err(Errno::INTR) => {}
                Err(_) => {
                    self.childless = true;
                    break;
                }
            }
        }
        dead.sort_by_key(|(_, life)| !matches!(life, Life::Killed(_)));
        for (number, life) in dead {
            // What it said before it died comes first.
            self.hear_rank(number);
            for source in self.ranks[number].sources.clone() {
                self.output.read(&self.epoll, source, true);
            }
            self.ranks[number].life = life;
            self.ended(number);
        }
    }

    /// Reads what a rank says over PMI-1.
    fn hear_rank(&mut self, number: usize) {
        let mut bytes = [0u8; 4096];
        loop {
            let rank = &mut self.ranks[number];
            let Some(socket) = &rank.pmi else {
                self.singleton_left();
                return;
            };
            match recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
                Ok((count, _)) if count > 0 => rank.lines.push(&bytes[..count]),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return,
                _ => rank.pmi = None,
            }
            if rank.lines.is_too_long() {
                rank.pmi = None;
            }
            while let Some(line) = self.ranks[number].lines.next_line() {
                if self.is_keeper() {
                    let rank = self.ranks[number].world as u32;
                    self.report(&Frame::Line { rank, line });
                    continue;
                }
                for effect in self.server.line(number, &line) {
                    self.apply(effect);
                }
            }
        }
    }

    /// Reads what is said over the socket that all ranks share. A program of oxmpi says there that it aborts; with others one would
    /// have to know which rank it is.
    fn hear_all_ranks(&mut self) {
        let mut bytes = [0u8; 4096];
        let Some(socket) = &self.shared_pmi else {
            return;
        };
        let (said, ended) = match recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((count, _)) => (
                String::from_utf8_lossy(&bytes[..count]).into_owned(),
                count == 0,
            ),
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(_) => (String::new(), true),
        };
        if ended {
            self.shared_pmi = None;
        }
        for number in 0..self.ranks.len() {
            if let Stage::Aborted(code) = self.ranks[number].stage(&self.segment) {
                self.aborted(number, code);
            }
        }
        let only_aborts = said.lines().all(|line| line.starts_with("cmd=abort"));
        if !only_aborts && self.ending.is_none() {
            self.say(
                "the program uses another MPICH than oxmpi, which needs a socket for each rank: allow more open files (ulimit -n)",
            );
            self.fail(1, Cause::AtOnce);
        }
    }

    /// Sends a line to a rank of this host.
    pub(super) fn answer(&mut self, rank: usize, text: &str) {
        if let Some(socket) = &self.ranks[rank].pmi {
            let line = format!("{text}\n");
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            // A rank that asks but does not read answers is beyond help.
            if send(socket, line.as_bytes(), flags) != Ok(line.len()) {
                self.ranks[rank].pmi = None;
            }
        }
    }

    /// Sends a line to a rank, wherever it is.
    pub(super) fn reply(&mut self, rank: usize, text: String) {
        match self.ranks[rank].elsewhere {
            Some(place) => {
                let rank = rank as u32;
                self.send(place, &Frame::Answer { rank, line: text });
            }
            None => self.answer(rank, &text),
        }
    }

    pub(super) fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Reply(rank, text) => self.reply(rank, text),
            Effect::Spawn(rank, wanted) => self.spawn(rank, wanted),
            Effect::Connection { cookie, connected } => self.connection(&cookie, connected),
            Effect::Joined(rank) => self.ranks[rank].told = Stage::Inside,
            Effect::Finalized(rank) => self.ranks[rank].told = Stage::Finalized,
            Effect::Abort(rank, code) => {
                self.ranks[rank].told = Stage::Aborted(code);
                self.aborted(rank, code);
            }
        }
    }
}
