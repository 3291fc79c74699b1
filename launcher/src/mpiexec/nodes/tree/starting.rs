//! The processes that start keepers (ssh, srun ...): what they say, and how they end.

use super::super::card::Card;
use super::{Child, SAID, STARTER, State, Tree, tag};
use rustix::event::epoll::{self, EventFlags};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};
use std::io;
use std::os::fd::OwnedFd;

pub(super) struct Starter {
    pub(super) pid: Pid,
    pub(super) ended: OwnedFd,
    pub(super) error: Option<OwnedFd>,
    pub(super) places: Vec<u32>,
    pub(super) said: Vec<u8>,
    pub(super) alive: bool,
}

impl Starter {
    /// A keeper that it was to start has not connected.
    pub(super) fn is_awaited(&self, children: &[Child]) -> bool {
        let is = |place: &u32| {
            let mut children = children.iter();
            children.any(|it| it.place == *place && it.state == State::Awaited)
        };
        self.places.iter().any(is)
    }
}

impl Tree {
    pub(super) fn start_group(&mut self, card: &Card, places: Vec<u32>) -> io::Result<()> {
        let hosts: Vec<&str> = places.iter().map(|place| self.host(*place)).collect();
        let (child, error) = self.launcher.start(&card.encode()?, &hosts)?;
        let pid = Pid::from_child(&child);
        let number = self.starters.len();
        let ended = pidfd_open(pid, PidfdFlags::empty())?;
        epoll::add(&self.epoll, &ended, tag(STARTER, number), EventFlags::IN)?;
        if let Some(error) = &error {
            ioctl_fionbio(error, true)?;
            epoll::add(&self.epoll, error, tag(SAID, number), EventFlags::IN)?;
        }
        self.starters.push(Starter {
            pid,
            ended,
            error,
            places,
            said: Vec::new(),
            alive: true,
        });
        Ok(())
    }

    pub(super) fn starter_says(&mut self, number: usize) {
        let starter = &mut self.starters[number];
        let Some(fd) = &starter.error else {
            return;
        };
        let mut chunk = [0; 4096];
        match rustix::io::read(fd, &mut chunk) {
            Ok(count) if count > 0 => starter.said.extend_from_slice(&chunk[..count]),
            Err(Errno::INTR | Errno::AGAIN) => return,
            _ => {
                let _ = epoll::delete(&self.epoll, fd);
                starter.error = None;
            }
        }
        // Until its keepers have come it may be why they do not.
        if !starter.is_awaited(&self.children) && !starter.said.is_empty() {
            let text = String::from_utf8_lossy(&starter.said).into_owned();
            starter.said.clear();
            self.tell(text);
        }
        said_is_bounded(&mut self.starters[number].said);
    }

    pub(super) fn starter_ended(&mut self, number: usize) {
        while self.starters[number].error.is_some() {
            let before = self.starters[number].said.len();
            self.starter_says(number);
            if self.starters[number].said.len() == before {
                break;
            }
        }
        let starter = &mut self.starters[number];
        let status = waitpid(Some(starter.pid), WaitOptions::NOHANG);
        starter.alive = false;
        let _ = epoll::delete(&self.epoll, &starter.ended);
        let how = match status {
            Ok(Some((_, status))) => match (status.exit_status(), status.terminating_signal()) {
                // It may have sent the keeper into the background.
                (Some(0), _) => return,
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, signal) => format!("was killed by signal {}", signal.unwrap_or(0)),
            },
            _ => "has ended".to_owned(),
        };
        let name = self.launcher.name();
        let why = match last_line(&starter.said) {
            Some(last) => format!("{name} {how}: {last}"),
            None => format!("{name} {how}"),
        };
        for place in starter.places.clone() {
            let awaited = |it: &Child| it.place == place && it.state == State::Awaited;
            if self.children.iter().any(awaited) {
                self.lose(place, &why);
            }
        }
    }

    /// Processes of starters, which are not the job's.
    pub fn starters(&self) -> Vec<i32> {
        let alive = self.starters.iter().filter(|it| it.alive);
        alive.map(|it| it.pid.as_raw_nonzero().get()).collect()
    }

    /// Ends the starters of keepers that are lost; `all`: all starters.
    pub fn end_starters(&mut self, all: bool) {
        for starter in self.starters.iter().filter(|it| it.alive) {
            let lost = |place: &u32| {
                let mut children = self.children.iter();
                children.any(|it| it.place == *place && it.state == State::Lost)
            };
            if all || starter.places.iter().any(lost) {
                let _ = kill_process(starter.pid, Signal::KILL);
            }
        }
    }
}

pub(super) fn last_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

fn said_is_bounded(said: &mut Vec<u8>) {
    const MOST: usize = 1 << 16;
    if said.len() > MOST {
        said.drain(..said.len() - MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::frames::Frame;
    use super::super::super::link::Patience;
    use super::super::super::starters::Launcher;
    use super::super::Event;
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_starter_that_fails_is_told_with_its_last_words() {
        let launcher = Launcher::Remote {
            program: "sh".into(),
            arguments: vec!["-c".into(), "echo nobody home >&2; exit 3".into()],
        };
        let mut tree =
            Tree::of_root(vec!["192.0.2.1".into()], launcher, 32, Patience::default()).unwrap();
        tree.start_children().unwrap();
        let event = loop {
            tree.turn();
            if let Some(event) = tree.next_event() {
                break event;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        match event {
            Event::Up(1, Frame::Lost { why }) => {
                assert_eq!(why, "sh ended with exit code 3: nobody home");
            }
            other => panic!("{other:?}"),
        }
        assert!(tree.is_done() && tree.starters().is_empty());
    }
}
