//! Where others connect, and those who have connected and have not said yet who they are.
//!
//! All are heard at once, so a stranger who says nothing, or little, keeps nobody waiting. Invariants: a greeting comes whole within
//! [`GREETING_TIME`], or its connection is closed; of those whose greeting is not whole there are at most [`MOST_CALLERS`], and the oldest
//! gives way; nothing behind a greeting is read.

use crate::os::addresses;
use crate::variables::{Kind, Value, Variable};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fmt::{Display, Formatter};
use std::io::{ErrorKind, Read, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// For a whole greeting.
pub const GREETING_TIME: Duration = Duration::from_secs(10);
/// Connections whose greeting is not whole.
pub const MOST_CALLERS: usize = 64;
/// Connections that the kernel keeps while nobody accepts; it takes less than that for its own limit (`somaxconn`).
const BACKLOG: i32 = 4096;
/// Addresses in the name of a port, which has room for 255 bytes in all.
const MOST_ADDRESSES: usize = 8;
/// How often a port is looked for that is free at all addresses.
const ATTEMPTS: usize = 20;

/// An address of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(Ipv4Addr);

impl Display for Address {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

impl Value for Address {
    const ALLOWED: &'static str = "an Internet address, such as 10.1.2.3";
    const KIND: Kind = Kind::Number;

    fn parse(text: &str) -> Option<Address> {
        text.parse().ok().map(Address)
    }

    fn bits(self) -> u64 {
        self.0.to_bits().into()
    }

    fn of_bits(bits: u64) -> Option<Address> {
        let bits = u32::try_from(bits).ok()?;
        Some(Address(Ipv4Addr::from_bits(bits)))
    }
}

pub static LISTEN_ADDRESS: Variable<Address> = Variable::new(
    "LISTEN_ADDRESS",
    Address(Ipv4Addr::UNSPECIFIED),
    "The address of this machine at which others connect to ports and for life lines. 0.0.0.0: all of the interface that \
     OXMPI_INTERFACE names, else all of this machine.",
);

/// The addresses to listen at, and those that others are told of, not too many.
pub struct Addresses {
    listened: Vec<IpAddr>,
    told: Vec<IpAddr>,
}

impl Addresses {
    /// Those that the variables say.
    pub fn of_settings() -> Addresses {
        match LISTEN_ADDRESS.get().0 {
            Ipv4Addr::UNSPECIFIED => {
                let interface = std::env::var("OXMPI_INTERFACE").ok();
                Self::of_interface(interface.as_deref().filter(|name| !name.is_empty()))
            }
            address => Self::one(address.into()),
        }
    }

    /// This one, or all of its kind.
    pub fn one(address: IpAddr) -> Addresses {
        if address.is_unspecified() && address.is_ipv4() {
            return Self::of_interface(None);
        }
        Addresses {
            listened: vec![address],
            told: vec![address],
        }
    }

    /// Those of an interface; of all where none is named, or none with an Internet address: it may be one that only the fabric knows.
    fn of_interface(name: Option<&str>) -> Addresses {
        if let Some(name) = name {
            let all = few(addresses::ipv4(Some(name)));
            if !all.is_empty() {
                return Addresses {
                    listened: all.clone(),
                    told: all,
                };
            }
        }
        let mut told = few(addresses::ipv4(None));
        if told.is_empty() {
            told.push(Ipv4Addr::LOCALHOST.into());
        }
        Addresses {
            listened: vec![Ipv4Addr::UNSPECIFIED.into()],
            told,
        }
    }
}

impl Display for Addresses {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        let all: Vec<String> = self.listened.iter().map(ToString::to_string).collect();
        out.write_str(&all.join(", "))
    }
}

/// Of many addresses the first, and the last: that is the loopback one, which always works on this host.
fn few(mut all: Vec<Ipv4Addr>) -> Vec<IpAddr> {
    if let Some(last) = all.pop() {
        all.truncate(MOST_ADDRESSES - 1);
        all.push(last);
    }
    all.into_iter().map(IpAddr::V4).collect()
}

/// Somebody who has connected.
struct Caller {
    stream: TcpStream,
    said: Vec<u8>,
    since: Instant,
}

/// How many bytes of a greeting are missing still, at least; 0: it is whole.
pub type Missing = fn(&[u8]) -> usize;

/// See the module.
pub struct Reception {
    listeners: Vec<TcpListener>,
    /// By age.
    callers: Vec<Caller>,
    missing: Missing,
}

impl Reception {
    /// Listens at these addresses; `port`: 0 for any. Returns the port and the addresses that others are told of, too.
    ///
    /// Errors: the kernel's.
    pub fn open(
        addresses: Addresses,
        port: u16,
        missing: Missing,
    ) -> Result<(Reception, u16, Vec<IpAddr>)> {
        let mut attempts = 1..;
        let listeners = loop {
            match listen(&addresses.listened, port) {
                // A port that was free at the first address need not be so at all.
                Err(error)
                    if error.kind() == ErrorKind::AddrInUse
                        && port == 0
                        && attempts.next() < Some(ATTEMPTS) => {}
                listeners => break listeners?,
            }
        };
        let port = listeners[0].local_addr()?.port();
        let reception = Reception {
            listeners,
            callers: Vec::new(),
            missing,
        };
        Ok((reception, port, addresses.told))
    }

    /// Lets in all who have connected, and hears all who say something. Returns those whose greeting is whole, with it; their sockets do not
    /// block.
    ///
    /// Errors: no connection can be accepted.
    pub fn turn(&mut self) -> Result<Vec<(TcpStream, Vec<u8>)>> {
        let mut whole = Vec::new();
        for caller in std::mem::take(&mut self.callers) {
            self.hear(caller, &mut whole);
        }
        for index in 0..self.listeners.len() {
            while let Some(stream) = self.accept(index)? {
                let caller = Caller {
                    stream,
                    said: Vec::new(),
                    since: Instant::now(),
                };
                if caller.stream.set_nonblocking(true).is_ok() {
                    self.hear(caller, &mut whole);
                }
                while self.callers.len() > MOST_CALLERS {
                    self.end_oldest(&mut whole);
                }
            }
        }
        Ok(whole)
    }

    /// Hears a caller, who stays if the greeting may still become whole.
    fn hear(&mut self, mut caller: Caller, whole: &mut Vec<(TcpStream, Vec<u8>)>) {
        match caller.hear(self.missing) {
            Ok(true) => whole.push((caller.stream, caller.said)),
            Ok(false) if caller.since.elapsed() < GREETING_TIME => self.callers.push(caller),
            // Gone, or too slow.
            _ => {}
        }
    }

    /// Ends the oldest caller, unless its greeting has become whole in the meantime.
    fn end_oldest(&mut self, whole: &mut Vec<(TcpStream, Vec<u8>)>) {
        let mut caller = self.callers.remove(0);
        if let Ok(true) = caller.hear(self.missing) {
            whole.push((caller.stream, caller.said));
        }
    }

    /// The next one who has connected.
    fn accept(&mut self, listener: usize) -> Result<Option<TcpStream>> {
        loop {
            match self.listeners[listener].accept() {
                Ok((stream, _)) => return Ok(Some(stream)),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(None),
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    _ if has_no_descriptor(&error) && !self.callers.is_empty() => {
                        let _ = self.callers.remove(0);
                    }
                    _ => return Err(error),
                },
            }
        }
    }

    /// Waits until somebody connects or says something, one of `others` does, or the time is over.
    pub fn wait<'a>(&'a self, others: impl Iterator<Item = &'a TcpStream>, limit: Duration) {
        let listeners = self.listeners.iter().map(AsFd::as_fd);
        let callers = self.callers.iter().map(|caller| caller.stream.as_fd());
        let all = listeners.chain(callers).chain(others.map(AsFd::as_fd));
        let mut all: Vec<PollFd<'_>> = all
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        let _ = poll(&mut all, limit.try_into().ok().as_ref());
    }

    /// The number of connections whose greeting is not whole.
    #[cfg(test)]
    pub fn callers(&self) -> usize {
        self.callers.len()
    }
}

