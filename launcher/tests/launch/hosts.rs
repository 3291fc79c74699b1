//! Ranks on several hosts, which are pretended: what stands in for ssh starts the command on this one. Real ones are in tests/cluster.

use crate::harness::{Job, Outcome, Running, mpiexec, role_with, signal_to};
use rustix::process::Signal;

pub const TESTS: &[(&str, fn())] = &[
    ("hosts::ranks_have_their_places", ranks_have_their_places),
    ("hosts::keepers_start_keepers", keepers_start_keepers),
    ("hosts::input_and_much_output", input_and_much_output),
    ("hosts::exit_codes", exit_codes),
    ("hosts::a_killed_rank_ends_all", a_killed_rank_ends_all),
    ("hosts::a_lost_keeper_ends_all", a_lost_keeper_ends_all),
    ("hosts::all_of_mpiexec_is_killed", all_of_mpiexec_is_killed),
    ("hosts::nobody_there", nobody_there),
    ("hosts::a_starter_that_hangs", a_starter_that_hangs),
    ("hosts::a_table_of_all", a_table_of_all),
    ("hosts::mpi_on_the_other_host", mpi_on_the_other_host),
];

/// Runs its command on this host.
pub const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/hosts/agent");

/// Asks something and never ends.
const STUCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/hosts/stuck");

/// The hosts have addresses that are nobody's (RFC 5737).
fn job(words: &[&str]) -> Job {
    mpiexec(["-launcher-exec", AGENT].iter().chain(words))
}

/// A job of a rank on each of two hosts that both wait for ever, when they do.
fn waiting() -> Running {
    let hosts = ["-hosts", "localhost,192.0.2.1"];
    let program = ["sh", "-c", "echo here; sleep 600"];
    let running = job(&[hosts.as_slice(), program.as_slice()].concat()).start();
    running.wait_for_output("here", 2);
    running
}

fn run(words: &[&str]) -> Outcome {
    job(words).run()
}

const PLACE: &str =
    "echo $OXMPI_RANK/$OXMPI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS $PMI_HOSTNAME $OXMPI_MAPPING";

fn ranks_have_their_places() {
    let outcome = run(&["-hosts", "localhost:1,192.0.2.1:2", "sh", "-c", PLACE]);
    let map = "(vector,(0,1,1),(1,1,2))";
    let expected = [
        format!("0/3 0/1 localhost {map}"),
        format!("1/3 0/2 192.0.2.1 {map}"),
        format!("2/3 1/2 192.0.2.1 {map}"),
    ];
    assert_eq!(outcome.good().sorted(), expected);
    let dealt = run(&[
        "-hosts",
        "192.0.2.1:2,192.0.2.2:2",
        "-map-by",
        "node",
        "-n",
        "3",
        "sh",
        "-c",
        "echo $OXMPI_RANK $PMI_HOSTNAME",
    ]);
    assert_eq!(
        dealt.good().sorted(),
        ["0 192.0.2.1", "1 192.0.2.2", "2 192.0.2.1"]
    );
}

fn keepers_start_keepers() {
    let hosts: Vec<String> = (1..8).map(|host| format!("192.0.2.{host}")).collect();
    let outcome = run(&[
        "-launcher-fan-out",
        "2",
        "-hosts",
        &hosts.join(","),
        "-l",
        "echo",
        "x",
    ]);
    let lines: Vec<String> = (0..7).map(|rank| format!("[{rank}] x")).collect();
    assert_eq!(outcome.good().sorted(), lines);
}

fn input_and_much_output() {
    let input: Vec<u8> = (0..300_000u32)
        .flat_map(|it| format!("{it}\n").into_bytes())
        .collect();
    let outcome = job(&["-hosts", "192.0.2.1,192.0.2.2", "cat"])
        .input(input.clone())
        .run();
    assert!(outcome.good().bytes == input);
    let outcome = job(&["-hosts", "192.0.2.1,192.0.2.2", "-l", "seq", "20000"]).run();
    assert_eq!(outcome.good().output.lines().count(), 40_000);
    assert!(
        outcome
            .output
            .lines()
            .all(|line| line.starts_with("[0] ") || line.starts_with("[1] "))
    );
}

