use super::*;
use crate::sync::keep::keep;
use crate::transport::shm::layout::{initialise, segment_bytes};

/// The views of so many ranks of one segment, each with mappings of its own.
pub(super) fn heaps(ranks: usize) -> Vec<&'static Heap> {
    let fd = memory::create("test", segment_bytes(ranks), false).unwrap();
    initialise(fd.as_fd(), ranks).unwrap();
    let heap = |me| {
        let fd = fd.try_clone().unwrap();
        let map: &'static Mapping = super::super::layout::map(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, ranks).unwrap();
        keep(Heap::new(segment, Arc::new(fd), me))
    };
    (0..ranks).map(heap).collect()
}

fn blocks(heap: &Heap) -> u64 {
    // SAFETY: an all-zero stat is a valid value for the call to fill.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place.
    unsafe { libc::fstat(heap.fd.as_raw_fd(), &mut stat) };
    stat.st_blocks as u64
}

/// Sets or checks all bytes of a range.
fn fill(heap: &Heap, offset: u64, bytes: u64, value: u8) {
    let address = heap.at(offset, bytes).unwrap();
    // SAFETY: inside the heap and allocated; one thread.
    unsafe { address.write_bytes(value, bytes as usize) };
}

fn holds(heap: &Heap, offset: u64, bytes: u64, value: u8) -> bool {
    let address = heap.at(offset, bytes).unwrap();
    // SAFETY: as above.
    let found = unsafe { std::slice::from_raw_parts(address, bytes as usize) };
    found.iter().all(|byte| *byte == value)
}

#[test]
fn what_one_rank_stores_others_find_at_the_same_offset() {
    let heaps = heaps(3);
    assert_eq!(heaps[0].offset_of(0x1000), None);
    let offset = heaps[1].allocate(10_000, 1 << 16).unwrap();
    heaps[1].populate(offset, 10_000).unwrap();
    fill(heaps[1], offset, 10_000, 7);
    for heap in &heaps {
        assert!(holds(heap, offset, 10_000, 7));
        let address = heap.at(offset, 1).unwrap() as usize;
        assert_eq!(address % (1 << 16), 0);
        assert_eq!(heap.offset_of(address + 5), Some(offset + 5));
        assert_eq!(heap.reserved(offset), Some(12_288));
    }
    let lock = &heaps[0].locks()[1023].word;
    lock.store(5, Ordering::Relaxed);
    assert_eq!(heaps[2].locks()[1023].word.load(Ordering::Relaxed), 5);
    assert!(heaps[2].free(offset));
    assert!(!heaps[0].free(offset));
    assert!(!heaps[0].free(offset + 1));
    assert!(!heaps[0].free(0) && !heaps[0].free(u64::MAX));
    assert!(heaps[0].at(u64::MAX, 2).is_none());
    assert_eq!(heaps[0].reserved(offset), None);
}

#[test]
fn everything_is_given_back_whoever_frees_it() {
    let heaps = heaps(4);
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    // Offset, bytes, value; a piece goes back to the rank that has it.
    let mut held: Vec<(u64, u64, u8, Option<usize>)> = Vec::new();
    heaps[0].open_now().unwrap();
    let before = blocks(heaps[0]);
    for step in 0..3000u64 {
        let rank = random(4) as usize;
        if random(2) == 0 || held.is_empty() {
            let longest = [64, 9000, 100_000, 3 << 20][random(4) as usize];
            let bytes = 1 + random(longest);
            let value = step as u8 | 1;
            let (offset, owner) = match random(2) {
                0 => (heaps[rank].obtain(bytes, 64).unwrap(), Some(rank)),
                _ => {
                    let offset = heaps[rank].allocate(bytes, 4096).unwrap();
                    heaps[(rank + 1) % 4].populate(offset, bytes).unwrap();
                    (offset, None)
                }
            };
            let looker = heaps[random(4) as usize];
            assert!(holds(looker, offset, bytes, 0));
            fill(heaps[rank], offset, bytes, value);
            held.push((offset, bytes, value, owner));
        } else {
            let (offset, bytes, value, owner) =
                held.swap_remove(random(held.len() as u64) as usize);
            assert!(holds(heaps[rank], offset, bytes, value));
            let given_back = match owner {
                Some(owner) => heaps[owner].release(offset) && !heaps[owner].release(offset),
                None => heaps[rank].free(offset),
            };
            assert!(given_back);
        }
    }
    for (offset, bytes, value, owner) in held {
        assert!(holds(heaps[3], offset, bytes, value));
        assert!(heaps[owner.unwrap_or(0)].release(offset));
    }
    // Entries stay: a page of them for 256 pages.
    let grown = blocks(heaps[0]) - before;
    assert!(grown < 2048, "{grown} blocks of 512 bytes are left");
}

