//! One staged operation of all ranks: what each has, what it calls, and what it must find afterwards.
//!
//! Invariant: what is expected follows from the definition of the operation alone, the reductions being made from left to right.

use super::{Dice, types};
use crate::coll::tests::compose_into;
use crate::coll::{CollArgs, Operands, staged};
use crate::datatype::pack::Laid;
use crate::datatype::{Buffer, Datatype, Parts};
use crate::sync::{AtomicUsize, Ordering};
use crate::transport::collective::{Fixture, Form, Staging};
use std::sync::OnceLock;

/// Of what one rank has for another.
const MOST_BYTES: usize = 2 << 20;
/// Where it may begin in what is random.
const PLACES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Barrier,
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
}

impl Kind {
    pub const ALL: [Kind; 11] = [
        Kind::Barrier,
        Kind::Bcast,
        Kind::Gather,
        Kind::Scatter,
        Kind::Allgather,
        Kind::Alltoall,
        Kind::Reduce,
        Kind::Allreduce,
        Kind::ReduceScatter,
        Kind::Scan,
        Kind::Exscan,
    ];

    pub fn reduces(self) -> bool {
        self as usize >= Kind::Reduce as usize
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Barrier => "barrier",
            Kind::Bcast => "bcast",
            Kind::Gather => "gather",
            Kind::Scatter => "scatter",
            Kind::Allgather => "allgather",
            Kind::Alltoall => "alltoall",
            Kind::Reduce => "reduce",
            Kind::Allreduce => "allreduce",
            Kind::ReduceScatter => "reduce_scatter",
            Kind::Scan => "scan",
            Kind::Exscan => "exscan",
        }
    }
}

/// What all ranks call.
#[derive(Clone, Copy)]
pub struct Scenario {
    pub number: usize,
    pub kind: Kind,
    /// Elements of one rank, or of a vector.
    pub count: usize,
    pub datatype: &'static Datatype,
    /// MPI_SUM, or else what does not commute.
    pub sums: bool,
    pub root: usize,
    pub in_place: bool,
    /// How elements are dealt out where ranks may have different numbers: equally, some get none, one gets all, by rank.
    pub shares: usize,
}

impl std::fmt::Debug for Scenario {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (size, extent) = (self.datatype.size, self.datatype.extent);
        let place = if self.in_place { ", in place" } else { "" };
        let sums = if self.sums { ", sum" } else { "" };
        write!(
            formatter,
            "scenario {}: {} of {} elements of {size} in {extent}, root {}, shares {}{place}{sums}",
            self.number,
            self.kind.name(),
            self.count,
            self.root,
            self.shares
        )
    }
}

/// A scenario and what its ranks find out together.
pub struct Case {
    scenario: Scenario,
    ranks: usize,
    /// What the vectors of the ranks up to each come to.
    reduced: OnceLock<Vec<Box<[u8]>>>,
    entered: AtomicUsize,
    /// Whether it was staged.
    went: OnceLock<bool>,
}

impl Scenario {
    pub fn case(self, ranks: usize) -> Case {
        Case {
            scenario: self,
            ranks,
            reduced: OnceLock::new(),
            entered: AtomicUsize::new(0),
            went: OnceLock::new(),
        }
    }
}

