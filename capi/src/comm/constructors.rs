//! Constructors and destructor of communicators, intercommunicators included.

use crate::constants::*;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::{self as communicator, Comm as CommObject, Maker};
use oxmpi::constructors::hints::Promises;
use oxmpi::constructors::split_type::{Guide, Split};
use oxmpi::constructors::{self, Peer};
use oxmpi::errhandler::{self, Attached};
use oxmpi::error::{Class, Result};
use oxmpi::info::Info as Hints;
use oxmpi::launch::sets::is_same;
use oxmpi::lifetime::communicators;
use oxmpi::os::hardware::{self, directory};
use oxmpi::process::sets;
use oxmpi::pt2pt::origin;
use oxmpi::{fail, group as groups, info as infos};

/// Writes the communicator that this process is in, or MPI_COMM_NULL; it comes from where `from` does, a communicator or group.
pub fn give(from: i32, newcomm: Out<Comm>, new: Option<&CommObject>) -> Result<()> {
    if let Some(new) = new {
        origin::inherit(from, new.handle);
    }
    newcomm.set(Comm(new.map_or(communicator::NULL, |new| new.handle)))
}

/// A duplicate with the attributes that their copy callbacks give it. A rank with a wrong argument takes part in the
/// creation, here and below, so that no other rank waits.
#[inline(always)]
fn duplicate(
    comm: &CommObject,
    right: Result<()>,
    by: Maker,
    newcomm: &Out<Comm>,
) -> Result<&'static CommObject> {
    let new = constructors::dup(comm, right, by)?;
    if comm.attributes.is_empty() {
        return Ok(new);
    }
    if let Err(error) = comm.attributes.copy_to(comm.handle, &new.attributes) {
        // What was copied is deleted again; the first error is the one to report.
        let _ = new.attributes.delete_all(new.handle);
        communicators::free(new);
        newcomm.set(Comm(MPI_COMM_NULL))?;
        return Err(error);
    }
    Ok(new)
}

entry! {
    Collective fn MPI_Comm_dup(comm: Comm, newcomm: Out<Comm>) on comm {
        let new = duplicate(decode::comm(comm)?, newcomm.not_null(), Maker::Dup, &newcomm)?;
        give(comm.0, newcomm, Some(new))
    }
}

/// Hints, or none and the error.
fn parted(hints: Result<Hints>) -> (Hints, Result<()>) {
    match hints {
        Ok(hints) => (hints, Ok(())),
        Err(error) => (Hints::new(), Err(error)),
    }
}

entry! {
    Collective fn MPI_Comm_dup_with_info(comm: Comm, info: Info, newcomm: Out<Comm>) on comm {
        let comm = decode::comm(comm)?;
        let hints = newcomm.not_null().and_then(|()| infos::hints(info.0));
        let (hints, right) = parted(hints);
        let new = duplicate(comm, right, Maker::DupWithInfo, &newcomm);
        let promises = constructors::hints::agreed(comm, &hints)?;
        let new = new?;
        constructors::hints::rely_on(new, promises);
        constructors::hints::give(new, &hints)?;
        give(comm.handle, newcomm, Some(new))
    }
}

/// Attributes are copied now, as the standard says; a callback that fails keeps only this rank from its duplicate.
fn begin_dup(
    comm: &'static CommObject,
    hints: Option<Result<Hints>>,
    newcomm: Out<Comm>,
    request: Out<Request>,
) -> Result<()> {
    let with_info = hints.is_some();
    let hints = hints.unwrap_or_else(|| Ok(Hints::new()));
    let (hints, right) = parted(newcomm.not_null().and(request.not_null()).and(hints));
    let promises = with_info.then(|| Promises::of(&hints));
    let (new, pending) = constructors::idup(comm, right.is_err(), promises)?;
    let copied = right.and_then(|()| comm.attributes.copy_to(comm.handle, &new.attributes));
    if let Err(error) = copied {
        let _ = new.attributes.delete_all(new.handle);
        communicators::free(new);
        if newcomm.not_null().is_ok() {
            newcomm.set(Comm(MPI_COMM_NULL))?;
        }
        // It ends by itself.
        oxmpi::pt2pt::complete::abandon(pending);
        return Err(error);
    }
    constructors::hints::give(new, &hints)?;
    give(comm.handle, newcomm, Some(new))?;
    request.set(Request(pending))
}

entry! {
    Collective fn MPI_Comm_idup(comm: Comm, newcomm: Out<Comm>, request: Out<Request>) on comm {
        begin_dup(decode::comm(comm)?, None, newcomm, request)
    }
}

entry! {
    Collective fn MPI_Comm_idup_with_info(
        comm: Comm, info: Info, newcomm: Out<Comm>, request: Out<Request>,
    ) on comm {
        begin_dup(decode::comm(comm)?, Some(infos::hints(info.0)), newcomm, request)
    }
}

