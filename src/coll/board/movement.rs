//! Operations at a board that move data: a rank reads what others show, and reduces nothing.

use super::{Step, Work};
use crate::coll::team::copy_fitting;
use crate::datatype::{Buffer, Parts};
use crate::error::{Class, fail};
use std::ops::Range;

impl Work<'_> {
    /// Of the bytes that somebody shows for an operation in which this rank expects another number.
    pub(super) fn compare(&mut self, from: usize, round: u64, bytes: usize) {
        let total = self.board.total_of(from, round);
        self.fits(from, total, bytes);
    }

    /// Whether so many bytes fit; otherwise it is an error.
    pub(super) fn fits(&mut self, from: usize, total: usize, bytes: usize) {
        if total > bytes {
            self.note(fail!(
                Class::Truncate,
                "{total} bytes came from rank {from} where {bytes} fit"
            ));
        }
    }

    /// Of what a rank shows, or the last one for all, for an operation to which every rank comes with the same number of bytes: it is
    /// on the line that is read anyway.
    #[inline]
    pub(super) fn agree(&mut self, from: usize, round: u64, bytes: usize) {
        let total = self.board.total_of(from, round);
        self.agrees(from, total, bytes);
    }

    #[inline]
    pub(super) fn agrees(&mut self, from: usize, total: usize, bytes: usize) {
        if total != bytes {
            self.disagree(from, total, bytes);
        }
    }

    #[cold]
    fn disagree(&mut self, from: usize, total: usize, bytes: usize) {
        if total > bytes {
            return self.fits(from, total, bytes);
        }
        let whose = match from == self.ranks {
            true => "another rank".to_string(),
            false => format!("rank {from}"),
        };
        self.note(fail!(
            Class::Count,
            "{whose} has given {total} bytes, this rank wants {bytes}"
        ));
    }

    pub(super) fn bcast(&mut self, buffer: &Buffer, root: usize) -> Step {
        let bytes = buffer.len();
        let rounds = self.rounds(bytes, self.board.slot_bytes());
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, bytes));
            if self.me == root {
                let streams = self.streams(part.len());
                self.show(round, part.len(), bytes, |data| {
                    Self::lay(streams, buffer, part.start, data);
                })?;
                self.wake_others();
            } else {
                self.await_rooted(root, root..root + 1, round)?;
                self.agree(root, round, bytes);
                // SAFETY: the root's data was waited for, and this rank passes the round afterwards.
                let data = unsafe { self.board.read(root, round, part.len()) };
                buffer.write(part.start, data);
            }
            self.pass(round);
        }
        Ok(())
    }

    pub(super) fn gather(
        &mut self,
        own: Option<&Buffer>,
        parts: Option<&Parts>,
        root: usize,
    ) -> Step {
        let each = own.map_or_else(|| parts.map_or(0, |parts| parts.len(root)), Buffer::len);
        let rounds = self.rounds(each, self.board.slot_bytes());
        if let (Some(own), Some(parts)) = (own, parts) {
            self.copy(own, &parts.of(root));
        }
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, each));
            if let Some(parts) = parts {
                let others = (0..self.ranks).filter(|rank| *rank != root);
                self.await_rooted(root, others.clone(), round)?;
                for rank in others {
                    let shown = (part.len(), 0..part.len());
                    self.deposit((rank, round), shown, &parts.of(rank), part.start);
                }
            } else if let Some(own) = own {
                let streams = self.streams(part.len());
                self.show(round, part.len(), each, |data| {
                    Self::lay(streams, own, part.start, data);
                })?;
                self.wake(root);
            }
            self.pass(round);
        }
        Ok(())
    }

    /// Where in a slot that has a piece for each other rank that of one is.
    pub(super) fn place(&self, from: usize, to: usize, bytes: usize) -> Range<usize> {
        let at = if to < from { to } else { to - 1 };
        at * bytes..(at + 1) * bytes
    }

    pub(super) fn scatter(
        &mut self,
        parts: Option<&Parts>,
        into: Option<&Buffer>,
        root: usize,
    ) -> Step {
        let each = match (into, parts) {
            (_, Some(parts)) => parts.len(root),
            (into, None) => into.map_or(0, Buffer::len),
        };
        let rounds = self.rounds(each, self.board.slot_bytes() / (self.ranks - 1));
        if let (Some(into), Some(parts)) = (into, parts) {
            self.copy(&parts.of(root), into);
        }
        for at in 0..rounds.number {
            let (round, part) = (rounds.round(at), rounds.part(at, each));
            if let Some(parts) = parts {
                let bytes = part.len() * (self.ranks - 1);
                let others = (0..self.ranks).filter(|rank| *rank != root);
                let streams = self.streams(bytes);
                self.show(round, bytes, each, |data| {
                    for (at, rank) in others.enumerate() {
                        let place = &mut data[at * part.len()..][..part.len()];
                        Self::lay(streams, &parts.of(rank), part.start, place);
                    }
                })?;
                self.wake_others();
            } else if let Some(into) = into {
                self.await_rooted(root, root..root + 1, round)?;
                self.compare(root, round, each);
                let place = self.place(root, self.me, part.len());
                let shown = (part.len() * (self.ranks - 1), place);
                self.deposit((root, round), shown, into, part.start);
            }
            self.pass(round);
        }
        Ok(())
    }

    /// Copies this rank's own part, which must fit.
    pub(super) fn copy(&mut self, own: &Buffer, into: &Buffer) {
        self.note(copy_fitting(own, into));
    }

    /// Takes a part of what a rank shows to `offset` of a buffer.
    pub(super) fn deposit(
        &self,
        (from, round): (usize, u64),
        (shown, part): (usize, Range<usize>),
        into: &Buffer,
        offset: usize,
    ) {
        // SAFETY: the caller has waited for the data of this round, and this rank passes it afterwards.
        let data = unsafe { self.board.read(from, round, shown) };
        let bytes = part.len().min(into.len().saturating_sub(offset));
        into.write(offset.min(into.len()), &data[part.start..][..bytes]);
    }

    pub(super) fn allgather(&mut self, own: Option<&Buffer>, parts: &Parts) -> Step {
        let (ranks, me) = (self.ranks, self.me);
        if let Some(own) = own {
            self.copy(own, &parts.of(me));
        }
        let mine = parts.of(me);
        let longest = (0..ranks).map(|rank| parts.len(rank)).max().unwrap_or(0);
        let rounds = self.rounds(longest, self.board.slot_bytes());
        let show = |work: &mut Self, at, round| {
            let part = rounds.part(at, mine.len());
            let streams = work.streams(part.len());
            work.show(round, part.len(), mine.len(), |data| {
                Self::lay(streams, &mine, part.start, data);
            })
        };
        // Nobody waits for those who have nothing.
        let gives = |rank: usize| parts.len(rank) > 0;
        let some = !(0..ranks).all(gives);
        let whom = some.then_some(&gives as &dyn Fn(usize) -> bool);
        self.everybody(rounds, whom, show, |work, at, round| {
            work.expect_others(round);
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                let part = rounds.part(at, parts.len(rank));
                if !part.is_empty() {
                    let shown = (part.len(), 0..part.len());
                    work.deposit((rank, round), shown, &parts.of(rank), part.start);
                }
            }
            Ok(())
        })
    }

    pub(super) fn alltoall(&mut self, out: Option<&Parts>, into: &Parts) -> Step {
        let (ranks, me, each) = (self.ranks, self.me, into.len(0));
        let source = out.unwrap_or(into);
        if let Some(out) = out {
            self.copy(&out.of(me), &into.of(me));
        }
        let rounds = self.rounds(each, self.board.slot_bytes() / (ranks - 1));
        let show = |work: &mut Self, at, round| {
            let part = rounds.part(at, each.min(source.len(0)));
            let bytes = part.len();
            let shown = bytes * (ranks - 1);
            let streams = work.streams(shown);
            work.show(round, shown, each, |data| {
                let others = (0..ranks).filter(|rank| *rank != me);
                for (at, rank) in others.enumerate() {
                    let place = &mut data[at * bytes..][..bytes];
                    Self::lay(streams, &source.of(rank), part.start, place);
                }
            })
        };
        self.everybody(rounds, None, show, |work, at, round| {
            work.expect_others(round);
            let part = rounds.part(at, each);
            for distance in 1..ranks {
                let rank = (me + distance) % ranks;
                let place = work.place(rank, me, part.len());
                // SAFETY: `everybody` has waited for all, and this rank passes the round afterwards.
                let data = unsafe { work.board.read(rank, round, part.len() * (ranks - 1)) };
                into.of(rank).write(part.start, &data[place]);
            }
            Ok(())
        })
    }
}
