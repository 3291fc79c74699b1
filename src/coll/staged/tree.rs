//! Little data of many ranks with a core each: up and down a tree over the flag lines, two rounds an operation.
//!
//! The tree is one of base [`RADIX`]: the children of a rank are the ranks that differ from it in one digit that is zero in the rank
//! itself and so are all lower ones. So a subtree has consecutive ranks, and reductions keep their order. A rank polls the lines of its
//! children, which come together; nobody polls more lines than that.
//! Cost: log n (L + (RADIX - 1) l) each way, L the transfer of a line, l that of one which comes with others (docs/collectives.md).

use super::{Step, Work, copy};
use crate::coll::args::Operands;
use crate::datatype::Buffer;
use oxmpi_macros::both;

/// Ranks that a rank waits for at once, and one.
const RADIX: usize = 8;

/// The children of a rank among so many, by their distance from it, ascending.
fn children(rank: usize, ranks: usize) -> impl Iterator<Item = usize> + Clone {
    let steps = std::iter::successors(Some(1), |step| Some(step * RADIX));
    let steps = steps.take_while(move |step| *step < ranks && rank.is_multiple_of(step * RADIX));
    steps
        .flat_map(move |step| (1..RADIX).map(move |digit| rank + digit * step))
        .filter(move |child| *child < ranks)
}

/// The parent of a rank that is not the first.
fn parent(rank: usize) -> usize {
    let mut step = 1;
    while rank.is_multiple_of(step * RADIX) {
        step *= RADIX;
    }
    rank - rank / step % RADIX * step
}

