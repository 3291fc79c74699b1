//! What each staged operation copies, and how many lines it moves, exactly. Contiguous data is copied into the area and out of it, and
//! nowhere else.

use super::types;
use crate::coll::packed::scratch;
use crate::coll::{CollArgs, Operands, staged};
use crate::datatype::{Buffer, Parts, copies};
use crate::node::distance::{CacheDistance, Sight};
use crate::sync::scheduler;
use crate::transport::collective::{Fixture, Form, Geometry, Staging, tally};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt::Write;

const RANKS: [usize; 5] = [2, 3, 4, 8, 16];
/// Bytes of a vector, or of a part where ranks have parts, before they are made whole words of all ranks.
const SIZES: [usize; 3] = [8, 4000, 64 << 10];
const OPERATIONS: [&str; 8] = [
    "bcast",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce",
    "allreduce",
    "reduce_scatter",
];

/// An operation of so many ranks.
#[derive(Clone, Copy, Debug)]
struct Trial {
    name: &'static str,
    ranks: usize,
    /// Bytes of the vector, or of one part.
    bytes: usize,
    oversubscribed: bool,
    sight: Sight,
}

/// What a rank has done.
#[derive(Clone, Default)]
struct Count {
    copied: u64,
    published: BTreeSet<tally::Line>,
    read: BTreeSet<tally::Line>,
}

impl Trial {
    /// One rank's part in it; the root is the last one.
    fn perform(&self, staging: &mut Staging, fixture: &Fixture, form: Form) {
        let Trial { ranks, bytes, .. } = *self;
        let (root, is_root) = (ranks as i32 - 1, staging.me == ranks - 1);
        let (mut own, mut into) = (scratch(bytes), scratch(bytes));
        let all = || scratch(bytes * ranks);
        let (mut from_all, mut to_all) = (all(), all());
        let parts = |all: &mut Box<[u8]>| Parts::in_memory(all, bytes);
        let (out, parts) = (parts(&mut from_all), parts(&mut to_all));
        let own = Buffer::of_copy(&mut own);
        let into = Buffer::of_copy(&mut into);
        let with: Operands = types().sum.clone();
        let args = match self.name {
            "bcast" => CollArgs::Bcast { buffer: own, root },
            "gather" => CollArgs::Gather {
                own: Some(own),
                parts: is_root.then_some(parts),
                root,
                equal: true,
            },
            "scatter" => CollArgs::Scatter {
                parts: is_root.then_some(out),
                into: Some(own),
                root,
                equal: true,
            },
            "allgather" => CollArgs::Allgather {
                own: Some(own),
                parts,
            },
            "alltoall" => CollArgs::Alltoall {
                out: Some(out),
                into: parts,
            },
            "reduce" => CollArgs::Reduce {
                own,
                into: if is_root { into } else { Buffer::empty() },
                with,
                root,
            },
            "allreduce" => CollArgs::Allreduce { own, into, with },
            _ => CollArgs::ReduceScatter {
                own,
                into: into.slice(0, bytes / ranks),
                counts: vec![(bytes / ranks / 8) as u64; ranks].into(),
                with,
            },
        };
        let way = (fixture, self.oversubscribed, form);
        if let Some(result) = staged::rehearse(staging, way, self.name, &args) {
            result.unwrap_or_else(|error| panic!("{self:?}: {error:?}"));
        }
    }

    /// What each rank does in an operation that is not the first.
    fn counts(&self, fixture: &mut Fixture, seed: u64, form: Form) -> Vec<Count> {
        fixture.sight = Some(self.sight);
        let area = fixture.set(Geometry::of(self.ranks), true, None);
        let ranks = (0..self.ranks).map(|me| Mutex::new(Staging::new(area, me)));
        let ranks: Vec<Mutex<Staging>> = ranks.collect();
        let fixture = &*fixture;
        let perform = |me: usize| self.perform(&mut ranks[me].lock(), fixture, form);
        scheduler::run(seed, self.ranks, perform).unwrap();
        let mut counts = vec![Count::default(); self.ranks];
        let mut before = copies::total();
        tally::take();
        let watch = |me: usize| {
            let (now, lines) = (copies::total(), tally::take());
            counts[me].copied += now - std::mem::replace(&mut before, now);
            counts[me].published.extend(lines.published);
            let of_others = lines.read.into_iter().filter(|(from, _)| *from != me);
            counts[me].read.extend(of_others);
        };
        scheduler::run_watched(seed, self.ranks, perform, watch).unwrap();
        tally::end();
        counts
    }

    /// Bytes of a vector, or of a part, of about so many bytes.
    fn bytes(name: &str, ranks: usize, about: usize) -> usize {
        let unit = match name {
            // What ranks get of a vector are whole words.
            "reduce" | "allreduce" | "reduce_scatter" if about > 8 => 8 * ranks,
            "reduce_scatter" => 8 * ranks,
            _ => 8,
        };
        about.next_multiple_of(unit)
    }

