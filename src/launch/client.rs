//! The rank's side of PMI-1: one request is one line, one line comes back. Blocking.
//!
//! Invariant: no answer is outstanding between calls; so the next line belongs to the next request.

use super::wire::{Line, Lines};
use crate::error::{Class, Error, Result};
use crate::os::process::inherited;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// A connection to the process manager.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    lines: Lines,
    store: Option<String>,
    /// Answers that were not waited for, by their command: they may still come, or not.
    given_up: Option<&'static str>,
}

impl Client {
    /// Uses the socket that the launcher left open under this number.
    pub fn inherited(number: i32) -> Result<Client> {
        match inherited(number) {
            Some(socket) => Ok(Client::silent(socket)),
            None => Err(refused(format!(
                "PMI_FD={number} is in the environment but not open: something between the launcher and this program \
                 closed it, or the launcher is none of PMI-1 (to run alone, unset PMI_FD)"
            ))),
        }
    }

    /// A connection over which nothing has been said yet.
    pub fn silent(socket: OwnedFd) -> Client {
        Client {
            socket,
            lines: Lines::default(),
            store: None,
            given_up: None,
        }
    }

    /// Connects back to the launcher (PMI_PORT) and asks who this is: the client, rank, size.
    pub fn connected(address: &str, id: &str) -> Result<(Client, u32, u32)> {
        let socket = TcpStream::connect(address)
            .map_err(|error| refused(format!("cannot connect to PMI_PORT={address}: {error}")))?;
        let _ = socket.set_nodelay(true);
        let mut client = Client::silent(OwnedFd::from(socket));
        client.send(&format!("cmd=initack pmiid={id}"))?;
        let (mut rank, mut size, mut debug) = (None, None, false);
        while rank.is_none() || size.is_none() || !debug {
            let answer = client.receive()?;
            let line = Line(&answer);
            rank = rank.or(line.number("rank"));
            size = size.or(line.number("size"));
            debug |= line.get("debug").is_some();
        }
        match (rank.map(u32::try_from), size.map(u32::try_from)) {
            (Some(Ok(rank)), Some(Ok(size))) if rank < size => Ok((client, rank, size)),
            _ => Err(refused(format!(
                "the launcher at PMI_PORT={address} gave rank {rank:?} of {size:?}"
            ))),
        }
    }

    /// Says hello, once, and learns the name of the key-value store.
    pub fn introduce(&mut self) -> Result<()> {
        if self.store.is_some() {
            return Ok(());
        }
        let answer = self.call("cmd=init pmi_version=1 pmi_subversion=1")?;
        if !Line(&answer).succeeded() {
            return Err(refused(format!(
                "the launcher does not speak PMI 1.1; it said: {answer}"
            )));
        }
        self.call("cmd=get_maxes")?;
        let answer = self.call("cmd=get_my_kvsname")?;
        let name = Line(&answer).get("kvsname").map(str::to_owned);
        self.store = Some(name.ok_or_else(|| unexpected("get_my_kvsname", &answer))?);
        Ok(())
    }

    /// The name of the key-value store, which the launcher gives to one job only; after [`Client::introduce`].
    pub fn store_name(&self) -> String {
        self.store.clone().unwrap_or_default()
    }

    /// Asks for one number, which the launcher may not have.
    pub fn number(&mut self, command: &str, key: &str) -> Result<Option<i32>> {
        let answer = self.call(&format!("cmd={command}"))?;
        let value = Line(&answer).number(key);
        Ok(value.and_then(|value| i32::try_from(value).ok()))
    }

    pub fn put(&mut self, key: &str, value: &str) -> Result<()> {
        let store = self.store.as_deref().unwrap_or_default();
        let request = format!("cmd=put kvsname={store} key={key} value={value}");
        let answer = self.call(&request)?;
        if Line(&answer).succeeded() {
            Ok(())
        } else {
            Err(unexpected("put", &answer))
        }
    }

    pub fn get(&mut self, key: &str) -> Result<Option<String>> {
        let store = self.store.as_deref().unwrap_or_default();
        let answer = self.call(&format!("cmd=get kvsname={store} key={key}"))?;
        let line = Line(&answer);
        Ok(line
            .get("value")
            .filter(|_| line.succeeded())
            .map(str::to_owned))
    }

