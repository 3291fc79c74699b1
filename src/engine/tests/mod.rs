//! Engines of one job that take turns in one thread, over a real segment: a seed decides who sends what, in which mode, who
//! receives, and who looks at how many records, so that messages wait for room in all states and replies come in all of them.
//!
//! A buffer is overwritten at once when its send is complete. Each byte that is received is compared.

mod conformance;
mod data;
mod job;
mod play;
mod rank;

use play::{Play, Reached};

/// What a reply says, and whether the first part of the message still waited for room when it came.
const REPLIES: [&str; 11] = [
    "done, first part gone",
    "done, first part queued",
    "enough, first part gone",
    "enough, first part queued",
    "more, first part gone",
    "more, first part queued",
    "refused, first part gone",
    "refused, first part queued",
    "read, first part gone",
    "unreadable, first part gone",
    "unreadable and nothing wanted, first part gone",
];

/// What has waited for room, and for receives.
const QUEUED: [&str; 5] = ["short", "long", "first part", "reply", "held back"];

fn plays(seeds: std::ops::Range<u64>) -> Reached {
    let mut reached = Reached::default();
    for seed in seeds {
        println!("seed {seed}");
        Play::new(seed).run(&mut reached);
    }
    println!("{reached:#?}");
    reached
}

#[test]
fn a_complete_send_has_nothing_queued_and_its_data_has_left() {
    let reached = plays(0..120);
    for what in REPLIES.iter().chain(&QUEUED) {
        assert!(reached.contains_key(what), "no play has reached: {what}");
    }
}

#[test]
#[ignore = "long"]
fn a_complete_send_has_nothing_queued_in_many_plays() {
    plays(1000..6000);
}
