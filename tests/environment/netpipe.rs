//! Debian's NPmpich2 (package netpipe-mpich2), as it is: it finds the staged library by LD_LIBRARY_PATH alone. It
//! exchanges messages of every size up to a limit and checks their bytes.
//! (Not its option -z, any source: with it, it hangs on MPICH too.)
//! Invariant: all sizes were checked, on our library and not the one it was built for, or the test failed.

use crate::stage::Stage;
use crate::{clean_run, launcher, parts};
use libtest_mimic::{Failed, Trial};
use std::sync::Arc;

const PROGRAM: &str = "NPmpich2";
/// Debian's library does not write this.
const OURS: &str = "OXMPI_SHOW=variables";
const PASSED: &str = "Integrity check passed";
/// Of the sizes from 1 byte to the limits below, three near every power of two.
const FEWEST_SIZES: usize = 28;

const MODES: &[(&str, &str)] = &[
    ("blocking", "-i -u 262144 -n 20"),
    ("posted_first", "-i -a -u 262144 -n 20"),
    ("synchronous", "-i -S -u 131072 -n 20"),
    ("unaligned", "-i -O 1,3 -u 65536 -n 20"),
];

/// Every mode under our mpiexec and under MPICH's.
pub fn trials(stage: &Arc<Stage>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (mode, options) in MODES {
        for (launcher, hydra) in [("mpiexec", false), ("hydra", true)] {
            let name = format!("netpipe/{mode}/{launcher}");
            let stage = stage.clone();
            trials.push(Trial::test(name.clone(), move || {
                run(&stage, &name, options, hydra)
            }));
        }
    }
    trials
}

fn run(stage: &Stage, name: &str, options: &str, hydra: bool) -> Result<(), Failed> {
    let needs = ["netpipe-mpich2", "mpich"];
    if !parts::has_all(name, &needs[..1 + usize::from(hydra)]) {
        return Ok(());
    }
    let mut words = vec![launcher(stage, hydra)];
    words.extend(["-n", "2", PROGRAM].map(String::from));
    words.extend(options.split_whitespace().map(String::from));
    words.extend(["-o".into(), "/dev/null".into()]);
    let outcome = clean_run(stage, PROGRAM, &words)?;
    let said = format!("{}{}", outcome.output, outcome.error);
    let sizes = said.matches(PASSED).count();
    if !outcome.error.contains(OURS) {
        return Err(format!("it did not find our library\n{outcome:#?}").into());
    }
    if outcome.code == 0 && sizes >= FEWEST_SIZES && !said.contains("Integrity check failed") {
        return Ok(());
    }
    let command = words.join(" ");
    Err(format!("{command}\n{sizes} sizes passed\n{outcome:#?}").into())
}
