//! Cards: what a process tells those of other groups of itself.

use crate::comm::me;
use crate::engine;
use crate::group::names::{self, Name};
use crate::launch::{Job, nodes};
use crate::os::addresses;
use crate::os::process::{Birth, identity};
use crate::transport::Table;
use crate::variables::pretend::PRETEND;
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;

/// A descriptor of another process of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub fd: i32,
    pub inode: u64,
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub name: Name,
    /// [`addresses::host`].
    pub host: u64,
    pub birth: Birth,
    /// The segment of the process's job on its host, the number of its ranks, and the process's place there.
    pub home: Remote,
    pub ranks: u32,
    pub seat: u32,
    /// The node in the job.
    pub node: u32,
}

const WORDS: usize = 10;

impl Card {
    /// Bytes of a card.
    pub const BYTES: usize = WORDS * 8;

    /// Of this process.
    pub fn own(job: &Job) -> Card {
        let seat = job.local_ranks.iter().position(|rank| *rank == job.rank);
        Card {
            name: names::of(me()),
            host: addresses::host(&part(job)),
            birth: Birth::own(),
            home: Remote::of(&job.segment),
            ranks: job.local_ranks.len() as u32,
            seat: seat.unwrap_or_default() as u32,
            node: crate::engine::node_of(me()),
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        let words: [u64; WORDS] = [
            self.name.job,
            self.name.rank.into(),
            self.host,
            self.birth.pid as u64,
            self.birth.ticks,
            self.home.fd as u64,
            self.home.inode,
            self.ranks.into(),
            self.seat.into(),
            self.node.into(),
        ];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// All cards in a list of bytes.
    pub fn decode_all(bytes: &[u8]) -> Vec<Card> {
        bytes.chunks_exact(Card::BYTES).map(Card::decode).collect()
    }

    fn decode(bytes: &[u8]) -> Card {
        let mut words = bytes.chunks_exact(8).map(|word| {
            let word: [u8; 8] = word.try_into().unwrap_or_default();
            u64::from_le_bytes(word)
        });
        let mut next = || words.next().unwrap_or_default();
        let (job, rank) = (next(), next() as u32);
        Card {
            name: Name { job, rank },
            host: next(),
            birth: Birth {
                pid: next() as i32,
                ticks: next(),
            },
            home: Remote {
                fd: next() as i32,
                inode: next(),
            },
            ranks: next() as u32,
            seat: next() as u32,
            node: next() as u32,
        }
    }
}

/// Which of several hosts that it pretends to be on this machine's process is on.
fn part(job: &Job) -> String {
    let host = PRETEND.get().host;
    let is_split = engine::table().is_some_and(Table::pretends_hosts);
    let part = match is_split {
        true => nodes::part(job.rank, job.size),
        false => 0,
    };
    format!("{host}.{part}")
}

impl Remote {
    /// A descriptor of this process.
    pub fn of(fd: &OwnedFd) -> Remote {
        let number = fd.as_raw_fd();
        Remote {
            fd: number,
            inode: identity(number).map_or(0, |(inode, _)| inode),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_brings_everything_back() {
        let card = Card {
            name: Name { job: 9, rank: 8 },
            host: u64::MAX,
            birth: Birth { pid: 6, ticks: 5 },
            home: Remote { fd: 4, inode: 3 },
            ranks: 2,
            seat: 1,
            node: 7,
        };
        let both = |card: &Card| Card::decode_all(&card.encode());
        assert_eq!(both(&card), [card]);
        assert_eq!(card.encode().len(), Card::BYTES);
    }
}
