//! Listeners of events: registrations with their callbacks, the events that wait for them, and their delivery.
//!
//! One thread tells at a time, in the order in which events were raised. It does so at the beginning of a call (nothing is
//! required of a callback then), or inside of one that waits (it must not call MPI, but for what reads events and variables).
//! Invariant: while a callback runs nothing is locked here, and the caller of [`deliver`] holds no lock and no engine.

use super::{
    Event, GATE, LISTENED, Safety, Values, WAIT, most_waiting, next_number, now, timeline,
};
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::sync::{AtomicBool, Ordering};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

/// Called with the number of the instance and what is required now.
type OnEvent = dyn Fn(usize, Safety) + Send + Sync;
/// Called with how many events were dropped, what is required now, and what the program has given with its callback.
type OnDropped = dyn Fn(u64, Safety, usize) + Send + Sync;
type OnFreed = Box<dyn FnOnce(Safety) + Send>;

/// The program's function for one level of safety.
#[derive(Clone)]
pub struct Callback {
    pub call: Arc<OnEvent>,
    /// What the program has given with it, an address.
    pub user_data: usize,
    pub info: Info,
}

/// Something that happened, while it is told.
#[derive(Clone, Copy)]
pub struct Instance {
    pub event: Event,
    /// When it happened, in [`now`]'s ticks.
    pub time: u64,
    pub values: Values,
}

pub struct Registration {
    event: Event,
    pub info: Info,
    /// By level of safety.
    pub callbacks: [Option<Callback>; 4],
    on_dropped: Option<Arc<OnDropped>>,
    /// Events that wait, and how many may.
    waiting: usize,
    pub most: usize,
    /// Events that found no place, and nobody was told of.
    dropped: u64,
}

/// An event that waits for one registration.
struct Waiting {
    registration: usize,
    number: u64,
    instance: Instance,
}

#[derive(Default)]
struct Heard {
    registrations: BTreeMap<usize, Registration>,
    /// The events of those that have callbacks.
    events: u32,
    /// In the order in which they were raised.
    queue: VecDeque<Waiting>,
    raised: u64,
    /// The registration whose callback runs, and the instance that it is told of.
    running: Option<usize>,
    told: Option<(usize, Instance)>,
    /// For the end of that callback: its registration was freed meanwhile.
    on_freed: Option<OnFreed>,
}

static HEARD: Mutex<Heard> = Mutex::new(Heard {
    registrations: BTreeMap::new(),
    events: 0,
    queue: VecDeque::new(),
    raised: 0,
    running: None,
    told: None,
    on_freed: None,
});

/// Whether a thread is telling.
static TELLING: AtomicBool = AtomicBool::new(false);

/// A registration for an event, with no callbacks yet; its number.
pub fn add(event: Event, info: Info) -> usize {
    let number = next_number();
    let registration = Registration {
        event,
        info,
        callbacks: [const { None }; 4],
        on_dropped: None,
        waiting: 0,
        most: most_waiting(),
        dropped: 0,
    };
    HEARD.lock().registrations.insert(number, registration);
    number
}

fn no_registration<R>(number: usize) -> Result<R> {
    fail!(
        Class::TInvalidHandle,
        "event_registration is {number:#x}, which is no registration, or one that was freed"
    )
}

/// Looks at a registration, or changes it.
pub fn change<R>(number: usize, work: impl FnOnce(&mut Registration) -> Result<R>) -> Result<R> {
    let mut heard = HEARD.lock();
    let Some(registration) = heard.registrations.get_mut(&number) else {
        return no_registration(number);
    };
    let result = work(registration);
    heard.listen();
    result
}

/// The event of a registration.
pub fn of(number: usize) -> Result<Event> {
    change(number, |registration| Ok(registration.event))
}

/// What is called when events were dropped; those that nobody was told of count.
pub fn set_dropped_handler(number: usize, handler: Option<Arc<OnDropped>>) -> Result<()> {
    change(number, |registration| {
        registration.on_dropped = handler;
        Ok(())
    })
}

/// Ends a registration. `then` is called when no callback of it runs any more, which is now, or after the one that does.
pub fn free(number: usize, then: OnFreed) -> Result<()> {
    of(number)?;
    // What has happened before is told.
    deliver(Safety::None);
    let mut heard = HEARD.lock();
    if heard.registrations.remove(&number).is_none() {
        return no_registration(number);
    }
    heard.queue.retain(|waiting| waiting.registration != number);
    heard.listen();
    if heard.running == Some(number) {
        heard.on_freed = Some(then);
        return Ok(());
    }
    drop(heard);
    then(Safety::None);
    Ok(())
}

/// Ends all registrations; nothing is called any more.
pub fn end() {
    let mut heard = HEARD.lock();
    heard.registrations.clear();
    heard.queue.clear();
    heard.listen();
}

/// The instance of this number, while its callback runs.
pub fn instance(number: usize) -> Result<Instance> {
    match HEARD.lock().told {
        Some((told, instance)) if told == number => Ok(instance),
        _ => fail!(
            Class::TInvalidHandle,
            "event_instance is {number:#x}, which is no event, or one whose callback has returned"
        ),
    }
}

