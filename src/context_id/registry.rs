//! Context ids of this process: what is known of live ones, creations on each parent, release.
//!
//! Invariant: a prefix is taken in the space exactly as long as it has a record, is leased to a parent that has one, or is
//! offered in an agreement under way. All is under one lock, which is never held while entering the engine.

use super::agreement::Settings;
use super::agreement::lease::{LARGEST_OF_GROUP, Lease, Taken};
use super::creation::Creation;
use super::report;
#[cfg(feature = "papers")]
use super::settings::PRINT;
use super::settings::{self, eager_words, pages};
use super::space::{self, Space};
use super::store::Store;
use crate::engine::enter;
use crate::group::Group;
#[cfg(feature = "papers")]
use crate::os::{cancellation::uncancelled, tell};
use crate::variables::show::SHOW;
use parking_lot::Mutex;
use std::num::NonZeroU16;
use std::sync::Arc;

/// What is known of a context id in use.
struct Record {
    /// Where its communicator was made, see [`report`].
    site: u32,
    /// Until [`Children`] have it.
    seed: Option<Seed>,
    /// Creations on its communicator, from the first on.
    children: Option<Box<Children>>,
}

/// The id of the first creation on a communicator.
#[derive(Clone, Copy)]
struct Seed {
    prefix: u32,
    /// What its parent's lease says.
    engines: NonZeroU16,
}

/// Creations on one parent: of all its members, and of groups by tag.
#[derive(Default)]
struct Children {
    whole: Lease,
    groups: Vec<(i32, Arc<Group>, Lease)>,
}

/// More groups than this with leases of their own get single ids.
const GROUPS: usize = 64;

pub(super) struct Ids {
    pub space: Space,
    records: Option<Store<Record>>,
    settings: Settings,
    pub statistics: Statistics,
}

pub(super) static IDS: Mutex<Ids> = Mutex::new(Ids {
    space: Space::of_process(),
    records: None,
    settings: Settings::PLAIN,
    statistics: Statistics {
        live: 0,
        most: 0,
        made: 0,
        reductions: 0,
        retries: 0,
    },
});

/// Counts since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Communicators that live, the predefined ones not counted.
    pub live: u64,
    /// The largest value of `live` since the last call of [`take_most`].
    most: u64,
    pub made: u64,
    /// Reductions that took part in agreements.
    pub reductions: u64,
    /// Reductions after the first one of an agreement.
    pub retries: u64,
}

fn prefix_index(context: u32) -> u32 {
    space::in_order(context >> 2)
}

impl Ids {
    /// The store, made at the first use, when the settings are read.
    fn records(&mut self) -> &mut Store<Record> {
        if self.records.is_none() {
            self.settings.strategy = settings::strategy();
            self.settings.eager_words = eager_words();
            self.space.set_limit(pages());
            // With one page every id counts, see [`PAGES`].
            self.settings.seeds = pages() > 1;
        }
        self.records.get_or_insert_with(settings::store)
    }

    /// How members agree.
    pub fn settings(&mut self) -> Settings {
        self.records();
        self.settings
    }

    /// The creations that share the order of this one, and the space.
    pub fn lease(&mut self, creation: &Creation) -> (&mut Lease, &mut Space) {
        let key = prefix_index(creation.parent);
        if self.records().get(key).is_none() {
            // A predefined communicator.
            let record = Record {
                site: report::PREDEFINED,
                seed: None,
                children: None,
            };
            self.records().insert(key, record);
        }
        let space = &mut self.space;
        let record = self.records.as_mut().and_then(|store| store.get_mut(key));
        let Some(record) = record else {
            unreachable!("a record that was just made is gone")
        };
        let children = record.children.get_or_insert_default();
        if let Some(seed) = record.seed.take() {
            children.whole = Lease::seeded(seed.prefix, seed.engines.get().into());
        }
        let lease = match &creation.group {
            None => &mut children.whole,
            Some((tag, group)) => children.of_group(*tag, group),
        };
        (lease, space)
    }

    /// Makes an agreed prefix a context id in use. `engines`: how many every member offers.
    pub fn register(&mut self, taken: Taken, engines: u32, site: u32) -> u32 {
        let prefix = taken.prefix;
        let seed = taken.seed.map(|prefix| Seed {
            prefix,
            engines: NonZeroU16::new(engines as u16).unwrap_or(NonZeroU16::MIN),
        });
        let record = Record {
            site,
            seed,
            children: None,
        };
        self.records().insert(space::in_order(prefix), record);
        self.statistics.live += 1;
        self.statistics.made += 1;
        self.statistics.most = self.statistics.most.max(self.statistics.live);
        self.print();
        prefix << 2
    }

    /// Prints the mask, if [`PRINT`] asks for it.
    fn print(&self) {
        #[cfg(feature = "papers")]
        if PRINT.get() {
            let free = self.space.hexadecimal();
            uncancelled(|| tell(&format!("oxmpi: free context ids {free}\n")));
        }
    }
}

impl Children {
    fn of_group(&mut self, tag: i32, group: &Arc<Group>) -> &mut Lease {
        let same = |(its, members, _): &(i32, Arc<Group>, Lease)| *its == tag && members == group;
        let at = self.groups.iter().position(same).unwrap_or_else(|| {
            if self.groups.len() >= GROUPS {
                self.groups.retain(|(_, _, lease)| !lease.is_idle());
            }
            let most = if self.groups.len() >= GROUPS {
                1
            } else {
                LARGEST_OF_GROUP
            };
            let lease = Lease::of_at_most(most);
            self.groups.push((tag, group.clone(), lease));
            self.groups.len() - 1
        });
        &mut self.groups[at].2
    }
}

