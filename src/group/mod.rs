//! Groups: ordered lists of processes, named by their rank in MPI_COMM_WORLD.
//!
//! Invariant: a process is in a group at most once, and a group never changes.

use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, builtin, null};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

/// MPI_GROUP_NULL.
pub const NULL: i32 = null(ObjectType::Group);
/// MPI_GROUP_EMPTY.
pub const EMPTY: i32 = builtin(ObjectType::Group, 0);

const PROC_NULL: i32 = -1;
const UNDEFINED: i32 = -32766;

/// How two groups, or two communicators, are alike; the numbers are part of the ABI.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Identical = 0,
    /// For communicators only: the same group, another context.
    Congruent = 1,
    /// The same members in another order.
    Similar = 2,
    Unequal = 3,
}

pub struct Group {
    members: Arc<[u32]>,
    /// Rank by world rank, made when it is needed first.
    ranks: OnceLock<HashMap<u32, i32>>,
}

impl Group {
    /// `members` are world ranks in the order of the group's ranks.
    pub fn new(members: impl Into<Arc<[u32]>>) -> Group {
        Group {
            members: members.into(),
            ranks: OnceLock::new(),
        }
    }

    pub fn size(&self) -> i32 {
        self.members.len() as i32
    }

    /// World ranks in the order of the group's ranks.
    pub fn members(&self) -> &Arc<[u32]> {
        &self.members
    }

    /// The rank in the group of a process; `None` (MPI_UNDEFINED) if it is no member.
    pub fn rank_of(&self, world_rank: u32) -> Option<i32> {
        // Most groups are a piece of the world in its order.
        let first = *self.members.first()?;
        if let Some(position) = world_rank.checked_sub(first)
            && self.members.get(position as usize) == Some(&world_rank)
        {
            return Some(position as i32);
        }
        let ranks = self.ranks.get_or_init(|| {
            let members = self.members.iter().enumerate();
            members.map(|(rank, world)| (*world, rank as i32)).collect()
        });
        ranks.get(&world_rank).copied()
    }

    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members == other.members {
            return Comparison::Identical;
        }
        let same = self.members.len() == other.members.len()
            && other
                .members
                .iter()
                .all(|member| self.rank_of(*member).is_some());
        if same {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// The rank in `other` of the process with this rank here: MPI_PROC_NULL stays, MPI_UNDEFINED
    /// if it is not in `other`, MPI_ERR_RANK if `rank` is not a rank of this group.
    pub fn translate(&self, rank: i32, other: &Group) -> Result<i32> {
        if rank == PROC_NULL {
            return Ok(PROC_NULL);
        }
        let member = usize::try_from(rank).ok();
        match member.and_then(|rank| self.members.get(rank)) {
            Some(world) => Ok(other.rank_of(*world).unwrap_or(UNDEFINED)),
            None => {
                let size = self.members.len();
                fail!(
                    Class::Rank,
                    "rank is {rank}; the group has {size} processes"
                )
            }
        }
    }
}

impl Group {
    /// The members with these ranks, in this order. MPI_ERR_RANK for one that is out of range or
    /// named twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Group> {
        let positions = self.positions(ranks)?;
        let members = positions.iter().map(|position| self.members[*position]);
        Ok(Group::new(members.collect::<Vec<u32>>()))
    }

    /// All members but those with these ranks. MPI_ERR_RANK as for `include`.
    pub fn exclude(&self, ranks: &[i32]) -> Result<Group> {
        let mut left = vec![true; self.members.len()];
        for position in self.positions(ranks)? {
            left[position] = false;
        }
        let members = self.members.iter().zip(left);
        let members = members.filter_map(|(member, left)| left.then_some(*member));
        Ok(Group::new(members.collect::<Vec<u32>>()))
    }

    fn positions(&self, ranks: &[i32]) -> Result<Vec<usize>> {
        let size = self.members.len();
        let mut seen = vec![false; size];
        let mut positions = Vec::with_capacity(ranks.len());
        for rank in ranks {
            match usize::try_from(*rank).ok().filter(|rank| *rank < size) {
                Some(position) if !seen[position] => {
                    seen[position] = true;
                    positions.push(position);
                }
                Some(_) => return fail!(Class::Rank, "rank {rank} is named twice"),
                None => {
                    return fail!(
                        Class::Rank,
                        "rank is {rank}; the group has {size} processes"
                    );
                }
            }
        }
        Ok(positions)
    }

    /// The members of this group, then those of the other that are not in this one.
    pub fn union(&self, other: &Group) -> Group {
        let more = other.members.iter();
        let more = more.filter(|member| self.rank_of(**member).is_none());
        Group::new(
            self.members
                .iter()
                .chain(more)
                .copied()
                .collect::<Vec<u32>>(),
        )
    }

    /// The members of this group that are in the other too, in this group's order.
    pub fn intersection(&self, other: &Group) -> Group {
        self.select(|member| other.rank_of(member).is_some())
    }

    /// The members of this group that are not in the other, in this group's order.
    pub fn difference(&self, other: &Group) -> Group {
        self.select(|member| other.rank_of(member).is_none())
    }

    fn select(&self, keep: impl Fn(u32) -> bool) -> Group {
        let members = self.members.iter().copied();
        Group::new(members.filter(|member| keep(*member)).collect::<Vec<u32>>())
    }
}

