//! A rank is killed while it holds what others need, under a launcher that tells nobody: `c-tests/confined/holder.c`.
//!
//! Our mpiexec stands for such a launcher: a program that does not know it joins by PMI-1, and its segment is not mpiexec's. (MPICH's hydra
//! ends a job whose rank was killed whatever it is told.)

use crate::stage::Stage;
use crate::{NOT_PERMITTED, clean_run, confined, parts};
use libtest_mimic::{Failed, Trial};
use std::sync::Arc;

const RANKS: usize = 3;

/// Hides that the launcher is our mpiexec.
pub const HIDE: &str = "unset OXMPI_RANK; exec \"$0\" \"$@\"";

pub fn trials(stage: &Arc<Stage>) -> Vec<Trial> {
    ["heap", "accumulate", "dynamic", "atomic", "helper"]
        .into_iter()
        .map(|what| {
            let stage = stage.clone();
            Trial::test(format!("holder/{what}"), move || run(&stage, what))
        })
        .collect()
}

fn run(stage: &Stage, what: &str) -> Result<(), Failed> {
    // Where the kernel copies, nobody needs a helper.
    let missing: &[&str] = match what {
        "helper" => &["deny=EPERM:process_vm"],
        _ => &[],
    };
    let mut words = vec![
        stage.program("bin/mpiexec"),
        "-disable-auto-cleanup".into(),
        "-n".into(),
        RANKS.to_string(),
    ];
    words.extend(confined(stage, missing));
    words.extend(["sh", "-c", HIDE].map(str::to_owned));
    words.extend([stage.test("holder"), what.to_owned()]);
    let outcome = clean_run(stage, "holder", &words)?;
    if outcome.code == NOT_PERMITTED {
        parts::skip(&format!("holder/{what}"), &outcome.error, None);
        return Ok(());
    }
    // The last rank is the one that is killed.
    let is_well = |rank| {
        outcome
            .error
            .contains(&format!("rank {rank}: all was right"))
    };
    match outcome.code == 137 && (0..RANKS - 1).all(is_well) {
        true => Ok(()),
        false => Err(format!("{}\n{outcome:#?}", words.join(" ")).into()),
    }
}
