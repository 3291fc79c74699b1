//! Options of Open MPI's, Intel's and MPICH's launchers: each does what its name says, or says that it has no effect.

use crate::harness::{Folder, Outcome, mpiexec, mpiexec_words, until};
use rustix::process::Signal;

pub const TESTS: &[(&str, fn())] = &[
    ("habits::cores_of_ranks", cores_of_ranks),
    ("habits::rank_files", rank_files),
    ("habits::numbers_of_ranks", numbers_of_ranks),
    ("habits::copies_of_output", copies_of_output),
    ("habits::times_of_lines", times_of_lines),
    ("habits::one_stream_for_both", one_stream_for_both),
    (
        "habits::stacks_when_asked_and_at_the_timeout",
        stacks_when_asked_and_at_the_timeout,
    ),
    ("habits::tools", tools),
    ("habits::what_is_told", what_is_told),
    ("habits::without_effect", without_effect),
];

const AFFINITY: &str = "sed -n 's/Cpus_allowed_list:\t//p' /proc/self/status";

fn shell(options: &str, script: &str) -> Outcome {
    let words = options.split_whitespace().chain(["sh", "-c", script]);
    mpiexec(words.collect::<Vec<_>>()).run()
}

/// The processors that these tests may use.
fn usable() -> Vec<usize> {
    let text = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = text
        .lines()
        .find_map(|it| it.strip_prefix("Cpus_allowed_list:"));
    let mut processors = Vec::new();
    for part in line.expect("a list").trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<usize>().expect("a number");
        processors.extend(number(first)..=number(last));
    }
    processors
}

fn cores_of_ranks() {
    let usable = usable();
    let (first, last) = (usable[0], usable[usable.len() - 1]);
    let outcome = shell(&format!("-n 1 --cpu-set {last}"), AFFINITY);
    assert_eq!(outcome.good().output, format!("{last}\n"));
    let outcome = shell(&format!("-n 2 --cpu-list {first} --bind-to none"), AFFINITY);
    assert_eq!(outcome.good().output, format!("{first}\n{first}\n"));
    shell("-n 1 -cpu-set 4000", "true").says("processor 4000 may not be used");
    shell("-n 1 -cpu-set x", "true").says("no list of processors");
    // One hardware thread each, however they are asked for.
    for options in [
        "--use-hwthread-cpus --cpus-per-proc 1",
        "--map-by slot:PE=1:HWTCPUS",
        "--use-hwthread-cpus --cpus-per-rank 1 --bind-to core",
        "-bind-to hwthread",
    ] {
        let outcome = shell(&format!("-n 1 {options}"), AFFINITY);
        let alone = outcome.good().output.trim().parse::<usize>();
        assert!(
            alone.is_ok_and(|it| usable.contains(&it)),
            "{options}: {outcome:?}"
        );
    }
    let free = shell("-n 1 -bind-to-none", AFFINITY);
    let asked = shell(
        "-n 1 --use-hwthread-cpus --cpus-per-proc 1 --bind-to none",
        AFFINITY,
    );
    assert_eq!(free.good().output, asked.good().output);
    shell("-n 1 -cpus-per-proc 0", "true").says("'0'");
    let many = usable.len() + 1;
    let refused = shell(&format!("-n {many} --nooversubscribe"), "true");
    assert_eq!(refused.code, 1, "{refused:?}");
    refused.says(&format!(
        "{many} ranks are more than the {} processors",
        usable.len()
    ));
    shell(&format!("-n {} --nooversubscribe", usable.len()), "true").good();
}

fn rank_files() {
    let usable = usable();
    let folder = Folder::new();
    let last = usable.len() - 1;
    let file = folder.file(
        "ranks",
        format!("# two ranks\nrank 1=localhost slot=0\nrank 0=+n0 slot={last}\n"),
    );
    let options = |more: &str| format!("--use-hwthread-cpus --rankfile {file} {more} -l");
    let outcome = shell(&options(""), AFFINITY);
    let mut processors: Vec<usize> = outcome
        .good()
        .sorted()
        .iter()
        .map(|line| {
            line.split_once("] ")
                .expect("a label")
                .1
                .parse()
                .expect("one processor")
        })
        .collect();
    if usable.len() > 1 {
        assert_ne!(processors[0], processors[1], "{outcome:?}");
    }
    processors.retain(|it| usable.contains(it));
    assert_eq!(processors.len(), 2, "{outcome:?}");
    // A rank that is not named is not bound; one too many is a mistake.
    let outcome = shell(&options("-n 3"), AFFINITY);
    let free = shell("-n 1 -bind-to none", AFFINITY);
    assert_eq!(
        outcome.good().sorted()[2],
        format!("[2] {}", free.output.trim())
    );
    shell(&options("-n 1"), "true").says("no rank 1 among 1");
    let by_map = shell(
        &format!("--map-by rankfile:FILE={file}:HWTCPUS"),
        "echo $PMI_SIZE",
    );
    assert_eq!(by_map.good().sorted(), ["2", "2"]);
    let wrong = folder.file(
        "wrong",
        "rank 0=localhost slot=0\nrank 1=localhost slot=4096\n",
    );
    shell(&format!("-rf {wrong}"), "true").says("wrong:2: there is no core 4096");
    shell("-rf /nonexistent", "true").says("cannot read the rank file /nonexistent");
}

