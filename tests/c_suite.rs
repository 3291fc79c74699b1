//! Compiles the programs of `c-tests/` and runs them as MPI jobs, one trial for each line of the
//! testlists and number of ranks, named `chapter/name/np`. `tests/c_suite/` has the parts: `list`
//! (the testlists), `toolchain` (compilers and launchers), `job` (one run under a time limit).
//! Invariant: a trial passes only if the job ended by itself with the expected code and, unless the
//! line says otherwise, rank 0 printed the closing line for exactly this program and rank count.
//!
//!     cargo test --test c_suite -- pt2pt/          # programs whose name contains pt2pt/
//!
//! | variable | meaning |
//! |---|---|
//! | `OXMPI_STAGE` | the staged prefix; default `target/stage` |
//! | `C_SUITE_REFERENCE` | `1`: Debian's mpicc.mpich and mpiexec.mpich; a path: that prefix. If the stage is there too, both run and their output is compared |
//! | `C_SUITE_ABI` | `1`: compiled with mpicc.mpich, run by the staged mpiexec on the staged library; `standard`: for the standard ABI by the staged mpicc_abi; a path: by the mpicc_abi of that prefix |
//! | `C_SUITE_MPIEXEC` | another launcher for the staged library, such as `mpiexec.hydra` |
//! | `C_SUITE_FABRIC` | `1`: the ranks are on two pretended nodes (or as `OXMPI_PRETEND` says), with a fabric between them (tcp, or `OXMPI_FABRIC`); `hosts`: they are on several hosts anyway. Without the lines marked `fabric=no` |
//! | `C_SUITE_FC` | another compiler than gfortran for the Fortran programs, whose modules are there (`make check-flang`) |
//! | `C_SUITE_LONG` | `1`: the lines marked `long` too |
//! | `C_SUITE_PAPERS` | `1`: the library has the feature `papers`; only the lines marked `papers` |
//! | `C_SUITE_WRAP` | words put before each rank's program, such as `valgrind -q --error-exitcode=99`; `forbid` with names of system calls: they fail (c-tests/wrappers/forbid.c) |
//! | `C_SUITE_SECONDS` | time limit of a trial; default 60, under valgrind 1200 |
//! | `C_SUITE_TIMES` | a file: seconds, seconds of processors and name of each trial's run are added to it |
//! | `C_SUITE_RANKS` | ranks that may run at one time over all trials; default 8 (reference: 1 trial) |

#[path = "c_suite/job.rs"]
mod job;
#[path = "c_suite/list.rs"]
mod list;
#[path = "harness/parts.rs"]
mod parts;
#[path = "harness/streams.rs"]
mod streams;
#[path = "c_suite/toolchain.rs"]
mod toolchain;

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex};
use toolchain::Toolchain;

/// Trials that wait for the end of others, for a compiler or for their own ranks, at one time.
const THREADS: usize = 24;
/// Of them those whose ranks wait.
const IDLE: usize = 16;

/// What all trials share.
struct Suite {
    source: PathBuf,
    /// The library whose results count: oxmpi, or the reference when there is no stage.
    subject: Toolchain,
    /// In a reference run with a stage: what the subject's output is compared with.
    reference: Option<Toolchain>,
    ranks: Slots,
    /// Trials whose ranks wait, which run beside these.
    idle: Slots,
    seconds: u64,
    wrap: Vec<String>,
}

/// Counts what runs, such as ranks: trials of many ranks take more of the machine.
struct Slots {
    capacity: usize,
    used: Mutex<usize>,
    freed: Condvar,
}

