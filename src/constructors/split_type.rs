//! MPI_Comm_split_type: groups that share memory or hardware, or what an info names.
//!
//! Everybody tells in one step how it wants to be split, its key, and what it has of the resources that this is about; then each
//! finds all colours by itself. Invariant: a split type has to be the same on all ranks that give one; what an info says of it is a
//! hint, and ignored unless all say the same.

use super::both_groups::BothGroups;
use super::hints::{self, Promises};
use super::split::{self, Entry, UNDEFINED, partition, processes_of, tell, tell_remote};
use crate::coll::block_on;
use crate::comm::{Comm, Maker};
use crate::context_id::offer::{bytes, words};
use crate::context_id::{Creation, Proposal};
use crate::engine::node_of;
use crate::error::{Class, Result, fail};
use crate::os::hardware::{Binding, Kind};

/// How a rank wants its communicator to be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// MPI_UNDEFINED: this rank gets nothing.
    Undefined,
    /// Ranks that can share memory.
    Shared,
    /// By the first kind of resource that not all are in the same of.
    Unguided,
    /// By what an info says of hardware, of resources, of neighborhoods.
    Hardware(Guide),
    Resource(Guide),
    Neighborhood(Guide),
}

/// What an info says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guide {
    /// Nothing, or something that is not known here: nobody gets anything.
    Unknown,
    /// Ranks that can share memory.
    Memory,
    /// Ranks that are confined to the same resource of a kind.
    Kind(Kind),
    /// The members of a process set, by a number that follows from it.
    Set { set: u32, is_in: bool },
    /// Each alone.
    Alone,
    /// Ranks that see the same directory: a hash of its name, and its device and inode.
    Directory {
        name: u32,
        location: Option<[u32; 4]>,
    },
}

const WRONG: u32 = u32::MAX;
/// Kind of split, what the info says in two words, key and promises, and a resource of each kind.
const WORDS: usize = 5 + Kind::ALL.len();
const NOT_CONFINED: u32 = u32::MAX;

/// Kinds of split.
const NO_SPLIT: u32 = 0;
const BY_MEMORY: u32 = 1;
const BY_LEVEL: u32 = 2;

/// What an info says, as a word.
const UNKNOWN: u32 = 0;
const MEMORY: u32 = 1;
const SET: u32 = 2;
const ALONE: u32 = 3;
const DIRECTORY: u32 = 4;
const FIRST_KIND: u32 = 5;

impl Split {
    fn encode(self) -> u32 {
        match self {
            Split::Undefined => NO_SPLIT,
            Split::Shared => BY_MEMORY,
            Split::Unguided => BY_LEVEL,
            Split::Hardware(_) => 3,
            Split::Resource(_) => 4,
            Split::Neighborhood(_) => 5,
        }
    }

    fn guide(self) -> Guide {
        match self {
            Split::Hardware(guide) | Split::Resource(guide) | Split::Neighborhood(guide) => guide,
            _ => Guide::Unknown,
        }
    }

    /// Whether it depends on the resource of this kind. Others may want to be split by levels where this rank wants nothing.
    fn is_about(self, kind: Kind) -> bool {
        match self {
            Split::Undefined | Split::Unguided => true,
            _ => self.guide() == Guide::Kind(kind),
        }
    }

    /// What this rank has of the resources that it is about.
    fn resources(self) -> [u32; Kind::ALL.len()] {
        let mut found = [NOT_CONFINED; Kind::ALL.len()];
        match self.guide() {
            Guide::Set { is_in: true, .. } => found[0] = 0,
            Guide::Directory {
                location: Some(location),
                ..
            } => found[..location.len()].copy_from_slice(&location),
            _ => {
                let mut about = Kind::ALL.into_iter().filter(|kind| self.is_about(*kind));
                if let Some(first) = about.next() {
                    let binding = Binding::now();
                    for kind in std::iter::once(first).chain(about) {
                        let number = binding.confined_to(kind);
                        found[kind as usize] = number.unwrap_or(NOT_CONFINED);
                    }
                }
            }
        }
        found
    }
}

