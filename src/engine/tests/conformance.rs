//! What every transport has to carry: the list of cases, each a program that all processes of a job run. The processes take turns in
//! one thread; a seed decides who goes on, what is sent, and how much room there is.
//!
//! A case knows nothing of transports. It fails where nobody can go on, and where a byte or a status is wrong.

use super::data::Dice;
use super::job::{Shape, Ways, build};
use super::rank::{End, Rank, Shared};
use crate::datatype::pack::Buffer;
use crate::engine::Engine;
use crate::engine::dispatch::Limits;
use crate::engine::liveness;
use crate::engine::matching::{ANY_SOURCE, ANY_TAG};
use crate::engine::protocol::Protocol;
use crate::engine::requests::Mode;
use crate::engine::single_copy::Limit;
use crate::error::Class;
use crate::sync::scheduler;
use parking_lot::Mutex;

/// A case: the program of each process. The dice fall alike for all.
type Case = fn(&mut Rank<'_>, Dice);

const CASES: [(&str, Case); 14] = [
    ("eager", eager),
    ("bulk", bulk),
    ("cancel", cancel),
    ("cancelled sends", cancelled_sends),
    ("cancelled or received", cancelled_or_received),
    ("probe", probe),
    ("truncation", truncation),
    ("synchronous", synchronous),
    ("withdrawn", withdrawn),
    ("wildcards and order", wildcards),
    ("held back", held_back),
    ("lost peer", lost_peer),
    ("lost in a send", lost_in_a_send),
    ("late packets of the dead", late),
];

const WHOLE: [usize; 10] = [0, 1, 8, 100, 148, 149, 1000, 5000, 16_383, 16_384];
const LARGE: [usize; 9] = [
    16_385, 20_000, 32_768, 32_769, 65_536, 65_537, 100_000, 150_000, 300_000,
];

/// Runs a case; with little memory for it, or a lot.
fn run(name: &str, case: Case, seed: u64, ways: Ways, poor: bool) {
    let mut dice = Dice(seed);
    let shape = Shape {
        processes: dice.one_of(&[2, 2, 3, 4]),
        ways,
        memory: match poor {
            true => dice.one_of(&[0, 64 << 10]),
            false => 8 << 20,
        },
        room: match poor {
            true => 1,
            false => dice.one_of(&[2, 8, 100]),
        },
        bulk: !poor && !dice.one_in(4),
        straight: dice.one_of(&[20_000, 65_536, usize::MAX]),
    };
    let oversubscribed = dice.one_in(2);
    let limits = Limits::of(
        dice.one_of(&[64 << 10, 64 << 10, 1000, 1 << 20]),
        Limit::of(
            dice.one_of(&[32 << 10, 32 << 10, 0, usize::MAX]),
            dice.one_in(4),
        ),
        match name {
            "held back" => dice.one_of(&[1000, 50_000]),
            _ => usize::MAX,
        },
        match name {
            "held back" => dice.one_of(&[1, 20, usize::MAX]),
            _ => usize::MAX,
        },
    );
    let (job, mut engines) = build(&shape);
    for engine in &mut engines {
        engine.transport.set_oversubscribed(oversubscribed);
        engine.oversubscribed = oversubscribed;
        engine.limits = limits;
        for process in 0..engine.transport.table().size() {
            // All are one process, which the kernel lets read itself.
            engine.peers.of(process).readable = Some(!dice.one_in(3));
        }
    }
    let engines: Vec<Mutex<Engine>> = engines.into_iter().map(Mutex::new).collect();
    let shared = Shared::default();
    liveness::find_lost_by(|_, peer, is_lost| {
        let peer = u32::try_from(peer).ok()?;
        is_lost(peer).then_some(peer)
    });
    let ran = scheduler::run(seed, shape.processes, |me| {
        let mut engine = engines[me].lock();
        let mut rank = Rank::new(me, shape.processes, &mut engine, &shared);
        case(&mut rank, Dice(dice.0));
        rank.finish();
    });
    if let Err(text) = ran {
        panic!("{name}, seed {seed}, {shape:?}: {text}");
    }
    drop(engines);
    drop(job);
}

/// Runs all cases for each seed.
fn run_all(seeds: std::ops::Range<u64>, ways: Ways) {
    for seed in seeds {
        for (name, case) in CASES {
            run(name, case, seed, ways, seed % 4 == 3);
        }
    }
}

#[test]
#[allow(unsafe_code)]
fn a_single_copy_can_be_forced() {
    let shape = Shape {
        processes: 2,
        ways: Ways::Shm,
        memory: 8 << 20,
        room: 8,
        bulk: true,
        straight: usize::MAX,
    };
    let (job, mut engines) = build(&shape);
    let mut data = vec![0u8; 1 << 20];
    // SAFETY: the buffer is over before its memory.
    let buffer = unsafe { Buffer::bytes(data.as_mut_ptr(), data.len()) };
    let engine = &mut engines[0];
    engine.oversubscribed = false;
    for (always, bytes, expected) in [
        (true, 32 << 10, true),
        (true, data.len() + 1, false),
        (false, 32 << 10, false),
    ] {
        engine.limits.single_copy = Limit::of(bytes, always);
        let chosen = engine.choose_protocol(1, &buffer, false, false);
        assert_eq!(chosen == Protocol::Read, expected, "{always}, {bytes}");
    }
    drop(engines);
    drop(job);
}

#[test]
fn shared_memory_carries_all_cases() {
    run_all(0..16, Ways::Shm);
}

#[test]
fn queues_carry_all_cases() {
    run_all(100..116, Ways::Loopback);
}

#[test]
fn two_transports_at_once_carry_all_cases() {
    run_all(200..216, Ways::Both);
}

#[test]
#[ignore = "RTS"]
fn shared_memory_carries_all_cases_in_many_schedules() {
    run_all(1000..4400, Ways::Shm);
}

#[test]
#[ignore = "RTS"]
fn queues_carry_all_cases_in_many_schedules() {
    run_all(11_000..14_300, Ways::Loopback);
}

#[test]
#[ignore = "RTS"]
fn two_transports_at_once_carry_all_cases_in_many_schedules() {
    run_all(21_000..24_300, Ways::Both);
}

/// Whole messages around a ring of processes, in both directions.
fn eager(rank: &mut Rank<'_>, mut dice: Dice) {
    for round in 0..6 {
        let bytes = dice.one_of(&WHOLE);
        let (next, before) = (rank.next(), rank.before());
        let send = rank.send(Mode::Standard, next, round, bytes);
        let back = rank.send(Mode::Standard, before, round + 100, bytes);
        rank.expect(before, round, bytes);
        rank.expect(next, round + 100, bytes);
        rank.complete(send);
        rank.complete(back);
    }
}

/// Messages that are announced, several at once, by all to all.
fn bulk(rank: &mut Rank<'_>, mut dice: Dice) {
    for round in 0..3 {
        let bytes = dice.one_of(&LARGE);
        let before = dice.one_in(2);
        let others: Vec<usize> = rank.others().collect();
        let post = |rank: &mut Rank<'_>| -> Vec<End> {
            others
                .iter()
                .map(|other| rank.receive(*other as i32, round, bytes))
                .collect()
        };
        let early = before.then(|| post(rank));
        let sends: Vec<End> = others
            .iter()
            .map(|other| rank.send(Mode::Standard, *other, round, bytes))
            .collect();
        let receives = early.unwrap_or_else(|| post(rank));
        for (receive, other) in receives.into_iter().zip(&others) {
            rank.arrived(receive, *other, round, bytes);
        }
        for send in sends {
            rank.complete(send);
        }
    }
}

