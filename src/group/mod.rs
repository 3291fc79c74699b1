//! Groups: ordered lists of processes, named by their rank in MPI_COMM_WORLD, and the algebra of them. Operations take
//! time in proportion to the members, translating a rank none.
//!
//! Invariant: a process is in a group at most once, and a group never changes.

pub mod names;
#[cfg(test)]
mod oracle;
mod shape;

use crate::error::{Class, Result, fail, memory};
use crate::handle::{ObjectType, SharedTable, builtin, null};
use shape::{Builder, Piece, Shape};
use std::sync::{Arc, LazyLock};

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

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    shape: Shape,
}

/// World ranks in the order of the group's ranks.
impl FromIterator<u32> for Group {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Group {
        Group {
            shape: members.into_iter().collect(),
        }
    }
}

impl Group {
    /// `members` are world ranks in the order of the group's ranks.
    pub fn new(members: impl AsRef<[u32]>) -> Group {
        members.as_ref().iter().copied().collect()
    }

    /// Consecutive processes.
    pub fn range(first: u32, count: u32) -> Group {
        Group {
            shape: Shape::Pattern(Piece {
                first: if count == 0 { 0 } else { first },
                count,
                stride: 1,
            }),
        }
    }

    #[inline]
    pub fn size(&self) -> i32 {
        self.shape.count() as i32
    }

    /// The world rank of a rank, which must be one of the group's.
    #[inline(always)]
    pub fn member(&self, rank: i32) -> u32 {
        self.shape.member(rank as u32)
    }

    /// World ranks in the order of the group's ranks.
    pub fn members(&self) -> Vec<u32> {
        let mut members = Vec::with_capacity(self.shape.count() as usize);
        self.shape.visit(|member| members.push(member));
        members
    }

    /// The rank in the group of a process; `None` (MPI_UNDEFINED) if it is no member.
    pub fn rank_of(&self, world_rank: u32) -> Option<i32> {
        self.shape.rank_of(world_rank).map(|rank| rank as i32)
    }

    /// A number that is hardly ever the same for different groups (FNV-1a), and the same on all processes: of names.
    pub fn fingerprint(&self) -> u32 {
        let mut hash = 0x811c_9dc5_u32;
        self.shape.visit(|member| {
            for word in names::of(member).to_words() {
                hash = (hash ^ word).wrapping_mul(0x0100_0193);
            }
        });
        hash
    }

    /// Whether all members are in the other group too.
    pub fn is_within(&self, other: &Group) -> bool {
        if self == other {
            return true;
        }
        let mut within = true;
        self.shape
            .visit(|member| within = within && other.rank_of(member).is_some());
        within
    }

    /// Whether it has processes of other jobs.
    pub fn has_foreign(&self) -> bool {
        let mut found = false;
        if names::has_foreign() {
            self.shape
                .visit(|member| found = found || names::is_foreign(member));
        }
        found
    }

    /// A group of these processes in an order that is the same on all of them, which is that of their numbers within a job: the group
    /// itself where that is its order.
    pub fn ascending(self: &Arc<Group>) -> Arc<Group> {
        let has_foreign = self.has_foreign();
        if !has_foreign && self.shape.is_ascending() {
            return self.clone();
        }
        let mut members = self.members();
        match has_foreign {
            true => members.sort_by_cached_key(|member| names::of(*member)),
            false => members.sort_unstable(),
        }
        Arc::new(Group::new(members))
    }

    pub fn compare(&self, other: &Group) -> Comparison {
        if self == other {
            Comparison::Identical
        } else if self.size() == other.size() && other.is_within(self) {
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
        self.check(rank)?;
        let member = self.member(rank);
        Ok(other.rank_of(member).unwrap_or(UNDEFINED))
    }

    fn check(&self, rank: i32) -> Result<()> {
        let size = self.size();
        if (rank as u32) < size as u32 {
            return Ok(());
        }
        fail!(
            Class::Rank,
            "rank is {rank}; the group has {size} processes"
        )
    }
}

impl Group {
    /// The members with these ranks, in this order. MPI_ERR_RANK for one that is out of range or
    /// named twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Group> {
        self.distinct(ranks)?;
        memory::check(size_of_val(ranks), "ranks")?;
        Ok(ranks.iter().map(|rank| self.member(*rank)).collect())
    }

    /// All members but those with these ranks. MPI_ERR_RANK as for `include`.
    pub fn exclude(&self, ranks: &[i32]) -> Result<Group> {
        let named = self.distinct(ranks)?;
        let mut rank = 0;
        Ok(self.select(|_| {
            rank += 1;
            !named.has(rank - 1)
        }))
    }

    /// As `include`, for the ranks that ranges name.
    pub fn include_ranges(&self, ranges: &[[i32; 3]]) -> Result<Group> {
        if let ([range], Shape::Pattern(piece)) = (ranges, &self.shape) {
            let part = ranks_of_range(*range, self.size())?;
            let pattern = Piece {
                first: piece.member(part.first),
                count: part.count,
                stride: if part.count == 1 {
                    1
                } else {
                    part.stride * piece.stride
                },
            };
            return Ok(Group {
                shape: Shape::Pattern(pattern),
            });
        }
        self.include(&ranks_of_ranges(ranges, self.size())?)
    }

    /// As `exclude`, for the ranks that ranges name.
    pub fn exclude_ranges(&self, ranges: &[[i32; 3]]) -> Result<Group> {
        self.exclude(&ranks_of_ranges(ranges, self.size())?)
    }

