//! An mpiexec that a test has started.

use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::Duration;

/// Ends one that has taken too long: it is asked for its table of waiting ranks first, then to end, then killed.
pub fn stop(launcher: &mut Child) {
    let pid = Pid::from_child(launcher);
    for (signal, pause) in [
        (Signal::USR1, 1000),
        (Signal::TERM, 3000),
        (Signal::KILL, 0),
    ] {
        let _ = kill_process(pid, signal);
        std::thread::sleep(Duration::from_millis(pause));
    }
    launcher.wait().expect("wait for the launcher");
}
