//! The table of what the ranks are doing.

use crate::harness::{Outcome, role, role_with, until};
use rustix::process::Signal;

pub const TESTS: &[(&str, fn())] = &[
    ("reports::at_a_time_limit", at_a_time_limit),
    ("reports::when_asked", when_asked),
    ("reports::when_a_rank_dies", when_a_rank_dies),
    ("reports::when_it_is_ended", when_it_is_ended),
    ("reports::what_ranks_do", what_ranks_do),
];

/// The words of a rank's line in the first table.
fn line(outcome: &Outcome, rank: &str) -> String {
    let mut lines = outcome.error.lines();
    let found = lines.find(|line| line.split_whitespace().next() == Some(rank));
    found
        .unwrap_or_else(|| panic!("no rank {rank} in {outcome:?}"))
        .to_owned()
}

fn shows_who_waits(outcome: &Outcome) {
    let first = line(outcome, "0");
    for word in [
        "in MPI",
        "MPI_Recv",
        "MPI_COMM_WORLD",
        " 1 ",
        " any ",
        " 23 ",
    ] {
        assert!(first.contains(word), "no '{word}' in {outcome:?}");
    }
    assert!(!line(outcome, "1").contains("MPI_Recv"));
}

fn at_a_time_limit() {
    let outcome = role_with(2, "wait", &["-timeout", "1"]).run();
    assert_eq!(outcome.code, 124);
    outcome.says("time limit of 1 s");
    shows_who_waits(&outcome);
    let outcome = role(2, "wait").env("MPIEXEC_TIMEOUT", "1").run();
    assert_eq!(outcome.code, 124);
}

fn when_asked() {
    let running = role(2, "wait").start();
    running.wait_for(2, "launch");
    until("the table is there", || {
        running.signal(Signal::USR1);
        std::thread::sleep(std::time::Duration::from_millis(50));
        running.said("MPI_Recv").then_some(())
    });
    running.signal(Signal::TERM);
    let outcome = running.finish();
    assert_eq!(outcome.code, 143);
    outcome.says("MPI_Recv");
}

fn when_a_rank_dies() {
    let outcome = role(3, "kill:9").run();
    assert!(line(&outcome, "1").contains("SIGKILL"), "{outcome:?}");
    assert!(line(&outcome, "2").contains("sleeping"));
}

/// A job that hangs says why before it is ended by hand.
fn when_it_is_ended() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let running = role(2, "wait").start();
        running.wait_for_output("waiting", 2);
        running.signal(signal);
        let outcome = running.finish();
        assert_eq!(outcome.code, code);
        shows_who_waits(&outcome);
    }
    // A program that is not in MPI gives no table.
    let running = crate::harness::mpiexec(["-n", "2", "sh", "-c", "echo up; sleep 1000"]).start();
    running.wait_for_output("up", 2);
    running.signal(Signal::INT);
    let outcome = running.finish();
    assert!(!outcome.error.contains("waits in"), "{outcome:?}");
}

/// Of ranks that are in no call that waits.
fn what_ranks_do() {
    let running = role(4, "activities").start();
    running.wait_for_output("activity", 4);
    // Rank 3 stops itself after it has said so.
    let stopped = || {
        running.signal(Signal::USR1);
        std::thread::sleep(std::time::Duration::from_millis(20));
        running.said("stopped").then_some(())
    };
    until("a rank is stopped", stopped);
    running.signal(Signal::TERM);
    let outcome = running.finish();
    let tables: Vec<&str> = outcome.error.split("waits in").collect();
    let last = tables.last().expect("a table");
    for (rank, words) in [
        ("0", "in MPI"),
        ("1", "computing"),
        ("2", "sleeping"),
        ("3", "stopped"),
    ] {
        let is_of = |line: &&str| line.split_whitespace().next() == Some(rank);
        let line = last.lines().find(is_of);
        assert!(
            line.is_some_and(|line| line.contains(words)),
            "rank {rank} is not {words} in {outcome:?}"
        );
    }
    outcome.says("MPI_Recv +1").says(" s ");
}
