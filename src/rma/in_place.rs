//! Sharing private memory in place: its whole pages become pages of the node's heap at their own addresses, so that all ranks of the node
//! address them (`docs/windows.md`, "Sharing in place").
//!
//! Origins count what their accesses by the kernel cost. When that is as much as the copy, they ask the owner, which moves the memory in its
//! next MPI call that waits or synchronises. Invariant: no rank accesses memory by the kernel while it moves ([`relocation`]).
//!
//! *Edges* are pages that have other variables of the process, too. They are shared where the user says so ([`Share::has_edges`]). Accesses to
//! them are counted as those by the kernel are, so that they become private pages again before a fork, whose child writes to such variables
//! before any handler of its runs. Invariant: a child never begins with edges that are shared.
//!
//! [`relocation`]: crate::queue::relocation

use super::claimed;
use super::room::is_private;
use super::share::Share;
use super::window::{Flavor, Window};
use crate::engine;
use crate::engine::tasks::{self, Wish};
use crate::os::in_place::Content;
use crate::os::{backoff::give_way, in_place, tell};
use crate::queue::relocation::{Pages, Place};
use crate::sync::Ordering;
use crate::transport::heap;
use crate::variables::show::SHOW;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Once;
use std::time::{Duration, Instant};

/// The price of sharing and giving back: of each byte, and of all else; nanoseconds.
const PER_BYTE: u64 = 2;
const FIXED: u64 = 100_000;
/// How long the owner waits for accesses that are under way: a rank may lose its core in one.
const PATIENCE: Duration = Duration::from_millis(10);
/// Patience before a fork: for accesses to edges, which take nanoseconds unless their rank has lost its core or is stopped.
const PATIENCE_BEFORE_FORK: Duration = Duration::from_secs(2);
/// How often the price doubles at most, once for each attempt in vain, and for each fork that ended it.
const DOUBLINGS: u32 = 16;

/// Why memory is not shared that other memory does not keep from being shared.
const MET: &str = "a part of its pages is shared for other memory";
/// Ranges of pages that are shared at most, where a few bytes may be one: each is a mapping of its own, of which the kernel allows 65,530.
const MOST: usize = 4096;

/// Pages that are shared in place.
struct Shared {
    pages: Range<usize>,
    /// Those that are not edges.
    whole: Range<usize>,
    /// Where the first page is in the heap.
    offset: u64,
    /// The range of the heap that they are in.
    memory: u64,
    /// Handles of the windows that they are for. None: they wait until they can be given back.
    windows: Vec<i32>,
}

/// What was an edge, and became private while other threads ran: not shared, but a mapping of the heap's pages still.
struct Detached {
    pages: Range<usize>,
    offset: u64,
    /// The range of the heap, to be released with them.
    memory: Option<u64>,
}

/// A window to which this process has given private memory, or may attach some.
struct Given {
    window: &'static Window,
    share: Share,
    attempts: u32,
    /// How often edges were given back for a fork.
    forks: u32,
    /// Why the last attempt was in vain.
    why_not: Option<&'static str>,
}

