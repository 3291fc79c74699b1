//! Small pieces of ranks on several nodes: the lowest rank of each node owns a part of the file, and moves it for all.
//!
//! ```text
//! once         each rank to each owner      of each piece of its part: which runs are the rank's
//! turn         rank to owner                runs that are no pattern; to write, the bytes
//! (a piece     owner                        one pwrite of what is covered without a hole, or one pread
//! an owner)    owner to rank                to read: how far the file goes, the bytes
//! ```
//!
//! Invariant: only bytes that some rank writes are written. All ranks come to all turns that they have bytes in, also after an error.

use super::Access;
use super::marks::of_piece;
use super::pieces::{Pieces, Portion};
use super::plan::{Line, Together};
use crate::assembly::Parcel;
use crate::datatype::Buffer;
use crate::error::{Result, memory};
use crate::io::agree::NOTHING;
use crate::io::direction::Direction;
use crate::io::file::File;
use crate::io::transfer::status;
use crate::pt2pt::complete::Completion;
use std::ops::Range;

/// Bytes of a piece; an owner has two in memory.
const BYTES: u64 = 2 << 20;
const WORD: usize = size_of::<u64>();

/// A rank's runs in a piece: positions are from the piece's first byte on.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Runs {
    number: u64,
    /// The first one.
    start: u64,
    length: u64,
    /// From one to the next; [`LISTED`]: they have no pattern, and come as a list.
    stride: u64,
    bytes: u64,
}

const LISTED: u64 = u64::MAX;
const RUNS_WORDS: usize = 5;

fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes[at * WORD..(at + 1) * WORD].try_into();
    u64::from_ne_bytes(word.unwrap_or_default())
}

fn put_words(bytes: &mut Vec<u8>, words: &[u64]) {
    words
        .iter()
        .for_each(|word| bytes.extend_from_slice(&word.to_ne_bytes()));
}

const PARCEL: &str = "what ranks send owners of a file's parts";

/// The ranks have agreed to come to all pieces: without memory one cannot go on.
fn zeros(bytes: usize) -> Vec<u8> {
    memory::or_end(memory::filled(bytes, 0, PARCEL))
}

impl Runs {
    fn put(&self, bytes: &mut Vec<u8>) {
        let words = [
            self.number,
            self.start,
            self.length,
            self.stride,
            self.bytes,
        ];
        put_words(bytes, &words);
    }

    fn from(bytes: &[u8], piece: usize) -> Runs {
        let word = |at| word(bytes, piece * RUNS_WORDS + at);
        Runs {
            number: word(0),
            start: word(1),
            length: word(2),
            stride: word(3),
            bytes: word(4),
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Takes one more run, behind the others.
    fn add(&mut self, start: u64, length: u64) {
        match self.number {
            0 => (self.start, self.length) = (start, length),
            _ if self.stride == LISTED => {}
            1 if length == self.length => self.stride = start - self.start,
            _ if length != self.length || start != self.start + self.number * self.stride => {
                self.stride = LISTED;
            }
            _ => {}
        }
        self.number += 1;
        self.bytes += length;
    }

    /// Bytes of the list of runs, if there is one.
    fn list_bytes(&self) -> usize {
        match self.stride {
            LISTED => self.number as usize * 2 * WORD,
            _ => 0,
        }
    }

    /// Visits the runs, with the list if there is one: start and bytes.
    fn each(&self, list: &[u8], mut visit: impl FnMut(usize, usize)) {
        for at in 0..self.number as usize {
            let (start, length) = match self.stride {
                LISTED => (word(list, 2 * at), word(list, 2 * at + 1)),
                stride => (self.start + at as u64 * stride, self.length),
            };
            visit(start as usize, length as usize);
        }
    }
}

/// A rank's access through the owners.
struct Work<'a> {
    file: &'a File,
    function: &'static str,
    cut: Pieces,
    buffer: Buffer,
    lines: &'a [Line],
    owners: Vec<usize>,
    /// This rank's bytes of each piece, and its runs.
    portions: Vec<(Portion, Runs)>,
    /// If this rank is an owner: runs of the ranks with bytes in its part, by piece of it.
    others: Vec<(usize, Box<[u8]>)>,
    /// The first position of the file that was not moved, as far as this rank knows.
    stop: u64,
    failure: Result<()>,
}

impl File {
    /// Moves the bytes of all ranks, on several nodes, in a part of the file.
    pub(super) fn through_owners(
        &self,
        function: &'static str,
        direction: Direction,
        access: Result<Access>,
        part: Together,
        lines: &[Line],
    ) -> Completion {
        let (cut, buffer, failure) = self.cut(access, part, BYTES);
        let work = Work {
            file: self,
            function,
            cut,
            buffer,
            lines,
            owners: self.board.firsts(),
            portions: Vec::new(),
            others: Vec::new(),
            stop: u64::MAX,
            failure,
        };
        match work.all(direction) {
            Ok(done) => done,
            Err(lost) => Completion::failed(lost),
        }
    }
}

impl Work<'_> {
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    fn all(mut self, direction: Direction) -> Result<Completion> {
        self.look();
        self.tell_owners()?;
        let turns = (0..self.owners.len()).map(|owner| self.part_of(owner).count());
        for turn in 0..turns.max().unwrap_or(0) as u64 {
            match direction {
                Direction::Write => self.write(turn)?,
                Direction::Read => self.read(turn)?,
            }
        }
        let mut values = NOTHING;
        values[0] = self.stop;
        let failure = std::mem::replace(&mut self.failure, Ok(()));
        let (all, agreed) = self
            .file
            .agree_all_the_same(self.function, failure, values)?;
        let stop = all.iter().map(|values| values[0]).min();
        Ok(Completion {
            status: status(self.cut.moved(stop.unwrap_or(u64::MAX))),
            error: agreed.err(),
        })
    }

