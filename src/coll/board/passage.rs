//! Large operations of two ranks with a core each, through pipes (`transport/shm/pipe.rs`): data crosses in pieces, and what
//! comes is reduced straight from the pipe to where the result belongs.
//!
//! Invariant: in which order a rank sends pieces, and which, the other knows from the call. Both send some before they wait.

use super::{Step, Work};
use crate::coll::call::{CollArgs, Operands, blocks};
use crate::coll::choose;
use crate::coll::packed::scratch;
use crate::datatype::{Buffer, nontemporal};
use crate::error::Result;
use crate::op::Second;
use crate::transport::Stores;
use crate::transport::collective::{Earned, LONGEST, Pipes, Reader};
use std::ops::Range;

/// Pieces that are sent before one is waited for, where each way there are some: the fewer begin a reader's stream anew, the
/// better.
const AHEAD: usize = 4;
/// Pieces ahead where a piece is sent that was made of what came.
const AHEAD_OF_RESULT: usize = 1;
/// The longest piece of what goes one way, so that writing and reading overlap.
const ONE_WAY: usize = 16 << 10;
/// The shortest piece, if there is more than one.
const SHORTEST: usize = 8 << 10;
/// Of what lies in memory, several pieces are read in stretches so short that one stream of the prefetcher goes on over all of
/// them (benches/counts.md); four in each piece are better for one alone.
const STRETCH: usize = 16 << 10;
/// Operations on larger elements do not go this way.
const LARGEST_ELEMENT: usize = 4096;
/// What is reduced at a time: it stays in the first cache.
const BLOCK: usize = 8 << 10;

/// What crosses in one direction, or the same in both: bytes in pieces.
#[derive(Clone, Copy)]
struct Pieces {
    bytes: usize,
    piece: usize,
}

impl Pieces {
    /// About so many pieces of whole elements.
    fn new(bytes: usize, number: usize, unit: usize) -> Pieces {
        let unit = unit.max(1);
        let piece = (bytes / number).clamp(SHORTEST, LONGEST) / unit * unit;
        Pieces {
            bytes,
            piece: piece.max(unit),
        }
    }

    fn number(&self) -> usize {
        self.bytes.div_ceil(self.piece)
    }

    fn range(&self, at: usize) -> Range<usize> {
        (at * self.piece).min(self.bytes)..((at + 1) * self.piece).min(self.bytes)
    }
}

