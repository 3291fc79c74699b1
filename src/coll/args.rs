//! A collective operation as one rank has asked for it, arguments checked: what blocking, nonblocking and persistent calls run alike.

use crate::datatype::{Buffer, Datatype, Parts};
use crate::op::Op;
use smallvec::SmallVec;

/// The operation and the type of a reduction.
#[derive(Clone)]
pub struct Operands {
    pub op: Op,
    pub datatype: &'static Datatype,
}

/// Elements for each rank; of not too many without an allocation, because blocking calls on little data are short.
pub type Counts = SmallVec<[u64; 16]>;

/// See the module. A root is a rank, or of an intercommunicator [`ROOT`] or [`PROC_NULL`].
#[derive(Clone)]
pub enum CollArgs {
    Barrier,
    Bcast {
        buffer: Buffer,
        root: i32,
    },
    /// MPI_Gather if `equal`, else MPI_Gatherv. `own` is `None` in place, `parts` where no data comes.
    Gather {
        own: Option<Buffer>,
        parts: Option<Parts>,
        root: i32,
        equal: bool,
    },
    /// MPI_Scatter if `equal`, else MPI_Scatterv. `into` is `None` in place, `parts` where no data leaves.
    Scatter {
        parts: Option<Parts>,
        into: Option<Buffer>,
        root: i32,
        equal: bool,
    },
    /// MPI_Allgather, MPI_Allgatherv; `own` is `None` in place.
    Allgather {
        own: Option<Buffer>,
        parts: Parts,
    },
    /// MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw; `out` is `None` in place.
    Alltoall {
        out: Option<Parts>,
        into: Parts,
    },
    /// `own` and `into` are the same in place.
    Reduce {
        own: Buffer,
        into: Buffer,
        with: Operands,
        root: i32,
    },
    Allreduce {
        own: Buffer,
        into: Buffer,
        with: Operands,
    },
    /// `counts` are the elements of each rank's block of `own`; `into` has room for this rank's, and is `own` in place.
    ReduceScatter {
        own: Buffer,
        into: Buffer,
        counts: Counts,
        with: Operands,
    },
    /// MPI_Scan, or MPI_Exscan if `exclusive`.
    Scan {
        own: Buffer,
        into: Buffer,
        with: Operands,
        exclusive: bool,
    },
    /// Of a neighbourhood: messages to and from some ranks; those of one pair meet in the order of these lists.
    Neighbors {
        receives: Box<[(i32, Buffer)]>,
        sends: Box<[(i32, Buffer)]>,
    },
}

/// MPI_ROOT: this rank is the root, and the data is for the other side of the intercommunicator.
pub const ROOT: i32 = -3;
/// MPI_PROC_NULL: another rank of this side is the root.
pub const PROC_NULL: i32 = -1;

impl CollArgs {
    /// Whether there is something to drop.
    #[inline(always)]
    pub fn owns_memory(&self) -> bool {
        match self {
            CollArgs::Barrier | CollArgs::Bcast { .. } => false,
            CollArgs::Reduce { with, .. }
            | CollArgs::Allreduce { with, .. }
            | CollArgs::Scan { with, .. } => matches!(with.op, Op::User(_)),
            _ => true,
        }
    }

    /// Tells the datatypes that it uses to its end.
    pub fn each_datatype(&self, tell: &mut dyn FnMut(&'static Datatype)) {
        let mut each = |buffers: &[Option<&Buffer>], parts: &[Option<&Parts>]| {
            let types = buffers.iter().flatten().filter_map(|one| one.datatype());
            types.for_each(&mut *tell);
            let types = parts.iter().flatten().flat_map(|one| one.datatypes());
            types.for_each(&mut *tell);
        };
        match self {
            CollArgs::Barrier => {}
            CollArgs::Bcast { buffer, .. } => each(&[Some(buffer)], &[]),
            CollArgs::Gather {
                own: one, parts, ..
            }
            | CollArgs::Scatter {
                into: one, parts, ..
            } => each(&[one.as_ref()], &[parts.as_ref()]),
            CollArgs::Allgather { own, parts } => each(&[own.as_ref()], &[Some(parts)]),
            CollArgs::Alltoall { out, into } => each(&[], &[out.as_ref(), Some(into)]),
            CollArgs::Reduce {
                own, into, with, ..
            }
            | CollArgs::Allreduce { own, into, with }
            | CollArgs::ReduceScatter {
                own, into, with, ..
            }
            | CollArgs::Scan {
                own, into, with, ..
            } => {
                each(&[Some(own), Some(into)], &[]);
                tell(with.datatype);
            }
            CollArgs::Neighbors { receives, sends } => {
                for (_, buffer) in receives.iter().chain(sends) {
                    each(&[Some(buffer)], &[]);
                }
            }
        }
    }
}

/// Where a rank's part begins if so many elements are divided evenly; of rank `ranks`: the end.
pub fn even_begin(elements: usize, ranks: usize, rank: usize) -> usize {
    rank * elements / ranks
}

/// Elements of the longest of those parts.
pub fn longest_even(elements: usize, ranks: usize) -> usize {
    elements.div_ceil(ranks)
}

/// Bytes of a part in a gathering or scattering: as the root has it, else as this rank has its own.
pub fn part_bytes(own: Option<Buffer>, parts: Option<&Parts>, root: usize) -> usize {
    let own = || own.map_or(0, |own| own.len());
    parts.map_or_else(own, |parts| parts.len(root))
}

/// Where each rank's block begins, and the end; bytes.
pub fn blocks(counts: &[u64], datatype: &Datatype) -> SmallVec<[usize; 17]> {
    let mut begins = SmallVec::with_capacity(counts.len() + 1);
    let mut begin = 0;
    begins.push(begin);
    for count in counts {
        begin += (count * datatype.size) as usize;
        begins.push(begin);
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_parts_are_as_long_as_is_said() {
        for ranks in 1..20 {
            for elements in 0..200 {
                let begins = (0..=ranks).map(|rank| even_begin(elements, ranks, rank));
                let begins: Vec<usize> = begins.collect();
                let longest = begins.windows(2).map(|ends| ends[1] - ends[0]).max();
                assert_eq!(longest, Some(longest_even(elements, ranks)));
                assert_eq!((begins[0], begins[ranks]), (0, elements));
            }
        }
    }
}
