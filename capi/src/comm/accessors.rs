//! Size, rank, group, name and hints of a communicator.

use crate::constants::{MPI_COMM_NULL, MPI_MAX_OBJECT_NAME};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Members;
use oxmpi::error::{Class, Result};
use oxmpi::group::Group as GroupObject;
use oxmpi::pt2pt::origin;
use oxmpi::{constructors, fail, group, info};
use std::sync::Arc;

entry! {
    AccessOnly fn MPI_Comm_size(comm: Comm, size: Out<Int>) on comm {
        let comm = decode::any_comm(comm)?;
        size.set(Int(comm.size()))
    }
}

entry! {
    AccessOnly fn MPI_Comm_rank(comm: Comm, rank: Out<Rank>) on comm {
        let comm = decode::any_comm(comm)?;
        rank.set(Rank(comm.rank()))
    }
}

entry! {
    AccessOnly fn MPI_Comm_test_inter(comm: Comm, flag: Out<Logical>) on comm {
        flag.put_bool(decode::any_comm(comm)?.is_inter())
    }
}

entry! {
    AccessOnly fn MPI_Comm_get_name(comm: Comm, comm_name: TextOut, resultlen: Out<Int>) on comm {
        let name = match comm.0 {
            MPI_COMM_NULL => "MPI_COMM_NULL".to_owned(),
            _ => decode::any_comm(comm)?.name(),
        };
        let length = comm_name.write(&name, MPI_MAX_OBJECT_NAME as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    AccessOnly fn MPI_Comm_set_name(comm: Comm, comm_name: Text) on comm {
        let comm = decode::any_comm(comm)?;
        let mut name = decode::text("comm_name", comm_name)?;
        decode::shorten(&mut name, MPI_MAX_OBJECT_NAME as usize);
        comm.set_name(&name);
        Ok(())
    }
}

/// A new group, of the session that the communicator comes from.
pub fn give_group(comm: Comm, members: Arc<GroupObject>, out: Out<Group>) -> Result<()> {
    let handle = group::create(members)?;
    origin::inherit(comm.0, handle);
    out.set(Group(handle))
}

entry! {
    UpdateRef fn MPI_Comm_group(comm: Comm, group: Out<Group>) on comm {
        group.not_null()?;
        let members = decode::any_comm(comm)?.members().group();
        give_group(comm, members, group)
    }
}

entry! {
    Allocate fn MPI_Comm_get_info(comm: Comm, info_used: Out<Info>) on comm {
        info_used.not_null()?;
        let hints = constructors::hints::in_use(decode::any_comm(comm)?)?;
        info_used.set(Info(info::create(hints)?))
    }
}

entry! {
    UpdateList fn MPI_Comm_set_info(comm: Comm, info: Info) on comm {
        let comm = decode::any_comm(comm)?;
        constructors::hints::set(comm, &info::hints(info.0)?)
    }
}

entry! {
    AccessOnly fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: Out<Comparison>) on comm1 {
        result.not_null()?;
        let first = decode::named_any_comm("comm1", comm1)?;
        let second = decode::named_any_comm("comm2", comm2)?;
        result.set(Comparison(first.compare(second) as i32))
    }
}

/// The remote group of an intercommunicator.
fn remote(comm: Comm) -> Result<&'static Members> {
    let comm = decode::any_comm(comm)?;
    match comm.remote() {
        Some(remote) => Ok(remote),
        None => fail!(
            Class::Comm,
            "comm is {}, which is no intercommunicator",
            comm.title()
        ),
    }
}

entry! {
    UpdateRef fn MPI_Comm_remote_group(comm: Comm, group: Out<Group>) on comm {
        group.not_null()?;
        give_group(comm, remote(comm)?.group(), group)
    }
}

entry! {
    AccessOnly fn MPI_Comm_remote_size(comm: Comm, size: Out<Int>) on comm {
        size.set(Int(remote(comm)?.size()))
    }
}