/// A communicator of the program's own making, which can be ended.
fn ending(comm: Comm, how: &str) -> Result<&'static CommObject> {
    let object = decode::any_comm(comm)?;
    if object.handle == communicator::WORLD || object.handle == communicator::SELF {
        return fail!(
            Class::Comm,
            "comm is {}, which cannot be {how}",
            object.title()
        );
    }
    object.attributes.delete_all(object.handle)?;
    origin::forget(object.handle);
    Ok(object)
}

entry! {
    Collective fn MPI_Comm_free(comm: InOut<Comm>) on comm {
        communicators::free(ending(comm.read()?, "freed")?);
        comm.set(Comm(communicator::NULL))
    }
}

entry! {
    Collective fn MPI_Comm_disconnect(comm: InOut<Comm>) on comm {
        communicators::disconnect(ending(comm.read()?, "disconnected")?);
        comm.set(Comm(communicator::NULL))
    }
}

entry! {
    Collective fn MPI_Comm_create(comm: Comm, group: Group, newcomm: Out<Comm>) on comm {
        let comm = decode::comm(comm)?;
        let group = newcomm.not_null().and_then(|()| groups::get(group.0));
        give(comm.handle, newcomm, constructors::create(comm, group)?)
    }
}

entry! {
    Collective fn MPI_Comm_create_group(comm: Comm, group: Group, tag: Tag, newcomm: Out<Comm>) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let group = groups::get(group.0)?;
        let tag = decode::tag(tag)?;
        give(comm.handle, newcomm, constructors::create_group(comm, newcomm.not_null(), group, tag)?)
    }
}

/// The arguments that say nothing about who takes part.
fn without_parent(newcomm: Out<Comm>, info: Info, errhandler: Errhandler) -> (Hints, Result<()>) {
    let (hints, right) = parted(newcomm.not_null().and_then(|()| infos::hints(info.0)));
    let handler = || errhandler::check(errhandler.0, errhandler::Target::Comm);
    (hints, right.and_then(|()| handler().map(|_| ())))
}

entry! {
    Collective fn MPI_Comm_create_from_group(
        group: Group, stringtag: Text, info: Info, errhandler: Errhandler, newcomm: Out<Comm>,
    ) on errhandler {
        decode::running()?;
        let members = groups::get(group.0)?;
        let text = decode::stringtag(stringtag)?;
        let (hints, right) = without_parent(newcomm, info, errhandler);
        let promises = Promises::of(&hints);
        let new = constructors::create_from_group(members, right, &text, Attached::to(errhandler.0), promises)?;
        if let Some(new) = new {
            constructors::hints::give(new, &hints)?;
        }
        give(group.0, newcomm, new)
    }
}

entry! {
    Collective fn MPI_Comm_split(comm: Comm, color: Color, key: Int, newcomm: Out<Comm>) on comm {
        let comm = decode::comm(comm)?;
        give(comm.handle, newcomm, constructors::split(comm, newcomm.not_null(), color.0, key.0)?)
    }
}

/// What an info says about the hardware to split by.
fn hardware_of(hints: &Hints) -> Result<Guide> {
    Ok(match hints.get("mpi_hw_resource_type")? {
        Some("mpi_shared_memory") => Guide::Memory,
        Some(name) => hardware::Kind::of(name).map_or(Guide::Unknown, Guide::Kind),
        None => Guide::Unknown,
    })
}

/// The guide that a process set gives. An unknown set is ignored, as the standard wants of hints.
fn process_set(name: &str) -> Guide {
    if is_same(name, sets::SELF) {
        return Guide::Alone;
    }
    let Ok(set) = sets::find(name) else {
        return Guide::Unknown;
    };
    let members = (0..set.size()).flat_map(|rank| set.member(rank).to_le_bytes());
    let me = oxmpi::process::job().map(|job| job.rank);
    let is_in = me.is_some_and(|me| set.rank_of(me).is_some());
    Guide::Set {
        set: hash(members),
        is_in,
    }
}

/// The guide that MPICH's keys for neighborhoods give: a directory that processes have in common, or how nodes are connected; here
/// the nodes of one communicator's processes are one.
fn neighborhood(hints: &Hints) -> Result<Guide> {
    if let Some(path) = hints.get("nbhd_common_dirname")? {
        let location = directory(path);
        return Ok(Guide::Directory {
            name: hash(path.bytes()),
            location,
        });
    }
    let network = hints.get("network_topo")?.is_some();
    Ok(if network {
        Guide::Memory
    } else {
        Guide::Unknown
    })
}