/// Gives a context id back, with what is leased to its communicator. Other members do so when they like.
pub fn release(context: u32) {
    let mut ids = IDS.lock();
    let Some(record) = ids.records().remove(prefix_index(context)) else {
        return;
    };
    if let Some(mut children) = record.children {
        let Children { whole, groups } = &mut *children;
        for prefix in whole
            .drain()
            .chain(groups.iter_mut().flat_map(|group| group.2.drain()))
        {
            ids.space.free(prefix);
        }
    }
    if let Some(seed) = record.seed {
        ids.space.free(seed.prefix);
    }
    ids.space.free(context >> 2);
    ids.statistics.live -= 1;
    ids.print();
}

/// See [`Statistics`].
pub fn statistics() -> Statistics {
    IDS.lock().statistics
}

/// The most communicators that lived at one time since the last call of this.
pub fn take_most() -> u64 {
    let statistics = &mut IDS.lock().statistics;
    std::mem::replace(&mut statistics.most, statistics.live)
}

/// How many ids of the 16-bit space are free here, and how many of all are taken or leased.
pub fn occupation() -> (u64, u64) {
    let free =
        |mask: [u32; space::WORDS]| mask.iter().map(|word| u64::from(word.count_ones())).sum();
    (free(mask_words()), IDS.lock().space.taken() as u64)
}

/// The mask of the 16-bit space, lowest word first, 1 a free id.
pub fn mask_words() -> [u32; space::WORDS] {
    let mut mask = [0; space::WORDS];
    IDS.lock().space.read(0, 0, &mut mask);
    mask
}

/// The mask in hexadecimal digits, as MPICH prints it.
pub fn mask() -> String {
    IDS.lock().space.hexadecimal()
}

/// Where the communicators that live were made, most first; empty if none lives.
pub fn live_report(why: &str) -> String {
    let rank = enter().me();
    let ids = IDS.lock();
    let sites = ids.records.iter().flat_map(|store| store.values());
    report::of_sites(sites.map(|record| record.site), rank, why)
}

/// Says at MPI_Finalize what was not freed, if asked to.
pub fn at_finalize() {
    if SHOW.get().communicators {
        eprint!("{}", live_report("at MPI_Finalize"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context_id::allocate::{Agreed, Proposal};

    fn alone(parent: u32, group: Option<(i32, Arc<Group>)>) -> u32 {
        let creation = Creation {
            group,
            ..creation(parent)
        };
        let mut proposal = Proposal::new("a test", creation);
        while let Some(words) = proposal.offer() {
            proposal.settle(words).unwrap();
        }
        proposal.id().unwrap().context
    }

    #[test]
    fn what_a_parent_has_leased_returns_with_it() {
        let before = IDS.lock().space.taken();
        let first = alone(0, None);
        let second = alone(first, None);
        let group = Arc::new(Group::range(0, 2));
        let more: Vec<u32> = (0..20).map(|_| alone(first, None)).collect();
        let grouped: Vec<u32> = (0..5)
            .map(|_| alone(first, Some((7, group.clone()))))
            .collect();
        assert_eq!((first, second), (124, 120));
        assert!(IDS.lock().space.taken() > before + 27, "some are leased");
        for context in more.into_iter().chain(grouped).chain([second]) {
            release(context);
        }
        // Creations that are given up, whether there was an id for them or not.
        for _ in 0..3 {
            Proposal::new("a test", creation(first)).give_up();
        }
        let of_two = Creation {
            group: Some((9, group)),
            ..creation(first).refused_if(true)
        };
        let mut refused = Proposal::new("a test", of_two);
        let words = refused.offer().unwrap();
        assert!(refused.settle(words).is_err(), "all are told");
        release(first);
        assert_eq!(IDS.lock().space.taken(), before, "{}", mask());
        assert_eq!(statistics().live, 0);
        leases_keep_the_number_of_engines();
    }

    /// Members that have agreed on a number of engines keep it for ids that are leased. No test of its own: the ids are the process's.
    fn leases_keep_the_number_of_engines() {
        let first = alone(0, None);
        let mut talked = 0;
        let made: Vec<Agreed> = (0..20)
            .map(|_| {
                let mut proposal = Proposal::new("a test", creation(first));
                while let Some(mut words) = proposal.offer() {
                    // As if one member had offered three, and this one seven.
                    let at = words.len() - 3;
                    words[at] = 0b111_1111 & 0b111;
                    talked += 1;
                    proposal.settle(words).unwrap();
                }
                proposal.id().unwrap()
            })
            .collect();
        assert!(talked < 20, "some ids are leased");
        // The first one has the seed, and with it what was agreed on for its parent.
        let engines: Vec<u32> = made.iter().map(|agreed| agreed.engines).collect();
        assert_eq!((engines[0], &engines[1..]), (1, &[3; 19][..]));
        for agreed in made {
            release(agreed.context);
        }
        release(first);
    }

    fn creation(parent: u32) -> Creation {
        Creation {
            parent,
            group: None,
            key: None,
            refused: false,
        }
    }
}
