//! Those who watch the job by `mpiexec -top`. Each has a connection to the root, and asks again and again; the root asks the keepers, and answers.
//!
//! Invariants: only processes of this user and root's are let in; nobody is waited for: an answer says of which hosts there is none.

use super::sample::{Sample, Sampler};
use super::speech::{self, Answer, LONGEST_QUESTION, Question, VERSION};
use crate::mpiexec::nodes::frames::Frame;
use crate::mpiexec::rank::Rank;
use crate::mpiexec::state::{Gathered, Watcher};
use crate::mpiexec::supervisor::{Supervisor, WATCHER, tag};
use crate::mpiexec::table::Row;
use rustix::event::epoll::{self, EventFlags};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// For the answers of all keepers.
const ANSWERS: Duration = Duration::from_millis(700);
/// At the same time.
const WATCHERS: usize = 64;
/// Who does not take what it has asked for is left.
const UNSAID: usize = 1 << 24;

impl Supervisor<'_> {
    /// From now on the job can be watched. If that cannot be, nobody watches it.
    pub(crate) fn await_watchers(&mut self) {
        self.watching.listener = self.listener().ok();
    }

    fn listener(&self) -> io::Result<UnixListener> {
        let address = speech::address(std::process::id() as i32)?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        epoll::add(&self.epoll, &listener, tag(WATCHER, 0), EventFlags::IN)?;
        Ok(listener)
    }

    /// Somebody comes, or says something.
    pub(crate) fn hear_watcher(&mut self, number: usize) {
        let Some(number) = number.checked_sub(1) else {
            return self.accept_watchers();
        };
        let watcher = self.watching.watchers.get_mut(number);
        let Some(Some(watcher)) = watcher else {
            return;
        };
        let question = match read(watcher) {
            Ok(question) => question,
            Err(()) => return self.leave_watcher(number),
        };
        if let Some(question) = question {
            match question.version == VERSION {
                true => {
                    watcher.waits = true;
                    let period = Duration::from_millis(question.milliseconds.into());
                    self.gather(period, Instant::now());
                }
                false => {
                    let version = VERSION.to_owned();
                    watcher.unsaid = speech::message(&Answer::Other { version });
                }
            }
        }
        self.tell_watcher(number);
    }

    fn accept_watchers(&mut self) {
        while let Some(listener) = &self.watching.listener {
            match listener.accept() {
                Ok((stream, _)) => self.add_watcher(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Such as no descriptors. It would be told again and again.
                Err(_) => {
                    let _ = epoll::delete(&self.epoll, listener);
                    self.watching.listener = None;
                }
            }
        }
    }

    fn add_watcher(&mut self, stream: UnixStream) {
        let is_allowed =
            socket_peercred(&stream).is_ok_and(|peer| peer.uid == geteuid() || peer.uid.is_root());
        let watchers = &mut self.watching.watchers;
        let free = watchers.iter().position(Option::is_none);
        let number = free.unwrap_or(watchers.len());
        if !is_allowed || number >= WATCHERS || stream.set_nonblocking(true).is_err() {
            return;
        }
        let data = tag(WATCHER, number + 1);
        if epoll::add(&self.epoll, &stream, data, EventFlags::IN).is_err() {
            return;
        }
        if free.is_none() {
            watchers.push(None);
        }
        watchers[number] = Some(Watcher {
            stream,
            heard: Vec::new(),
            unsaid: Vec::new(),
            waits: false,
        });
    }

    fn leave_watcher(&mut self, number: usize) {
        if let Some(watcher) = self.watching.watchers[number].take() {
            let _ = epoll::delete(&self.epoll, &watcher.stream);
        }
    }

    /// Writes what can be written.
    fn tell_watcher(&mut self, number: usize) {
        let Some(watcher) = &mut self.watching.watchers[number] else {
            return;
        };
        let mut sent = 0;
        let is_over = loop {
            if sent == watcher.unsaid.len() {
                break false;
            }
            match watcher.stream.write(&watcher.unsaid[sent..]) {
                Ok(count) if count > 0 => sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break false,
                _ => break true,
            }
        };
        watcher.unsaid.drain(..sent);
        if is_over || watcher.unsaid.len() > UNSAID {
            return self.leave_watcher(number);
        }
        let wish = match watcher.unsaid.is_empty() {
            true => EventFlags::IN,
            false => EventFlags::IN | EventFlags::OUT,
        };
        let data = tag(WATCHER, number + 1);
        let _ = epoll::modify(&self.epoll, &watcher.stream, data, wish);
    }

    /// Asks the keepers, unless they are asked just now, and answers if there is nobody to wait for.
    fn gather(&mut self, period: Duration, now: Instant) {
        if self.watching.gathered.is_some() {
            return;
        }
        let number = self.watching.questions.wrapping_add(1);
        self.watching.questions = number;
        let mut left = BTreeSet::new();
        if let Some(tree) = &mut self.tree {
            let milliseconds = period.as_millis() as u32;
            tree.broadcast(&Frame::SamplesWanted {
                number,
                milliseconds,
            });
            let running = self.ranks.iter().filter(|rank| rank.is_running());
            left.extend(running.filter_map(|rank| rank.elsewhere));
        }
        left.retain(|place| !self.watching.silent.contains(place));
        self.watching.gathered = Some(Gathered {
            number,
            until: now + ANSWERS,
            left,
            samples: self.samples_here(period, now),
        });
        self.answer_watchers(now);
    }

    /// Those of the ranks of this host, and again so in a period.
    fn samples_here(&mut self, period: Duration, now: Instant) -> Vec<Sample> {
        let sampler = &mut self.watching.sampler;
        let sampler = sampler.get_or_insert_with(|| Sampler::new(now));
        let here = || self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
        sampler.watch(period, here().count(), now);
        here()
            .map(|rank| sampler.sample(rank, &self.segment))
            .collect()
    }

    /// At a node keeper.
    pub(crate) fn answer_samples(&mut self, number: u32, milliseconds: u32) {
        let period = Duration::from_millis(milliseconds.into());
        let samples = self.samples_here(period, Instant::now());
        self.report(&Frame::Samples { number, samples });
    }

    /// At the root.
    pub(crate) fn hear_samples(&mut self, place: u32, number: u32, samples: Vec<Sample>) {
        self.watching.silent.remove(&place);
        let gathered = self.watching.gathered.as_mut();
        if let Some(gathered) = gathered.filter(|gathered| gathered.number == number) {
            let is_there = |sample: &Sample| {
                let rank = self.ranks.get(sample.rank as usize);
                rank.is_some_and(|rank| rank.elsewhere == Some(place))
            };
            gathered
                .samples
                .extend(samples.into_iter().filter(is_there));
            gathered.left.remove(&place);
            self.answer_watchers(Instant::now());
        }
    }

    /// Looks at the ranks of this host, and ends what has taken too long. When to call it again.
    pub(crate) fn tend_watchers(&mut self, now: Instant) -> Option<Instant> {
        let here = self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
        let sampler = self.watching.sampler.as_mut();
        let next = sampler.and_then(|sampler| sampler.tend(here, &self.segment, now));
        if next.is_none() {
            self.watching.sampler = None;
        }
        self.answer_watchers(now);
        let gathered = self.watching.gathered.as_ref();
        next.into_iter()
            .chain(gathered.map(|gathered| gathered.until))
            .min()
    }

    /// Answers those who have asked, if all keepers have answered or have had their time.
    fn answer_watchers(&mut self, now: Instant) {
        let is_ready = |it: &mut Gathered| it.left.is_empty() || now >= it.until;
        let Some(gathered) = self.watching.gathered.take_if(is_ready) else {
            return;
        };
        self.watching.silent.extend(gathered.left);
        let answer = speech::message(&self.answer_of(gathered.samples));
        for number in 0..self.watching.watchers.len() {
            if let Some(watcher) = &mut self.watching.watchers[number]
                && std::mem::take(&mut watcher.waits)
            {
                watcher.unsaid.extend(&answer);
                self.tell_watcher(number);
            }
        }
    }

    /// What is known of all ranks, of which these samples were taken.
    fn answer_of(&self, samples: Vec<Sample>) -> Answer {
        let mut known: HashMap<u32, Sample> = samples.into_iter().map(|it| (it.rank, it)).collect();
        let mut hosts: Vec<String> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let of = self.ranks.iter().map(|rank| {
            let host = self.plan.host_of(rank.number);
            *numbers.entry(host).or_insert_with_key(|host| {
                hosts.push(host.clone());
                hosts.len() as u32 - 1
            })
        });
        let of = of.collect();
        let samples = self.ranks.iter().map(|rank| {
            let sample = known.remove(&(rank.world as u32));
            sample
                .filter(|_| rank.is_running())
                .unwrap_or_else(|| self.sample_elsewhere(rank))
        });
        let samples = samples.collect();
        Answer::Ranks { hosts, of, samples }
    }

    /// Of a rank of which its host says nothing, or that has ended.
    fn sample_elsewhere(&self, rank: &Rank) -> Sample {
        let row = match rank.is_running() {
            true => Row {
                pid: rank.pid,
                state: "no answer from its host".to_owned(),
                ..Row::default()
            },
            false => rank.row(&self.segment),
        };
        Sample {
            rank: rank.world as u32,
            row,
            has_ended: !rank.is_running(),
            counts: None,
        }
    }
}

/// What it asks, if its question is whole. `Err`: it has left, or talks nonsense.
fn read(watcher: &mut Watcher) -> Result<Option<Question>, ()> {
    let mut bytes = [0; LONGEST_QUESTION];
    loop {
        match watcher.stream.read(&mut bytes) {
            Ok(0) => return Err(()),
            Ok(count) => watcher.heard.extend(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => return Err(()),
        }
        if watcher.heard.len() > 2 * LONGEST_QUESTION {
            return Err(());
        }
    }
    speech::take(&mut watcher.heard, LONGEST_QUESTION)
}