impl Guide {
    /// Equal on ranks whose info says the same.
    fn encode(self) -> [u32; 2] {
        match self {
            Guide::Unknown => [UNKNOWN, 0],
            Guide::Memory => [MEMORY, 0],
            Guide::Set { set, .. } => [SET, set],
            Guide::Alone => [ALONE, 0],
            Guide::Directory { name, .. } => [DIRECTORY, name],
            Guide::Kind(kind) => [FIRST_KIND, kind as u32],
        }
    }
}

/// What one rank says.
struct Said {
    how: u32,
    guide: [u32; 2],
    key: i32,
    process: u32,
    promises: u32,
    resources: Vec<u32>,
}

/// MPI_Comm_split_type: the communicator, and for [`Split::Unguided`] the kind of resource that it was split by.
///
/// Errors: MPI_ERR_ARG on all ranks when they do not want the same kind of split, or one's arguments are wrong.
pub fn split_type(
    comm: &Comm,
    how: Result<Split>,
    key: i32,
    promises: Promises,
) -> Result<(Option<&'static Comm>, Option<Kind>)> {
    let both = BothGroups::of(comm, "MPI_Comm_split_type");
    let mut proposal = Proposal::new(both.local.function, Creation::whole(comm));
    let mut said = [NOT_CONFINED; WORDS];
    said[0] = how.as_ref().map_or(WRONG, |how| how.encode());
    if let Ok(how) = &how {
        said[1..3].copy_from_slice(&how.guide().encode());
        said[5..].copy_from_slice(&how.resources());
    }
    said[3] = key as u32;
    said[4] = promises.to_bits();
    let own = block_on(tell(&both, &mut proposal, said))?;
    let own: Vec<Said> = own.iter().map(Said::of_rank).collect();
    let remote = block_on(tell_remote(&both, &mut proposal, || encode(&own)))?;
    let remote = remote.map(|remote| decode(&remote, &processes_of(comm)));
    let all: Vec<&Said> = own.iter().chain(remote.iter().flatten()).collect();
    let wanted = all.iter().map(|said| said.how).find(|how| *how != NO_SPLIT);
    let same = all
        .iter()
        .all(|said| said.how == NO_SPLIT || Some(said.how) == wanted);
    let unguided = matches!(how, Ok(Split::Unguided));
    let right = how.and_then(|_| {
        if same && wanted != Some(WRONG) {
            return Ok(());
        }
        fail!(
            Class::Arg,
            "split_type is not the same, or not right, on all ranks of {}",
            comm.title()
        )
    });
    let by = By::of(&all);
    let entries: Vec<Entry> = own.iter().map(|said| by.entry(said)).collect();
    let remote: Option<Vec<Entry>> =
        remote.map(|remote| remote.iter().map(|said| by.entry(said)).collect());
    let both = (&both, Maker::SplitType);
    let new = partition(comm, both, proposal, right, &entries, remote.as_deref())?;
    if let Some(new) = new.filter(|new| !new.is_inter()) {
        let group = new.members().group();
        let members = own
            .iter()
            .filter(|said| group.rank_of(said.process).is_some());
        let common = members.fold(u32::MAX, |common, said| common & said.promises);
        hints::rely_on(new, Promises::of_bits(common));
    }
    let level = match by {
        By::Level(kind) if unguided && new.is_some() => Some(kind),
        _ => None,
    };
    Ok((new, level))
}

/// What makes the colours, once all have told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum By {
    Nothing,
    Node,
    Process,
    Set,
    Level(Kind),
    /// The directories there are.
    Directory(Vec<Vec<u32>>),
}