#[test]
fn one_hundred_thousand_allocations_leave_nothing() {
    let heap = heaps(1)[0];
    let kept = heap.obtain(5000, 64).unwrap();
    let cycle = || {
        let (piece, range) = (heap.obtain(64, 64).unwrap(), heap.obtain(9000, 64).unwrap());
        assert!(heap.release(piece) && heap.release(range));
    };
    cycle();
    let before = blocks(heap);
    (0..50_000).for_each(|_| cycle());
    assert_eq!(blocks(heap), before);
    assert!(heap.release(kept));
}

#[test]
fn more_than_there_is_is_an_error() {
    let heap = heaps(1)[0];
    assert!(heap.allocate(u64::MAX / 2, 4096).is_err());
    assert!(heap.allocate(4096, 1 << 30).is_err());
    // More than the machine has, but room for it.
    let bytes = memory::physical() + (1 << 30);
    let offset = heap.allocate(bytes, 4096).unwrap();
    let error = heap.populate(offset, bytes).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOMEM));
    assert!(heap.populate(u64::MAX - 8192, 4096).is_err());
    heap.populate(offset + bytes - 4096, 4096).unwrap();
    assert!(heap.free(offset));
}

/// Threads of a rank go on while its exit handlers run, and one of them may be in the heap.
#[test]
fn a_rank_that_exits_keeps_the_lock() {
    let heaps = heaps(2);
    let [lives, exits] = heaps[..] else {
        unreachable!("two heaps")
    };
    let bytes = pieces::LONGEST as u64 + 1;
    lives.obtain(bytes, 64).unwrap();
    let status = &lives.segment.rank(1).status;
    status.introduce();
    status.set_state(crate::transport::State::Joined);
    status.set_exited();
    let locked = exits.lock().unwrap();
    let has_begun = AtomicU32::new(0);
    let is_free = AtomicU32::new(0);
    std::thread::scope(|threads| {
        let waits = threads.spawn(|| {
            has_begun.store(1, Ordering::Release);
            lives.obtain(bytes, 64).unwrap();
            is_free.load(Ordering::Acquire)
        });
        while has_begun.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        // Long enough for it to ask who has the lock.
        std::thread::sleep(std::time::Duration::from_millis(500));
        is_free.store(1, Ordering::Release);
        drop(locked);
        assert_eq!(waits.join().unwrap(), 1);
    });
}

/// A rank that dies with the lock stops nobody: not at the first, not at the thousandth death, and not before there is a heap.
#[test]
fn others_go_on_when_a_rank_dies_while_it_allocates() {
    let heaps = heaps(2);
    let [lives, dies] = heaps[..] else {
        unreachable!("two heaps")
    };
    reaped(lives, 1);
    let dies_with_the_lock = || lives.shared().lock.store(2, Ordering::Relaxed);
    dies_with_the_lock();
    let bytes = pieces::LONGEST as u64 + 1;
    let kept = lives.obtain(bytes, 64).unwrap();
    fill(lives, kept, bytes, 7);
    let theirs = dies.allocate(bytes, 64).unwrap();
    let reserved = lives.shared().reserved.load(Ordering::Relaxed);
    for death in 0..if cfg!(miri) { 3 } else { 1000 } {
        // After any of its steps.
        let died = buddy::tests::dies_after(death % 8, || drop(dies.allocate(bytes, 64)));
        assert!(died, "{death}");
        dies_with_the_lock();
        let offset = lives.obtain(bytes, 64).unwrap();
        assert!(offset != kept && offset != theirs);
        dies_with_the_lock();
        assert!(lives.release(offset));
        assert_eq!(lives.shared().reserved.load(Ordering::Relaxed), reserved);
    }
    assert!(holds(lives, kept, bytes, 7));
    assert!(lives.free(theirs));
}

#[test]
fn sizes_respect_limits() {
    assert_eq!(size_for(16 << 30, None, 0), 64 << 30);
    assert_eq!(size_for(16 << 30, Some(1 << 30), 1 << 29), 1 << 29);
    assert_eq!(size_for(16 << 30, Some(0), 1 << 29), LEAST);
    assert!(first_page(1 << 20) * PAGE < 20 << 20);
}

