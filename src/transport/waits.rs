//! What a process waits for, on its status page: typed, so that mpiexec can follow who waits for whom.
//!
//! A [`Record`] has one wait; `slots.rs` has those of all threads. It is written under a sequence lock when a wait is no longer short, so
//! that a short one pays nothing. Invariant: a reader in another process gets one wait whole, never parts of two.

use super::name::Name;
use crate::group::names;
use crate::queue::sequence;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use smallvec::SmallVec;
use std::borrow::Cow;

/// The meaning of [`Wait::to_words`]: to be changed with it.
const VERSION: usize = 1;
const WORDS: usize = 9 + MOST;
/// [`Wait::peer`]: any rank. As MPI_ANY_SOURCE in MPICH's ABI.
const ANY_SOURCE: i32 = -2;
/// Processes that are published one by one; of more any process of the object may be meant.
pub const MOST: usize = 8;

/// Looks at a page that is being written before a reader gives up: its process may have been stopped or killed there.
pub(super) const LOOKS: u32 = 1000;

/// The enumeration, and [`KINDS`].
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident,)*) => {
        /// What kind of wait it is.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Kind {
            $($(#[$meta])* $kind,)*
        }

        /// By number.
        const KINDS: &[Kind] = &[$(Kind::$kind),*];
    };
}

kinds! {
    /// Unknown.
    #[default]
    Other,
    /// For a message.
    Receive,
    /// Until a message has left.
    Send,
    Probe,
    /// A partitioned send or receive.
    Partitioned,
    /// Several requests of different kinds.
    Requests,
    /// A generalised request, which the program completes.
    Generalized,
    /// A collective operation of a communicator.
    Collective,
    /// The lock of a target.
    Lock,
    /// MPI_Win_post, or MPI_Win_complete.
    Epoch,
    /// What a target on another host has to do.
    Target,
    /// All ranks of a window.
    Fence,
    /// All ranks of a file.
    FileMeeting,
    /// Accesses to files that go on behind the calls.
    FileAccess,
    /// A range of a file, in the atomic mode.
    RangeLock,
    /// Spawn, ports, names.
    Connection,
    /// The attached buffer of buffered sends.
    Buffer,
    /// The end of MPI, a session or a connection.
    Finalize,
}

/// Which processes can end the wait: at least one of them has to. More may be named than can, never fewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Whom {
    /// This process itself.
    Nobody,
    /// Any process of the object; without an object, of the job and of those that are connected with it.
    #[default]
    Any,
    /// Somebody who is in no job, or of a job that is not connected.
    Outside,
    /// One of these, as [`names::on_page`] has them.
    Some(SmallVec<[u32; MOST]>),
}

impl Whom {
    /// Some processes.
    pub fn of(processes: impl IntoIterator<Item = u32>) -> Whom {
        let none = Whom::Some(SmallVec::new());
        let mut on_page = processes.into_iter().map(names::on_page);
        on_page
            .try_fold(none, |whom, process| Some(whom.and(process?)))
            .unwrap_or(Whom::Any)
    }

    fn and(self, process: u32) -> Whom {
        match self {
            Whom::Some(mut some) if !some.contains(&process) => {
                some.push(process);
                match some.len() <= MOST {
                    true => Whom::Some(some),
                    false => Whom::Any,
                }
            }
            more => more,
        }
    }

    /// Those of two waits of which one is enough.
    pub fn or(self, other: Whom) -> Whom {
        match (self, other) {
            (Whom::Outside, _) | (_, Whom::Outside) => Whom::Outside,
            (Whom::Any, _) | (_, Whom::Any) => Whom::Any,
            (Whom::Nobody, whom) | (whom, Whom::Nobody) => whom,
            (some, Whom::Some(more)) => more.into_iter().fold(some, Whom::and),
        }
    }
}

/// What the wait is about, by its birth: a number that all processes of the object know it by, and no other object of its kind that any of
/// them has at the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Object {
    #[default]
    None,
    Communicator(u64),
    Window(u64),
    File(u64),
}

/// What a call waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub kind: Kind,
    pub whom: Whom,
    pub object: Object,
    /// Rank in the object; negative: any.
    pub peer: i32,
    /// Negative: any.
    pub tag: i32,
    /// Of the messages; `u32::MAX`: there are none.
    pub context: u32,
    /// What the object is called, for display. Empty until the wait is long.
    pub name: String,
}

