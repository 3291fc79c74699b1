//! Life lines: a TCP connection to each process of another job that is reached over the fabric.
//!
//! No launcher knows both jobs, and a fabric tells the end of a process late or not at all. The kernel does: the connection of a process
//! that has ended is closed, and that of a host in silence fails after a few seconds. What is said over a life line is read by a thread
//! of its own, so that a process that computes answers too. Invariant: a process that leaves says so first ([`part`]); any other end of a
//! life line is the end of the process.

use crate::engine::{own_page, wake_own_threads};
use crate::os::addresses::end_in_silence;
use crate::os::{monotonic_nanoseconds, threads};
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::transport::{Page, State, deaths};
use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use std::io::{ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// What a process has sent just before its end may come a little later than its end, nanoseconds.
const GRACE: u64 = 100_000_000;
const STACK_BYTES: usize = 128 << 10;

// Kinds of words: a byte each, with an argument and a count. A word may end waits, so the status page counts words as it does records: one that
// is sent before it leaves, one that is heard when it is done.
/// The process is in MPI_Finalize and has sent so many records; the argument says whether it still receives.
const FINALIZING: u8 = 1;
/// It goes on all the same.
const STAYS: u8 = 2;
/// It leaves this connection.
const LEAVES: u8 = 3;
/// That was heard, by one that does not leave itself.
const HEARD: u8 = 4;
/// A third byte of what is counted.
const COUNTED: u8 = 1;
const FRAME: usize = 8;

struct Line {
    number: u64,
    process: u32,
    stream: TcpStream,
    page: &'static Page,
    heard: Vec<u8>,
    /// The process is in MPI_Finalize: whether it receives, and how many records it had sent.
    finalizing: Option<(bool, u32)>,
    /// This process has said that it leaves, and that was heard; the other has said so.
    leaves: bool,
    answered: bool,
    departed: bool,
    /// When the connection has ended, and whether the process counts as ended.
    closed: Option<u64>,
    told: bool,
}

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());
/// What the thread watches.
static WATCHED: Mutex<Option<Arc<OwnedFd>>> = Mutex::new(None);

/// A process has died since [`count_deaths`].
static UNCOUNTED: AtomicBool = AtomicBool::new(false);

/// Has this process look for those that have died, if any has; called with liveness checks. Not at once: mpiexec may be about to end this job
/// because of it, with an exit code of its own.
pub(super) fn count_deaths() {
    if UNCOUNTED.swap(false, Ordering::Acquire) {
        deaths::found();
    }
}

/// Watches a connection to a process from now on; its page is written here.
///
/// Errors: the kernel has no descriptor or no thread.
pub(super) fn keep(process: u32, stream: TcpStream, page: &'static Page) -> Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let epoll = watched()?;
    stream.set_nonblocking(true)?;
    let _ = stream.set_nodelay(true);
    end_in_silence(&stream)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // Before the thread may hear of it.
    let mut lines = LINES.lock();
    let data = epoll::EventData::new_u64(number);
    epoll::add(&*epoll, &stream, data, epoll::EventFlags::IN)?;
    lines.push(Line {
        number,
        process,
        stream,
        page,
        heard: Vec::new(),
        finalizing: None,
        leaves: false,
        answered: false,
        departed: false,
        closed: None,
        told: false,
    });
    Ok(())
}

/// [`WATCHED`]; the thread begins with the first life line.
fn watched() -> Result<Arc<OwnedFd>> {
    let mut watched = WATCHED.lock();
    if let Some(epoll) = &*watched {
        return Ok(epoll.clone());
    }
    let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
    let its = epoll.clone();
    threads::start("oxmpi-lifelines", STACK_BYTES, move || watch(&its))?;
    Ok(watched.insert(epoll).clone())
}

