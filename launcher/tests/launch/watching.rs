//! `mpiexec -top`: a second mpiexec looks at a job.

use crate::MPIEXEC;
use crate::harness::mpiexec;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[(&str, fn())] = &[
    ("watching::a_job_is_shown_until_it_ends", a_job_is_shown),
    ("watching::nothing_to_show", nothing_to_show),
];

fn a_job_is_shown() {
    let job = Command::new(MPIEXEC)
        .args(["-n", "2", "sleep", "3"])
        .stdin(Stdio::null())
        .spawn();
    let mut job = job.expect("mpiexec");
    let begin = Instant::now();
    // Its ranks may not be there yet.
    let shown = loop {
        let shown = mpiexec(["-top", &job.id().to_string(), "0.2"]).run();
        if shown.code == 0 || begin.elapsed() > Duration::from_secs(20) {
            break shown;
        }
    };
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(
        shown.output.contains("2 ranks, 0 of them waiting"),
        "{shown:?}"
    );
    assert!(
        shown.output.matches("before MPI_Init").count() >= 2,
        "{shown:?}"
    );
    assert!(job.wait().expect("the job").success());
}

fn nothing_to_show() {
    let own = std::process::id().to_string();
    for (words, text) in [
        (&["-top"][..], "-top takes the process id"),
        (&["-top", "word"], "'word' is no process id"),
        (&["-top", &own, "0"], "the period is from"),
        (&["-top", "999999999"], "no rank of oxmpi runs below"),
    ] {
        let outcome = mpiexec(words).run();
        assert_eq!(outcome.code, 1, "{outcome:?}");
        outcome.says(text);
    }
}
