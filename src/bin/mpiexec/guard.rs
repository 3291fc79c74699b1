//! mpiexec is two processes. The one that the user started, here, waits, passes signals on, and gives the exit code. Its
//! child, the *keeper*, is the ancestor of all ranks and does the work. Each notices the death of the other, however it
//! died, and ends what is left of the job; so a SIGKILL of either leaves nothing behind.
//!
//! The terminal's signals reach both. The keeper takes them only from here, so that one Ctrl-C counts once.
//!
//! Invariant: this process ends after the keeper and everything below it.

use super::descendants;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
use signal_hook::consts::signal::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What is passed to the keeper, one byte each: the signal's number.
pub const PASSED: &[i32] = &[
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
];

/// Watches the keeper until it ends; the exit code.
pub fn watch(keeper: i32, mut line: UnixStream) -> i32 {
    let signals = Signals::new(PASSED.iter().copied().chain([SIGCHLD]));
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
    let Some(keeper) = Pid::from_raw(keeper) else {
        return 1;
    };
    let mut signals = match signals {
        Ok(signals) => signals,
        Err(_) => return code_of_keeper(keeper, WaitOptions::empty()).unwrap_or(1),
    };
    // It may have ended before the handler was there.
    if let Some(code) = code_of_keeper(keeper, WaitOptions::NOHANG) {
        return code;
    }
    for signal in signals.forever() {
        if signal == SIGCHLD {
            if let Some(code) = code_of_keeper(keeper, WaitOptions::NOHANG) {
                return code;
            }
            continue;
        }
        let _ = line.write_all(&[signal as u8]);
        if signal == SIGTSTP {
            let _ = kill_process(rustix::process::getpid(), Signal::STOP);
        }
    }
    1
}

fn code_of_keeper(keeper: Pid, options: WaitOptions) -> Option<i32> {
    let (_, status) = waitpid(Some(keeper), options).ok()??;
    if let Some(code) = status.exit_status() {
        return Some(code);
    }
    let signal = status.terminating_signal()?;
    eprintln!(
        "mpiexec: the keeper of the job (pid {keeper}) was killed by signal {signal}: ending the job"
    );
    if !descendants::end_all(Duration::from_secs(5)) {
        eprintln!("mpiexec: some processes of the job could not be ended");
    }
    Some(128 + signal)
}
