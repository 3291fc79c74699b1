//! The file of a host's records while the job runs: pieces, each with a head of what it is, whose it is, and how long.
//!
//! That of the first host has no name; those of others lie beside the timeline until the root has read them. Invariant: a part is read only when it is whole.

use super::clock::{Clock, Scale};
use oxmpi::events::timeline::layout::{NAME_BYTES, Record, WORDS};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Records,
    /// Texts of [`NAME_BYTES`].
    Names,
    /// How many records are missing.
    Dropped,
    /// A moment.
    Clock,
    /// The part is whole.
    End,
}

const PIECES: [Piece; 5] = [
    Piece::Records,
    Piece::Names,
    Piece::Dropped,
    Piece::Clock,
    Piece::End,
];

pub struct Part {
    file: BufWriter<File>,
    size: u64,
}

/// The names that a rank has told.
#[derive(Default)]
pub struct Names {
    pub functions: Vec<String>,
    pub communicators: HashMap<u32, String>,
}

fn path_of(timeline: &Path, place: u32) -> PathBuf {
    let mut name = timeline.as_os_str().to_owned();
    name.push(format!(".part-{place}"));
    name.into()
}

impl Part {
    pub fn create(timeline: &Path, place: u32) -> io::Result<Part> {
        let path = path_of(timeline, place);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        if place == 0 {
            fs::remove_file(&path)?;
        }
        Ok(Part {
            file: BufWriter::with_capacity(1 << 18, file),
            size: 0,
        })
    }

