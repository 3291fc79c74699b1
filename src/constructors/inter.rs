//! Intercommunicators: two groups that are joined by their leaders, and merged into one.

use super::both_groups::{BothGroups, Ids, InterContext};
use super::create::{tag_of, without_parent};
use super::dup::or_release;
use super::exchange::{everywhere, numbers, share};
use super::hints::{self, Promises};
use super::unmet;
use crate::coll::{CollContext, allreduce_on, block_on};
use crate::comm::{self, Comm, Made, Maker, Members, Parts};
use crate::comm::{job, me};
use crate::context_id::offer::{bytes, words};
use crate::context_id::{self, Creation};
use crate::errhandler::Attached;
use crate::error::{Class, Result, fail};
use crate::group::Group;
use crate::group::names::{self, Name};
use std::sync::Arc;

/// Where a leader finds the other one.
#[derive(Clone, Copy)]
pub struct Peer {
    pub comm: &'static Comm,
    pub rank: i32,
}

/// What one rank of a group says.
struct Arguments<'a> {
    /// What is wrong with arguments that are not named here.
    right: Result<()>,
    leader: Result<i32>,
    /// What only the leader has.
    inter: Result<Option<InterContext<'a>>>,
}

/// MPI_Intercomm_create. `leader` is what this rank says, and `peer` what the leader has; `right` says what is wrong with
/// the other arguments.
///
/// Errors: on all ranks of a group what one of them has wrong, and MPI_ERR_RANK when they name different leaders; so on all
/// of the other, if its leader can be told. MPI_ERR_COMM on all when the groups have processes in common.
pub fn intercomm_create(
    local: &Comm,
    right: Result<()>,
    leader: Result<i32>,
    peer: Result<Option<Peer>>,
    tag: i32,
) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Intercomm_create";
    let own = CollContext::new(local, FUNCTION);
    let inter = peer.map(|peer| {
        peer.map(|peer| InterContext {
            coll: CollContext::leaders(peer.comm, tag, FUNCTION),
            leader: local.rank(),
            other: peer.rank,
        })
    });
    let arguments = Arguments {
        right,
        leader,
        inter,
    };
    let creation = Creation::whole(local);
    let made = Made::of(Maker::IntercommCreate, local);
    connect(
        &own,
        arguments,
        creation,
        (local.errhandler.copy(), made),
        None,
    )
}

/// MPI_Intercomm_create_from_groups. `remote` is what the leader has: the other group and its leader; the rest as in
/// [`intercomm_create`].
///
/// Errors: MPI_ERR_GROUP when this process is not in the local group, else as [`intercomm_create`].
pub fn intercomm_create_from_groups(
    local: Arc<Group>,
    right: Result<()>,
    leader: Result<i32>,
    remote: Result<Option<(Arc<Group>, i32)>>,
    text: &str,
    errhandler: Attached,
    promises: Promises,
) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Intercomm_create_from_groups";
    let Some(rank) = local.rank_of(me()) else {
        return fail!(
            Class::Group,
            "local_group has {} processes, and the calling one is none of them",
            local.size()
        );
    };
    unmet::all_connected(&local, "local_group")?;
    let remote = remote.and_then(|remote| {
        if let Some((group, other)) = &remote {
            let leader = Group::new([group.member(*other)]);
            unmet::all_connected(&leader, "remote_group")?;
        }
        Ok(remote)
    });
    let tag = tag_of(text);
    let members = Members::of(local.clone(), job());
    let own = CollContext::between(&members, rank, tag, FUNCTION);
    let pair = match &remote {
        Ok(Some((group, other))) => Group::new([me(), group.member(*other)]),
        _ => Group::range(0, 0),
    };
    let leaders = Members::Of(Arc::new(pair));
    let inter = remote.map(|remote| {
        remote.map(|_| InterContext {
            coll: CollContext::between(&leaders, 0, tag, FUNCTION).of_leaders(),
            leader: rank,
            other: 1,
        })
    });
    let arguments = Arguments {
        right,
        leader,
        inter,
    };
    let creation = without_parent(&local, tag);
    let made = Made::without_parent(Maker::IntercommCreateFromGroups);
    connect(
        &own,
        arguments,
        creation,
        (errhandler, made),
        Some(promises),
    )
}

/// The leader that all ranks of a group name, and whether none of them has a wrong argument.
///
/// Errors: on all of them, when they do not name the same.
pub fn one_leader(
    own: &CollContext<'_>,
    right: &Result<()>,
    leader: &Result<i32>,
    argument: &str,
) -> Result<(i32, bool)> {
    // Common bits of a number and of its complement, as in `Proposal::signature`; who has no number leaves all bits.
    const YES: u32 = u32::MAX;
    let good = right.is_ok() && leader.is_ok();
    let number = leader.as_ref().map_or(YES, |leader| *leader as u32);
    let complement = leader.as_ref().map_or(YES, |leader| !*leader as u32);
    let mut all = bytes([if good { YES } else { 0 }, number, complement]);
    let common = |left: &[u8], right: &mut [u8]| {
        let pairs = left.iter().zip(right);
        pairs.for_each(|(left, right)| *right &= *left);
        Ok(())
    };
    block_on(allreduce_on(own, &mut all, &common))?;
    let all = words(&all);
    if all[1] != !all[2] {
        return fail!(
            Class::Rank,
            "{argument} is not the same, or not right, on the {} ranks of this group",
            own.size()
        );
    }
    Ok((all[1] as i32, all[0] == YES))
}

