//! Which launcher starts no processes, and what can be done.

use super::{Job, Launcher};
use crate::error::{Class, Error};

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

const INSTEAD_OF_SRUN: &str =
    "; oxmpi's mpiexec can, in the same allocation: start the program by it instead of srun";

fn is_of_slurm(get: Lookup<'_>) -> bool {
    get("SLURM_STEP_ID").is_some()
}

/// The launcher's name, and advice.
fn who(how: Launcher, get: Lookup<'_>) -> (&'static str, &'static str) {
    let prrte = get("PMIX_NAMESPACE").is_some_and(|name| name.starts_with("prte"));
    let slurm = is_of_slurm(get);
    match how {
        Launcher::Mpiexec | Launcher::Singleton => ("mpiexec", ""),
        Launcher::Pmix if prrte => ("the launcher, prterun of PRRTE or Open MPI,", ""),
        Launcher::Pmix if slurm => ("srun, by Slurm's plug-in pmix,", INSTEAD_OF_SRUN),
        Launcher::Pmi1 if slurm => ("srun, by Slurm's plug-in pmi2,", INSTEAD_OF_SRUN),
        Launcher::Pmix => ("the PMIx launcher", "; oxmpi's mpiexec can"),
        Launcher::Pmi1 => ("the PMI-1 launcher, such as MPICH's hydra,", ""),
    }
}

/// How many processors of a Slurm allocation its step leaves; `None`: Slurm does not say.
fn room(get: Lookup<'_>) -> Option<u64> {
    let mut processors = 0;
    // As in `4(x2),3`.
    for part in get("SLURM_JOB_CPUS_PER_NODE")?.split(',') {
        let (each, times) = part.split_once("(x").unwrap_or((part, "1)"));
        let times: u64 = times.strip_suffix(')')?.parse().ok()?;
        processors += each.parse::<u64>().ok()? * times;
    }
    let number = |name: &str| get(name).and_then(|text| text.parse::<u64>().ok());
    let used = number("SLURM_STEP_NUM_TASKS")? * number("SLURM_CPUS_PER_TASK").unwrap_or(1);
    Some(processors.saturating_sub(used))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Job {
    /// Why the launcher need not be asked for so many processes: srun would wait for room in the allocation, and so for this program's end.
    pub(super) fn is_full_for(&self, processes: u64) -> Option<String> {
        if self.how != Launcher::Pmi1 || !is_of_slurm(&variable) {
            return None;
        }
        let room = room(&variable).filter(|room| *room < processes)?;
        Some(format!(
            "the allocation has {room} free processors, and {processes} processes are wanted"
        ))
    }

    /// The error of a launcher that has refused.
    pub(super) fn refusal(&self, error: &Error) -> Error {
        if error.class() != Class::Spawn {
            return Error::new(error.class(), error.text());
        }
        let (name, advice) = who(self.how, &variable);
        let text = format!("{name} starts no processes: {}{advice}", error.text());
        Error::new(Class::Spawn, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given<T>(text: &str, what: impl Fn(Lookup<'_>) -> T) -> T {
        what(&|name| {
            let mut pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
        })
    }

    #[test]
    fn the_launcher_is_named() {
        for (how, text, name, instead) in [
            (Launcher::Mpiexec, "SLURM_STEP_ID=0", "mpiexec", false),
            (
                Launcher::Pmix,
                "PMIX_NAMESPACE=prterun-a-1@1 SLURM_STEP_ID=0",
                "prterun",
                false,
            ),
            (
                Launcher::Pmix,
                "PMIX_NAMESPACE=slurm.pmix.1.0 SLURM_STEP_ID=0",
                "plug-in pmix",
                true,
            ),
            (Launcher::Pmi1, "SLURM_STEP_ID=0", "plug-in pmi2", true),
            (Launcher::Pmi1, "", "hydra", false),
        ] {
            let (found, advice) = given(text, |get| who(how, get));
            assert!(found.contains(name), "{found}");
            assert_eq!(advice == INSTEAD_OF_SRUN, instead, "{text}");
        }
    }

    #[test]
    fn an_allocation_has_room_for_what_its_step_leaves() {
        let room_of = |text| given(text, |get| room(get));
        assert_eq!(
            room_of("SLURM_JOB_CPUS_PER_NODE=4 SLURM_STEP_NUM_TASKS=4"),
            Some(0)
        );
        assert_eq!(
            room_of("SLURM_JOB_CPUS_PER_NODE=4(x2),3 SLURM_STEP_NUM_TASKS=2 SLURM_CPUS_PER_TASK=3"),
            Some(5)
        );
        assert_eq!(
            room_of("SLURM_JOB_CPUS_PER_NODE=1 SLURM_STEP_NUM_TASKS=9"),
            Some(0)
        );
        assert_eq!(room_of("SLURM_STEP_NUM_TASKS=9"), None);
        assert_eq!(
            room_of("SLURM_JOB_CPUS_PER_NODE=x SLURM_STEP_NUM_TASKS=9"),
            None
        );
    }
}
