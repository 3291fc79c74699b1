//! What `mpiexec -top` and the mpiexec of a job say to each other, over a socket in the abstract namespace: a question, an answer, and so on.
//!
//! A message is its length, 4 bytes in little endian, and so many bytes of postcard.

use super::sample::Sample;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::SocketAddr;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// No question is longer, bytes.
pub const LONGEST_QUESTION: usize = 1 << 10;
/// Nor any answer: a line of some 200 bytes for each rank.
pub const LONGEST_ANSWER: usize = 1 << 28;
const HEAD: usize = 4;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub version: String,
    /// Between two questions.
    pub milliseconds: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The job's mpiexec is of another version.
    Other { version: String },
    Ranks {
        hosts: Vec<String>,
        /// By rank, which of the hosts it is on.
        of: Vec<u32>,
        /// By rank.
        samples: Vec<Sample>,
    },
}

/// Where the mpiexec with this process id listens. A process id means something in its namespace only.
pub fn address(pid: i32) -> io::Result<SocketAddr> {
    let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |it| it.ino());
    SocketAddr::from_abstract_name(format!("oxmpi-top-{namespace}-{pid}"))
}

pub fn message(what: &impl Serialize) -> Vec<u8> {
    let body = postcard::to_allocvec(what).unwrap_or_default();
    let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}

/// Takes the first message off; `None`: it is not whole yet.
///
/// Errors: nonsense, or more than `longest` bytes.
pub fn take<T: DeserializeOwned>(bytes: &mut Vec<u8>, longest: usize) -> Result<Option<T>, ()> {
    let Some(head) = bytes.first_chunk::<HEAD>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*head) as usize;
    if length > longest {
        return Err(());
    }
    let Some(body) = bytes.get(HEAD..HEAD + length) else {
        return Ok(None);
    };
    let found = postcard::from_bytes(body).map_err(|_| ())?;
    bytes.drain(..HEAD + length);
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_when_they_are_whole() {
        let question = |milliseconds| Question {
            version: VERSION.to_owned(),
            milliseconds,
        };
        let mut bytes = Vec::new();
        for byte in message(&question(7)) {
            assert_eq!(take::<Question>(&mut bytes, 100), Ok(None));
            bytes.push(byte);
        }
        bytes.extend(message(&question(8)));
        assert_eq!(take(&mut bytes, 100), Ok(Some(question(7))));
        assert_eq!(take(&mut bytes, 100), Ok(Some(question(8))));
        assert_eq!(take::<Question>(&mut bytes, 100), Ok(None));
        assert_eq!(take::<Question>(&mut vec![101, 0, 0, 0], 100), Err(()));
        assert_eq!(take::<Question>(&mut vec![1, 0, 0, 0, 255], 100), Err(()));
    }
}
