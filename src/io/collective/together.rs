//! Small pieces of all ranks through frames: ranks copy them to where they belong, and whole frames go to the file, or come from it.
//!
//! Invariant: a frame is written only if the ranks' pieces are all of its bytes, each once; else each rank writes its own pieces itself.
//! All ranks come to all frames, also with no bytes or a wrong argument.

use super::Access;
use super::frames::Ring;
use super::frames::Tiling;
use super::marks::{self, Sure};
use super::pieces::{Pieces, Portion};
use super::plan::{Line, Together};
use crate::datatype::Buffer;
use crate::error::Result;
use crate::io::access;
use crate::io::direction::Direction;
use crate::io::file::File;
use crate::io::scratch::with_packed;
use crate::io::transfer::status;
use crate::io::view::ViewAt;
use crate::pt2pt::complete::Completion;
use crate::queue::frames::Part;

/// What became of a frame: in its low half how many bytes from its beginning are in the file, or were read; in its high half the errno.
#[derive(Clone, Copy)]
struct Outcome(u64);

/// The ranks write their pieces themselves.
const INCOMPLETE: u64 = 1 << 63;

impl Outcome {
    fn of(bytes: usize, result: &std::io::Result<()>) -> Outcome {
        let errno = |why: &std::io::Error| why.raw_os_error().unwrap_or(libc::EIO) as u64;
        let errno = result.as_ref().err().map_or(0, errno);
        Outcome(errno << 32 | bytes as u64)
    }

    fn bytes(self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }
}

/// A rank's access through the frames.
struct Work<'a> {
    file: &'a File,
    function: &'static str,
    ring: Ring,
    cut: Pieces,
    /// Positions that the filetypes alone show to be covered once.
    sure: Sure,
    /// The number of pieces of the file that frames serve.
    pieces: u64,
    buffer: Buffer,
    /// The first position of the file, of this rank's, that was not moved.
    stop: u64,
    failure: Result<()>,
}

impl File {
    /// Moves the bytes of all ranks in a part of the file.
    pub(super) fn together(
        &self,
        function: &'static str,
        direction: Direction,
        access: Result<Access>,
        part: Together,
        lines: &[Line],
    ) -> Completion {
        let ring = match self.ring(function, part.high - part.low) {
            Ok(Some(ring)) => ring,
            Ok(None) => return self.each_its_own(function, direction, access),
            Err(lost) => return Completion::failed(lost),
        };
        let own = lines[self.board.assembly.rank()];
        let tiling = match direction {
            Direction::Write => self.tiling(function, own.runs),
            Direction::Read => Ok(Tiling::Other),
        };
        let sure = match tiling {
            Ok(Tiling::Complete) => Sure::of(lines),
            Ok(_) => Sure::NOWHERE,
            Err(lost) => return Completion::failed(lost),
        };
        let (cut, buffer, failure) = self.cut(access, part, ring.bytes());
        let mut work = Work {
            file: self,
            function,
            ring,
            sure,
            pieces: cut.number(),
            cut,
            buffer,
            stop: u64::MAX,
            failure,
        };
        let done = match direction {
            Direction::Write => work.write(),
            Direction::Read => work.read(),
        };
        if let Err(lost) = done {
            return Completion::failed(lost);
        }
        self.have_served(work.pieces);
        let done = status(work.cut.moved(work.stop));
        let error = self.agree(function, work.failure).err();
        Completion {
            status: done,
            error,
        }
    }
}