#[test]
fn lent_memory_is_allocated_when_it_is_touched() {
    let heap = heaps(2)[1];
    let (bytes, block) = (64 << 20, 512);
    heap.open_now().unwrap();
    let before = blocks(heap);
    let address = heap.lend(bytes, 64).unwrap().unwrap();
    let window = heap.lend_zeros(bytes, 64).unwrap();
    assert!(blocks(heap) - before < (1 << 20) / block);
    let offset = heap.offset_of(address as usize).unwrap();
    fill(heap, offset, bytes / 2, 3);
    fill(heap, window + bytes / 2, bytes / 2, 4);
    assert!(holds(heap, offset, bytes / 2, 3));
    assert!(blocks(heap) - before >= bytes / block);
    assert!(heap.take_back(offset) && !heap.take_back(offset));
    assert!(heap.take_back_zeros(window));
    heap.tidy(0, u64::MAX);
    assert!(blocks(heap) - before < (1 << 20) / block);
}

#[test]
fn what_comes_back_is_lent_again_with_its_pages() {
    let heap = heaps(1)[0];
    let sizes = [1, 64, 8192, 8193, 100_000, 2 << 20, (16 << 20) + 1];
    for bytes in sizes {
        let first = heap.lend(bytes, 64).unwrap().unwrap();
        let window = heap.lend_zeros(bytes, 64).unwrap();
        let offset = heap.offset_of(first as usize).unwrap();
        fill(heap, offset, bytes, 9);
        fill(heap, window, bytes, 8);
        assert!(heap.take_back(offset) && heap.take_back_zeros(window));
        let before = blocks(heap);
        let again = heap.lend(bytes, 64).unwrap().unwrap();
        let zeros = heap.lend_zeros(bytes, 64).unwrap();
        assert!(holds(heap, zeros, bytes, 0));
        fill(heap, heap.offset_of(again as usize).unwrap(), bytes, 7);
        assert!(holds(heap, zeros, bytes, 0));
        assert!(blocks(heap) <= before, "{bytes} bytes");
        assert!(heap.take_back(heap.offset_of(again as usize).unwrap()));
        assert!(heap.take_back_zeros(zeros));
    }
}

#[test]
fn lent_ranges_never_overlap_and_all_come_back() {
    let heap = heaps(1)[0];
    let mut state = 5u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    heap.open_now().unwrap();
    let before = blocks(heap);
    // Offset, bytes, value, whether it is a part of a window.
    let mut held: Vec<(u64, u64, u8, bool)> = Vec::new();
    for step in 0..4000u64 {
        if random(2) == 0 || held.is_empty() {
            let longest = [64, 9000, 100_000, 3 << 20][random(4) as usize];
            let bytes = 1 + random(longest);
            let align = 64 << random(10);
            let (value, zeros) = (step as u8 | 1, random(2) == 0);
            let offset = if zeros {
                let offset = heap.lend_zeros(bytes, align).unwrap();
                assert!(holds(heap, offset, bytes, 0));
                offset
            } else {
                let address = heap.lend(bytes, align).unwrap().unwrap();
                heap.offset_of(address as usize).unwrap()
            };
            assert!(offset.is_multiple_of(align as u64));
            fill(heap, offset, bytes, value);
            held.push((offset, bytes, value, zeros));
        } else {
            let (offset, bytes, value, zeros) =
                held.swap_remove(random(held.len() as u64) as usize);
            assert!(holds(heap, offset, bytes, value));
            let taken = match zeros {
                true => heap.take_back_zeros(offset),
                false => heap.take_back(offset) && !heap.take_back(offset),
            };
            assert!(taken);
        }
        if random(100) == 0 {
            let most = random(8 << 20);
            heap.tidy(0, most);
        }
    }
    for (offset, bytes, value, zeros) in held {
        assert!(holds(heap, offset, bytes, value));
        assert!(match zeros {
            true => heap.take_back_zeros(offset),
            false => heap.take_back(offset),
        });
    }
    heap.tidy(0, u64::MAX);
    // Entries and empty slabs stay.
    let grown = blocks(heap) - before;
    assert!(grown < 8192, "{grown} blocks of 512 bytes are left");
    assert_eq!(
        heap.lent.lock().kept_bytes(),
        0,
        "and nothing is kept any more"
    );
}

