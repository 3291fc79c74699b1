//! Sharing private memory in place: its whole pages become pages of the node's heap at their own addresses, so that all ranks of the node
//! address them (`docs/windows.md`, "Sharing in place").
//!
//! Origins count what their accesses by the kernel cost. When that is as much as the copy, they ask the owner, which moves the memory in its
//! next MPI call that waits or synchronises. Invariant: no rank accesses memory by the kernel while it moves ([`relocation`]).
//!
//! [`relocation`]: crate::queue::relocation

use super::room::{PAGE, is_private};
use super::window::{Flavor, Window};
use crate::engine::{self, tasks};
use crate::os::{backoff::give_way, in_place, tell};
use crate::queue::relocation::Place;
use crate::sync::Ordering;
use crate::transport::{Heap, heap};
use crate::variables::show::SHOW;
use crate::variables::{Listed, Variable};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Once;
use std::time::{Duration, Instant};

crate::choice! {
    /// When private memory of windows is shared in place.
    pub enum Share {
        Auto = "auto",
        Now = "now",
        No = "no" | "false" | "off" | "0",
    }
}

static SHARE_WINDOWS: Variable<Share> = Variable::new(
    "SHARE_WINDOWS",
    Share::Auto,
    "Whether memory that a program gives to MPI_Win_create or MPI_Win_attach is shared with the other ranks of the node. \"auto\": when \
     accesses by the kernel have cost as much as the copy that this takes; \"now\": at once; \"no\": never. The info key oxmpi_share says it \
     for one window.",
);
/// What users can set about windows.
pub static VARIABLES: &[&dyn Listed] = &[&SHARE_WINDOWS];

/// The info key.
pub const HINT: &str = "oxmpi_share";

impl Share {
    /// What a hint says; the setting if it says nothing.
    pub fn of(hint: Option<&str>) -> Share {
        use crate::variables::Value;
        let said = hint.and_then(Share::parse);
        said.unwrap_or_else(|| SHARE_WINDOWS.get())
    }
}

/// The price of sharing and giving back: of each byte, and of all else; nanoseconds.
const PER_BYTE: u64 = 2;
const FIXED: u64 = 100_000;
/// How long the owner waits for accesses that are under way: a rank may lose its core in one.
const PATIENCE: Duration = Duration::from_millis(10);
/// How often the price doubles at most, once for each attempt in vain.
const DOUBLINGS: u32 = 16;

/// Pages that are shared in place.
struct Shared {
    pages: Range<usize>,
    offset: u64,
    /// Handles of the windows that they are for. None: they wait until they can be given back.
    windows: Vec<i32>,
}

/// A window to which this process has given private memory, or may attach some.
struct Given {
    window: &'static Window,
    share: Share,
    attempts: u32,
    /// Why the last attempt was in vain.
    why_not: Option<&'static str>,
}

struct State {
    given: Vec<Given>,
    shared: Vec<Shared>,
}

static STATE: Mutex<State> = Mutex::new(State {
    given: Vec::new(),
    shared: Vec::new(),
});

/// Memory of this process at a window that only it can address: all of it.
fn private_memory(window: &Window) -> Vec<Range<usize>> {
    if let Some(dynamic) = &window.dynamic {
        return dynamic.private_regions();
    }
    let own = &window.targets[window.rank];
    let memory = own.base..own.base + own.bytes as usize;
    match !memory.is_empty() && is_private(own.key) {
        true => vec![memory],
        false => Vec::new(),
    }
}

