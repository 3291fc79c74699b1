//! Staged operations against their definition: the ranks take turns in one thread (`sync/scheduler.rs`), many operations of all kinds
//! follow each other in one area, and a seed decides all of it: which, on how much data, and who goes on at each access to what the
//! ranks share.

use super::compose_into;
use crate::coll::Operands;
use crate::datatype::{self, Datatype, create};
use crate::error::Result;
use crate::op::{self, Elements, Function};
use crate::sync::scheduler;
use crate::transport::collective::{Fixture, Form, Geometry, Staging};
use scenarios::{Kind, Scenario};
use std::ops::Range;
use std::sync::OnceLock;

mod counts;
mod scenarios;

/// What the operations of a test are like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// Anything on any number of bytes.
    Mixed,
    /// Little data from or to one root, again and again: ranks run ahead.
    Rooted,
    /// Large rings, and other ranks' memory.
    Large,
    /// Large reductions to a root, whose results the others do not wait for, and what comes behind them.
    Behind,
}

/// Operations that follow each other.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    seed: u64,
    ranks: usize,
    oversubscribed: bool,
    /// In the area of one persistent operation.
    own: bool,
    style: Style,
    length: usize,
    /// How ranks wait; `None`: by the seed, each rank in each operation as it likes.
    form: Option<Form>,
}

/// Numbers below others, by a seed.
struct Dice(u64);

impl Dice {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value ^ value >> 29
    }

    fn below(&mut self, below: usize) -> usize {
        (self.word() >> 32) as usize % below
    }

    fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What is reduced, or moved.
struct Types {
    /// Bytes; elements of eight and of 24, and the same with as much room behind each.
    all: [&'static Datatype; 5],
    sum: Operands,
    compose: op::Op,
}

/// For reductions: affine functions, as [`super::COMPOSE`].
struct Compose;

impl Function for Compose {
    fn call(&self, elements: Elements<'_>) -> Result<()> {
        let (size, extent) = (
            elements.datatype.size as usize,
            elements.datatype.extent as usize,
        );
        for at in 0..elements.count as usize {
            let begin = elements.origin as usize + at * extent;
            let place = begin..begin + size;
            compose_into(&elements.input[place.clone()], &mut elements.inout[place]);
        }
        Ok(())
    }

    fn set_proxy(&self, _: usize) {}
}

fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| {
        let predefined = || datatype::predefined_handles().filter_map(datatype::get);
        let word = predefined()
            .find(|one| one.name() == "MPI_UINT64_T")
            .unwrap();
        let triple = create::contiguous(false, 3, word).unwrap();
        let apart =
            |old: &'static Datatype| create::resized(false, 0, 2 * old.extent, old).unwrap();
        let byte = datatype::get(datatype::BYTE).unwrap();
        let all = [byte, word, triple, apart(word), apart(triple)];
        all.iter().for_each(|one| one.commit());
        Types {
            all,
            sum: Operands {
                op: op::get(op::SUM).unwrap(),
                datatype: word,
            },
            compose: op::get(op::create(Box::new(Compose), false).unwrap()).unwrap(),
        }
    })
}

impl Sequence {
    fn geometry(&self) -> Geometry {
        match self.own {
            true if self.ranks.is_multiple_of(2) => Geometry::of_operation(self.ranks),
            // Operations with more data than that run there, too.
            true => Geometry::of_persistent(self.ranks, Some(4096)),
            false => Geometry::of(self.ranks),
        }
    }

    /// The operations of a sequence.
    fn script(&self) -> Vec<Scenario> {
        let mut dice = Dice(
            self.seed
                ^ (self.ranks as u64) << 32
                ^ u64::from(self.oversubscribed) << 50
                ^ u64::from(self.own) << 51,
        );
        let mut last: Option<Scenario> = None;
        // So many alike.
        let alike = match self.style {
            Style::Rooted => dice.one_of(&[4, 70]),
            _ => 1 + dice.below(2),
        };
        let all = (0..self.length).map(|number| {
            let again = last.filter(|_| !dice.one_in(alike));
            let scenario = Scenario {
                number,
                ..again.unwrap_or_else(|| self.scenario(&mut dice))
            };
            last = Some(scenario);
            scenario
        });
        all.collect()
    }

    fn scenario(&self, dice: &mut Dice) -> Scenario {
        let kind = match self.style {
            Style::Rooted if !dice.one_in(6) => dice.one_of(&[
                Kind::Bcast,
                Kind::Gather,
                Kind::Scatter,
                Kind::Reduce,
                Kind::ReduceScatter,
                Kind::Scan,
            ]),
            Style::Behind => dice.one_of(&[Kind::Reduce, Kind::Allgather]),
            Style::Large if self.ranks > 2 && !dice.one_in(4) => dice.one_of(&[
                Kind::Bcast,
                Kind::Allgather,
                Kind::Alltoall,
                Kind::Reduce,
                Kind::Allreduce,
                Kind::ReduceScatter,
            ]),
            _ => dice.one_of(&Kind::ALL),
        };
        let sums = kind.reduces() && (self.style == Style::Behind || dice.one_in(3));
        let first = usize::from(kind.reduces());
        let datatype = match sums {
            true => types().sum.datatype,
            false => types().all[first + dice.below(5 - first)],
        };
        let bytes = self.bytes(dice, kind);
        Scenario {
            number: 0,
            kind,
            count: bytes.div_ceil(datatype.size as usize),
            datatype,
            sums,
            root: dice.one_of(&[0, self.ranks - 1, self.ranks / 3]),
            in_place: dice.one_in(3),
            shares: dice.below(4),
        }
    }