impl By {
    fn of(all: &[&Said]) -> By {
        let mut wanting = all.iter().filter(|said| said.how != NO_SPLIT);
        let Some(first) = wanting.next() else {
            return By::Nothing;
        };
        match first.how {
            BY_MEMORY => return By::Node,
            BY_LEVEL => return next_level(all).map_or(By::Nothing, By::Level),
            _ => {}
        }
        if wanting.any(|said| said.guide != first.guide) {
            return By::Nothing;
        }
        match first.guide {
            [MEMORY, _] => By::Node,
            [SET, _] => By::Set,
            [ALONE, _] => By::Process,
            [DIRECTORY, _] => {
                let mut locations: Vec<Vec<u32>> =
                    all.iter().filter_map(|said| said.location()).collect();
                locations.sort_unstable();
                locations.dedup();
                By::Directory(locations)
            }
            [FIRST_KIND, kind] => Kind::ALL
                .get(kind as usize)
                .map_or(By::Nothing, |kind| By::Level(*kind)),
            _ => By::Nothing,
        }
    }

    fn colour(&self, said: &Said) -> i32 {
        if said.how == NO_SPLIT {
            return UNDEFINED;
        }
        let colour = match self {
            By::Nothing => None,
            By::Node => Some(node_of(said.process)),
            By::Process => Some(said.process),
            By::Set => said.resources.first().copied().filter(|in_it| *in_it == 0),
            By::Level(kind) => said.resource(*kind as usize),
            By::Directory(locations) => said.location().and_then(|location| {
                let at = locations.binary_search(&location).ok()?;
                Some(at as u32)
            }),
        };
        colour.map_or(UNDEFINED, |colour| colour as i32)
    }

    fn entry(&self, said: &Said) -> Entry {
        Entry {
            colour: self.colour(said),
            key: said.key,
            process: said.process,
        }
    }
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
        Some(node_of(self.process) << 16 | number)
    }

    /// The directory that it sees, if it does.
    fn location(&self) -> Option<Vec<u32>> {
        let location = self.resources.get(..4)?;
        let none = self.how == NO_SPLIT || location.iter().all(|word| *word == NOT_CONFINED);
        (!none).then(|| location.to_vec())
    }
}

impl Said {
    fn of_rank(said: &split::Contribution<WORDS>) -> Said {
        Said::of(&said.words, said.process)
    }

    fn of(words: &[u32], process: u32) -> Said {
        Said {
            how: words[0],
            guide: [words[1], words[2]],
            key: words[3] as i32,
            process,
            promises: words[4],
            resources: words[5..WORDS].to_vec(),
        }
    }
}

fn encode(all: &[Said]) -> Box<[u8]> {
    bytes(all.iter().flat_map(|said| {
        let [guide, value] = said.guide;
        let head = [said.how, guide, value, said.key as u32, said.promises];
        let resources = said.resources.iter().copied();
        head.into_iter().chain(resources)
    }))
}

