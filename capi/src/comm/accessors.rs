//! Size, rank, group, name and hints of a communicator.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: Out<Comparison>) on comm1;

    fn MPI_Comm_get_info(comm: Comm, info_used: Out<Info>) on comm;

    fn MPI_Comm_get_name(comm: Comm, comm_name: TextOut, resultlen: Out<Int>) on comm;

    fn MPI_Comm_group(comm: Comm, group: Out<Group>) on comm;

    fn MPI_Comm_rank(comm: Comm, rank: Out<Rank>) on comm;

    fn MPI_Comm_remote_group(comm: Comm, group: Out<Group>) on comm;

    fn MPI_Comm_remote_size(comm: Comm, size: Out<Int>) on comm;

    fn MPI_Comm_set_info(comm: Comm, info: Info) on comm;

    fn MPI_Comm_set_name(comm: Comm, comm_name: Text) on comm;

    fn MPI_Comm_size(comm: Comm, size: Out<Int>) on comm;

    fn MPI_Comm_test_inter(comm: Comm, flag: Out<Logical>) on comm;
}
