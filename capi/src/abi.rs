//! The standard ABI: integers for handles, versions, chapter 20.

use crate::param::*;
use crate::place::*;

stub! {
    None fn MPI_Abi_get_fortran_booleans(
        logical_size: Int, logical_true: LogicalBits, logical_false: LogicalBits,
        is_set: Out<Logical>,
    );

    None fn MPI_Abi_get_fortran_info(info: Out<Info>);

    None fn MPI_Abi_get_info(info: Out<Info>);

    None fn MPI_Abi_set_fortran_booleans(
        logical_size: Int, logical_true: LogicalBits, logical_false: LogicalBits,
    );

    None fn MPI_Abi_set_fortran_info(info: Info);
}

entry! {
    /// This library has MPICH's ABI, not the standard one; mpi4py asks before MPI_Init.
    None fn MPI_Abi_get_version(abi_major: Out<Int>, abi_minor: Out<Int>) {
        abi_major.set(Int(-1))?;
        abi_minor.set(Int(-1))
    }
}

// The integer of a handle is the handle.

entry! {
    None fn MPI_Comm_toint(comm: Comm) -> HandleInt {
        HandleInt(comm.0)
    }
}

entry! {
    None fn MPI_Comm_fromint(comm: HandleInt) -> Comm {
        Comm(comm.0)
    }
}

entry! {
    None fn MPI_Errhandler_toint(errhandler: Errhandler) -> HandleInt {
        HandleInt(errhandler.0)
    }
}

entry! {
    None fn MPI_Errhandler_fromint(errhandler: HandleInt) -> Errhandler {
        Errhandler(errhandler.0)
    }
}

entry! {
    None fn MPI_Group_toint(group: Group) -> HandleInt {
        HandleInt(group.0)
    }
}

entry! {
    None fn MPI_Group_fromint(group: HandleInt) -> Group {
        Group(group.0)
    }
}

entry! {
    None fn MPI_Info_toint(info: Info) -> HandleInt {
        HandleInt(info.0)
    }
}

entry! {
    None fn MPI_Info_fromint(info: HandleInt) -> Info {
        Info(info.0)
    }
}

entry! {
    None fn MPI_Message_toint(message: Message) -> HandleInt {
        HandleInt(message.0)
    }
}

entry! {
    None fn MPI_Message_fromint(message: HandleInt) -> Message {
        Message(message.0)
    }
}

entry! {
    None fn MPI_Op_toint(op: Op) -> HandleInt {
        HandleInt(op.0)
    }
}

entry! {
    None fn MPI_Op_fromint(op: HandleInt) -> Op {
        Op(op.0)
    }
}

entry! {
    None fn MPI_Request_toint(request: Request) -> HandleInt {
        HandleInt(request.0)
    }
}

entry! {
    None fn MPI_Request_fromint(request: HandleInt) -> Request {
        Request(request.0)
    }
}

entry! {
    None fn MPI_Session_toint(session: Session) -> HandleInt {
        HandleInt(session.0)
    }
}

entry! {
    None fn MPI_Session_fromint(session: HandleInt) -> Session {
        Session(session.0)
    }
}

entry! {
    None fn MPI_Type_toint(datatype: Datatype) -> HandleInt {
        HandleInt(datatype.0)
    }
}

entry! {
    None fn MPI_Type_fromint(datatype: HandleInt) -> Datatype {
        Datatype(datatype.0)
    }
}

entry! {
    None fn MPI_Win_toint(win: Win) -> HandleInt {
        HandleInt(win.0)
    }
}

entry! {
    None fn MPI_Win_fromint(win: HandleInt) -> Win {
        Win(win.0)
    }
}

entry! {
    /// A file handle is an address; there are no files yet.
    None fn MPI_File_toint(file: File) -> HandleInt {
        let _ = file;
        HandleInt(0)
    }
}

entry! {
    None fn MPI_File_fromint(file: HandleInt) -> File {
        let _ = file;
        File(std::ptr::null_mut())
    }
}
