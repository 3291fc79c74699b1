//! Size, rank, group, name and hints of a communicator.

use crate::constants::{MPI_COMM_NULL, MPI_MAX_OBJECT_NAME};
use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::error::{Class, Result};
use oxmpi::{fail, group, info};
use std::sync::Arc;

entry! {
    fn MPI_Comm_size(comm: Comm, size: Out<Int>) on comm {
        let comm = decode::comm(comm)?;
        size.set(Int(comm.size()))
    }
}

entry! {
    fn MPI_Comm_rank(comm: Comm, rank: Out<Rank>) on comm {
        let comm = decode::comm(comm)?;
        rank.set(Rank(comm.rank()))
    }
}

entry! {
    fn MPI_Comm_test_inter(comm: Comm, flag: Out<Logical>) on comm {
        let comm = decode::comm(comm)?;
        // There are no intercommunicators yet.
        let _ = comm;
        flag.put_bool(false)
    }
}

entry! {
    fn MPI_Comm_get_name(comm: Comm, comm_name: TextOut, resultlen: Out<Int>) on comm {
        let name = match comm.0 {
            MPI_COMM_NULL => "MPI_COMM_NULL".to_owned(),
            _ => decode::comm(comm)?.name(),
        };
        let length = comm_name.write(&name, MPI_MAX_OBJECT_NAME as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    fn MPI_Comm_set_name(comm: Comm, comm_name: Text) on comm {
        let comm = decode::comm(comm)?;
        let mut name = decode::text("comm_name", comm_name)?;
        decode::shorten(&mut name, MPI_MAX_OBJECT_NAME as usize);
        comm.set_name(&name);
        Ok(())
    }
}

entry! {
    fn MPI_Comm_group(comm: Comm, group: Out<Group>) on comm {
        group.not_null()?;
        let object = Arc::new(group_of(decode::comm(comm)?));
        group.set(Group(group::create(object)?))
    }
}

entry! {
    /// All hints that were given: none is refused, and nothing depends on any yet.
    fn MPI_Comm_get_info(comm: Comm, info_used: Out<Info>) on comm {
        info_used.not_null()?;
        let hints = decode::comm(comm)?.info.lock().clone();
        info_used.set(Info(info::create(hints)?))
    }
}

entry! {
    fn MPI_Comm_set_info(comm: Comm, info: Info) on comm {
        let comm = decode::comm(comm)?;
        let new = info::hints(info.0)?;
        let mut hints = comm.info.lock();
        for (key, value) in new.entries() {
            hints.set(key, value)?;
        }
        Ok(())
    }
}

/// The processes of a communicator.
fn group_of(comm: &CommObject) -> group::Group {
    let members = (0..comm.size()).map(|rank| comm.world(rank));
    group::Group::new(members.collect::<Vec<u32>>())
}

entry! {
    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: Out<Comparison>) on comm1 {
        result.not_null()?;
        let first = decode::named_comm("comm1", comm1)?;
        let second = decode::named_comm("comm2", comm2)?;
        let how = match group_of(first).compare(&group_of(second)) {
            group::Comparison::Identical if comm1 != comm2 => group::Comparison::Congruent,
            how => how,
        };
        result.set(Comparison(how as i32))
    }
}

/// There are no intercommunicators yet.
fn no_remote_group(comm: Comm) -> Result<()> {
    let comm = decode::comm(comm)?;
    fail!(
        Class::Comm,
        "comm is {}, which is no intercommunicator",
        comm.name()
    )
}

entry! {
    fn MPI_Comm_remote_group(comm: Comm, group: Out<Group>) on comm {
        group.not_null()?;
        no_remote_group(comm)
    }
}

entry! {
    fn MPI_Comm_remote_size(comm: Comm, size: Out<Int>) on comm {
        size.not_null()?;
        no_remote_group(comm)
    }
}
