//! What each strategy must and must not do in the jobs.
//!
//! The small jobs are part of `make check` (seconds), the large ones (ignored) of `make check-long`.

use super::Job;
use super::explore::{describe, explore};
use super::jobs::*;
use crate::context_id::agreement::{ALL, Settings, Strategy};
use stateright::{Checker, Model};

/// Every state is right, and the end can be reached from each.
fn is_sound(name: &str, job: Job) {
    let explored = explore(&job);
    println!("{name}: {} states", explored.states);
    if let Some((schedule, _)) = explored.doomed {
        panic!(
            "{name}: nobody can end after\n{}",
            describe(&job, &schedule)
        );
    }
    job.checker().spawn_bfs().join().assert_properties();
}

/// There is a schedule after which the end cannot be reached. Returns it in words.
#[cfg(feature = "papers")]
fn is_doomed(name: &str, job: Job) -> String {
    let explored = explore(&job);
    let Some((schedule, state)) = explored.doomed else {
        panic!("{name}: {} states, and none is a deadlock", explored.states);
    };
    assert!(!state.wrong);
    let text = describe(&job, &schedule);
    println!("{name}: after {} steps\n{text}", schedule.len());
    text
}

fn run_time(strategy: Strategy) -> Settings {
    at_run_time(strategy, 1)
}

#[test]
#[cfg(feature = "papers")]
fn the_algorithm_of_2006_deadlocks_in_figure_1_of_paper_000() {
    let text = is_doomed("figure 1", figure_1(as_printed(Strategy::Mask)));
    let held = text.matches("mask in use true").count();
    assert_eq!(
        held, 2,
        "both processes' masks are held by the duplicates of the threads' communicators"
    );
}

#[test]
#[cfg(feature = "papers")]
fn the_cure_of_paper_000_does_not() {
    is_sound("figure 1, mask", figure_1(run_time(Strategy::Mask)));
}

#[test]
fn seeds_are_unique_and_agreed_on() {
    is_sound("seeds, frees", frees(with_seeds()));
}

#[test]
#[ignore = "large"]
fn seeds_of_groups_and_of_duplicates_are_unique_and_agreed_on() {
    let jobs = [
        ("seeds, groups", groups as fn(Settings) -> Job),
        ("seeds, duplicates of duplicates", of_duplicates),
        ("seeds, twice on a duplicate", twice_on_a_duplicate),
        ("seeds, outstanding", outstanding),
    ];
    for (name, job) in jobs {
        is_sound(name, job(with_seeds()));
    }
}

#[test]
#[cfg(feature = "papers")]
fn as_printed_waiting_before_all_have_begun_deadlocks() {
    for strategy in [Strategy::Queue, Strategy::Candidate, Strategy::Highest] {
        is_doomed(
            &format!("opposite orders, {strategy}"),
            opposite_orders(as_printed(strategy)),
        );
    }
}

#[test]
fn every_strategy_of_a_job_is_sound_in_figure_1_and_in_opposite_orders() {
    for strategy in ALL {
        is_sound(
            &format!("figure 1, {strategy}"),
            figure_1(run_time(strategy)),
        );
        is_sound(
            &format!("opposite orders, {strategy}"),
            opposite_orders(run_time(strategy)),
        );
    }
}

fn scarce(strategy: Strategy) {
    let settings = run_time(strategy);
    is_sound(&format!("extended, {strategy}"), fragmented(settings, 2));
    is_sound(&format!("exhausted, {strategy}"), fragmented(settings, 1));
}

#[test]
fn operations_that_do_not_block_are_sound() {
    is_sound("outstanding", outstanding(run_time(Strategy::Lease)));
}

#[test]
#[cfg(feature = "papers")]
fn ids_may_be_scarce_or_run_out() {
    [Strategy::Mask, Strategy::Candidate]
        .into_iter()
        .for_each(scarce);
}

#[test]
#[ignore = "large"]
fn every_strategy_is_sound_where_ids_are_scarce_or_run_out() {
    ALL.into_iter().for_each(scarce);
}

#[test]
#[ignore = "large"]
fn every_strategy_is_sound_when_operations_do_not_block() {
    for strategy in ALL {
        is_sound(
            &format!("outstanding, {strategy}"),
            outstanding(run_time(strategy)),
        );
    }
}

#[test]
#[ignore = "large"]
fn every_strategy_is_sound_with_frees() {
    for strategy in ALL {
        is_sound(&format!("frees, {strategy}"), frees(run_time(strategy)));
    }
}

#[test]
#[ignore = "large"]
fn every_strategy_is_sound_with_groups() {
    for strategy in ALL {
        is_sound(&format!("groups, {strategy}"), groups(run_time(strategy)));
    }
}

#[test]
#[ignore = "large"]
fn every_strategy_is_sound_in_a_ring_of_three() {
    for strategy in ALL {
        is_sound(&format!("ring, {strategy}"), ring(run_time(strategy)));
    }
}

#[test]
#[ignore = "large"]
fn every_strategy_is_sound_with_three_threads() {
    for strategy in ALL {
        is_sound(
            &format!("three threads, {strategy}"),
            three_threads(run_time(strategy)),
        );
    }
}

#[test]
#[ignore = "large"]
fn the_default_is_sound_with_three_threads_of_three_processes() {
    is_sound("three by three", three_by_three(run_time(Strategy::Lease)));
}

/// The eager part is used up, as it is after a thousand ids: whoever has no lease takes its turn in the queue.
fn used_up() -> Settings {
    at_run_time(Strategy::Lease, 0)
}

#[test]
fn the_default_is_sound_without_an_eager_part() {
    is_sound("figure 1, used up", figure_1(used_up()));
    is_sound("opposite orders, used up", opposite_orders(used_up()));
    is_sound("extended, used up", fragmented(used_up(), 2));
}

#[test]
#[ignore = "large"]
fn the_default_is_sound_without_an_eager_part_in_large_jobs() {
    is_sound("outstanding, used up", outstanding(used_up()));
    is_sound("exhausted, used up", fragmented(used_up(), 1));
    is_sound("frees, used up", frees(used_up()));
    is_sound("groups, used up", groups(used_up()));
    is_sound("ring, used up", ring(used_up()));
    is_sound("three threads, used up", three_threads(used_up()));
}
