//! Context ids of this process: settings, what is known of live ones, creations on each parent, release.
//!
//! Invariant: a prefix is taken in the space exactly as long as it has a record, is leased to a parent that has one, or is
//! offered in an agreement under way. All is under one lock, which is never held while entering the engine.

pub use super::allocate::{Begun, allocate};
use super::report;
use super::space::{self, Key, Space};
use super::store::{Kind, Store};
use super::strategy::lease::{LARGEST_OF_GROUP, Lease};
use super::strategy::{Settings, Strategy};
use crate::comm::{Comm, SELF_CONTEXT};
use crate::engine::enter;
use crate::group::Group;
use crate::os::cancellation::uncancelled;
use crate::os::tell;
use crate::variables::{Listed, Variable};
use parking_lot::Mutex;
use std::sync::Arc;

/// How members agree.
pub static STRATEGY: Variable<Strategy> = Variable::new(
    "CONTEXT_STRATEGY",
    Strategy::Lease,
    "How the members of a new communicator agree on its context id. For comparisons.",
)
.same_on_all();
/// The eager part of the space.
pub static EAGER: Variable<u64> = Variable::new(
    "CONTEXT_EAGER_WORDS",
    32,
    "Words of 32 context ids that are for eager allocation, in one step; 0 to 256.",
)
.with_aliases(&["MPIR_CVAR_CTXID_EAGER_SIZE"])
.same_on_all();
/// From id to record.
pub static STORE: Variable<Kind> = Variable::new(
    "CONTEXT_STORE",
    Kind::Array,
    "How communicators are found by their context id. For comparisons.",
);
/// For tests of what happens when ids run out.
pub static PAGES: Variable<u64> = Variable::new(
    "CONTEXT_PAGES",
    space::PAGES as u64,
    "Communicators there may be, in units of 16384. To find a program that frees none, make it small.",
)
.same_on_all();
/// The report of live communicators.
pub static REPORT: Variable<bool> = Variable::new(
    "CONTEXT_REPORT",
    false,
    "At MPI_Finalize, and when context ids run out, say where the communicators that live were made, most first.",
);
/// Prints the mask.
pub static PRINT: Variable<bool> = Variable::new(
    "CONTEXT_PRINT",
    false,
    "Print the mask of free context ids after each change, lowest word first, 1 a free one.",
);

/// All of them.
pub static VARIABLES: &[&dyn Listed] = &[&STRATEGY, &EAGER, &STORE, &PAGES, &REPORT, &PRINT];

/// What is known of a context id in use.
struct Record {
    /// Where its communicator was made, see [`report`].
    site: u32,
    /// Creations on its communicator, from the first on.
    children: Option<Box<Children>>,
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
    settings: Settings {
        strategy: Strategy::Lease,
        eager_words: 0,
        printed: false,
        alone: false,
    },
    statistics: Statistics {
        live: 0,
        most: 0,
        made: 0,
        reductions: 0,
        retries: 0,
    },
});

/// Numbers since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Communicators that live, the predefined ones not counted.
    pub live: u64,
    /// The most at one time since [`take_most`].
    most: u64,
    pub made: u64,
    /// Reductions that took part in agreements.
    pub reductions: u64,
    /// Those after the first one of their agreement.
    pub retries: u64,
}

/// Which creation an allocation is for.
pub struct Creation {
    pub(super) parent: u32,
    group: Option<(i32, Arc<Group>)>,
    /// Where it does not follow from parent and tag.
    key: Option<Key>,
    /// This process makes nothing, see [`Creation::refused_if`].
    pub(super) refused: bool,
}

/// The tag of a creation over both sides of an intercommunicator, which no program has.
const BOTH_SIDES: i32 = -2;

impl Creation {
    /// One that all members of the parent take part in; of an intercommunicator, all of the local side.
    pub fn whole(parent: &Comm) -> Creation {
        Creation {
            parent: parent.receive_context(),
            group: None,
            key: None,
            refused: false,
        }
    }

    /// This process has a wrong argument: it takes part, so that the creations on the parent keep their order and nobody
    /// waits for it, and makes nothing. Members who talk are told, and make nothing either.
    pub fn refused_if(self, refused: bool) -> Creation {
        Creation { refused, ..self }
    }