/// A receive that meets nothing is withdrawn; one that has met its message is not.
fn cancel(rank: &mut Rank<'_>, mut dice: Dice) {
    let bytes = dice.one_of(&[8, 5000, 100_000]);
    let (next, before) = (rank.next(), rank.before());
    let never = rank.receive(before as i32, 77, 100);
    let one = rank.receive(before as i32, 5, bytes);
    assert!(rank.cancel(&never));
    assert!(rank.take(never).0.cancelled());
    let send = rank.send(Mode::Standard, next, 5, bytes);
    rank.until_met(&one);
    assert!(!rank.cancel(&one));
    rank.arrived(one, before, 5, bytes);
    rank.complete(send);
    // A withdrawn receive takes nothing: the next one gets the message.
    let receive = rank.receive(before as i32, 6, bytes);
    rank.look_around(dice.below(4));
    let send = rank.send(Mode::Standard, next, 6, bytes);
    if rank.cancel(&receive) {
        assert!(rank.take(receive).0.cancelled());
        rank.expect(before, 6, bytes);
    } else {
        rank.arrived(receive, before, 6, bytes);
    }
    rank.complete(send);
}

/// A send that nobody receives is cancelled; what is sent before it and after it arrives, and a probe finds nothing of it.
fn cancelled_sends(rank: &mut Rank<'_>, mut dice: Dice) {
    let (next, before) = (rank.next(), rank.before());
    for round in 0..3 {
        let sizes = [(); 3].map(|()| dice.one_of(&[0, 8, 5000, 20_000, 100_000, 300_000]));
        let first = rank.send(Mode::Standard, next, round, sizes[0]);
        let never = rank.send(Mode::Synchronous, next, 50 + round, sizes[1]);
        rank.look_around(dice.below(4));
        let last = rank.send(Mode::Standard, next, round, sizes[2]);
        rank.cancel_send(&never);
        rank.look_around(dice.below(4));
        // The peers, too, wait for each other's answers only.
        let (status, error, _) = rank.take(never);
        assert!(status.cancelled() && error.is_none());
        rank.expect(before, round, sizes[0]);
        rank.expect(before, round, sizes[2]);
        rank.complete(first);
        rank.complete(last);
        // All know that they were cancelled: nothing of them is left.
        let token = rank.send(Mode::Standard, next, 60, 8);
        rank.expect(before, 60, 8);
        rank.complete(token);
        assert!(!rank.finds(before as i32, 50 + round));
    }
}

