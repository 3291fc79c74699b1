//! Forwards what the ranks write to mpiexec's standard output and error.
//!
//! Invariant: memory is bounded: when nobody takes what mpiexec writes, nothing is read from the ranks.

use super::lines::Merger;
use super::nodes::frames::WINDOW;
use super::sink::Sink;
use oxmpi::os::local_time;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::{Errno, ioctl_fionread};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

/// Bytes waiting to be written at which reading stops.
const QUEUE_MAXIMUM: usize = 1 << 20;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Output = 0,
    Error = 1,
}

struct Source {
    /// `None`: what it says comes in frames.
    fd: Option<OwnedFd>,
    data: EventData,
    channel: usize,
    merger: usize,
    paused: bool,
    /// Upwards: bytes that may still be sent. From other hosts: bytes that were taken, and not said so.
    window: usize,
    /// A file that gets the same bytes.
    copy: Option<File>,
}

struct Channel {
    sink: Sink,
    data: EventData,
    merger: Merger,
    /// How much of the merger's output is written.
    written: usize,
    /// Waiting for the sink to be ready.
    blocked: bool,
    /// Why nothing can be written any more.
    broken: Option<Errno>,
}

pub struct Output {
    sources: Vec<Option<Source>>,
    channels: Vec<Channel>,
    /// Index of the channel for each `Kind`.
    of_kind: [usize; 2],
    chunk: Vec<u8>,
    /// Each line begins with the time when it came.
    timestamps: bool,
    /// Under a node keeper: sources with what they have said, to be sent to the root; no bytes: the end.
    upwards: Option<Vec<(usize, Vec<u8>)>>,
    /// Sources of other hosts of which something was taken.
    taken: Vec<usize>,
}

impl Output {
    /// `events`: what epoll shall return when standard output and error become ready again.
    pub fn new(events: [EventData; 2], timestamps: bool) -> io::Result<Output> {
        let sinks = [
            Sink::of(rustix::stdio::stdout(), 1)?,
            Sink::of(rustix::stdio::stderr(), 2)?,
        ];
        // One terminal, one order of lines.
        let same = sinks[0].identity() == sinks[1].identity();
        let channels = sinks.into_iter().zip(events).map(|(sink, data)| Channel {
            sink,
            data,
            merger: Merger::new(),
            written: 0,
            blocked: false,
            broken: None,
        });
        Ok(Output {
            sources: Vec::new(),
            channels: channels.collect(),
            of_kind: [0, if same { 0 } else { 1 }],
            chunk: vec![0; CHUNK],
            timestamps,
            upwards: None,
            taken: Vec::new(),
        })
    }

    /// What comes is kept for [`Output::take_upwards`] from now on.
    pub fn go_upwards(&mut self) {
        self.upwards = Some(Vec::new());
    }

