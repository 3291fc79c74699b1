//! Constructors and destructor of communicators, intercommunicators included.

use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::comm::{self as communicator, Comm as CommObject};
use oxmpi::constructors;
use oxmpi::errhandler;
use oxmpi::error::{Class, Result};
use oxmpi::fail;

/// A duplicate with the attributes that their copy callbacks give it.
fn duplicate(comm: &CommObject) -> Result<&'static CommObject> {
    let new = constructors::dup(comm)?;
    if let Err(error) = comm.attributes.copy_to(comm.handle, &new.attributes) {
        // What was copied is deleted again; the first error is the one to report.
        let _ = new.attributes.delete_all(new.handle);
        errhandler::release(new.errhandler());
        constructors::free(new);
        return Err(error);
    }
    Ok(new)
}

entry! {
    fn MPI_Comm_dup(comm: Comm, newcomm: Out<Comm>) on comm {
        newcomm.not_null()?;
        newcomm.set(Comm(duplicate(decode::comm(comm)?)?.handle))
    }
}

entry! {
    fn MPI_Comm_free(comm: InOut<Comm>) on comm {
        let object = decode::comm(comm.read()?)?;
        if object.handle == communicator::WORLD || object.handle == communicator::SELF {
            return fail!(Class::Comm, "comm is {}, which cannot be freed", object.name());
        }
        object.attributes.delete_all(object.handle)?;
        errhandler::release(object.errhandler());
        constructors::free(object);
        comm.set(Comm(communicator::NULL))
    }
}

entry! {
    fn MPI_Comm_dup_with_info(comm: Comm, info: Info, newcomm: Out<Comm>) on comm {
        newcomm.not_null()?;
        let comm = decode::comm(comm)?;
        let hints = oxmpi::info::hints(info.0)?;
        let new = duplicate(comm)?;
        *new.info.lock() = hints;
        newcomm.set(Comm(new.handle))
    }
}

stub! {
    fn MPI_Comm_create(comm: Comm, group: Group, newcomm: Out<Comm>) on comm;

    fn MPI_Comm_create_from_group(
        group: Group, stringtag: Text, info: Info, errhandler: Errhandler, newcomm: Out<Comm>,
    );

    fn MPI_Comm_create_group(comm: Comm, group: Group, tag: Tag, newcomm: Out<Comm>) on comm;

    fn MPI_Comm_idup(comm: Comm, newcomm: Out<Comm>, request: Out<Request>) on comm;

    fn MPI_Comm_idup_with_info(
        comm: Comm, info: Info, newcomm: Out<Comm>, request: Out<Request>,
    ) on comm;

    fn MPI_Comm_split(comm: Comm, color: Color, key: Int, newcomm: Out<Comm>) on comm;

    fn MPI_Comm_split_type(
        comm: Comm, split_type: SplitType, key: Int, info: Info, newcomm: Out<Comm>,
    ) on comm;

    fn MPI_Intercomm_create(
        local_comm: Comm, local_leader: Rank, peer_comm: Comm, remote_leader: Rank, tag: Tag,
        newintercomm: Out<Comm>,
    ) on local_comm;

    fn MPI_Intercomm_create_from_groups(
        local_group: Group, local_leader: Rank, remote_group: Group, remote_leader: Rank,
        stringtag: Text, info: Info, errhandler: Errhandler, newintercomm: Out<Comm>,
    );

    fn MPI_Intercomm_merge(intercomm: Comm, high: Logical, newintracomm: Out<Comm>) on intercomm;
}
