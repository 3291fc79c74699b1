//! However a job ends, nothing of it is left, the exit code tells why, and one message says who. That no process is left
//! is checked for every job by the harness.

use crate::harness::{
    Folder, MPIEXEC, Outcome, Running, launcher, leftovers, mpiexec, own_path, role, role_with,
    signal_to, until,
};
use crate::parts;
use rustix::process::Signal;
use std::time::{Duration, Instant};

pub const TESTS: &[(&str, fn())] = &[
    (
        "endings::ignored_signals_stay_ignored",
        ignored_signals_stay_ignored,
    ),
    (
        "endings::a_script_may_interrupt_its_job",
        a_script_may_interrupt_its_job,
    ),
    (
        "endings::ranks_are_in_other_sessions",
        ranks_are_in_other_sessions,
    ),
    (
        "endings::exit_codes_of_any_program",
        exit_codes_of_any_program,
    ),
    ("endings::a_rank_dies_inside_mpi", a_rank_dies_inside_mpi),
    (
        "endings::a_rank_leaves_mpi_without_finalize",
        a_rank_leaves_mpi_without_finalize,
    ),
    ("endings::abort", abort),
    ("endings::a_rank_fails_before_mpi", a_rank_fails_before_mpi),
    (
        "endings::after_finalize_everyone_is_free",
        after_finalize_everyone_is_free,
    ),
    ("endings::interrupt_and_terminate", interrupt_and_terminate),
    ("endings::twice_interrupted", twice_interrupted),
    ("endings::mpiexec_is_killed", mpiexec_is_killed),
    (
        "endings::the_whole_process_group_is_killed",
        the_whole_process_group_is_killed,
    ),
    (
        "endings::a_program_of_a_script_dies",
        a_program_of_a_script_dies,
    ),
    (
        "endings::the_supervisor_is_killed",
        the_supervisor_is_killed,
    ),
    (
        "endings::two_of_three_processes_of_mpiexec_are_killed",
        two_of_three_processes_of_mpiexec_are_killed,
    ),
    (
        "endings::killed_before_the_front_process_watches",
        killed_before_the_front_process_watches,
    ),
    ("endings::grandchildren_die_too", grandchildren_die_too),
    ("endings::stopped_and_continued", stopped_and_continued),
    ("endings::limits_of_the_shell", limits_of_the_shell),
    ("endings::few_descriptors", few_descriptors),
];

fn exit_codes_of_any_program() {
    let run = |script: &str| mpiexec(["-n", "3", "sh", "-c", script]).run().code;
    assert_eq!(run("exit 0"), 0);
    assert_eq!(run("test $PMI_RANK != 1 || exit 3"), 3);
    // The first that failed.
    assert_eq!(run("test $PMI_RANK != 2 && sleep 0.5 && exit 4; exit 5"), 5);
    assert_eq!(
        run("test $PMI_RANK != 2 || kill -9 $$; exec sleep 1000"),
        137
    );
}

fn a_rank_dies_inside_mpi() {
    for (signal, name) in [(9, "SIGKILL"), (11, "SIGSEGV"), (6, "SIGABRT")] {
        let outcome = role(3, &format!("kill:{signal}")).run();
        assert_eq!(outcome.code, 128 + signal, "{outcome:?}");
        outcome.says("rank 1 (pid ").says(name);
    }
    assert_eq!(leftovers(), [""; 0]);
}

fn a_rank_leaves_mpi_without_finalize() {
    let outcome = role(2, "exit:3").run();
    assert_eq!(outcome.code, 3);
    outcome
        .says("rank 1 (pid ")
        .says("exit code 3 without MPI_Finalize");
    let outcome = role(2, "exit:0").run();
    assert_eq!(outcome.code, 1);
    outcome.says("exit code 0 without MPI_Finalize");
}

fn abort() {
    for (code, seen) in [(7, 7), (256, 1), (0, 0)] {
        let outcome = role(3, &format!("abort:{code}")).run();
        assert_eq!(outcome.code, seen, "{outcome:?}");
        outcome.says("rank 1 (pid ").says("MPI_Abort");
    }
}

