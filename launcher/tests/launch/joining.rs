//! Joining a job under every launcher, and not joining one that cannot be joined.

use crate::harness::{Folder, Outcome, ROLE, launcher, mpiexec, own_path, role};
use crate::parts;
use std::process::Command;

pub const TESTS: &[(&str, fn())] = &[
    ("joining::under_our_mpiexec", under_our_mpiexec),
    ("joining::many_ranks", many_ranks),
    ("joining::alone", alone),
    ("joining::by_pmi_from_our_server", by_pmi_from_our_server),
    ("joining::under_hydra", under_hydra),
    (
        "joining::through_a_program_that_closes_descriptors",
        through_a_closing_program,
    ),
    (
        "joining::a_launcher_inside_a_rank",
        a_launcher_inside_a_rank,
    ),
    (
        "joining::launchers_that_cannot_be_joined",
        launchers_that_cannot_be_joined,
    ),
    ("joining::programs_of_another_mpi", programs_of_another_mpi),
];

/// All ranks printed the same list of as many different processes as there are ranks.
fn met(outcome: &Outcome, ranks: usize) {
    let lines = outcome.good().sorted();
    assert_eq!(lines.len(), ranks, "{outcome:?}");
    assert!(lines.iter().all(|line| *line == lines[0]), "{outcome:?}");
    let mut pids: Vec<&str> = lines[0].trim_matches(['[', ']']).split(", ").collect();
    pids.sort_unstable();
    pids.dedup();
    assert_eq!(pids.len(), ranks, "{outcome:?}");
}

fn under_our_mpiexec() {
    let outcome = role(2, "hello").run();
    let lines = [
        "0 of 2 by mpiexec, local [0, 1]",
        "1 of 2 by mpiexec, local [0, 1]",
    ];
    assert_eq!(outcome.good().sorted(), lines);
    met(&role(3, "meet").run(), 3);
    let outcome = role(3, "exchange").run();
    assert_eq!(
        outcome.good().sorted(),
        [
            "Some(\"of-0\") None",
            "Some(\"of-1\") None",
            "Some(\"of-2\") None"
        ]
    );
}

fn many_ranks() {
    met(&role(128, "meet").run(), 128);
}

fn alone() {
    let outcome = launcher(&own_path(), [""; 0]).env(ROLE, "hello").run();
    assert_eq!(outcome.good().output, "0 of 1 by alone, local [0]\n");
}

/// Hides that it is our mpiexec, so that all goes over PMI-1 as under any other.
const HIDE: &str = "unset OXMPI_RANK; exec $0";

fn by_pmi_from_our_server() {
    let run = |ranks: &str, role: &str| {
        mpiexec(["-n", ranks, "sh", "-c", HIDE, &own_path()])
            .env(ROLE, role)
            .run()
    };
    let outcome = run("2", "hello");
    assert_eq!(
        outcome.good().sorted(),
        ["0 of 2 by pmi, local [0, 1]", "1 of 2 by pmi, local [0, 1]"]
    );
    met(&run("4", "meet"), 4);
    assert_eq!(run("2", "exchange").good().sorted().len(), 2);
    assert_eq!(
        run("1", "hello").good().output,
        "0 of 1 by pmi, local [0]\n"
    );
    let aborted = run("2", "abort:7");
    assert_eq!(aborted.code, 7);
    aborted.says("MPI_Abort");
    assert_eq!(run("2", "abort:0").code, 0);
    let died = run("2", "exit:3");
    assert_eq!(died.code, 3);
    died.says("without MPI_Finalize");
}

/// MPICH's launcher, if this machine has it.
fn hydra(test: &str) -> Option<&'static str> {
    parts::has_all(test, &["mpich"]).then_some("/usr/bin/mpiexec.hydra")
}

fn under_hydra() {
    let Some(hydra) = hydra("joining::under_hydra") else {
        return;
    };
    let own = own_path();
    for options in [&["-n", "3"][..], &["-pmi-port", "-n", "3"]] {
        let run = |role: &str| {
            let arguments: Vec<&str> = options.iter().copied().chain([own.as_str()]).collect();
            launcher(hydra, arguments).env(ROLE, role).run()
        };
        let outcome = run("hello");
        let line = |rank: u32| format!("{rank} of 3 by pmi, local [0, 1, 2]");
        assert_eq!(outcome.good().sorted(), [line(0), line(1), line(2)]);
        met(&run("meet"), 3);
        assert_eq!(run("exchange").good().sorted().len(), 3);
        assert_eq!(run("abort:7").code, 7);
        assert_eq!(run("abort:0").code, 0);
    }
}

