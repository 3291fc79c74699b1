//! Processes of mpiexec that are stopped: a time limit, a signal and the death of the front process end the job nevertheless.

use crate::harness::{
    Folder, Job, MPIEXEC, ROLE, Running, marked, mpiexec, new_mark, own_path, signal_to, until,
};
use crate::hosts::AGENT;
use rustix::process::Signal;
use std::path::Path;
use std::process::{Command, Stdio};

pub const TESTS: &[(&str, fn())] = &[
    ("stopped::time_limit", time_limit),
    ("stopped::signals", signals),
    (
        "stopped::keepers_and_the_time_limit",
        keepers_and_the_time_limit,
    ),
    ("stopped::keepers_and_signals", keepers_and_signals),
    ("stopped::keepers_and_kills", keepers_and_kills),
    (
        "stopped::a_host_that_may_be_silent",
        a_host_that_may_be_silent,
    ),
    ("stopped::a_keeper_between_others", a_keeper_between_others),
    ("stopped::starters", starters),
    ("stopped::exit_codes", exit_codes),
    ("stopped::before_mpi_init", before_mpi_init),
    (
        "stopped::output_that_nobody_takes",
        output_that_nobody_takes,
    ),
];

/// Rank 1 stops a process of mpiexec on its host: one so many steps above the supervisor.
const SCRIPT: &str = "test $PMI_RANK = 1 || exec sleep 600
at=$PPID
for step in $STEPS; do read -r pid name state at rest < /proc/$at/stat; done
kill -STOP $at
exec sleep 600";
const SUPERVISOR: &str = "";
const GUARD: &str = "1";
const FRONT: &str = "1 2";

const HOSTS: [&str; 4] = ["-launcher-exec", AGENT, "-hosts", "localhost,192.0.2.1"];

fn job(options: &[&str], steps: &str) -> Job {
    let program = ["sh", "-c", SCRIPT];
    mpiexec([options, program.as_slice()].concat()).env("STEPS", steps)
}

/// Waits until a process of the job is stopped.
fn stopped(job: Job) -> Running {
    let running = job.start();
    let is_stopped = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
        state.is_some_and(|state| state.starts_with('T'))
    };
    until("a process is stopped", || {
        running.processes().into_iter().find(|pid| is_stopped(*pid))
    });
    running
}

/// The front process has nobody left who would do it.
fn time_limit() {
    for (steps, name) in [(SUPERVISOR, "supervisor"), (GUARD, "guard")] {
        let outcome = job(&["-n", "2", "-timeout", "5"], steps).run();
        assert_eq!(outcome.code, 124, "{outcome:?}");
        outcome.says(&format!("mpiexec: the {name} of the job (pid "));
        outcome.says(" is stopped: ending the job");
    }
}

fn signals() {
    for signal in [Signal::TERM, Signal::INT, Signal::ALARM] {
        let running = stopped(job(&["-n", "2"], SUPERVISOR));
        running.signal(signal);
        let outcome = running.finish();
        let code = match signal {
            Signal::ALARM => 124,
            signal => 128 + signal.as_raw(),
        };
        assert_eq!(outcome.code, code, "{outcome:?}");
        outcome
            .says("supervisor of the job (pid ")
            .says("is stopped");
    }
}

fn keepers_and_the_time_limit() {
    for steps in [SUPERVISOR, GUARD, FRONT] {
        let options = [HOSTS.as_slice(), &["-timeout", "5"]].concat();
        let outcome = job(&options, steps).run();
        // Without its supervisor the host is lost, before or meanwhile.
        let is_lost = outcome.error.contains(" lost");
        let codes: &[i32] = if is_lost { &[124, 137] } else { &[124] };
        assert!(codes.contains(&outcome.code), "{outcome:?}");
        assert_eq!(is_lost, steps == SUPERVISOR, "{outcome:?}");
    }
}

fn keepers_and_signals() {
    for steps in [SUPERVISOR, GUARD, FRONT] {
        let running = stopped(job(&HOSTS, steps));
        running.signal(Signal::TERM);
        let outcome = running.finish();
        assert_eq!(outcome.code, 143, "{outcome:?}");
    }
}

fn keepers_and_kills() {
    for steps in [SUPERVISOR, GUARD, FRONT] {
        let running = stopped(job(&HOSTS, steps));
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, 137);
    }
}