/// A receive and MPI_Cancel are after the same message, at any moment: one of them has it, and both know which.
fn cancelled_or_received(rank: &mut Rank<'_>, mut dice: Dice) {
    let (next, before) = (rank.next(), rank.before());
    for round in 1..6 {
        let bytes = dice.one_of(&[0, 8, 5000, 16_385, 65_536, 65_537, 300_000]);
        let mode = dice.one_of(&[Mode::Standard, Mode::Synchronous, Mode::Synchronous]);
        let send = rank.send(mode, next, round, bytes);
        let (pause, delay) = (dice.below(12), dice.below(12));
        let early = dice.one_in(3);
        let receive = early.then(|| rank.receive(before as i32, round, bytes));
        rank.look_around(pause);
        rank.cancel_send(&send);
        rank.look_around(delay);
        let receive = receive.unwrap_or_else(|| rank.receive(before as i32, round, bytes));
        let (status, error, _) = rank.take(send);
        assert_eq!(error, None);
        // The next one goes to the receive if this one does not.
        let second = status.cancelled();
        let again = rank.send(Mode::Standard, next, round, bytes);
        rank.arrived(receive, before, round, bytes);
        let said = rank.send(Mode::Standard, next, 70 + i32::from(second), 8);
        let told = rank.receive(before as i32, ANY_TAG, bytes.max(8));
        let (status, error, _) = rank.take(told);
        assert_eq!(error, None);
        if status.tag == round {
            // Both have come: this is the second.
            rank.expect(before, 70, 8);
        } else {
            assert_eq!(status.tag, 71, "a message is lost, or two are one");
        }
        rank.complete(again);
        rank.complete(said);
    }
}

/// A probe shows what the next receive gets, and a matched message is nobody else's.
fn probe(rank: &mut Rank<'_>, mut dice: Dice) {
    let sizes = [(); 4].map(|()| dice.one_of(&[0, 8, 148, 5000, 20_000, 100_000]));
    let (next, before) = (rank.next(), rank.before());
    let sends = sizes.map(|bytes| rank.send(Mode::Standard, next, 3, bytes));
    for (at, bytes) in sizes.into_iter().enumerate() {
        let shown = rank.probe(before as i32, if at % 2 == 0 { 3 } else { ANY_TAG });
        assert_eq!(
            (shown.source, shown.tag, shown.bytes()),
            (before as i32, 3, bytes as u64)
        );
        let receive = match at % 2 {
            0 => rank.receive(before as i32, 3, bytes),
            _ => rank.receive_matched(before as i32, 3, bytes),
        };
        rank.arrived(receive, before, 3, bytes);
    }
    for send in sends {
        rank.complete(send);
    }
}