fn a_rank_fails_before_mpi() {
    let own = own_path();
    let script = format!("test $PMI_RANK = 1 && exit 5; exec {own}");
    let outcome = mpiexec(["-n", "2", "sh", "-c", &script])
        .env(crate::harness::ROLE, "wait")
        .run();
    assert_eq!(outcome.code, 5);
    outcome.says("exit code 5 before MPI_Init");
}

fn after_finalize_everyone_is_free() {
    let outcome = role(2, "late:4").run();
    assert_eq!(outcome.code, 4);
    assert_eq!(outcome.error, "");
}

fn waiting(job: crate::harness::Job, ranks: usize) -> Running {
    let running = job.start();
    running.wait_for(ranks, "launch");
    running
}

fn interrupt_and_terminate() {
    for (signal, code, name) in [
        (Signal::INT, 130, "SIGINT"),
        (Signal::TERM, 143, "SIGTERM"),
        (Signal::HUP, 129, "SIGHUP"),
        (Signal::QUIT, 131, "SIGQUIT"),
    ] {
        let running = waiting(role(2, "wait"), 2);
        running.signal(signal);
        let outcome = running.finish();
        assert_eq!(outcome.code, code);
        outcome.says(name);
    }
}

fn stubborn() -> Running {
    let script = "trap '' INT TERM; echo ready; while :; do sleep 1; done";
    let running = mpiexec(["-n", "2", "sh", "-c", script]).start();
    running.wait_for(2, "sleep 1");
    running
}

fn twice_interrupted() {
    let running = stubborn();
    running.signal(Signal::INT);
    // A signal that is pending already would be merged with the next one.
    std::thread::sleep(std::time::Duration::from_millis(50));
    running.signal(Signal::INT);
    assert_eq!(running.finish().code, 130);
    // And one is enough in the end.
    let running = stubborn();
    running.signal(Signal::TERM);
    assert_eq!(running.finish().code, 143);
}

fn mpiexec_is_killed() {
    let running = waiting(role(3, "wait"), 3);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, 137);
    let running = stubborn();
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, 137);
    assert_eq!(leftovers(), [""; 0]);
}

fn ignored_signals_stay_ignored() {
    let script = format!("trap '' HUP; exec {MPIEXEC} -n 2 sh -c 'sleep 0.5; echo done'");
    let running = launcher("sh", ["-c", &script]).start();
    running.wait_for(2, "sleep 0.5");
    running.signal(Signal::HUP);
    assert_eq!(running.finish().good().output, "done\ndone\n");
}

/// A shell without job control ignores SIGINT and SIGQUIT for its background commands; others may have SIGTERM ignored.
fn a_script_may_interrupt_its_job() {
    for (signal, code) in [("INT", 130), ("QUIT", 131), ("TERM", 143)] {
        // The ranks are not to inherit that. They say when they run.
        let ranks = "trap 'exit 1' INT QUIT TERM; echo up; while :; do sleep 0.1; done";
        let script = format!(
            "trap '' TERM; \"$0\" -n 2 sh -c \"$1\" > \"$2\" & pid=$!; \
             until test $(wc -l < \"$2\") = 2; do sleep 0.05; done; kill -{signal} $pid; wait $pid"
        );
        let folder = crate::harness::Folder::new();
        let file = folder.file("output", "");
        let outcome = launcher("sh", ["-c", &script, MPIEXEC, ranks, &file]).run();
        assert_eq!(outcome.code, code, "SIG{signal}: {outcome:?}");
        outcome.says(&format!("SIG{signal}"));
    }
}

/// Linux divides processors among sessions first.
fn ranks_are_in_other_sessions() {
    // The session is the sixth field. 0 where its leader is outside of this process namespace, which getsid of rustix
    // cannot say.
    let script = "cut -d ' ' -f 6 /proc/$$/stat";
    let own = std::process::Command::new("sh")
        .args(["-c", script])
        .output()
        .expect("sh");
    let own = String::from_utf8(own.stdout).expect("a number");
    for ranks in [1, 3, 40] {
        let outcome = mpiexec(["-n", &ranks.to_string(), "sh", "-c", script]).run();
        let sessions: Vec<&str> = outcome.good().output.lines().collect();
        assert_eq!(sessions.len(), ranks, "{outcome:?}");
        assert!(!sessions.contains(&own.trim()), "{outcome:?}");
    }
    // A process group of its own does not hide a process from signals to the job.
    let script = "trap 'echo got' INT; timeout 1000 sleep 777; exit 1";
    let running = mpiexec(["-n", "2", "sh", "-c", script]).start();
    running.wait_for(6, "7");
    running.signal(Signal::INT);
    let outcome = running.finish();
    assert_eq!(outcome.output, "got\ngot\n", "{outcome:?}");
}