/// Its connection is cut in the last step of the ending.
fn a_host_that_may_be_silent() {
    let options = [HOSTS.as_slice(), &["-host-timeout", "600", "-timeout", "5"]].concat();
    let outcome = job(&options, SUPERVISOR).run();
    assert_eq!(outcome.code, 124, "{outcome:?}");
    outcome.says("the time limit of 5 s is over");
    outcome.says("no word that the job has ended from 192.0.2.1: given up as lost");
}

/// Addresses that no machine of ours has: each is a host of its own.
fn a_keeper_between_others() {
    let hosts = "localhost,198.51.100.1,198.51.100.2";
    let options = ["-launcher-exec", AGENT, "-launcher-fan-out", "1"];
    let options = [options.as_slice(), &["-hosts", hosts]].concat();
    let limits = ["-host-timeout", "600", "-timeout", "5"];
    let outcome = job(&[options.clone(), limits.to_vec()].concat(), SUPERVISOR).run();
    assert_eq!(outcome.code, 124, "{outcome:?}");
    outcome.says("given up as lost");
    let outcome = job(&options, SUPERVISOR).run();
    assert_eq!(outcome.code, 137, "{outcome:?}");
    outcome.says("host 198.51.100.1 is lost with 1 hosts whose keepers it had started");
}

/// What stands in for ssh stops when it has started the keeper.
fn starters() {
    let folder = Folder::new();
    let text = "shift; exec 3<&0; sh -c \"$*\" <&3 & kill -STOP $$; exit 1";
    let agent = format!("sh {}", folder.file("agent", text));
    for (script, code) in [("exit 0", 0), ("exit 3", 3)] {
        let words = ["-launcher-exec", &agent, "-hosts", "localhost,192.0.2.1"];
        let outcome = mpiexec([words.as_slice(), &["sh", "-c", script]].concat()).run();
        assert_eq!(outcome.code, code, "{outcome:?}");
    }
    let words = ["-launcher-exec", &agent, "-hosts", "localhost,192.0.2.1"];
    let limit = ["-timeout", "5", "sleep", "600"];
    let outcome = mpiexec([words.as_slice(), &limit].concat()).run();
    assert_eq!(outcome.code, 124, "{outcome:?}");
}

/// That of the first rank that fails, whatever becomes of the host.
fn exit_codes() {
    let script = "test $PMI_RANK = 1 || exit 3; kill -STOP $PPID; exec sleep 600";
    let program = ["sh", "-c", script];
    let outcome = mpiexec([HOSTS.as_slice(), &program].concat()).run();
    assert_eq!(outcome.code, 3, "{outcome:?}");
    outcome.says("host 192.0.2.1 is lost");
}

/// Others are in MPI_Init, which needs all, also where the job survives deaths.
fn before_mpi_init() {
    for (end, says) in [
        (
            "kill -STOP $PPID; exec sleep 600",
            "was lost before MPI_Init",
        ),
        ("kill -KILL $$", "was lost before MPI_Init"),
        ("exit 5", "ended with exit code 5 before MPI_Init"),
    ] {
        let script = format!("test $PMI_RANK = 1 || exec {}; {end}", own_path());
        let program = ["-with-ft", "ulfm", "sh", "-c", &script];
        let job = mpiexec([HOSTS.as_slice(), &program].concat());
        let outcome = job.env(ROLE, "exchange").run();
        let code = if end == "exit 5" { 5 } else { 137 };
        assert_eq!(outcome.code, code, "{outcome:?}");
        outcome.says(says);
    }
}

/// The job is over, and its output fits into what mpiexec keeps, but not into the pipe behind it.
fn output_that_nobody_takes() {
    for (signal, code) in [(Signal::TERM, Some(143)), (Signal::KILL, None)] {
        let folder = Folder::new();
        let done = folder.0.join("done");
        let both = [0, 1].map(|rank| format!("{}{rank}", done.display()));
        let script = format!("seq 15000; : > {}$PMI_RANK", done.display());
        let (name, mark) = new_mark();
        let mut child = Command::new("env")
            .arg("--default-signal=HUP,INT,QUIT,TERM")
            .args([MPIEXEC, "-n", "2", "sh", "-c", &script])
            .env(name, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start mpiexec");
        // Front process, guard and supervisor are left.
        until("the rank has ended", || {
            (both.iter().all(|file| Path::new(file).exists()) && marked(&mark).len() == 3)
                .then_some(())
        });
        signal_to(child.id() as i32, signal);
        let status = until("mpiexec has ended", || child.try_wait().expect("wait"));
        assert_eq!(status.code(), code);
        until("nothing is left", || marked(&mark).is_empty().then_some(()));
    }
}
