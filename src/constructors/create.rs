//! Communicators from groups: MPI_Comm_create, MPI_Comm_create_group, MPI_Comm_create_from_group.

use super::both_groups::{BothGroups, Ids};
use super::dup::{or_release, unless_wrong};
use super::exchange::{everywhere, numbers};
use super::hints::{self, Promises};
use super::unmet;
use crate::coll::{CollContext, block_on};
use crate::comm::{self, Comm, Made, Maker, Members, Parts, job, me};
use crate::context_id::offer::{bytes, words};
use crate::context_id::{self, Creation};
use crate::errhandler::Attached;
use crate::error::{Class, Result, fail};
use crate::group::{Group, names};
use std::sync::Arc;

fn add(
    members: Arc<Group>,
    rank: i32,
    ids: Ids,
    errhandler: Attached,
    made: Made,
) -> Result<&'static Comm> {
    let parts = ids.parts(rank, Members::of(members, job()), made);
    or_release(comm::add(parts, errhandler), ids)
}

/// That a group has no process but those of a communicator's local group.
fn check_within(group: &Group, comm: &Comm) -> Result<()> {
    if group.is_within(&comm.members().group()) {
        return Ok(());
    }
    fail!(
        Class::Group,
        "group has processes that are not in {}, which has {}",
        comm.title(),
        comm.size()
    )
}

/// What a rank says whose own arguments were good.
fn others_are_wrong<T>(comm: &Comm) -> Result<T> {
    fail!(
        Class::Group,
        "group is wrong on another rank of {}, so nothing was made",
        comm.title()
    )
}

/// MPI_Comm_create: `None` for who is not in its group. `group` is an error if another argument is wrong.
///
/// Errors: MPI_ERR_GROUP on all ranks when one's arguments are wrong, or its group has processes that are not in the
/// communicator.
pub fn create(comm: &Comm, group: Result<Arc<Group>>) -> Result<Option<&'static Comm>> {
    let both = BothGroups::of(comm, "MPI_Comm_create");
    let group = group.and_then(|group| check_within(&group, comm).map(|()| group));
    let [good] = block_on(everywhere(&both.local, [group.is_ok()]))?;
    if comm.is_inter() {
        return create_inter(comm, &both, group, good);
    }
    let group = group?;
    if !good {
        return others_are_wrong(comm);
    }
    let ids = block_on(both.ids(Creation::whole(comm)))?;
    match group.rank_of(me()) {
        Some(rank) => {
            let made = Made::of(Maker::Create, comm);
            add(group, rank, ids, comm.errhandler.copy(), made).map(Some)
        }
        None => {
            context_id::release(ids.receive);
            Ok(None)
        }
    }
}

/// The groups tell each other their members; one with a wrong argument tells that instead.
fn create_inter(
    comm: &Comm,
    both: &BothGroups<'_>,
    group: Result<Arc<Group>>,
    good: bool,
) -> Result<Option<&'static Comm>> {
    let Some(inter) = &both.inter else {
        return fail!(Class::Intern, "an intercommunicator with one side");
    };
    let members = group
        .as_ref()
        .map(|group| group.members())
        .unwrap_or_default();
    let mine = bytes(
        [u32::from(good)]
            .into_iter()
            .chain(names::to_words(members)),
    );
    let theirs = words(&block_on(inter.swap_any(&both.local, mine))?);
    let group = group?;
    if !good || theirs[0] == 0 {
        return others_are_wrong(comm);
    }
    let remote = Group::new(numbers(&theirs[1..])?);
    let ids = block_on(both.ids(Creation::whole(comm)))?;
    match group.rank_of(me()) {
        Some(rank) if remote.size() > 0 => {
            let made = Made::of(Maker::Create, comm);
            let parts = Parts {
                remote: Some(Members::of(Arc::new(remote), job())),
                ..ids.parts(rank, Members::of(group, job()), made)
            };
            or_release(comm::add(parts, comm.errhandler.copy()), ids).map(Some)
        }
        _ => {
            context_id::release(ids.receive);
            Ok(None)
        }
    }
}

/// The processes of a group by their numbers, and the place of this one among them.
fn in_order(group: &Arc<Group>) -> (Members, i32) {
    let ascending = group.ascending();
    let own_rank = ascending.rank_of(me()).unwrap_or_default();
    (Members::of(ascending, job()), own_rank)
}

/// MPI_Comm_create_group: only the members take part, each thread with a tag of its own. `right` says what is wrong with
/// the other arguments.
///
/// Errors: MPI_ERR_GROUP when the group has processes that are not in the communicator. A member with a wrong argument
/// takes part nevertheless, so that no other waits for it.
pub fn create_group(
    comm: &Comm,
    right: Result<()>,
    mut group: Arc<Group>,
    tag: i32,
) -> Result<Option<&'static Comm>> {
    const FUNCTION: &str = "MPI_Comm_create_group";
    let within = check_within(&group, comm);
    if within.is_err() {
        // Those who can be in it: perhaps they have named the same group without the strangers.
        group = Arc::new(group.intersection(&comm.members().group()));
    }
    let right = within.and(right);
    let Some(rank) = group.rank_of(me()) else {
        return right.map(|()| None);
    };
    // In an order that does not depend on the group's: members with another one are told so.
    let (members, own_rank) = in_order(&group);
    let coll = CollContext::within(comm, &members, own_rank, tag, FUNCTION);
    let creation = Creation::group(comm, group.clone(), tag).refused_if(right.is_err());
    let ids = block_on(context_id::allocate(&coll, creation)).map(Ids::one);
    add(
        group,
        rank,
        unless_wrong(right, ids)?,
        comm.errhandler.copy(),
        Made::of(Maker::CreateGroup, comm),
    )
    .map(Some)
}

/// MPI_Comm_create_from_group: without a communicator; the text says which call belongs to which. `right` says what is
/// wrong with the other arguments.
///
/// Errors: MPI_ERR_GROUP when this process is not in the group, or is not connected to all of it any more.
pub fn create_from_group(
    group: Arc<Group>,
    right: Result<()>,
    text: &str,
    errhandler: Attached,
    promises: Promises,
) -> Result<Option<&'static Comm>> {
    if group.size() == 0 {
        return right.map(|()| None);
    }
    let Some(rank) = group.rank_of(me()) else {
        return fail!(
            Class::Group,
            "group has {} processes, and the calling one is none of them",
            group.size()
        );
    };
    unmet::all_connected(&group, "group")?;
    let (members, own_rank) = in_order(&group);
    let tag = tag_of(text);
    let coll = CollContext::between(&members, own_rank, tag, "MPI_Comm_create_from_group");
    let creation = without_parent(&group, tag).refused_if(right.is_err());
    let ids = block_on(context_id::allocate(&coll, creation)).map(Ids::one);
    let engines = ids.as_ref().map_or(1, |ids| ids.engines);
    let promises = hints::agreed_among(&coll, (&members, engines), promises);
    let ids = unless_wrong(right, ids)?;
    let made = Made::without_parent(Maker::CreateFromGroup);
    let new = add(group, rank, ids, errhandler, made)?;
    hints::rely_on(new, promises?);
    Ok(Some(new))
}

/// A creation without a parent: as if on MPI_COMM_SELF, where no other is of several processes.
pub(super) fn without_parent(group: &Arc<Group>, tag: i32) -> Creation {
    Creation::without_parent(group.clone(), tag)
}

/// A tag for a text (FNV-1a): two calls at a time of one process with different texts hardly ever get the same.
pub(super) fn tag_of(text: &str) -> i32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash >> 33) as i32
}