#[both]
impl Work<'_, BLOCK> {
    /// Waits for the children and publishes: what `lay` makes of their data and this rank's own, which `own` has.
    async fn up(
        &mut self,
        round: u64,
        bytes: usize,
        total: usize,
        own: Option<&Operand<'_>>,
    ) -> Step {
        let (me, ranks) = (self.me, self.ranks);
        let below = children(me, ranks);
        self.await_ranks(below.clone(), round).await?;
        for rank in below.clone() {
            self.agree(rank, round, total);
        }
        let place = self.room(round, bytes).await?;
        self.publish(round, (place, bytes), total, |work, data| {
            if let Some(own) = own {
                work.combine(own, round, below, data);
            }
        });
        if me > 0 {
            self.wake_one(parent(me));
        }
        Ok(())
    }

    /// `data = own op child op child ...`: the operands of a subtree's consecutive ranks, in their order.
    fn combine(
        &mut self,
        own: &Operand<'_>,
        round: u64,
        below: impl Iterator<Item = usize> + Clone,
        data: &mut [u8],
    ) {
        let bytes = data.len();
        let count = bytes as u64 / own.with.datatype.size.max(1);
        let area = self.staging.area;
        let all: smallvec::SmallVec<[usize; 32]> = below.collect();
        // SAFETY: the data of the children was waited for, and this rank acknowledges the round afterwards.
        let of = |rank: usize| unsafe { area.read(rank, round, bytes, (0, bytes)) };
        let Some((last, between)) = all.split_last() else {
            return own.buffer.read(own.begin, data);
        };
        copy(of(*last), data);
        for child in between.iter().rev() {
            let done = own
                .with
                .op
                .apply(of(*child), data, count, own.with.datatype);
            self.note(done);
        }
        let done = Self::with_packed((own.buffer, own.begin), bytes, |mine| {
            own.with.op.apply(mine, data, count, own.with.datatype)
        });
        self.note(done);
    }

    /// Hands on what the parent publishes, or rank 0 has published in the round before; `take` gets it.
    async fn down(
        &mut self,
        (from, round): (u64, u64),
        (bytes, total): (usize, usize),
        take: impl FnOnce(&mut Self, &[u8]),
    ) -> Step {
        let (me, area) = (self.me, self.staging.area);
        let source = if me == 0 {
            (0, from)
        } else {
            (parent(me), round)
        };
        if me > 0 {
            self.await_published(source.0, round).await?;
            self.agree(source.0, round, total);
        }
        // SAFETY: it was waited for or is this rank's own, and this rank acknowledges the round afterwards.
        let data = unsafe { area.read(source.0, source.1, bytes, (0, bytes)) };
        if children(me, self.ranks).next().is_some() {
            let place = self.room(round, bytes).await?;
            self.publish(round, (place, bytes), total, |_, out| copy(data, out));
            self.wake_others();
        }
        take(self, data);
        Ok(())
    }

    pub(super) async fn tree_barrier(&mut self) -> Step {
        let first = self.rounds(2, false);
        self.up(first, 0, 0, None).await?;
        self.down((first, first + 1), (0, 0), |_, _| {}).await?;
        self.staging.all_have_acknowledged(first - 1);
        self.acknowledge(first + 1);
        Ok(())
    }

    /// Up to [`INLINE`](crate::transport::collective::INLINE) bytes: each rank hands on a line. The root's goes to rank 0 first.
    pub(super) async fn tree_bcast(&mut self, buffer: &Buffer, root: usize) -> Step {
        let (bytes, area) = (buffer.len(), self.staging.area);
        let first = self.rounds(2, false);
        if self.me == root {
            let place = self.room(first, bytes).await?;
            self.publish(first, (place, bytes), bytes, |_, data| buffer.read(0, data));
            self.wake_one(0);
        }
        if self.me == 0 && root != 0 {
            self.await_published(root, first).await?;
            self.agree(root, first, bytes);
            // SAFETY: the root's data was waited for, and this rank acknowledges the round afterwards.
            let data = unsafe { area.read(root, first, bytes, (0, bytes)) };
            let place = self.room(first, bytes).await?;
            self.publish(first, (place, bytes), bytes, |_, out| copy(data, out));
        }
        let is_root = self.me == root;
        self.down((first, first + 1), (bytes, bytes), |_, data| {
            if !is_root {
                buffer.write(0, data);
            }
        })
        .await?;
        self.acknowledge(first + 1);
        Ok(())
    }

    /// `root`: only that rank gets the result.
    pub(super) async fn tree_reduce(
        &mut self,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
        root: Option<usize>,
    ) -> Step {
        let total = own.len();
        let pieces = super::elements(with.datatype.size, self.plan.piece);
        for begin in (0..total).step_by(pieces.max(1)) {
            let bytes = pieces.min(total - begin);
            let first = self.rounds(2, false);
            let buffer = Operand {
                buffer: own,
                begin,
                with,
            };
            self.up(first, bytes, total, Some(&buffer)).await?;
            match root {
                None => {
                    self.down((first, first + 1), (bytes, total), |_, data| {
                        into.write(begin, data);
                    })
                    .await?;
                    self.staging.all_have_acknowledged(first - 1);
                }
                Some(root) if root == self.me => {
                    self.await_published(0, first).await?;
                    // SAFETY: rank 0's data was waited for, and this rank acknowledges the round afterwards.
                    let data = unsafe { self.area().read(0, first, bytes, (0, bytes)) };
                    into.write(begin, data);
                }
                Some(root) if self.me == 0 => self.wake_one(root),
                Some(_) => {}
            }
            self.acknowledge(first + 1);
        }
        Ok(())
    }
}

/// A rank's vector from `begin` on.
struct Operand<'a> {
    buffer: &'a Buffer,
    begin: usize,
    with: &'a Operands,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subtree_has_consecutive_ranks_and_every_rank_one_parent() {
        /// The ranks of a subtree, in the order in which it combines them.
        fn subtree(rank: usize, ranks: usize) -> Vec<usize> {
            let below = children(rank, ranks).flat_map(|child| subtree(child, ranks));
            std::iter::once(rank).chain(below).collect()
        }
        for ranks in [2, 3, 8, 9, 17, 64, 65, 130, 513] {
            assert_eq!(subtree(0, ranks), (0..ranks).collect::<Vec<_>>());
            for rank in 0..ranks {
                let mut below = children(rank, ranks);
                assert!(below.all(|child| parent(child) == rank));
            }
        }
    }
}
