//! What to run, and with which environment.

use super::Takes::{None as No, One, Variable};
use super::{Choice, choice, list, pair, positive};
use crate::mpiexec::request::{Parsing, Pass, Tool, Universe};
use oxmpi::launch::names;

pub const WHAT: &[Choice] = &[
    choice(
        &["n", "np", "c"],
        One("N"),
        "number of ranks (1)",
        |parsing, given| {
            parsing.program.ranks = Some(positive(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["wdir", "wd"],
        One("FOLDER"),
        "working folder of the ranks",
        |parsing, given| {
            *parsing.folder() = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["path"],
        One("FOLDERS"),
        "where to look for the programs, before PATH",
        |parsing, given| {
            parsing.request.path = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["initial-errhandler"],
        One("HANDLER"),
        "error handler that MPI_COMM_WORLD begins with: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
        |parsing, given| {
            let handler = given[0].to_ascii_lowercase();
            let pair = ("OXMPI_INITIAL_ERRHANDLER".to_owned(), handler);
            parsing.program.set.push(pair);
            Ok(())
        },
    ),
    choice(
        &["memory-alloc-kinds"],
        One("KINDS"),
        "kinds of memory that the ranks ask for, which MPI_INFO_ENV tells them; mpi and system are supported",
        |parsing, given| {
            let pair = (names::MEMORY_KINDS.to_owned(), given[0].clone());
            parsing.program.set.push(pair);
            Ok(())
        },
    ),
    choice(
        &["configfile"],
        One("FILE"),
        "take options and programs from a file, one program a line",
        |parsing, given| parsing.config_file(&given[0]),
    ),
    choice(
        &["gtool"],
        One("TOOL:RANKS;.."),
        "start these ranks by a tool, such as \"valgrind -q:0,2-3\" or \"perf record:all\"; RANKS=exclusive: only the \
         first of them",
        |parsing, given| tools(parsing, &given[0]),
    ),
    choice(
        &["gtoolfile"],
        One("FILE"),
        "the same from a file",
        |parsing, given| {
            let text = parsing.text(&given[0])?;
            tools(parsing, &text.replace('\n', ";"))
        },
    ),
    choice(
        &["xterm"],
        One("RANKS"),
        "start these ranks in windows of xterm; with ! behind it the windows stay open",
        |parsing, given| {
            let tool = Tool::xterm(&given[0])?;
            parsing.request.tools.push(tool);
            Ok(())
        },
    ),
    choice(
        &["check_mpi", "check-mpi"],
        No,
        "look for mistakes: collective calls and types of messages that differ between ranks, buffers that change or overlap while they are in use, and what is not freed or received at the end (OXMPI_CHECK=all)",
        |parsing, _| {
            let check = ("OXMPI_CHECK".into(), "all".into());
            parsing.request.set.push(check);
            Ok(())
        },
    ),
    choice(
        &["do-not-launch"],
        No,
        "do everything but start the ranks",
        |parsing, _| {
            parsing.request.do_not_launch = true;
            Ok(())
        },
    ),
    choice(
        &["usize"],
        One("N"),
        "universe size: a number, SYSTEM or INFINITE (MPI_UNIVERSE_SIZE is not set)",
        |parsing, given| {
            parsing.request.universe = match given[0].to_ascii_uppercase().as_str() {
                "SYSTEM" => Universe::System,
                "INFINITE" => Universe::Infinite,
                _ => Universe::Of(positive(&given[0])?),
            };
            Ok(())
        },
    ),
];

pub const SETS: &[Choice] = &[choice(
    &["pset"],
    One("NAME=RANKS"),
    "a process set for MPI's sessions: ranks such as 0-3,6 or 0-6:2 or all; may be repeated",
    |parsing, given| {
        parsing.request.process_sets.push(given[0].clone());
        Ok(())
    },
)];

pub const ENVIRONMENT: &[Choice] = &[
    choice(
        &["genv"],
        Variable,
        "set a variable for all programs",
        |parsing, given| {
            let pair = pair(given)?;
            parsing.request.set.push(pair);
            Ok(())
        },
    ),
    choice(
        &["env"],
        Variable,
        "set a variable for this program",
        |parsing, given| {
            let pair = pair(given)?;
            parsing.program.set.push(pair);
            Ok(())
        },
    ),
    choice(
        &["x"],
        One("NAME[=VALUE]"),
        "pass or set a variable (Open MPI's way)",
        |parsing, given| {
            let value = given[0].split_once('=');
            match value {
                Some((name, value)) => parsing.request.set.push((name.into(), value.into())),
                // Everything is passed anyhow, unless another option says otherwise.
                None => parsing.request.also_pass.push(given[0].clone()),
            }
            Ok(())
        },
    ),
    choice(
        &["genvlist"],
        One("A,B,.."),
        "pass only these variables",
        |parsing, given| {
            parsing.request.pass = Some(Pass::List(list(&given[0])));
            Ok(())
        },
    ),
    choice(
        &["envlist"],
        One("A,B,.."),
        "the same for this program",
        |parsing, given| {
            parsing.program.pass = Some(Pass::List(list(&given[0])));
            Ok(())
        },
    ),
    choice(
        &["genvexcl"],
        One("A,B,.."),
        "pass all but these variables",
        |parsing, given| {
            parsing.request.pass = Some(Pass::AllBut(list(&given[0])));
            Ok(())
        },
    ),
    choice(
        &["envexcl"],
        One("A,B,.."),
        "the same for this program",
        |parsing, given| {
            parsing.program.pass = Some(Pass::AllBut(list(&given[0])));
            Ok(())
        },
    ),
    choice(
        &["genvall"],
        No,
        "pass the whole environment (default)",
        |parsing, _| {
            parsing.request.pass = Some(Pass::All);
            Ok(())
        },
    ),
    choice(
        &["envall"],
        No,
        "the same for this program",
        |parsing, _| {
            parsing.program.pass = Some(Pass::All);
            Ok(())
        },
    ),
    choice(&["genvnone"], No, "pass no variable", |parsing, _| {
        parsing.request.pass = Some(Pass::Nothing);
        Ok(())
    }),
    choice(
        &["envnone"],
        No,
        "the same for this program",
        |parsing, _| {
            parsing.program.pass = Some(Pass::Nothing);
            Ok(())
        },
    ),
];

fn tools(parsing: &mut Parsing, text: &str) -> Result<(), String> {
    for part in text.split(';').map(str::trim) {
        if !part.is_empty() {
            parsing.request.tools.push(Tool::parse(part)?);
        }
    }
    Ok(())
}