struct State {
    given: Vec<Given>,
    /// By address; no page is in two of them.
    shared: Vec<Shared>,
    detached: Vec<Detached>,
    /// Whether edges were shared.
    had_edges: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    given: Vec::new(),
    shared: Vec::new(),
    detached: Vec::new(),
    had_edges: false,
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

/// Whether a window's private memory lies on some pages.
fn meets(window: &Window, pages: &Range<usize>) -> bool {
    private_memory(window).iter().any(|it| meet(it, pages))
}

/// Whether memory shares pages with other variables.
fn has_edges(memory: &Range<usize>) -> bool {
    in_place::all_pages(memory) != in_place::whole_pages(memory)
}

impl Given {
    /// The pages of some memory that are to be shared; there may be none.
    fn wanted(&self, memory: &Range<usize>) -> Range<usize> {
        match self.share.has_edges() {
            true => in_place::all_pages(memory),
            false => in_place::whole_pages(memory),
        }
    }
}

/// What pages have of which some are whole pages of the program's memory.
fn content(pages: &Range<usize>, whole: &Range<usize>) -> Content {
    match pages == whole {
        true => Content::Given,
        false => Content::Mixed,
    }
}

/// To be called when a window is made: what this process has given may be shared from now on.
pub fn enroll(window: &'static Window, share: Share) {
    let is_given = window.flavor == Flavor::Dynamic || !private_memory(window).is_empty();
    if window.size() == 1 || !is_given {
        return;
    }
    static ANSWERS: Once = Once::new();
    ANSWERS.call_once(|| {
        let mut server = claimed::Server::default();
        tasks::answer_by(move |wish| match wish {
            Wish::Answer => answer(),
            Wish::Operation(at) => server.serve(at),
        });
    });
    if window.hosts.is_some() {
        return; // It stays with the kernel.
    }
    STATE.lock().given.push(Given {
        window,
        share,
        attempts: 0,
        forks: 0,
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
            Share::Now | Share::EdgesNow => state.share(at),
            Share::Auto | Share::Edges => state.set_price(at),
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

    /// A window's memory that is to be shared, and is not.
    fn unshared(&self, given: &Given) -> Vec<Range<usize>> {
        let all = private_memory(given.window).into_iter();
        let unshared = all.filter(|memory| self.place_of(given, memory).is_none());
        unshared
            .filter(|memory| !given.wanted(memory).is_empty())
            .collect()
    }

    /// Writes how others reached the memory that this process gave to a window.
    fn show(&self, at: usize) {
        let given = &self.given[at];
        let window = given.window;
        let rank = window.targets[window.rank].process;
        for memory in private_memory(window) {
            let how = match (self.place_of(given, &memory), given.why_not) {
                (Some(pages), _) if pages.edges || !has_edges(&memory) => {
                    "shared in place".to_owned()
                }
                (Some(_), _) => "shared in place, but for its edges".to_owned(),
                (None, Some(why)) => format!("private: {why}"),
                (None, None) if given.wanted(&memory).is_empty() => {
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
        let given = &self.given[at];
        let unshared = self.unshared(given);
        let bytes: usize = unshared.iter().map(|it| given.wanted(it).len()).sum();
        // With edges, memory of a few bytes has a price.
        let parts = if given.share.has_edges() {
            unshared.len() as u64
        } else {
            1
        };
        let price = match (bytes, given.share) {
            (0, _) | (_, Share::No) => 0,
            _ => FIXED * parts + PER_BYTE * bytes as u64,
        };
        let doublings = (given.attempts + given.forks).min(DOUBLINGS);
        let line = given.window.block.target(given.window.rank);
        line.cost.store(0, Ordering::Relaxed);
        line.price.store(price << doublings, Ordering::Relaxed);
    }

    /// Shares the memory of a window as far as that can be.
    fn share(&mut self, at: usize) {
        let edges = self.given[at].share.has_edges();
        let mut why_not = None;
        for memory in self.unshared(&self.given[at]) {
            if let Err(why) = self.share_memory(at, &memory) {
                why_not = Some(why);
                if !(edges && why == MET) {
                    break;
                }
            }
        }
        let given = &mut self.given[at];
        given.why_not = why_not;
        given.attempts = match given.why_not {
            None => 0,
            Some(_) => given.attempts + 1,
        };
        self.tell(at);
        self.set_price(at);
    }

    /// Tells the other ranks where the memory of a window is that is shared.
    fn tell(&self, at: usize) {
        let given = &self.given[at];
        let window = given.window;
        let place = window.own_place();
        if let Some(dynamic) = &window.dynamic {
            // What cannot be told stays private for the others.
            let line = window.block.target(window.rank);
            let _ = dynamic.tell_shared(line, |memory| self.place_of(given, memory));
            place.end_move(None);
            return;
        }
        let memory = private_memory(window);
        place.end_move(memory.first().and_then(|it| self.place_of(given, it)));
    }

    /// Where a window's memory is in the heap, if it is shared: with its edges, or whole pages alone.
    fn place_of(&self, given: &Given, memory: &Range<usize>) -> Option<Pages> {
        let whole = in_place::whole_pages(memory);
        let all = in_place::all_pages(memory);
        let wants_edges = given.share.has_edges();
        if whole.is_empty() && !wants_edges {
            return None;
        }
        let first = if whole.is_empty() { &all } else { &whole };
        let shared = self.shared_at(first.start)?;
        let within = match whole.is_empty() {
            true => &shared.pages,
            false => &shared.whole,
        };
        if !shared.windows.contains(&given.window.handle) || !is_in(first, within) {
            return None;
        }
        let edges = wants_edges && has_edges(memory) && is_in(&all, &shared.pages);
        let pages = if edges { &all } else { &whole };
        (!pages.is_empty()).then(|| Pages {
            offset: shared.offset + (pages.start - shared.pages.start) as u64,
            edges,
        })
    }

    /// The shared range that has a page.
    fn shared_at(&self, page: usize) -> Option<&Shared> {
        let behind = self.shared.partition_point(|it| it.pages.start <= page);
        let found = &self.shared[behind.checked_sub(1)?];
        (page < found.pages.end).then_some(found)
    }

    /// Shares memory for a window, with its edges if those are wanted and that can be.
    ///
    /// Errors: why that cannot be done now.
    fn share_memory(
        &mut self,
        at: usize,
        memory: &Range<usize>,
    ) -> std::result::Result<(), &'static str> {
        let whole = in_place::whole_pages(memory);
        let wanted = self.given[at].wanted(memory);
        if wanted == whole {
            return self.share_pages(at, whole.clone(), whole);
        }
        match self.share_pages(at, wanted, whole.clone()) {
            Err(_) if !whole.is_empty() => self.share_pages(at, whole.clone(), whole),
            shared => shared,
        }
    }

    /// Shares pages for a window, of which some are whole pages of its memory.
    ///
    /// Errors: why that cannot be done now.
    fn share_pages(
        &mut self,
        at: usize,
        pages: Range<usize>,
        whole: Range<usize>,
    ) -> std::result::Result<(), &'static str> {
        let heap = heap().ok_or("there is no shared memory")?;
        let Given { window, share, .. } = self.given[at];
        let before = self.shared.iter_mut().find(|it| {
            is_in(&pages, &it.pages)
                && (whole.is_empty() || is_in(&whole, &it.whole))
                && heap.is_shared_in_place(&it.pages, it.offset)
        });
        if let Some(before) = before {
            before.windows.push(window.handle);
            return Ok(());
        }
        if self.shared.iter().any(|it| meet(&it.pages, &pages)) {
            return Err(MET);
        }
        if share.has_edges() && self.shared.len() >= MOST {
            return Err("much memory is shared");
        }
        self.end_detached();
        let content = content(&pages, &whole);
        let variables = match share.has_edges() {
            true => in_place::variables(),
            false => Vec::new(),
        };
        in_place::check(&pages, content, &variables)?;
        let stopped = Stopped::at(&self.given, &pages, PATIENCE);
        let stopped = stopped.ok_or("other ranks were accessing it")?;
        prepare_forks();
        // SAFETY: nobody else writes there: the check has found no other thread, all signals are blocked, and other ranks are stopped.
        let offset = unsafe { heap.share_in_place(&pages) };
        drop(stopped);
        let offset = offset.map_err(|_| "there is no memory to share")?;
        self.had_edges |= content == Content::Mixed;
        let behind = self
            .shared
            .partition_point(|it| it.pages.start < pages.start);
        let shared = Shared {
            whole: if whole.is_empty() {
                pages.start..pages.start
            } else {
                whole
            },
            pages,
            offset,
            memory: offset,
            windows: vec![window.handle],
        };
        self.shared.insert(behind, shared);
        Ok(())
    }

    /// Gives back what no window needs any more. Where another thread could write to it meanwhile, it stays shared for now.
    fn give_back(&mut self) {
        let Some(heap) = heap() else {
            return;
        };
        self.shared.retain(|shared| {
            let Shared { pages, whole, .. } = shared;
            if !shared.windows.is_empty() || !in_place::is_alone(content(pages, whole)) {
                return true;
            }
            // Other ranks may access other memory on the same pages by the kernel.
            let stopped = Stopped::at(&self.given, pages, PATIENCE);
            // SAFETY: no other process and no other thread writes there.
            let end = || unsafe { heap.unshare_in_place(pages, shared.offset, shared.memory) };
            stopped.is_none() || end().is_err()
        });
        self.end_detached();
    }

    /// Makes pages private ones that were detached, where no other thread can write to them.
    fn end_detached(&mut self) {
        if self.detached.is_empty() || !in_place::is_alone(Content::Mixed) {
            return;
        }
        let Some(heap) = heap() else {
            return;
        };
        self.detached.retain(|detached| {
            let Some(_stopped) = Stopped::at(&self.given, &detached.pages, PATIENCE) else {
                return true;
            };
            let is_there = heap.is_shared_in_place(&detached.pages, detached.offset);
            // SAFETY: no other process writes there, and no other thread.
            if is_there && unsafe { in_place::give_back(&detached.pages) }.is_err() {
                return true;
            }
            if let Some(memory) = detached.memory {
                heap.release(memory);
            }
            false
        });
    }

    /// Makes all edges private: a child of a fork is about to begin. Those that another rank does not leave stay shared.
    fn give_edges_back(&mut self) {
        for at in (0..self.shared.len()).rev() {
            let Shared {
                pages,
                whole,
                windows,
                ..
            } = &self.shared[at];
            if pages == whole {
                continue;
            }
            let Some(stopped) = Stopped::at(&self.given, pages, PATIENCE_BEFORE_FORK) else {
                continue;
            };
            let shared_it = windows.clone();
            self.end_edges(at);
            for window in stopped.end_by() {
                let Some(at) = self.position(window) else {
                    continue;
                };
                self.tell(at);
                self.given[at].forks += u32::from(shared_it.contains(&window.handle));
                self.set_price(at);
            }
        }
    }

    /// Makes edges of shared pages private, and ends what has no others. No access of another rank's is under way.
    fn end_edges(&mut self, at: usize) {
        let Some(heap) = heap() else {
            return;
        };
        let is_alone = in_place::is_alone(Content::Mixed);
        let shared = &mut self.shared[at];
        let mut end = |edge: Range<usize>, memory: Option<u64>| {
            let offset = shared.offset + (edge.start - shared.pages.start) as u64;
            let is_there = !edge.is_empty() && heap.is_shared_in_place(&edge, offset);
            if is_there && !is_alone {
                // SAFETY: the pages are those, and other ranks are stopped.
                unsafe { heap.detach_in_place(&edge, offset) }?;
                self.detached.push(Detached {
                    pages: edge,
                    offset,
                    memory,
                });
                return Ok(());
            }
            if is_there {
                // SAFETY: no other thread writes there, and other ranks are stopped.
                unsafe { in_place::give_back(&edge) }?;
            }
            if let Some(memory) = memory {
                heap.release(memory);
            }
            std::io::Result::Ok(())
        };
        let (pages, whole) = (shared.pages.clone(), shared.whole.clone());
        if whole.is_empty() {
            if end(pages, Some(shared.memory)).is_ok() {
                self.shared.remove(at);
            }
            return;
        }
        let first = end(pages.start..whole.start, None);
        let last = end(whole.end..pages.end, None);
        if first.is_ok() {
            shared.offset += (whole.start - pages.start) as u64;
            shared.pages.start = whole.start;
        }
        if last.is_ok() {
            shared.pages.end = whole.end;
        }
    }
}

/// Windows at whose memory no access of another rank is under way, as long as this lives.
struct Stopped(Vec<(&'static Window, Option<Pages>)>);

impl Stopped {
    /// Those of a process whose memory lies on some pages.
    fn at(given: &[Given], pages: &Range<usize>, patience: Duration) -> Option<Stopped> {
        let windows = given.iter().map(|given| given.window);
        let met = windows.filter(|window| meets(window, pages));
        Stopped::begin(met.collect(), patience)
    }

    /// Leaves it to the caller to say where the memory of each is now.
    fn end_by(mut self) -> Vec<&'static Window> {
        self.0.drain(..).map(|(window, _)| window).collect()
    }

    /// `None`: one does not end soon.
    fn begin(windows: Vec<&'static Window>, patience: Duration) -> Option<Stopped> {
        let begin = |window: &'static Window| (window, window.own_place().begin_move());
        let stopped = Stopped(windows.into_iter().map(begin).collect());
        Place::order_moves();
        let began = Instant::now();
        while !stopped.0.iter().all(|(window, _)| window.has_no_access()) {
            let waited = began.elapsed();
            if waited > patience {
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
    let mut state = STATE.lock();
    if state.had_edges {
        state.give_edges_back();
    }
    std::mem::forget(state);
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
