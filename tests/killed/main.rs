//! Kill tests: `c-tests/killed/program.c` under the staged mpiexec, seed after seed. In each run a rank is killed at a random point of
//! random collective operations, and the others must get errors and must not hang.
//! Invariant: a run passes only if all survivors said that all was right and no process is left. A failure prints the command that
//! repeats it.
//!
//!     cargo test --test killed                       # a few seeds
//!     KILLED_SEEDS=1000 cargo test --test killed     # over all trials
//!     KILLED_SEEDS=1000 cargo test --test killed -- nodes
//!     cargo test --test killed -- stay               # survivors that give up and stay outside of MPI
//!
//! | variable | meaning |
//! |---|---|
//! | `OXMPI_STAGE` | the staged prefix; default `target/stage` |
//! | `KILLED_SEEDS` | how many seeds, over all trials; default 15 |
//! | `KILLED_FIRST` | the first seed, 1 by default |
//! | `KILLED_RANKS` | numbers of ranks, default `2,3,4,8` |
//! | `KILLED_JOBS` | runs at one time, default 4 |
//! | `KILLED_LIMIT` | seconds after which a call counts as hanging; default 30 |
//! | `KILLED_ARGUMENTS` | further arguments of the program, such as `form=blocking then=stay` |
//! | `KILLED_STRICT` | `1`: an error later than 2 s after the death is a failure, however busy the machine was |

#[path = "../harness/launcher.rs"]
mod launcher;
#[path = "../harness/marks.rs"]
mod marks;
#[path = "../harness/parts.rs"]
mod parts;
#[path = "../harness/staged.rs"]
mod staged;
#[path = "../harness/streams.rs"]
mod streams;

use libtest_mimic::{Arguments, Failed, Trial};
use oxmpi::sync::{AtomicU64, Ordering};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use streams::collect;

const MARK: &str = "KILLED_TEST_MARK";
/// What begins a line of the program about a failure; what it did not say is "OTHER".
const KINDS: [&str; 6] = ["HANG", "WRONG", "EARLY", "MISSED", "OUTSIDE", "TEXT"];

/// The ways in which the ranks are on the node, and the variables that make them.
const TRIALS: [(&str, &[(&str, &str)]); 7] = [
    ("plain", &[]),
    ("cores", &[("OXMPI_PRETEND", "cores=64")]),
    ("nodes", &[("OXMPI_PRETEND", "nodes=2")]),
    ("nodes_with_cores", &[("OXMPI_PRETEND", "nodes=2,cores=64")]),
    ("no_single_copy", &[("OXMPI_SINGLE_COPY", "no")]),
    ("messages", &[("OXMPI_STAGING", "no")]),
    // Two hosts, both of them this one, with libfabric between them.
    (HOSTS, &[("OXMPI_FABRIC", "tcp")]),
];

/// The trial that tests/hosts/mpiexec starts.
const HOSTS: &str = "hosts";

/// What all runs share.
struct Bench {
    mpiexec: PathBuf,
    program: PathBuf,
    seeds: u64,
    first: u64,
    ranks: Vec<u64>,
    jobs: u64,
    /// Seconds.
    limit: u64,
    arguments: Vec<String>,
    strict: bool,
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn bench() -> Result<Bench, String> {
    let (mpiexec, program) = staged::compile("killed/program.c", "killed")?;
    let ranks = std::env::var("KILLED_RANKS").unwrap_or_else(|_| "2,3,4,8".into());
    let arguments = std::env::var("KILLED_ARGUMENTS").unwrap_or_default();
    Ok(Bench {
        mpiexec,
        program,
        seeds: number("KILLED_SEEDS", 15),
        first: number("KILLED_FIRST", 1),
        ranks: ranks
            .split(',')
            .map(|n| n.parse().expect("ranks"))
            .collect(),
        jobs: number("KILLED_JOBS", 4),
        limit: number("KILLED_LIMIT", 30),
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        strict: number("KILLED_STRICT", 0) != 0,
    })
}

/// What the survivors of a run have said.
#[derive(Default)]
struct Sums {
    runs: u64,
    late: u64,
    /// Milliseconds from a death, or a later call, to an error.
    longest: u64,
}

impl Sums {
    /// Reads the program's last line: `killed: all was right, seed 7, 1 rounds, 3 errors, the longest 501 ms, 0 late`.
    fn read(errors: &str) -> Option<Sums> {
        let mut lines = errors.lines();
        let line = lines.find_map(|line| line.strip_prefix("killed: all was right, "))?;
        let after = |word: &str, offset: isize| -> Option<u64> {
            let words: Vec<&str> = line.split(' ').collect();
            let at = words.iter().position(|one| *one == word)?;
            words.get(at.checked_add_signed(offset)?)?.parse().ok()
        };
        Some(Sums {
            runs: 1,
            late: after("late", -1)?,
            longest: after("longest", 1)?,
        })
    }

