//! `mpiexec -top`: a second mpiexec looks at a job.

use crate::MPIEXEC;
use crate::harness::{Running, mpiexec, role_with, signal_to, until};
use crate::hosts::{AGENT, parent_of};
use crate::terminal::{INTERRUPT, Terminal};
use rustix::process::Signal;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const TESTS: &[(&str, fn())] = &[
    ("watching::a_job_is_shown_until_it_ends", a_job_is_shown),
    ("watching::nothing_to_show", nothing_to_show),
    ("watching::ranks_of_all_hosts_are_shown", all_hosts),
    ("watching::many_ranks_on_a_terminal", many_ranks),
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
        (
            &["-top", "999999999"],
            "no mpiexec of this user runs as process 999999999",
        ),
    ] {
        let outcome = mpiexec(words).run();
        assert_eq!(outcome.code, 1, "{outcome:?}");
        outcome.says(text);
    }
}

/// The cells of the ranks in the last table that is whole. Blanks in pairs are between cells.
fn last_table(shown: &Running) -> Option<Vec<Vec<String>>> {
    let printed = shown.printed();
    let (whole, _) = printed.rsplit_once("\n\n")?;
    let table = whole.rsplit("\n\n").next()?;
    let cells = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim);
        let cells = cells.filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    Some(table.lines().skip(2).map(cells).collect())
}

fn all_hosts() {
    let hosts = ["-hosts", "localhost:1,192.0.2.1:2"];
    let patience = ["-host-timeout", "100"];
    let options = [&["-launcher-exec", AGENT][..], &hosts, &patience].concat();
    let job = role_with(3, "operations", &options).start();
    job.wait_for_output("operating", 3);
    let top = || mpiexec(["-top", &job.child.id().to_string(), "0.2"]).start();
    let shown = top();
    let all_there = "3 ranks, 0 of them waiting\n";
    shown.wait_for_output(all_there, 2);
    until("all ranks have begun operations", || {
        let mut table = last_table(&shown)?;
        table.sort();
        let places: Vec<&[String]> = table.iter().map(|row| &row[..2]).collect();
        let expected = [["0", "localhost"], ["1", "192.0.2.1"], ["2", "192.0.2.1"]];
        assert_eq!(places, expected);
        let rate = |row: &Vec<String>| row[8].trim_end_matches('k').parse::<f64>();
        let rates: Vec<f64> = table.iter().filter_map(|row| rate(row).ok()).collect();
        (rates.len() == 3 && rates.iter().all(|rate| *rate > 0.0)).then_some(())
    });
    // Its keeper does not answer; the root does.
    let processes = job.processes();
    let name = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    let is_keeper = |pid: &&i32| name(pid).is_ok_and(|it| it.contains("mpiexec\0-node-keeper"));
    let front = processes.iter().find(is_keeper).expect("a node keeper");
    let child_of = |parent: i32| {
        let mut children = processes.iter();
        let child = children.find(|pid| parent_of(**pid) == Some(parent));
        *child.expect("a child")
    };
    let keeper = child_of(child_of(*front));
    signal_to(keeper, Signal::STOP);
    shown.wait_for_output("; no answer from 192.0.2.1 (2 ranks)\n", 2);
    let states = last_table(&shown).expect("a table").into_iter();
    let states: Vec<String> = states.map(|mut row| row.swap_remove(3)).collect();
    assert_eq!(states[1..], ["no answer from its host"; 2]);
    signal_to(keeper, Signal::CONT);
    let again = top();
    again.wait_for_output(all_there, 1);
    job.signal(Signal::TERM);
    for shown in [shown, again] {
        assert_eq!(shown.finish().code, 0);
    }
    assert_eq!(job.finish().code, 143);
}

/// On eight lines of 60 columns.
fn many_ranks() {
    let shell = Terminal::shell();
    shell.types("stty rows 8 cols 60; $MPIEXEC -n 64 sleep 777 </dev/null &\n");
    shell.types("until $MPIEXEC -top $! 0.2 2>/dev/null; do sleep 0.1; done\n");
    shell.shows("64 ranks, 0 of them waiting");
    shell.shows("and 59 more, which wait longer");
    shell.types(INTERRUPT);
    shell.types("kill %1; wait; echo over-$((1 + 1))-\n");
    shell.shows("over-2-");
    shell.leave_shell();
}
