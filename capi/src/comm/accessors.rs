//! Size, rank, group, name and hints of a communicator.

use crate::constants::MPI_MAX_OBJECT_NAME;
use crate::decode;
use crate::param::*;
use crate::place::*;

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
        let comm = decode::comm(comm)?;
        let length = comm_name.write(&comm.name(), MPI_MAX_OBJECT_NAME as usize)?;
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

stub! {
    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: Out<Comparison>) on comm1;

    fn MPI_Comm_get_info(comm: Comm, info_used: Out<Info>) on comm;

    fn MPI_Comm_group(comm: Comm, group: Out<Group>) on comm;

    fn MPI_Comm_remote_group(comm: Comm, group: Out<Group>) on comm;

    fn MPI_Comm_remote_size(comm: Comm, size: Out<Int>) on comm;

    fn MPI_Comm_set_info(comm: Comm, info: Info) on comm;
}
