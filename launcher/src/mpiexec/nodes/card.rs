//! What a keeper is told before it can connect, on its starter's standard input, and how it proves itself then.

use super::link::Patience;
use super::starters::Launcher;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

const MAGIC: &[u8; 8] = b"oxmpi-k1";
/// Of a greeting: what it begins with, cookie, place, version.
pub const GREETING: usize = 8 + 16 + 4 + 32;
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// For one address of the parent.
const CONNECT: Duration = Duration::from_secs(5);

/// 128 random bits that all keepers of a job know, and nobody else.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Cookie([u8; 16]);

impl Cookie {
    pub fn new() -> io::Result<Cookie> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Cookie(bytes))
    }

    /// In a time that tells nothing.
    fn is(&self, other: &[u8]) -> bool {
        let differences = self.0.iter().zip(other).map(|(a, b)| a ^ b);
        other.len() == self.0.len() && differences.fold(0, |sum, bits| sum | bits) == 0
    }
}

/// What a node keeper gets on its standard input; equal for all children of a keeper.
#[derive(Serialize, Deserialize)]
pub struct Card {
    pub cookie: Cookie,
    pub addresses: Vec<IpAddr>,
    pub port: u16,
    pub parent: u32,
    /// `None`: to be found by the name of the host.
    pub place: Option<u32>,
    pub fan_out: u32,
    pub patience: Patience,
    /// Places of the whole tree.
    pub places: u32,
    /// Place and host of each keeper below the parent.
    pub below: Vec<(u32, String)>,
    pub launcher: Launcher,
}

impl Card {
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let body = postcard::to_allocvec(self).map_err(io::Error::other)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(body);
        Ok(bytes)
    }

    /// Errors: not a card, or one of another version.
    pub fn read(from: &mut impl Read) -> io::Result<Card> {
        let (mut magic, mut length) = ([0; 8], [0; 4]);
        from.read_exact(&mut magic)?;
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if magic != *MAGIC || length > 1 << 26 {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        postcard::from_bytes(&body).map_err(|_| ErrorKind::InvalidData.into())
    }

    /// Connects to the parent by the first address that answers.
    pub fn connect(&self) -> io::Result<TcpStream> {
        let mut failure = io::Error::from(ErrorKind::AddrNotAvailable);
        for address in self.addresses.iter().copied().chain(ssh_client()) {
            match TcpStream::connect_timeout(&SocketAddr::new(address, self.port), CONNECT) {
                Ok(stream) => return Ok(stream),
                Err(error) => {
                    let text = format!("no connection to {address} port {}: {error}", self.port);
                    failure = io::Error::new(error.kind(), text);
                }
            }
        }
        Err(failure)
    }

    pub fn greeting(&self, place: u32) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.cookie.0);
        bytes.extend(place.to_le_bytes());
        let mut version = VERSION.as_bytes().to_vec();
        version.resize(32, 0);
        bytes.extend(version);
        bytes
    }
}

/// The place of the one who greets, and its version if it is another; `None` for strangers.
pub fn check_greeting(bytes: &[u8], cookie: &Cookie) -> Option<(u32, Option<String>)> {
    let (magic, rest) = bytes.split_at_checked(8)?;
    let (proof, rest) = rest.split_at_checked(16)?;
    let (place, version) = rest.split_first_chunk::<4>()?;
    if magic != MAGIC || !cookie.is(proof) {
        return None;
    }
    let version = String::from_utf8_lossy(version);
    let version = version.trim_end_matches('\0');
    let other = (version != VERSION).then(|| version.to_owned());
    Some((u32::from_le_bytes(*place), other))
}

/// Where ssh came from.
fn ssh_client() -> Option<IpAddr> {
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    connection.split_whitespace().next()?.parse().ok()
}

/// The addresses of this host by which others can reach it: those it would use to send to them. Nothing is sent.
pub fn own_addresses<'a>(hosts: impl Iterator<Item = &'a str>) -> Vec<IpAddr> {
    let mut found: Vec<IpAddr> = Vec::new();
    let mut add = |address: IpAddr| {
        if !address.is_unspecified() && !found.contains(&address) {
            found.push(address);
        }
    };
    // The first host that has an address speaks for all; a few more for networks of their own.
    for host in hosts.take(4) {
        let addresses = (host, 9).to_socket_addrs().into_iter().flatten();
        addresses
            .filter_map(|it| towards(it).ok())
            .for_each(&mut add);
    }
    let own = super::super::hosts::name();
    let addresses = (own.as_str(), 9).to_socket_addrs().into_iter().flatten();
    let addresses = addresses.map(|it| it.ip());
    addresses.filter(|it| !it.is_loopback()).for_each(&mut add);
    if found.is_empty() {
        found.push(IpAddr::from([127, 0, 0, 1]));
    }
    found
}

fn towards(address: SocketAddr) -> io::Result<IpAddr> {
    let local = match address {
        SocketAddr::V4(_) => "0.0.0.0:0",
        SocketAddr::V6(_) => "[::]:0",
    };
    let socket = UdpSocket::bind(local)?;
    socket.connect(address)?;
    socket.local_addr().map(|it| it.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_card_is_let_in() {
        let card = Card {
            cookie: Cookie::new().unwrap(),
            addresses: own_addresses(["localhost"].into_iter()),
            port: 1,
            parent: 0,
            place: Some(3),
            fan_out: 2,
            patience: Patience::default(),
            places: 9,
            below: vec![(3, "c".into())],
            launcher: Launcher::Slurm,
        };
        let bytes = card.encode().unwrap();
        let again = Card::read(&mut bytes.as_slice()).unwrap();
        assert_eq!((again.place, again.below), (card.place, card.below.clone()));
        assert!(Card::read(&mut &bytes[..20]).is_err());
        let greeting = card.greeting(7);
        assert_eq!(greeting.len(), GREETING);
        assert_eq!(check_greeting(&greeting, &card.cookie), Some((7, None)));
        assert_eq!(check_greeting(&greeting, &Cookie::new().unwrap()), None);
        assert_eq!(check_greeting(&greeting[..20], &card.cookie), None);
        let mut other = greeting;
        other[28] = b'9';
        assert!(matches!(
            check_greeting(&other, &card.cookie),
            Some((7, Some(_)))
        ));
    }
}
