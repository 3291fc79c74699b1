//! The library where something is missing: /dev/shm small or read-only, system calls forbidden, processors or their time,
//! process ids of different namespaces. The staged mpiexec starts programs of `c-tests/`; `confine.c` takes things away.
//! Also Debian's NPmpich2, unmodified, on the staged library, what `mpiexec -doctor` says of all this, and ranks that are killed where the
//! launcher tells nobody.
//!
//! Invariants: every byte that was exchanged is checked by the ranks; after every job no process of it, no file in
//! /dev/shm or TMPDIR is left. What this machine does not permit is printed as skipped, with the reason.

mod doctor;
#[allow(dead_code)]
#[path = "../../launcher/tests/launch/harness.rs"]
mod harness;
mod holders;
#[path = "../harness/marks.rs"]
mod marks;
mod netpipe;
mod open_sessions;
#[path = "../harness/parts.rs"]
mod parts;
mod stage;

use harness::{Folder, Outcome};
use libtest_mimic::{Arguments, Failed, Trial};
use stage::Stage;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Jobs here name the staged mpiexec by its path.
pub const MPIEXEC: &str = "/nonexistent";

/// `confine` could not take away what it was asked to.
const NOT_PERMITTED: i32 = 77;

/// A job of one of our programs, and what is missing for it.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    program: &'static str,
    ranks: u32,
    /// Missing for the launcher and with it for all.
    all: &'static [&'static str],
    /// Missing for the ranks.
    rank: &'static [&'static str],
    /// Only the first half of the ranks is confined; the others are a second program of the command line.
    half: bool,
    /// Under MPICH's launcher, where it is installed.
    hydra: bool,
}

const EXCHANGE: Case = Case {
    name: "",
    program: "exchange",
    ranks: 32,
    all: &[],
    rank: &[],
    half: false,
    hydra: false,
};
const BLOCKED: Case = Case {
    program: "blocked",
    ranks: 5,
    ..EXCHANGE
};
const OVERSUBSCRIBED: Case = Case {
    program: "oversubscribed",
    ranks: 2,
    ..EXCHANGE
};
const WINDOWS: Case = Case {
    program: "windows",
    ranks: 4,
    ..EXCHANGE
};
const FILES: Case = Case {
    ranks: 3,
    ..EXCHANGE
};
/// Programs that are run on files of each kind of file system.
const OF_FILES: &[&str] = &[
    "contiguous",
    "views",
    "views_random",
    "shared",
    "split",
    "buffers",
    "resize",
];
/// As `confine` calls them.
const FILE_SYSTEMS: &[&str] = &[
    "files=fuse",
    "files=fuse_direct",
    "files=overlay",
    "files=tmpfs",
];
const EVERYTHING: &[&str] = &["shm=ro", "core", "deny=ENOSYS:process_vm,membarrier"];