impl Work<'_> {
    /// Copies a portion between the buffer and the memory of a frame, which has the position `low`.
    ///
    /// Errors: ENOMEM.
    fn copy(
        &self,
        direction: Direction,
        memory: *mut u8,
        low: u64,
        portion: Portion,
    ) -> std::io::Result<()> {
        let start = low / self.ring.bytes() * self.ring.bytes();
        let part = portion.offset..portion.offset + portion.length;
        with_packed(direction, &self.buffer, part, |offset, packed, length| {
            let skip = self.cut.skip + offset as u64;
            // SAFETY: the frame is this rank's to fill or to take from, and has the positions of the portion; the packed bytes are the
            // buffer's or this thread's.
            unsafe {
                self.cut
                    .view
                    .copy(direction, memory, start, skip, packed, length)
            };
        })
    }

    /// Copies a portion into a frame, each rank from another place on: ranks whose pieces share lines do not store into these at once.
    ///
    /// Errors: ENOMEM.
    fn fill(&self, memory: *mut u8, low: u64, portion: Portion) -> std::io::Result<()> {
        let board = &self.file.board;
        let first = portion.length * board.assembly.rank() / board.assembly.ranks();
        let rest = Portion {
            offset: portion.offset + first,
            length: portion.length - first,
        };
        let start = Portion {
            length: first,
            ..portion
        };
        self.copy(Direction::Write, memory, low, rest)?;
        self.copy(Direction::Write, memory, low, start)
    }

    fn rest(&self, holds: &mut dyn FnMut() -> bool) -> Result<()> {
        let done = self.file.board.assembly.rest(self.function, holds);
        done.map_err(|error| error.context(self.file.title()))
    }

    fn tell(&self) {
        self.file.board.assembly.tell(self.function);
    }

    fn fails(&mut self, what: &str, why: &std::io::Error) {
        if self.failure.is_ok() {
            self.failure = Err(self.file.failure(what, why));
        }
    }

    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    fn write(&mut self) -> Result<()> {
        let (all, ring) = (self.ring.frames(), self.ring);
        // Pieces that this rank has come to, and those whose end it has seen.
        let (mut come, mut seen) = (0, 0);
        let mut portions = vec![Portion::default(); all as usize];
        let mut offset = 0;
        // Incomplete pieces one after the other: what has holes here will have some there.
        let mut incomplete = 0;
        while seen < self.pieces {
            let is_over = |piece| {
                let (frame, lap, _) = ring.frame(piece);
                frame.is_over(lap)
            };
            if seen < come && is_over(seen) {
                let outcome = ring.frame(seen).0.outcome();
                incomplete = if outcome == INCOMPLETE {
                    incomplete + 1
                } else {
                    0
                };
                self.ends(seen, outcome, portions[(seen % all) as usize]);
                seen += 1;
                continue;
            }
            let pieces = self.pieces;
            let may_come = move || {
                let (frame, lap, _) = ring.frame(come);
                come < pieces && come < seen + all && frame.is_open(lap)
            };
            if may_come() {
                let portion = self.cut.portion(come, offset);
                portions[(come % all) as usize] = portion;
                offset += portion.length;
                self.comes(come, portion, incomplete < 2);
                come += 1;
                continue;
            }
            let is_full = |piece: &u64| {
                let (frame, lap, _) = ring.frame(*piece);
                frame.is_full(lap)
            };
            if ring.claim_writing() {
                let full = (seen..come).find(is_full);
                if let Some(piece) = full {
                    self.write_frame(piece);
                }
                ring.end_writing();
                if full.is_some() {
                    self.tell();
                    continue;
                }
            }
            self.rest(&mut || {
                may_come()
                    || seen < come && is_over(seen)
                    || !ring.is_being_written() && (seen..come).any(|piece| is_full(&piece))
            })?;
        }
        Ok(())
    }

    /// Fills this rank's part of a frame, or leaves it.
    fn comes(&self, piece: u64, portion: Portion, fills: bool) {
        let (frame, lap, memory) = self.ring.frame(piece);
        let (low, high) = self.cut.range(piece);
        let mut is_filled = fills || portion.length == 0;
        let mut marks = 0;
        let is_sure = self.sure.has(low, high);
        if is_filled && portion.length > 0 {
            // Without memory for it this rank writes its own, or says there that it has none.
            is_filled = self.fill(memory, low, portion).is_ok();
            if !is_sure {
                let skip = self.cut.skip + portion.offset as u64;
                marks = marks::of_runs(&self.cut.view, skip, portion.length as u64);
            }
        }
        let part = Part { marks, is_filled };
        let ranks = self.file.board.assembly.ranks() as u32;
        let expected = if is_sure {
            0
        } else {
            marks::of_piece(low, high)
        };
        if frame.arrive(lap, part, ranks, expected, INCOMPLETE) {
            self.tell();
        }
    }

    fn write_frame(&mut self, piece: u64) {
        let (frame, lap, memory) = self.ring.frame(piece);
        if !frame.claim_full(lap) {
            return;
        }
        let (low, high) = self.cut.range(piece);
        let from = memory.wrapping_add((low % self.ring.bytes()) as usize);
        let (done, result) = match self.file.descriptor() {
            // SAFETY: the frame is this rank's, which has claimed it.
            Ok(descriptor) => unsafe { descriptor.write_at(from, (high - low) as usize, low) },
            Err(_) => (0, Err(std::io::Error::from_raw_os_error(libc::EBADF))),
        };
        frame.end(lap, Outcome::of(done, &result).0);
        if let Err(why) = result {
            self.fails("pwrite", &why);
        }
    }

    /// A piece is in the file, or has failed, or is to be written by each rank.
    fn ends(&mut self, piece: u64, outcome: u64, portion: Portion) {
        let (low, high) = self.cut.range(piece);
        if outcome != INCOMPLETE {
            let end = low + Outcome(outcome).bytes();
            if end < high {
                self.stop = self.stop.min(end);
            }
            return;
        }
        let Ok(descriptor) = self.file.descriptor() else {
            return;
        };
        let skip = self.cut.skip + portion.offset as u64;
        let at = ViewAt {
            file: descriptor,
            view: &self.cut.view,
            skip,
        };
        let part = portion.offset..portion.offset + portion.length;
        let (done, result) = access::transfer_part(at, &self.buffer, part, Direction::Write);
        if let Err(why) = result {
            self.stop = self
                .stop
                .min(self.cut.view.place(skip + done as u64) as u64);
            self.fails("pwrite", &why);
        }
    }

    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    fn read(&mut self) -> Result<()> {
        let ring = self.ring;
        let (mut taken, mut offset) = (0, 0);
        while taken < self.pieces {
            let (frame, lap, _) = ring.frame(taken);
            if frame.is_full(lap) {
                offset += self.take(taken, offset);
                taken += 1;
                continue;
            }
            let ahead = taken..self.pieces.min(taken + ring.frames());
            let is_open = |piece: &u64| {
                let (frame, lap, _) = ring.frame(*piece);
                frame.is_open(lap)
            };
            if let Some(piece) = ahead.clone().find(is_open) {
                self.read_frame(piece);
                continue;
            }
            self.rest(&mut || frame.is_full(lap) || ahead.clone().any(|piece| is_open(&piece)))?;
        }
        Ok(())
    }

    fn read_frame(&mut self, piece: u64) {
        let (frame, lap, memory) = self.ring.frame(piece);
        if !frame.claim_open(lap) {
            return;
        }
        let (low, high) = self.cut.range(piece);
        let to = memory.wrapping_add((low % self.ring.bytes()) as usize);
        let (done, result) = match self.file.descriptor() {
            // SAFETY: the frame is this rank's, which has claimed it.
            Ok(descriptor) => unsafe { descriptor.read_at(to, (high - low) as usize, low) },
            Err(_) => (0, Err(std::io::Error::from_raw_os_error(libc::EBADF))),
        };
        frame.fill(lap, Outcome::of(done, &result).0);
        self.tell();
        if let Err(why) = result {
            self.fails("pread", &why);
        }
    }

    /// Takes this rank's bytes of a frame that was read. Returns how many the frame would have.
    fn take(&mut self, piece: u64, offset: usize) -> usize {
        let ring = self.ring;
        let (frame, lap, memory) = ring.frame(piece);
        let (low, high) = self.cut.range(piece);
        let portion = self.cut.portion(piece, offset);
        let end = low + Outcome(frame.outcome()).bytes();
        if end < high {
            self.stop = self.stop.min(end);
        }
        let mut there = portion;
        if self.stop < high {
            there = self.cut.in_front(portion, self.stop);
        }
        if let Err(why) = self.copy(Direction::Read, memory, low, there) {
            self.stop = self.stop.min(low);
            self.fails("pread", &why);
        }
        if frame.leave(lap, self.file.board.assembly.ranks() as u32) {
            self.tell();
        }
        portion.length
    }
}