fn exit_codes() {
    let outcome = run(&[
        "-hosts",
        "192.0.2.1,localhost",
        "sh",
        "-c",
        "test $OXMPI_RANK = 1 || exit 5",
    ]);
    assert_eq!(outcome.code, 5, "{outcome:?}");
}

fn a_killed_rank_ends_all() {
    let outcome = run(&[
        "-hosts",
        "localhost,192.0.2.1",
        "sh",
        "-c",
        "test $OXMPI_RANK = 0 || kill -9 $$; sleep 600",
    ]);
    assert_eq!(outcome.code, 137, "{outcome:?}");
    outcome
        .says("rank 1 (pid ")
        .says("on 192.0.2.1, sh) was killed by signal 9");
}

fn a_lost_keeper_ends_all() {
    let running = waiting();
    let name =
        |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let processes = running.processes();
    let keeper = processes
        .iter()
        .find(|pid| name(pid).contains("mpiexec\0-node-keeper"));
    signal_to(*keeper.expect("a node keeper"), Signal::KILL);
    let outcome = running.finish();
    assert_eq!(outcome.code, 137, "{outcome:?}");
    outcome.says("host 192.0.2.1 is lost");
}

// Nobody reads the standard error of the keeper then, so what it says about that finds no place.
fn all_of_mpiexec_is_killed() {
    let running = job(&["-hosts", "192.0.2.1", "sh", "-c", "echo here; sleep 600"]).start();
    running.wait_for_output("here", 1);
    let front = running.child.id() as i32;
    let child_of = |parent: i32| {
        let processes = running.processes().into_iter();
        let mut children = processes.filter(|pid| parent_of(*pid) == Some(parent));
        children.next().expect("a child")
    };
    let guard = child_of(front);
    for pid in [child_of(guard), guard, front] {
        signal_to(pid, Signal::KILL);
    }
    assert_eq!(running.finish().code, 137);
}

/// The fourth field of the line, two behind a name in parentheses.
pub fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn nobody_there() {
    let outcome = mpiexec(["-launcher-exec", "false", "-hosts", "192.0.2.1", "true"]).run();
    assert_eq!(outcome.code, 1, "{outcome:?}");
    outcome.says("cannot start ranks on host '192.0.2.1': false ended with exit code 1");
    let outcome = mpiexec(["-launcher", "pigeon", "-hosts", "192.0.2.1", "true"]).run();
    outcome.says("-launcher pigeon: known are");
}

/// The user learns of it long before it is taken for lost.
fn a_starter_that_hangs() {
    let hosts = ["-hosts", "localhost,192.0.2.1", "true"];
    let running = mpiexec(["-launcher-exec", STUCK].iter().chain(&hosts)).start();
    crate::harness::until("the host is named", || {
        running
            .said("stuck has brought none for 10 s")
            .then_some(())
    });
    running.signal(Signal::TERM);
    let outcome = running.finish();
    assert_eq!(outcome.code, 143, "{outcome:?}");
    outcome.says("waiting for keepers on 192.0.2.1: ");
    outcome.says("mpiexec: it has said: a question that nobody answers");
}

fn a_table_of_all() {
    let running = waiting();
    running.signal(Signal::USR1);
    crate::harness::until("the table has come", || {
        running.said("\n  1 ").then_some(())
    });
    running.signal(Signal::TERM);
    let outcome = running.finish();
    assert_eq!(outcome.code, 143, "{outcome:?}");
    assert_eq!(
        outcome.error.matches("before MPI_Init").count(),
        2,
        "{outcome:?}"
    );
}

/// The library finds its rank, segment and server there too.
fn mpi_on_the_other_host() {
    let outcome = role_with(
        2,
        "abort",
        &["-launcher-exec", AGENT, "-hosts", "192.0.2.1:2"],
    )
    .run();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.says("on 192.0.2.1");
}