fn is_in(pages: &Range<usize>, others: &Range<usize>) -> bool {
    others.start <= pages.start && pages.end <= others.end
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// To be called when a window is made: what this process has given may be shared from now on.
pub fn enroll(window: &'static Window, share: Share) {
    let is_given = window.flavor == Flavor::Dynamic || !private_memory(window).is_empty();
    if window.size() == 1 || window.hosts.is_some() || !is_given {
        return;
    }
    static ANSWERS: Once = Once::new();
    ANSWERS.call_once(|| tasks::answer_by(answer));
    STATE.lock().given.push(Given {
        window,
        share,
        attempts: 0,
        why_not: None,
    });
    window.access.has_given.store(true, Ordering::Relaxed);
    window.expose();
}

/// Shares the memory that other ranks want to be shared.
fn answer() {
    let mut state = STATE.lock();
    for at in 0..state.given.len() {
        if state.given[at].window.own_place().is_wanted() {
            state.share(at);
        }
    }
}

impl Window {
    fn own_place(&self) -> &Place {
        &self.block.target(self.rank).place
    }

    /// Says at which cost the memory of this process is to be shared: memory was given or attached. Shares it if that is to be at once.
    pub(super) fn expose(&'static self) {
        let mut state = STATE.lock();
        let Some(at) = state.position(self) else {
            return;
        };
        match state.given[at].share {
            Share::No => {}
            Share::Now => state.share(at),
            Share::Auto => state.set_price(at),
        }
    }

    /// Shares the memory of this process, if another rank wants that: in calls that synchronise, of programs that never wait for long.
    #[inline(always)]
    pub(super) fn share_if_wanted(&self) {
        if self.access.has_given.load(Ordering::Relaxed) {
            tasks::answer();
        }
    }
}

/// To be called when no rank accesses a window any more, before it ends.
pub fn withdraw(window: &Window) {
    let mut state = STATE.lock();
    let Some(at) = state.position(window) else {
        return;
    };
    if SHOW.get().windows {
        state.show(at);
    }
    state.given.swap_remove(at);
    for shared in &mut state.shared {
        shared.windows.retain(|handle| *handle != window.handle);
    }
    state.give_back();
}

/// To be called when memory was detached.
pub fn withdraw_region(window: &Window, memory: &Range<usize>) {
    let mut state = STATE.lock();
    for shared in &mut state.shared {
        if meet(&shared.pages, memory)
            && !private_memory(window)
                .iter()
                .any(|it| meet(it, &shared.pages))
        {
            shared.windows.retain(|handle| *handle != window.handle);
        }
    }
    state.give_back();
}

/// Gives everything back: no other rank accesses memory of this process any more.
pub fn finish() {
    let mut state = STATE.lock();
    for shared in &mut state.shared {
        shared.windows.clear();
    }
    state.give_back();
}

impl State {
    fn position(&self, window: &Window) -> Option<usize> {
        let mut given = self.given.iter();
        given.position(|given| std::ptr::eq(given.window, window))
    }

    /// Whole pages of a window's memory that are not shared.
    fn unshared(&self, window: &Window) -> Vec<Range<usize>> {
        let all = private_memory(window).into_iter();
        let unshared = all.filter(|memory| self.offset_of(window, memory).is_none());
        let pages = unshared.map(|memory| in_place::whole_pages(&memory));
        pages.filter(|pages| !pages.is_empty()).collect()
    }

    /// Writes how others reached the memory that this process gave to a window.
    fn show(&self, at: usize) {
        let Given {
            window, why_not, ..
        } = &self.given[at];
        let rank = window.targets[window.rank].process;
        for memory in private_memory(window) {
            let how = match (self.offset_of(window, &memory), why_not) {
                (Some(_), _) => "shared in place".to_owned(),
                (None, Some(why)) => format!("private: {why}"),
                (None, None) if in_place::whole_pages(&memory).is_empty() => {
                    "private: it has no whole page".to_owned()
                }
                (None, None) => "private: nobody asked to share it".to_owned(),
            };
            tell(&format!(
                "oxmpi: rank {rank}: {}: memory at {:#x} of {} bytes is {how}\n",
                window.title(),
                memory.start,
                memory.len()
            ));
        }
    }

    fn set_price(&self, at: usize) {
        let Given {
            window, attempts, ..
        } = &self.given[at];
        let bytes: usize = self.unshared(window).iter().map(Range::len).sum();
        let price = match bytes {
            0 => 0,
            _ => (FIXED + PER_BYTE * bytes as u64) << attempts.min(&DOUBLINGS),
        };
        let line = window.block.target(window.rank);
        line.cost.store(0, Ordering::Relaxed);
        line.price.store(price, Ordering::Relaxed);
    }

    /// Shares the memory of a window as far as that can be.
    fn share(&mut self, at: usize) {
        let window = self.given[at].window;
        let mut wanted = self.unshared(window).into_iter();
        let shared = wanted.try_for_each(|pages| self.share_pages(window, pages));
        let given = &mut self.given[at];
        given.why_not = shared.err();
        given.attempts = match given.why_not {
            None => 0,
            Some(_) => given.attempts + 1,
        };
        self.tell(window);
        self.set_price(at);
    }

    /// Tells the other ranks where the memory of a window is that is shared.
    fn tell(&self, window: &Window) {
        let place = window.own_place();
        if let Some(dynamic) = &window.dynamic {
            // What cannot be told stays private for the others.
            let line = window.block.target(window.rank);
            let _ = dynamic.tell_shared(line, |memory| self.offset_of(window, memory));
            place.end_move(0);
            return;
        }
        let memory = private_memory(window);
        let offset = memory.first().and_then(|it| self.offset_of(window, it));
        place.end_move(offset.unwrap_or(0));
    }

    /// Where the whole pages of a window's memory are in the heap, if they are shared.
    fn offset_of(&self, window: &Window, memory: &Range<usize>) -> Option<u64> {
        let pages = in_place::whole_pages(memory);
        let shared = (self.shared.iter())
            .find(|it| it.windows.contains(&window.handle) && is_in(&pages, &it.pages))?;
        let inside = (pages.start - shared.pages.start) as u64;
        (!pages.is_empty()).then_some(shared.offset + inside)
    }

    /// Shares pages for a window.
    ///
    /// Errors: why that cannot be done now.
    fn share_pages(
        &mut self,
        window: &'static Window,
        pages: Range<usize>,
    ) -> std::result::Result<(), &'static str> {
        let heap = heap().ok_or("there is no shared memory")?;
        let before = self
            .shared
            .iter_mut()
            .find(|it| is_in(&pages, &it.pages) && heap.is_shared_in_place(&it.pages, it.offset));
        if let Some(before) = before {
            before.windows.push(window.handle);
            return Ok(());
        }
        if self.shared.iter().any(|it| meet(&it.pages, &pages)) {
            return Err("a part of it is shared for another window");
        }
        in_place::check(&pages)?;
        let given = self.given.iter().map(|given| given.window);
        let meets = |window: &Window| private_memory(window).iter().any(|it| meet(it, &pages));
        let met = given.filter(|window| meets(window)).collect();
        let stopped = Stopped::begin(met).ok_or("other ranks were accessing it")?;
        prepare_forks();
        // SAFETY: nobody else writes there: the check has found no other thread, all signals are blocked, and other ranks are stopped.
        let offset = unsafe { heap.share_in_place(&pages) };
        drop(stopped);
        self.shared.push(Shared {
            pages,
            offset: offset.map_err(|_| "there is no memory to share")?,
            windows: vec![window.handle],
        });
        Ok(())
    }

    /// Gives back what no window needs any more. Where another thread could write to it meanwhile, it stays shared for now.
    fn give_back(&mut self) {
        let Some(heap) = heap() else {
            return;
        };
        self.shared.retain(
            |Shared {
                 pages,
                 offset,
                 windows,
             }| {
                let stays = !windows.is_empty() || !in_place::is_alone();
                // SAFETY: no window has it, and no other thread writes there.
                stays || unsafe { heap.unshare_in_place(pages, *offset) }.is_err()
            },
        );
    }
}