    fn add(&mut self, other: &Sums) {
        self.runs += other.runs;
        self.late += other.late;
        self.longest = self.longest.max(other.longest);
    }
}

/// Runs a seed.
///
/// Errors: what went wrong, by its word, and how to repeat it with what the job said.
fn run(
    bench: &Bench,
    (name, variables): (&str, &[(&str, &str)]),
    arguments: &[&str],
    seed: u64,
) -> Result<Sums, (String, String)> {
    let mark = format!("{}-{seed}", std::process::id());
    let own = bench.arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = own.chain(arguments.iter().copied()).collect();
    let ranks = bench.ranks[(seed % bench.ranks.len() as u64) as usize];
    let rounds = if seed.is_multiple_of(3) { 3 } else { 1 };
    let over_hosts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/mpiexec");
    let mut command = match name {
        HOSTS => Command::new(over_hosts),
        _ => Command::new(&bench.mpiexec),
    };
    command
        .args(["-n", &ranks.to_string(), "-disable-auto-cleanup"])
        .arg(&bench.program)
        .args([seed.to_string(), rounds.to_string()])
        .args(&arguments)
        .envs(variables.iter().copied())
        .env(MARK, &mark)
        .env("C_SUITE_WATCHDOG", bench.limit.to_string())
        .env("C_SUITE_PROGRAM", "killed/program")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let shown = format!(
        "{}{} -n {ranks} -disable-auto-cleanup {} {seed} {rounds} {}",
        variables
            .iter()
            .map(|(name, value)| format!("{name}={value} "))
            .collect::<String>(),
        bench.mpiexec.display(),
        bench.program.display(),
        arguments.join(" "),
    );
    let fail = |kind: &str, text: &str| (kind.to_owned(), format!("{kind}: {shown}\n{text}"));
    let mut child = command
        .spawn()
        .map_err(|error| fail("OTHER", &error.to_string()))?;
    let stderr = collect(child.stderr.take());
    let status = wait(&mut child, Duration::from_secs(bench.limit * 4));
    let left = marks::marked(MARK, &mark);
    for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = kill_process(pid, Signal::KILL);
    }
    let errors = stderr
        .recv_timeout(Duration::from_secs(20))
        .unwrap_or_default();
    let text: Vec<&str> = errors.lines().take(40).collect();
    let text = text.join("\n");
    if status.is_none() {
        return Err(fail("HANG", &text));
    }
    if let Some(kind) = KINDS
        .iter()
        .find(|kind| errors.contains(&format!("{kind}: ")))
    {
        return Err(fail(kind, &text));
    }
    if !left.is_empty() {
        return Err(fail("LEFT", &format!("{} processes\n{text}", left.len())));
    }
    // 128 and SIGKILL: the exit code of the first rank that ended.
    let sums = Sums::read(&errors)
        .filter(|_| status.and_then(|status| status.code()) == Some(137))
        .ok_or_else(|| fail("OTHER", &format!("{status:?}\n{text}")))?;
    match bench.strict && sums.late > 0 {
        true => Err(fail("LATE", &text)),
        false => Ok(sums),
    }
}

/// The status, or none if the limit was reached and the launcher was ended.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("wait for the launcher") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    launcher::stop(child);
    None
}

/// A trial's part of the seeds, some at a time.
fn run_trial(
    bench: &Bench,
    name: &str,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Result<(), Failed> {
    let begin = Instant::now();
    let count = bench.seeds.div_ceil(TRIALS.len() as u64);
    let next = AtomicU64::new(bench.first);
    let sums = Mutex::new(Sums::default());
    let failures: Mutex<BTreeMap<String, Vec<(u64, String)>>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..bench.jobs {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= bench.first + count {
                        break;
                    }
                    match run(bench, (name, variables), arguments, seed) {
                        Ok(one) => sums.lock().unwrap().add(&one),
                        Err((kind, text)) => {
                            let mut failures = failures.lock().unwrap();
                            failures.entry(kind).or_default().push((seed, text));
                        }
                    }
                }
            });
        }
    });
    let (sums, failures) = (sums.into_inner().unwrap(), failures.into_inner().unwrap());
    eprintln!(
        "killed: {name}: seeds {} to {}: {} of {count} passed in {:.0} s, the longest until an error {} ms, {} later than 2 s",
        bench.first,
        bench.first + count - 1,
        sums.runs,
        begin.elapsed().as_secs_f64(),
        sums.longest,
        sums.late,
    );
    if failures.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for (kind, mut list) in failures {
        list.sort();
        let seeds: Vec<String> = list.iter().map(|(seed, _)| seed.to_string()).collect();
        text += &format!("{kind}: {} seeds: {}\n", list.len(), seeds.join(" "));
        text += &format!("the first: {}\n\n", list[0].1);
    }
    Err(Failed::from(text))
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each trial has several jobs.
    arguments.test_threads.get_or_insert(1);
    let bench = match bench() {
        Ok(bench) => Arc::new(bench),
        // Without a library to test nothing may look like a success.
        Err(text) => {
            eprintln!("killed: {text}");
            eprintln!("killed: run `make` first, or name a prefix in OXMPI_STAGE");
            return ExitCode::FAILURE;
        }
    };
    let mut trials: Vec<Trial> = TRIALS
        .iter()
        .map(|(name, variables)| {
            let bench = bench.clone();
            Trial::test(*name, move || {
                let fabric = ["libfabric1"];
                let needs = if *name == HOSTS { &fabric[..] } else { &[] };
                match parts::has_all(&format!("killed: {name}"), needs) {
                    true => run_trial(&bench, name, variables, &[]),
                    false => Ok(()),
                }
            })
        })
        .collect();
    // Survivors that give up and stay outside of MPI.
    let stay = Trial::test("stay", move || {
        run_trial(&bench, "stay", &[], &["then=stay"])
    });
    trials.push(stay);
    libtest_mimic::run(&arguments, trials).exit_code()
}