/// A message that is longer than its buffer is cut, and told of; the next one is whole.
fn truncation(rank: &mut Rank<'_>, mut dice: Dice) {
    for round in 0..4 {
        let bytes = dice.one_of(&[8, 148, 5000, 16_384, 40_000, 200_000]);
        let room = dice.below(bytes);
        let (next, before) = (rank.next(), rank.before());
        let early = dice
            .one_in(2)
            .then(|| rank.receive(before as i32, round, room));
        let send = rank.send(Mode::Standard, next, round, bytes);
        let receive = early.unwrap_or_else(|| rank.receive(before as i32, round, room));
        rank.was_cut(receive, before, round, bytes, room);
        rank.complete(send);
        let send = rank.send(Mode::Standard, next, round, bytes);
        rank.expect(before, round, bytes);
        rank.complete(send);
    }
}

/// A synchronous send is complete only when its receive was posted.
fn synchronous(rank: &mut Rank<'_>, mut dice: Dice) {
    for round in 0..4 {
        let bytes = dice.one_of(&[0, 8, 148, 5000, 40_000, 150_000]);
        let (me, next, before) = (rank.me, rank.next(), rank.before());
        let send = rank.send(Mode::Synchronous, next, round, bytes);
        rank.look_around(dice.below(5));
        rank.note(me, round as u64 + 1);
        let receive = rank.receive(before as i32, round, bytes);
        rank.complete(send);
        assert!(
            rank.noted(next) > round as u64,
            "complete before its receive"
        );
        rank.arrived(receive, before, round, bytes);
    }
}

/// All send to the last process, which takes what comes: messages of one sender come in order, whatever way each goes.
fn wildcards(rank: &mut Rank<'_>, mut dice: Dice) {
    const EACH: usize = 8;
    let sizes = [(); EACH].map(|()| match dice.one_in(2) {
        true => dice.one_of(&WHOLE[2..]),
        false => dice.one_of(&LARGE),
    });
    let last = rank.processes - 1;
    if rank.me < last {
        let sends: Vec<End> = sizes
            .iter()
            .enumerate()
            .map(|(number, bytes)| rank.send(Mode::Standard, last, number as i32, *bytes))
            .collect();
        for send in sends {
            rank.complete(send);
        }
        return;
    }
    let mut next = vec![0; last];
    for turn in 0..EACH * last {
        let largest = LARGE[LARGE.len() - 1];
        let receive = match turn % 3 {
            // The source with the fewest so far, whatever the tag.
            0 => {
                let least = (0..last).min_by_key(|from| next[*from]).unwrap_or(0);
                rank.receive(least as i32, ANY_TAG, largest)
            }
            _ => rank.receive(ANY_SOURCE, ANY_TAG, largest),
        };
        let (from, number) = rank.arrived_from_any(receive, &sizes);
        assert_eq!(number, next[from], "overtaken");
        next[from] += 1;
    }
}

/// A receiver that is behind gets all, though it wants data to be held back meanwhile.
fn held_back(rank: &mut Rank<'_>, mut dice: Dice) {
    let sizes = [(); 12].map(|()| dice.one_of(&[8, 1000, 5000, 40_000]));
    let (next, before) = (rank.next(), rank.before());
    let sends: Vec<End> = sizes
        .iter()
        .enumerate()
        .map(|(number, bytes)| rank.send(Mode::Standard, next, number as i32, *bytes))
        .collect();
    rank.look_around(30);
    for (number, bytes) in sizes.into_iter().enumerate().rev() {
        rank.expect(before, number as i32, bytes);
    }
    for send in sends {
        rank.complete(send);
    }
}

