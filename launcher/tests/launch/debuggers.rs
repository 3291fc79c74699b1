//! Debuggers as ranks outlive the programs that they have started. Skipped where gdb is not installed.

use crate::harness::{MPIEXEC, Outcome, ROLE, launcher, mpiexec, own_path};
use crate::parts;
use crate::terminal::{INTERRUPT, Terminal};

pub const TESTS: &[(&str, fn())] = &[
    ("debuggers::one_rank_aborts", one_rank_aborts),
    ("debuggers::a_rank_of_two_dies", a_rank_of_two_dies),
    (
        "debuggers::interrupted_at_the_prompt",
        interrupted_at_the_prompt,
    ),
    ("debuggers::table_of_processes", table_of_processes),
    ("debuggers::without_a_debugger", without_a_debugger),
];

/// Ranks in gdb, which runs these commands.
fn in_gdb(ranks: &str, role: &str, commands: &[&str]) -> Outcome {
    let own = own_path();
    let mut arguments = vec!["-n", ranks, "gdb", "-nx", "-q", "-batch"];
    for command in commands {
        arguments.extend(["-ex", command]);
    }
    arguments.push(&own);
    mpiexec(arguments)
        .env(ROLE, role)
        .env("DEBUGINFOD_URLS", "")
        .run()
}

fn one_rank_aborts() {
    if parts::has_all("debuggers::one_rank_aborts", &["gdb"]) {
        let outcome = in_gdb("1", "abort:5", &["run", "shell sleep 2 && echo still-here"]);
        assert_eq!(outcome.code, 5, "{outcome:?}");
        outcome.says("ended the job with exit code 5");
        assert!(outcome.output.contains("still-here"), "{outcome:?}");
    }
}

/// The job goes on as long as its debugger, and says so.
fn a_rank_of_two_dies() {
    if parts::has_all("debuggers::a_rank_of_two_dies", &["gdb"]) {
        let commands = [
            "run",
            // Until mpiexec has had a look at it.
            "shell sleep 6",
            "kill",
            "shell sleep 2 && echo still-here",
        ];
        let outcome = in_gdb("2", "kill:11", &commands);
        assert_eq!(outcome.code, 1, "{outcome:?}");
        outcome
            .says("rank 1")
            .says("in its debugger, gdb")
            .says("without MPI_Finalize");
        assert!(outcome.output.contains("still-here"), "{outcome:?}");
    }
}

fn interrupted_at_the_prompt() {
    if parts::has_all("debuggers::interrupted_at_the_prompt", &["gdb"]) {
        let shell = Terminal::shell();
        shell.types("$MPIEXEC -n 1 gdb -nx -q; echo code-$?-\n");
        shell.shows("(gdb)");
        shell.types(INTERRUPT);
        shell.shows("Quit");
        shell.types("shell sleep 2\n");
        shell.types("print 40 + 2\n");
        shell.shows("$1 = 42");
        shell.types("quit\n");
        shell.shows("code-0-");
        // A program that dies of it ends the job. A shell that waits for a program would leave the decision to that one, which may not
        // have been there yet.
        shell.types("$MPIEXEC -n 1 sh -c 'echo up-1-; exec sleep 1000'; echo code-$?-\n");
        shell.shows("up-1-");
        shell.types(INTERRUPT);
        shell.shows("code-130-");
        shell.leave_shell();
    }
}

/// As a parallel debugger does: stops mpiexec at main, says that it is there, and reads the table at MPIR_Breakpoint. Ranks wait until it goes on.
fn table_of_processes() {
    if !parts::has_all("debuggers::table_of_processes", &["gdb"]) {
        return;
    }
    let own = own_path();
    let mut arguments = vec!["-nx", "-q", "-batch"];
    for command in [
        "break main",
        "run",
        "set var MPIR_being_debugged = 1",
        "break MPIR_Breakpoint",
        "continue",
        "print MPIR_proctable_size",
        "print MPIR_debug_state",
        "ptype MPIR_proctable",
        "print MPIR_proctable[0]@3",
        "print &MPIR_i_am_starter",
        "print &MPIR_partial_attach_ok",
        "shell sleep 1; echo at-the-breakpoint",
        "delete",
        "continue",
    ] {
        arguments.extend(["-ex", command]);
    }
    arguments.extend(["--args", MPIEXEC, "-n", "3", &own]);
    let outcome = launcher("gdb", arguments)
        .env(ROLE, "gate")
        .env("DEBUGINFOD_URLS", "")
        .run();
    let output = &outcome.output;
    let has = |text: &str| assert!(output.contains(text), "{text}: {outcome:?}");
    has("$1 = 3");
    has("$2 = 1");
    has("char *host_name;");
    has("char *executable_name;");
    has("int pid;");
    let name = own.rsplit('/').next().unwrap_or_default();
    let entries = output.matches(&format!("{name}\", pid = ")).count();
    assert_eq!(entries, 3, "{outcome:?}");
    has("<MPIR_i_am_starter>");
    has("<MPIR_partial_attach_ok>");
    let at = |text: &str| {
        let at = output.find(text);
        at.unwrap_or_else(|| panic!("{text}: {outcome:?}"))
    };
    for rank in 0..3 {
        let gone = at(&format!("gone-on-{rank}-"));
        assert!(at(&format!("at-the-gate-{rank}-")) < at("at-the-breakpoint"));
        assert!(gone > at("at-the-breakpoint"), "{outcome:?}");
    }
    has("exited normally");
}

/// Nobody waits where there is none.
fn without_a_debugger() {
    let outcome = mpiexec(["-n", "2", &own_path()]).env(ROLE, "gate").run();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.output.contains("gone-on-1-"), "{outcome:?}");
}
