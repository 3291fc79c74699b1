//! The library of the C++ bindings: it has the names of MPICH's, and runs programs built with those.

mod abi;

use abi::{exported, facts, have, run, scratch, stage, staged};
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn the_library_has_the_names_of_mpichs() {
    let Some(text) = facts("symbols/debian-mpichcxx-4.0.2.txt") else {
        return;
    };
    let library = stage().join("lib/libmpichcxx.so.12");
    let ours: BTreeSet<String> = exported(&library)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let theirs: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_owned)
        .collect();
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let more: Vec<_> = ours.difference(&theirs).collect();
    assert!(
        missing.is_empty() && more.is_empty(),
        "missing {missing:?}, more {more:?}"
    );
}

#[test]
fn a_program_built_with_mpichs_bindings_runs() {
    if !have("libmpich-dev") {
        return;
    }
    let work = scratch("bindings");
    let source = abi::root().join("tests/abi/bindings.cpp");
    let mut compile = Command::new("mpicxx.mpich");
    run(compile
        .current_dir(&work)
        .arg("-w")
        .arg(source)
        .args(["-o", "bindings"]));
    let dynamic = run(Command::new("readelf")
        .arg("-dW")
        .arg(work.join("bindings")));
    assert!(dynamic.contains("libmpichcxx.so.12"), "{dynamic}");
    let mut job = staged("mpiexec");
    job.args(["-n", "2"]).arg(work.join("bindings"));
    job.env("LD_LIBRARY_PATH", stage().join("lib"))
        .env("LD_BIND_NOW", "1");
    let told = run(&mut job);
    let mut lines: Vec<&str> = told.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["handler of 2 ranks", "rank 0 is right", "rank 1 is right"]
    );
}