fn numbers_of_ranks() {
    for (options, ranks) in [
        ("--pernode", 1),
        ("--npernode 2", 2),
        ("-map-by ppr:3:node", 3),
        ("--pernode -n 2", 2),
    ] {
        let outcome = shell(options, "echo $PMI_SIZE");
        let lines = vec![ranks.to_string(); ranks];
        assert_eq!(outcome.good().sorted(), lines, "{options}");
    }
    let one = shell("--persocket", "echo $PMI_SIZE")
        .good()
        .output
        .lines()
        .count();
    for options in ["-npersocket 2", "--map-by ppr:2:socket"] {
        assert_eq!(
            shell(options, "echo a").good().output.lines().count(),
            2 * one
        );
    }
    shell("-map-by ppr:2:galaxy", "true").says("ppr:N:node and ppr:N:socket");
    shell("-nolocal", "true").says("there is no other host");
}

fn copies_of_output() {
    let folder = Folder::new();
    let script = "echo out $PMI_RANK; echo err $PMI_RANK >&2";
    let run = |options: &[&str]| {
        let words = [options, &["sh", "-c", script]].concat();
        mpiexec(words).folder(&folder.0).run()
    };
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).expect(name);
    let outcome = run(&["-n", "2", "--output-filename", "a/b"]);
    assert_eq!(outcome.good().sorted(), ["out 0", "out 1"]);
    outcome.says("err 0\n").says("err 1\n");
    assert_eq!(read("a/b/1/rank.1/stdout"), "out 1\n");
    assert_eq!(read("a/b/1/rank.0/stderr"), "err 0\n");
    // Ranks from 10 on have numbers of two digits.
    let outcome = run(&["-n", "10", "-output-filename", "c:nocopy"]);
    assert_eq!(
        (outcome.good().output.as_str(), outcome.error.as_str()),
        ("", "")
    );
    assert_eq!(read("c/1/rank.09/stdout"), "out 9\n");
    let outcome = run(&["-n", "1", "--output", "dir=d:nojobid"]);
    assert_eq!(
        (
            outcome.good().output.as_str(),
            read("d/rank.0/stdout").as_str()
        ),
        ("out 0\n", "out 0\n")
    );
    let outcome = run(&["-n", "2", "--output", "file=e"]);
    assert_eq!(outcome.good().output, "");
    assert_eq!(
        (read("e.1.out"), read("e.0.err")),
        ("out 1\n".into(), "err 0\n".into())
    );
    run(&["-n", "1", "--output-filename", "/dev/null/x"]).says("cannot make /dev/null/x");
    run(&["-n", "1", "--output", "colour"]).says("'colour' is not understood");
}

fn times_of_lines() {
    for (options, label) in [
        ("-n 1 --timestamp-output", "<stdout>: a"),
        ("-n 1 --output timestamp,tag", "[1,0]<stdout>: a"),
        ("-n 1 --timestamp-output -l", "[0] a"),
    ] {
        let outcome = shell(options, "echo a");
        let line = outcome.good().output.clone();
        let (time, rest) = line
            .strip_prefix('[')
            .and_then(|it| it.split_once(']'))
            .expect("a time");
        assert_eq!(rest, format!("{label}\n"), "{options}");
        // Sun Nov 22 10:59:47 2026
        let words: Vec<&str> = time.split_whitespace().collect();
        assert_eq!((words.len(), time.len()), (5, 24), "{line}");
        assert_eq!(words[3].split(':').count(), 3, "{line}");
        assert!(
            words[4].parse::<u32>().is_ok_and(|year| year > 2000),
            "{line}"
        );
    }
}

fn one_stream_for_both() {
    let script = "echo a; echo b >&2; echo c";
    for ranks in ["-n 1", "-n 1 -l"] {
        let outcome = shell(&format!("{ranks} --merge-stderr-to-stdout"), script);
        let lines: Vec<&str> = outcome
            .good()
            .output
            .lines()
            .map(|it| it.trim_start_matches("[0] "))
            .collect();
        assert_eq!((lines, outcome.error.as_str()), (vec!["a", "b", "c"], ""));
    }
    let outcome = shell("-n 2 --output merge-stderr-to-stdout", script);
    assert_eq!(
        (outcome.good().sorted().len(), outcome.error.as_str()),
        (6, "")
    );
}

/// Works and never ends.
const WORKER: &str = r#"#include <unistd.h>
volatile double sum;
__attribute__((noinline)) static void residual(void) {
    for (;;) sum += 1;
}
int main(void) {
    sum = write(1, "up\n", 3);
    residual();
    return sum > 0;
}
"#;