    /// The pieces that an owner moves: they follow each other.
    fn part_of(&self, owner: usize) -> Range<u64> {
        let (pieces, owners) = (self.cut.number(), self.owners.len() as u64);
        let from = |owner: usize| (u128::from(pieces) * owner as u128 / u128::from(owners)) as u64;
        from(owner)..from(owner + 1)
    }

    /// The piece that an owner moves in a turn.
    fn piece(&self, owner: usize, turn: u64) -> Option<u64> {
        self.part_of(owner).nth(turn as usize)
    }

    /// Which owner this rank is.
    fn own_part(&self) -> Option<usize> {
        let rank = self.file.board.assembly.rank();
        self.owners.iter().position(|owner| *owner == rank)
    }

    /// Whether a rank may have bytes in an owner's part, which both know.
    fn meet(&self, rank: usize, owner: usize) -> bool {
        let part = self.part_of(owner);
        let line = &self.lines[rank];
        !part.is_empty()
            && line.bytes > 0
            && line.low < self.cut.range(part.end - 1).1
            && line.high > self.cut.range(part.start).0
    }

    /// Finds this rank's bytes of each piece.
    fn look(&mut self) {
        let mut offset = 0;
        for piece in 0..self.cut.number() {
            let portion = self.cut.portion(piece, offset);
            let mut runs = Runs::default();
            self.each_run(piece, portion, |start, length| runs.add(start, length));
            self.portions.push((portion, runs));
            offset += portion.length;
        }
    }

    fn each_run(&self, piece: u64, portion: Portion, mut visit: impl FnMut(u64, u64)) {
        let (low, _) = self.cut.range(piece);
        let skip = self.cut.skip + portion.offset as u64;
        if portion.length > 0 {
            self.cut
                .view
                .runs(skip, portion.length as u64, |at, bytes| {
                    visit(at - low, bytes as u64);
                    true
                });
        }
    }

    fn exchange(&self, out: Vec<Parcel>, into: Vec<Parcel>) -> Result<Vec<Parcel>> {
        let done = self
            .file
            .board
            .assembly
            .exchange_parcels(self.function, out, into);
        done.map_err(|error| error.context(self.file.title()))
    }

    /// Each rank tells each owner which runs of its part it has.
    fn tell_owners(&mut self) -> Result<()> {
        let rank = self.file.board.assembly.rank();
        let mut out = Vec::new();
        for (owner, at) in self.owners.iter().enumerate() {
            if self.meet(rank, owner) {
                let mut bytes = Vec::new();
                for piece in self.part_of(owner) {
                    self.portions[piece as usize].1.put(&mut bytes);
                }
                out.push((*at, bytes.into_boxed_slice()));
            }
        }
        let mut into = Vec::new();
        if let Some(owner) = self.own_part() {
            let bytes = self.part_of(owner).count() * RUNS_WORDS * WORD;
            for rank in 0..self.file.board.assembly.ranks() {
                if self.meet(rank, owner) {
                    into.push((rank, vec![0; bytes].into_boxed_slice()));
                }
            }
        }
        self.others = self.exchange(out, into)?;
        Ok(())
    }