const CASES: &[Case] = &[
    Case {
        name: "exchange/nothing_missing",
        ..EXCHANGE
    },
    Case {
        name: "exchange/shm_of_64_megabytes",
        all: &["shm=64m"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/shm_read_only",
        all: &["shm=ro"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/process_vm_forbidden",
        rank: &["deny=EPERM:process_vm"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/process_vm_unknown",
        rank: &["deny=ENOSYS:process_vm"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/process_vm_forbidden_to_half",
        rank: &["deny=EPERM:process_vm"],
        half: true,
        ..EXCHANGE
    },
    Case {
        name: "windows/nothing_missing",
        ..WINDOWS
    },
    Case {
        name: "windows/process_vm_forbidden",
        rank: &["deny=EPERM:process_vm"],
        ..WINDOWS
    },
    Case {
        name: "windows/process_vm_forbidden_to_half",
        rank: &["deny=EPERM:process_vm"],
        half: true,
        ..WINDOWS
    },
    Case {
        name: "windows/everything_missing",
        all: EVERYTHING,
        ..WINDOWS
    },
    Case {
        name: "exchange/membarrier_forbidden",
        rank: &["deny=EPERM:membarrier"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/membarrier_unknown_to_half",
        rank: &["deny=ENOSYS:membarrier"],
        half: true,
        ..EXCHANGE
    },
    Case {
        name: "exchange/one_processor",
        all: &["core"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/process_ids_of_namespaces",
        rank: &["pid"],
        ..EXCHANGE
    },
    Case {
        name: "exchange/everything_missing",
        all: EVERYTHING,
        ..EXCHANGE
    },
    Case {
        name: "exchange/everything_missing_under_hydra",
        all: EVERYTHING,
        ranks: 8,
        hydra: true,
        ..EXCHANGE
    },
    Case {
        name: "blocked/nothing_missing",
        ..BLOCKED
    },
    Case {
        name: "blocked/membarrier_forbidden",
        rank: &["deny=EPERM:membarrier"],
        ..BLOCKED
    },
    Case {
        name: "blocked/membarrier_unknown_to_half",
        rank: &["deny=ENOSYS:membarrier"],
        half: true,
        ..BLOCKED
    },
    Case {
        name: "blocked/one_processor",
        all: &["core"],
        ..BLOCKED
    },
    Case {
        name: "blocked/more_ranks_than_processors",
        ranks: 32,
        ..BLOCKED
    },
    Case {
        name: "oversubscribed/two_processors",
        all: &["cores=2"],
        ranks: 16,
        ..OVERSUBSCRIBED
    },
    Case {
        name: "oversubscribed/quota_of_two",
        all: &["quota=200000"],
        ranks: 16,
        ..OVERSUBSCRIBED
    },
    Case {
        name: "oversubscribed/quota_of_one",
        all: &["quota=100000"],
        ..OVERSUBSCRIBED
    },
    Case {
        name: "oversubscribed/quota_of_half_of_the_ranks",
        rank: &["quota=100000"],
        half: true,
        ..OVERSUBSCRIBED
    },
    Case {
        name: "blocked/hydra",
        hydra: true,
        ..BLOCKED
    },
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most jobs are larger than the machine; two of them keep it busy while a blocked one sleeps.
    arguments.test_threads.get_or_insert(2);
    let stage = match Stage::find() {
        Ok(stage) => Arc::new(stage),
        // The names can be listed without it; nothing may look like a success.
        Err(_) if arguments.list => Arc::new(Stage::default()),
        Err(text) => {
            eprintln!("environment: {text}");
            eprintln!("environment: run `make` first, or name a prefix in OXMPI_STAGE");
            return ExitCode::FAILURE;
        }
    };
    let ours = CASES.iter().map(|case| {
        let stage = stage.clone();
        Trial::test(case.name, move || run(&stage, case.name, case))
    });
    let files = FILE_SYSTEMS.iter().flat_map(|system| {
        let stage = &stage;
        OF_FILES.iter().map(move |program| {
            let case = Case {
                program,
                all: std::slice::from_ref(system),
                ..FILES
            };
            let name = format!("{}/{program}", system.replace('=', "/"));
            let stage = stage.clone();
            Trial::test(name.clone(), move || run(&stage, &name, &case))
        })
    });
    let others = netpipe::trials(&stage)
        .into_iter()
        .chain(doctor::trials(&stage))
        .chain(holders::trials(&stage))
        .chain(open_sessions::trials(&stage));
    let trials = ours.chain(files).chain(others).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn launcher(stage: &Stage, hydra: bool) -> String {
    match hydra {
        true => "/usr/bin/mpiexec.hydra".into(),
        false => stage.program("bin/mpiexec"),
    }
}

fn run(stage: &Stage, name: &str, case: &Case) -> Result<(), Failed> {
    let fuse = case.all.iter().any(|word| word.starts_with("files=fuse"));
    let needs = [(case.hydra, "mpich"), (fuse, "bindfs")];
    let needs = needs.iter().filter(|(wanted, _)| *wanted);
    let needs: Vec<&str> = needs.map(|(_, package)| *package).collect();
    if !parts::has_all(name, &needs) {
        return Ok(());
    }
    let mpiexec = launcher(stage, case.hydra);
    let program = stage.test(case.program);
    let mut words = confined(stage, case.all);
    words.push(mpiexec);
    let free = if case.half { case.ranks / 2 } else { 0 };
    words.extend(["-n".into(), (case.ranks - free).to_string()]);
    words.extend(confined(stage, case.rank));
    words.push(program.clone());
    if free > 0 {
        words.extend([":".into(), "-n".into(), free.to_string(), program]);
    }
    let outcome = clean_run(stage, case.program, &words)?;
    if outcome.code == NOT_PERMITTED {
        parts::skip(name, &outcome.error, None);
        return Ok(());
    }
    let closing = format!("{}: passed on {} ranks\n", case.program, case.ranks);
    if outcome.code != 0 || outcome.output != closing {
        let command = words.join(" ");
        return Err(format!("{command}\nexpected {closing:?}\n{outcome:#?}").into());
    }
    Ok(())
}

fn confined(stage: &Stage, missing: &[&str]) -> Vec<String> {
    if missing.is_empty() {
        return Vec::new();
    }
    let mut words = vec![stage.test("confine")];
    words.extend(missing.iter().map(|word| word.to_string()));
    words.push("--".into());
    words
}

/// Runs a command on the staged library, in a folder of its own which is also its TMPDIR and has to be empty again.
/// The harness sees to it that no process is left.
fn clean_run(stage: &Stage, program: &str, words: &[String]) -> Result<Outcome, Failed> {
    let folder = Folder::new();
    let outcome = harness::launcher(&words[0], &words[1..])
        .env("LD_LIBRARY_PATH", &stage.program("lib"))
        .env("TMPDIR", &folder.0.to_string_lossy())
        .env("C_SUITE_PROGRAM", program)
        // By this a program shows that it was really us whom it found.
        .env("OXMPI_SHOW", "variables")
        .env("C_SUITE_WATCHDOG", "55")
        .folder(&folder.0)
        .run();
    let left = names_in(&folder.0);
    if !left.is_empty() {
        return Err(format!("left in TMPDIR: {left:?}\n{outcome:#?}").into());
    }
    // Jobs of others come and go: what stays is what was left.
    harness::until("nothing is left in /dev/shm and /tmp", || {
        harness::leftovers().is_empty().then_some(())
    });
    Ok(outcome)
}

fn names_in(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