/// What nobody waits for any more leaves its buffer to the program at once: what was sent arrives as it was then, and what comes to a receive
/// goes nowhere.
fn withdrawn(rank: &mut Rank<'_>, mut dice: Dice) {
    let (next, before) = (rank.next(), rank.before() as i32);
    for tag in 0..3 {
        let bytes = dice.one_of(&LARGE);
        let early = dice.one_in(3).then(|| rank.receive(before, tag, bytes));
        let send = rank.send(Mode::Standard, next, tag, bytes);
        rank.look_around(dice.below(4));
        rank.withdraw(send);
        let receive = early.unwrap_or_else(|| rank.receive(before, tag, bytes));
        rank.arrived(receive, before as usize, tag, bytes);
    }
    let bytes = dice.one_of(&LARGE);
    let receive = rank.receive(before, 9, bytes);
    let send = rank.send(Mode::Standard, next, 9, bytes);
    if dice.one_in(2) {
        rank.until_met(&receive);
    }
    if rank.withdraw(receive) {
        rank.expect(before as usize, 9, bytes);
    }
    rank.complete(send);
}

/// What waits for a process that has ended gets an error; what it had sent arrives.
fn lost_peer(rank: &mut Rank<'_>, mut dice: Dice) {
    let bytes = dice.one_of(&[8, 5000, 100_000]);
    let open = dice.one_of(&[0, 1, 4]);
    let lost = rank.processes - 1;
    if rank.me == lost {
        let sends: Vec<End> = (0..lost)
            .map(|to| rank.send(Mode::Standard, to, 1, bytes))
            .collect();
        for send in sends {
            rank.complete(send);
        }
        return rank.end(open);
    }
    rank.expect(lost, 1, bytes);
    let marked = rank.send(Mode::Synchronous, lost, 2, bytes);
    let marked_later = rank.send(Mode::Synchronous, lost, 2, bytes);
    if dice.one_in(2) {
        rank.cancel_send(&marked);
    }
    let send = rank.send(Mode::Synchronous, lost, 2, bytes);
    let receive = rank.receive(lost as i32, 3, bytes);
    rank.until_lost(lost);
    rank.cancel_send(&marked);
    rank.ends_cancelled(marked);
    rank.cancel_send(&marked_later);
    rank.ends_cancelled(marked_later);
    assert_eq!(rank.fails(send), Class::ProcFailed);
    assert_eq!(rank.fails(receive), Class::ProcFailed);
    // Those that are left go on.
    if rank.processes > 2 {
        let others = rank.processes - 1;
        let (next, before) = ((rank.me + 1) % others, (rank.me + others - 1) % others);
        let send = rank.send(Mode::Standard, next, 4, bytes);
        rank.expect(before, 4, bytes);
        rank.complete(send);
    }
}

/// A matched receive of the library's own ends, also if its message does not come as a whole.
fn lost_in_a_send(rank: &mut Rank<'_>, mut dice: Dice) {
    let bytes = dice.one_of(&LARGE);
    let lost = rank.processes - 1;
    match rank.me {
        me if me == lost => rank.end_in_send(0, 1, bytes),
        0 => rank.takes_the_rest(lost, 1, bytes),
        _ => {}
    }
}

/// Answers and data of a process that has ended come after what has waited for them was given up, and do nothing.
fn late(rank: &mut Rank<'_>, mut dice: Dice) {
    let (large, small) = (dice.one_of(&LARGE), dice.one_of(&[8, 5000, 40_000]));
    let lost = rank.processes - 1;
    let (begin, end) = (dice.below(30), dice.below(30));
    if rank.me == lost {
        let buffers = [large, small].map(|bytes| rank.receive(0, 2, bytes));
        let sends = [large, small].map(|bytes| rank.send(Mode::Standard, 0, 1, bytes));
        rank.look_around(begin);
        rank.is_late();
        rank.look_around(end);
        return rank.end_with(buffers.into_iter().chain(sends));
    }
    if rank.me > 0 {
        return;
    }
    let mut all = Vec::new();
    for bytes in [large, small] {
        all.push(rank.receive(lost as i32, 1, bytes));
        all.push(rank.send(Mode::Synchronous, lost, 2, bytes));
    }
    rank.until_lost(lost);
    for end in all {
        rank.is_over(end);
    }
    // They have the numbers of those.
    let next: Vec<End> = (0..4).map(|tag| rank.receive(0, tag, large)).collect();
    rank.what_was_late_arrives(lost);
    for end in next {
        assert!(rank.withdraw(end));
    }
}
