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
