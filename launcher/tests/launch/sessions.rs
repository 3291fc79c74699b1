//! Ranks that have a session in common.

use crate::harness::{Folder, Outcome, mpiexec, mpiexec_words, own_path, role_with};
use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

pub const TESTS: &[(&str, fn())] = &[
    ("sessions::of_a_core", of_a_core),
    ("sessions::of_each_rank", of_each_rank),
    ("sessions::as_they_are_bound", as_they_are_bound),
    ("sessions::ends_of_ranks", ends_of_ranks),
    ("sessions::what_cannot_run", what_cannot_run),
    ("sessions::signals", signals),
    ("sessions::few_descriptors", few_descriptors),
    ("sessions::refusals", refusals),
];

/// Prints process, parent, process group and session, and the processors.
const PLACE: &str = "set -- $(cat /proc/$$/stat); \
    echo $PMI_RANK $1 $4 $5 $6 $(grep Cpus_allowed_list /proc/self/status | cut -f 2)";

#[derive(Debug)]
struct Place {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    processors: String,
}

/// In order of ranks.
fn places(options: &str) -> Vec<Place> {
    let words = options.split_whitespace().chain(["sh", "-c", PLACE]);
    let outcome = mpiexec(words).run();
    let mut lines: Vec<Vec<String>> = outcome
        .good()
        .output
        .lines()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect();
    lines.sort_by_key(|words| words[0].parse::<usize>().expect("a rank"));
    let place = |words: &Vec<String>| {
        let number = |at: usize| words[at].parse().expect("a number");
        Place {
            pid: number(1),
            parent: number(2),
            group: number(3),
            session: number(4),
            processors: words[5].clone(),
        }
    };
    lines.iter().map(place).collect()
}

fn usable() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("the processors");
    (0..CpuSet::MAX_CPU).filter(|it| set.is_set(*it)).collect()
}

fn of_a_core() {
    let first = usable()[0];
    let places = places(&format!("-n 4 -sessions core -cpu-set {first}"));
    let sessions: BTreeSet<i32> = places.iter().map(|it| it.session).collect();
    assert_eq!(sessions.len(), 1, "{places:?}");
    for place in &places {
        assert_eq!(place.parent, places[0].parent, "{places:?}");
        assert_eq!(place.group, place.pid, "{places:?}");
        assert!(!sessions.contains(&place.pid), "{places:?}");
    }
}

fn of_each_rank() {
    let first = usable()[0];
    for options in [
        &format!("-n 3 -sessions rank -cpu-set {first}"),
        "-n 1 -sessions core",
        "-n 1 -sessions one",
    ] {
        let places = places(options);
        let alone = |it: &Place| it.session == it.pid && it.group == it.pid;
        assert!(places.iter().all(alone), "{options}: {places:?}");
    }
}

fn as_they_are_bound() {
    let usable = usable();
    let [first, second, ..] = usable[..] else {
        println!("skipped: one processor");
        return;
    };
    let list = format!("{first},{second}");
    // What another job has bound, this one leaves alone: the option says where ranks are.
    let bound = places(&format!("-n 5 -sessions core -bind-to user:{list}"));
    let unbound = places(&format!(
        "-n 5 -sessions core -bind-to none -cpu-set {list}"
    ));
    for (places, wanted) in [(&bound, 2), (&unbound, 1)] {
        let sessions: BTreeSet<i32> = places.iter().map(|it| it.session).collect();
        assert_eq!(sessions.len(), wanted, "{places:?}");
    }
    for (place, other) in bound
        .iter()
        .flat_map(|it| bound.iter().map(move |other| (it, other)))
    {
        let together = place.session == other.session;
        assert_eq!(together, place.processors == other.processors, "{bound:?}");
    }
    // A core for each rank.
    let places = places(&format!("-n 2 -sessions core -cpu-set {list}"));
    assert!(places.iter().all(|it| it.session == it.pid), "{places:?}");
}

fn ends_of_ranks() {
    let shell = |script: &str| mpiexec(["-n", "3", "-sessions", "one", "sh", "-c", script]).run();
    assert_eq!(shell("exit $((PMI_RANK + 4))").code & !3, 4);
    assert_eq!(shell("test $PMI_RANK = 1 && kill -9 $$; true").code, 137);
    let outcome = shell("cat; echo $PMI_RANK");
    assert_eq!(outcome.good().sorted(), ["0", "1", "2"]);
    let job = mpiexec_words("-n 2 -sessions one -s all cat").input("word\n");
    assert_eq!(job.run().good().output, "word\nword\n");
    for (role, code) in [("hello", 0), ("kill:9", 137)] {
        let outcome = role_with(3, role, &["-sessions", "one"]).run();
        assert_eq!(outcome.code, code, "{role}: {outcome:?}");
    }
}

/// Refused with the words that are usual.
fn what_cannot_run() {
    let folder = Folder::new();
    let file = |name: &str, text: &str| {
        let path = folder.file(name, text);
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("chmod");
        path
    };
    let no_interpreter = file("a", "#!/no/such/interpreter\n");
    let no_program = file("b", "\x7fELF\x01\0\0\0of another machine");
    let script = file("c", "echo $0 \"$1\" $OXMPI_RANK\nexit 3\n");
    for program in [&no_interpreter, &no_program, &script] {
        let run = |sessions: &str| -> Outcome {
            mpiexec(["-n", "2", "-sessions", sessions, program, "a b"]).run()
        };
        let (usual, together) = (run("rank"), run("one"));
        assert_ne!(usual.code, 0);
        assert_eq!(together.code, usual.code, "{together:?}");
        assert_eq!(together.error, usual.error);
        assert_eq!(together.sorted(), usual.sorted());
    }
}

/// Also to what ranks have put into process groups of their own.
fn signals() {
    let words = [
        "-n",
        "2",
        "-sessions",
        "one",
        "sh",
        "-c",
        "timeout 1000 sleep 1000; true",
    ];
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::KILL, 137)] {
        let running = mpiexec(words).start();
        // The shell's line has these words, too, as has that of `timeout`.
        running.wait_for(6, "sleep 1000");
        running.signal(signal);
        assert_eq!(running.finish().code, code);
    }
    let script =
        "trap 'echo got-$PMI_RANK; exit 0' USR2; echo up-$PMI_RANK; while :; do sleep 0.1; done";
    let running = mpiexec(["-n", "2", "-sessions", "one", "sh", "-c", script]).start();
    running.wait_for_output("up-", 2);
    running.signal(Signal::USR2);
    let outcome = running.finish();
    assert_eq!(outcome.good().sorted(), ["got-0", "got-1", "up-0", "up-1"]);
}

fn few_descriptors() {
    let own = own_path();
    let script = format!(
        "ulimit -n 64; exec {} -n 40 -sessions one {own}",
        crate::MPIEXEC
    );
    let outcome = crate::harness::launcher("sh", ["-c", &script])
        .env(crate::harness::ROLE, "hello")
        .run();
    assert_eq!(outcome.good().sorted().len(), 40, "{outcome:?}");
}

fn refusals() {
    mpiexec_words("-n 2 -sessions node true")
        .run()
        .says("known are core, rank and one");
    let outcome = mpiexec_words("-n 2 true")
        .env("OXMPI_SESSIONS", "node")
        .run();
    outcome.says("OXMPI_SESSIONS: 'node'");
}