impl Default for Wait {
    fn default() -> Wait {
        Wait::of(Kind::Other, Whom::Any)
    }
}

impl Wait {
    /// A wait at no object.
    pub fn of(kind: Kind, whom: Whom) -> Wait {
        Wait {
            kind,
            whom,
            object: Object::None,
            peer: ANY_SOURCE,
            tag: -1,
            context: u32::MAX,
            name: String::new(),
        }
    }

    /// A wait for one of two; for people it is the first.
    pub fn or(self, other: Wait) -> Wait {
        Wait {
            kind: match self.kind == other.kind {
                true => self.kind,
                false => Kind::Requests,
            },
            object: match self.object == other.object {
                true => self.object,
                false => Object::None,
            },
            whom: self.whom.or(other.whom),
            ..self
        }
    }

    /// All but the name.
    pub fn to_words(&self) -> [u32; WORDS] {
        let (whom, some): (u32, &[u32]) = match &self.whom {
            Whom::Nobody => (0, &[]),
            Whom::Any => (1, &[]),
            Whom::Outside => (2, &[]),
            Whom::Some(some) => (3, some),
        };
        let (object, birth) = match self.object {
            Object::None => (0, 0),
            Object::Communicator(birth) => (1, birth),
            Object::Window(birth) => (2, birth),
            Object::File(birth) => (3, birth),
        };
        let mut words = [0; WORDS];
        words[..9].copy_from_slice(&[
            self.kind as u32,
            whom,
            some.len() as u32,
            object,
            birth as u32,
            (birth >> 32) as u32,
            self.peer as u32,
            self.tag as u32,
            self.context,
        ]);
        words[9..9 + some.len()].copy_from_slice(some);
        words
    }

    /// As [`Wait::to_words`] has made them, with a name.
    pub fn of_words(words: &[u32; WORDS], name: String) -> Wait {
        let some = &words[9..][..(words[2] as usize).min(MOST)];
        let birth = u64::from(words[4]) | u64::from(words[5]) << 32;
        Wait {
            kind: KINDS.get(words[0] as usize).copied().unwrap_or_default(),
            whom: match words[1] {
                0 => Whom::Nobody,
                1 => Whom::Any,
                2 => Whom::Outside,
                _ => Whom::Some(some.into()),
            },
            object: match words[3] {
                1 => Object::Communicator(birth),
                2 => Object::Window(birth),
                3 => Object::File(birth),
                _ => Object::None,
            },
            peer: words[6] as i32,
            tag: words[7] as i32,
            context: words[8],
            name,
        }
    }
}

/// The waits of a process, as its page has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How many threads wait. If none does, what follows but for `since` and `queues` means nothing.
    pub threads: u32,
    /// CLOCK_MONOTONIC nanoseconds when the wait began; while nobody waits, when the last wait was over or the rank joined.
    pub since: u64,
    /// Posted receives, messages that nobody asked for yet and sends that are not done, when the last wait began.
    pub queues: [u32; 3],
    /// The MPI function.
    pub function: Cow<'static, str>,
    pub wait: Wait,
}

/// A wait where others can read it.
#[derive(Default)]
#[repr(C)]
pub struct Record {
    version: AtomicU64,
    since: AtomicU64,
    threads: AtomicU32,
    queues: [AtomicU32; 3],
    words: [AtomicU32; WORDS],
    function: Name,
    name: Name,
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape::number(shape::START, VERSION),
    shape!(Record {
        version,
        since,
        threads,
        queues,
        words,
        function,
        name
    }),
]);

impl Record {
    /// One thread of the process at a time.
    pub fn write(&self, waits: &Waits) {
        let numbers = waits.wait.to_words();
        sequence::write(&self.version, || {
            self.since.store(waits.since, Ordering::Relaxed);
            self.threads.store(waits.threads, Ordering::Relaxed);
            let words = self.queues.iter().chain(&self.words);
            for (word, number) in words.zip(waits.queues.iter().chain(&numbers)) {
                word.store(*number, Ordering::Relaxed);
            }
            self.function.store(&waits.function);
            self.name.store(&waits.wait.name);
        });
    }

