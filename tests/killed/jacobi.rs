//! `docs/jacobi.c`, killed from outside: processes are killed at random moments, one after the other, each when the others have recovered from
//! the one before. The result is the one of a run in which nobody dies.

use crate::{Bench, MARK, Starter, launcher, marks, parts};
use libtest_mimic::{Failed, Trial};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const RANKS: u64 = 8;
const SWEEPS: &str = "1500";

pub fn trials(bench: &Arc<Bench>) -> impl Iterator<Item = Trial> {
    let hosts = [("jacobi", Starter::Ours), ("jacobi_hosts", Starter::Hosts)];
    hosts.into_iter().map(move |(name, starter)| {
        let bench = bench.clone();
        Trial::test(name, move || {
            let needs: &[&str] = match starter {
                Starter::Ours => &[],
                Starter::Hosts => &["libfabric1"],
            };
            match parts::has_all(&format!("killed: {name}"), needs) {
                true => run_trial(&bench, name, starter),
                false => Ok(()),
            }
        })
    })
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % limit
    }
}

/// What a run has printed, and how often and how fast the others have gone on.
#[derive(Default)]
struct Run {
    results: Vec<String>,
    /// Those that the others had to recover from, and those that came too late for that.
    kills: u64,
    late: u64,
    recoveries: u64,
    /// Milliseconds from a kill to the line of those that go on.
    longest: f64,
    /// From the line of the beginning to the result.
    work: Duration,
}

/// So many times as many runs as are wanted, until one has met a kill.
const MOST: u64 = 5;

fn run_trial(bench: &Bench, name: &str, starter: Starter) -> Result<(), Failed> {
    let runs = bench.seeds.div_ceil(10);
    let begin = Instant::now();
    let quiet = run(bench, starter, 0, None)?;
    let [expected] = quiet.results.as_slice() else {
        return Err(format!("a run without deaths prints {:?}", quiet.results).into());
    };
    let (mut kills, mut late, mut recoveries, mut longest) = (0, 0, 0, 0f64);
    // How long a run takes depends on what else the machine does.
    let mut work = quiet.work;
    let mut done = 0;
    while done < runs || kills == 0 && done < MOST * runs {
        let seed = bench.first + done;
        let one = run(bench, starter, seed, Some(work))?;
        done += 1;
        if one.kills == 0 {
            work = work.min(one.work);
        }
        if one.results.is_empty() || one.results.iter().any(|line| line != expected) {
            let what = format!(
                "seed {seed}: printed {:?}, not {expected:?}, after {} deaths",
                one.results,
                one.kills + one.late
            );
            return Err(what.into());
        }
        kills += one.kills;
        late += one.late;
        recoveries += one.recoveries;
        longest = longest.max(one.longest);
    }
    eprintln!(
        "killed: {name}: {done} runs, {kills} ranks killed before the result, {late} too late for that, {recoveries} recoveries, \
         the longest {longest:.0} ms after the kill, in {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    match kills {
        0 => Err("no rank was killed before the result".into()),
        // Two may die before the others have gone on.
        kills if recoveries * 2 < kills => Err("too few recoveries".into()),
        _ => Ok(()),
    }
}

fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// A run with deaths, if `work` says how long one without them takes from its beginning to its result.
fn run(bench: &Bench, starter: Starter, seed: u64, work: Option<Duration>) -> Result<Run, Failed> {
    let mark = format!("{}-jacobi-{seed}", std::process::id());
    let program = &bench.programs["jacobi"];
    let over_hosts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/mpiexec");
    let mpiexec = match starter {
        Starter::Ours => bench.mpiexec.as_path(),
        Starter::Hosts => Path::new(over_hosts),
    };
    let mut command = Command::new(mpiexec);
    command
        .args(["-n", &RANKS.to_string()])
        .arg(program)
        .arg(SWEEPS)
        .env(MARK, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if matches!(starter, Starter::Hosts) {
        command.env("OXMPI_FABRIC", "tcp");
    }
    let begin = Instant::now();
    let limit = Duration::from_secs(bench.limit * 4);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let errors = crate::collect(child.stderr.take());
    let output = lines(child.stdout.take().expect("a pipe"));
    let mut random = Random(seed);
    let mut found = Run::default();
    let mut wanted = match work {
        Some(_) if random.below(2) == 0 => 1,
        Some(_) => 1 + random.below(RANKS - 1),
        None => 0,
    };
    // Each kill comes within its part of the work.
    let part = work.unwrap_or_default().as_micros() as u64 * 9 / 10 / wanted.max(1);
    let (mut next_kill, mut last_kill) = (None::<Instant>, begin);
    let mut begun = None;
    // Whether the others have gone on since the last kill.
    let mut is_met = true;
    let is_hanging = loop {
        let until = next_kill.unwrap_or(begin + limit);
        match output.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) if line.contains(": sum ") => {
                if found.results.is_empty() {
                    found.work = begun.map_or(Duration::ZERO, |begun: Instant| begun.elapsed());
                }
                found.results.push(line);
            }
            Ok(line) => {
                if line.contains("begin") {
                    begun = Some(Instant::now());
                }
                if line.contains("go on") {
                    found.recoveries += 1;
                    is_met = true;
                    let taken = last_kill.elapsed().as_secs_f64() * 1e3;
                    found.longest = found.longest.max(taken);
                }
                if wanted > 0 && (line.contains("begin") || line.contains("go on")) {
                    // At once: the others may still be in the call that rank 0 has left.
                    let pause = match random.below(4) {
                        0 => Duration::ZERO,
                        _ => Duration::from_micros(random.below(part.max(1))),
                    };
                    next_kill = Some(Instant::now() + pause);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) if next_kill.take().is_none() => break true,
            Err(RecvTimeoutError::Timeout) => {
                let ranks = processes(&mark, program);
                // The job is over, or nearly.
                if ranks.len() > 1 {
                    let victim = ranks[random.below(ranks.len() as u64) as usize];
                    last_kill = Instant::now();
                    let _ = kill_process(victim, Signal::KILL);
                    found.kills += 1;
                    is_met = false;
                    wanted -= 1;
                }
            }
        }
    };
    // The result was on its way to us, or nobody needed the victim any more.
    if !is_met && !found.results.is_empty() {
        (found.kills, found.late) = (found.kills - 1, found.late + 1);
    }
    if is_hanging {
        launcher::stop(&mut child);
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let said = errors.recv().unwrap_or_default();
    let left = marks::marked(MARK, &mark);
    for pid in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = kill_process(pid, Signal::KILL);
    }
    if is_hanging || !left.is_empty() || !status.success() {
        let what = match is_hanging {
            true => "HANG: ",
            false => "",
        };
        let text = format!(
            "{what}seed {seed}: {command:?}: {status}, {} kills, {} processes are left\n{said}",
            found.kills + found.late,
            left.len()
        );
        return Err(text.into());
    }
    Ok(found)
}

/// The ranks of a job.
fn processes(mark: &str, program: &Path) -> Vec<Pid> {
    let program = std::fs::canonicalize(program).expect("the program");
    let of_job = marks::marked(MARK, mark).into_iter();
    of_job
        .filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|it| it == program))
        .filter_map(Pid::from_raw)
        .collect()
}