    /// The part of another host, whose name is taken away.
    pub fn open(timeline: &Path, place: u32) -> io::Result<Part> {
        let path = path_of(timeline, place);
        let file = File::open(&path)?;
        fs::remove_file(&path)?;
        let mut part = Part {
            size: file.metadata()?.len(),
            file: BufWriter::new(file),
        };
        let mut whole = false;
        part.visit(|piece, _, _, _| {
            whole |= piece == Piece::End;
            Ok(())
        })?;
        match whole {
            true => Ok(part),
            false => Err(io::Error::other("it is not whole")),
        }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn put(&mut self, piece: Piece, rank: u32, lane: u32, bytes: &[u8]) -> io::Result<()> {
        let head = [piece as u32, rank, lane, bytes.len() as u32];
        for word in head {
            self.file.write_all(&word.to_le_bytes())?;
        }
        self.size += 16 + bytes.len() as u64;
        self.file.write_all(bytes)
    }

    pub fn put_clock(&mut self, clock: &Clock) -> io::Result<()> {
        let words = clock.words().map(u64::to_le_bytes);
        self.put(Piece::Clock, 0, 0, words.as_flattened())
    }

    pub fn finish(&mut self) -> io::Result<()> {
        self.put(Piece::End, 0, 0, &[])?;
        self.file.flush()
    }

    /// Reads all pieces: what, rank, lane, bytes.
    fn visit(
        &mut self,
        mut see: impl FnMut(Piece, u32, u32, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::with_capacity(1 << 18, file);
        let mut bytes = Vec::new();
        let mut rest = self.size;
        while rest >= 16 {
            let mut head = [[0u8; 4]; 4];
            file.read_exact(head.as_flattened_mut())?;
            let [piece, rank, lane, length] = head.map(u32::from_le_bytes);
            let piece = PIECES.get(piece as usize).copied();
            let piece = piece.ok_or_else(|| io::Error::other("it has an unknown piece"))?;
            rest -= 16;
            if u64::from(length) > rest {
                break;
            }
            bytes.resize(length as usize, 0);
            file.read_exact(&mut bytes)?;
            rest -= u64::from(length);
            see(piece, rank, lane, &bytes)?;
        }
        Ok(())
    }

    /// Visits all records: rank, lane, record. Those of a lane come in order.
    pub fn records(
        &mut self,
        mut see: impl FnMut(u32, u32, &Record) -> io::Result<()>,
    ) -> io::Result<()> {
        self.visit(|piece, rank, lane, bytes| {
            if piece == Piece::Records {
                for record in bytes.as_chunks::<8>().0.as_chunks::<WORDS>().0 {
                    see(
                        rank,
                        lane,
                        &Record::of_words(record.map(u64::from_ne_bytes)),
                    )?;
                }
            }
            Ok(())
        })
    }

    /// The host's clock, the names of its ranks and how many of their records are missing.
    pub fn facts(
        &mut self,
        names: &mut HashMap<u32, Names>,
        dropped: &mut HashMap<u32, u64>,
    ) -> io::Result<Scale> {
        let mut clocks = Vec::new();
        self.visit(|piece, rank, _, bytes| {
            let word = |at: usize| {
                bytes
                    .as_chunks::<8>()
                    .0
                    .get(at)
                    .copied()
                    .map_or(0, u64::from_le_bytes)
            };
            match piece {
                Piece::Clock => clocks.push(Clock {
                    ticks: word(0),
                    monotonic: word(1),
                    wall: word(2),
                }),
                Piece::Dropped => *dropped.entry(rank).or_default() += word(0),
                Piece::Names => {
                    names.insert(rank, Names::of(bytes));
                }
                Piece::Records | Piece::End => {}
            }
            Ok(())
        })?;
        match clocks[..] {
            [begin, .., end] => Ok(Scale::of(begin, end)),
            _ => Err(io::Error::other("it has no clock")),
        }
    }
}

impl Names {
    fn of(bytes: &[u8]) -> Names {
        let mut names = Names::default();
        for name in bytes.as_chunks::<NAME_BYTES>().0 {
            let end = name.iter().position(|byte| *byte == 0);
            let text = String::from_utf8_lossy(&name[..end.unwrap_or(NAME_BYTES)]).into_owned();
            if let Some((context, title)) = text.strip_prefix('=').and_then(|it| it.split_once(' '))
                && let Ok(context) = context.parse()
            {
                names.communicators.insert(context, title.to_owned());
            }
            // Its number counts too.
            names.functions.push(text);
        }
        names
    }

    pub fn function(&self, number: u16) -> &str {
        self.functions
            .get(usize::from(number))
            .map_or("?", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("oxmpi-part-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let timeline = folder.join("t.json");
        let record = Record {
            begin: 7,
            duration: 3,
            ..Record::default()
        };
        let words = record.words().map(u64::to_ne_bytes);
        let mut names = vec![0; 2 * NAME_BYTES];
        names[..8].copy_from_slice(b"MPI_Send");
        names[NAME_BYTES..NAME_BYTES + 7].copy_from_slice(b"=4 grid");
        let written = || {
            let mut part = Part::create(&timeline, 1).unwrap();
            part.put_clock(&Clock::read()).unwrap();
            part.put(Piece::Records, 3, 1, words.as_flattened())
                .unwrap();
            part.put(Piece::Dropped, 3, 0, &5u64.to_le_bytes()).unwrap();
            part.put(Piece::Names, 3, 0, &names).unwrap();
            part.put_clock(&Clock::read()).unwrap();
            part
        };
        let mut part = written();
        part.file.flush().unwrap();
        assert!(Part::open(&timeline, 1).is_err(), "it is not whole");
        written().finish().unwrap();
        let mut part = Part::open(&timeline, 1).unwrap();
        let mut seen = Vec::new();
        part.records(|rank, lane, record| {
            seen.push((rank, lane, *record));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [(3, 1, record)]);
        let (mut names, mut dropped) = (HashMap::new(), HashMap::new());
        part.facts(&mut names, &mut dropped).unwrap();
        assert_eq!(dropped[&3], 5);
        assert_eq!(names[&3].function(0), "MPI_Send");
        assert_eq!(names[&3].function(9), "?");
        assert_eq!(names[&3].communicators[&4], "grid");
        assert!(!path_of(&timeline, 1).exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
