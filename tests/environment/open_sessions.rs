//! Sessions that are left open, under a launcher that knows of a rank only what it tells by PMI-1: the exit code stays.

use crate::holders::HIDE;
use crate::stage::Stage;
use crate::{clean_run, parts};
use libtest_mimic::{Failed, Trial};
use std::sync::Arc;

/// Letters of `c-tests/init/open_session.c`, and the exit code.
const CASES: &[(&str, i32)] = &[("if", 0), ("icf", 0), ("c", 0), ("2c", 0), ("c3", 3)];

pub fn trials(stage: &Arc<Stage>) -> Vec<Trial> {
    [("mpiexec", false), ("hydra", true)]
        .into_iter()
        .map(|(name, hydra)| {
            let stage = stage.clone();
            Trial::test(format!("open_sessions/{name}"), move || run(&stage, hydra))
        })
        .collect()
}

fn run(stage: &Stage, hydra: bool) -> Result<(), Failed> {
    if hydra && !parts::has_all("open_sessions/hydra", &["mpich"]) {
        return Ok(());
    }
    let launcher = match hydra {
        true => "/usr/bin/mpiexec.hydra".to_owned(),
        false => stage.program("bin/mpiexec"),
    };
    for (letters, code) in CASES {
        let words = ["-n", "2", "sh", "-c", HIDE].map(str::to_owned);
        let mut words = [vec![launcher.clone()], words.to_vec()].concat();
        words.extend([stage.test("open_session"), (*letters).to_owned()]);
        let outcome = clean_run(stage, "open_session", &words)?;
        let said = outcome.error.contains("ended with exit code 0");
        if outcome.code != *code || said && *code == 0 {
            return Err(format!("{}\n{outcome:#?}", words.join(" ")).into());
        }
    }
    Ok(())
}
