//! Random programs: `c-tests/random/program.c` under the staged mpiexec, run after run, each with a seed of its own that decides ranks, threads,
//! rounds and the library's variables; some are stopped and moved between cores meanwhile. The ranks verify each byte and status.
//! Invariant: a run passes only if the job ended by itself and rank 0 said what was checked. A failure prints the command that repeats it.
//!
//!     cargo test --test random                       # 20 seconds
//!     RANDOM_SECONDS=3600 cargo test --test random   # as long as wanted, over all trials
//!
//! | variable | meaning |
//! |---|---|
//! | `OXMPI_STAGE` | the staged prefix; default `target/stage` |
//! | `RANDOM_SECONDS` | how long new runs are begun, over all trials; default 20 |
//! | `RANDOM_SEED` | the first run's seed, 1 by default; the following runs count from there |
//! | `RANDOM_LIMIT` | seconds after which a run counts as hanging; default 300 |
//! | `RANDOM_WITHOUT` | variables of the library that are left alone, separated by commas |
//! | `RANDOM_ARGUMENTS` | further arguments of the program, such as `kinds=31` |
//! | `RANDOM_GO_ON` | `1`: go on after a failure, and tell all of them at the end |

mod job;
#[path = "../harness/launcher.rs"]
mod launcher;
#[path = "../harness/marks.rs"]
mod marks;
mod setting;
#[path = "../harness/staged.rs"]
mod staged;
#[path = "../harness/streams.rs"]
mod streams;

use job::Checked;
use libtest_mimic::{Arguments, Failed, Trial};
use setting::{FAMILIES, Family, Setting};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What all trials share.
struct Bench {
    mpiexec: PathBuf,
    program: PathBuf,
    each: Duration,
    first: u64,
    limit: Duration,
    without: Vec<String>,
    arguments: Vec<String>,
    go_on: bool,
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn words(name: &str, separator: char) -> Vec<String> {
    let text = std::env::var(name).unwrap_or_default();
    let words = text.split(separator).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Compiles the program with the staged mpicc.
fn bench() -> Result<Bench, String> {
    let (mpiexec, program) = staged::compile("random/program.c", "random")?;
    Ok(Bench {
        mpiexec,
        program,
        each: Duration::from_secs(number("RANDOM_SECONDS", 20)) / FAMILIES.len() as u32,
        first: number("RANDOM_SEED", 1),
        limit: Duration::from_secs(number("RANDOM_LIMIT", 300)),
        without: words("RANDOM_WITHOUT", ','),
        arguments: words("RANDOM_ARGUMENTS", ' '),
        go_on: number("RANDOM_GO_ON", 0) != 0,
    })
}

/// Runs of one family until its time is up; at least one.
fn run_family(bench: &Bench, family: Family) -> Result<(), Failed> {
    let begin = Instant::now();
    let mut seed = bench.first;
    let mut all = Checked::default();
    let mut failures = Vec::new();
    while seed == bench.first || begin.elapsed() < bench.each {
        let setting = Setting::new(family, seed, &bench.without);
        match job::run(bench, &setting) {
            Ok(checked) => all.add(&checked),
            Err(text) => {
                if bench.go_on {
                    eprintln!("{text}");
                }
                failures.push(format!("{}, seed {seed}: {text}", family.name()));
            }
        }
        seed += 1;
        if !failures.is_empty() && !bench.go_on {
            break;
        }
    }
    eprintln!(
        "random: {}: seeds {} to {}, {} runs failed, {all}",
        family.name(),
        bench.first,
        seed - 1,
        failures.len()
    );
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Failed::from(failures.join("\n\n"))),
    }
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each job wants the whole machine.
    arguments.test_threads.get_or_insert(1);
    let bench = match bench() {
        Ok(bench) => Arc::new(bench),
        // Without a library to test nothing may look like a success.
        Err(text) => {
            eprintln!("random: {text}");
            eprintln!("random: run `make` first, or name a prefix in OXMPI_STAGE");
            return ExitCode::FAILURE;
        }
    };
    let trials = FAMILIES.map(|family| {
        let bench = bench.clone();
        Trial::test(family.name(), move || run_family(&bench, family))
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}
