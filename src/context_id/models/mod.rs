//! Model checking of the agreement on context ids: every schedule of small jobs, with the functions that the library runs.
//!
//! A job is threads of processes that run programs of creations and frees. One step of a thread is what the library does
//! under its lock: offer, or settle. A reduction gives its result to each member when all have offered.
//! Checked in every reachable state: ids are unique and agreed (by stateright), and completion can still be reached
//! ([`explore`]). A state from which it cannot is a deadlock or a livelock; the schedule that leads there is printed.

mod explore;
mod jobs;
mod scenarios;

use crate::context_id::agreement::lease::{Lease, Taken};
use crate::context_id::agreement::{Allocation, Settings, Step};
use crate::context_id::offer::combine;
use crate::context_id::space::{Key, Space};
use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    /// A creation on this parent, by all its members or with this tag by a group of them.
    Create {
        parent: u32,
        group: Option<(i32, &'static [usize])>,
    },
    /// A creation on the thread's communicator made by its n-th statement, by all its members.
    CreateOn(usize),
    /// The thread's communicator made by its n-th statement is freed.
    Free(usize),
}

/// A job: which processes a parent has, what the threads of each process run.
#[derive(Clone, Debug)]
pub struct Job {
    pub settings: Settings,
    /// The space of each process at the start.
    pub spaces: Vec<Space>,
    pub parents: Vec<(u32, &'static [usize])>,
    pub programs: Vec<Vec<Vec<Statement>>>,
    /// A process's threads begin one after the other: they stand for operations of one thread that do not block, such as
    /// MPI_Comm_idup.
    pub in_order: bool,
}

/// What a creation is called on all members: parent, tag, number.
type Name = (u32, i32, u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Doing {
    /// The statement is to begin.
    Begin,
    /// An allocation that is to offer.
    Offer(Name, Allocation),
    /// An allocation that waits for the other members.
    Combine(Name, Allocation),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    pub at: usize,
    pub doing: Doing,
    /// What each statement made.
    pub made: Vec<Option<(Name, u32)>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pub space: Space,
    pub leases: BTreeMap<(u32, i32), Lease>,
    pub threads: Vec<Thread>,
}

/// A reduction: what each member has offered, then what each has still to take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reduction {
    offers: BTreeMap<usize, Vec<u32>>,
    results: BTreeMap<usize, Vec<u32>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub processes: Vec<Process>,
    pub reductions: BTreeMap<Name, Reduction>,
    /// Ids that creations got, for agreement.
    pub agreed: BTreeMap<Name, u32>,
    /// A member got another id than one before it, or an id that is in use.
    pub wrong: bool,
}

/// A thread of a process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Go {
    pub process: usize,
    pub thread: usize,
}