impl Work<'_> {
    /// False: not an operation for pipes.
    pub(super) fn through_pipes(&mut self, call: &CollArgs) -> Step<bool> {
        if !self.fits_pipes(call) {
            return Ok(false);
        }
        let earned = self.earned(
            |seat| &mut seat.pipes,
            |around, board| around.make_pipes(board),
            |around, board, me| around.pipes(board, me),
        )?;
        let Some(mut pipes) = earned else {
            return Ok(false);
        };
        self.look_around();
        let distance = self.seat.distance.last();
        pipes.writer.set_stores(Stores::for_reader(distance));
        self.pass_through(&mut pipes, call)?;
        self.seat.pipes = Earned::Given(pipes);
        Ok(true)
    }

    /// Whether it is an operation for pipes.
    fn fits_pipes(&self, call: &CollArgs) -> bool {
        let fits = |with: &Operands| with.datatype.size as usize <= LARGEST_ELEMENT;
        self.ranks == 2
            && !self.crowded
            && match call {
                CollArgs::Bcast { .. } | CollArgs::Allgather { .. } => true,
                CollArgs::Alltoall { into, .. } => into.are_equal(),
                CollArgs::Reduce { with, .. }
                | CollArgs::Allreduce { with, .. }
                | CollArgs::ReduceScatter { with, .. } => fits(with) && !choose::reproducible(),
                _ => false,
            }
    }

    /// Whether there are pipes for an operation already: then they are for shorter data, too.
    pub(super) fn has_pipes(&self, call: &CollArgs) -> bool {
        matches!(self.seat.pipes, Earned::Given(_)) && self.fits_pipes(call)
    }

    fn pass_through(&mut self, pipes: &mut Pipes, call: &CollArgs) -> Step {
        let (me, peer) = (self.me, 1 - self.me);
        match call {
            CollArgs::Bcast { buffer, root } => {
                let bytes = buffer.len();
                let pieces = Pieces::new(bytes, bytes.div_ceil(ONE_WAY), 1);
                if me == *root as usize {
                    self.put_all(pipes, pieces, buffer)
                } else {
                    self.get_all(pipes, pieces, buffer)
                }
            }
            CollArgs::Allgather { own, parts } => {
                let mine = parts.of(me);
                self.swap(pipes, &own.unwrap_or(mine), &parts.of(peer), |work| {
                    if let Some(own) = own {
                        work.copy(own, &mine);
                    }
                })
            }
            CollArgs::Alltoall { out, into } => {
                let source = out.as_ref().unwrap_or(into).of(peer);
                self.swap(pipes, &source, &into.of(peer), |work| {
                    if let Some(out) = out {
                        work.copy(&out.of(me), &into.of(me));
                    }
                })
            }
            CollArgs::Reduce {
                own,
                into,
                with,
                root,
            } => {
                let bytes = own.len();
                let unit = with.datatype.size as usize;
                let pieces = Pieces::new(bytes, bytes.div_ceil(ONE_WAY), unit);
                if me != *root as usize {
                    return self.put_all(pipes, pieces, own);
                }
                for at in 0..pieces.number() {
                    let range = pieces.range(at);
                    self.reduce_piece(pipes, (own, range.start), (into, range), with)?;
                }
                Ok(())
            }
            CollArgs::Allreduce { own, into, with } => self.reduce_halves(pipes, own, into, with),
            CollArgs::ReduceScatter {
                own,
                into,
                counts,
                with,
            } => self.reduce_and_scatter(pipes, own, into, &blocks(counts, with.datatype), with),
            _ => unreachable!("not for pipes"),
        }
    }

    /// Sends a piece.
    fn put(
        &mut self,
        pipes: &mut Pipes,
        buffer: &Buffer,
        range: Range<usize>,
        total: usize,
    ) -> Step {
        let writer = &mut pipes.writer;
        let peer = 1 - self.me;
        self.wait(peer..peer + 1, || writer.has_room(range.len()))?;
        writer.write(range.len(), total, |data, stores| {
            Self::lay(stores == Stores::NonTemporal, buffer, range.start, data);
        });
        self.wake(1 - self.me);
        Ok(())
    }

    /// Takes a piece.
    fn get(&mut self, pipes: &mut Pipes, take: impl FnOnce(&mut Self, &mut Reader)) -> Step {
        let peer = 1 - self.me;
        self.wait(peer..peer + 1, || pipes.reader.is_shown())?;
        take(self, &mut pipes.reader);
        // It may wait for room.
        self.wake(peer);
        Ok(())
    }

    fn put_all(&mut self, pipes: &mut Pipes, pieces: Pieces, buffer: &Buffer) -> Step {
        for at in 0..pieces.number() {
            self.put(pipes, buffer, pieces.range(at), pieces.bytes)?;
        }
        Ok(())
    }

    fn get_all(&mut self, pipes: &mut Pipes, pieces: Pieces, buffer: &Buffer) -> Step {
        for at in 0..pieces.number() {
            self.get_piece(pipes, pieces.range(at).start, buffer, (false, true))?;
        }
        Ok(())
    }

    /// Takes a piece to a place of a buffer, past the caches if it `streams`; `exact`: both ranks have the same number of bytes.
    fn get_piece(
        &mut self,
        pipes: &mut Pipes,
        at: usize,
        buffer: &Buffer,
        (streams, exact): (bool, bool),
    ) -> Step {
        let lies_in_memory = pipes.writer.stores() == Stores::NonTemporal;
        self.get(pipes, |work, reader| {
            reader.read(|data, total| {
                let room = buffer.len();
                match exact {
                    true => work.agrees(1 - work.me, total, room),
                    false => work.fits(1 - work.me, total, room),
                }
                let at = at.min(room);
                let bytes = data.len().min(room - at);
                let stretch = match lies_in_memory && total > LONGEST {
                    true => STRETCH,
                    false => LONGEST,
                };
                for (number, data) in data[..bytes].chunks(stretch).enumerate() {
                    Self::take_in(streams, buffer, at + number * stretch, data);
                }
            });
        })
    }

    /// Whether results of so many bytes on each side are written past the caches.
    fn pipes_stream(pipes: &Pipes, bytes: usize) -> bool {
        bytes >= super::STREAMED_RESULTS && pipes.writer.stores() == Stores::NonTemporal
    }

    /// Sends one buffer and fills another one; `meanwhile` is done while the first piece is under way.
    fn swap(
        &mut self,
        pipes: &mut Pipes,
        out: &Buffer,
        into: &Buffer,
        meanwhile: impl FnOnce(&mut Self),
    ) -> Step {
        let leaving = Pieces::new(out.len(), 1, 1);
        let coming = Pieces::new(into.len(), 1, 1);
        let streams = Self::pipes_stream(pipes, into.len());
        let mut meanwhile = Some(meanwhile);
        for step in 0..leaving.number().max(coming.number() + AHEAD) {
            if step < leaving.number() {
                self.put(pipes, out, leaving.range(step), out.len())?;
            }
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile(self);
            }
            if (AHEAD..coming.number() + AHEAD).contains(&step) {
                let begin = coming.range(step - AHEAD).start;
                self.get_piece(pipes, begin, into, (streams, false))?;
            }
        }
        nontemporal::fence();
        Ok(())
    }

    /// Takes a piece and makes part of the result of it: of this rank's data from `begin` on.
    fn reduce_piece(
        &mut self,
        pipes: &mut Pipes,
        (own, begin): (&Buffer, usize),
        (into, range): (&Buffer, Range<usize>),
        with: &Operands,
    ) -> Step {
        let block = Self::elements(with, BLOCK);
        self.get(pipes, |work, reader| {
            reader.read(|theirs, total| {
                let theirs = &theirs[..theirs.len().min(range.len())];
                for (at, theirs) in theirs.chunks(block).enumerate() {
                    let at = at * block;
                    let place = range.start + at;
                    let result = work.reduce_block((own, begin + at), theirs, (into, place), with);
                    work.note(result);
                }
                work.agrees(1 - work.me, total, own.len());
            });
        })
    }

    /// As [`Self::reduce_piece`], for what stays in the first cache.
    fn reduce_block(
        &mut self,
        (own, begin): (&Buffer, usize),
        theirs: &[u8],
        (into, place): (&Buffer, usize),
        with: &Operands,
    ) -> Result<()> {
        let bytes = theirs.len();
        if into.is_apart_from(own) {
            let target = into.slice(place, bytes);
            return target.fill_from(bytes, |result| {
                self.fold_block((own, begin), theirs, (result, None), with)
            });
        }
        let mut result = scratch(bytes);
        let done = self.fold_block((own, begin), theirs, (&mut result, None), with);
        into.write(place, &result);
        done
    }

    /// Makes part of the result of this rank's data and the other's, elsewhere, and at a second place if there is one. If the
    /// operation commutes, this rank's data is the right operand: each element is worked out by one rank only, so both see the
    /// same.
    fn fold_block(
        &self,
        (own, begin): (&Buffer, usize),
        theirs: &[u8],
        (result, second): (&mut [u8], Option<Second>),
        with: &Operands,
    ) -> Result<()> {
        let bytes = theirs.len();
        let count = bytes as u64 / with.datatype.size.max(1);
        let fold = |mine: &[u8]| {
            let operands: (&[&[u8]], _) = match self.me == 1 || with.op.is_commutative() {
                true => (&[theirs], Some(mine)),
                false => (&[mine], Some(theirs)),
            };
            with.op.fold(operands, result, second, count, with.datatype)
        };
        Self::with_packed((own, begin), bytes, fold)
    }

    /// Takes a piece, makes part of the result of it, and sends that.
    fn reduce_and_send(
        &mut self,
        pipes: &mut Pipes,
        own: &Buffer,
        (into, range): (&Buffer, Range<usize>),
        with: &Operands,
    ) -> Step {
        let (peer, total) = (1 - self.me, own.len());
        let streams = Self::pipes_stream(pipes, into.len());
        let Pipes { writer, reader } = pipes;
        self.wait(peer..peer + 1, || {
            reader.is_shown() && writer.has_room(range.len())
        })?;
        // A result that lies apart and stays in the caches is made where it belongs.
        let in_place = !streams && into.contiguous().is_some() && into.is_apart_from(own);
        let block = Self::elements(with, BLOCK);
        writer.write(range.len(), total, |leaving, stores| {
            let to_memory = stores == Stores::NonTemporal;
            reader.read(|theirs, came| {
                let theirs = &theirs[..theirs.len().min(range.len())];
                let leaving = &mut leaving[..theirs.len()];
                if in_place {
                    let target = into.slice(range.start, theirs.len());
                    let second = Some(Second::new(leaving, to_memory));
                    let done = target.fill_from(theirs.len(), |made| {
                        self.fold_block((own, range.start), theirs, (made, second), with)
                    });
                    self.note(done);
                } else {
                    let mut scratch = scratch(block);
                    let both = theirs.chunks(block).zip(leaving.chunks_mut(block));
                    for (at, (theirs, leaving)) in both.enumerate() {
                        let place = range.start + at * block;
                        let made = &mut scratch[..theirs.len()];
                        let second = Some(Second::new(leaving, to_memory));
                        let done = self.fold_block((own, place), theirs, (made, second), with);
                        self.note(done);
                        Self::take_in(streams, into, place, made);
                    }
                }
                self.agrees(peer, came, total);
            });
        });
        self.wake(peer);
        Ok(())
    }

    /// Each rank makes half of the result, and sends it to the other as it is made.
    fn reduce_halves(
        &mut self,
        pipes: &mut Pipes,
        own: &Buffer,
        into: &Buffer,
        with: &Operands,
    ) -> Step {
        let (bytes, unit) = (own.len(), with.datatype.size as usize);
        let middle = bytes / unit / 2 * unit;
        // The second half is the longer one, if any; both have as many pieces, one of which may be empty.
        let pieces = Pieces::new(bytes - middle, 1, unit);
        let part = |rank: usize, at: usize| {
            let range = pieces.range(at);
            match rank {
                0 => range.start.min(middle)..range.end.min(middle),
                _ => range.start + middle..range.end + middle,
            }
        };
        let (me, peer, number) = (self.me, 1 - self.me, pieces.number());
        let streams = Self::pipes_stream(pipes, bytes);
        for step in 0..number + 2 * AHEAD_OF_RESULT {
            if step < number {
                self.put(pipes, own, part(peer, step), bytes)?;
            }
            if (AHEAD_OF_RESULT..number + AHEAD_OF_RESULT).contains(&step) {
                let mine = part(me, step - AHEAD_OF_RESULT);
                self.reduce_and_send(pipes, own, (into, mine), with)?;
            }
            if step >= 2 * AHEAD_OF_RESULT {
                let theirs = part(peer, step - 2 * AHEAD_OF_RESULT);
                self.get_piece(pipes, theirs.start, into, (streams, true))?;
            }
        }
        nontemporal::fence();
        Ok(())
    }

    fn reduce_and_scatter(
        &mut self,
        pipes: &mut Pipes,
        own: &Buffer,
        into: &Buffer,
        begins: &[usize],
        with: &Operands,
    ) -> Step {
        let (me, peer) = (self.me, 1 - self.me);
        let pieces = |rank: usize| {
            let bytes = begins[rank + 1] - begins[rank];
            Pieces::new(bytes, 1, with.datatype.size as usize)
        };
        let (leaving, coming) = (pieces(peer), pieces(me));
        // In place the result lies where data that is still needed may be.
        let mut aside = (!into.is_apart_from(own)).then(|| scratch(into.len()));
        let target = aside.as_mut().map_or(*into, Buffer::of_copy);
        for step in 0..leaving.number().max(coming.number() + AHEAD) {
            if step < leaving.number() {
                let range = leaving.range(step);
                let there = begins[peer] + range.start..begins[peer] + range.end;
                self.put(pipes, own, there, own.len())?;
            }
            if (AHEAD..coming.number() + AHEAD).contains(&step) {
                let range = coming.range(step - AHEAD);
                let begin = begins[me] + range.start;
                self.reduce_piece(pipes, (own, begin), (&target, range), with)?;
            }
        }
        if let Some(aside) = aside {
            into.write(0, &aside);
        }
        Ok(())
    }
}
