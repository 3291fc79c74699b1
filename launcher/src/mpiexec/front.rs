//! mpiexec is three processes. The *front process*, which the user started, waits, passes signals on, and gives the exit code. Its
//! child, the *guard*, only waits. Its grandchild, the *supervisor*, is the ancestor of all ranks and does the work. Each is a subreaper,
//! so whichever of them is left has all processes of the job below it, and ends them; a SIGKILL of any two leaves nothing behind.
//!
//! The terminal's signals reach all. The supervisor takes them only from here, so that one Ctrl-C counts once; the guard takes none.
//!
//! Invariant: a process of the three ends after those below it.

use super::oversight::{self, Heard, Oversight};
use super::{complain, descendants, limit_behind, mpir};
use oxmpi::os::process::{Fork, Signals, fork, suspend};
use rustix::process::{Pid, WaitOptions, set_child_subreaper, waitpid};
use signal_hook::consts::signal::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
    SIGTTOU, SIGUSR1, SIGUSR2,
};
use std::ffi::CStr;
use std::io::ErrorKind::{Interrupted, WouldBlock};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Added to the number of a signal that no process sent: the terminal's signals go to all of its foreground processes.
pub const BY_KERNEL: u8 = 0x80;

/// What is passed to the supervisor, one byte each: the signal's number.
pub const PASSED: &[i32] = &[
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
];

/// What the supervisor is told before all that: from now on signals are passed. Ranks that it had started before would be ended by
/// one without a word.
const READY: u8 = 0;

/// For the supervisor: waits until the front process is ready. False: it has died.
pub fn is_ready(mut line: &UnixStream) -> bool {
    line.read_exact(&mut [READY]).is_ok()
}

/// For the supervisor, when only output is left: the exit code if somebody wants no more of that; the death of the front process says so too.
pub fn is_unwanted(mut line: &UnixStream) -> Option<i32> {
    let mut bytes = [0; 64];
    match line.read(&mut bytes) {
        Ok(0) => Some(128 + 9),
        Ok(count) => {
            let signals = bytes[..count].iter();
            signals
                .map(|byte| i32::from(byte & !BY_KERNEL))
                .find_map(oversight::code_of)
        }
        Err(error) if [WouldBlock, Interrupted].contains(&error.kind()) => None,
        Err(_) => Some(128 + 9),
    }
}

/// What the guard does not take beside those that are passed.
const OF_TERMINAL: &[i32] = &[SIGPIPE, SIGTTIN, SIGTTOU];

/// Makes it unlikely that one command kills all of mpiexec's processes: another name, and without a terminal
/// (whose background processes may not read from it) another process group.
pub fn step_aside(name: &CStr) {
    let _ = rustix::thread::set_name(name);
    let _ = oxmpi::os::process::rename(&name.to_string_lossy());
    let stdio = [
        rustix::stdio::stdin(),
        rustix::stdio::stdout(),
        rustix::stdio::stderr(),
    ];
    if !stdio.into_iter().any(rustix::termios::isatty) {
        let _ = rustix::process::setpgid(None, None);
    }
}

/// Runs a supervisor, which gets its end of the line to this process, and watches over it; the exit code. `limit`: the time limit of the
/// job, seconds.
///
/// Errors: a text, where no process can be started.
pub fn run(limit: Option<f64>, supervisor: impl FnOnce(UnixStream) -> i32) -> Result<i32, String> {
    // Before there is a process to inherit, whenever the other two are killed.
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
    let pair = UnixStream::pair();
    let (ours, theirs) = pair.map_err(|error| format!("cannot make a socket pair: {error}"))?;
    match fork() {
        Ok(Fork::Parent(guard)) => {
            drop((theirs, supervisor));
            Ok(watch(guard, ours, limit))
        }
        Ok(Fork::Child) => {
            drop(ours);
            Ok(guard(supervisor, theirs))
        }
        Err(error) => {
            let limit = limit_behind(&error);
            Err(format!("cannot start the guard of the job: {error}{limit}"))
        }
    }
}

/// The guard: has the supervisor below it, and when that has ended nothing.
fn guard(supervisor: impl FnOnce(UnixStream) -> i32, line: UnixStream) -> i32 {
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
    match fork() {
        Ok(Fork::Parent(pid)) => {
            // The supervisor is to see the end of the line when the front process dies.
            drop((line, supervisor));
            step_aside(c"oxmpi-guard");
            let _ = Signals::block(&[PASSED, OF_TERMINAL].concat());
            let pid = Pid::from_raw(pid);
            pid.and_then(|pid| code_of(("supervisor", pid), WaitOptions::empty()))
                .unwrap_or(1)
        }
        Ok(Fork::Child) => supervisor(line),
        Err(error) => {
            let limit = limit_behind(&error);
            complain(&format!("cannot start the supervisor: {error}{limit}"));
            1
        }
    }
}

