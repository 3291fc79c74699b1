//! The table of what the ranks are doing.

use crate::harness::{Outcome, role, role_with, until};
use rustix::process::Signal;

pub const TESTS: &[(&str, fn())] = &[
    ("reports::at_a_time_limit", at_a_time_limit),
    ("reports::when_asked", when_asked),
    ("reports::when_a_rank_dies", when_a_rank_dies),
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
    assert!(line(&outcome, "2").contains("in MPI"));
}
