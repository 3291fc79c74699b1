//! Intercommunicators: two groups that are joined by their leaders, and merged into one.

use super::context::{self, Creation};
use super::create::{job, me, tag_of, without_parent};
use super::dup::made;
use super::sides::{Across, Ids, Sides};
use super::{bytes, everywhere, share, words};
use crate::coll::{Lane, now};
use crate::comm::{self, Comm, Members, Parts};
use crate::error::{Class, Result, fail};
use crate::group::Group;
use std::sync::Arc;

/// Where a leader finds the other one.
#[derive(Clone, Copy)]
pub struct Peer {
    pub comm: &'static Comm,
    pub rank: i32,
}

/// MPI_Intercomm_create. `peer` is what the leader has.
///
/// Errors: what the leader's arguments have wrong, on all ranks of its group; MPI_ERR_COMM on all when the groups
/// have processes in common.
pub fn intercomm_create(
    local: &Comm,
    leader: i32,
    peer: Result<Option<Peer>>,
    tag: i32,
) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Intercomm_create";
    let own = Lane::new(local, FUNCTION);
    let across = peer.map(|peer| {
        peer.map(|peer| Across {
            lane: Lane::leaders(peer.comm, tag, FUNCTION),
            leader,
            other: peer.rank,
        })
    });
    connect(
        &own,
        leader,
        across,
        Creation::whole(local),
        local.errhandler(),
    )
}

/// MPI_Intercomm_create_from_groups. `remote` is what the leader has: the other group and its leader.
///
/// Errors: MPI_ERR_GROUP when this process is not in the local group, else as [`intercomm_create`].
pub fn intercomm_create_from_groups(
    local: Arc<Group>,
    leader: i32,
    remote: Result<Option<(Arc<Group>, i32)>>,
    text: &str,
    errhandler: i32,
) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Intercomm_create_from_groups";
    let Some(rank) = local.rank_of(me()) else {
        return fail!(
            Class::Group,
            "local_group has {} processes, and the calling one is none of them",
            local.size()
        );
    };
    let tag = tag_of(text);
    let members = Members::of(local.clone(), job());
    let own = Lane::between(&members, rank, tag, FUNCTION);
    let pair = match &remote {
        Ok(Some((group, other))) => Group::new([local.member(leader), group.member(*other)]),
        _ => Group::range(0, 0),
    };
    let leaders = Members::Of(Arc::new(pair));
    let across = remote.map(|remote| {
        remote.map(|_| Across {
            lane: Lane::between(&leaders, 0, tag, FUNCTION).of_leaders(),
            leader,
            other: 1,
        })
    });
    connect(
        &own,
        leader,
        across,
        without_parent(&local, tag),
        errhandler,
    )
}

/// The leaders swap the groups, each side takes its id, and the leaders swap those.
fn connect(
    own: &Lane<'_>,
    leader: i32,
    across: Result<Option<Across<'_>>>,
    creation: Creation,
    errhandler: i32,
) -> Result<&'static Comm> {
    let local = own.members.group();
    let mut theirs = Box::default();
    if let Ok(Some(across)) = &across
        && own.rank() == leader
    {
        theirs = now(across.leaders_swap_any(&mut bytes(local.members())))?;
    }
    now(share(own, &mut theirs, leader))?;
    // Only the leader uses the lane, and only the leader's arguments matter where it found the other one.
    let others = Across {
        lane: *own,
        leader,
        other: 0,
    };
    let across = match across {
        Err(error) if theirs.is_empty() => return Err(error),
        across => across.ok().flatten().unwrap_or(others),
    };
    if theirs.is_empty() {
        return fail!(
            Class::Other,
            "the leader, rank {leader}, had a wrong argument, so nothing was made"
        );
    }
    let remote = Group::new(words(&theirs));
    let common = local.intersection(&remote).size();
    if common > 0 {
        return fail!(
            Class::Comm,
            "the two groups, of {} and {} processes, have {common} in common",
            local.size(),
            remote.size()
        );
    }
    let sides = Sides {
        own: *own,
        across: Some(across),
    };
    let ids = now(sides.ids(creation))?;
    let parts = Parts {
        context: ids.send,
        receive_context: ids.receive,
        rank: own.rank(),
        members: own.members.clone(),
        remote: Some(Members::of(Arc::new(remote), job())),
    };
    made(comm::add(parts, errhandler), ids)
}

const LOW: u32 = 0;
const HIGH: u32 = 1;
const MIXED: u32 = 2;

/// MPI_Intercomm_merge: the group that says low comes first; if both say the same, the one whose first process has the
/// lower number.
///
/// Errors: MPI_ERR_ARG on all ranks when the ranks of one group say different things.
pub fn intercomm_merge(comm: &Comm, high: bool) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Intercomm_merge";
    let sides = Sides::of(comm, FUNCTION);
    let (Some(across), Some(remote)) = (&sides.across, comm.remote()) else {
        return fail!(
            Class::Comm,
            "intercomm is {}, which is no intercommunicator",
            comm.title()
        );
    };
    let [all_high, all_low] = now(everywhere(&sides.own, [high, !high]))?;
    let said = match (all_low, all_high) {
        (true, _) => LOW,
        (_, true) => HIGH,
        _ => MIXED,
    };
    let (mut mine, mut theirs) = (bytes([said]), bytes([MIXED]));
    now(across.swap(&sides.own, &mut mine, &mut theirs))?;
    let other = words(&theirs)[0];
    if said == MIXED || other == MIXED {
        let whose = if said == MIXED { "this" } else { "the other" };
        return fail!(
            Class::Arg,
            "high is {high}, and the ranks of {whose} group do not all say the same"
        );
    }
    let local = comm.members();
    let own_first = if said == other {
        local.world(0) < remote.world(0)
    } else {
        said == LOW
    };
    let (first, second) = if own_first {
        (local, remote)
    } else {
        (remote, local)
    };
    let both = Arc::new(first.group().union(&second.group()));
    let members = Members::of(both.clone(), job());
    let lane = Lane::over_both(comm, &members, own_first, FUNCTION);
    let rank = lane.rank();
    let id = now(context::allocate(&lane, Creation::merge(comm, both)))?;
    let parts = Parts {
        context: id,
        receive_context: id,
        rank,
        members: members.clone(),
        remote: None,
    };
    made(comm::add(parts, comm.errhandler()), Ids::one(id))
}
