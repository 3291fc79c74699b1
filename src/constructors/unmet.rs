//! Groups of which some processes have not met some of the other's, as the children of two spawns: the leaders have, and introduce them.
//!
//! Invariant: all processes of both groups come to the same decision, so none waits for an introduction that another does not need.

use super::both_groups::BothGroups;
use super::exchange::everywhere;
use crate::coll::block_on;
use crate::connections::{self, Hold};
use crate::context_id::offer::{bytes, words};
use crate::error::{Class, Result, fail};
use crate::group::Group;
use crate::group::names::{self, Name};
use std::sync::OnceLock;

/// Has all processes of both groups meet, or fails on all of them. It is given the names of the other group.
pub type Introduce = fn(&BothGroups<'_>, &[Name]) -> Result<Vec<Hold>>;

static INTRODUCE: OnceLock<Introduce> = OnceLock::new();

/// Says how processes are introduced to each other. The dynamic processes, which stand above, do it.
pub fn introduce_by(introduce: Introduce) {
    let _ = INTRODUCE.set(introduce);
}

/// Whether a process is of this one's job, or connected to it.
pub fn is_met(name: Name) -> bool {
    names::number_of(name)
        .is_some_and(|number| !names::is_foreign(number) || connections::is_connected(number))
}

/// Errors: MPI_ERR_GROUP, a process of another job is in the group that this one is not connected to any more.
pub fn all_connected(group: &Group, argument: &str) -> Result<()> {
    if !names::has_foreign() {
        return Ok(());
    }
    let mut members = group.members().into_iter();
    match members
        .find(|process| names::is_foreign(*process) && !connections::is_connected(*process))
    {
        None => Ok(()),
        Some(process) => fail!(
            Class::Group,
            "{argument} has rank {} of another job, which this process is not connected to any more",
            names::of(process).rank
        ),
    }
}

/// Introduces the two groups if there are two in them that have not met; `theirs` are the names of the other group. What comes back
/// keeps the new links until a communicator uses them.
///
/// Errors: on all processes of both groups, MPI_ERR_OTHER, some cannot reach some others.
pub fn meet(both: &BothGroups<'_>, theirs: &[Name]) -> Result<Vec<Hold>> {
    let job = names::own_job();
    let local = both.local.members;
    let foreign = (0..local.size()).any(|rank| names::is_foreign(local.process(rank)));
    let Some(inter) = &both.inter else {
        return Ok(Vec::new());
    };
    if !foreign && theirs.iter().all(|name| name.job == job) {
        return Ok(Vec::new());
    }
    let met = theirs.iter().all(|name| is_met(*name));
    let [here] = block_on(everywhere(&both.local, [met]))?;
    let (mut mine, mut others) = (bytes([u32::from(here)]), bytes([0]));
    block_on(inter.swap(&both.local, &mut mine, &mut others))?;
    if here && words(&others)[0] != 0 {
        return Ok(Vec::new());
    }
    match INTRODUCE.get() {
        Some(introduce) => introduce(both, theirs),
        None => fail!(
            Class::Other,
            "processes of the two groups have not met, and this process has joined no job"
        ),
    }
}