impl Case {
    /// What a rank has for another one, or for all: a place in what is random.
    fn data(&self, rank: usize, other: usize, bytes: usize) -> &'static [u8] {
        static ALL: OnceLock<Vec<u8>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let mut dice = Dice(1);
            let words = (0..(MOST_BYTES + PLACES) / 8).flat_map(|_| dice.word().to_le_bytes());
            words.collect()
        });
        let of_both = (self.scenario.number * 64 + rank) * 64 + other;
        let place = Dice(of_both as u64).word() as usize % PLACES;
        &all[place..place + bytes]
    }

    /// Of a rank's vector.
    fn vector(&self, rank: usize) -> &'static [u8] {
        self.data(rank, 0, self.bytes(self.scenario.count))
    }

    /// Of all ranks, one behind the other.
    fn each(&self, data: impl Fn(usize) -> &'static [u8]) -> Vec<u8> {
        (0..self.ranks).map(data).collect::<Vec<_>>().concat()
    }

    fn bytes(&self, count: usize) -> usize {
        count * self.scenario.datatype.size as usize
    }

    fn laid(&self, count: usize, data: &[u8]) -> Laid {
        let mut laid = Laid::new(count as u64, self.scenario.datatype);
        laid.buffer().write(0, data);
        laid
    }

    /// The reduction of the vectors up to a rank.
    fn reduced(&self, last: usize) -> &[u8] {
        let all = self.reduced.get_or_init(|| {
            let mut all: Vec<Box<[u8]>> = Vec::new();
            for rank in 0..self.ranks {
                let mut right = Box::<[u8]>::from(self.vector(rank));
                match all.last() {
                    Some(left) if self.scenario.sums => add_words(left, &mut right),
                    Some(left) => compose_into(left, &mut right),
                    None => {}
                }
                all.push(right);
            }
            all
        });
        &all[last]
    }

    /// The elements of each rank where they may differ.
    fn counts(&self) -> Vec<usize> {
        let count = self.scenario.count;
        let of = |rank: usize| match self.scenario.shares {
            0 => count,
            1 => (rank * 5 + 2) % 4 * count / 3,
            2 => count * usize::from(rank == self.scenario.root),
            _ => count * (rank + 1) / self.ranks,
        };
        let all = (0..self.ranks).map(of);
        match self.scenario.kind {
            // The vector is as long as any, its parts are shares of it.
            Kind::ReduceScatter if self.scenario.shares != 2 => {
                all.map(|count| count / self.ranks).collect()
            }
            _ => all.collect(),
        }
    }

    fn operands(&self) -> Operands {
        match self.scenario.sums {
            true => types().sum.clone(),
            false => Operands {
                op: types().compose.clone(),
                datatype: self.scenario.datatype,
            },
        }
    }

    /// A rank's part in it.
    pub fn perform(&self, staging: &mut Staging, way: (&Fixture, bool, Form)) {
        let me = staging.me;
        let mut call = |call: CollArgs| {
            let result = staged::rehearse(staging, way, self.scenario.kind.name(), &call);
            let went = *self.went.get_or_init(|| result.is_some());
            assert_eq!(
                went,
                result.is_some(),
                "{:?}: not all are staged",
                self.scenario
            );
            result
                .inspect(|result| assert!(result.is_ok(), "{:?}: {result:?}", self.scenario))
                .is_some()
        };
        match self.scenario.kind {
            Kind::Barrier => {
                self.entered.fetch_add(1, Ordering::Relaxed);
                assert!(call(CollArgs::Barrier));
                assert_eq!(
                    self.entered.load(Ordering::Relaxed),
                    self.ranks,
                    "{:?}",
                    self.scenario
                );
            }
            Kind::Bcast => self.bcast(me, call),
            Kind::Gather => self.gather(me, call),
            Kind::Scatter => self.scatter(me, call),
            Kind::Allgather => self.allgather(me, call),
            Kind::Alltoall => self.alltoall(me, call),
            Kind::ReduceScatter => self.reduce_scatter(me, call),
            _ => self.reduce(me, call),
        }
    }

    fn check(&self, me: usize, what: &str, laid: &mut Laid, expected: &[u8]) {
        let mut found = vec![0; expected.len()];
        laid.buffer().read(0, &mut found);
        if found != expected {
            let mut both = found.iter().zip(expected);
            let wrong = both.position(|(one, other)| one != other);
            let (scenario, ranks) = (&self.scenario, self.ranks);
            panic!("{scenario:?} of {ranks}: {what} of rank {me} is wrong from {wrong:?} on");
        }
    }

    fn bcast(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let data = self.vector(self.scenario.root);
        let mut laid = Laid::new(self.scenario.count as u64, self.scenario.datatype);
        if me == self.scenario.root {
            laid.buffer().write(0, data);
        }
        let (buffer, root) = (laid.buffer(), self.scenario.root as i32);
        if call(CollArgs::Bcast { buffer, root }) {
            self.check(me, "data", &mut laid, data);
        }
    }

    fn gather(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let Scenario { count, root, .. } = self.scenario;
        let is_root = me == root;
        let all = self.each(|rank| self.vector(rank));
        let mut own = self.laid(count, self.vector(me));
        let mut laid = Laid::new((count * self.ranks) as u64, self.scenario.datatype);
        let parts = is_root.then(|| Parts::of_laid(&mut laid, self.ranks));
        let in_place = is_root && self.scenario.in_place;
        if let (Some(parts), true) = (&parts, in_place) {
            parts.of(me).write(0, self.vector(me));
        }
        let went = call(CollArgs::Gather {
            own: (!in_place).then(|| own.buffer()),
            parts,
            root: root as i32,
            equal: true,
        });
        if went && is_root {
            self.check(me, "data", &mut laid, &all);
        }
        self.check(me, "own data", &mut own, self.vector(me));
    }

    fn scatter(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let Scenario { count, root, .. } = self.scenario;
        let is_root = me == root;
        let mut all: Vec<u8> = Vec::new();
        if is_root {
            all = self.each(|rank| self.vector(rank));
        }
        let elements = if is_root { count * self.ranks } else { 0 };
        let mut laid = self.laid(elements, &all);
        let mut into = Laid::new(count as u64, self.scenario.datatype);
        let in_place = is_root && self.scenario.in_place;
        let went = call(CollArgs::Scatter {
            parts: is_root.then(|| Parts::of_laid(&mut laid, self.ranks)),
            into: (!in_place).then(|| into.buffer()),
            root: root as i32,
            equal: true,
        });
        if went && !in_place {
            self.check(me, "part", &mut into, self.vector(me));
        }
        self.check(me, "data", &mut laid, &all);
    }

    fn allgather(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let counts = self.counts();
        let part = |rank: usize| self.data(rank, 0, self.bytes(counts[rank]));
        let all = self.each(part);
        let mut laid = Laid::new(counts.iter().sum::<usize>() as u64, self.scenario.datatype);
        let parts = match self.scenario.shares {
            0 => Parts::of_laid(&mut laid, self.ranks),
            _ => self.parts(laid.buffer(), &counts),
        };
        let mut own = self.laid(counts[me], part(me));
        if self.scenario.in_place {
            parts.of(me).write(0, part(me));
        }
        let own_buffer = (!self.scenario.in_place).then(|| own.buffer());
        if call(CollArgs::Allgather {
            own: own_buffer,
            parts,
        }) {
            self.check(me, "data", &mut laid, &all);
        }
        self.check(me, "own data", &mut own, part(me));
    }

    /// One part behind the other.
    fn parts(&self, whole: Buffer, counts: &[usize]) -> Parts {
        let mut end = 0;
        let parts = counts.iter().map(|count| {
            let bytes = self.bytes(*count);
            end += bytes;
            whole.cut(end - bytes, bytes).unwrap_or(Buffer::empty())
        });
        Parts::Each(parts.collect())
    }

    fn alltoall(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let (count, ranks) = (self.scenario.count, self.ranks);
        let bytes = self.bytes(count);
        let leaving = self.each(|to| self.data(me, to, bytes));
        let coming = self.each(|from| self.data(from, me, bytes));
        let mut out = self.laid(count * ranks, &leaving);
        let mut into = match self.scenario.in_place {
            true => self.laid(count * ranks, &leaving),
            false => Laid::new((count * ranks) as u64, self.scenario.datatype),
        };
        let went = call(CollArgs::Alltoall {
            out: (!self.scenario.in_place).then(|| Parts::of_laid(&mut out, ranks)),
            into: Parts::of_laid(&mut into, ranks),
        });
        if went {
            self.check(me, "data", &mut into, &coming);
        }
        self.check(me, "own data", &mut out, &leaving);
    }

    fn reduce_scatter(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let counts = self.counts();
        let sum = counts.iter().sum::<usize>();
        let before = self.bytes(counts[..me].iter().sum());
        let vector = self.vector(me);
        let data = &vector[..self.bytes(sum)];
        let mut own = self.laid(sum, data);
        let mut result = Laid::new(counts[me] as u64, self.scenario.datatype);
        let mine = self.bytes(counts[me]);
        let into = match self.scenario.in_place {
            true => own.buffer().cut(0, mine).unwrap_or(Buffer::empty()),
            false => result.buffer(),
        };
        let went = call(CollArgs::ReduceScatter {
            own: own.buffer(),
            into,
            counts: counts.iter().map(|count| *count as u64).collect(),
            with: self.operands(),
        });
        if !self.scenario.in_place {
            self.check(me, "own data", &mut own, data);
        }
        if went {
            let laid = if self.scenario.in_place {
                &mut own
            } else {
                &mut result
            };
            let expected = &self.reduced(self.ranks - 1)[before..before + mine];
            self.check(me, "block", laid, expected);
        }
    }

    /// All others.
    fn reduce(&self, me: usize, call: impl FnOnce(CollArgs) -> bool) {
        let Scenario {
            count, root, kind, ..
        } = self.scenario;
        let data = self.vector(me);
        let mut own = self.laid(count, data);
        let mut result = Laid::new(count as u64, self.scenario.datatype);
        let gets = kind != Kind::Reduce || me == root;
        let in_place = self.scenario.in_place && gets;
        let (own_buffer, with) = (own.buffer(), self.operands());
        let into = match (gets, in_place) {
            (false, _) => Buffer::empty(),
            (_, true) => own_buffer,
            _ => result.buffer(),
        };
        let own_ = own_buffer;
        let went = call(match kind {
            Kind::Reduce => CollArgs::Reduce {
                own: own_,
                into,
                with,
                root: root as i32,
            },
            Kind::Allreduce => CollArgs::Allreduce {
                own: own_,
                into,
                with,
            },
            _ => CollArgs::Scan {
                own: own_,
                into,
                with,
                exclusive: kind == Kind::Exscan,
            },
        });
        if !in_place {
            self.check(me, "own data", &mut own, data);
        }
        let last = match kind {
            Kind::Scan => Some(me),
            Kind::Exscan => me.checked_sub(1),
            _ => Some(self.ranks - 1),
        };
        if let (true, true, Some(last)) = (went, gets, last) {
            let laid = if in_place { &mut own } else { &mut result };
            self.check(me, "result", laid, self.reduced(last));
        }
    }
}

fn add_words(left: &[u8], right: &mut [u8]) {
    let (lefts, _) = left.as_chunks::<8>();
    let (rights, _) = right.as_chunks_mut::<8>();
    for (left, right) in lefts.iter().zip(rights) {
        let sum = u64::from_le_bytes(*left).wrapping_add(u64::from_le_bytes(*right));
        *right = sum.to_le_bytes();
    }
}