/// Writes an event down for those who listen to it.
#[cold]
#[inline(never)]
pub(super) fn keep(event: Event, values: Values) {
    timeline::happened(event, &values);
    let mut heard = HEARD.lock();
    if heard.events & event.bit() == 0 {
        return;
    }
    let Heard {
        registrations,
        queue,
        raised,
        ..
    } = &mut *heard;
    // Under the lock, so that those of all threads are in order.
    let time = now();
    for (number, registration) in registrations {
        if registration.event != event || !registration.has_callback() {
            continue;
        }
        if registration.waiting >= registration.most {
            registration.dropped += 1;
            continue;
        }
        registration.waiting += 1;
        *raised += 1;
        queue.push_back(Waiting {
            registration: *number,
            number: *raised,
            instance: Instance {
                event,
                time,
                values,
            },
        });
    }
    GATE.fetch_or(WAIT, Ordering::Relaxed);
}

/// Whether events wait to be told.
#[inline]
pub fn wait_to_be_delivered() -> bool {
    GATE.load(Ordering::Relaxed) & WAIT != 0
}

/// Tells of what has happened until now, where `required` is asked of a callback, unless another thread, or a caller of this
/// one, is doing that. The caller holds no lock and no engine.
#[cold]
#[inline(never)]
pub fn deliver(required: Safety) {
    if TELLING.swap(true, Ordering::Acquire) {
        return;
    }
    GATE.fetch_and(!WAIT, Ordering::Relaxed);
    // What callbacks raise comes next time, or this might not end.
    let last = HEARD.lock().raised;
    while let Some((callback, number)) = next(required, last) {
        (callback.call)(number, required);
        callback_has_returned(required);
    }
    // Each registration once: what a handler lets drop comes next time, too.
    let mut told = 0;
    while let Some((number, handler, count, user_data)) = next_dropped(required, last, told) {
        handler(count, required, user_data);
        callback_has_returned(required);
        told = number;
    }
    TELLING.store(false, Ordering::Release);
    if !HEARD.lock().queue.is_empty() {
        GATE.fetch_or(WAIT, Ordering::Relaxed);
    }
}

/// The next event to tell, and whom. None where its callback is not fit for what is required: others wait behind it, in order.
fn next(required: Safety, last: u64) -> Option<(Callback, usize)> {
    let mut heard = HEARD.lock();
    loop {
        let first = heard.queue.front().filter(|first| first.number <= last)?;
        let (number, instance) = (first.registration, first.instance);
        let registration = heard.registrations.get_mut(&number)?;
        let callback = registration.callback(required).cloned();
        if callback.is_none() && registration.has_callback() {
            return None;
        }
        registration.waiting -= 1;
        heard.queue.pop_front();
        if let Some(callback) = callback {
            let told = next_number();
            (heard.running, heard.told) = (Some(number), Some((told, instance)));
            return Some((callback, told));
        }
    }
}

/// Of the registrations behind `told`, the next one that has dropped events, with what is to be called. They found no place, so
/// they came after all that waited until now: if that was told.
fn next_dropped(
    required: Safety,
    last: u64,
    told: usize,
) -> Option<(usize, Arc<OnDropped>, u64, usize)> {
    let mut heard = HEARD.lock();
    let first = heard.queue.front();
    if first.is_some_and(|first| first.number <= last) {
        return None;
    }
    let behind = (Bound::Excluded(told), Bound::Unbounded);
    let next = heard
        .registrations
        .range_mut(behind)
        .find_map(|(number, registration)| {
            let user_data = registration.callback(required)?.user_data;
            let handler = registration.on_dropped.clone()?;
            let count = std::mem::take(&mut registration.dropped);
            (count > 0).then_some((*number, handler, count, user_data))
        });
    heard.running = next.as_ref().map(|(number, ..)| *number);
    next
}

/// Does what had to wait for that.
fn callback_has_returned(required: Safety) {
    let on_freed = {
        let mut heard = HEARD.lock();
        (heard.running, heard.told) = (None, None);
        heard.on_freed.take()
    };
    if let Some(on_freed) = on_freed {
        on_freed(required);
    }
}

impl Registration {
    fn has_callback(&self) -> bool {
        self.callbacks.iter().any(Option::is_some)
    }

    /// The one that is fit for what is required, and for as little more as possible.
    fn callback(&self, required: Safety) -> Option<&Callback> {
        self.callbacks[required as usize..].iter().flatten().next()
    }
}

impl Heard {
    /// Writes down which events somebody listens to.
    fn listen(&mut self) {
        let listening = self.registrations.values().filter(|one| one.has_callback());
        self.events = listening.fold(0, |events, one| events | one.event.bit());
        LISTENED.store(self.events | timeline::events(), Ordering::Relaxed);
    }
}

/// The timeline has begun.
pub fn listen_for_timeline() {
    HEARD.lock().listen();
}
