//! Memory that only its own process can address: the kernel copies it, or a helper thread of that process ([`super::helper`]).
//!
//! Neither needs a call of the target's. Invariant: the target's elements are addresses of another process here, which nothing
//! dereferences; [`Buffer::runs`] only computes with them.

use super::access::{Pieces, Remote, Spot};
use super::window::{Way, Window};
use super::{helper, ways};
use crate::datatype::{Buffer, Scratch};
use crate::engine::{self, tasks};
use crate::error::{Result, memory};
use crate::os::backoff::Backoff;
use crate::os::peer_memory::{self, PIECES, Piece};
use crate::sync::Ordering;
use smallvec::SmallVec;

/// Bytes that are packed or unpacked at once.
const CHUNK: usize = 64 << 10;
/// A piece of the target's memory costs the kernel about 320 ns, in which it copies so many bytes to memory that stays in a cache.
const PIECE_COST: usize = 2048;
/// How far pieces that are read together with their gaps lie apart, if their copy is to stay in a cache.
const NEAR: usize = 512 << 10;
/// As [`PIECE_COST`], of bytes that are copied to new memory.
const FAR_PIECE_COST: usize = 512;
/// Most of such memory.
const IMAGE: usize = 64 << 20;
/// Each further part of that size walks all pieces again.
const IMAGES: usize = 32;
/// A piece of this process's memory costs the kernel more than a copy of so many bytes.
const SHORT: usize = 512;

/// What an access costs that memory would not cost that is shared in place, nanoseconds: a call of the kernel, or of the helper, a piece, and
/// so many bytes a nanosecond.
const CALL: u64 = 800;
const HELPER_CALL: u64 = 5_000;
const PIECE: u64 = 200;
const BYTES: u64 = 32;

/// The memory of one target, for one access; its owner does not move it meanwhile.
pub struct PrivateMemory<'a> {
    window: &'a Window,
    rank: usize,
    way: Way,
}

impl Drop for PrivateMemory<'_> {
    fn drop(&mut self) {
        self.window.block.target(self.window.rank).accesses.end();
    }
}

/// Appends the runs of a buffer's packed bytes from `at` on, at most [`PIECES`] and `length` bytes. Returns their bytes.
pub fn runs(buffer: &Buffer, at: usize, length: usize, pieces: &mut Pieces) -> usize {
    let mut found = 0;
    buffer.runs(at, length, |address, bytes| {
        let address = address as usize;
        let full = pieces.len() == PIECES;
        match pieces.last_mut() {
            Some(last) if last.address.wrapping_add(last.bytes) == address => last.bytes += bytes,
            _ if full => return false,
            _ => pieces.push(Piece { address, bytes }),
        }
        found += bytes;
        true
    });
    found
}

/// Leaves the first `bytes` of the pieces.
pub fn truncate(pieces: &mut Pieces, bytes: usize) {
    let mut rest = bytes;
    for index in 0..pieces.len() {
        if pieces[index].bytes >= rest {
            pieces[index].bytes = rest;
            pieces.truncate(if rest == 0 { index } else { index + 1 });
            return;
        }
        rest -= pieces[index].bytes;
    }
}

/// Drops the first `bytes` of the pieces.
fn advance(pieces: &mut Pieces, mut bytes: usize) {
    let mut whole = 0;
    for piece in pieces.iter_mut() {
        if piece.bytes > bytes {
            piece.address += bytes;
            piece.bytes -= bytes;
            break;
        }
        bytes -= piece.bytes;
        whole += 1;
    }
    pieces.drain(..whole);
}

/// As many pieces of both sides from `at` on as the kernel takes at once: the origin's, the target's, and their bytes.
fn batch(origin: &Buffer, target: &Buffer, at: usize) -> (Pieces, Pieces, usize) {
    let (mut local, mut remote) = (Pieces::new(), Pieces::new());
    let bytes = runs(target, at, origin.len() - at, &mut remote);
    let bytes = runs(origin, at, bytes, &mut local);
    truncate(&mut remote, bytes);
    (local, remote, bytes)
}