impl Caller {
    /// Reads what has come of the greeting; whether it is whole.
    ///
    /// Errors: the other side has gone.
    fn hear(&mut self, missing: Missing) -> Result<bool> {
        loop {
            let missing = missing(&self.said);
            if missing == 0 {
                return Ok(true);
            }
            let mut bytes = [0u8; 64];
            let room = missing.min(bytes.len());
            match self.stream.read(&mut bytes[..room]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.said.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Listens at the same port of all addresses.
fn listen(addresses: &[IpAddr], mut port: u16) -> Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = TcpListener::bind(SocketAddr::new(*address, port))?;
        listener.set_nonblocking(true)?;
        rustix::net::listen(&listener, BACKLOG)?;
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(listeners)
}

fn has_no_descriptor(error: &std::io::Error) -> bool {
    let limits = [Errno::MFILE, Errno::NFILE];
    Errno::from_io_error(error).is_some_and(|error| limits.contains(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn reception() -> (Reception, SocketAddr) {
        let local: IpAddr = Ipv4Addr::LOCALHOST.into();
        let four = |said: &[u8]| 4 - said.len();
        let (reception, port, told) = Reception::open(Addresses::one(local), 0, four).unwrap();
        assert_eq!(told, [local]);
        (reception, SocketAddr::new(local, port))
    }

    /// Turns until so many greetings are whole.
    fn until(reception: &mut Reception, count: usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for _ in 0..1000 {
            let heard = reception.turn().unwrap();
            found.extend(heard.into_iter().map(|(_, greeting)| greeting));
            if found.len() >= count {
                return found;
            }
            reception.wait(std::iter::empty(), Duration::from_millis(20));
        }
        panic!("{} of {count} were heard", found.len());
    }

    #[test]
    fn strangers_give_way_and_keep_nobody_waiting() {
        let (mut reception, address) = reception();
        let connect = || TcpStream::connect(address).unwrap();
        // Some in front of somebody who greets, and more behind.
        let mut all: Vec<TcpStream> = (0..10).map(|_| connect()).collect();
        let mut friend = connect();
        friend.write_all(b"herebut no more").unwrap();
        all.extend((0..200).map(|_| connect()));
        assert_eq!(until(&mut reception, 1), [b"here"]);
        assert!(reception.callers() <= MOST_CALLERS);
        // One that has said half of it goes on.
        let mut slow = connect();
        slow.write_all(b"la").unwrap();
        assert!(until(&mut reception, 0).is_empty());
        slow.write_all(b"te").unwrap();
        assert_eq!(until(&mut reception, 1), [b"late"]);
        drop(all);
        for _ in 0..1000 {
            assert!(until(&mut reception, 0).is_empty());
            if reception.callers() == 0 {
                return;
            }
            reception.wait(std::iter::empty(), Duration::from_millis(20));
        }
        panic!("{} stay", reception.callers());
    }

    #[test]
    fn a_greeting_has_its_time_however_often_a_byte_comes() {
        let (mut reception, address) = reception();
        let mut dripping = TcpStream::connect(address).unwrap();
        dripping.write_all(b"a").unwrap();
        while reception
            .callers
            .first()
            .is_none_or(|it| it.said.is_empty())
        {
            assert!(until(&mut reception, 0).is_empty());
        }
        dripping.write_all(b"b").unwrap();
        reception.callers[0].since = Instant::now() - GREETING_TIME;
        while reception.callers() > 0 {
            assert!(until(&mut reception, 0).is_empty());
        }
    }

    #[test]
    fn addresses_are_those_that_are_asked_for() {
        assert_eq!(
            Address::parse("10.1.2.3").map(Value::bits),
            Some(0x0a01_0203)
        );
        assert_eq!(Address::of_bits(0x0a01_0203), Address::parse("10.1.2.3"));
        assert!(Address::parse("lo").is_none() && Address::of_bits(1 << 32).is_none());
        let of = |name| {
            let Addresses { listened, told } = Addresses::of_interface(name);
            (listened, told)
        };
        let local: IpAddr = Ipv4Addr::LOCALHOST.into();
        assert_eq!(of(Some("lo")), (vec![local], vec![local]));
        let (all, told) = of(None);
        assert_eq!(all, [IpAddr::from(Ipv4Addr::UNSPECIFIED)]);
        assert!(told.contains(&local));
        // One that only the fabric knows.
        assert_eq!(of(Some("mlx5_0")), (all, told));
        let many: Vec<Ipv4Addr> = (0..20).map(Ipv4Addr::from_bits).collect();
        let some = few(many.clone());
        assert_eq!((some.len(), some.last()), (8, Some(&IpAddr::V4(many[19]))));
    }
}