/// The ranks that triplets of first rank, last rank and stride name, for a group of so many
/// processes. MPI_ERR_ARG for a stride of 0 or one that leads away from the last rank, MPI_ERR_RANK
/// for more ranks than the group can have.
pub fn ranks_of_ranges(ranges: &[[i32; 3]], size: i32) -> Result<Vec<i32>> {
    let mut ranks = Vec::new();
    for [first, last, stride] in ranges.iter().map(|range| range.map(i64::from)) {
        let away = stride == 0 || (stride > 0 && first > last) || (stride < 0 && first < last);
        if away {
            return fail!(
                Class::Arg,
                "the range {first} to {last} with stride {stride} never ends"
            );
        }
        let count = (last - first) / stride + 1;
        if ranks.len() as i64 + count > i64::from(size) {
            return fail!(
                Class::Rank,
                "the ranges up to {first} to {last} name more ranks than the {size} of the group"
            );
        }
        ranks.extend((0..count).map(|step| (first + step * stride) as i32));
    }
    Ok(ranks)
}

static GROUPS: SharedTable<Group> = SharedTable::new(ObjectType::Group);
static EMPTY_GROUP: LazyLock<Arc<Group>> = LazyLock::new(|| Arc::new(Group::new([])));

/// A new handle for a group; an empty one is MPI_GROUP_EMPTY.
pub fn create(group: Arc<Group>) -> Result<i32> {
    if group.size() == 0 {
        return Ok(EMPTY);
    }
    GROUPS.insert(group)
}

/// The group of a handle. MPI_ERR_GROUP for MPI_GROUP_NULL and what is no group.
pub fn get(handle: i32) -> Result<Arc<Group>> {
    match GROUPS.get(handle) {
        Some(group) => Ok(group),
        None if handle == EMPTY => Ok(EMPTY_GROUP.clone()),
        None if handle == NULL => fail!(Class::Group, "group is MPI_GROUP_NULL"),
        None => fail!(Class::Group, "group is {handle:#x}, which is no group"),
    }
}

/// MPI_Group_free; MPI_GROUP_EMPTY may be given back too, because calls return it.
pub fn free(handle: i32) -> Result<()> {
    get(handle)?;
    GROUPS.remove(handle);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_in_any_order() {
        let block = Group::new([4, 5, 6]);
        assert_eq!(block.rank_of(6), Some(2));
        assert_eq!(block.rank_of(3), None);
        assert_eq!(block.rank_of(7), None);
        let mixed = Group::new([9, 2, 5]);
        assert_eq!(mixed.rank_of(2), Some(1));
        assert_eq!(mixed.rank_of(9), Some(0));
        assert_eq!(mixed.rank_of(10), None);
        assert_eq!(Group::new([]).rank_of(0), None);
    }

    #[test]
    fn comparing_and_translating() {
        let first = Group::new([1, 2, 3]);
        let second = Group::new([3, 1, 2]);
        assert_eq!(first.compare(&Group::new([1, 2, 3])), Comparison::Identical);
        assert_eq!(first.compare(&second), Comparison::Similar);
        assert_eq!(first.compare(&Group::new([1, 2])), Comparison::Unequal);
        assert_eq!(first.compare(&Group::new([1, 2, 4])), Comparison::Unequal);
        assert_eq!(first.translate(0, &second).unwrap(), 1);
        assert_eq!(first.translate(2, &Group::new([1])).unwrap(), UNDEFINED);
        assert_eq!(first.translate(PROC_NULL, &second).unwrap(), PROC_NULL);
        assert_eq!(
            first.translate(3, &second).unwrap_err().class(),
            Class::Rank
        );
    }

    #[test]
    fn choosing_members() {
        let group = Group::new([10, 11, 12, 13]);
        let some = group.include(&[3, 0]).unwrap();
        assert_eq!(**some.members(), [13, 10]);
        assert_eq!(**group.exclude(&[3, 0]).unwrap().members(), [11, 12]);
        assert_eq!(group.include(&[]).unwrap().size(), 0);
        for ranks in [&[4][..], &[-1], &[1, 1]] {
            assert_eq!(group.include(ranks).err().unwrap().class(), Class::Rank);
            assert_eq!(group.exclude(ranks).err().unwrap().class(), Class::Rank);
        }
    }

    #[test]
    fn ranges() {
        let ranges = [[0, 6, 3], [5, 1, -2], [7, 7, 1]];
        assert_eq!(ranks_of_ranges(&ranges, 9).unwrap(), [0, 3, 6, 5, 3, 1, 7]);
        for range in [[0, 1, 0], [1, 0, 1], [0, 1, -1]] {
            assert_eq!(
                ranks_of_ranges(&[range], 9).unwrap_err().class(),
                Class::Arg
            );
        }
        let long = [i32::MIN, i32::MAX, 1];
        assert_eq!(
            ranks_of_ranges(&[long], 9).unwrap_err().class(),
            Class::Rank
        );
    }

    #[test]
    fn combining_groups() {
        let first = Group::new([1, 5, 3]);
        let second = Group::new([7, 3, 1]);
        assert_eq!(**first.union(&second).members(), [1, 5, 3, 7]);
        assert_eq!(**first.intersection(&second).members(), [1, 3]);
        assert_eq!(**first.difference(&second).members(), [5]);
        assert_eq!(**second.difference(&first).members(), [7]);
    }

    #[test]
    fn handles() {
        assert_eq!(create(Arc::new(Group::new([]))).unwrap(), EMPTY);
        let handle = create(Arc::new(Group::new([0, 1]))).unwrap();
        assert_eq!(get(handle).unwrap().size(), 2);
        free(handle).unwrap();
        assert_eq!(free(handle).unwrap_err().class(), Class::Group);
        free(EMPTY).unwrap();
        assert_eq!(get(EMPTY).unwrap().size(), 0);
        assert_eq!(get(NULL).err().unwrap().class(), Class::Group);
    }
}
