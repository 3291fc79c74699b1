//! Debuggers as ranks outlive the programs that they have started. Skipped where gdb is not installed.

use crate::harness::{Outcome, ROLE, mpiexec, own_path};
use crate::parts;
use crate::terminal::{INTERRUPT, Terminal};

pub const TESTS: &[(&str, fn())] = &[
    ("debuggers::one_rank_aborts", one_rank_aborts),
    ("debuggers::a_rank_of_two_dies", a_rank_of_two_dies),
    (
        "debuggers::interrupted_at_the_prompt",
        interrupted_at_the_prompt,
    ),
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