impl Slots {
    fn new(capacity: usize) -> Slots {
        Slots {
            capacity,
            used: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    fn with<T>(&self, wanted: usize, run: impl FnOnce() -> T) -> T {
        let wanted = wanted.min(self.capacity);
        let mut used = self.used.lock().unwrap();
        while *used + wanted > self.capacity {
            used = self.freed.wait(used).unwrap();
        }
        *used += wanted;
        drop(used);
        let result = run();
        *self.used.lock().unwrap() -= wanted;
        self.freed.notify_all();
        result
    }
}

/// Does every instruction take many times as long?
fn is_slow(wrap: &[String]) -> bool {
    wrap.first().is_some_and(|word| word.contains("valgrind"))
}

fn flag(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("c-tests");
    let (lines, mistakes) = list::read(&source);
    if arguments.list {
        let trials = lines
            .iter()
            .map(|line| Trial::test(line.name.clone(), || Ok(())));
        return libtest_mimic::run(&arguments, trials.collect()).exit_code();
    }
    let build = root.join("target/c-tests");
    let stage = toolchain::stage(&root, &build);
    let wanted_reference = flag("C_SUITE_REFERENCE");
    let (subject, reference) = match (stage, wanted_reference) {
        (Ok(subject), false) => (subject, None),
        (Ok(subject), true) => match toolchain::reference(&build) {
            Ok(reference) => (subject, Some(reference)),
            Err(text) => return refuse(&text),
        },
        (Err(text), true) => match toolchain::reference(&build) {
            Ok(reference) => {
                eprintln!("c_suite: {text}: the reference runs alone, nothing is compared");
                (reference, None)
            }
            Err(text) => return refuse(&text),
        },
        (Err(text), false) => return refuse(&text),
    };
    eprintln!("c_suite: {}", subject.describe());
    if let Some(reference) = &reference {
        eprintln!("c_suite: compared with {}", reference.describe());
    }
    let mut wrap: Vec<String> = std::env::var("C_SUITE_WRAP")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    if wrap.first().is_some_and(|word| word == "forbid") {
        match toolchain::forbid(&source, &build) {
            Ok(path) => wrap[0] = path,
            Err(text) => return refuse(&text),
        }
    }
    let number = |name: &str| -> Option<u64> { std::env::var(name).ok()?.parse().ok() };
    let seconds = number("C_SUITE_SECONDS").unwrap_or(if is_slow(&wrap) { 20 * 60 } else { 60 });
    // The reference spins while it waits: more ranks than cores make each other very slow.
    let spins = subject.is_reference || reference.is_some();
    let default_threads = if spins { 1 } else { THREADS };
    arguments.test_threads.get_or_insert(default_threads);
    let capacity = number("C_SUITE_RANKS").unwrap_or(8) as usize;
    let suite = Arc::new(Suite {
        source,
        subject,
        reference,
        ranks: Slots::new(capacity),
        idle: Slots::new(IDLE),
        seconds,
        wrap,
    });

    let mut trials = vec![Trial::test("testlist/complete", move || {
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(Failed::from(mistakes.join("\n")))
        }
    })];
    for line in lines {
        let missing = line.missing(&suite.subject);
        let mut ignored = (line.long && !flag("C_SUITE_LONG"))
            || line.papers != flag("C_SUITE_PAPERS")
            || line.skip_on(&suite.subject).is_some()
            || (line.unwrapped && is_slow(&suite.wrap));
        if let (Some((reason, package)), false) = (&missing, ignored) {
            ignored = true;
            if wanted(&arguments, &line.name) {
                parts::skip(&line.name, reason, *package);
            }
        }
        let suite = suite.clone();
        let name = line.name.clone();
        trials.push(Trial::test(name, move || run_line(&suite, &line)).with_ignored_flag(ignored));
    }
    libtest_mimic::run(&arguments, spread(trials)).exit_code()
}

/// The trials in an order that has none of a chapter near each other (multiples of the golden ratio): those that wait for seconds, and those
/// that need all cores, stand together in the lists.
fn spread(trials: Vec<Trial>) -> Vec<Trial> {
    let mut numbered: Vec<_> = (0u64..).zip(trials).collect();
    numbered.sort_by_key(|(number, _)| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    numbered.into_iter().map(|(_, trial)| trial).collect()
}

/// Whether the command line names this trial.
fn wanted(arguments: &Arguments, name: &str) -> bool {
    let names = |text: &String| match arguments.exact {
        true => name == text,
        false => name.contains(text.as_str()),
    };
    arguments.filter.as_ref().is_none_or(names) && !arguments.skip.iter().any(names)
}

/// Without a library to test nothing may look like a success.
fn refuse(text: &str) -> ExitCode {
    eprintln!("c_suite: {text}");
    eprintln!("c_suite: run `make` first, or name a prefix in OXMPI_STAGE");
    ExitCode::FAILURE
}

fn run_line(suite: &Suite, line: &list::Line) -> Result<(), Failed> {
    let output = run_on(suite, line, &suite.subject)?;
    let Some(reference) = &suite.reference else {
        return Ok(());
    };
    if line.skip_on(reference).is_some() || !line.compare {
        return Ok(());
    }
    let expected = run_on(suite, line, reference)?;
    // Ranks write in any order: the lines are compared as a set with repetitions.
    if sorted(&output) == sorted(&expected) {
        return Ok(());
    }
    Err(Failed::from(format!(
        "the output differs\n--- {}\n{}--- {}\n{}",
        suite.subject.name,
        sorted(&output).join("\n") + "\n",
        reference.name,
        sorted(&expected).join("\n") + "\n",
    )))
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Compiles and runs one line on one library; the standard output when all is as expected.
fn run_on(suite: &Suite, line: &list::Line, on: &Toolchain) -> Result<String, Failed> {
    let compiled = on.compile(&suite.source, line, &suite.ranks);
    let program = compiled.map_err(Failed::from)?;
    let seconds = suite.seconds.max(line.seconds.unwrap_or(0));
    let (slots, wanted) = match line.idle {
        true => (&suite.idle, 1),
        false => (&suite.ranks, line.ranks),
    };
    let outcome = slots.with(wanted, || {
        job::run(on, line, &program, &suite.wrap, seconds)
    });
    let outcome = outcome.map_err(Failed::from)?;
    if let Some(times) = std::env::var_os("C_SUITE_TIMES") {
        note_time(times.as_ref(), &outcome, &line.name)?;
    }
    match outcome.judge(line, on) {
        Ok(()) => Ok(outcome.stdout),
        Err(reason) => Err(Failed::from(format!(
            "{reason}\ncommand: {}\nended: {} after {:.2} s\n{}",
            outcome.command,
            outcome.ended(),
            outcome.seconds,
            outcome.streams(),
        ))),
    }
}

fn note_time(file: &Path, outcome: &job::Outcome, name: &str) -> std::io::Result<()> {
    let mut file = File::options().create(true).append(true).open(file)?;
    let (seconds, cpu_seconds) = (outcome.seconds, outcome.cpu_seconds);
    file.write_all(format!("{seconds:.2} {cpu_seconds:.2} {name}\n").as_bytes())
}
