//! Input and output of the ranks, and what mpiexec tells.

use super::Takes::{None as No, One};
use super::{Choice, bytes_of, choice, list, seconds};
use crate::mpiexec::request::{Deadlock, Label, OutputFolder, Parsing, StandardInput};
use crate::mpiexec::survival;

pub const STREAMS: &[Choice] = &[
    choice(
        &["l", "prepend-rank"],
        No,
        "begin each line of output with its rank",
        |parsing, _| {
            parsing.request.label = Label::Rank;
            Ok(())
        },
    ),
    choice(
        &["tag-output"],
        No,
        "the same as Open MPI writes it",
        |parsing, _| {
            parsing.request.label = Label::Tag;
            Ok(())
        },
    ),
    choice(
        &["prepend-pattern"],
        One("TEXT"),
        "begin each line with a text: %r rank, %n ranks, %h host, %p process id of mpiexec, %% percent",
        |parsing, given| {
            parsing.request.label = Label::Pattern(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["outfile-pattern", "outfile"],
        One("TEXT"),
        "write a rank's output to a file",
        |parsing, given| {
            parsing.request.output_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["errfile-pattern", "errfile"],
        One("TEXT"),
        "the same for its error output",
        |parsing, given| {
            parsing.request.error_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["output-filename"],
        One("FOLDER[:nocopy]"),
        "write each rank's output to FOLDER/1/rank.N/stdout and stderr too; nocopy: only there; nojobid: without the 1",
        |parsing, given| {
            parsing.request.output_folder = Some(OutputFolder::parse(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["timestamp-output"],
        No,
        "begin each line with the time",
        |parsing, _| {
            parsing.request.timestamps = true;
            Ok(())
        },
    ),
    choice(
        &["merge-stderr-to-stdout"],
        No,
        "the ranks' error output goes where their output goes",
        |parsing, _| {
            parsing.request.merge_error = true;
            Ok(())
        },
    ),
    choice(
        &["output"],
        One("WHAT,.."),
        "Open MPI 5's way: tag, rank, timestamp, merge-stderr-to-stdout, dir=FOLDER, file=NAME (NAME.RANK.out and .err)",
        |parsing, given| output(parsing, &given[0]),
    ),
    choice(
        &["s", "stdin"],
        One("WHO"),
        "who reads standard input: 0, 1,3-5, all, none (0)",
        |parsing, given| {
            parsing.request.input = StandardInput::parse(&given[0])?;
            Ok(())
        },
    ),
];

pub const WATCHING: &[Choice] = &[
    choice(
        &["gdb"],
        No,
        "start each rank in gdb: commands go to all, \"z 0,2-3\" selects ranks and \"z\" all, equal lines of output come once with their ranks",
        |parsing, _| {
            parsing.request.gdb = true;
            Ok(())
        },
    ),
    choice(
        &["timeout"],
        One("SECONDS"),
        "end the job then, and say what each rank was waiting for (exit code 124)",
        |parsing, given| {
            parsing.request.timeout = Some(seconds(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["report-state-on-timeout"],
        No,
        "say at the timeout what each rank is doing: always done",
        |_, _| Ok(()),
    ),
    choice(
        &["deadlock"],
        One("report|abort|off"),
        "what to do once it is proved that no rank can go on: say which ranks wait for what (report), end the job too (abort, exit code \
         86), nothing (off)",
        |parsing, given| {
            parsing.request.deadlock = Some(Deadlock::parse(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["get-stack-traces"],
        No,
        "show the stacks of all ranks at the timeout and on SIGUSR1, equal ones together",
        |parsing, _| {
            parsing.request.stack_traces = true;
            Ok(())
        },
    ),
    choice(
        &["timeline"],
        One("FILE"),
        "write what each rank calls, and its messages, to FILE, for https://ui.perfetto.dev (.gz: compressed), and print where time went",
        |parsing, given| {
            parsing.request.timeline = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["timeline-limit"],
        One("SIZE"),
        "what each host records for the timeline at most, with k, m or g (400m); from half of it on, calls in a row that tell of no message are one",
        |parsing, given| {
            parsing.request.timeline_limit = Some(bytes_of("timeline-limit", &given[0])?);
            Ok(())
        },
    ),
    choice(
        &["report-pid"],
        One("FILE"),
        "write the process id of mpiexec to a file; -: standard output, +: standard error",
        |parsing, given| {
            parsing.request.report_pid = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["display"],
        One("WHAT,.."),
        "map (as -display-map), bind (as -report-bindings)",
        |parsing, given| {
            for what in list(&given[0]) {
                match what.as_str() {
                    "map" | "map-devel" | "allocation" => parsing.request.print_rank_map = true,
                    "bind" | "bindings" => parsing.request.report_bindings = true,
                    _ => return Err(format!("'{what}' is neither map nor bind")),
                }
            }
            Ok(())
        },
    ),
    choice(
        &[
            "print-rank-map",
            "display-map",
            "display-devel-map",
            "display-allocation",
        ],
        No,
        "print which ranks run where",
        |parsing, _| {
            parsing.request.print_rank_map = true;
            Ok(())
        },
    ),
    choice(
        &["print-all-exitcodes"],
        No,
        "print the exit code of each rank",
        |parsing, _| {
            parsing.request.print_exit_codes = true;
            Ok(())
        },
    ),
    choice(
        &["disable-auto-cleanup", "enable-recovery", "continuous"],
        No,
        "let the others go on when a rank dies",
        |parsing, _| {
            parsing.request.keep_going = true;
            Ok(())
        },
    ),
    choice(
        &["with-ft"],
        One("ulfm|mpi|no|auto"),
        "whether the program goes on when a rank dies, with MPI's functions for that (auto: if it has them)",
        |parsing, given| {
            parsing.request.survive = Some(survival::parse(&given[0])?);
            Ok(())
        },
    ),
    choice(&["v", "verbose"], No, "say what is done", |parsing, _| {
        parsing.request.verbose = true;
        Ok(())
    }),
];

/// Open MPI 5's list of directives; those behind a colon are about copies.
fn output(parsing: &mut Parsing, text: &str) -> Result<(), String> {
    let (directives, qualifiers) = match text.split_once(':') {
        Some((directives, qualifiers)) => (directives, format!(":{qualifiers}")),
        None => (text, String::new()),
    };
    for directive in list(directives) {
        match directive.split_once('=') {
            Some(("dir" | "directory", folder)) => {
                let folder = format!("{folder}{qualifiers}");
                parsing.request.output_folder = Some(OutputFolder::parse(&folder)?);
            }
            Some(("file" | "filename", name)) => {
                let name = name.replace('%', "%%");
                parsing.request.output_file = Some(format!("{name}.%r.out"));
                parsing.request.error_file = Some(format!("{name}.%r.err"));
            }
            _ => match directive.as_str() {
                "tag" | "tag-detailed" | "tag-fullname" => parsing.request.label = Label::Tag,
                "rank" => parsing.request.label = Label::Rank,
                "timestamp" => parsing.request.timestamps = true,
                "merge" | "merge-stderr-to-stdout" => parsing.request.merge_error = true,
                _ => return Err(format!("'{directive}' is not understood")),
            },
        }
    }
    Ok(())
}