    /// So many, on both sides of all borders, that all ranks together do not have too much.
    fn bytes(&self, dice: &mut Dice, kind: Kind) -> usize {
        let Geometry { slot, large, .. } = self.geometry();
        let short = [0, 1, 8, 47, 48, 49, 200, 1000, 1023, 1024, 1025];
        let medium = [
            2047,
            2048,
            2049,
            4095,
            4096,
            4097,
            slot - 1,
            slot,
            slot + 1,
            2 * slot + 5,
            4 * slot + 7,
            5 * slot,
        ];
        let piece = (2 << 20) / self.ranks;
        let most_piece = large / 8;
        let large = [
            16 << 10,
            (32 << 10) - 1,
            32 << 10,
            piece.min(256 << 10),
            piece.min(256 << 10) + 1,
            2 * most_piece + 100,
            5 * most_piece / 2,
            (64 << 10) + 1,
            200_000,
        ];
        let share = if kind == Kind::Alltoall {
            self.ranks
        } else {
            1
        };
        // Reductions to a root go in parts from a megabyte in all on.
        let most = (3 << 20) / self.ranks / share;
        loop {
            let bytes = match self.style {
                // Two ranks: also so much that a ring is full before all lines are used, or after.
                Style::Rooted if self.ranks == 2 && dice.one_in(2) => {
                    dice.one_of(&[1025, 3000, 9000, 40_000, 120_000])
                }
                Style::Rooted => dice.one_of(&short[..8]),
                Style::Behind if kind == Kind::Allgather => dice.one_of(&[1500, 12_000]),
                Style::Behind => dice.one_of(&[150_000, 350_000]),
                Style::Large if !dice.one_in(8) => dice.one_of(&large),
                _ if dice.one_in(2) => dice.one_of(&short),
                _ => dice.one_of(&medium),
            };
            if bytes <= most.max(20 << 10) {
                return bytes;
            }
        }
    }

    fn run(&self, fixture: &mut Fixture) {
        let mut dice = Dice(self.seed);
        let hidden = dice.one_in(4).then(|| dice.below(self.ranks));
        let has_large = !dice.one_in(5);
        let area = fixture.set(self.geometry(), has_large, hidden);
        let cases: Vec<scenarios::Case> = self
            .script()
            .into_iter()
            .map(|scenario| scenario.case(self.ranks))
            .collect();
        let (fixture, oversubscribed) = (&*fixture, self.oversubscribed);
        let done = scheduler::run(self.seed, self.ranks, |me| {
            let mut staging = Staging::new(area, me);
            let mut dice = Dice(self.seed ^ (me as u64) << 40);
            for case in &cases {
                let form = self.form.unwrap_or_else(|| dice.one_of(&Form::ALL));
                case.perform(&mut staging, (fixture, oversubscribed, form));
            }
        });
        if let Err(text) = done {
            panic!("{self:?}:\n{text}");
        }
    }
}

/// How ranks wait, by turns.
const FORMS: [Option<Form>; 4] = [Some(Form::Call), Some(Form::Task), None, Some(Form::Future)];

/// Sequences of so many ranks, with cores of their own and without.
fn sequences(
    style: Style,
    length: usize,
    ranks: impl Iterator<Item = usize> + Clone,
    seeds: Range<u64>,
) {
    let mut fixture = Fixture::build();
    for seed in seeds {
        for ranks in ranks.clone() {
            for oversubscribed in [false, true] {
                let form = FORMS[(seed as usize + ranks) % FORMS.len()];
                let seed = seed * 1000 + ranks as u64;
                let sequence = Sequence {
                    seed,
                    ranks,
                    oversubscribed,
                    own: seed % 3 == 1,
                    style,
                    length,
                    form,
                };
                sequence.run(&mut fixture);
            }
        }
    }
}

#[test]
fn operations_of_all_kinds_follow_each_other() {
    sequences(Style::Mixed, 10, 2..=33, 0..1);
    sequences(Style::Mixed, 30, 2..=6, 1..5);
}

#[test]
fn ranks_run_ahead() {
    sequences(Style::Rooted, 90, 2..=10, 0..2);
    sequences(Style::Rooted, 250, 2..=2, 10..20);
    sequences(Style::Rooted, 70, (11..=33).step_by(11), 0..1);
}

#[test]
fn large_operations_and_those_of_ranks_that_read_each_others_memory() {
    sequences(Style::Large, 8, 3..=9, 0..2);
    sequences(Style::Large, 8, [16, 33].into_iter(), 0..1);
}

#[test]
fn ranks_run_ahead_of_the_root_of_a_large_reduction() {
    sequences(Style::Behind, 40, 5..=8, 0..3);
}

#[test]
fn large_operations_of_two_ranks() {
    sequences(Style::Large, 40, 2..=2, 0..10);
}

#[test]
#[ignore = "minutes"]
fn many_seeds() {
    sequences(Style::Mixed, 40, 2..=33, 10..20);
    sequences(Style::Rooted, 200, 2..=33, 10..13);
    sequences(Style::Behind, 40, 5..=8, 3..13);
    sequences(Style::Large, 15, 2..=33, 10..13);
    sequences(Style::Large, 60, 2..=2, 20..80);
}
