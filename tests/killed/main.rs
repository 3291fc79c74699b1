//! Kill tests: programs of `c-tests/killed` under the staged mpiexec, seed after seed. In each run a rank is killed at a random point of
//! random collective operations (`program.c`), of calls on windows, files, memory and communicators (`objects.c`), or of calls by which
//! jobs meet and part (`spawn.c`), and the others must get errors and must not hang.
//! Invariant: a run passes only if all survivors said that all was right, no other process was killed, and no process or file is left. A
//! failure prints the command that repeats it.
//!
//!     cargo test --test killed                       # a few seeds
//!     KILLED_SEEDS=1000 cargo test --test killed     # over all trials
//!     KILLED_SEEDS=1000 cargo test --test killed -- nodes
//!     cargo test --test killed -- stay               # survivors that give up and stay outside of MPI
//!     cargo test --test killed -- objects            # windows, files, memory and communicators
//!     cargo test --test killed -- spawn              # parents and children
//!     cargo test --test killed -- recover            # survivors that revoke, agree, shrink and go on
//!     cargo test --test killed -- jacobi             # the example docs/jacobi.c: a run for each ten seeds
//!
//! | variable | meaning |
//! |---|---|
//! | `OXMPI_STAGE` | the staged prefix; default `target/stage` |
//! | `KILLED_SEEDS` | how many seeds, over all trials; default 28 |
//! | `KILLED_FIRST` | the first seed, 1 by default |
//! | `KILLED_RANKS` | numbers of ranks, default `2,3,4,8` |
//! | `KILLED_JOBS` | runs at one time, default 4 |
//! | `KILLED_LIMIT` | seconds after which a call counts as hanging; default 30 |
//! | `KILLED_ARGUMENTS` | further arguments of the program, such as `form=blocking then=stay` |
//! | `KILLED_STRICT` | `1`: an error later than 2 s after the death is a failure, however busy the machine was |

mod jacobi;
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
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use streams::collect;

const MARK: &str = "KILLED_TEST_MARK";
/// What begins a line of the program about a failure; what it did not say is "OTHER".
const KINDS: [&str; 7] = [
    "HANG", "WRONG", "EARLY", "MISSED", "OUTSIDE", "UNLIKE", "TEXT",
];

/// What starts the ranks.
#[derive(Clone, Copy, PartialEq)]
enum Starter {
    Ours,
    /// Two hosts, both of them this one, with libfabric between them: `tests/hosts/mpiexec`.
    Hosts,
}

/// Which program runs, and how.
struct Way {
    name: &'static str,
    /// Of `c-tests/killed`.
    program: &'static str,
    starter: Starter,
    variables: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
}

impl Way {
    /// A program that recovers ends as others do; in a job where a rank was killed.
    fn survives(&self) -> bool {
        self.program == "recover"
    }

    /// Of mpiexec.
    fn options(&self) -> &'static [&'static str] {
        match self.survives() {
            true => &["-with-ft", "ulfm"],
            false => &["-disable-auto-cleanup"],
        }
    }
}

const fn way(name: &'static str, program: &'static str, starter: Starter) -> Way {
    Way {
        name,
        program,
        starter,
        variables: &[],
        arguments: &[],
    }
}

