//! Events as tools see them: their names, elements and texts, and the one source they come from.
//!
//! Invariant: an event's elements lie in the order, and with the alignment, of a C structure of them.

use super::{at, check};
use crate::error::{Class, Result, fail};
use crate::events::{Element, Event};
use Element::{Int, Long};
use Event::*;

/// How a message is described.
const MESSAGE: &[Element] = &[
    Int("context_id"),
    Int("context_type"),
    Int("rank"),
    Int("tag"),
    Long("bytes"),
];

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            UnexpectedMessage => "unexpected_message",
            RendezvousBegun => "rendezvous_begun",
            RendezvousCompleted => "rendezvous_completed",
            SleepBegun => "sleep_begun",
            SleepEnded => "sleep_ended",
            ContextIdRetry => "context_id_retry",
            CommunicatorCreated => "communicator_created",
            CommunicatorFreed => "communicator_freed",
            CollectorCycle => "collector_cycle",
            PeerLost => "peer_lost",
        }
    }

    /// What has happened; [`Event::described`] adds the elements.
    fn text(self) -> &'static str {
        match self {
            UnexpectedMessage => "A message came before somebody asked for it, and is kept.",
            RendezvousBegun => {
                "A send was announced whose receiver answers: a large one, or a synchronous one."
            }
            RendezvousCompleted => {
                "The receiver has answered such a send, and all that it wants of it has left."
            }
            SleepBegun => {
                "A call that waits goes to sleep; of what it waits for, -1 is anything and a rank of -2 any."
            }
            SleepEnded => "It was woken.",
            ContextIdRetry => {
                "The members of a communicator to be have to agree once more on an id."
            }
            CommunicatorCreated => "A communicator was made.",
            CommunicatorFreed => "A communicator was freed by the program.",
            CollectorCycle => "The collector has looked what freed objects pending operations use.",
            PeerLost => {
                "A rank that this one waits for will not answer: it is in MPI_Finalize or has ended."
            }
        }
    }

    pub fn elements(self) -> &'static [Element] {
        match self {
            UnexpectedMessage | RendezvousBegun | RendezvousCompleted => MESSAGE,
            SleepBegun => &[
                Int("context_id"),
                Int("context_type"),
                Int("rank"),
                Int("tag"),
            ],
            SleepEnded => &[Long("nanoseconds")],
            ContextIdRetry => &[Int("context_id of the parent")],
            CommunicatorCreated | CommunicatorFreed => &[
                Int("context_id"),
                Int("rank"),
                Int("size"),
                Int("remote_size"),
            ],
            CollectorCycle => &[Long("eligible"), Long("reclaimed"), Long("left")],
            PeerLost => &[Int("rank in MPI_COMM_WORLD")],
        }
    }

    /// The text, and what each element is.
    pub fn described(self) -> String {
        let names = self.elements().iter().map(|element| match element {
            Int(name) | Long(name) => *name,
        });
        let names: Vec<&str> = names.collect();
        format!("{} Elements: {}.", self.text(), names.join(", "))
    }

    /// The chapter of settings that it belongs to.
    pub fn category(self) -> &'static str {
        match self {
            UnexpectedMessage | RendezvousBegun | RendezvousCompleted => "protocols",
            SleepBegun | SleepEnded => "waiting",
            ContextIdRetry | CommunicatorCreated | CommunicatorFreed => "context_ids",
            CollectorCycle => "lifetimes",
            PeerLost => "errors",
        }
    }

    /// Where each element lies.
    pub fn displacements(self) -> Vec<usize> {
        let mut end = 0usize;
        let displacement = |element: &Element| {
            let start = end.next_multiple_of(element.bytes());
            end = start + element.bytes();
            start
        };
        self.elements().iter().map(displacement).collect()
    }
}

/// The event with an index.
pub fn event(index: i32) -> Result<Event> {
    check()?;
    at(Event::ALL, "event_index", index)
}

pub fn index_of(name: &str) -> Result<usize> {
    check()?;
    match Event::ALL.iter().position(|event| event.name() == name) {
        Some(index) => Ok(index),
        None => fail!(Class::TInvalidName, "no event is called {name}"),
    }
}