    /// One without a parent: as on MPI_COMM_SELF.
    pub fn without_parent(group: Arc<Group>, tag: i32) -> Creation {
        Creation {
            parent: SELF_CONTEXT,
            group: Some((tag, group)),
            key: None,
            refused: false,
        }
    }

    /// One in which this group takes part; at one time, each has a tag of its own.
    pub fn group(parent: &Comm, group: Arc<Group>, tag: i32) -> Creation {
        Creation {
            parent: parent.receive_context(),
            group: Some((tag, group)),
            key: None,
            refused: false,
        }
    }

    /// One over both sides of an intercommunicator, which know it by the same two ids the other way round.
    pub fn merge(parent: &Comm, both: Arc<Group>) -> Creation {
        let (send, receive) = (parent.context(), parent.receive_context());
        let key = Key {
            context: send.min(receive),
            tag: BOTH_SIDES,
            sequence: both.fingerprint() ^ send.max(receive),
        };
        Creation {
            key: Some(key),
            ..Creation::group(parent, both, BOTH_SIDES)
        }
    }

    /// The key of this creation, which has this place in the order of those on the parent.
    pub(super) fn key(&self, number: u32) -> Key {
        self.key.unwrap_or(Key {
            context: self.parent,
            tag: self.group.as_ref().map_or(-1, |(tag, _)| *tag),
            sequence: if self.group.is_none() { number } else { 0 },
        })
    }

    /// A number that all members have in common, if they make the same.
    pub(super) fn fingerprint(&self) -> u32 {
        let group = self.group.as_ref();
        group.map_or(0, |(tag, group)| group.fingerprint() ^ *tag as u32)
    }
}

fn eager_words() -> usize {
    EAGER.get().min(space::WORDS as u64 / 2) as usize
}

fn pages() -> u32 {
    PAGES.get().clamp(1, u64::from(space::PAGES)) as u32
}

fn place(context: u32) -> u32 {
    space::in_order(context >> 2)
}

impl Ids {
    /// The store, made at the first use, when the settings are read.
    fn records(&mut self) -> &mut Store<Record> {
        if self.records.is_none() {
            self.settings.strategy = STRATEGY.get();
            self.settings.eager_words = eager_words();
            self.space.set_limit(pages());
        }
        self.records.get_or_insert_with(|| Store::new(STORE.get()))
    }

    /// How members agree.
    pub fn settings(&mut self) -> Settings {
        self.records();
        self.settings
    }

    /// The creations that share the order of this one, and the space.
    pub fn lease(&mut self, creation: &Creation) -> (&mut Lease, &mut Space) {
        let key = place(creation.parent);
        if self.records().get(key).is_none() {
            // A predefined communicator.
            let record = Record {
                site: report::PREDEFINED,
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
        let lease = match &creation.group {
            None => &mut children.whole,
            Some((tag, group)) => children.of_group(*tag, group),
        };
        (lease, space)
    }

    /// Makes an agreed prefix a context id in use.
    pub fn register(&mut self, prefix: u32, site: u32) -> u32 {
        let record = Record {
            site,
            children: None,
        };
        self.records().insert(space::in_order(prefix), record);
        self.statistics.live += 1;
        self.statistics.made += 1;
        self.statistics.most = self.statistics.most.max(self.statistics.live);
        self.print();
        prefix << 2
    }

    fn print(&self) {
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
    let Some(record) = ids.records().remove(place(context)) else {
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

/// The mask as [`PRINT`] prints it.
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
    if REPORT.get() {
        eprint!("{}", live_report("at MPI_Finalize"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(parent: u32, group: Option<(i32, Arc<Group>)>) -> u32 {
        let creation = Creation {
            group,
            ..creation(parent)
        };
        let mut begun = Begun::new("a test", creation);
        while let Some(words) = begun.offer() {
            begun.settle(words).unwrap();
        }
        begun.id().unwrap()
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
        // The same with creations that are given up, whether there was an id for them or not.
        for _ in 0..3 {
            Begun::new("a test", creation(first)).give_up();
        }
        let of_two = Creation {
            group: Some((9, group)),
            ..creation(first).refused_if(true)
        };
        let mut refused = Begun::new("a test", of_two);
        let words = refused.offer().unwrap();
        assert!(refused.settle(words).is_err(), "all are told");
        release(first);
        assert_eq!(IDS.lock().space.taken(), before, "{}", mask());
        assert_eq!(statistics().live, 0);
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
