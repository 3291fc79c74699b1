//! `mpiexec -doctor` of the staged prefix where something is missing: the page names it, and the exit code says whether jobs
//! run.

use crate::harness::Folder;
use crate::stage::Stage;
use crate::{NOT_PERMITTED, clean_run, confined, parts};
use libtest_mimic::{Failed, Trial};
use std::sync::Arc;

struct Case {
    name: &'static str,
    /// For `confine`.
    missing: &'static [&'static str],
    /// Words before the shell.
    prefix: &'static [&'static str],
    /// For the shell, before the doctor starts; MPIEXEC is its program.
    before: &'static str,
    /// Lines that the page must have: the beginning, and a text in the finding.
    lines: &'static [(&'static str, &'static str)],
    code: i32,
}

const PLAIN: Case = Case {
    name: "",
    missing: &[],
    prefix: &[],
    before: ":",
    lines: &[],
    code: 0,
};
const JOB_RUNS: (&str, &str) = ("ok job of 2 ranks", "MPI_Finalize; 8 bytes take");
const JOB_FAILS: &str = "PROBLEM job of 2 ranks";

const CASES: &[Case] = &[
    Case {
        name: "doctor/nothing_missing",
        lines: &[
            ("ok library", "/lib/libmpi.so.12"),
            ("ok shared memory", "works"),
            ("ok sessions", "where ranks share cores"),
            JOB_RUNS,
        ],
        ..PLAIN
    },
    Case {
        name: "doctor/file_size",
        before: "ulimit -f 1000",
        lines: &[
            ("PROBLEM file size", "ulimit -f unlimited"),
            (JOB_FAILS, "the limit of file sizes (ulimit -f) is below"),
        ],
        code: 1,
        ..PLAIN
    },
    Case {
        name: "doctor/addresses",
        before: "ulimit -v 180000",
        lines: &[
            ("PROBLEM addresses", "too little for a rank"),
            (JOB_FAILS, "(ulimit -v may limit it)"),
        ],
        code: 1,
        ..PLAIN
    },
    Case {
        name: "doctor/addresses_for_a_rank",
        before: "ulimit -v 1000000",
        lines: &[("note addresses", "976 MB a process"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/processes",
        // Root has no such limit.
        prefix: &[
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "prlimit",
            "--nproc=3",
        ],
        before: "cd /",
        lines: &[
            ("PROBLEM processes", "a job of 2 ranks needs 5"),
            (JOB_FAILS, "(ulimit -u limits processes and threads)"),
        ],
        code: 1,
        ..PLAIN
    },
    Case {
        name: "doctor/open_files",
        before: "ulimit -n 20",
        lines: &[
            ("PROBLEM open files", "at most 20 (hard limit)"),
            (JOB_FAILS, "(ulimit -n)"),
        ],
        code: 1,
        ..PLAIN
    },
    Case {
        name: "doctor/open_files_for_few",
        before: "ulimit -n 64",
        lines: &[("note open files", "enough for 14 ranks"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/stack",
        before: "ulimit -s 512",
        lines: &[("note stack", "512 KB"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/process_vm_forbidden",
        missing: &["deny=EPERM:process_vm"],
        lines: &[
            ("ok seccomp", "a filter of system calls is in force"),
            (
                "note direct copies",
                "process_vm_readv fails (Operation not permitted",
            ),
            JOB_RUNS,
        ],
        ..PLAIN
    },
    Case {
        name: "doctor/membarrier_unknown",
        missing: &["deny=ENOSYS:membarrier"],
        lines: &[("note membarrier", "is refused"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/memfd_forbidden",
        missing: &["deny=EPERM:memfd"],
        lines: &[("note shared memory", "Operation not permitted"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/siblings_forbidden",
        missing: &["deny=EPERM:sibling"],
        before: "own=$(MPIEXEC -n 2 -sessions one sh -c 'set -- $(cat /proc/$$/stat); test $1 = $6 && echo own') && \
                 test \"$(echo $own)\" = 'own own' && \
                 all=$(grep Cpus_allowed_list /proc/self/status) && \
                 test $(MPIEXEC -n $(($(nproc) + 1)) grep Cpus_allowed_list /proc/self/status | grep -cxF \"$all\") -ge 2",
        lines: &[
            (
                "note sessions",
                "CLONE_PARENT fails (Operation not permitted",
            ),
            JOB_RUNS,
        ],
        ..PLAIN
    },
    Case {
        name: "doctor/quota",
        missing: &["quota=50000"],
        lines: &[("note CPU quota", "the time of 0.5 cores"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/shm_read_only",
        missing: &["shm=ro"],
        lines: &[("ok /dev/shm", "not used"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/one_core",
        missing: &["core"],
        lines: &[("cores", "may be used"), JOB_RUNS],
        ..PLAIN
    },
    Case {
        name: "doctor/host_file",
        before: "export HYDRA_HOST_FILE=/nonexistent/hosts",
        lines: &[("PROBLEM host file", "/nonexistent/hosts"), JOB_RUNS],
        code: 1,
        ..PLAIN
    },
    Case {
        name: "doctor/other_hosts",
        before: "printf 'localhost:3\nelsewhere.invalid:2\n' >$SCRATCH/hosts && export HYDRA_HOST_FILE=$SCRATCH/hosts",
        lines: &[
            ("note host file", "3 slots on this host"),
            ("note host file", "elsewhere.invalid"),
            JOB_RUNS,
        ],
        ..PLAIN
    },
    Case {
        name: "doctor/variables",
        before: "export OXMPI_SPIN=1 OXMPI_SPINS=many",
        lines: &[
            ("note variables", "did you mean OXMPI_SPINS"),
            ("note variables", "OXMPI_SPINS is \"many\""),
            JOB_RUNS,
        ],
        ..PLAIN
    },
    Case {
        name: "doctor/tools_of_another_library",
        before: "cd $SCRATCH && mkdir other && printf '#!/bin/sh\\n' >other/mpicc && chmod +x other/mpicc && PATH=$PWD/other:$PATH",
        lines: &[("note other MPI", "/other/mpicc"), JOB_RUNS],
        ..PLAIN
    },
];

pub fn trials(stage: &Arc<Stage>) -> impl Iterator<Item = Trial> {
    CASES.iter().map(|case| {
        let stage = stage.clone();
        Trial::test(case.name, move || run(&stage, case))
    })
}

/// The findings of a page, each as one line with single blanks.
fn findings(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in page.lines() {
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        match found.last_mut() {
            Some(last) if line.starts_with("   ") => *last += &format!(" {words}"),
            _ => found.push(words),
        }
    }
    found
}

fn run(stage: &Stage, case: &Case) -> Result<(), Failed> {
    let scratch = Folder::new();
    let mut words = vec!["env".to_owned(), format!("SCRATCH={}", scratch.0.display())];
    words.extend(confined(stage, case.missing));
    words.extend(case.prefix.iter().map(|word| (*word).to_owned()));
    let mpiexec = stage.program("bin/mpiexec");
    let before = case.before.replace("MPIEXEC", &mpiexec);
    let script = format!("{before} && exec {mpiexec} -doctor");
    words.extend(["sh".into(), "-c".into(), script]);
    let outcome = clean_run(stage, "doctor", &words)?;
    if outcome.code == NOT_PERMITTED {
        parts::skip(case.name, &outcome.error, None);
        return Ok(());
    }
    // Another user may not be had, or may not read the staged prefix.
    let refused = ["setpriv:", "Permission denied"]
        .iter()
        .find(|text| outcome.error.contains(**text));
    if !case.prefix.is_empty() && outcome.output.is_empty() && refused.is_some() {
        parts::skip(case.name, &outcome.error, None);
        return Ok(());
    }
    let found = findings(&outcome.output);
    for (begin, text) in case.lines {
        let has = found
            .iter()
            .any(|line| line.contains(begin) && line.contains(text));
        if !has {
            return Err(
                format!("no finding {begin:?} with {text:?} in\n{}", outcome.output).into(),
            );
        }
    }
    if outcome.code != case.code {
        return Err(format!(
            "exit code {} in place of {}\n{}",
            outcome.code, case.code, outcome.output
        )
        .into());
    }
    Ok(())
}