fn watch(epoll: &OwnedFd) {
    let mut events: Vec<epoll::Event> = Vec::with_capacity(16);
    let mut waits_for_grace = false;
    loop {
        events.clear();
        let grace = Duration::from_nanos(GRACE).try_into().ok();
        let limit = grace.filter(|_| waits_for_grace);
        match epoll::wait(epoll, spare_capacity(&mut events), limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let mut lines = LINES.lock();
        let mut any = false;
        for event in &events {
            let number = event.data.u64();
            if let Some(line) = lines.iter_mut().find(|line| line.number == number) {
                any |= line.read(epoll);
            }
        }
        let now = monotonic_nanoseconds();
        waits_for_grace = false;
        for line in lines.iter_mut() {
            if let Some(since) = line.closed
                && !(line.told || line.leaves || line.departed)
            {
                line.told = now.saturating_sub(since) >= GRACE;
                waits_for_grace |= !line.told;
                if line.told {
                    line.page.set_exited();
                    // Release: pairs with `count_deaths`.
                    UNCOUNTED.store(true, Ordering::Release);
                    any = true;
                }
            }
        }
        drop(lines);
        if any {
            wake_own_threads();
        }
    }
}

impl Line {
    /// Whether anything was heard.
    fn read(&mut self, epoll: &OwnedFd) -> bool {
        let mut bytes = [0u8; 64];
        let mut any = false;
        loop {
            match self.stream.read(&mut bytes) {
                Ok(count) if count > 0 => self.heard.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => {
                    self.closed.get_or_insert_with(monotonic_nanoseconds);
                    let _ = epoll::delete(epoll, &self.stream);
                    any = true;
                    break;
                }
            }
        }
        while let Some(frame) = self.heard.first_chunk::<FRAME>().copied() {
            self.heard.drain(..FRAME);
            self.hear(frame);
            any = true;
        }
        any
    }

    fn hear(&mut self, frame: [u8; FRAME]) {
        let [kind, argument, counted, _, count @ ..] = frame;
        match kind {
            FINALIZING => self.finalizing = Some((argument != 0, u32::from_le_bytes(count))),
            STAYS => {
                self.finalizing = None;
                self.page.clear_loss();
            }
            LEAVES => {
                self.departed = true;
                self.page.set_state(State::Finalized);
                self.page.set_exited();
                if !self.leaves {
                    self.say(HEARD, 0, 0);
                }
            }
            HEARD => self.answered = true,
            _ => {}
        }
        if let (COUNTED, Some(page)) = (counted, own_page()) {
            page.waits.count_handled();
        }
    }

    /// A few bytes, for which there is always room; one that has gone hears nothing.
    fn say(&mut self, kind: u8, argument: u8, count: u32) {
        // One that has left may not hear what follows, and nothing comes of it, but for the answer.
        let counts = self.closed.is_none() && (!self.departed || kind == HEARD);
        if let (true, Some(page)) = (counts, own_page()) {
            page.waits.count_sent();
        }
        let mut frame = [kind, argument, counts.into(), 0, 0, 0, 0, 0];
        frame[4..].copy_from_slice(&count.to_le_bytes());
        let _ = self.stream.write(&frame);
    }

    fn has_parted(&self) -> bool {
        self.answered || self.departed || self.closed.is_some()
    }
}

/// Tells a process that this one leaves the connection.
pub(super) fn part(process: u32) {
    for line in LINES.lock().iter_mut() {
        if line.process == process && !line.leaves {
            line.leaves = true;
            line.say(LEAVES, 0, 0);
        }
    }
}

/// Whether it knows, or is gone itself.
pub(super) fn has_parted(process: u32) -> bool {
    let lines = LINES.lock();
    let mut of_it = lines.iter().filter(|line| line.process == process);
    of_it.all(Line::has_parted)
}

/// Closes the connection to a process.
pub(super) fn forget(process: u32) {
    LINES.lock().retain(|line| {
        let stays = line.process != process;
        if !stays && line.closed.is_none() {
            // A forked child of the program may have the descriptor, too.
            let watched = WATCHED.lock();
            let _ = watched.as_deref().map(|it| epoll::delete(it, &line.stream));
            let _ = line.stream.shutdown(std::net::Shutdown::Write);
        }
        stays
    });
}

/// Tells all that this process is in MPI_Finalize; `sent`: how many records it has sent to each.
pub(super) fn say_finalizing(receiving: bool, mut sent: impl FnMut(u32) -> u32) {
    for line in LINES.lock().iter_mut() {
        let count = sent(line.process);
        line.say(FINALIZING, receiving.into(), count);
    }
}

/// Tells all that it goes on.
pub(super) fn say_staying() {
    for line in LINES.lock().iter_mut() {
        line.say(STAYS, 0, 0);
    }
}

/// Marks those that are in MPI_Finalize and of whom all has come; `came`: how many records have, of each.
pub(super) fn mark_finalizing(mut came: impl FnMut(u32) -> u32) {
    for line in LINES.lock().iter_mut() {
        if let Some((receiving, sent)) = line.finalizing
            && came(line.process).wrapping_sub(sent) as i32 >= 0
        {
            line.finalizing = None;
            line.page.set_finalizing(receiving);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    fn new_page() -> &'static Page {
        let page: &'static Page = Box::leak(Box::default());
        page.set_state(State::Joined);
        page
    }

    fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let come = (0..5000).any(|_| {
            std::thread::sleep(Duration::from_millis(2));
            holds()
        });
        assert!(come, "{what} never came");
    }

    #[test]
    fn an_end_without_a_word_is_a_death_and_one_with_a_word_is_none() {
        // Numbers that no other test has.
        let (dies, leaves) = (4_000_001, 4_000_002);
        let (ours, theirs) = pair();
        let page = new_page();
        keep(dies, ours, page).unwrap();
        assert!(!has_parted(dies) && !page.has_died());
        drop(theirs);
        until("the death", || page.has_died());
        assert!(has_parted(dies));
        forget(dies);

        let (ours, mut theirs) = pair();
        let page = new_page();
        keep(leaves, ours, page).unwrap();
        theirs
            .write_all(&[FINALIZING, 1, 0, 0, 5, 0, 0, 0])
            .unwrap();
        let finalizing = |came: u32| {
            mark_finalizing(|process| if process == leaves { came } else { u32::MAX });
            page.loss().is_some()
        };
        assert!(!finalizing(4));
        until("MPI_Finalize", || finalizing(5));
        theirs.write_all(&[STAYS, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        until("the return", || page.loss().is_none());
        part(leaves);
        let mut frame = [0u8; FRAME];
        theirs.read_exact(&mut frame).unwrap();
        assert_eq!((frame[0], has_parted(leaves)), (LEAVES, false));
        theirs.write_all(&[HEARD, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        until("the answer", || has_parted(leaves));
        theirs.write_all(&[LEAVES, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        until("the other's leave", || page.state() == State::Finalized);
        drop(theirs);
        forget(leaves);
        assert!(!page.has_died());

        // One that stays says that it has heard.
        let stays = 4_000_003;
        let (ours, mut theirs) = pair();
        let page = new_page();
        keep(stays, ours, page).unwrap();
        theirs.write_all(&[LEAVES, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        theirs.read_exact(&mut frame).unwrap();
        assert_eq!((frame[0], page.state()), (HEARD, State::Finalized));
        forget(stays);
    }
}
