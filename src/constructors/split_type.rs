//! MPI_Comm_split_type: groups that share memory or hardware.
//!
//! Everybody tells in one step how it wants to be split, its key, and the resources it is confined to; then each finds
//! all colours by itself.

use super::context::{Begun, Creation};
use super::hints::{self, Promises};
use super::sides::Sides;
use super::split::{self, Entry, UNDEFINED, partition, tell, tell_across};
use super::{bytes, words};
use crate::coll::now;
use crate::comm::Comm;
use crate::error::{Class, Result, fail};
use crate::launch::nodes;
use crate::os::hardware::{Binding, Kind};

/// How a rank wants its communicator to be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// MPI_UNDEFINED: this rank gets nothing.
    Undefined,
    /// Who can share memory.
    Shared,
    /// Who is confined to the same resource of a kind.
    Guided(Kind),
    /// By the first kind of resource that not all are in the same of.
    Unguided,
    /// Each alone.
    Alone,
    /// By something that is not known here: nobody gets anything.
    Unknown,
}

const WRONG: u32 = u32::MAX;
/// Kind of split, key and promises, and a resource of each kind.
const WORDS: usize = 3 + Kind::ALL.len();
const NOT_CONFINED: u32 = u32::MAX;

impl Split {
    fn encode(self) -> u32 {
        match self {
            Split::Undefined => 0,
            Split::Shared => 1,
            Split::Unguided => 2,
            Split::Alone => 3,
            Split::Unknown => 4,
            Split::Guided(kind) => 5 + kind as u32,
        }
    }
}

/// What one rank says.
struct Said {
    how: u32,
    key: i32,
    process: u32,
    promises: u32,
    resources: Vec<u32>,
}

/// MPI_Comm_split_type: the communicator, and for [`Split::Unguided`] the kind of resource that it was split by.
///
/// Errors: MPI_ERR_ARG on all ranks when they do not want the same, or one's arguments are wrong.
pub fn split_type(
    comm: &Comm,
    how: Result<Split>,
    key: i32,
    promises: Promises,
) -> Result<(Option<&'static Comm>, Option<Kind>)> {
    let sides = Sides::of(comm, "MPI_Comm_split_type");
    let mut begun = Begun::new(sides.own.function, Creation::whole(comm));
    let mut said = [NOT_CONFINED; WORDS];
    said[0] = how.as_ref().map_or(WRONG, |how| how.encode());
    said[1] = key as u32;
    said[2] = promises.to_bits();
    let binding = Binding::now();
    for (kind, word) in Kind::ALL.into_iter().zip(&mut said[3..]) {
        let about = match how {
            Ok(Split::Guided(guided)) => guided == kind,
            Ok(Split::Undefined | Split::Unguided) => true,
            _ => false,
        };
        let resource = about.then(|| binding.confined_to(kind)).flatten();
        *word = resource.unwrap_or(NOT_CONFINED);
    }
    let own = now(tell(&sides, &mut begun, said))?;
    let own: Vec<Said> = own.iter().map(Said::of_rank).collect();
    let remote = now(tell_across(&sides, &mut begun, || encode(&own)))?;
    let remote = remote.as_deref().map(decode);
    let all: Vec<&Said> = own.iter().chain(remote.iter().flatten()).collect();
    let wanted = all.iter().map(|said| said.how).find(|how| *how != 0);
    let same = all
        .iter()
        .all(|said| said.how == 0 || Some(said.how) == wanted);
    let unguided = matches!(how, Ok(Split::Unguided));
    let right = how.and_then(|_| {
        if same && wanted != Some(WRONG) {
            return Ok(());
        }
        fail!(
            Class::Arg,
            "split_type and its info are not the same, and right, on all ranks of {}",
            comm.title()
        )
    });
    let by = match wanted {
        Some(how) if how == Split::Unguided.encode() => next_level(&all),
        _ => None,
    };
    let colours = |said: &Said| Entry {
        colour: said.colour(by),
        key: said.key,
        process: said.process,
    };
    let entries: Vec<Entry> = own.iter().map(colours).collect();
    let remote: Option<Vec<Entry>> = remote.map(|remote| remote.iter().map(colours).collect());
    let new = partition(comm, &sides, begun, right, &entries, remote.as_deref())?;
    if let Some(new) = new.filter(|new| !new.is_inter()) {
        let group = new.members().group();
        let members = own
            .iter()
            .filter(|said| group.rank_of(said.process).is_some());
        let common = members.fold(u32::MAX, |common, said| common & said.promises);
        hints::rely_on(new, Promises::of_bits(common));
    }
    Ok((new, by.filter(|_| new.is_some() && unguided)))
}

