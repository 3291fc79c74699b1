//! Messages of a meeting: what processes tell those of other groups of themselves.

use super::codec::coded;
use crate::comm::me;
use crate::connections::far::End;
use crate::engine;
use crate::group::names::{self, Name};
use crate::launch::{Job, nodes};
use crate::os::addresses;
use crate::os::process::{Birth, identity};
use crate::transport::Table;
use crate::variables::pretend::PRETEND;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

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

/// What a process tells of its end of the fabric, and where it waits for life lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FarCard {
    pub end: End,
    pub machine: u64,
    pub host: String,
    /// Where it waits for life lines, if it does.
    pub addresses: Vec<IpAddr>,
    pub port: u16,
    pub cookie: u128,
}

/// What a process has made for a meeting, for all of both groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// A segment for the processes of both groups on its host.
    pub segment: Option<Remote>,
    /// Of one that is far from somebody: its card, or why there is none.
    pub far: Option<std::result::Result<FarCard, String>>,
}

/// What a root tells the other one first: the context id on which its group receives, and the group's cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub context: u32,
    pub cards: Vec<Card>,
}

coded!(Remote: fd inode);
coded!(Card: name host birth home ranks seat node);
coded!(End: card provider entry is_loopback settings);
coded!(FarCard: end machine host addresses port cookie);
coded!(Offered: segment far);
coded!(Hello: context cards);

impl Card {
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
    use crate::dynamic::codec::{Coded, decode, encode};
    use proptest::collection::vec;
    use proptest::prelude::{any, proptest};
    use proptest::sample::Index;
    use std::fmt::Debug;

    fn card() -> Card {
        Card {
            name: Name { job: 9, rank: 8 },
            host: u64::MAX,
            birth: Birth { pid: 6, ticks: 5 },
            home: Remote { fd: 4, inode: 3 },
            ranks: 2,
            seat: 1,
            node: 7,
        }
    }

    fn hello() -> Hello {
        Hello {
            context: 77,
            cards: vec![card(), Card { seat: 0, ..card() }],
        }
    }

    fn offered() -> Vec<Offered> {
        let far = FarCard {
            end: End {
                card: "net:0:0:00".to_owned(),
                settings: "OXMPI_X=1\nbuild 7".to_owned(),
                ..End::default()
            },
            addresses: vec!["10.0.0.1".parse().unwrap()],
            port: 99,
            cookie: u128::MAX,
            ..FarCard::default()
        };
        let near = Offered {
            segment: Some(card().home),
            far: Some(Ok(far)),
        };
        let without = Offered {
            segment: None,
            far: Some(Err("no library".to_owned())),
        };
        vec![Offered::default(), near, without]
    }

    #[test]
    fn messages_bring_everything_back_and_parts_of_them_nothing() {
        let bytes = encode(&hello());
        assert_eq!(decode(&bytes), Some(hello()));
        assert!((0..bytes.len()).all(|length| decode::<Hello>(&bytes[..length]).is_none()));
        let bytes = encode(&offered());
        assert_eq!(decode(&bytes), Some(offered()));
        assert!((0..bytes.len()).all(|length| decode::<Vec<Offered>>(&bytes[..length]).is_none()));
    }

    /// A value that was read from any bytes comes back from its own encoding.
    fn check<T: Coded + PartialEq + Debug>(bytes: &[u8]) {
        if let Some(value) = decode::<T>(bytes) {
            assert_eq!(decode(&encode(&value)), Some(value));
        }
    }

    proptest! {
        #[test]
        fn bytes_that_somebody_has_changed_can_be_read(
            changes in vec((any::<Index>(), any::<u8>()), 1..6),
            cut in any::<Index>(),
        ) {
            for mut bytes in [encode(&hello()), encode(&offered())] {
                for (at, value) in &changes {
                    let at = at.index(bytes.len());
                    bytes[at] = *value;
                }
                let cut = &bytes[..cut.index(bytes.len())];
                for bytes in [&bytes, cut] {
                    check::<Hello>(bytes);
                    check::<Vec<Offered>>(bytes);
                }
            }
        }
    }

    #[test]
    fn all_cards_have_one_size() {
        let small = Card {
            host: 0,
            ranks: 0,
            ..card()
        };
        assert_eq!(encode(&small).len(), encode(&card()).len());
    }
}
