//! Ports: names that another job can connect to, and the connection between two roots.
//!
//! A port is a TCP listener of its process, `oxmpi:ADDRESS[,ADDRESS...]:PORT:COOKIE`. Invariants: nothing is listened to before the first
//! port is opened; who does not know the cookie learns nothing and disturbs nobody ([`super::reception`]); one of those who know it is told
//! at a time that it is accepted.

use super::reception::{Addresses, GREETING_TIME, Reception};
use crate::engine::losses::{self, Cause};
use crate::error::{Class, Error, Result, fail};
use crate::os::addresses::{self, end_in_silence};
use crate::sync::{AtomicBool, Ordering};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SCHEME: &str = "oxmpi";
/// For one address to answer.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Interval at which an accept looks whether its port was closed, and both sides whether they may go on.
const LOOK: Duration = Duration::from_millis(100);
/// Of a line; longer ones come from strangers.
const LINE_BYTES: usize = 1024;
/// Bytes that both sides may send at once.
const SHORT: usize = 1024;
/// Of a frame: 16 million processes.
const FRAME_BYTES: u64 = 2 << 30;

/// A port of this process.
pub struct Port {
    pub name: String,
    cookie: String,
    door: Mutex<Door>,
    closed: AtomicBool,
}

/// Those at a port.
struct Door {
    reception: Reception,
    /// They know the cookie, and wait to be accepted.
    known: VecDeque<Socket>,
}

static PORTS: Mutex<Vec<Arc<Port>>> = Mutex::new(Vec::new());

/// A connection to the root of another group.
pub struct Socket {
    stream: TcpStream,
    /// Whether this side accepts the other one, which connects.
    pub accepts: bool,
}

/// When a wait for the other side ends, and after how many seconds that is.
#[derive(Clone, Copy)]
pub struct Deadline {
    at: Instant,
    seconds: f64,
}

impl Deadline {
    pub fn after(seconds: f64) -> Deadline {
        let seconds = seconds.clamp(0.0, 1e9);
        Deadline {
            at: Instant::now() + Duration::from_secs_f64(seconds),
            seconds,
        }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

fn failed(what: &str, error: impl std::fmt::Display) -> Error {
    Error::new(Class::Port, format!("{what}: {error}"))
}

/// What has become of a connection.
pub fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            "it was closed at the other end".to_owned()
        }
        _ => error.to_string(),
    }
}

fn lost(error: std::io::Error) -> Error {
    let text = format!("the connection to the other group is lost: {}", why(&error));
    losses::error_of(Cause::Meeting, text)
}

/// Opens a port at these addresses; `number`: its TCP port, 0 for any.
///
/// Errors: MPI_ERR_PORT, the kernel does not have it.
pub fn open(addresses: Addresses, number: u16) -> Result<Arc<Port>> {
    let shown = addresses.to_string();
    let opened = Reception::open(addresses, number, missing_of_line);
    let (reception, number, addresses) = opened.map_err(|error| {
        let number = match number {
            0 => String::new(),
            number => format!(" {number}"),
        };
        failed(&format!("no port{number} can be opened at {shown}"), error)
    })?;
    let in_name = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    let addresses: Vec<String> = addresses.iter().map(in_name).collect();
    let cookie = format!("{:032x}", addresses::random());
    let name = format!("{SCHEME}:{}:{number}:{cookie}", addresses.join(","));
    let port = Arc::new(Port {
        name,
        cookie,
        door: Mutex::new(Door {
            reception,
            known: VecDeque::new(),
        }),
        closed: AtomicBool::new(false),
    });
    PORTS.lock().push(port.clone());
    Ok(port)
}

/// A line is read byte by byte: what is behind it is not its reader's.
fn missing_of_line(said: &[u8]) -> usize {
    let is_whole = said.last() == Some(&b'\n') || said.len() >= LINE_BYTES;
    usize::from(!is_whole)
}

/// Closes a port. Calls that wait at it end with an error.
///
/// Errors: MPI_ERR_PORT, this process has no such port.
pub fn close(name: &str) -> Result<()> {
    let mut ports = PORTS.lock();
    let Some(place) = ports.iter().position(|port| port.name == name) else {
        return not_here(name);
    };
    ports
        .swap_remove(place)
        .closed
        .store(true, Ordering::Release);
    Ok(())
}

/// A port of this process.
///
/// Errors: MPI_ERR_PORT.
pub fn find(name: &str) -> Result<Arc<Port>> {
    let found = PORTS.lock().iter().find(|port| port.name == name).cloned();
    found.map_or_else(|| not_here(name), Ok)
}

