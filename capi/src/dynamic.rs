//! Processes that come later: spawn, connect, accept.

use crate::decode;
use crate::param::*;
use crate::place::*;

entry! {
    /// No process is spawned yet, so none has a parent.
    fn MPI_Comm_get_parent(parent: Out<Comm>) {
        decode::running()?;
        parent.set(Comm(oxmpi::comm::NULL))
    }
}

stub! {
    fn MPI_Close_port(port_name: Text);

    fn MPI_Comm_accept(
        port_name: Text, info: Info, root: Root, comm: Comm, newcomm: Out<Comm>,
    ) on comm;

    fn MPI_Comm_connect(
        port_name: Text, info: Info, root: Root, comm: Comm, newcomm: Out<Comm>,
    ) on comm;

    fn MPI_Comm_join(fd: Int, intercomm: Out<Comm>);

    fn MPI_Comm_spawn(
        command: Text, argv: TextArray, maxprocs: Int, info: Info, root: Root, comm: Comm,
        intercomm: Out<Comm>, array_of_errcodes: OutArray<ErrorCode>,
    ) on comm;

    fn MPI_Comm_spawn_multiple(
        count: Int, array_of_commands: TextArray, array_of_argv: TextArrays,
        array_of_maxprocs: Array<Int>, array_of_info: Array<Info>, root: Root, comm: Comm,
        intercomm: Out<Comm>, array_of_errcodes: OutArray<ErrorCode>,
    ) on comm;

    fn MPI_Lookup_name(service_name: Text, info: Info, port_name: TextOut);

    fn MPI_Open_port(info: Info, port_name: TextOut);

    fn MPI_Publish_name(service_name: Text, info: Info, port_name: Text);

    fn MPI_Unpublish_name(service_name: Text, info: Info, port_name: Text);
}