    /// What this rank sends to each owner in a turn, by `fill(piece, portion, runs)`; owners that get nothing of it left out.
    fn for_owners(&self, turn: u64, fill: impl Fn(u64, Portion, &Runs) -> Vec<u8>) -> Vec<Parcel> {
        let owners = self.owners.iter().enumerate();
        let parcel = |(owner, at): (usize, &usize)| {
            let piece = self.piece(owner, turn)?;
            let (portion, runs) = &self.portions[piece as usize];
            let bytes = fill(piece, *portion, runs);
            (!bytes.is_empty()).then(|| (*at, bytes.into_boxed_slice()))
        };
        owners.filter_map(parcel).collect()
    }

    /// If this rank owns a piece in a turn: it, and who has which runs of it.
    fn owned(&self, turn: u64) -> Option<(u64, Vec<(usize, Runs)>)> {
        let piece = self.piece(self.own_part()?, turn)?;
        let runs = |(rank, bytes): &(usize, Box<[u8]>)| {
            let runs = Runs::from(bytes, turn as usize);
            (!runs.is_empty()).then_some((*rank, runs))
        };
        Some((piece, self.others.iter().filter_map(runs).collect()))
    }

    fn list_of(&self, piece: u64, portion: Portion, runs: &Runs) -> Vec<u8> {
        let room = memory::room(runs.list_bytes() + portion.length, PARCEL);
        let mut list = memory::or_end(room);
        if runs.stride == LISTED {
            self.each_run(piece, portion, |start, length| {
                put_words(&mut list, &[start, length]);
            });
        }
        list
    }

    fn fails(&mut self, what: &str, position: u64, why: &std::io::Error) {
        self.stop = self.stop.min(position);
        if self.failure.is_ok() {
            self.failure = Err(self.file.failure(what, why));
        }
    }

    fn write(&mut self, turn: u64) -> Result<()> {
        let out = self.for_owners(turn, |piece, portion, runs| {
            let mut bytes = self.list_of(piece, portion, runs);
            let list = bytes.len();
            bytes.resize(list + portion.length, 0);
            self.buffer.read(portion.offset, &mut bytes[list..]);
            bytes
        });
        let owned = self.owned(turn);
        let senders = owned.iter().flat_map(|(_, ranks)| ranks);
        let room = |runs: &Runs| zeros(runs.list_bytes() + runs.bytes as usize);
        let into = senders.map(|(rank, runs)| (*rank, room(runs).into_boxed_slice()));
        let into = into.collect();
        let parcels = self.exchange(out, into)?;
        if let Some((piece, ranks)) = owned {
            self.write_piece(piece, &ranks, &parcels);
        }
        Ok(())
    }

    /// Puts together what ranks have sent, and writes it: what follows each other at once.
    fn write_piece(&mut self, piece: u64, ranks: &[(usize, Runs)], parcels: &[Parcel]) {
        let (low, high) = self.cut.range(piece);
        let mut memory = zeros((high - low) as usize);
        // As in a frame: by the sum of marks a piece without holes is known without a sorted list of its runs.
        let mut marks = 0u64;
        for ((_, runs), (_, bytes)) in ranks.iter().zip(parcels) {
            let (list, mut data) = bytes.split_at(runs.list_bytes());
            runs.each(list, |start, length| {
                let (run, rest) = data.split_at(length);
                memory[start..start + length].copy_from_slice(run);
                data = rest;
                marks = marks.wrapping_add(of_piece(start as u64, (start + length) as u64));
            });
        }
        let covered = match marks == of_piece(0, high - low) {
            true => vec![(0, memory.len())],
            false => merged(ranks, parcels),
        };
        for (from, to) in covered {
            let at = low + from as u64;
            let range = (at, low + to as u64 - 1);
            let written = self.file.write_locked(self.function, range, |descriptor| {
                // SAFETY: memory of this function's.
                unsafe { descriptor.write_at(memory[from..to].as_ptr(), to - from, at) }
            });
            match written {
                Ok((_, Ok(()))) => {}
                Ok((done, Err(why))) => self.fails("pwrite", at + done as u64, &why),
                Err(error) => {
                    self.failure = std::mem::replace(&mut self.failure, Ok(())).and(Err(error))
                }
            }
        }
    }