impl Job {
    fn members(&self, statement: &Statement, program: &[Statement]) -> &'static [usize] {
        match statement {
            Statement::CreateOn(made) => self.members(&program[*made], program),
            Statement::Create {
                group: Some((_, members)),
                ..
            } => members,
            Statement::Create { parent, .. } => {
                let found = self.parents.iter().find(|known| known.0 == *parent);
                found.map_or(&[], |known| known.1)
            }
            Statement::Free(_) => &[],
        }
    }

    fn statement(&self, state: &State, go: Go) -> Option<&Statement> {
        let at = state.processes[go.process].threads[go.thread].at;
        self.programs[go.process][go.thread].get(at)
    }

    /// Whether the thread can do something, and then what it leads to.
    fn go(&self, before: &State, go: Go) -> Option<State> {
        let statement = self.statement(before, go)?;
        let threads = &before.processes[go.process].threads;
        let has_begun = |thread: &Thread| thread.at > 0 || thread.doing != Doing::Begin;
        if self.in_order && !threads[..go.thread].iter().all(has_begun) {
            return None;
        }
        let mut state = before.clone();
        let State {
            processes,
            reductions,
            agreed,
            wrong,
        } = &mut state;
        let process = &mut processes[go.process];
        let thread = &mut process.threads[go.thread];
        let (parent, tag) = match statement {
            Statement::Free(made) => {
                let (name, prefix) = thread.made[*made].take()?;
                process.space.free(prefix);
                let lease = process.leases.remove(&(own_context(name), -1));
                for prefix in lease.iter().flat_map(drained) {
                    process.space.free(prefix);
                }
                thread.made.push(None);
                thread.at += 1;
                return Some(state);
            }
            Statement::Create { parent, group } => (*parent, group.map_or(-1, |group| group.0)),
            Statement::CreateOn(made) => (own_context(thread.made[*made]?.0), -1),
        };
        let lease = process.leases.entry((parent, tag)).or_default();
        let doing = std::mem::replace(&mut thread.doing, Doing::Begin);
        let (name, mut allocation) = match doing {
            Doing::Begin => {
                let number = lease.begin();
                let key = Key {
                    context: parent,
                    tag,
                    sequence: number,
                };
                let name = (parent, tag, number);
                (name, Allocation::new(&self.settings, key, number))
            }
            Doing::Offer(name, allocation) => (name, allocation),
            Doing::Combine(name, mut allocation) => {
                let reduction = reductions.get_mut(&name)?;
                let combined = reduction.results.remove(&go.process)?;
                if reduction.results.is_empty() && reduction.offers.is_empty() {
                    reductions.remove(&name);
                }
                allocation.settle(&mut process.space, lease, &combined);
                thread.doing = Doing::Offer(name, allocation);
                return Some(state);
            }
        };
        match allocation.step(&mut process.space, lease) {
            Step::Done(Taken { prefix, seed }) => {
                if let Some(seed) = seed {
                    let child = Lease::seeded(seed, 1);
                    process.leases.insert((own_context(name), -1), child);
                }
                *wrong |= *agreed.entry(name).or_insert(prefix) != prefix;
                thread.made.push(Some((name, prefix)));
                thread.at += 1;
                *wrong |= !is_unique(process, prefix);
            }
            Step::Exhausted => {
                thread.made.push(None);
                thread.at += 1;
            }
            Step::Wait => {
                thread.doing = Doing::Offer(name, allocation);
                return (state != *before).then_some(state);
            }
            Step::Offer(words) => {
                let program = &self.programs[go.process][go.thread];
                let members = self.members(statement, program);
                let reduction = reductions.entry(name).or_default();
                reduction.offers.insert(go.process, words);
                if reduction.offers.len() == members.len() {
                    let offers = std::mem::take(&mut reduction.offers);
                    let mut offers = offers.into_values();
                    let mut combined = offers.next()?;
                    for offer in offers {
                        assert_eq!(
                            combined.len(),
                            offer.len(),
                            "members are at different steps"
                        );
                        combine(&mut combined, &offer);
                    }
                    for member in members {
                        reduction.results.insert(*member, combined.clone());
                    }
                }
                thread.doing = Doing::Combine(name, allocation);
            }
        }
        Some(state)
    }

    pub fn is_over(&self, state: &State) -> bool {
        let mut threads = state.processes.iter().zip(&self.programs);
        threads.all(|(process, programs)| {
            let mut both = process.threads.iter().zip(programs);
            both.all(|(thread, program)| thread.at == program.len())
        })
    }
}

fn drained(lease: &Lease) -> Vec<u32> {
    lease.clone().drain().collect()
}

/// What the communicator is called that a creation makes, as a parent.
fn own_context((parent, _, number): Name) -> u32 {
    64 + 16 * parent + number
}

/// Whether a prefix that was just made belongs to one communicator only, is not free, and not leased.
fn is_unique(process: &Process, prefix: u32) -> bool {
    let made = process.threads.iter().flat_map(|thread| &thread.made);
    let same: BTreeSet<Name> = made
        .flatten()
        .filter(|made| made.1 == prefix)
        .map(|made| made.0)
        .collect();
    let mut leases = process.leases.values();
    let leased = leases.any(|lease| drained(lease).contains(&prefix));
    same.len() == 1 && !process.space.is_free(prefix) && !leased
}

impl Model for Job {
    type State = State;
    type Action = Go;

    fn init_states(&self) -> Vec<State> {
        let process = |(programs, space): (&Vec<Vec<Statement>>, &Space)| Process {
            space: space.clone(),
            leases: BTreeMap::new(),
            threads: programs
                .iter()
                .map(|_| Thread {
                    at: 0,
                    doing: Doing::Begin,
                    made: Vec::new(),
                })
                .collect(),
        };
        vec![State {
            processes: self
                .programs
                .iter()
                .zip(&self.spaces)
                .map(process)
                .collect(),
            reductions: BTreeMap::new(),
            agreed: BTreeMap::new(),
            wrong: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Go>) {
        for (process, programs) in self.programs.iter().enumerate() {
            let threads = (0..programs.len()).map(|thread| Go { process, thread });
            actions.extend(threads.filter(|go| self.go(state, *go).is_some()));
        }
    }

    fn next_state(&self, state: &State, go: Go) -> Option<State> {
        self.go(state, go)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("ids are unique and agreed", |_, state: &State| !state.wrong),
            Property::always("somebody can go on", |job: &Job, state: &State| {
                let mut actions = Vec::new();
                job.actions(state, &mut actions);
                !actions.is_empty() || job.is_over(state)
            }),
            Property::sometimes("all programs end", |job: &Job, state: &State| {
                job.is_over(state)
            }),
        ]
    }
}
