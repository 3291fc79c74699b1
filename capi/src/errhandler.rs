//! Error handlers of communicators, windows, files and sessions.

use crate::callback::ErrhandlerFunction;
use crate::decode;
use crate::error_return::{self, FILES};
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::errhandler::{self as core, Attached, Target};
use oxmpi::error::{Class, Error, Result, is_code};
use oxmpi::fail;
use oxmpi::process::session;

pub fn set_on_comm(comm: &CommObject, errhandler: Errhandler) -> Result<()> {
    core::check(errhandler.0, Target::Comm)?;
    comm.errhandler.set(errhandler.0);
    Ok(())
}

pub fn get_of_comm(comm: &CommObject, errhandler: Out<Errhandler>) -> Result<()> {
    errhandler.not_null()?;
    errhandler.set(Errhandler(comm.errhandler.give()))
}

pub fn create_for_comm(
    function: CommErrhandlerFunction,
    errhandler: Out<Errhandler>,
) -> Result<()> {
    errhandler.not_null()?;
    let function = ErrhandlerFunction::boxed(Target::Comm, function.0)?;
    errhandler.set(Errhandler(core::create(Target::Comm, function)?))
}

fn check_code(code: ErrorCode) -> Result<Error> {
    if !is_code(code.0) {
        return fail!(
            Class::Arg,
            "errorcode is {}, which is no error code",
            code.to_c()
        );
    }
    Ok(Error::from_code(code.0))
}

entry! {
    Own fn MPI_Comm_call_errhandler(comm: Comm, errorcode: ErrorCode) on comm {
        let object = decode::any_comm(comm)?;
        let error = check_code(errorcode)?;
        let call = format!("MPI_Comm_call_errhandler({}, {})", object.title_of_argument(), errorcode.to_c());
        error_return::call_handler(object.errhandler.action(), object.handle as usize, Some(&object.title()), &call, &error);
        Ok(())
    }
}

entry! {
    Allocate fn MPI_Comm_create_errhandler(
        comm_errhandler_fn: CommErrhandlerFunction, errhandler: Out<Errhandler>,
    ) {
        create_for_comm(comm_errhandler_fn, errhandler)
    }
}

entry! {
    UpdateRef fn MPI_Comm_get_errhandler(comm: Comm, errhandler: Out<Errhandler>) on comm {
        get_of_comm(decode::any_comm(comm)?, errhandler)
    }
}

entry! {
    UpdateRef fn MPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler) on comm {
        set_on_comm(decode::any_comm(comm)?, errhandler)
    }
}

/// The handler of a file, or of MPI_FILE_NULL.
fn of_file(name: &'static str, file: File) -> Result<&'static Attached> {
    match file.0.is_null() {
        true => Ok(&FILES),
        false => decode::named_file(name, file).map(|file| &file.errhandler),
    }
}

entry! {
    Own fn MPI_File_call_errhandler(fh: File, errorcode: ErrorCode) on fh {
        let handler = of_file("fh", fh)?;
        let error = check_code(errorcode)?;
        let name = fh.find().map_or_else(|| "MPI_FILE_NULL".to_owned(), |file| file.title());
        let call = format!("MPI_File_call_errhandler({name}, {})", errorcode.to_c());
        error_return::call_handler(handler.action(), fh.0 as usize, Some(&name), &call, &error);
        Ok(())
    }
}

entry! {
    Allocate fn MPI_File_create_errhandler(
        file_errhandler_fn: FileErrhandlerFunction, errhandler: Out<Errhandler>,
    ) {
        errhandler.not_null()?;
        let function = ErrhandlerFunction::boxed(Target::File, file_errhandler_fn.0)?;
        errhandler.set(Errhandler(core::create(Target::File, function)?))
    }
}

entry! {
    UpdateRef fn MPI_File_get_errhandler(file: File, errhandler: Out<Errhandler>) on file {
        errhandler.not_null()?;
        errhandler.set(Errhandler(of_file("file", file)?.give()))
    }
}

entry! {
    UpdateRef fn MPI_File_set_errhandler(file: File, errhandler: Errhandler) on file {
        let handler = of_file("file", file)?;
        core::check(errhandler.0, Target::File)?;
        handler.set(errhandler.0);
        Ok(())
    }
}

entry! {
    Allocate fn MPI_Session_create_errhandler(
        session_errhandler_fn: SessionErrhandlerFunction, errhandler: Out<Errhandler>,
    ) {
        errhandler.not_null()?;
        let function = ErrhandlerFunction::boxed(Target::Session, session_errhandler_fn.0)?;
        errhandler.set(Errhandler(core::create(Target::Session, function)?))
    }
}

entry! {
    Allocate fn MPI_Win_create_errhandler(
        win_errhandler_fn: WinErrhandlerFunction, errhandler: Out<Errhandler>,
    ) {
        errhandler.not_null()?;
        let function = ErrhandlerFunction::boxed(Target::Win, win_errhandler_fn.0)?;
        errhandler.set(Errhandler(core::create(Target::Win, function)?))
    }
}

entry! {
    UpdateRef fn MPI_Errhandler_free(errhandler: InOut<Errhandler>) {
        core::free(errhandler.read()?.0)?;
        errhandler.set(Errhandler(core::NULL))
    }
}

entry! {
    Own fn MPI_Session_call_errhandler(session: Session, errorcode: ErrorCode) on session {
        let object = session::get(session.0)?;
        let error = check_code(errorcode)?;
        let call = format!("MPI_Session_call_errhandler({:#x}, {})", session.0, errorcode.to_c());
        error_return::call_handler(object.errhandler.action(), session.0 as usize, None, &call, &error);
        Ok(())
    }
}

entry! {
    UpdateRef fn MPI_Session_get_errhandler(session: Session, errhandler: Out<Errhandler>) on session {
        errhandler.not_null()?;
        errhandler.set(Errhandler(session::get(session.0)?.errhandler.give()))
    }
}

entry! {
    UpdateRef fn MPI_Session_set_errhandler(session: Session, errhandler: Errhandler) on session {
        session::get(session.0)?.set_errhandler(errhandler.0)
    }
}

entry! {
    Own fn MPI_Win_call_errhandler(win: Win, errorcode: ErrorCode) on win {
        let object = decode::win(win)?;
        let error = check_code(errorcode)?;
        let call = format!("MPI_Win_call_errhandler({:#010x}, {})", win.0, errorcode.to_c());
        error_return::call_handler(object.errhandler.action(), win.0 as usize, Some(&object.title()), &call, &error);
        Ok(())
    }
}

entry! {
    UpdateRef fn MPI_Win_get_errhandler(win: Win, errhandler: Out<Errhandler>) on win {
        errhandler.not_null()?;
        errhandler.set(Errhandler(decode::win(win)?.errhandler.give()))
    }
}

entry! {
    UpdateRef fn MPI_Win_set_errhandler(win: Win, errhandler: Errhandler) on win {
        let object = decode::win(win)?;
        core::check(errhandler.0, Target::Win)?;
        object.errhandler.set(errhandler.0);
        Ok(())
    }
}
