//! What matters on clusters, or is said in other ways here. The values, if any, are not looked at.

use super::Takes::{None as No, One, Two};
use super::{Choice, without_effect};

const ONE_HOST: &str = "hosts are found, and ranks placed, without it";
const NO_DAEMONS: &str = "there are no daemons: mpiexec starts the ranks itself";
const OTHER_LIBRARY: &str =
    "it configures a component of another MPI; mpiexec -info lists the variables of this one";

pub const SILENT: &[Choice] = &[
    without_effect(
        &[
            "rmk",
            "launch-agent",
            "iface",
            "nameserver",
            "localhost",
            "order-nodes",
            "ompi-server",
            "hosts-group",
        ],
        One("X"),
        ONE_HOST,
    ),
    without_effect(
        &[
            "byslot",
            "bycore",
            "bysocket",
            "skip-launch-node",
            "disable-hostname-propagation",
            "enable-x",
            "disable-x",
            "pmi-port",
            "novm",
        ],
        No,
        ONE_HOST,
    ),
    without_effect(&["grr"], One("X"), ONE_HOST),
    without_effect(
        &[
            "leave-session-attached",
            "debug-daemons",
            "debug-devel",
            "no-daemonize",
            "reuse-dvm",
        ],
        No,
        NO_DAEMONS,
    ),
    without_effect(&["pmixmca", "gmca"], Two("NAME VALUE"), OTHER_LIBRARY),
    without_effect(
        &["am", "tune", "personality", "topolib", "demux"],
        One("X"),
        OTHER_LIBRARY,
    ),
    without_effect(
        &["prefix", "tmpdir"],
        One("X"),
        "nothing is installed or stored on other hosts",
    ),
    without_effect(
        &["noprefix", "preload-binary"],
        No,
        "nothing is installed or stored on other hosts",
    ),
    without_effect(
        &["preload-files"],
        One("X"),
        "nothing is installed or stored on other hosts",
    ),
    without_effect(
        &["membind"],
        One("X"),
        "memory is taken where a rank first touches it",
    ),
    without_effect(
        &["gpus-per-proc", "gpu-subdevs-per-proc"],
        One("X"),
        "GPUs are not divided among the ranks",
    ),
    without_effect(
        &["forward-signals"],
        One("X"),
        "SIGUSR2, SIGTSTP and SIGCONT are passed on, SIGUSR1 asks mpiexec for its table",
    ),
    without_effect(
        &["stream-buffering"],
        One("X"),
        "output is forwarded by whole lines",
    ),
    without_effect(&["ordered-output"], No, "lines are never mixed"),
    without_effect(
        &["disable-recovery"],
        No,
        "that is how it is unless -disable-auto-cleanup is given",
    ),
    without_effect(&["max-restarts"], One("X"), "ranks are not restarted"),
    without_effect(
        &["show-progress", "profile", "q", "quiet"],
        No,
        "a start takes milliseconds and says nothing",
    ),
    without_effect(
        &["genvuser", "envuser"],
        No,
        "the whole environment is passed",
    ),
    without_effect(
        &["nousize"],
        No,
        "the universe size is the number of slots or processors unless -usize is given",
    ),
];