    /// `None`: the process has stopped or ended while it wrote.
    pub fn read(&self) -> Option<Waits> {
        (0..LOOKS).find_map(|_| {
            let mut found = None;
            let load = |word: &AtomicU32| word.load(Ordering::Relaxed);
            let version = sequence::read(&self.version, || {
                let numbers = std::array::from_fn(|at| load(&self.words[at]));
                found = Some(Waits {
                    threads: load(&self.threads),
                    since: self.since.load(Ordering::Relaxed),
                    queues: std::array::from_fn(|at| load(&self.queues[at])),
                    function: self.function.load().into(),
                    wait: Wait::of_words(&numbers, self.name.load()),
                });
            });
            if version.is_none() {
                std::hint::spin_loop();
            }
            found.filter(|_| version.is_some())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_waits() -> Vec<Waits> {
        let whoms = [
            Whom::Nobody,
            Whom::Any,
            Whom::Outside,
            Whom::of([7]),
            Whom::of(0..8),
        ];
        let objects = [
            Object::None,
            Object::Communicator(u64::MAX - 1),
            Object::Window(3 << 40 | 5),
            Object::File(1),
        ];
        let all = KINDS.iter().zip(whoms.iter().cycle());
        let waits = all.zip(objects.iter().cycle()).zip(1u32..);
        waits
            .map(|(((kind, whom), object), number)| Waits {
                threads: number,
                since: u64::from(number) << 33,
                queues: [number, number + 1, number + 2],
                function: format!("MPI_Function_{number}").into(),
                wait: Wait {
                    kind: *kind,
                    whom: whom.clone(),
                    object: *object,
                    peer: number as i32 - 3,
                    tag: -1,
                    context: number << 20,
                    name: format!("name {number}"),
                },
            })
            .collect()
    }

    #[test]
    fn a_reader_gets_what_was_written() {
        let record = Record::default();
        assert_eq!(record.read().map(|waits| waits.threads), Some(0));
        for (number, kind) in (0u32..).zip(KINDS) {
            assert_eq!(*kind as u32, number);
        }
        for waits in some_waits() {
            record.write(&waits);
            assert_eq!(record.read(), Some(waits));
        }
    }

    #[test]
    fn a_wait_that_is_being_written_is_not_read() {
        let record = Record::default();
        sequence::write(&record.version, || assert_eq!(record.read(), None));
        assert!(record.read().is_some());
    }

    #[test]
    fn a_reader_never_gets_parts_of_two_waits() {
        let record = Record::default();
        let all = some_waits();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                for _ in 0..20_000 {
                    let Some(found) = record.read() else {
                        continue;
                    };
                    let is_one = found.threads == 0 || all.contains(&found);
                    assert!(is_one, "{found:?}");
                }
            });
            let mut next = all.iter().cycle();
            while !reader.is_finished() {
                next.next()
                    .into_iter()
                    .for_each(|waits| record.write(waits));
            }
        });
    }

    #[test]
    fn of_many_processes_any_may_be_meant() {
        assert_eq!(Whom::of(0..9), Whom::Any);
        assert_eq!(
            Whom::of([4, 2, 4]),
            Whom::Some([4, 2].into_iter().collect())
        );
        let one = |process| Whom::of([process]);
        assert_eq!(one(1).or(one(2)), Whom::of([1, 2]));
        assert_eq!(Whom::of(0..6).or(Whom::of(5..10)), Whom::Any);
        assert_eq!(Whom::Nobody.or(one(2)), one(2));
        assert_eq!(one(1).or(Whom::Any), Whom::Any);
        assert_eq!(Whom::Any.or(Whom::Outside), Whom::Outside);
    }

    #[test]
    fn a_wait_for_one_of_two_may_be_ended_by_the_peer_of_either() {
        let receive = |process, comm| Wait {
            object: Object::Communicator(comm),
            peer: 1,
            name: format!("comm {comm}"),
            ..Wait::of(Kind::Receive, Whom::of([process]))
        };
        let both = receive(3, 8).or(receive(4, 8));
        assert_eq!(
            (both.kind, both.object),
            (Kind::Receive, Object::Communicator(8))
        );
        assert_eq!(both.whom, Whom::of([3, 4]));
        let apart = receive(3, 8).or(Wait {
            kind: Kind::Send,
            ..receive(3, 12)
        });
        assert_eq!((apart.kind, apart.object), (Kind::Requests, Object::None));
        assert_eq!(
            (apart.whom, apart.name),
            (Whom::of([3]), "comm 8".to_owned())
        );
    }
}
