//! Processes that come later: spawn, connect, accept.

use crate::decode;
use crate::param::*;
use crate::pointers::*;

entry! {
    /// No process is spawned yet, so none has a parent.
    UpdateRef fn MPI_Comm_get_parent(parent: Out<Comm>) {
        decode::running()?;
        parent.set(Comm(oxmpi::comm::NULL))
    }
}

stub! {
    Own fn MPI_Close_port(port_name: Text);

    Collective fn MPI_Comm_accept(
        port_name: Text, info: Info, root: Root, comm: Comm, newcomm: Out<Comm>,
    ) on comm;

    Collective fn MPI_Comm_connect(
        port_name: Text, info: Info, root: Root, comm: Comm, newcomm: Out<Comm>,
    ) on comm;

    Collective fn MPI_Comm_join(fd: Int, intercomm: Out<Comm>);

    Collective fn MPI_Comm_spawn(
        command: Text, argv: TextArray, maxprocs: Int, info: Info, root: Root, comm: Comm,
        intercomm: Out<Comm>, array_of_errcodes: OutArray<ErrorCode>,
    ) on comm;

    Collective fn MPI_Comm_spawn_multiple(
        count: Int, array_of_commands: TextArray, array_of_argv: TextArrays,
        array_of_maxprocs: Array<Int>, array_of_info: Array<Info>, root: Root, comm: Comm,
        intercomm: Out<Comm>, array_of_errcodes: OutArray<ErrorCode>,
    ) on comm;

    Own fn MPI_Lookup_name(service_name: Text, info: Info, port_name: TextOut);

    Own fn MPI_Open_port(info: Info, port_name: TextOut);

    Own fn MPI_Publish_name(service_name: Text, info: Info, port_name: Text);

    Own fn MPI_Unpublish_name(service_name: Text, info: Info, port_name: Text);
}