const TRIALS: [Way; 25] = [
    way("plain", "program", Starter::Ours),
    Way {
        variables: &[("OXMPI_PRETEND", "cores=64")],
        ..way("cores", "program", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2")],
        ..way("nodes", "program", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2,cores=64")],
        ..way("nodes_with_cores", "program", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_SINGLE_COPY", "no")],
        ..way("no_single_copy", "program", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_STAGING", "no")],
        ..way("messages", "program", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_FABRIC", "tcp")],
        ..way("hosts", "program", Starter::Hosts)
    },
    // Survivors that give up and stay outside of MPI.
    Way {
        arguments: &["then=stay"],
        ..way("stay", "program", Starter::Ours)
    },
    way("objects", "objects", Starter::Ours),
    Way {
        variables: &[("OXMPI_SHARE_WINDOWS", "now")],
        ..way("objects_in_place", "objects", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_SHARE_WINDOWS", "edges-now")],
        ..way("objects_edges", "objects", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_SHARE_WINDOWS", "no")],
        ..way("objects_by_kernel", "objects", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2")],
        ..way("objects_nodes", "objects", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_FABRIC", "tcp")],
        ..way("objects_hosts", "objects", Starter::Hosts)
    },
    way("spawn", "spawn", Starter::Ours),
    // Parents and children meet over the fabric.
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2"), ("OXMPI_FABRIC", "tcp")],
        ..way("spawn_nodes", "spawn", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_FABRIC", "tcp")],
        ..way("spawn_hosts", "spawn", Starter::Hosts)
    },
    way("recover", "recover", Starter::Ours),
    Way {
        variables: &[("OXMPI_PRETEND", "cores=64")],
        ..way("recover_cores", "recover", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2")],
        ..way("recover_nodes", "recover", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_STAGING", "no")],
        ..way("recover_messages", "recover", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_FABRIC", "tcp")],
        ..way("recover_hosts", "recover", Starter::Hosts)
    },
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2"), ("OXMPI_FABRIC", "tcp")],
        ..way("recover_fabric", "recover", Starter::Ours)
    },
    // Half as many processes are of another job.
    Way {
        arguments: &["spawned"],
        ..way("recover_spawned", "recover", Starter::Ours)
    },
    Way {
        variables: &[("OXMPI_PRETEND", "nodes=2"), ("OXMPI_FABRIC", "tcp")],
        arguments: &["spawned"],
        ..way("recover_spawned_nodes", "recover", Starter::Ours)
    },
];

/// What all runs share.
struct Bench {
    mpiexec: PathBuf,
    /// By name.
    programs: BTreeMap<&'static str, PathBuf>,
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
    let (_, objects) = staged::compile("killed/objects.c", "killed-objects")?;
    let (_, spawn) = staged::compile("killed/spawn.c", "killed-spawn")?;
    let (_, recover) = staged::compile("killed/recover.c", "killed-recover")?;
    let (_, jacobi) = staged::compile("../docs/jacobi.c", "killed-jacobi")?;
    let ranks = std::env::var("KILLED_RANKS").unwrap_or_else(|_| "2,3,4,8".into());
    let arguments = std::env::var("KILLED_ARGUMENTS").unwrap_or_default();
    Ok(Bench {
        mpiexec,
        programs: BTreeMap::from([
            ("program", program),
            ("objects", objects),
            ("spawn", spawn),
            ("recover", recover),
            ("jacobi", jacobi),
        ]),
        seeds: number("KILLED_SEEDS", 28),
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
    deaths: u64,
    late: u64,
    /// Milliseconds from a death, or a later call, to an error.
    longest: u64,
}

impl Sums {
    /// Reads the program's last line: `killed: all was right, seed 7, 1 rounds, 3 errors, the longest 501 ms, 0 late`.
    fn read(errors: &str) -> Option<Sums> {
        let mut lines = errors.lines().rev();
        // A child that comes after all others may be ended with its parents' job, and print no sums of its own.
        let sums = |line: &&str| !line.contains("another one begins");
        let line = lines.find_map(|line| line.strip_prefix("killed: ").filter(sums))?;
        let line = line.strip_prefix("all was right, ")?;
        let after = |word: &str, offset: isize| -> Option<u64> {
            let words: Vec<&str> = line.split(' ').collect();
            let at = words.iter().position(|one| *one == word)?;
            words.get(at.checked_add_signed(offset)?)?.parse().ok()
        };
        Some(Sums {
            runs: 1,
            deaths: after("rounds,", -1)?,
            late: after("late", -1)?,
            longest: after("longest", 1)?,
        })
    }

    fn add(&mut self, other: &Sums) {
        self.runs += other.runs;
        self.deaths += other.deaths;
        self.late += other.late;
        self.longest = self.longest.max(other.longest);
    }
}

/// Runs a seed.
///
/// Errors: what went wrong, by its word, and how to repeat it with what the job said.
fn run(bench: &Bench, way: &Way, seed: u64) -> Result<Sums, (String, String)> {
    let mark = format!("{}-{seed}", std::process::id());
    let own = bench.arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = own.chain(way.arguments.iter().copied()).collect();
    let ranks = bench.ranks[(seed % bench.ranks.len() as u64) as usize];
    let rounds = match seed % 3 {
        0 if way.survives() => ranks - 1,
        0 => 3,
        _ => 1,
    };
    let over_hosts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/mpiexec");
    let (program, variables) = (&bench.programs[way.program], way.variables);
    let mpiexec = match way.starter {
        Starter::Ours => bench.mpiexec.as_path(),
        Starter::Hosts => Path::new(over_hosts),
    };
    let folder = std::env::temp_dir().join(format!("killed-{mark}"));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let mut command = Command::new(mpiexec);
    command
        .args(["-n", &ranks.to_string()])
        .args(way.options())
        .arg(program)
        .args([seed.to_string(), rounds.to_string()])
        .args(&arguments)
        .envs(variables.iter().copied())
        .env(MARK, &mark)
        .env("TMPDIR", &folder)
        .env("C_SUITE_WATCHDOG", bench.limit.to_string())
        .env("C_SUITE_PROGRAM", format!("killed/{}", way.program))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let shown = format!(
        "{}{} -n {ranks} {} {} {seed} {rounds} {}",
        variables
            .iter()
            .map(|(name, value)| format!("{name}={value} "))
            .collect::<String>(),
        mpiexec.display(),
        way.options().join(" "),
        program.display(),
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
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder for temporary files")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let _ = std::fs::remove_dir_all(&folder);
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
    if !left.is_empty() || !files.is_empty() {
        let what = format!("{} processes, files {files:?}\n{text}", left.len());
        return Err(fail("LEFT", &what));
    }
    let code = status.and_then(|status| status.code());
    let killed = errors.matches(" was killed by ").count() as u64;
    let sums = Sums::read(&errors)
        .filter(|sums| killed == sums.deaths && code.is_some_and(|code| may_be(way, code)))
        .ok_or_else(|| fail("OTHER", &format!("{status:?}\n{text}")))?;
    match bench.strict && sums.late > 0 {
        true => Err(fail("LATE", &text)),
        false => Ok(sums),
    }
}

/// Whether a job in which a rank was killed may have this exit code, that of the first rank that ended. A survivor that finds the death
/// itself, where the kernel refuses the dead's memory, and leaves, may be seen before it. A spawned job that has disconnected has none.
fn may_be(way: &Way, code: i32) -> bool {
    match way.program {
        "program" => code == 128 + 9,
        "objects" => [128 + 9, 1].contains(&code),
        "recover" => code == 0,
        _ => [128 + 9, 1, 0].contains(&code),
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

/// The names in /dev/shm.
fn shared_memory() -> BTreeSet<OsString> {
    let entries = std::fs::read_dir("/dev/shm").into_iter().flatten();
    entries.flatten().map(|entry| entry.file_name()).collect()
}

/// A trial's part of the seeds, some at a time.
fn run_trial(bench: &Bench, way: &Way) -> Result<(), Failed> {
    let begin = Instant::now();
    let count = bench.seeds.div_ceil(TRIALS.len() as u64);
    let files = shared_memory();
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
                    match run(bench, way, seed) {
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
        "killed: {}: seeds {} to {}: {} of {count} passed in {:.0} s, the longest until an error {} ms, {} later than 2 s",
        way.name,
        bench.first,
        bench.first + count - 1,
        sums.runs,
        begin.elapsed().as_secs_f64(),
        sums.longest,
        sums.late,
    );
    let mut text = String::new();
    for file in shared_memory().difference(&files) {
        text += &format!("LEFT: {file:?} in /dev/shm\n");
    }
    if failures.is_empty() && text.is_empty() {
        return Ok(());
    }
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
    let trials: Vec<Trial> = TRIALS
        .iter()
        .map(|way| {
            let bench = bench.clone();
            Trial::test(way.name, move || {
                let needs: &[&str] = match way.starter {
                    Starter::Ours => &[],
                    Starter::Hosts => &["libfabric1"],
                };
                match parts::has_all(&format!("killed: {}", way.name), needs) {
                    true => run_trial(&bench, way),
                    false => Ok(()),
                }
            })
        })
        .chain(jacobi::trials(&bench))
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