/// The pieces from a packed byte on that lie between two addresses at most [`NEAR`] from each other.
#[derive(Debug)]
struct Near {
    first: usize,
    end: usize,
    pieces: usize,
    /// Packed.
    bytes: usize,
}

impl Near {
    fn of(target: &Buffer, at: usize) -> Near {
        let mut near = Near {
            first: usize::MAX,
            end: 0,
            pieces: 0,
            bytes: 0,
        };
        let mut last = None;
        target.runs(at, target.len() - at, |address, bytes| {
            let begin = address as usize;
            let (first, end) = (near.first.min(begin), near.end.max(begin + bytes));
            if end - first > NEAR {
                return false;
            }
            near.pieces += usize::from(last != Some(begin));
            last = Some(begin + bytes);
            (near.first, near.end) = (first, end);
            near.bytes += bytes;
            true
        });
        near
    }

    fn span(&self) -> usize {
        self.end - self.first
    }

    /// Whether reading them together with what lies between them costs less than one by one.
    fn is_dense(&self) -> bool {
        self.pieces > 1 && self.pieces * PIECE_COST > self.span()
    }
}

/// Whether reading all of the target's elements together with what lies between them costs less than piece by piece. Looks at no more
/// pieces than that takes.
fn is_dense(target: &Buffer) -> bool {
    let range = target.range();
    let Ok(span) = usize::try_from(range.end - range.start) else {
        return false;
    };
    if span > IMAGE * IMAGES {
        return false;
    }
    let (mut pieces, mut last) = (0_usize, None);
    target.runs(0, target.len(), |address, bytes| {
        pieces += usize::from(last != Some(address));
        last = Some(address.wrapping_add(bytes));
        pieces * FAR_PIECE_COST <= span
    });
    pieces > 1 && pieces * FAR_PIECE_COST > span
}

/// Whether the runs of a buffer are too short for the kernel; looks at the first ones.
fn has_short_runs(buffer: &Buffer) -> bool {
    let mut pieces = Pieces::new();
    let bytes = runs(buffer, 0, buffer.len(), &mut pieces);
    pieces.len() > 1 && bytes / pieces.len() < SHORT
}

fn one(address: usize, bytes: usize) -> Pieces {
    SmallVec::from_slice(&[Piece { address, bytes }])
}

impl Window {
    /// As [`Window::locate_quickly`], in memory whose edges are shared in place: as long as the second value lives.
    #[cold]
    #[inline(never)]
    pub(super) fn locate_counted(
        &self,
        rank: i32,
        disp: i64,
        bytes: u64,
    ) -> Option<(Spot, PrivateMemory<'_>)> {
        let rank = rank as u32 as usize;
        let target = self.targets.get(rank)?;
        let is_private = matches!(target.way, Way::Kernel | Way::Helper);
        if !is_private || !self.block.target(rank).place.has_edges() {
            return None;
        }
        if !self.has_epoch(rank) || disp < 0 || self.has_waiting() {
            return None;
        }
        let at = (disp as u64).checked_mul(target.unit)?;
        if at > target.bytes || bytes > target.bytes - at {
            return None;
        }
        let there = self.spot(rank, target, at);
        let memory = PrivateMemory::begin(self, &there).ok()?;
        let here = Spot {
            way: Way::Direct,
            address: memory.shared_address(&there, bytes)?,
            ..there
        };
        Some((here, memory))
    }
}

