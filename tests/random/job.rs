//! One run of the program under mpiexec, with a time limit, disturbed if the setting says so.
//! Invariant: when `run` returns, no process of the job is left. At the limit mpiexec is asked for its table of waiting ranks (SIGUSR1) first.

use crate::Bench;
use crate::setting::{Random, Setting};
use crate::{launcher, marks, streams::collect};
use oxmpi::sync::{AtomicU32, Ordering};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fmt::{Display, Formatter};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const MARK: &str = "RANDOM_TEST_MARK";
/// What the program counts, in the order of its line.
const NAMES: [&str; 7] = [
    "messages",
    "bytes",
    "collectives",
    "communicators",
    "cancelled",
    "partitions",
    "rounds",
];

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// What the ranks have verified.
#[derive(Default)]
pub struct Checked {
    jobs: u64,
    counts: [u64; NAMES.len()],
}

impl Checked {
    pub fn add(&mut self, other: &Checked) {
        self.jobs += other.jobs;
        for (all, one) in self.counts.iter_mut().zip(other.counts) {
            *all += one;
        }
    }

    /// Reads the program's line.
    fn read(output: &str) -> Option<Checked> {
        let line = output
            .lines()
            .find_map(|line| line.strip_prefix("checked: "))?;
        let mut words = line.split(' ');
        let mut counts = [0; NAMES.len()];
        for (name, count) in NAMES.iter().zip(&mut counts) {
            if words.next()? != *name {
                return None;
            }
            *count = words.next()?.parse().ok()?;
        }
        Some(Checked { jobs: 1, counts })
    }
}

impl Display for Checked {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} jobs", self.jobs)?;
        NAMES
            .iter()
            .zip(self.counts)
            .try_for_each(|(name, count)| write!(to, ", {count} {name}"))
    }
}

/// Runs a setting.
///
/// Errors: what went wrong, how to repeat it, and what the job said.
pub fn run(bench: &Bench, setting: &Setting) -> Result<Checked, String> {
    let mark = format!(
        "{}-{}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    );
    let mut command = Command::new(&bench.mpiexec);
    let numbers = [setting.seed as usize, setting.rounds, setting.lanes].map(|n| n.to_string());
    command
        .args(["-n", &setting.ranks.to_string()])
        .arg(&bench.program)
        .args(&numbers)
        .args(&bench.arguments)
        .envs(setting.environment.iter().copied())
        .env(MARK, &mark)
        // The brake is here, where the table of waiting ranks can be asked for.
        .env("C_SUITE_WATCHDOG", "0")
        .env("C_SUITE_PROGRAM", "random/program")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let shown = format!(
        "{}{} -n {} {} {} {}",
        setting.variables(),
        bench.mpiexec.display(),
        setting.ranks,
        bench.program.display(),
        numbers.join(" "),
        bench.arguments.join(" "),
    );
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let status = attend(&mut child, setting, &mark, begin, bench.limit);
    let left = marked(&mark);
    for pid in &left {
        let _ = kill_process(*pid, Signal::KILL);
    }
    let timeout = Duration::from_secs(20);
    let output = stdout.recv_timeout(timeout).unwrap_or_default();
    let errors = stderr.recv_timeout(timeout).unwrap_or_default();
    let closing = format!("random/program: passed on {} ranks", setting.ranks);
    let reason = match status {
        None => "hangs".into(),
        Some(status) if !status.success() => format!("{status}"),
        Some(_) if !left.is_empty() => format!("left {} processes", left.len()),
        Some(_) if !output.lines().any(|line| line == closing) => {
            "did not say that it passed".into()
        }
        Some(_) => match Checked::read(&output) {
            Some(checked) => return Ok(checked),
            None => "did not say what it checked".into(),
        },
    };
    let disturbed = if setting.disturbed {
        " (disturbed)"
    } else {
        ""
    };
    let text: Vec<&str> = output.lines().chain(errors.lines()).take(60).collect();
    Err(format!(
        "{reason} after {:.1} s{disturbed}\n    {shown}\n{}",
        begin.elapsed().as_secs_f64(),
        text.join("\n")
    ))
}

/// Waits for the end, and disturbs the ranks meanwhile. None: the limit was reached, and the launcher is gone.
fn attend(
    child: &mut Child,
    setting: &Setting,
    mark: &str,
    begin: Instant,
    limit: Duration,
) -> Option<ExitStatus> {
    let mut random = Random::new(setting.seed);
    let mut ranks = Vec::new();
    let mut pause = Duration::from_millis(1);
    while begin.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("wait for the launcher") {
            return Some(status);
        }
        if setting.disturbed {
            if ranks.len() < setting.ranks {
                let launcher = Pid::from_child(child);
                ranks = marked(mark);
                ranks.retain(|pid| *pid != launcher && is_program(*pid));
            }
            disturb(&mut random, &ranks);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
    launcher::stop(child);
    None
}

/// A rank stops for a while, or may use other cores from now on.
fn disturb(random: &mut Random, ranks: &[Pid]) {
    if ranks.is_empty() {
        return;
    }
    let rank = ranks[random.below(ranks.len())];
    if random.below(3) > 0 {
        let _ = kill_process(rank, Signal::STOP);
        std::thread::sleep(Duration::from_micros(100 << random.below(10)));
        let _ = kill_process(rank, Signal::CONT);
        return;
    }
    let Ok(usable) = sched_getaffinity(None) else {
        return;
    };
    let mut wanted = CpuSet::new();
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|core| usable.is_set(*core))
        .collect();
    for _ in 0..1 + random.below(usable.len()) {
        wanted.set(usable[random.below(usable.len())]);
    }
    let tasks = std::fs::read_dir(format!("/proc/{}/task", rank.as_raw_nonzero()));
    for task in tasks.into_iter().flatten().flatten() {
        let number = task.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(task) = number.and_then(Pid::from_raw) {
            let _ = sched_setaffinity(Some(task), &wanted);
        }
    }
}

/// The launcher and its helpers are not disturbed.
fn is_program(pid: Pid) -> bool {
    let path = format!("/proc/{}/comm", pid.as_raw_nonzero());
    std::fs::read_to_string(path).is_ok_and(|name| name.trim() == "program")
}

/// Processes of the job that are alive.
fn marked(mark: &str) -> Vec<Pid> {
    let pids = marks::marked(MARK, mark);
    pids.into_iter().filter_map(Pid::from_raw).collect()
}