/// The leaders swap the groups, each side takes its id, and the leaders swap those; then what all promise about wildcards.
fn connect(
    own: &CollContext<'_>,
    arguments: Arguments<'_>,
    creation: Creation,
    (errhandler, made): (Attached, Made),
    promises: Option<Promises>,
) -> Result<&'static Comm> {
    let Arguments {
        right,
        leader,
        inter,
    } = arguments;
    let local = own.members.group();
    let agreed = one_leader(own, &right, &leader, "local_leader");
    let right = right.and(leader.map(|_| ()));
    let (leader, good) = match agreed {
        Ok(agreed) => agreed,
        Err(error) => return Err(right.err().unwrap_or(error)),
    };
    let mut theirs = Box::default();
    if let Ok(Some(inter)) = &inter {
        // The other leader waits, and is told of what is wrong with a group of nobody.
        let mut mine = if good {
            bytes(names::to_words(local.members()))
        } else {
            Box::default()
        };
        theirs = block_on(inter.leaders_swap_any(&mut mine))?;
    }
    right?;
    if !good {
        return fail!(
            Class::Other,
            "another rank of this group had a wrong argument, so nothing was made"
        );
    }
    block_on(share(own, &mut theirs, leader))?;
    // Only the leader uses the collective context, and only the leader's arguments matter where it found the other one.
    let others = InterContext {
        coll: *own,
        leader,
        other: 0,
    };
    let inter = match inter {
        Err(error) if theirs.is_empty() => return Err(error),
        inter => inter.ok().flatten().unwrap_or(others),
    };
    if theirs.is_empty() {
        return fail!(
            Class::Other,
            "the leader, rank {leader}, or a rank of the other group had a wrong argument, so nothing was made"
        );
    }
    let names: Vec<Name> = words(&theirs)
        .chunks_exact(Name::WORDS)
        .map(Name::of_words)
        .collect();
    let known: Vec<u32> = names
        .iter()
        .filter_map(|name| names::number_of(*name))
        .collect();
    let common = local.intersection(&Group::new(known)).size();
    if common > 0 {
        return fail!(
            Class::Comm,
            "the two groups, of {} and {} processes, have {common} in common",
            local.size(),
            names.len()
        );
    }
    let both = BothGroups {
        local: *own,
        inter: Some(inter),
    };
    // Until the communicator itself uses the links.
    let _hold = unmet::meet(&both, &names)?;
    let remote = Group::new(numbers(&words(&theirs))?);
    let ids = block_on(both.ids(creation))?;
    let everybody = Members::of(Arc::new(local.union(&remote)), job());
    let promises = match promises {
        Some(promises) if comm::engines_offered_by(&everybody, ids.engines) > 1 => {
            block_on(hints::agreed_on_both_groups(&both, promises))
        }
        _ => Ok(Promises::default()),
    };
    let parts = Parts {
        remote: Some(Members::of(Arc::new(remote), job())),
        ..ids.parts(own.rank(), own.members.clone(), made)
    };
    let new = or_release(comm::add(parts, errhandler), ids)?;
    hints::rely_on(new, promises?);
    Ok(new)
}

const LOW: u32 = 0;
const HIGH: u32 = 1;
const MIXED: u32 = 2;

/// MPI_Intercomm_merge: the group that says low comes first; if both say the same, the one whose first process has the
/// lower number.
///
/// Errors: MPI_ERR_ARG on all ranks when the ranks of one group say different things, or one has a wrong argument.
pub fn intercomm_merge(comm: &Comm, right: Result<()>, high: bool) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Intercomm_merge";
    let both = BothGroups::of(comm, FUNCTION);
    let (Some(inter), Some(remote)) = (&both.inter, comm.remote()) else {
        return fail!(
            Class::Comm,
            "intercomm is {}, which is no intercommunicator",
            comm.title()
        );
    };
    // A member with a wrong argument says neither.
    let says = [high, !high].map(|says| says && right.is_ok());
    let said = block_on(everywhere(&both.local, says));
    let [all_high, all_low] = said.inspect_err(|error| inter.tell_failed(&both.local, error))?;
    let said = match (all_low, all_high) {
        (true, _) => LOW,
        (_, true) => HIGH,
        _ => MIXED,
    };
    let (mut mine, mut theirs) = (bytes([said]), bytes([MIXED]));
    block_on(inter.swap(&both.local, &mut mine, &mut theirs))?;
    let other = words(&theirs)[0];
    right?;
    if said == MIXED || other == MIXED {
        let whose = if said == MIXED { "this" } else { "the other" };
        return fail!(
            Class::Arg,
            "high is {high}, and the ranks of {whose} group do not all say the same, or one has a wrong argument"
        );
    }
    let local = comm.members();
    let own_first = if said == other {
        names::of(local.process(0)) < names::of(remote.process(0))
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
    let coll = CollContext::over_both_groups(comm, &members, own_first, FUNCTION);
    let rank = coll.rank();
    let ids = block_on(context_id::allocate(&coll, Creation::merge(comm, both))).map(Ids::one)?;
    let made = Made::of(Maker::IntercommMerge, comm);
    let parts = ids.parts(rank, members.clone(), made);
    or_release(comm::add(parts, comm.errhandler.copy()), ids)
}
