//! mpiexec and joining a job, from outside: the built binary starts real processes. The ranks are shell commands, or this
//! very program in one of the roles of `roles.rs`.
//!
//! Invariant: after every test no process that it started is left; `harness.rs` looks for them by a mark in their
//! environment.

mod debuggers;
mod endings;
mod forwarding;
mod habits;
mod harness;
mod hosts;
mod joining;
#[path = "../../../tests/harness/marks.rs"]
mod marks;
mod options;
#[path = "../../../tests/harness/parts.rs"]
mod parts;
mod places;
mod reports;
mod roles;
mod sessions;
mod stopped;
mod terminal;
mod watching;

use libtest_mimic::{Arguments, Trial};
use oxmpi_launcher::mpiexec::sites;

pub const MPIEXEC: &str = env!("CARGO_BIN_EXE_mpiexec");

fn main() {
    // Where places are named, this program is mpiexec.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|it| it == sites::PART)
    {
        std::process::exit(sites::answer());
    }
    if let Ok(role) = std::env::var(harness::ROLE) {
        roles::play(&role);
    }
    let tests: Vec<(&str, fn())> = [
        options::TESTS,
        forwarding::TESTS,
        habits::TESTS,
        endings::TESTS,
        reports::TESTS,
        joining::TESTS,
        hosts::TESTS,
        sessions::TESTS,
        stopped::TESTS,
        terminal::TESTS,
        debuggers::TESTS,
        places::TESTS,
        watching::TESTS,
    ]
    .concat();
    let trials = tests
        .into_iter()
        .map(|(name, test)| {
            Trial::test(name, move || {
                test();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