/// Watches the guard until it ends; the exit code.
fn watch(guard: i32, mut line: UnixStream, limit: Option<f64>) -> i32 {
    let ignored = signals_to_ignore();
    let wanted = PASSED.iter().copied();
    let wanted = wanted.filter(|signal| !ignored.contains(*signal));
    let wanted: Vec<i32> = wanted.chain([SIGCHLD]).collect();
    let signals = Signals::block(&wanted);
    let _ = line.write_all(&[READY]);
    let heard = Arc::new(Heard::default());
    mpir::listen(&line, heard.clone());
    let Some(guard) = Pid::from_raw(guard) else {
        return 1;
    };
    let mut oversight = Oversight::new(guard, limit, heard);
    let guard = ("guard", guard);
    let signals = match signals {
        Ok(signals) => signals,
        Err(_) => return code_of(guard, WaitOptions::empty()).unwrap_or(1),
    };
    // It may have ended before its signal was blocked.
    if let Some(code) = code_of(guard, WaitOptions::NOHANG) {
        return code;
    }
    loop {
        let taken = signals.take(oversight.rest());
        if let Some(code) = oversight.look(&line) {
            return code;
        }
        let Some(signal) = taken else {
            continue;
        };
        if signal.number == SIGCHLD {
            if let Some(code) = code_of(guard, WaitOptions::NOHANG) {
                return code;
            }
            continue;
        }
        let origin = if signal.by_kernel { BY_KERNEL } else { 0 };
        let number = signal.number as u8;
        oversight.passed(signal.number);
        if signal.number == SIGTSTP {
            suspend(|| drop(line.write_all(&[number | origin])));
            // It goes on: it was continued, or not stopped at all, as where mpiexec is all that runs in a terminal.
            let _ = line.write_all(&[SIGCONT as u8]);
        } else {
            let _ = line.write_all(&[number | origin]);
        }
    }
}

/// A set of signals.
pub struct SignalSet(u64);

impl SignalSet {
    pub fn contains(&self, signal: i32) -> bool {
        self.0 >> (signal - 1) & 1 == 1
    }

    fn only(self, signals: &[i32]) -> SignalSet {
        let mask = signals.iter().map(|signal| 1 << (signal - 1));
        SignalSet(self.0 & mask.sum::<u64>())
    }

    /// From a line such as `SigIgn:\t0000000000000001` in /proc/PID/status.
    fn of_status(status: &str) -> SignalSet {
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        SignalSet(line.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap_or(0)))
    }
}

/// Signals that stay ignored for the whole job if they were when this process was started: by nohup, and by a shell without job
/// control. Not SIGINT and SIGQUIT, which a script ignores for all its background commands: whoever sends one to mpiexec
/// wants the job to end.
const STAY_IGNORED: &[i32] = &[SIGHUP, SIGTSTP, SIGTTOU];

/// The signals for which no handler may be set. Must be called before any handler is set, because it reads what is ignored now.
pub fn signals_to_ignore() -> SignalSet {
    SignalSet::of_status(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
        .only(STAY_IGNORED)
}

/// The exit code of a child that has ended. If it was killed, all that was below it is ended first.
fn code_of((name, child): (&str, Pid), options: WaitOptions) -> Option<i32> {
    let (_, status) = waitpid(Some(child), options).ok()??;
    if let Some(code) = status.exit_status() {
        return Some(code);
    }
    let signal = status.terminating_signal()?;
    complain(&format!(
        "the {name} of the job (pid {child}) was killed by signal {signal}: ending the job"
    ));
    if !descendants::end_all(Duration::from_secs(5)) {
        complain("some processes of the job could not be ended");
    }
    Some(128 + signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_the_writing_of_output() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        assert_eq!(is_unwanted(&theirs), None);
        ours.write_all(&[oversight::QUESTION, SIGUSR1 as u8])
            .unwrap();
        assert_eq!(is_unwanted(&theirs), None);
        ours.write_all(&[SIGTERM as u8 | BY_KERNEL]).unwrap();
        assert_eq!(is_unwanted(&theirs), Some(128 + SIGTERM));
        drop(ours);
        assert_eq!(is_unwanted(&theirs), Some(128 + 9));
    }

    #[test]
    fn ignored_signals_are_read() {
        let set = SignalSet::of_status(
            "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n",
        );
        assert!(set.contains(SIGHUP) && set.contains(13));
        assert!(!set.contains(SIGINT));
        let kept = set.only(&[SIGHUP, SIGINT]);
        assert!(kept.contains(SIGHUP) && !kept.contains(13) && !kept.contains(SIGINT));
        assert!(!SignalSet::of_status("").contains(SIGHUP));
    }
}