fn stacks_when_asked_and_at_the_timeout() {
    let folder = Folder::new();
    let source = folder.file("worker.c", WORKER);
    let program = folder.0.join("worker").to_string_lossy().into_owned();
    let compiled = std::process::Command::new("cc")
        .args(["-g", "-O1", "-o", &program, &source])
        .status();
    assert!(compiled.expect("cc").success());
    let tracer = folder.file(
        "gdb",
        "#!/bin/sh\nfor last; do :; done\necho stack of $last by $0\n",
    );
    std::fs::set_permissions(&tracer, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("chmod");
    let path = format!(
        "{}:{}",
        folder.0.display(),
        std::env::var("PATH").expect("PATH")
    );
    let words = ["-n", "3", "-timeout", "20", "--get-stack-traces", &program];
    let running = mpiexec(words).env("PATH", &path).start();
    running.wait_for_output("up", 3);
    running.signal(Signal::USR1);
    until("the stacks are there", || {
        running.said("stack of rank").then_some(())
    });
    running.signal(Signal::TERM);
    running.finish();
    let words = [
        "-n",
        "3",
        "-timeout",
        "1",
        "--get-stack-traces",
        "--report-state-on-timeout",
        &program,
    ];
    let outcome = mpiexec(words).env("PATH", &path).run();
    assert_eq!(outcome.code, 124);
    // Where nobody may trace, a debugger is asked.
    if outcome.error.contains("not seen (") {
        let by_tracer = outcome.error.matches(&format!("by {tracer}")).count();
        assert_eq!(by_tracer, 3, "{outcome:?}");
    } else {
        outcome.says("stack of ranks 0-2:\n  worker.c:4 in residual\n  worker.c:8 in main\n");
    }
}

fn tools() {
    let run = |tool: &[&str]| {
        let script = "echo $PMI_RANK ${X-none}";
        let words = [&["-n", "3"], tool, &["sh", "-c", script]].concat();
        mpiexec(words).run()
    };
    let outcome = run(&["-gtool", "env X=t:0,2"]);
    assert_eq!(outcome.good().sorted(), ["0 t", "1 none", "2 t"]);
    let outcome = run(&["-gtool", "env X='a b':1-2=exclusive; env X=c:0"]);
    assert_eq!(outcome.good().sorted(), ["0 c", "1 a b", "2 none"]);
    let folder = Folder::new();
    let file = folder.file("tools", "env X=f:all\n");
    assert_eq!(
        run(&["-gtoolfile", &file]).good().sorted(),
        ["0 f", "1 f", "2 f"]
    );
    run(&["-gtool", "env"]).says("TOOL:RANKS");
    run(&["-gtool", "gdb:0=attach"]).says("not attached to running ranks");
    assert_eq!(run(&["-gtool", "no-such-tool:0"]).code, 127);
    // A window that is none.
    let xterm = folder.file(
        "xterm",
        "#!/bin/sh\n[ \"$1 $3 $4\" = '-T -e sh' ] && shift 3\nX=window exec \"$@\"\n",
    );
    std::fs::set_permissions(&xterm, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("chmod");
    let path = format!(
        "{}:{}",
        folder.0.display(),
        std::env::var("PATH").expect("PATH")
    );
    let outcome = mpiexec([
        "-n",
        "2",
        "--xterm",
        "1",
        "/bin/sh",
        "-c",
        "echo $PMI_RANK ${X-none}",
    ]);
    let outcome = outcome.env("PATH", &path).run();
    assert_eq!(outcome.sorted()[0], "0 none", "{outcome:?}");
}

fn what_is_told() {
    let outcome = shell("-n 2 -prot", "true");
    assert!(
        outcome.good().output.contains("ranks 0-1 on "),
        "{outcome:?}"
    );
    assert!(outcome.output.contains("shared memory"));
    let outcome = shell("-n 1 --report-pid -", "sleep 0");
    assert!(
        outcome.good().output.trim().parse::<u32>().is_ok(),
        "{outcome:?}"
    );
    let outcome = shell("-n 2 --do-not-launch --display map,bind", "echo started");
    assert!(!outcome.good().output.contains("started"));
    outcome.says("rank 1:");
    let words = ["-genvexcl", "A,B", "sh", "-c", "echo ${A-none} ${C-none}"];
    let outcome = mpiexec(words).env("A", "a").env("C", "c").run();
    assert_eq!(outcome.good().output, "none c\n");
    let outcome = shell("-check_mpi", "echo $OXMPI_CHECK");
    assert_eq!(outcome.good().output, "all\n");
}

fn without_effect() {
    let line = "--mca btl self -rmk user --bysocket --leave-session-attached -n 1 true";
    assert_eq!(mpiexec_words(line).run().good().error, "");
    let outcome = mpiexec_words(&format!("-v {line}")).run();
    for text in [
        "-mca btl has no effect",
        "-rmk has no effect",
        "--bysocket has no effect",
        "--leave-session-attached has no effect: there are no daemons",
    ] {
        outcome.good().says(text);
    }
    // Suggestions are for near words only.
    let outcome = mpiexec_words("-porl -n 1 true").run();
    assert!(!outcome.error.contains("did you mean"), "{outcome:?}");
    mpiexec_words("--rankfil f true")
        .run()
        .says("did you mean -rankfile?");
}