fn the_whole_process_group_is_killed() {
    let job = mpiexec(["-n", "2", "sh", "-c", "sleep 1000; true"]).group();
    let running = job.start();
    running.wait_for(4, "sleep 1000");
    let group = rustix::process::Pid::from_raw(running.child.id() as i32).expect("a process id");
    rustix::process::kill_process_group(group, Signal::KILL).expect("kill");
    assert_eq!(running.finish().code, 137);
}

fn a_program_of_a_script_dies() {
    let script = format!("{}; sleep 1000", own_path());
    let outcome = mpiexec(["-n", "2", "bash", "-c", &script])
        .env(crate::harness::ROLE, "kill-later:9")
        .run();
    assert_eq!(outcome.code, 1);
    outcome.says("rank 1").says("died without MPI_Finalize");
}

fn the_supervisor_is_killed() {
    let running = waiting(role(3, "wait"), 3);
    signal_to(process_named(&running, "oxmpi-supervise"), Signal::KILL);
    let outcome = running.finish();
    assert_eq!(outcome.code, 137);
    outcome.says("supervisor");
}

fn process_named(running: &Running, wanted: &str) -> i32 {
    let is_called = |pid: &i32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == wanted)
    };
    until(wanted, || running.processes().into_iter().find(is_called))
}

// The ranks are programs of others, which nothing in them ends.
fn two_of_three_processes_of_mpiexec_are_killed() {
    for pair in [
        ["mpiexec", "oxmpi-supervise"],
        ["oxmpi-supervise", "oxmpi-guard"],
        ["mpiexec", "oxmpi-guard"],
    ] {
        let running = mpiexec(["-n", "2", "sh", "-c", "sleep 1000 & setsid sleep 1000"]).start();
        running.wait_for(4, "sleep 1000");
        // Found before one is killed, which the other notices.
        let found = pair.map(|name| process_named(&running, name));
        for pid in found {
            signal_to(pid, Signal::KILL);
        }
        assert_eq!(running.finish().code, 137, "{pair:?}");
    }
}

fn killed_before_the_front_process_watches() {
    let name = "endings::killed_before_the_front_process_watches";
    if !parts::has_all(name, &["strace"]) {
        return;
    }
    // Only calls of the front process are late: strace leaves its children alone.
    let late = ["-qq", "-o/dev/null", "-einject=prctl:delay_enter=500000"];
    let job = ["-n", "1", "sh", "-c", "sleep 1000 & sleep 1000"];
    let arguments = late.iter().chain([&MPIEXEC]).chain(&job);
    let running = launcher("strace", arguments).start();
    running.wait_for(2, "sleep 1000");
    let found = ["oxmpi-supervise", "oxmpi-guard"].map(|name| process_named(&running, name));
    for pid in found {
        signal_to(pid, Signal::KILL);
    }
    running.finish().says("guard");
}

fn grandchildren_die_too() {
    let script = format!("{}; true", own_path());
    let start = || {
        let job = mpiexec(["-n", "2", "bash", "-c", &script]).env(crate::harness::ROLE, "wait");
        let running = job.start();
        running.wait_for(4, "launch");
        running
    };
    let running = start();
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, 137);
    let running = start();
    running.signal(Signal::INT);
    assert_eq!(running.finish().code, 130);
    // Not even those that made themselves a session of their own.
    let running = mpiexec([
        "-n",
        "2",
        "sh",
        "-c",
        "setsid sleep 1000 & setsid sleep 1000",
    ])
    .start();
    running.wait_for(4, "sleep 1000");
    running.signal(Signal::KILL);
    running.finish();
}

