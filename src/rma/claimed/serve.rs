//! The half of the target.

use super::{Action, BOX, FETCHED, HEAD, Head, MARK, OPERATION, data_of};
use crate::datatype::{self, Datatype};
use crate::engine;
use crate::op::Operation;
use crate::os::peer_memory::{self, Piece};
use crate::queue::ring;
use crate::rma::groups::{self, GROUPS, Group};
use crate::rma::provided::Provided;
use crate::rma::window::Way;
use crate::rma::{apply, put_get, ways};
use crate::sync::Ordering;
use crate::transport;

/// Packed bytes whose lines are fetched ahead, at most: more lines than a core has on their way at once, fewer than its first cache holds.
const FETCHED_AHEAD: usize = 4 << 10;

/// Does what other processes offer this one.
#[derive(Default)]
pub struct Server {
    provided: Provided,
    fetched: Vec<u8>,
}

impl Server {
    /// Does an operation that this process has claimed, if all of its memory is there.
    pub fn serve(&mut self, at: u64) {
        let place = transport::heap().and_then(|heap| heap.at(at, BOX as u64));
        let (Some(place), Some(table)) = (place, engine::table()) else {
            return;
        };
        // SAFETY: memory of the heap; atomics only.
        let head = unsafe { &*place.cast::<Head>() };
        if head.mark.load(Ordering::Relaxed) == MARK + table.me() {
            let is_done = self.serve_at(place, head).is_some();
            head.outcome.set(is_done);
        }
    }

    /// `None`: nothing is done.
    fn serve_at(&mut self, place: *mut u8, head: &Head) -> Option<()> {
        let count = usize::from(head.groups.load(Ordering::Relaxed));
        let bytes = head.bytes.load(Ordering::Relaxed) as usize;
        let numbers = head.action.load(Ordering::Relaxed);
        let action = Action::of_number(numbers % OPERATION)?;
        if count > GROUPS || bytes > action.most() {
            return None;
        }
        let work = match action {
            Action::Get => Work::Get,
            Action::Put => Work::Put,
            Action::Accumulate | Action::GetAccumulate | Action::AccumulateFrom => {
                let operation = Operation::of_number(u32::from(numbers / OPERATION))?;
                let basic = datatype::get(head.basic.load(Ordering::Relaxed))?;
                let old = (action == Action::GetAccumulate).then_some(bytes);
                Work::Accumulate(operation, basic, old)
            }
        };
        if action != Action::AccumulateFrom {
            work.fetch_ahead(place.wrapping_add(data_of(count)), bytes);
        }
        // SAFETY: the origin has posted so many, and changes nothing of them until the end.
        let groups = unsafe { std::slice::from_raw_parts(place.add(HEAD).cast::<Group>(), count) };
        let add = |sum: usize, group: &Group| match group.count {
            0 => None,
            count => sum.checked_add(group.bytes.checked_mul(count)?),
        };
        let are_whole = |group: &Group| group.bytes.is_multiple_of(work.size().max(1));
        self.provided.begin();
        let provide = |first, bytes| self.provided.provide(first, bytes, work.writes());
        if groups.iter().try_fold(0, add) != Some(bytes)
            || !groups.iter().all(are_whole)
            || !groups::each_range(groups, provide)
        {
            return None;
        }
        let mut packed = match action {
            Action::AccumulateFrom => self.fetch(head, bytes)?,
            _ => place.wrapping_add(data_of(count)),
        };
        for group in groups {
            // SAFETY: the group's pages are there, and its packed bytes are in the box, or were fetched.
            packed = unsafe { work.group(group, packed) };
        }
        Some(())
    }

    /// The origin's data, by the kernel. `None`: it is not to be had.
    fn fetch(&mut self, head: &Head, bytes: usize) -> Option<*mut u8> {
        let origin = head.origin.load(Ordering::Relaxed);
        if ways::to(origin) != Way::Kernel {
            return None;
        }
        self.fetched.resize(FETCHED, 0);
        let here = self.fetched.as_mut_ptr();
        let piece = |address, bytes| [Piece { address, bytes }];
        let local = piece(here.addr(), bytes);
        let remote = piece(head.source.load(Ordering::Relaxed), bytes);
        // SAFETY: memory of this value's alone.
        let read = unsafe { peer_memory::read_pieces(ways::pid_of(origin), &local, &remote) };
        (read.ok()? == bytes).then_some(here)
    }
}

/// What this process does for another one.
#[derive(Clone, Copy)]
enum Work {
    Get,
    Put,
    /// How far behind the data the old elements go, if they are wanted.
    Accumulate(Operation, &'static Datatype, Option<usize>),
}

impl Work {
    fn writes(self) -> bool {
        !matches!(self, Work::Get | Work::Accumulate(Operation::NoOp, ..))
    }

    /// Bytes of an element, which a piece has whole ones of.
    fn size(self) -> usize {
        match self {
            Work::Get | Work::Put => 1,
            Work::Accumulate(_, basic, _) => basic.size as usize,
        }
    }

    /// Has the packed data's lines fetched from the origin's cache, all at once: the copy of a piece takes so many instructions that few of the copies behind it
    /// are begun while it waits for a line.
    fn fetch_ahead(self, packed: *mut u8, bytes: usize) {
        for at in (0..bytes.min(FETCHED_AHEAD)).step_by(64) {
            let line = packed.wrapping_add(at);
            match self {
                Work::Get => ring::prefetch_for_writing(line),
                Work::Put | Work::Accumulate(..) => ring::prefetch(line),
            }
        }
    }

    /// Does a group, whose packed bytes begin there. Returns where the next group's begin.
    ///
    /// # Safety
    /// All of it is memory that can be written, or read if that is all.
    unsafe fn group(self, group: &Group, packed: *mut u8) -> *mut u8 {
        // SAFETY: by the caller.
        unsafe {
            match self {
                Work::Get => move_pieces::<false>(group, packed),
                Work::Put => move_pieces::<true>(group, packed),
                Work::Accumulate(operation, basic, old) => {
                    for at in 0..group.count {
                        let (own, piece) = group.piece(at, packed);
                        if let Some(behind) = old {
                            piece.copy_to_nonoverlapping(own.wrapping_add(behind), group.bytes);
                        }
                        let elements = group.bytes / self.size();
                        apply::change((operation, basic), piece, own, elements);
                    }
                }
            }
        }
        packed.wrapping_add(group.count * group.bytes)
    }
}

/// Copies packed bytes to the group's pieces if `PUT`, else from them.
///
/// # Safety
/// As for [`Work::group`].
unsafe fn move_pieces<const PUT: bool>(group: &Group, packed: *mut u8) {
    let each = |bytes: usize| {
        for at in 0..group.count {
            let (own, piece) = group.piece(at, packed);
            // SAFETY: by the caller.
            unsafe { put_get::copy::<PUT>(own, piece, bytes) };
        }
    };
    // A length that the compiler knows makes a loop of a few instructions.
    match group.bytes {
        8 => each(8),
        4 => each(4),
        bytes => each(bytes),
    }
}