fn hash(bytes: impl Iterator<Item = u8>) -> u32 {
    // FNV-1a.
    bytes.fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn how_to_split(split_type: SplitType, info: Info) -> Result<Split> {
    let hints = infos::hints(info.0)?;
    match split_type.0 {
        MPI_UNDEFINED => Ok(Split::Undefined),
        MPI_COMM_TYPE_SHARED => Ok(Split::Shared),
        MPI_COMM_TYPE_HW_UNGUIDED => Ok(Split::Unguided),
        MPI_COMM_TYPE_HW_GUIDED => hardware_of(&hints).map(Split::Hardware),
        // In MPICH 4.0 the number was that of neighborhoods, whose keys have other names.
        MPI_COMM_TYPE_RESOURCE_GUIDED => Ok(Split::Resource(match hints.get("mpi_pset_name")? {
            Some(name) => process_set(name),
            None => match hardware_of(&hints)? {
                Guide::Unknown => neighborhood(&hints)?,
                guide => guide,
            },
        })),
        MPIX_COMM_TYPE_NEIGHBORHOOD => neighborhood(&hints).map(Split::Neighborhood),
        other => fail!(
            Class::Arg,
            "split_type is {other}; allowed are MPI_COMM_TYPE_SHARED and its like (1 to 5) and MPI_UNDEFINED"
        ),
    }
}

entry! {
    /// For MPI_COMM_TYPE_HW_UNGUIDED the info says afterwards what it was split by.
    Collective fn MPI_Comm_split_type(
        comm: Comm, split_type: SplitType, key: Int, info: Info, newcomm: Out<Comm>,
    ) on comm {
        let comm = decode::comm(comm)?;
        let how = newcomm.not_null().and_then(|()| how_to_split(split_type, info));
        let hints = infos::hints(info.0).unwrap_or_default();
        let (new, by) = constructors::split_type(comm, how, key.0, Promises::of(&hints))?;
        if let Some(new) = new {
            constructors::hints::give(new, &hints)?;
        }
        give(comm.handle, newcomm, new)?;
        match by {
            Some(kind) if info.0 != infos::NULL => {
                let object = infos::get_changeable(info.0)?;
                object.lock().set("mpi_hw_resource_type", &format!("hwloc://{}", kind.name()))
            }
            _ => Ok(()),
        }
    }
}

entry! {
    Collective fn MPI_Intercomm_create(
        local_comm: Comm, local_leader: Rank, peer_comm: Comm, remote_leader: Rank, tag: Tag,
        newintercomm: Out<Comm>,
    ) on local_comm {
        let local = decode::intracomm("local_comm", local_comm)?;
        let leader = decode::rank_below("local_leader", local_leader, local.size());
        let tag = decode::tag(tag);
        let number = tag.as_ref().map_or(0, |tag| *tag);
        let peer = || {
            let comm = decode::named_comm("peer_comm", peer_comm)?;
            let rank = decode::rank_below("remote_leader", remote_leader, comm.peers())?;
            Ok(Peer { comm, rank })
        };
        let peer = match tag {
            Ok(_) if leader.as_ref().ok() == Some(&local.rank()) => peer().map(Some),
            tag => tag.map(|_| None),
        };
        let right = newintercomm.not_null();
        let new = constructors::intercomm_create(local, right, leader, peer, number)?;
        give(local.handle, newintercomm, Some(new))
    }
}

entry! {
    Collective fn MPI_Intercomm_create_from_groups(
        local_group: Group, local_leader: Rank, remote_group: Group, remote_leader: Rank,
        stringtag: Text, info: Info, errhandler: Errhandler, newintercomm: Out<Comm>,
    ) on errhandler {
        decode::running()?;
        let local = groups::get(local_group.0)?;
        let text = decode::stringtag(stringtag)?;
        let (hints, right) = without_parent(newintercomm, info, errhandler);
        if local.size() == 0 {
            right?;
            return give(local_group.0, newintercomm, None);
        }
        let leader = decode::rank_below("local_leader", local_leader, local.size());
        let member = leader.as_ref().ok().map(|leader| local.member(*leader));
        let is_leader = oxmpi::process::job().is_some_and(|job| member == Some(job.rank));
        let remote = || {
            let group = groups::get(remote_group.0)?;
            let other = decode::rank_below("remote_leader", remote_leader, group.size())?;
            Ok((group, other))
        };
        let remote = if is_leader { remote().map(Some) } else { Ok(None) };
        let new = constructors::intercomm_create_from_groups(
            local, right, leader, remote, &text, Attached::to(errhandler.0), Promises::of(&hints),
        )?;
        constructors::hints::give(new, &hints)?;
        give(local_group.0, newintercomm, Some(new))
    }
}

entry! {
    Collective fn MPI_Intercomm_merge(
        intercomm: Comm, high: Logical, newintracomm: Out<Comm>,
    ) on intercomm {
        let comm = decode::named_comm("intercomm", intercomm)?;
        let new = constructors::intercomm_merge(comm, newintracomm.not_null(), high.0 != 0)?;
        give(comm.handle, newintracomm, Some(new))
    }
}