    /// What sources have said since the last call.
    pub fn take_upwards(&mut self) -> Vec<(usize, Vec<u8>)> {
        self.upwards
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// The root has taken so many bytes of a source: as many more may be read.
    pub fn widen(&mut self, epoll: &OwnedFd, number: usize, bytes: usize) {
        if let Some(source) = self.sources.get_mut(number).and_then(Option::as_mut) {
            source.window = (source.window + bytes).min(WINDOW);
            if let (true, Some(fd)) = (source.paused, &source.fd) {
                source.paused = epoll::add(epoll, fd, source.data, EventFlags::IN).is_err();
            }
        }
    }

    /// A source on another host; its number.
    pub fn add_elsewhere(&mut self, copy: Option<File>, kind: Kind, label: Vec<u8>) -> usize {
        let channel = self.of_kind[kind as usize];
        let merger = self.channels[channel].merger.add(label, Instant::now());
        self.sources.push(Some(Source {
            fd: None,
            data: EventData::new_u64(0),
            channel,
            merger,
            paused: false,
            window: 0,
            copy,
        }));
        self.sources.len() - 1
    }

    /// What a source on another host has said; no bytes: the end.
    pub fn accept(&mut self, number: usize, data: &[u8]) {
        let Some(source) = self.sources.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        let channel = &mut self.channels[source.channel];
        if data.is_empty() {
            channel.merger.end(source.merger);
            self.sources[number] = None;
            return;
        }
        if self.timestamps {
            channel.merger.stamp = format!("[{}]", local_time()).into_bytes();
        }
        source.copy_to_file(channel, data);
        channel.merger.accept(source.merger, data, Instant::now());
        if source.window == 0 {
            self.taken.push(number);
        }
        source.window += data.len();
    }

    /// Sources on other hosts that may say more, and how much was taken.
    pub fn take_taken(&mut self) -> Vec<(usize, usize)> {
        let mut told = Vec::new();
        let (sources, channels) = (&mut self.sources, &self.channels);
        self.taken.retain(|number| {
            let Some(source) = &mut sources[*number] else {
                return false;
            };
            let channel = &channels[source.channel];
            let queued = channel.merger.out.len() - channel.written;
            if queued > QUEUE_MAXIMUM / 4 || channel.merger.is_full(source.merger) {
                return true;
            }
            told.push((*number, std::mem::take(&mut source.window)));
            false
        });
        told
    }

    /// Forwards from a non-blocking descriptor, and copies to a file if one is given; `data` is what epoll shall return for it.
    /// The source's number.
    pub fn add(
        &mut self,
        epoll: &OwnedFd,
        (fd, copy): (OwnedFd, Option<File>),
        kind: Kind,
        label: Vec<u8>,
        data: EventData,
    ) -> io::Result<usize> {
        epoll::add(epoll, &fd, data, EventFlags::IN)?;
        let channel = self.of_kind[kind as usize];
        let merger = self.channels[channel].merger.add(label, Instant::now());
        self.sources.push(Some(Source {
            fd: Some(fd),
            data,
            channel,
            merger,
            paused: false,
            window: WINDOW,
            copy,
        }));
        Ok(self.sources.len() - 1)
    }

    /// Reads what a source has, as far as it may. `all`: its writer is gone, take everything that is there; another process may write on.
    pub fn read(&mut self, epoll: &OwnedFd, number: usize, all: bool) {
        if self.upwards.is_some() {
            return self.read_upwards(epoll, number, all);
        }
        let Some(source) = self.sources.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        let channel = &mut self.channels[source.channel];
        if self.timestamps {
            channel.merger.stamp = format!("[{}]", local_time()).into_bytes();
        }
        let mut rest = Rest::of(source, all);
        // Four chunks, then the others have a turn.
        for turn in 0.. {
            let queued = channel.merger.out.len() - channel.written;
            if !all && (turn == 4 || source.paused) {
                return;
            }
            if !all && (queued > QUEUE_MAXIMUM || channel.merger.is_full(source.merger)) {
                source.pause(epoll);
                return;
            }
            let Some(fd) = &source.fd else {
                return;
            };
            match rustix::io::read(fd, self.chunk.as_mut_slice()) {
                Ok(count) if count > 0 => {
                    let data = &self.chunk[..count];
                    source.copy_to_file(channel, data);
                    channel.merger.accept(source.merger, data, Instant::now());
                    if all && !channel.blocked && channel.merger.out.len() > CHUNK {
                        channel.flush(epoll);
                    }
                    if rest.is_taken(count) {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                _ => {
                    channel.merger.end(source.merger);
                    self.sources[number] = None;
                    return;
                }
            }
        }
    }

    /// As [`Output::read`], for the root.
    fn read_upwards(&mut self, epoll: &OwnedFd, number: usize, all: bool) {
        let Some(source) = self.sources.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        let said = self.upwards.get_or_insert_default();
        let mut rest = Rest::of(source, all);
        loop {
            if !all && (source.paused || source.window == 0) {
                source.pause(epoll);
                return;
            }
            let most = if all { CHUNK } else { source.window.min(CHUNK) };
            let Some(fd) = &source.fd else {
                return;
            };
            match rustix::io::read(fd, &mut self.chunk[..most]) {
                Ok(count) if count > 0 => {
                    source.window = source.window.saturating_sub(count);
                    said.push((number, self.chunk[..count].to_vec()));
                    if rest.is_taken(count) {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                _ => {
                    said.push((number, Vec::new()));
                    self.sources[number] = None;
                    return;
                }
            }
        }
    }

    /// Writes what can be written, and reads again from those who had to wait. Returns when to come back.
    pub fn flush(&mut self, epoll: &OwnedFd, now: Instant) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for channel in &mut self.channels {
            if let Some(due) = channel.merger.tick(now) {
                next = Some(next.map_or(due, |next| next.min(due)));
            }
            channel.flush(epoll);
        }
        for source in self.sources.iter_mut().flatten().filter(|it| it.paused) {
            let channel = &self.channels[source.channel];
            let queued = channel.merger.out.len() - channel.written;
            if let Some(fd) = &source.fd
                && self.upwards.is_none()
                && queued < QUEUE_MAXIMUM / 4
                && !channel.merger.is_full(source.merger)
            {
                source.paused = epoll::add(epoll, fd, source.data, EventFlags::IN).is_err();
            }
        }
        next
    }

    /// A sink is ready again.
    pub fn ready(&mut self, epoll: &OwnedFd, kind: Kind) {
        let channel = &mut self.channels[self.of_kind[kind as usize]];
        if channel.blocked {
            let _ = epoll::delete(epoll, channel.sink.as_fd());
            channel.blocked = false;
        }
    }

    /// Says something of mpiexec's own on standard error.
    pub fn say(&mut self, text: &str) {
        let channel = self.of_kind[Kind::Error as usize];
        self.channels[channel].merger.say(text, Instant::now());
    }

    /// Says something on standard output.
    pub fn print(&mut self, text: &str) {
        self.channels[0].merger.say(text, Instant::now());
    }

    /// The number that the next source will have.
    pub fn next_number(&self) -> usize {
        self.sources.len()
    }

    /// Why nothing can be written to standard output any more, if so.
    pub fn broken(&self) -> Option<Errno> {
        self.channels[0].broken
    }

    /// Writes the rest, waiting for slow readers until `limit`, or until it is not wanted any more.
    pub fn finish(
        &mut self,
        epoll: &OwnedFd,
        limit: Option<Instant>,
        mut is_unwanted: impl FnMut() -> bool,
    ) {
        for number in 0..self.sources.len() {
            self.read(epoll, number, true);
        }
        for channel in &mut self.channels {
            channel.merger.finish();
            while !channel.flush(epoll)
                && limit.is_none_or(|limit| Instant::now() < limit)
                && !is_unwanted()
            {
                let pause = rustix::event::Timespec {
                    tv_sec: 0,
                    tv_nsec: 100_000_000,
                };
                let mut ready = [rustix::event::PollFd::new(
                    &channel.sink,
                    rustix::event::PollFlags::OUT,
                )];
                let _ = rustix::event::poll(&mut ready, Some(&pause));
            }
        }
    }
}

/// What a source that is to be taken whole had at the beginning, bytes, if the system tells.
struct Rest(Option<u64>);

impl Rest {
    fn of(source: &Source, all: bool) -> Rest {
        let fd = source.fd.as_ref().filter(|_| all);
        Rest(fd.and_then(|fd| ioctl_fionread(fd).ok()))
    }

    /// Whether that is taken, and more: the end, or that nothing is left, has to be seen.
    fn is_taken(&mut self, count: usize) -> bool {
        let Some(rest) = &mut self.0 else {
            return false;
        };
        let is_taken = *rest < count as u64;
        *rest = rest.saturating_sub(count as u64);
        is_taken
    }
}

impl Source {
    fn pause(&mut self, epoll: &OwnedFd) {
        if let (false, Some(fd)) = (self.paused, &self.fd) {
            let _ = epoll::delete(epoll, fd);
            self.paused = true;
        }
    }

    fn copy_to_file(&mut self, channel: &mut Channel, data: &[u8]) {
        if let Some(Err(error)) = self.copy.as_mut().map(|it| it.write_all(data)) {
            let text = format!("mpiexec: cannot write a copy of output: {error}\n");
            channel.merger.say(&text, Instant::now());
            self.copy = None;
        }
    }
}

impl Channel {
    /// Whether everything is written.
    fn flush(&mut self, epoll: &OwnedFd) -> bool {
        while self.written < self.merger.out.len() {
            if self.broken.is_some() {
                break;
            }
            match self.sink.write(&self.merger.out[self.written..]) {
                Ok(0) => {
                    if !self.blocked {
                        let wish = EventFlags::OUT;
                        self.blocked = epoll::add(epoll, &self.sink, self.data, wish).is_ok();
                    }
                    // What is written is not kept.
                    self.merger.out.drain(..self.written);
                    self.written = 0;
                    return false;
                }
                Ok(count) => self.written += count,
                Err(error) => self.broken = Some(error),
            }
        }
        self.merger.out.clear();
        self.written = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_goes_on_is_not_awaited() {
        let (fd, writer) = rustix::pipe::pipe().unwrap();
        rustix::io::write(&writer, &[b'x'; 10]).unwrap();
        let source = Source {
            fd: Some(fd),
            data: EventData::new_u64(0),
            channel: 0,
            merger: 0,
            paused: false,
            window: 0,
            copy: None,
        };
        let mut rest = Rest::of(&source, true);
        assert!(!rest.is_taken(4) && !rest.is_taken(6));
        assert!(rest.is_taken(1));
        assert!(!Rest::of(&source, false).is_taken(100));
    }
}