/// The only source.
pub const SOURCE: (&str, &str) = (
    "library",
    "What happens in this process's part of the library; the ticks are nanoseconds of the system's monotonic clock.",
);

/// Fails for what is no source.
pub fn source(index: i32) -> Result<()> {
    check()?;
    at(&[()], "source_index", index)
}

/// A number that an event's element may have in its program.
pub fn element(event: Event, index: i32) -> Result<usize> {
    let all: Vec<usize> = (0..event.elements().len()).collect();
    at(&all, "element_index", index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{self, Callback, Safety};
    use crate::info::Info;
    use parking_lot::Mutex;
    use std::sync::Arc;

    #[test]
    fn elements_lie_as_in_a_structure() {
        assert_eq!(UnexpectedMessage.displacements(), [0, 4, 8, 12, 16]);
        assert_eq!(CollectorCycle.displacements(), [0, 8, 16]);
        super::super::init();
        for (index, event) in Event::ALL.iter().enumerate() {
            assert_eq!(index_of(event.name()).unwrap(), index);
            assert!(event.elements().len() <= events::Values::default().len());
        }
    }

    // Of an event that no other test raises: events are the process's.
    type Told = Arc<Mutex<Vec<(u64, Safety)>>>;

    fn callback(told: &Told) -> Callback {
        let told = told.clone();
        let call = move |number, safety| {
            let instance = events::instance(number).unwrap();
            told.lock().push((instance.values[0], safety));
            // Raised in a callback: told after it, and once.
            events::raise(CommunicatorFreed, || instance.values);
            events::deliver(Safety::None);
        };
        Callback {
            call: Arc::new(call),
            user_data: 7,
            info: Info::new(),
        }
    }

    fn raise(value: u64) {
        events::raise(CommunicatorFreed, || [value, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_raised_is_told_later_in_order_and_once() {
        let told = Told::default();
        let registration = events::add(CommunicatorFreed, Info::new());
        raise(1); // nobody listens yet
        assert!(!CommunicatorFreed.is_heard());
        let set = |level: Safety, to: Option<Callback>| {
            events::change(registration, |one| {
                one.callbacks[level as usize] = to;
                one.most = 2;
                Ok(())
            })
        };
        set(Safety::None, Some(callback(&told))).unwrap();
        let lost = Told::default();
        let counts = lost.clone();
        let count = move |count, safety, user_data| {
            assert_eq!(user_data, 7);
            counts.lock().push((count, safety));
        };
        events::set_dropped_handler(registration, Some(Arc::new(count))).unwrap();
        [2, 3, 4, 5].into_iter().for_each(raise);
        assert!(events::wait_to_be_delivered());
        // A callback that may call MPI is not for the middle of a call.
        events::deliver(Safety::MpiRestricted);
        assert!(told.lock().is_empty());
        events::deliver(Safety::None);
        let none = Safety::None;
        assert_eq!(*told.lock(), [(2, none), (3, none)]);
        // Those that it raised itself wait.
        assert!(events::wait_to_be_delivered());
        let more = Safety::ThreadSafe;
        set(more, Some(callback(&told))).unwrap();
        set(none, None).unwrap();
        events::deliver(Safety::MpiRestricted);
        let restricted = Safety::MpiRestricted;
        assert_eq!(told.lock()[2..], [(2, restricted), (3, restricted)]);
        set(more, None).unwrap();
        let freed = Arc::new(Mutex::new(0));
        let count = freed.clone();
        events::free(registration, Box::new(move |_| *count.lock() += 1)).unwrap();
        assert_eq!(*freed.lock(), 1);
        assert_eq!(told.lock().len(), 4);
        assert_eq!(lost.lock().iter().map(|(count, _)| count).sum::<u64>(), 2);
        assert!(!CommunicatorFreed.is_heard());
        let gone = events::of(registration).unwrap_err();
        assert_eq!(gone.class(), Class::TInvalidHandle);
    }
}