fn stopped_and_continued() {
    let folder = Folder::new();
    let end = folder.0.join("end");
    // Until it is told, however busy the machine is.
    let script = format!(
        "while [ ! -e {} ]; do sleep 0.02; done; echo done",
        end.display()
    );
    let running = mpiexec(["-n", "1", "sh", "-c", &script]).start();
    running.wait_for(1, "while");
    // A signal to go on may come at any moment of the stop: it is never lost.
    for turn in 0..400 {
        running.signal(Signal::TSTP);
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(turn) {}
        running.signal(Signal::CONT);
    }
    std::fs::write(&end, "").expect("write");
    let outcome: Outcome = running.finish();
    assert_eq!(outcome.good().output, "done\n");
    // Long enough for the rank to end before, on a busy machine too.
    let outcome = role_with(2, "kill:9", &["-disable-auto-cleanup", "-timeout", "4"]).run();
    assert_eq!(outcome.code, 137);
    outcome.says("time limit");
    outcome.says("when memory runs out");
}

fn limits_of_the_shell() {
    let own = own_path();
    for (limit, command, code) in [
        ("ulimit -f 10", format!("{MPIEXEC} -n 2 {own}"), 1),
        ("ulimit -f 10", own.clone(), 9),
        ("ulimit -n 20", format!("{MPIEXEC} -n 16 {own}"), 1),
        ("ulimit -n 8", format!("{MPIEXEC} -n 2 {own}"), 1),
        ("ulimit -v 100000", format!("{MPIEXEC} -n 16 {own}"), 1),
    ] {
        let script = format!("{limit}; exec {command}");
        let outcome = launcher("sh", ["-c", &script])
            .env(crate::harness::ROLE, "hello")
            .run();
        assert_eq!(outcome.code, code, "{script}: {outcome:?}");
        outcome.says(limit.rsplit_once(' ').unwrap().0);
    }
}

/// Forty ranks where 64 files may be open.
fn few_descriptors() {
    let own = own_path();
    let run = |limit: &str, role: &str, command: &str| {
        let script = format!("ulimit {limit}; exec {MPIEXEC} {command}");
        let job = launcher("sh", ["-c", &script]);
        job.env(crate::harness::ROLE, role).run()
    };
    let outcome = run("-n 64", "hello", &format!("-n 40 {own}"));
    let mut numbers: Vec<u32> = outcome
        .good()
        .output
        .lines()
        .map(|line| {
            line.split(' ')
                .next()
                .expect("a word")
                .parse()
                .expect("a rank")
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    let outcome = run("-n 64", "abort:7", &format!("-n 40 {own}"));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    outcome
        .says("rank 1 (pid ")
        .says("ended the job with exit code 7");
    let both = "sh -c 'echo out; echo err >&2'";
    let outcome = run("-n 64", "", &format!("-v -n 40 {both}"));
    assert_eq!(outcome.good().output.lines().count(), 40);
    assert_eq!(
        outcome.error.lines().filter(|line| *line == "err").count(),
        40,
        "{outcome:?}"
    );
    outcome.says("few open files are allowed (ulimit -n)");
    // Labels need a pipe for each stream.
    let outcome = run("-n 64", "", &format!("-l -n 16 {both}"));
    let labelled = outcome
        .good()
        .error
        .lines()
        .filter(|line| line.ends_with("] err"))
        .count();
    assert_eq!(labelled, 16, "{outcome:?}");
    let outcome = run("-n 64", "", &format!("-l -n 40 {both}"));
    assert_eq!(
        (outcome.code, outcome.output.as_str()),
        (1, ""),
        "{outcome:?}"
    );
    outcome
        .says("40 ranks need 82 open files more")
        .says("the limit of 64 (ulimit -n)");
    // Each rank needs a socket then.
    let outcome = run("-n 64", "exchange", &format!("-n 40 {own}"));
    assert_eq!(outcome.code, 1, "{outcome:?}");
    outcome.says("a socket for each rank: allow more open files (ulimit -n)");
    // The limit that can be raised is raised, but not for the ranks.
    let outcome = run("-Sn 64", "", "-l -n 40 sh -c 'ulimit -Sn'");
    let lines = outcome.good().output.lines();
    assert_eq!(
        lines.filter(|line| line.ends_with("] 64")).count(),
        40,
        "{outcome:?}"
    );
}