    fn read(&mut self, turn: u64) -> Result<()> {
        let out = self.for_owners(turn, |piece, portion, runs| {
            self.list_of(piece, portion, runs)
        });
        let owned = self.owned(turn);
        let senders = owned.iter().flat_map(|(_, ranks)| ranks);
        let listed = senders.filter(|(_, runs)| runs.stride == LISTED);
        let into = listed.map(|(rank, runs)| (*rank, zeros(runs.list_bytes()).into()));
        let into = into.collect();
        let lists = self.exchange(out, into)?;
        let out = match &owned {
            Some((piece, ranks)) if !ranks.is_empty() => self.read_piece(*piece, ranks, &lists),
            _ => Vec::new(),
        };
        // One more word: where the file's bytes end.
        let room = |_, portion: Portion, _: &Runs| match portion.length {
            0 => Vec::new(),
            length => zeros(WORD + length),
        };
        let into = self.for_owners(turn, room);
        let replies = self.exchange(out, into)?;
        let owners = (0..self.owners.len()).filter_map(|owner| self.piece(owner, turn));
        let wanted = owners.filter(|piece| self.portions[*piece as usize].0.length > 0);
        let wanted: Vec<u64> = wanted.collect();
        for (piece, (_, reply)) in wanted.into_iter().zip(&replies) {
            let (portion, _) = self.portions[piece as usize];
            let end = word(reply, 0);
            if end < self.cut.range(piece).1 {
                self.stop = self.stop.min(end);
            }
            let there = self.cut.in_front(portion, self.stop);
            self.buffer
                .write(there.offset, &reply[WORD..WORD + there.length]);
        }
        Ok(())
    }

    /// Reads a piece, and packs what each rank wants of it.
    fn read_piece(&mut self, piece: u64, ranks: &[(usize, Runs)], lists: &[Parcel]) -> Vec<Parcel> {
        let (low, high) = self.cut.range(piece);
        let mut memory = zeros((high - low) as usize);
        let (found, result) = match self.file.descriptor() {
            // SAFETY: memory of this function's.
            Ok(descriptor) => unsafe { descriptor.read_at(memory.as_mut_ptr(), memory.len(), low) },
            Err(_) => (0, Err(std::io::Error::from_raw_os_error(libc::EBADF))),
        };
        let end = low + found as u64;
        if let Err(why) = result {
            self.fails("pread", end, &why);
        }
        let mut lists = lists.iter();
        let packed = |(rank, runs): &(usize, Runs)| {
            let list = match runs.stride {
                LISTED => lists.next().map_or(&[][..], |(_, list)| list),
                _ => &[],
            };
            let room = memory::room(WORD + runs.bytes as usize, PARCEL);
            let mut bytes = memory::or_end(room);
            put_words(&mut bytes, &[end]);
            runs.each(list, |start, length| {
                bytes.extend_from_slice(&memory[start..start + length]);
            });
            (*rank, bytes.into_boxed_slice())
        };
        ranks.iter().map(packed).collect()
    }
}

/// What the runs of all ranks cover, in ascending order; runs that touch or overlap are one.
fn merged(ranks: &[(usize, Runs)], parcels: &[Parcel]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for ((_, runs), (_, list)) in ranks.iter().zip(parcels) {
        runs.each(list, |start, length| all.push((start, start + length)));
    }
    joined(all)
}

fn joined(mut ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    ranges.sort_unstable();
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (from, to) in ranges {
        match all.last_mut() {
            Some((_, end)) if from <= *end => *end = (*end).max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(
            joined(vec![(8, 12), (0, 4), (4, 6), (9, 10), (12, 13), (20, 21)]),
            [(0, 6), (8, 13), (20, 21)]
        );
        assert!(joined(Vec::new()).is_empty());
    }

    #[test]
    fn runs_with_a_pattern_need_no_list() {
        let runs = |all: &[(u64, u64)]| {
            let mut runs = Runs::default();
            all.iter()
                .for_each(|(start, length)| runs.add(*start, *length));
            let mut list = Vec::new();
            if runs.stride == LISTED {
                all.iter()
                    .for_each(|(start, length)| put_words(&mut list, &[*start, *length]));
            }
            assert_eq!(list.len(), runs.list_bytes());
            let mut bytes = Vec::new();
            runs.put(&mut bytes);
            assert_eq!(Runs::from(&bytes, 0), runs);
            let mut found = Vec::new();
            runs.each(&list, |start, length| {
                found.push((start as u64, length as u64));
            });
            assert_eq!(found, all);
            runs
        };
        assert!(runs(&[]).is_empty());
        assert_eq!(runs(&[(3, 5)]).bytes, 5);
        assert_eq!(runs(&[(3, 5), (10, 5), (17, 5)]).stride, 7);
        for irregular in [
            &[(3, 5), (10, 5), (18, 5)][..],
            &[(3, 5), (10, 4), (17, 5), (24, 5)],
            &[(3, 2), (10, 5), (17, 5)],
            &[(3, 5), (10, 5), (17, 5), (24, 1)],
        ] {
            assert_eq!(runs(irregular).stride, LISTED);
        }
    }
}
