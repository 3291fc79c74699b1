//! Random programs of messages and barriers (c-tests/stuck/random.c), some of which are stuck: mpiexec has to say so of those of which the
//! program's oracle foretells it, name each rank with the call in which it waits, and say nothing of the others.
//!
//!     cargo test --test stuck                            # 20 seeds
//!     STUCK_SEEDS=1000 STUCK_FIRST=1 cargo test --test stuck
//!     cargo test --test stuck -- seed_17                 # one again; its name says on how many ranks
//!
//! One that waits for a rank which is in MPI_Finalize gets an error in place of a verdict, so that is right, too.

#[path = "../harness/parts.rs"]
mod parts;
#[path = "../harness/staged.rs"]
mod staged;

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// `mpiexec -deadlock abort` ends with it.
const STUCK_CODE: i32 = 86;
const SECONDS: &str = "60";
/// Of so many seeds one is on two pretended nodes, with a fabric between.
const NODES: u64 = 4;

struct Job {
    mpiexec: PathBuf,
    program: PathBuf,
}

fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most of the time nothing moves.
    arguments.test_threads.get_or_insert(4);
    let (mpiexec, program) = match staged::compile("stuck/random.c", "stuck") {
        Ok(found) => found,
        Err(text) => {
            eprintln!("stuck: {text}");
            eprintln!("stuck: run `make` first, or name a prefix in OXMPI_STAGE");
            return ExitCode::FAILURE;
        }
    };
    let job: &'static Job = Box::leak(Box::new(Job { mpiexec, program }));
    let first = number("STUCK_FIRST", 1);
    let seeds = first..first + number("STUCK_SEEDS", 20);
    let trials = seeds.map(|seed| {
        let ranks = 2 + seed % 5;
        let has_nodes = seed % NODES == 0 && ranks > 2;
        let nodes = if has_nodes { ",nodes" } else { "" };
        let name = format!("seed_{seed}({ranks}{nodes})");
        Trial::test(name.clone(), move || {
            match has_nodes && !parts::has_all(&format!("stuck: {name}"), &["libfabric1"]) {
                true => Ok(()),
                false => job.run(seed, ranks, has_nodes),
            }
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

impl Job {
    fn run(&self, seed: u64, ranks: u64, has_nodes: bool) -> Result<(), Failed> {
        let mut command = Command::new(&self.mpiexec);
        command
            .args(["-deadlock", "abort", "-n", &ranks.to_string()])
            .arg(&self.program)
            .arg(seed.to_string())
            .env("MPIEXEC_TIMEOUT", SECONDS);
        if has_nodes {
            command.env("OXMPI_PRETEND", "nodes=2");
            command.env("OXMPI_FABRIC", "tcp");
        }
        let output = command.output()?;
        let [out, said] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
        let wrong = |what: String| {
            let text = format!("{what}\n{command:?}: {}\n{out}{said}", output.status);
            Err(Failed::from(text))
        };
        let Some(expected) = foretold(&out) else {
            return wrong("the program does not say what is to be expected".to_owned());
        };
        if expected.is_empty() {
            return match output.status.success() && said.is_empty() {
                true => Ok(()),
                false => wrong("the program ends, by its oracle".to_owned()),
            };
        }
        if has_left(&expected, &said) {
            return Ok(());
        }
        let named = named(&said);
        match output.status.code() == Some(STUCK_CODE) && named == expected {
            true => Ok(()),
            false => wrong(format!(
                "by its oracle the program ends in {expected:?}; named are {named:?}"
            )),
        }
    }
}

/// The call in which each rank waits for ever, by the program's line; none: it ends.
fn foretold(out: &str) -> Option<BTreeMap<usize, String>> {
    let line = out.lines().find_map(|it| it.strip_prefix("EXPECTED"))?;
    let each = line.split_whitespace().map(|word| {
        let (rank, call) = word.split_once(':')?;
        Some((rank.parse().ok()?, call.to_owned()))
    });
    each.collect()
}

/// Whether the job was ended by an error of a rank that waits for one in MPI_Finalize, rightly.
fn has_left(expected: &BTreeMap<usize, String>, said: &str) -> bool {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().ok()
    };
    let is_at = |rank: Option<usize>, call: &str| {
        rank.and_then(|rank| expected.get(&rank))
            .is_some_and(|expected| expected == call)
    };
    let left = said
        .split_once(" is in MPI_Finalize and takes no part in this")
        .or_else(|| said.split_once(" of MPI_COMM_WORLD has ended"))
        .and_then(|(before, _)| before.rsplit_once("rank "))
        .and_then(|(_, rank)| number(rank));
    let failed = said
        .lines()
        .find_map(|line| line.strip_prefix("oxmpi: rank "))
        .and_then(|line| {
            let (_, call) = line.split_once("): ")?;
            Some((number(line)?, call.split('(').next()?))
        });
    is_at(left, "MPI_Finalize") && failed.is_some_and(|(rank, call)| is_at(Some(rank), call))
}

/// The ranks of a verdict, and the call in which each waits: lines such as `  ranks 0, 2-4: MPI_Recv from 3`.
fn named(said: &str) -> BTreeMap<usize, String> {
    let lines = said
        .lines()
        .skip_while(|line| !line.contains("the job is stuck"))
        .skip(1);
    let mut found = BTreeMap::new();
    for line in lines {
        let Some((ranks, call)) = line.split_once(": ") else {
            continue;
        };
        let ranks = ranks.trim_start();
        let Some(ranks) = ranks
            .strip_prefix("ranks ")
            .or_else(|| ranks.strip_prefix("rank "))
        else {
            continue;
        };
        let call = call.trim_start().split(' ').next().unwrap_or_default();
        for part in ranks.split(", ") {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(low), Ok(high)) = (low.parse::<usize>(), high.parse()) {
                found.extend((low..=high).map(|rank| (rank, call.to_owned())));
            }
        }
    }
    found
}
