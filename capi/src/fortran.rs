//! Conversion of handles and statuses to and from Fortran, chapter 19.

use crate::data;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{Class, Result};
use oxmpi::{fail, io};

// A Fortran handle has the same value as a C handle, because both are integers.

entry! {
    None fn MPI_Comm_c2f(comm: Comm) -> Fint {
        Fint(comm.0)
    }
}

entry! {
    None fn MPI_Comm_f2c(comm: Fint) -> Comm {
        Comm(comm.0)
    }
}

entry! {
    None fn MPI_Errhandler_c2f(errhandler: Errhandler) -> Fint {
        Fint(errhandler.0)
    }
}

entry! {
    None fn MPI_Errhandler_f2c(errhandler: Fint) -> Errhandler {
        Errhandler(errhandler.0)
    }
}

entry! {
    None fn MPI_Group_c2f(group: Group) -> Fint {
        Fint(group.0)
    }
}

entry! {
    None fn MPI_Group_f2c(group: Fint) -> Group {
        Group(group.0)
    }
}

entry! {
    None fn MPI_Info_c2f(info: Info) -> Fint {
        Fint(info.0)
    }
}

entry! {
    None fn MPI_Info_f2c(info: Fint) -> Info {
        Info(info.0)
    }
}

entry! {
    None fn MPI_Message_c2f(message: Message) -> Fint {
        Fint(message.0)
    }
}

entry! {
    None fn MPI_Message_f2c(message: Fint) -> Message {
        Message(message.0)
    }
}

entry! {
    None fn MPI_Op_c2f(op: Op) -> Fint {
        Fint(op.0)
    }
}

entry! {
    None fn MPI_Op_f2c(op: Fint) -> Op {
        Op(op.0)
    }
}

entry! {
    None fn MPI_Request_c2f(request: Request) -> Fint {
        Fint(request.0)
    }
}

entry! {
    None fn MPI_Request_f2c(request: Fint) -> Request {
        Request(request.0)
    }
}

entry! {
    None fn MPI_Session_c2f(session: Session) -> Fint {
        Fint(session.0)
    }
}

entry! {
    None fn MPI_Session_f2c(session: Fint) -> Session {
        Session(session.0)
    }
}

entry! {
    None fn MPI_Type_c2f(datatype: Datatype) -> Fint {
        Fint(datatype.0)
    }
}

entry! {
    None fn MPI_Type_f2c(datatype: Fint) -> Datatype {
        Datatype(datatype.0)
    }
}

entry! {
    None fn MPI_Win_c2f(win: Win) -> Fint {
        Fint(win.0)
    }
}

entry! {
    None fn MPI_Win_f2c(win: Fint) -> Win {
        Win(win.0)
    }
}

entry! {
    /// A file handle is a pointer for C; Fortran knows it by a number, 0 being MPI_FILE_NULL.
    None fn MPI_File_c2f(file: File) -> Fint {
        Fint(io::handle_of(file.0 as usize))
    }
}

entry! {
    None fn MPI_File_f2c(file: Fint) -> File {
        File::of_handle(file.0)
    }
}

/// A status to convert.
///
/// Errors: MPI_ERR_ARG for MPI_STATUS_IGNORE, which has none.
fn given(status: In<Status>) -> Result<Status> {
    if status.address() as usize == crate::results::STATUS_IGNORE {
        return fail!(Class::Arg, "c_status is MPI_STATUS_IGNORE");
    }
    status.read()
}

/// As [`given`], of Fortran 2008.
fn given_f08(status: In<F08Status>) -> Result<F08Status> {
    if std::ptr::eq(status.address().cast(), data::F08_STATUS_IGNORE.0) {
        return fail!(Class::Arg, "f08_status is MPI_F08_STATUS_IGNORE");
    }
    status.read()
}

// The five words of a status are the same in all languages.

entry! {
    None fn MPI_Status_c2f(c_status: In<Status>, f_status: Out<Fint>) {
        decode::status_to_words(given(c_status)?.0, f_status)
    }
}

entry! {
    None fn MPI_Status_c2f08(c_status: In<Status>, f08_status: Out<F08Status>) {
        f08_status.set(F08Status(given(c_status)?.0))
    }
}

entry! {
    None fn MPI_Status_f082c(f08_status: In<F08Status>, c_status: Out<Status>) {
        c_status.set(Status(given_f08(f08_status)?.0))
    }
}

entry! {
    None fn MPI_Status_f082f(f08_status: In<F08Status>, f_status: Out<Fint>) {
        decode::status_to_words(given_f08(f08_status)?.0, f_status)
    }
}

entry! {
    None fn MPI_Status_f2c(f_status: In<Fint>, c_status: Out<Status>) {
        c_status.set(Status(decode::status_of_words(f_status)?))
    }
}

entry! {
    None fn MPI_Status_f2f08(f_status: In<Fint>, f08_status: Out<F08Status>) {
        f08_status.set(F08Status(decode::status_of_words(f_status)?))
    }
}