impl<'a> PrivateMemory<'a> {
    /// Begins an access. If the owner moves the memory, waits until that is done.
    ///
    /// Errors: [`Window::unreachable`], the owner has ended.
    pub fn begin(window: &'a Window, spot: &Spot) -> Result<PrivateMemory<'a>> {
        let accesses = &window.block.target(window.rank).accesses;
        let place = &window.block.target(spot.rank).place;
        let mut backoff = Backoff::default();
        while !accesses.begin(place) {
            let process = window.targets[spot.rank].process;
            while place.is_moving() {
                if backoff.pause() && engine::has_died(process) {
                    let ended = std::io::Error::from_raw_os_error(libc::ESRCH);
                    return Err(window.unreachable(spot.rank, spot.address, &ended));
                }
            }
        }
        Ok(PrivateMemory {
            window,
            rank: spot.rank,
            way: spot.way,
        })
    }

    /// Where this process addresses the elements of the access, if all of them are shared in place, edges included.
    pub fn shared_spot(&self, spot: &Spot, remote: &Remote) -> Option<Spot> {
        self.window.spot_here(spot, remote, |at, bytes| {
            self.window.counted_address(self.rank, at, bytes)
        })
    }

    /// As [`Self::shared_spot`], of so many bytes without holes.
    pub fn shared_address(&self, spot: &Spot, bytes: u64) -> Option<usize> {
        self.window.counted_address(self.rank, spot.address, bytes)
    }

    /// Counts what a call of the kernel or of the helper costs, and asks the owner to share the memory when that has cost as much.
    pub(super) fn count(&self, pieces: usize, bytes: usize) {
        let line = self.window.block.target(self.rank);
        let price = line.price.load(Ordering::Relaxed);
        if price == 0 {
            return;
        }
        let call = match self.way {
            Way::Helper => HELPER_CALL,
            _ => CALL,
        };
        let cost = call + (pieces as u64 - 1) * PIECE + bytes as u64 / BYTES;
        if line.cost.fetch_add(cost, Ordering::Relaxed) + cost >= price && line.place.want() {
            tasks::ask(self.window.targets[self.rank].process);
            self.window.assembly.wake(self.rank);
        }
    }

    /// Wakes the target if it sleeps in a wait, which is returned.
    pub(super) fn wake_target(&self) -> bool {
        self.window.assembly.wake_sleeper(self.rank)
    }

    /// Whether the target sleeps in a wait.
    pub(super) fn is_target_asleep(&self) -> bool {
        self.window.assembly.is_asleep(self.rank)
    }

    pub(super) fn process(&self) -> u32 {
        self.window.targets[self.rank].process
    }

    fn pid(&self) -> i32 {
        ways::pid_of(self.process())
    }

    /// Copies the origin's elements to the target's, which have as many bytes.
    ///
    /// Errors: [`Window::unreachable`].
    #[inline(never)]
    pub fn put(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        if self.offer::<true>(origin, target) {
            return Ok(());
        }
        if self.way != Way::Kernel || has_short_runs(origin) {
            return self.put_chunks(origin, target);
        }
        let pid = self.pid();
        let mut at = 0;
        while at < origin.len() {
            let (mut local, mut remote, bytes) = batch(origin, target, at);
            // SAFETY: the origin's elements, which belong to the operation.
            self.transfer(&mut local, &mut remote, |local, remote| unsafe {
                peer_memory::write_pieces(pid, local, remote)
            })?;
            at += bytes;
        }
        Ok(())
    }

    /// Copies the target's elements to the origin's.
    ///
    /// Errors: [`Window::unreachable`].
    #[inline(never)]
    pub fn get(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        if self.offer::<false>(origin, target) {
            return Ok(());
        }
        let mut near = Near::of(target, 0);
        if !near.is_dense() && is_dense(target) && self.get_images(origin, target).is_some() {
            return Ok(());
        }
        let packs = self.way != Way::Kernel || has_short_runs(origin);
        let (mut chunk, mut image) = (Vec::new(), None);
        let mut at = 0;
        while at < origin.len() {
            let read = near.is_dense() && self.get_near(origin, target, at, &near, &mut image);
            at += match (read, packs) {
                (true, _) => near.bytes,
                (false, true) => self.get_chunk(origin, target, at, &mut chunk)?,
                (false, false) => self.get_batch(origin, target, at)?,
            };
            near = Near::of(target, at);
        }
        Ok(())
    }

    /// Copies as many pieces from `at` on as the kernel takes. Returns their bytes.
    fn get_batch(&self, origin: &Buffer, target: &Buffer, at: usize) -> Result<usize> {
        let pid = self.pid();
        let (mut local, mut remote, bytes) = batch(origin, target, at);
        // SAFETY: the origin's elements, which belong to the operation.
        self.transfer(&mut local, &mut remote, |local, remote| unsafe {
            peer_memory::read_pieces(pid, local, remote)
        })?;
        Ok(bytes)
    }

    /// As [`Self::get_batch`], through packed memory.
    fn get_chunk(
        &self,
        origin: &Buffer,
        target: &Buffer,
        at: usize,
        chunk: &mut Vec<u8>,
    ) -> Result<usize> {
        chunk.resize(CHUNK.min(origin.len()), 0);
        let mut remote = Pieces::new();
        let bytes = runs(target, at, CHUNK.min(origin.len() - at), &mut remote);
        self.read(&remote, &mut chunk[..bytes])?;
        origin.write(at, &chunk[..bytes]);
        Ok(bytes)
    }

    /// Repeats a call of the kernel's until all is copied. Both sides have the same bytes.
    fn transfer(
        &self,
        local: &mut Pieces,
        remote: &mut Pieces,
        copy: impl Fn(&[Piece], &[Piece]) -> std::io::Result<usize>,
    ) -> Result<()> {
        let mut rest: usize = remote.iter().map(|piece| piece.bytes).sum();
        self.count(remote.len(), rest);
        while rest > 0 {
            let copied = match copy(local, remote) {
                Ok(copied) => copied,
                Err(why) => {
                    return Err(self.window.unreachable(self.rank, remote[0].address, &why));
                }
            };
            rest -= copied;
            if rest > 0 {
                advance(local, copied);
                advance(remote, copied);
            }
        }
        Ok(())
    }

    /// Reads pieces that lie near each other together with what is between them. False: that is not mapped, or there is no memory.
    fn get_near(
        &self,
        origin: &Buffer,
        target: &Buffer,
        at: usize,
        near: &Near,
        image: &mut Option<Scratch>,
    ) -> bool {
        if image.is_none() {
            let range = target.range();
            let span = usize::try_from(range.end - range.start).unwrap_or(NEAR);
            *image = Scratch::try_new(span.min(NEAR));
        }
        let begin = image.as_ref().and_then(|image| image.buffer().contiguous());
        let Some(begin) = begin else {
            return false;
        };
        let (first, span) = (near.first, near.span());
        if self.read_span(first, begin as usize, span).is_none() {
            return false;
        }
        // SAFETY: the memory has what the target's elements have that are read.
        let image = unsafe { target.displaced((begin as isize).wrapping_sub(first as isize)) };
        image.copy_part_to(origin, at..at + near.bytes);
        true
    }

    /// Reads all that lies between the target's first and last byte, and copies the elements from there. `None`: not all of it is mapped,
    /// or there is no memory for it; some of the origin's elements may have been written.
    fn get_images(&self, origin: &Buffer, target: &Buffer) -> Option<()> {
        let range = target.range();
        let first = usize::try_from(range.start).ok()?;
        let span = usize::try_from(range.end - range.start).ok()?;
        let memory = Scratch::try_new(span.min(IMAGE))?;
        let begin = memory.buffer().contiguous()?;
        if span <= IMAGE {
            self.read_span(first, begin as usize, span)?;
            // SAFETY: the memory has what lies in the target's range.
            let image = unsafe { target.displaced((begin as isize).wrapping_sub(first as isize)) };
            image.copy_to(origin, origin.len());
            return Some(());
        }
        for at in (first..first + span).step_by(IMAGE) {
            let bytes = IMAGE.min(first + span - at);
            self.read_span(at, begin as usize, bytes)?;
            // SAFETY: read just now; nothing else uses the memory.
            let image = unsafe { std::slice::from_raw_parts(begin, bytes) };
            let mut packed = 0;
            target.runs(0, target.len(), |address, length| {
                let run = address as usize;
                let (from, to) = (run.max(at), (run + length).min(at + bytes));
                if from < to {
                    origin.write(packed + from - run, &image[from - at..to - at]);
                }
                packed += length;
                true
            });
        }
        Some(())
    }

    /// Copies so many bytes from the target's address to this process's, which is the caller's own. `None`: they are not mapped.
    fn read_span(&self, remote: usize, local: usize, bytes: usize) -> Option<()> {
        if self.way == Way::Kernel {
            let pid = self.pid();
            let (mut local, mut remote) = (one(local, bytes), one(remote, bytes));
            // SAFETY: the caller's own memory.
            let read = self.transfer(&mut local, &mut remote, |local, remote| unsafe {
                peer_memory::read_pieces(pid, local, remote)
            });
            return read.ok();
        }
        let mut chunk = memory::filled(CHUNK.min(bytes), 0u8, "a piece").ok()?;
        for at in (0..bytes).step_by(CHUNK) {
            let chunk = &mut chunk[..CHUNK.min(bytes - at)];
            self.read(&one(remote + at, chunk.len()), chunk).ok()?;
            // SAFETY: the caller's own memory, which nothing refers to.
            unsafe {
                std::ptr::copy_nonoverlapping(chunk.as_ptr(), (local + at) as *mut u8, chunk.len());
            }
        }
        Some(())
    }

    /// Copies packed bytes to the target's pieces, which have as many.
    pub fn write(&self, remote: &Pieces, data: &[u8]) -> Result<()> {
        match self.way {
            Way::Kernel => {
                let pid = self.pid();
                let mut local = one(data.as_ptr() as usize, data.len());
                // SAFETY: `data` is only read.
                self.transfer(&mut local, &mut remote.clone(), |local, remote| unsafe {
                    peer_memory::write_pieces(pid, local, remote)
                })
            }
            _ => {
                self.count(remote.len(), data.len());
                helper::write(self.window, self.rank, remote, data)
            }
        }
    }

    /// As [`Self::write`]; a piece that cannot be written keeps no other from being so.
    ///
    /// Errors: the first one.
    pub fn write_all(&self, remote: &Pieces, data: &[u8]) -> Result<()> {
        let all = self.write(remote, data);
        if all.is_ok() || remote.len() == 1 {
            return all;
        }
        let (mut outcome, mut at) = (Ok(()), 0);
        for piece in remote {
            let one = Pieces::from_slice(&[*piece]);
            outcome = outcome.and(self.write(&one, &data[at..at + piece.bytes]));
            at += piece.bytes;
        }
        outcome
    }

    /// Copies the target's pieces to packed bytes.
    pub fn read(&self, remote: &Pieces, out: &mut [u8]) -> Result<()> {
        match self.way {
            Way::Kernel => {
                let pid = self.pid();
                let mut local = one(out.as_mut_ptr() as usize, out.len());
                // SAFETY: `out` is borrowed mutably.
                self.transfer(&mut local, &mut remote.clone(), |local, remote| unsafe {
                    peer_memory::read_pieces(pid, local, remote)
                })
            }
            _ => {
                self.count(remote.len(), out.len());
                helper::read(self.window, self.rank, remote, out)
            }
        }
    }

    fn put_chunks(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        let mut chunk = memory::filled(CHUNK.min(origin.len()), 0u8, "a piece")?;
        let mut at = 0;
        while at < origin.len() {
            let mut remote = Pieces::new();
            let bytes = runs(target, at, CHUNK.min(origin.len() - at), &mut remote);
            origin.read(at, &mut chunk[..bytes]);
            self.write(&remote, &chunk[..bytes])?;
            at += bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(list: &[(usize, usize)]) -> Pieces {
        let pieces = list.iter();
        pieces
            .map(|(address, bytes)| Piece {
                address: *address,
                bytes: *bytes,
            })
            .collect()
    }

    #[test]
    fn pieces_are_cut_at_either_end() {
        let all = pieces(&[(100, 8), (200, 4), (300, 16)]);
        for (bytes, first, rest) in [
            (0, pieces(&[]), all.clone()),
            (8, pieces(&[(100, 8)]), pieces(&[(200, 4), (300, 16)])),
            (
                9,
                pieces(&[(100, 8), (200, 1)]),
                pieces(&[(201, 3), (300, 16)]),
            ),
            (28, all.clone(), pieces(&[])),
        ] {
            let (mut cut, mut left) = (all.clone(), all.clone());
            truncate(&mut cut, bytes);
            advance(&mut left, bytes);
            assert_eq!((cut, left), (first, rest), "{bytes}");
        }
    }
}