    /// The set of these ranks, which must exist and differ.
    fn distinct(&self, ranks: &[i32]) -> Result<Ranks> {
        let mut seen = Ranks::new(self.size());
        for rank in ranks {
            self.check(*rank)?;
            if !seen.insert(*rank as u32) {
                return fail!(Class::Rank, "rank {rank} is named twice");
            }
        }
        Ok(seen)
    }

    /// The members of this group, then those of the other that are not in this one.
    pub fn union(&self, other: &Group) -> Group {
        let mut members = Builder::new();
        self.shape.visit(|member| members.push(member));
        other.shape.visit(|member| {
            if self.rank_of(member).is_none() {
                members.push(member);
            }
        });
        Group {
            shape: members.finish(),
        }
    }

    /// The members of this group that are in the other too, in this group's order.
    pub fn intersection(&self, other: &Group) -> Group {
        self.select(|member| other.rank_of(member).is_some())
    }

    /// The members of this group that are not in the other, in this group's order.
    pub fn difference(&self, other: &Group) -> Group {
        self.select(|member| other.rank_of(member).is_none())
    }

    fn select(&self, mut keep: impl FnMut(u32) -> bool) -> Group {
        let mut members = Builder::new();
        self.shape.visit(|member| {
            if keep(member) {
                members.push(member);
            }
        });
        Group {
            shape: members.finish(),
        }
    }
}

/// A set of ranks.
struct Ranks(Vec<u64>);

impl Ranks {
    fn new(size: i32) -> Ranks {
        Ranks(vec![0; (size as usize).div_ceil(64)])
    }

    fn has(&self, rank: u32) -> bool {
        self.0[(rank / 64) as usize] & 1 << (rank % 64) != 0
    }

    /// False if it was there.
    fn insert(&mut self, rank: u32) -> bool {
        let had = self.has(rank);
        self.0[(rank / 64) as usize] |= 1 << (rank % 64);
        !had
    }
}

/// The ranks that a triplet of first rank, last rank and stride names. MPI_ERR_ARG, as MPICH has it, for a stride of 0 or
/// one that leads away from the last rank, and for ranks that the group does not have.
fn ranks_of_range(range: [i32; 3], size: i32) -> Result<Piece> {
    let [first, last, stride] = range.map(i64::from);
    let away = stride == 0 || (stride > 0 && first > last) || (stride < 0 && first < last);
    if away {
        return fail!(
            Class::Arg,
            "the range {first} to {last} with stride {stride} never ends"
        );
    }
    let count = (last - first) / stride + 1;
    let ranks = 0..i64::from(size);
    if !ranks.contains(&first) || !ranks.contains(&(first + (count - 1) * stride)) {
        return fail!(
            Class::Arg,
            "the range {first} to {last} with stride {stride} leaves the ranks of the group, 0 to {}",
            size - 1
        );
    }
    Ok(Piece {
        first: first as u32,
        count: count as u32,
        stride,
    })
}

/// The ranks that triplets of first rank, last rank and stride name, for a group of so many
/// processes. MPI_ERR_RANK for more ranks than the group can have.
fn ranks_of_ranges(ranges: &[[i32; 3]], size: i32) -> Result<Vec<i32>> {
    let mut ranks = Vec::new();
    for range in ranges {
        let part = ranks_of_range(*range, size)?;
        if ranks.len() + part.count as usize > size as usize {
            let [first, last, _] = range;
            return fail!(
                Class::Rank,
                "the ranges up to {first} to {last} name more ranks than the {size} of the group"
            );
        }
        let all = (0..part.count).map(|step| part.member(step) as i32);
        ranks.extend(all);
    }
    Ok(ranks)
}

static GROUPS: SharedTable<Group> = SharedTable::new(ObjectType::Group);
static EMPTY_GROUP: LazyLock<Arc<Group>> = LazyLock::new(|| Arc::new(Group::range(0, 0)));

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
        assert_eq!(some.members(), [13, 10]);
        assert_eq!(group.exclude(&[3, 0]).unwrap().members(), [11, 12]);
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
        let every_third = Group::range(10, 9).include_ranges(&[[7, 0, -3]]).unwrap();
        assert_eq!(every_third.members(), [17, 14, 11]);
        for range in [[0, 9, 1], [-1, 3, 1], [3, -1, -1], [9, 9, 1]] {
            let group = Group::range(0, 9);
            let refused = [
                group.include_ranges(&[range]),
                group.exclude_ranges(&[range]),
            ];
            for result in refused {
                assert_eq!(result.unwrap_err().class(), Class::Arg);
            }
        }
        for range in [[0, 1, 0], [1, 0, 1], [0, 1, -1]] {
            assert_eq!(
                ranks_of_ranges(&[range], 9).unwrap_err().class(),
                Class::Arg
            );
        }
        let long = [0, i32::MAX, 1];
        assert_eq!(ranks_of_ranges(&[long], 9).unwrap_err().class(), Class::Arg);
    }

    #[test]
    fn combining_groups() {
        let first = Group::new([1, 5, 3]);
        let second = Group::new([7, 3, 1]);
        assert_eq!(first.union(&second).members(), [1, 5, 3, 7]);
        assert_eq!(first.intersection(&second).members(), [1, 3]);
        assert_eq!(first.difference(&second).members(), [5]);
        assert_eq!(second.difference(&first).members(), [7]);
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
