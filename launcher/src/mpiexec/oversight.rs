//! What the front process does from the moment at which the job is to end, by a signal or the time limit: it asks the supervisor
//! whether that is at work, and ends the job itself if supervisor or guard have been stopped, or no answer comes.
//!
//! Invariant: a job that is to end does so, whichever process of it is stopped.

use super::activity::Activity;
use super::ending::TIMEOUT_CODE;
use super::{complain, descendants};
use oxmpi::sync::{AtomicBool, AtomicU32, Ordering};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::signal::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The question, where a signal's number would be, and the line that answers it.
pub const QUESTION: u8 = 0x62;
const ANSWER: &str = "here";
/// What the supervisor says when the job is over and only its output is left to write: no time limit counts any more.
const OVER: &str = "over";

/// Between two looks.
const PERIOD: Duration = Duration::from_secs(1);
/// So many looks at a stopped process are enough. Counted, not timed: this process may have been stopped with it, and continued before it.
const STOPPED: u32 = 5;
/// So many looks without an answer: what the supervisor does between two turns of its loop takes less, such as stacks by a debugger.
const SILENT: u32 = 120;

/// The exit code of a job that this signal to mpiexec ends, if it does.
pub fn code_of(signal: i32) -> Option<i32> {
    match signal {
        SIGINT | SIGTERM | SIGHUP | SIGQUIT => Some(128 + signal),
        SIGALRM => Some(TIMEOUT_CODE),
        _ => None,
    }
}

/// In the supervisor: answers the question.
pub fn answer(line: &UnixStream) {
    say(line, ANSWER);
}

/// In the supervisor: only output is left.
pub fn tell_over(line: &UnixStream) {
    say(line, OVER);
}

fn say(mut line: &UnixStream, word: &str) {
    // A front process that is stopped, or dead, hears nothing.
    let _ = line.write_all(format!("{word}\n").as_bytes());
}

/// What the supervisor has said.
#[derive(Default)]
pub struct Heard {
    answers: AtomicU32,
    over: AtomicBool,
}

impl Heard {
    /// Takes a line of the supervisor's, if it is one of these.
    pub fn take(&self, line: &str) -> bool {
        match line {
            ANSWER => {
                self.answers.fetch_add(1, Ordering::Relaxed);
            }
            OVER => self.over.store(true, Ordering::Relaxed),
            _ => return false,
        }
        true
    }
}

/// In the front process.
pub struct Oversight {
    guard: Pid,
    heard: Arc<Heard>,
    /// When the time limit is over.
    limit: Option<Instant>,
    /// The job is to end, with this exit code.
    ending: Option<i32>,
    next: Instant,
    /// A question was asked, when so many had been answered.
    asked: Option<u32>,
    looks: Looks,
}

/// Looks since the last answer.
#[derive(Debug, Default)]
struct Looks {
    /// At a process that was stopped.
    stopped: u32,
    all: u32,
}

impl Looks {
    /// What is wrong, if enough was seen.
    fn verdict(&self, is_over: bool) -> Option<&'static str> {
        if self.stopped >= STOPPED {
            return Some("is stopped");
        }
        // When it is over, output may be left that nobody takes.
        (self.all >= SILENT && !is_over).then_some("does not answer")
    }
}

impl Oversight {
    /// `limit`: the time limit of the job, seconds.
    pub fn new(guard: Pid, limit: Option<f64>, heard: Arc<Heard>) -> Oversight {
        let now = Instant::now();
        let limit = limit.filter(|limit| *limit > 0.0);
        Oversight {
            guard,
            heard,
            limit: limit.map(|limit| now + Duration::from_secs_f64(limit.min(1e9))),
            ending: None,
            next: now,
            asked: None,
            looks: Looks::default(),
        }
    }

    /// A signal was passed on.
    pub fn passed(&mut self, signal: i32) {
        self.ending = self.ending.or(code_of(signal));
    }

    /// How long nothing is to be done here.
    pub fn rest(&self) -> Option<Duration> {
        let next = match self.ending {
            Some(_) => Some(self.next),
            None => self.limit,
        };
        next.map(|next| next.saturating_duration_since(Instant::now()))
    }

    /// Does what is due. The exit code if it has ended the job.
    pub fn look(&mut self, mut line: &UnixStream) -> Option<i32> {
        let now = Instant::now();
        let is_over = self.heard.over.load(Ordering::Relaxed);
        if self.limit.take_if(|limit| now >= *limit).is_some() && !is_over {
            self.ending = self.ending.or(Some(TIMEOUT_CODE));
        }
        let code = self.ending?;
        if now < self.next {
            return None;
        }
        self.next = now + PERIOD;
        let answers = self.heard.answers.load(Ordering::Relaxed);
        if self.asked != Some(answers) {
            self.asked = Some(answers);
            self.looks = Looks::default();
            let _ = line.write_all(&[QUESTION]);
            return None;
        }
        let guard = ("guard", self.guard.as_raw_nonzero().get());
        let supervisor = descendants::below(guard.1).first().copied();
        let supervisor = ("supervisor", supervisor.unwrap_or(guard.1));
        let is_stopped = |(_, pid): &(&str, i32)| Activity::of(*pid) == Some(Activity::Stopped);
        let stopped = [guard, supervisor].into_iter().find(is_stopped);
        self.looks.all += 1;
        self.looks.stopped += u32::from(stopped.is_some());
        let why = self.looks.verdict(is_over)?;
        let (name, pid) = stopped.unwrap_or(supervisor);
        complain(&format!(
            "the {name} of the job (pid {pid}) {why}: ending the job"
        ));
        // The guard first, which would say that the supervisor was killed.
        let _ = kill_process(self.guard, Signal::KILL);
        if !descendants::end_all(Duration::from_secs(5)) {
            complain("some processes of the job could not be ended");
        }
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_supervisor_that_answers_is_left_alone() {
        let heard = Arc::new(Heard::default());
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let child = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = child.unwrap();
        let mut oversight = Oversight::new(Pid::from_child(&child), None, heard.clone());
        assert_eq!((oversight.look(&ours), oversight.rest()), (None, None));
        oversight.passed(SIGTERM);
        for _ in 0..3 * SILENT {
            oversight.next = Instant::now();
            assert_eq!(oversight.look(&ours), None);
            let mut byte = [0];
            theirs.read_exact(&mut byte).unwrap();
            assert_eq!(byte, [QUESTION]);
            assert!(heard.take(ANSWER));
        }
        assert!(!heard.take("0\thost\tprogram"));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_was_seen_is_judged() {
        let looks = |stopped, all| Looks { stopped, all };
        assert_eq!(looks(STOPPED - 1, STOPPED).verdict(false), None);
        assert_eq!(looks(STOPPED, STOPPED).verdict(true), Some("is stopped"));
        assert_eq!(looks(0, SILENT).verdict(false), Some("does not answer"));
        assert_eq!(looks(0, SILENT).verdict(true), None);
    }
}
