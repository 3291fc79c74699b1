//! Process sets (MPI 5.0, section 11.3.2): those that MPI has itself, then those that were named when the job was started.
//!
//! Invariant: the list is made once, when the job was joined; sets that this process is not in are found by their names only.

use super::JOB;
use crate::comm;
use crate::error::{Class, Result, fail};
use crate::group::Group;
use crate::launch::{Launcher, names, sets};
use std::sync::{Arc, OnceLock};

pub const WORLD: &str = "mpi://WORLD";
pub const SELF: &str = "mpi://SELF";

type Set = (String, Arc<Group>);

fn all() -> &'static [Set] {
    static ALL: OnceLock<Vec<Set>> = OnceLock::new();
    ALL.get_or_init(|| {
        let (me, size) = (comm::me(), comm::job());
        let mut all = vec![
            (WORLD.to_owned(), Arc::new(Group::range(0, size))),
            (SELF.to_owned(), Arc::new(Group::range(me, 1))),
        ];
        let ours = JOB.get().is_some_and(|job| job.how == Launcher::Mpiexec);
        let given = std::env::var(names::PROCESS_SETS).ok().filter(|_| ours);
        for set in sets::parse_all(&given.unwrap_or_default(), size) {
            all.push((set.name, Arc::new(Group::new(set.ranks))));
        }
        all
    })
}

/// The names of the sets that this process is in.
pub fn names_of_own() -> impl Iterator<Item = &'static str> {
    let own = all()
        .iter()
        .filter(|(_, group)| group.rank_of(comm::me()).is_some());
    own.map(|(name, _)| name.as_str())
}

/// The set with a name.
///
/// Errors: MPI_ERR_ARG.
pub fn find(name: &str) -> Result<Arc<Group>> {
    if let Some((_, group)) = all().iter().find(|(its, _)| sets::is_same(its, name)) {
        return Ok(group.clone());
    }
    let names: Vec<&str> = all().iter().map(|(name, _)| name.as_str()).collect();
    fail!(
        Class::Arg,
        "pset_name is {name:?}; the process sets are {}",
        names.join(", ")
    )
}