#[test]
fn more_than_there_is_is_not_lent() {
    let heap = heaps(1)[0];
    let lacking = |result: Result<()>| result.unwrap_err().raw_os_error() == Some(libc::ENOMEM);
    for bytes in [memory::physical() + (1 << 30), 10 << 40, u64::MAX / 2] {
        assert!(lacking(heap.lend(bytes, 64).map(|_| ())));
        assert!(lacking(heap.lend_zeros(bytes, 64).map(|_| ())));
    }
    // What was promised counts.
    let most = memory::left().unwrap() / 3 * 2;
    let first = heap.promise(most, 64).unwrap();
    assert!(lacking(heap.promise(most, 64).map(|_| ())));
    assert!(heap.free(first));
    assert!(heap.free(heap.promise(most, 64).unwrap()));
}

/// As mpiexec says it, which has waited for the process.
fn reaped(heap: &Heap, rank: usize) {
    let status = &heap.segment.rank(rank).status;
    status.set_state(crate::transport::State::Joined);
    status.set_reaped();
    crate::transport::deaths::found();
}

fn reserved(heap: &Heap) -> u64 {
    heap.shared().reserved.load(Ordering::Relaxed)
}

/// Makes the heap look for the dead. Nothing is left of that.
fn look_for_the_dead(heap: &Heap) {
    let offset = heap.allocate(4096, 4096).unwrap();
    assert!(heap.free(offset));
}

#[test]
fn the_memory_of_the_dead_is_given_back_when_nobody_shares_it() {
    let heaps = heaps(4);
    heaps[0].open_now().unwrap();
    let shared = heaps[0].share_with(0..4).unwrap().unwrap();
    let also_dies = heaps[1].share_with(0..4).unwrap().unwrap();
    let kept = heaps[2].obtain(10_000, 64).unwrap();
    fill(heaps[2], kept, 10_000, 7);
    let (before, pages) = (reserved(heaps[0]), blocks(heaps[0]));
    let window = heaps[3].lend_zeros(1 << 20, 64).unwrap();
    fill(heaps[3], window, 1 << 20, 3);
    heaps[3].lend(100, 64).unwrap().unwrap();
    heaps[3].lend(1 << 20, 64).unwrap().unwrap();
    reaped(heaps[2], 3);
    reaped(heaps[2], 1);
    let all = reserved(heaps[0]);
    look_for_the_dead(heaps[2]);
    assert!(holds(heaps[0], window, 1 << 20, 3));
    assert_eq!(reserved(heaps[0]), all);
    drop(shared);
    look_for_the_dead(heaps[2]);
    // With the page in which the other one counted.
    assert_eq!(reserved(heaps[0]), before - PAGE as u64);
    assert!(blocks(heaps[0]) < pages + (1 << 19) / 512);
    assert!(holds(heaps[0], kept, 10_000, 7));
    assert!(heaps[0].share_with([2, 3].into_iter()).unwrap().is_none());
    assert!(heaps[0].share_with([0, 2].into_iter()).unwrap().is_some());
    std::mem::forget(also_dies);
}

#[test]
fn a_block_is_given_back_though_a_rank_died_before_it_left() {
    let heaps = heaps(2);
    heaps[0].open_now().unwrap();
    let before = {
        drop(heaps[0].share_with(0..2).unwrap());
        reserved(heaps[0])
    };
    let with = heaps[0].share_with(0..2).unwrap().unwrap();
    let offset = heaps[0].obtain(10_000, 64).unwrap();
    let range = heaps[0].promise(1 << 20, 4096).unwrap();
    let block = AwaitedBlock {
        offset,
        ranks: 2,
        range,
    };
    let all = reserved(heaps[0]);
    heaps[0].release_when_left(block, &with);
    reaped(heaps[0], 1);
    heaps[0].release_left();
    assert_eq!(reserved(heaps[0]), all, "this process has not left it");
    drop(with);
    heaps[0].release_left();
    assert_eq!(reserved(heaps[0]), before);
}

#[test]
fn a_thousand_deaths_leave_nothing() {
    let [lives, mortal] = heaps(2)[..] else {
        unreachable!("two heaps")
    };
    lives.open_now().unwrap();
    let before = reserved(lives);
    for _ in 0..if cfg!(miri) { 3 } else { 1000 } {
        mortal.allocate(100_000, 64).unwrap();
        reaped(lives, 1);
        look_for_the_dead(lives);
        assert_eq!(reserved(lives), before);
        // As if another process were there.
        lives.segment.rank(1).status.clear_loss();
        lives
            .segment
            .rank(1)
            .memory
            .taken
            .store(0, Ordering::Relaxed);
    }
}