    /// What a rank may copy: of bytes that all ranks get out of `b` of each rank, `b` in and `b` out.
    fn most(&self) -> usize {
        let (b, others) = (self.bytes, self.ranks - 1);
        // A rank inside a tree hands on what fits into a line or a small piece.
        let handed_on = if self.ranks > 16 { 2 * b.min(4096) } else { 0 };
        handed_on
            + match self.name {
                "bcast" => b,
                "reduce" | "reduce_scatter" => 2 * b,
                "gather" | "scatter" => (others + 1) * b,
                // The own part goes into the area, too.
                "allgather" => (others + 2) * b,
                "alltoall" => (2 * others + 1) * b,
                _ => 2 * b * others / self.ranks + 2 * b,
            }
    }
}

/// Whether which rank copies what depends on who comes when: all that is exact then is the sum.
fn is_dealt_out(counts: &[Vec<Count>]) -> bool {
    let copied = |counts: &Vec<Count>| counts.iter().map(|count| count.copied).collect::<Vec<_>>();
    counts
        .iter()
        .any(|other| copied(other) != copied(&counts[0]))
}

/// `most copied by a rank/by all in parts of a rank, lines that a rank publishes, that it reads`.
fn cell(trial: &Trial, fixture: &mut Fixture) -> String {
    let runs: Vec<Vec<Count>> = Form::ALL
        .into_iter()
        .zip(1..)
        .map(|(form, seed)| trial.counts(fixture, seed, form))
        .collect();
    // A part of a vector is so much for each rank.
    let unit = match trial.name {
        "bcast" | "reduce" | "allreduce" | "reduce_scatter" => {
            trial.bytes as f64 / trial.ranks as f64
        }
        _ => trial.bytes as f64,
    };
    let mut all = BTreeSet::new();
    for counts in &runs {
        let copied = counts.iter().map(|count| count.copied);
        let most = copied.clone().max().unwrap_or(0);
        assert!(
            most <= trial.most() as u64,
            "{trial:?}: a rank copies {most} bytes"
        );
        let sum = copied.sum::<u64>() as f64 / unit;
        if is_dealt_out(&runs) {
            all.insert(format!("-/{sum}"));
            continue;
        }
        let published = counts.iter().map(|count| count.published.len()).max();
        let read = counts.iter().map(|count| count.read.len()).max();
        let lines = (published.unwrap_or(0), read.unwrap_or(0));
        all.insert(format!(
            "{}/{sum} {} {}",
            most as f64 / unit,
            lines.0,
            lines.1
        ));
    }
    Vec::from_iter(all).join(" or ")
}

/// A line for an operation, whether ranks share cores, and a size; a column for each number of ranks.
fn table() -> String {
    let (mut fixture, mut table) = (Fixture::build(), String::new());
    for name in OPERATIONS {
        for oversubscribed in [false, true] {
            for about in SIZES {
                let way = if oversubscribed { "shared" } else { "own" };
                let _ = write!(table, "{name} {way} {about}:");
                for ranks in RANKS {
                    let trial = Trial {
                        name,
                        ranks,
                        bytes: Trial::bytes(name, ranks, about),
                        oversubscribed,
                        sight: Sight::SAME_CORE,
                    };
                    let cell = cell(&trial, &mut fixture);
                    let _ = write!(table, "{} {cell}", if ranks > 2 { "," } else { "" });
                }
                table.push('\n');
            }
        }
    }
    table
}

#[test]
fn operations_copy_data_into_the_area_and_out_of_it_and_nowhere_else() {
    let (found, expected) = (table(), include_str!("counts.txt"));
    if found != expected {
        let both = found.lines().zip(expected.lines());
        let differ = both.filter(|(one, other)| one != other);
        let differ: Vec<String> = differ
            .map(|(one, other)| format!("{one}\nnot {other}"))
            .collect();
        panic!("{}\nThe whole table:\n{found}", differ.join("\n"));
    }
}

/// Where the cores share no cache, data is written past the caches: not through more copies than the bounds allow.
#[test]
fn the_bounds_hold_on_far_cores_too() {
    let mut fixture = Fixture::build();
    let sight = Sight {
        distance: CacheDistance::Far,
        measures: false,
    };
    for name in OPERATIONS {
        for (ranks, about) in [(2, 200_000), (3, 4000), (4, 200_000), (33, 8)] {
            for oversubscribed in [false, true] {
                let bytes = Trial::bytes(name, ranks, about);
                let trial = Trial {
                    name,
                    ranks,
                    bytes,
                    oversubscribed,
                    sight,
                };
                for count in trial.counts(&mut fixture, 1, Form::Call) {
                    let copied = count.copied;
                    assert!(copied <= trial.most() as u64, "{trial:?}: {copied} bytes");
                }
            }
        }
    }
}
