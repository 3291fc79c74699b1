//! An allocator for tests that counts the bytes that a thread holds.
//!
//! Invariant: what is counted is what was asked for. Memory that one thread gives back for another counts as the giver's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(bytes: isize) {
    // A thread that ends counts nothing any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

/// Counts memory unless the allocation failed.
fn counted(memory: *mut u8, bytes: isize) -> *mut u8 {
    if !memory.is_null() {
        count(bytes);
    }
    memory
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { System.alloc(layout) }, layout.size() as isize)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let memory = unsafe { System.alloc_zeroed(layout) };
        counted(memory, layout.size() as isize)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let memory = unsafe { System.realloc(memory, layout, size) };
        counted(memory, size as isize - layout.size() as isize)
    }
}

/// What `make` returns, the bytes that this thread holds more after it, and the most that it held more meanwhile.
pub fn bytes_of<T>(make: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = HELD.get();
    MOST.set(before);
    let made = make();
    let more = |bytes: isize| usize::try_from(bytes - before).unwrap_or(0);
    (made, more(HELD.get()), more(MOST.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_until_they_are_given_back() {
        let (list, held, most) = bytes_of(|| {
            drop(vec![0u8; 5000]);
            vec![0u8; 3000]
        });
        assert_eq!((held, most), (3000, 5000));
        let ((), held, most) = bytes_of(|| drop(list));
        assert_eq!((held, most), (0, 0));
    }
}