    pub fn barrier(&mut self) -> Result<()> {
        self.enter_barrier()?;
        self.leave_barrier()
    }

    /// The first half of a barrier: this rank is in, and goes on. [`Client::leave_barrier`] must follow.
    pub fn enter_barrier(&mut self) -> Result<()> {
        self.send("cmd=barrier_in")
    }

    /// Waits until all ranks are in.
    pub fn leave_barrier(&mut self) -> Result<()> {
        let answer = self.receive()?;
        if Line(&answer).command() == "barrier_out" {
            Ok(())
        } else {
            Err(unexpected("barrier_in", &answer))
        }
    }

    pub fn finalize(&mut self) -> Result<()> {
        self.call("cmd=finalize").map(|_| ())
    }

    /// Tells the launcher to end the job; there is no answer.
    pub fn abort(&mut self, status: i32) {
        let _ = self.send(&format!("cmd=abort exitcode={status}"));
    }

    /// Waits for the launcher's kill, at most two seconds.
    pub fn wait_for_the_end(&mut self) {
        let mut end = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        let limit = Duration::from_secs(2).try_into().ok();
        let _ = poll(&mut end, limit.as_ref());
    }

    /// Says something that has no answer.
    pub(super) fn tell(&mut self, line: &str) -> Result<()> {
        self.send(line)
    }

    pub(super) fn call(&mut self, request: &str) -> Result<String> {
        self.send(request)?;
        self.receive()
    }

    /// As [`Client::call`] for a spawn, whose answer may never come; `None`: it has not within the limit.
    pub(super) fn call_within(
        &mut self,
        request: &str,
        limit: Option<Duration>,
    ) -> Result<Option<String>> {
        self.send(request)?;
        let Some(limit) = limit else {
            return self.receive().map(Some);
        };
        let end = Instant::now() + limit;
        while !self.lines.has_line() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.given_up = Some("spawn_result");
                return Ok(None);
            }
            let limit = left.try_into().ok();
            let mut answer = [PollFd::new(&self.socket, PollFlags::IN)];
            if poll(&mut answer, limit.as_ref()).is_ok_and(|ready| ready > 0) {
                self.read()?;
            }
        }
        self.receive().map(Some)
    }

    fn send(&mut self, request: &str) -> Result<()> {
        let line = format!("{request}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            // No SIGPIPE: a launcher that died is an error to report, not a reason to die without a word.
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(lost(request, &error.to_string())),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<String> {
        loop {
            match self.lines.next_line() {
                Some(line) if self.given_up.is_some_and(|it| it == Line(&line).command()) => {
                    self.given_up = None;
                }
                Some(line) => return Ok(line),
                None => self.read()?,
            }
        }
    }

    /// Waits for some more of an answer.
    fn read(&mut self) -> Result<()> {
        let mut chunk = [0u8; 2048];
        match rustix::io::read(&self.socket, &mut chunk) {
            Ok(0) => return Err(lost("an answer", "it closed the connection")),
            Ok(count) => self.lines.push(&chunk[..count]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(lost("an answer", &error.to_string())),
        }
        match self.lines.is_too_long() {
            true => Err(unexpected("a request", "a line without end")),
            false => Ok(()),
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn refused(text: String) -> Error {
    Error::new(Class::Other, text)
}

fn lost(what: &str, why: &str) -> Error {
    refused(format!("lost the launcher over PMI at {what}: {why}"))
}

fn unexpected(request: &str, answer: &str) -> Error {
    refused(format!(
        "the launcher answered {request} over PMI with: {answer}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn an_answer_that_was_given_up_is_passed_over() {
        let (ours, mut launcher) = UnixStream::pair().unwrap();
        let mut client = Client::silent(OwnedFd::from(ours));
        let limit = Some(Duration::from_millis(1));
        assert_eq!(client.call_within("mcmd=spawn", limit).unwrap(), None);
        launcher
            .write_all(b"cmd=spawn_result rc=0\ncmd=put_result rc=0\n")
            .unwrap();
        assert_eq!(client.call("cmd=put").unwrap(), "cmd=put_result rc=0");
        launcher.write_all(b"cmd=spawn_result rc=0\n").unwrap();
        let answer = client.call_within("mcmd=spawn", Some(Duration::from_secs(60)));
        assert_eq!(answer.unwrap().as_deref(), Some("cmd=spawn_result rc=0"));
    }
}