fn not_here<T>(name: &str) -> Result<T> {
    fail!(
        Class::Port,
        "port_name is \"{name}\", which is no port that this process has opened"
    )
}

/// The secret part of a name.
pub fn cookie_of(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

impl Port {
    /// Waits for somebody who knows the cookie. `may_go_on` is asked from time to time.
    ///
    /// Errors: of `may_go_on`; MPI_ERR_PORT, the time is over or the port is closed; MPI_ERR_SPAWN, the launcher says that nobody will come.
    pub fn accept(
        &self,
        deadline: Option<Deadline>,
        may_go_on: impl Fn() -> Result<()>,
    ) -> Result<Socket> {
        let mut chosen: Option<Chosen> = None;
        loop {
            may_go_on()?;
            if self.closed.load(Ordering::Acquire) {
                return fail!(Class::Port, "the port was closed in the meantime");
            }
            if let Some(deadline) = deadline.filter(|it| chosen.is_none() && it.is_over()) {
                return fail!(
                    Class::Port,
                    "nobody has connected within {} seconds",
                    deadline.seconds
                );
            }
            let mut door = self.door.lock();
            let heard = door.reception.turn();
            for (stream, line) in
                heard.map_err(|error| failed("no connection can be accepted", error))?
            {
                door.known
                    .extend(self.greet(Socket::of(stream, true), &line)?);
            }
            if chosen.is_none() {
                let known = std::iter::from_fn(|| door.known.pop_front());
                chosen = known.filter_map(Chosen::tell).next();
            }
            match chosen.take().map(Chosen::hear) {
                Some(Ok(socket)) => return Ok(socket),
                Some(Err(Some(waiting))) => chosen = Some(waiting),
                // The next one is told at once.
                Some(Err(None)) => continue,
                None => {}
            }
            let left = deadline.map_or(LOOK, |deadline| deadline.left().min(LOOK));
            let awaited = chosen.iter().map(|chosen| &chosen.socket.stream);
            door.reception.wait(awaited, left);
            // Another thread may accept at this port, too.
            MutexGuard::unlock_fair(door);
        }
    }

    /// Somebody who has said this line; `None`: a stranger.
    fn greet(&self, mut socket: Socket, line: &[u8]) -> Result<Option<Socket>> {
        let line = String::from_utf8_lossy(line);
        let mut words = line.trim_end_matches('\n').splitn(3, ' ');
        let (verb, cookie) = (words.next(), words.next());
        if cookie != Some(self.cookie.as_str()) {
            return Ok(None);
        }
        match verb {
            Some("oxmpi-connect") if words.next() == Some(VERSION) => Ok(Some(socket)),
            Some("oxmpi-connect") => {
                let answer = format!("oxmpi-version {VERSION}\n");
                let _ = socket.stream.write_all(answer.as_bytes());
                Ok(None)
            }
            Some("oxmpi-refused") => fail!(
                Class::Spawn,
                "the processes do not come: {}",
                words.next().unwrap_or("no reason was given")
            ),
            _ => Ok(None),
        }
    }
}

/// Somebody who was told that it is accepted, and is to say that it is there still: it may have given up before.
struct Chosen {
    socket: Socket,
    said: Vec<u8>,
    until: Deadline,
}

impl Chosen {
    /// `None`: it has gone.
    fn tell(mut socket: Socket) -> Option<Chosen> {
        socket.stream.write_all(b"oxmpi-accepted\n").ok()?;
        Some(Chosen {
            socket,
            said: Vec::new(),
            until: Deadline::after(GREETING_TIME.as_secs_f64()),
        })
    }

    /// It is there; or it may come still, or has gone.
    fn hear(mut self) -> std::result::Result<Socket, Option<Chosen>> {
        while missing_of_line(&self.said) > 0 {
            let mut byte = [0u8];
            match self.socket.stream.read(&mut byte) {
                Ok(1) => self.said.push(byte[0]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && !self.until.is_over() => {
                    return Err(Some(self));
                }
                _ => return Err(None),
            }
        }
        match self.said == b"oxmpi-here\n" && self.socket.prepare(None).is_ok() {
            true => Ok(self.socket),
            false => Err(None),
        }
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The addresses, port and cookie of a name.
fn parse(name: &str) -> Option<(Vec<IpAddr>, u16, &str)> {
    let rest = name.strip_prefix(SCHEME)?.strip_prefix(':')?;
    let (rest, cookie) = rest.rsplit_once(':')?;
    let (addresses, port) = rest.rsplit_once(':')?;
    let addresses: Option<Vec<IpAddr>> = addresses
        .split(',')
        .map(|address| address.trim_matches(['[', ']']).parse().ok())
        .collect();
    let is_hex = cookie.len() == 32 && cookie.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((addresses?, port.parse().ok()?, cookie)).filter(|_| is_hex)
}

/// Connects to a port, and waits until its process accepts. `may_go_on` is asked from time to time.
///
/// Errors: of `may_go_on`; MPI_ERR_PORT, the name is none, nobody listens there, or the time is over.
pub fn connect(
    name: &str,
    deadline: Deadline,
    may_go_on: impl Fn() -> Result<()>,
) -> Result<Socket> {
    let Some((addresses, port, cookie)) = parse(name) else {
        return fail!(
            Class::Port,
            "port_name is \"{name}\", which is no name of a port"
        );
    };
    let greet = |stream| ask(Socket::of(stream, false), cookie, deadline, &may_go_on);
    reach(&addresses, port, deadline, greet)?.map_err(|why| {
        let text = format!("port_name is \"{name}\", and nobody accepts there ({why})");
        Error::new(Class::Port, text)
    })
}

/// The first connection to one of these addresses that `greet` is content with, or what is wrong with each.
///
/// Errors: of `greet`, which ends it.
pub fn reach<S>(
    addresses: &[IpAddr],
    port: u16,
    deadline: Deadline,
    mut greet: impl FnMut(TcpStream) -> Result<std::result::Result<S, String>>,
) -> Result<std::result::Result<S, String>> {
    let mut reasons = Vec::new();
    for address in addresses {
        let limit = CONNECT_TIME.min(deadline.left());
        let limit = limit.max(Duration::from_millis(1));
        let reached = TcpStream::connect_timeout(&SocketAddr::new(*address, port), limit);
        let reason = match reached.map(&mut greet) {
            Ok(greeted) => match greeted? {
                Ok(found) => return Ok(Ok(found)),
                Err(text) => text,
            },
            Err(error) => why(&error),
        };
        reasons.push(format!("{address}: {reason}"));
        if deadline.is_over() {
            break;
        }
    }
    Ok(Err(reasons.join("; ")))
}

/// Shows the cookie to the process that listens, and waits for its answer. The text says why that is of no use.
///
/// Errors: of `may_go_on`.
fn ask(
    mut socket: Socket,
    cookie: &str,
    deadline: Deadline,
    may_go_on: impl Fn() -> Result<()>,
) -> Result<std::result::Result<Socket, String>> {
    let line = format!("oxmpi-connect {cookie} {VERSION}\n");
    let mut stopped = None;
    let answer = socket.prepare(Some(LOOK)).and_then(|()| {
        socket.stream.write_all(line.as_bytes())?;
        socket.read_line(|| {
            stopped = may_go_on().err();
            stopped.is_none() && !deadline.is_over()
        })
    });
    if let Some(error) = stopped {
        return Err(error);
    }
    Ok(match answer {
        Ok(answer) => understand(socket, &answer),
        Err(error) if is_silence(&error) => Err(format!(
            "nobody has accepted within {} seconds",
            deadline.seconds
        )),
        Err(error) => Err(why(&error)),
    })
}

/// Greets the process that has accepted. The text says why that is none.
fn understand(mut socket: Socket, answer: &str) -> std::result::Result<Socket, String> {
    match answer.split_once(' ') {
        None if answer == "oxmpi-accepted" => {
            let greeted = socket.stream.write_all(b"oxmpi-here\n");
            let greeted = greeted.and_then(|()| socket.prepare(None));
            greeted.map(|()| socket).map_err(|error| why(&error))
        }
        Some(("oxmpi-version", version)) => Err(format!(
            "it is a process of oxmpi {version}, and this is {VERSION}"
        )),
        _ => Err("it is no port of oxmpi".to_owned()),
    }
}

/// Whether nothing came within the time limit of a socket.
fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

impl Socket {
    /// `stream` may be of any family.
    pub fn of(stream: TcpStream, accepts: bool) -> Socket {
        Socket { stream, accepts }
    }

    fn prepare(&self, limit: Option<Duration>) -> std::io::Result<()> {
        self.stream.set_nonblocking(false)?;
        let _ = self.stream.set_nodelay(true);
        end_in_silence(&self.stream)?;
        self.stream.set_read_timeout(limit)
    }

    /// A line. Whenever the socket's time limit is over without a byte, `waits_on` is asked.
    ///
    /// Errors: the time is over and `waits_on` says no; the connection is lost.
    fn read_line(&mut self, mut waits_on: impl FnMut() -> bool) -> std::io::Result<String> {
        let mut line = Vec::new();
        let mut byte = [0u8];
        while line.len() < LINE_BYTES {
            match self.stream.read_exact(&mut byte) {
                Err(error) if is_silence(&error) && waits_on() => continue,
                read => read?,
            }
            if byte[0] == b'\n' {
                break;
            }
            line.push(byte[0]);
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// Gives the other side these bytes for its own.
    ///
    /// Errors: MPI_ERR_PORT, the connection is lost.
    pub fn swap(&mut self, mine: &[u8]) -> Result<Vec<u8>> {
        // Few bytes find room in the kernel while the other side sends, too.
        if !self.accepts || mine.len() <= SHORT {
            self.send(mine)?;
            return self.receive();
        }
        let theirs = self.receive()?;
        self.send(mine)?;
        Ok(theirs)
    }

    /// Sends a length and so many bytes.
    ///
    /// Errors: MPI_ERR_PORT, the connection is lost.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut frame = (bytes.len() as u64).to_le_bytes().to_vec();
        frame.extend(bytes);
        self.stream.write_all(&frame).map_err(lost)
    }

    /// What the other side has sent by [`Socket::send`].
    ///
    /// Errors: MPI_ERR_PORT, the connection is lost.
    pub fn receive(&mut self) -> Result<Vec<u8>> {
        let mut length = [0u8; 8];
        self.stream.read_exact(&mut length).map_err(lost)?;
        let length = u64::from_le_bytes(length);
        if length > FRAME_BYTES {
            return fail!(Class::Port, "the other group sends nonsense");
        }
        let mut bytes = vec![0; length as usize];
        self.stream.read_exact(&mut bytes).map_err(lost)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_brings_two_processes_together() {
        let port = open(Addresses::of_settings(), 0).unwrap();
        assert!(port.name.len() < 256);
        assert_eq!(cookie_of(&port.name), port.cookie);
        let name = port.name.clone();
        let other = std::thread::spawn(move || {
            let mut socket = connect(&name, Deadline::after(20.0), || Ok(())).unwrap();
            socket.send(b"hello").unwrap();
            socket.receive().unwrap()
        });
        let mut socket = port.accept(Some(Deadline::after(20.0)), || Ok(())).unwrap();
        assert_eq!(socket.receive().unwrap(), b"hello");
        socket.send(b"").unwrap();
        assert!(other.join().unwrap().is_empty());
        close(&port.name).unwrap();
        assert!(close(&port.name).is_err() && find(&port.name).is_err());
        assert!(port.accept(None, || Ok(())).is_err());
    }

    #[test]
    fn both_sides_swap_what_no_buffer_holds() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut connecting = Socket::of(stream, false);
        let mut accepting = Socket::of(listener.accept().unwrap().0, true);
        let large = 32 << 20;
        for (one, two) in [(0, 0), (9, large), (large, 9), (large, large)] {
            let other = std::thread::spawn(move || {
                let theirs = connecting.swap(&vec![1; one]).unwrap();
                (connecting, theirs)
            });
            assert_eq!(accepting.swap(&vec![2; two]).unwrap(), vec![1; one]);
            let theirs;
            (connecting, theirs) = other.join().unwrap();
            assert_eq!(theirs, vec![2; two]);
        }
    }

    #[test]
    fn strangers_are_not_let_in() {
        let port = open(Addresses::of_settings(), 0).unwrap();
        let (_, number, _) = parse(&port.name).unwrap();
        let wrong = format!("oxmpi:127.0.0.1:{number}:{:032x}", 7);
        let stranger = std::thread::spawn(move || {
            let refused = connect(&wrong, Deadline::after(20.0), || Ok(()))
                .err()
                .unwrap();
            refused.class()
        });
        let nobody = port.accept(Some(Deadline::after(0.3)), || Ok(()));
        assert_eq!(nobody.err().unwrap().class(), Class::Port);
        assert_eq!(stranger.join().unwrap(), Class::Port);
        let text = format!("oxmpi-refused {} it has ended\n", port.cookie);
        let mut launcher = TcpStream::connect(("127.0.0.1", number)).unwrap();
        launcher.write_all(text.as_bytes()).unwrap();
        let told = port.accept(None, || Ok(())).err().unwrap();
        assert_eq!(told.class(), Class::Spawn);
        assert!(told.to_string().contains("it has ended"), "{told}");
        close(&port.name).unwrap();
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for name in ["", "oxmpi", "oxmpi::1:", "tag#0$x", "oxmpi:127.0.0.1:99:zz"] {
            let error = connect(name, Deadline::after(1.0), || Ok(()))
                .err()
                .unwrap();
            assert_eq!(error.class(), Class::Port, "{name}");
        }
    }
}