fn through_a_closing_program() {
    let close = "eval \"exec $OXMPI_SEGMENT>&- $PMI_FD>&-\"; exec $0";
    let outcome = mpiexec(["-n", "2", "bash", "-c", close, &own_path()])
        .env(ROLE, "meet")
        .run();
    met(&outcome, 2);
    // Another file under the number of the segment does not fool it.
    let other = "eval \"exec $OXMPI_SEGMENT</dev/null $PMI_FD</dev/null\"; exec $0";
    let outcome = mpiexec(["-n", "2", "bash", "-c", other, &own_path()])
        .env(ROLE, "meet")
        .run();
    met(&outcome, 2);
    // A process that outlives its job is told so.
    let gone = launcher(&own_path(), [""; 0])
        .env(ROLE, "hello")
        .env("OXMPI_RANK", "0")
        .env("OXMPI_SIZE", "2")
        .env("OXMPI_SEGMENT", "77")
        .env("OXMPI_SEGMENT_INODE", "1")
        .env("OXMPI_KEEPER", "999999999")
        .run();
    assert_eq!(gone.code, 9);
    gone.says("shared memory").says("OXMPI_SINGLETON=1");
}

fn a_launcher_inside_a_rank() {
    let inner = format!("exec {} -n 2 {}", crate::harness::MPIEXEC, own_path());
    let outcome = mpiexec(["-n", "1", "sh", "-c", &inner])
        .env(ROLE, "hello")
        .run();
    assert_eq!(outcome.good().sorted().len(), 2);
    assert!(outcome.output.contains("1 of 2 by mpiexec"));
    if let Some(hydra) = hydra("joining::a_launcher_inside_a_rank") {
        let inner = format!("exec {hydra} -n 2 {}", own_path());
        let outcome = mpiexec(["-n", "1", "sh", "-c", &inner])
            .env(ROLE, "hello")
            .run();
        assert!(
            outcome.good().output.contains("1 of 2 by pmi"),
            "{outcome:?}"
        );
    }
}

fn launchers_that_cannot_be_joined() {
    for (name, value) in [
        ("OMPI_COMM_WORLD_SIZE", "2"),
        ("PMIX_NAMESPACE", "x"),
        ("PMI_SIZE", "2"),
    ] {
        let start = || {
            launcher(&own_path(), [""; 0])
                .env(ROLE, "hello")
                .env(name, value)
        };
        let outcome = start().run();
        assert_eq!(outcome.code, 9, "{outcome:?}");
        outcome.says("cannot join");
        assert_eq!(outcome.error.lines().count(), 1);
        start().env("OXMPI_SINGLETON", "1").run().good();
    }
}

fn programs_of_another_mpi() {
    let folder = Folder::new();
    let source = folder.file("library.c", "int MPI_Init(void) { return 0; }");
    let program = folder.file(
        "program.c",
        "#include <unistd.h>\nint MPI_Init(void);\nint main(void) { MPI_Init(); sleep(30); return 0; }",
    );
    let path = |name: &str| folder.0.join(name).to_string_lossy().into_owned();
    let compile = |arguments: &[&str]| {
        Command::new("cc")
            .args(arguments)
            .status()
            .expect("cc")
            .success()
    };
    let library = path("libmpi.so.40");
    assert!(compile(&[
        "-shared",
        "-fPIC",
        "-Wl,-soname,libmpi.so.40",
        &source,
        "-o",
        &library
    ]));
    assert!(compile(&[&program, &library, "-o", &path("program")]));
    let libraries = folder.0.to_string_lossy().into_owned();
    let run = |arguments: &[&str]| mpiexec(arguments).env("LD_LIBRARY_PATH", &libraries).run();
    let program = path("program");
    let outcome = run(&["-n", "2", &program]);
    assert_eq!(outcome.code, 1);
    outcome.says("Open MPI (libmpi.so.40)");
    assert_eq!(outcome.error.lines().count(), 1);
    // Also if a script starts it.
    let outcome = run(&["-n", "2", "sh", "-c", &format!("{program}; true")]);
    assert_eq!(outcome.code, 1);
    outcome.says("Open MPI (libmpi.so.40)");
}
