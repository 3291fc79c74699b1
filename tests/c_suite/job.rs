//! One run of one program under mpiexec (or alone), with a time limit.
//! Invariant: when `run` returns, mpiexec's process group is gone: at the limit it is asked for its
//! table of waiting ranks (SIGUSR1), then to end (SIGTERM), then killed.

use crate::list::{Exit, Line};
use crate::streams::collect;
use crate::toolchain::Toolchain;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What mpiexec says of a job in which nothing can move, or some ranks cannot.
const STUCK: [&str; 2] = ["the job is stuck", "stuck, whatever the others do"];

pub struct Outcome {
    pub command: String,
    status: Option<ExitStatus>,
    pub seconds: f64,
    /// Of processors, of the launcher and what it has waited for.
    pub cpu_seconds: f64,
    pub stdout: String,
    stderr: String,
    /// Somebody still had the output open long after mpiexec had ended.
    left_over: bool,
}

pub fn run(
    on: &Toolchain,
    line: &Line,
    program: &Path,
    wrap: &[String],
    seconds: u64,
) -> Result<Outcome, String> {
    let mut words: Vec<std::ffi::OsString> = Vec::new();
    if !line.alone {
        words.push(on.mpiexec.clone().into());
        words.extend(["-n".into(), line.ranks.to_string().into()]);
        words.extend(line.launcher.iter().map(Into::into));
    }
    words.extend(wrap.iter().map(Into::into));
    words.push(program.into());
    words.extend(line.arguments.iter().map(Into::into));
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env("C_SUITE_WATCHDOG", (seconds * 3 / 4).to_string())
        .env("C_SUITE_PROGRAM", &line.program)
        .env("C_SUITE_SIZE", line.ranks.to_string())
        .env("C_SUITE_LAUNCHER", &on.mpiexec)
        .env("C_SUITE_SLOW", if crate::is_slow(wrap) { "1" } else { "0" })
        .envs(over_fabric(on))
        .envs(line.environment.iter().map(|(name, value)| (name, value)))
        .envs(pretended(on, line).map(|value| (PRETEND, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(path) = &on.library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    let shown = format!("{command:?}");
    let begin = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{shown}: {error}"))?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let (status, cpu_seconds) = wait(&mut child, begin, Duration::from_secs(seconds))?;
    let taken = begin.elapsed().as_secs_f64();
    let timeout = Duration::from_secs(5);
    let texts = (stdout.recv_timeout(timeout), stderr.recv_timeout(timeout));
    let left_over = texts.0.is_err() || texts.1.is_err();
    Ok(Outcome {
        command: shown,
        status,
        seconds: taken,
        cpu_seconds,
        stdout: texts.0.unwrap_or_default(),
        stderr: texts.1.unwrap_or_default(),
        left_over,
    })
}

const PRETEND: &str = "OXMPI_PRETEND";

/// Whether two nodes are pretended, with a fabric between them.
fn pretends_nodes(on: &Toolchain) -> bool {
    on.over_fabric && std::env::var("C_SUITE_FABRIC").is_ok_and(|it| it == "1")
}

/// What a line's own variables may say otherwise, and the environment of the suite.
fn over_fabric(on: &Toolchain) -> Option<(&'static str, &'static str)> {
    let is_set = std::env::var_os("OXMPI_FABRIC").is_some();
    (pretends_nodes(on) && !is_set).then_some(("OXMPI_FABRIC", "tcp"))
}

/// What the suite, its environment and the line say of `OXMPI_PRETEND`: the last word on nodes, and on cores, counts.
fn pretended(on: &Toolchain, line: &Line) -> Option<String> {
    let of_suite = pretends_nodes(on).then(|| "nodes=2".to_owned());
    let of_line = line.environment.iter().find(|(name, _)| name == PRETEND);
    let parts = [
        of_suite,
        std::env::var(PRETEND).ok(),
        of_line.map(|(_, value)| value.clone()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

/// The status and the seconds of processors, or no status if the limit was reached.
fn wait(
    child: &mut Child,
    begin: Instant,
    limit: Duration,
) -> Result<(Option<ExitStatus>, f64), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let (id, mut pause) = (Pid::from_child(child), Duration::from_millis(1));
    // It stays a zombie, which tells its times.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while begin.elapsed() < limit {
        let has_ended = waitid(WaitId::Pid(id), options).map_err(|error| text(&error))?;
        if has_ended.is_some() {
            let cpu_seconds = cpu_seconds(id);
            let status = child.wait().map_err(|error| text(&error))?;
            return Ok((Some(status), cpu_seconds));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    for (signal, pause) in [(Signal::USR1, 500), (Signal::TERM, 3000)] {
        let _ = kill_process(id, signal);
        std::thread::sleep(Duration::from_millis(pause));
    }
    let _ = kill_process_group(id, Signal::KILL);
    child.wait().map_err(|error| text(&error))?;
    Ok((None, 0.0))
}

/// Of a process and the children that it has waited for, and so on.
fn cpu_seconds(of: Pid) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", of.as_raw_pid()));
    let text = text.unwrap_or_default();
    let behind_name = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields = behind_name.split_whitespace().skip(11).take(4);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

impl Outcome {
    pub fn ended(&self) -> String {
        match self.status {
            None => "not at all: killed at the time limit".into(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (_, Some(signal)) => format!("signal {signal}"),
                _ => "unknown".into(),
            },
        }
    }

    pub fn streams(&self) -> String {
        let mut text = String::new();
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if stream.is_empty() {
                continue;
            }
            text += &format!("--- {name}\n");
            let lines: Vec<&str> = stream.lines().collect();
            let shown = 60;
            for line in lines.iter().take(shown) {
                text += line;
                text += "\n";
            }
            if lines.len() > shown {
                text += &format!("... {} more lines\n", lines.len() - shown);
            }
        }
        text
    }

    /// Is this what the line expects?
    pub fn judge(&self, line: &Line, on: &Toolchain) -> Result<(), String> {
        let Some(status) = self.status else {
            return Err("the job hangs".into());
        };
        if self.left_over {
            return Err("mpiexec ended, but a process of the job still holds its output".into());
        }
        // A shell's convention for one that a signal killed.
        let code = status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        match line.exit {
            Exit::Code(expected) if code != expected => {
                return Err(format!("exit code {code}, expected {expected}"));
            }
            Exit::Nonzero if code == 0 => return Err("exit code 0, expected another".into()),
            _ => (),
        }
        if matches!(line.exit, Exit::Code(0)) && !line.quiet {
            let closing = format!("{}: passed on {} ranks", line.program, line.ranks);
            let count = self.stdout.lines().filter(|text| *text == closing).count();
            if count != 1 {
                return Err(format!("{closing:?} is there {count} times, expected once"));
            }
        }
        if let (Some((begin, end)), false) = (&line.each, on.is_reference) {
            let closing = format!("{}: ", line.program);
            let other = self.stdout.lines().find(|text| {
                !(text.starts_with(&closing) || text.starts_with(begin) && text.ends_with(end))
            });
            if let Some(other) = other {
                return Err(format!("{other:?} in stdout is not like \"{begin}*{end}\""));
            }
        }
        if !on.is_reference && !on.foreign_launcher {
            for (name, stream, texts) in [
                ("stdout", &self.stdout, &line.stdout),
                ("stderr", &self.stderr, &line.stderr),
            ] {
                if let Some(missing) = texts.iter().find(|text| !stream.contains(*text)) {
                    return Err(format!("{missing:?} is not in {name}"));
                }
            }
            if let Some(found) = line.without.iter().find(|text| self.stderr.contains(*text)) {
                return Err(format!("{found:?} is in stderr"));
            }
            // Whatever the program is for: no job that ends well is ever called stuck.
            let said = STUCK.iter().find(|text| self.stderr.contains(**text));
            if let Some(said) = said.filter(|_| code == 0) {
                return Err(format!("{said:?} is in stderr, and the job went on"));
            }
        }
        Ok(())
    }
}
