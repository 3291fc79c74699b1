//! A connection between two keepers: frames in and out, without blocking.

use super::frames::Frame;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// No frame is longer, bytes: a start with the environment of many programs.
const LONGEST: usize = 1 << 28;
/// Goes to everybody below.
pub const ALL: u32 = u32::MAX;
/// Length and place.
const HEAD: usize = 8;

/// How long a host may give no sign of life until it is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience(Duration);

impl Default for Patience {
    fn default() -> Patience {
        Patience(Duration::from_secs(5))
    }
}

impl Patience {
    pub fn of_seconds(seconds: f64) -> Patience {
        Patience(Duration::from_secs_f64(seconds.min(1e6)))
    }

    /// Who has sent nothing for so long sends a beat.
    fn beat(self) -> Duration {
        self.0 / 10
    }

    /// For the keeper below.
    pub fn with_child(self) -> Silence {
        Silence {
            limit: self.0,
            beat: self.beat(),
        }
    }

    /// For the keeper above. It takes this one for lost after the whole time, less a beat that may have been due when the connection was cut; by then
    /// the ranks here are killed.
    pub fn with_parent(self) -> Silence {
        Silence {
            limit: self.0 * 4 / 5,
            ..self.with_child()
        }
    }

    /// A process that was away for so long cannot say that others were silent.
    pub fn away(self) -> Duration {
        self.0 / 2
    }
}

/// What one side of a connection takes for the end of the other.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    limit: Duration,
    beat: Duration,
}

impl Silence {
    /// Who has heard nothing for so long takes the other side for lost.
    pub fn seconds(self) -> f64 {
        self.limit.as_secs_f64()
    }
}

pub struct Link {
    stream: TcpStream,
    silence: Silence,
    data: EventData,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    sent: usize,
    /// Waiting to be writable.
    blocked: bool,
    heard: Instant,
    said: Instant,
}

impl Link {
    /// `data` is what the epoll shall return for it.
    pub fn new(
        stream: TcpStream,
        epoll: &OwnedFd,
        data: EventData,
        silence: Silence,
    ) -> io::Result<Link> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll::add(epoll, &stream, data, EventFlags::IN)?;
        let now = Instant::now();
        Ok(Link {
            stream,
            silence,
            data,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            sent: 0,
            blocked: false,
            heard: now,
            said: now,
        })
    }

    /// Takes what has come. Errors: the connection is over, or broken.
    pub fn fill(&mut self) -> io::Result<()> {
        let mut chunk = [0u8; 1 << 16];
        // A few chunks, then others have a turn.
        for _ in 0..8 {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.heard = Instant::now();
                    self.incoming.extend_from_slice(&chunk[..count]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Bytes that have come and were not taken.
    pub fn len(&self) -> usize {
        self.incoming.len()
    }

    /// The epoll returns this for it from now on.
    pub fn become_known(&mut self, epoll: &OwnedFd, data: EventData) {
        self.data = data;
        let _ = epoll::modify(epoll, &self.stream, data, EventFlags::IN);
    }

    /// So many bytes, before there are frames; `None` if they have not come yet.
    pub fn take_raw(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.incoming.len() >= count).then(|| self.incoming.drain(..count).collect())
    }

    /// The frames that are complete, each with its place, the body as it came. Beats are left out.
    ///
    /// Errors: a length that makes no sense.
    pub fn take_frames(&mut self) -> io::Result<Vec<(u32, Vec<u8>)>> {
        let mut frames = Vec::new();
        let mut at = 0;
        while let Some(head) = self.incoming[at..].first_chunk::<HEAD>() {
            let [l0, l1, l2, l3, place @ ..] = *head;
            let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
            let place = u32::from_le_bytes(place);
            if length > LONGEST {
                return Err(ErrorKind::InvalidData.into());
            }
            let Some(body) = self.incoming.get(at + HEAD..at + HEAD + length) else {
                break;
            };
            if length > 0 {
                frames.push((place, body.to_vec()));
            }
            at += HEAD + length;
        }
        self.incoming.drain(..at);
        Ok(frames)
    }

    pub fn send(&mut self, epoll: &OwnedFd, place: u32, frame: &Frame) {
        // Only a start can fail to be encoded, which its sender has tried.
        if let Ok(body) = frame.encode() {
            self.pass(epoll, place, &body);
        }
    }

    /// Sends a frame that is encoded already.
    pub fn pass(&mut self, epoll: &OwnedFd, place: u32, body: &[u8]) {
        self.outgoing
            .extend_from_slice(&(body.len() as u32).to_le_bytes());
        self.outgoing.extend_from_slice(&place.to_le_bytes());
        self.outgoing.extend_from_slice(body);
        self.said = Instant::now();
        self.flush(epoll);
    }

    pub fn send_raw(&mut self, epoll: &OwnedFd, bytes: &[u8]) {
        self.outgoing.extend_from_slice(bytes);
        self.flush(epoll);
    }

    /// Writes what can be written. An error shows at the next read, or as silence.
    pub fn flush(&mut self, epoll: &OwnedFd) {
        while self.sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.sent..]) {
                Ok(count) if count > 0 => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                _ => {
                    self.sent = self.outgoing.len();
                    break;
                }
            }
        }
        if self.sent == self.outgoing.len() || self.sent > 1 << 20 {
            self.outgoing.drain(..self.sent);
            self.sent = 0;
        }
        let blocked = !self.outgoing.is_empty();
        if blocked != self.blocked {
            let wish = match blocked {
                true => EventFlags::IN | EventFlags::OUT,
                false => EventFlags::IN,
            };
            let _ = epoll::modify(epoll, &self.stream, self.data, wish);
            self.blocked = blocked;
        }
    }

    /// Writes the rest, at most until `limit`, and closes.
    pub fn finish(mut self, epoll: &OwnedFd, limit: Instant) {
        self.flush(epoll);
        while self.blocked && Instant::now() < limit {
            let pause = Timespec {
                tv_sec: 0,
                tv_nsec: 20_000_000,
            };
            let _ = poll(
                &mut [PollFd::new(&self.stream, PollFlags::OUT)],
                Some(&pause),
            );
            self.flush(epoll);
        }
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Sends a beat if one is due. Whether the other side has been silent for too long.
    pub fn beat(&mut self, epoll: &OwnedFd, now: Instant) -> bool {
        if now.duration_since(self.said) >= self.silence.beat {
            self.pass(epoll, 0, &[]);
        }
        now.saturating_duration_since(self.heard) >= self.silence.limit
    }

    /// When to call [`Link::beat`] next.
    pub fn due(&self) -> Instant {
        (self.said + self.silence.beat).min(self.heard + self.silence.limit)
    }

    /// This process was not running: silence before now means nothing.
    pub fn forgive(&mut self, now: Instant) {
        self.heard = now;
    }

    pub fn close(self, epoll: &OwnedFd) {
        let _ = epoll::delete(epoll, &self.stream);
    }
}