/// What the processes of the other group have said, by rank.
fn decode(bytes: &[u8], processes: &[u32]) -> Vec<Said> {
    let words = words(bytes);
    let each = words.chunks_exact(WORDS).zip(processes);
    each.map(|(words, process)| Said::of(words, *process))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(how: Split, resources: &[u32]) -> Said {
        let mut all = vec![NOT_CONFINED; Kind::ALL.len()];
        all[..resources.len()].copy_from_slice(resources);
        Said {
            how: how.encode(),
            guide: how.guide().encode(),
            key: 0,
            process: 9,
            promises: 2,
            resources: all,
        }
    }

    fn colours(all: &[&Said]) -> Vec<i32> {
        let by = By::of(all);
        all.iter().map(|said| by.colour(said)).collect()
    }

    #[test]
    fn the_first_level_that_divides() {
        let one = said(Split::Unguided, &[0, 0, 1, 4]);
        let two = said(Split::Unguided, &[0, 0, 1, 6]);
        let free = said(Split::Unguided, &[0]);
        assert_eq!(By::of(&[&one, &two, &free]), By::Level(Kind::L3Cache));
        assert_eq!(By::of(&[&one, &free]), By::Nothing);
        assert_eq!(colours(&[&one, &two, &free]), [4, 6, UNDEFINED]);
    }

    #[test]
    fn one_kind() {
        let of = |how: Split, resources: &[u32]| colours(&[&said(how, resources)])[0];
        let guided = |guide| of(Split::Hardware(guide), &[0, 3]);
        assert_eq!(of(Split::Shared, &[]), 0);
        assert_eq!(of(Split::Undefined, &[]), UNDEFINED);
        assert_eq!(guided(Guide::Memory), 0);
        assert_eq!(guided(Guide::Alone), 9);
        assert_eq!(guided(Guide::Kind(Kind::Package)), 3);
        assert_eq!(guided(Guide::Kind(Kind::Pu)), UNDEFINED);
        assert_eq!(guided(Guide::Unknown), UNDEFINED);
    }

    #[test]
    fn a_hint_that_differs_is_ignored() {
        let of = |guide| said(Split::Resource(guide), &[0, 3, 1]);
        let (package, node) = (Guide::Kind(Kind::Package), Guide::Kind(Kind::NumaNode));
        assert_eq!(colours(&[&of(package), &of(package)]), [3, 3]);
        for other in [node, Guide::Unknown, Guide::Memory, Guide::Alone] {
            assert_eq!(colours(&[&of(package), &of(other)]), [UNDEFINED; 2]);
        }
        // A rank that passes MPI_UNDEFINED has no say.
        let nothing = said(Split::Undefined, &[0, 4, 5]);
        assert_eq!(colours(&[&nothing, &of(package)]), [UNDEFINED, 3]);
    }

    #[test]
    fn sets_and_directories() {
        let member = |set, is_in| {
            let how = Split::Resource(Guide::Set { set, is_in });
            said(how, &how.resources())
        };
        let of = |set, others| colours(&[&member(set, true), &member(others, false)]);
        assert_eq!(of(7, 7), [0, UNDEFINED]);
        assert_eq!(of(7, 8), [UNDEFINED; 2]);
        let sees = |location| {
            let how = Split::Neighborhood(Guide::Directory { name: 5, location });
            said(how, &how.resources())
        };
        let (one, other) = (sees(Some([1, 0, 2, 0])), sees(Some([1, 0, 3, 0])));
        let none = sees(None);
        assert_eq!(
            colours(&[&other, &one, &none, &other]),
            [1, 0, UNDEFINED, 1]
        );
    }

    #[test]
    fn only_what_the_split_is_about_is_looked_up() {
        let about = |how: Split| Kind::ALL.map(|kind| how.is_about(kind));
        assert_eq!(about(Split::Shared), [false; 8]);
        assert_eq!(about(Split::Hardware(Guide::Memory)), [false; 8]);
        assert_eq!(about(Split::Unguided), [true; 8]);
        let core = about(Split::Hardware(Guide::Kind(Kind::Core)));
        assert_eq!(core.iter().filter(|is| **is).count(), 1);
        assert_eq!(Split::Shared.resources(), [NOT_CONFINED; 8]);
        let machine = Split::Hardware(Guide::Kind(Kind::Machine)).resources();
        assert_eq!((machine[0], machine[7]), (0, NOT_CONFINED));
    }

    #[test]
    fn what_is_said_arrives() {
        let how = Split::Resource(Guide::Kind(Kind::L2Cache));
        let all = decode(&encode(&[said(how, &[0, 3])]), &[9]);
        let arrived = (all[0].how, all[0].process, all[0].promises);
        assert_eq!((arrived, all[0].resources[1]), ((4, 9, 2), 3));
        assert_eq!(all[0].guide, [FIRST_KIND, Kind::L2Cache as u32]);
    }
}