/// The first kind of resource by which the processes fall apart.
fn next_level(all: &[&Said]) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| {
        let mut confined = all.iter().filter_map(|said| said.resource(*kind as usize));
        let first = confined.next();
        confined.any(|other| Some(other) != first)
    })
}

impl Said {
    /// The number of a resource among all nodes'.
    fn resource(&self, kind: usize) -> Option<u32> {
        let number = self.resources.get(kind);
        let number = number.filter(|number| **number != NOT_CONFINED)?;
        Some(nodes::of(self.process) << 16 | number)
    }

    fn colour(&self, by: Option<Kind>) -> i32 {
        const UNGUIDED: u32 = 2;
        let resource = |kind| {
            self.resource(kind)
                .map_or(UNDEFINED, |number| number as i32)
        };
        match self.how {
            1 => nodes::of(self.process) as i32,
            UNGUIDED => by.map_or(UNDEFINED, |kind| resource(kind as usize)),
            3 => self.process as i32,
            0 | 4 => UNDEFINED,
            guided => resource(guided as usize - 5),
        }
    }
}

impl Said {
    fn of_rank(said: &split::Said<WORDS>) -> Said {
        Said::of(&said.words, said.process)
    }

    fn of(words: &[u32], process: u32) -> Said {
        Said {
            how: words[0],
            key: words[1] as i32,
            process,
            promises: words[2],
            resources: words[3..WORDS].to_vec(),
        }
    }
}

fn encode(all: &[Said]) -> Box<[u8]> {
    bytes(all.iter().flat_map(|said| {
        let head = [said.how, said.key as u32, said.promises];
        let resources = said.resources.iter().copied();
        head.into_iter().chain(resources).chain([said.process])
    }))
}

fn decode(bytes: &[u8]) -> Vec<Said> {
    let words = words(bytes);
    let each = words.chunks_exact(WORDS + 1);
    each.map(|words| Said::of(words, words[WORDS])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(how: Split, resources: &[u32]) -> Said {
        let mut all = vec![NOT_CONFINED; Kind::ALL.len()];
        all[..resources.len()].copy_from_slice(resources);
        Said {
            how: how.encode(),
            key: 0,
            process: 9,
            promises: 2,
            resources: all,
        }
    }

    #[test]
    fn the_first_level_that_divides() {
        let one = said(Split::Unguided, &[0, 0, 1, 4]);
        let two = said(Split::Unguided, &[0, 0, 1, 6]);
        let free = said(Split::Unguided, &[0]);
        assert_eq!(next_level(&[&one, &two, &free]), Some(Kind::L3Cache));
        assert_eq!(next_level(&[&one, &free]), None);
        assert_eq!(one.colour(Some(Kind::L3Cache)), 4);
        assert_eq!(free.colour(Some(Kind::L3Cache)), UNDEFINED);
    }

    #[test]
    fn colours() {
        assert_eq!(said(Split::Shared, &[]).colour(None), 0);
        assert_eq!(said(Split::Alone, &[]).colour(None), 9);
        assert_eq!(said(Split::Undefined, &[]).colour(None), UNDEFINED);
        assert_eq!(said(Split::Guided(Kind::Package), &[0, 3]).colour(None), 3);
        assert_eq!(
            said(Split::Guided(Kind::Pu), &[0, 3]).colour(None),
            UNDEFINED
        );
        assert_eq!(said(Split::Unknown, &[0, 3]).colour(None), UNDEFINED);
    }

    #[test]
    fn what_is_said_arrives() {
        let all = decode(&encode(&[said(Split::Alone, &[0, 3])]));
        let arrived = (all[0].how, all[0].process, all[0].promises);
        assert_eq!((arrived, all[0].resources[1]), ((3, 9, 2), 3));
    }
}