/// Windows at whose memory no access of another rank is under way, as long as this lives.
struct Stopped(Vec<(&'static Window, u64)>);

impl Stopped {
    /// `None`: one does not end soon.
    fn begin(windows: Vec<&'static Window>) -> Option<Stopped> {
        let begin = |window: &'static Window| (window, window.own_place().begin_move());
        let stopped = Stopped(windows.into_iter().map(begin).collect());
        Place::order_moves();
        let began = Instant::now();
        while !stopped.0.iter().all(|(window, _)| window.has_no_access()) {
            let waited = began.elapsed();
            if waited > PATIENCE {
                return None;
            }
            give_way(waited);
        }
        Some(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for (window, place) in &self.0 {
            window.own_place().end_move(*place);
        }
    }
}

impl Window {
    /// Whether no other rank accesses private memory. One that has ended does nothing any more.
    fn has_no_access(&self) -> bool {
        let mut others = (0..self.size()).filter(|rank| *rank != self.rank);
        others.all(|rank| {
            self.block.target(rank).accesses.are_over()
                || engine::stores_no_more(self.targets[rank].process)
        })
    }

    /// The address here of memory of another rank at an address there, if all of it is shared in place.
    #[inline]
    pub(super) fn shared_address(&self, rank: usize, at: usize, bytes: u64) -> Option<usize> {
        let offset = self.block.target(rank).place.pages()?;
        let target = &self.targets[rank];
        address_here(heap()?, (target.base, target.bytes), offset, (at, bytes))
    }
}

/// The address here of `bytes` at an address `at` of another process, in memory at `base` there whose whole pages are at an offset in the heap.
#[inline]
pub(super) fn address_here(
    heap: &Heap,
    (base, size): (usize, u64),
    offset: u64,
    (at, bytes): (usize, u64),
) -> Option<usize> {
    let end = (base + size as usize) / PAGE * PAGE;
    let inside = at.checked_sub(base.next_multiple_of(PAGE))?;
    if at + bytes as usize > end {
        return None;
    }
    let here = heap.at(offset + inside as u64, bytes)?;
    Some(here as usize)
}

/// A child of a fork is to have memory of its own, as it would have without this.
fn prepare_forks() {
    static ONCE: Once = Once::new();
    // SAFETY: the handlers live as long as the process; they take a lock before a fork and give it back after it.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
    });
}

extern "C" fn before_fork() {
    std::mem::forget(STATE.lock());
}

extern "C" fn after_fork() {
    // SAFETY: taken before the fork, by this thread.
    unsafe { STATE.force_unlock() };
}

extern "C" fn in_child() {
    // SAFETY: taken before the fork, by the thread that this one was; it is the only one.
    let state = unsafe { &mut *STATE.data_ptr() };
    // Not freed: the allocator may be in any state.
    let all = std::mem::ManuallyDrop::new(std::mem::take(&mut state.shared));
    for shared in all.iter() {
        let range = &shared.pages;
        if heap().is_some_and(|heap| heap.is_shared_in_place(range, shared.offset)) {
            // SAFETY: there is no other thread; other ranks may write meanwhile, as during any fork. If it fails, the memory stays shared.
            let _ = unsafe { in_place::give_back(range) };
        }
    }
    after_fork();
}
