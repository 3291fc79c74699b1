//! Error handlers of communicators, windows, files and sessions.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Comm_call_errhandler(comm: Comm, errorcode: ErrorCode) on comm;

    fn MPI_Comm_create_errhandler(
        comm_errhandler_fn: CommErrhandlerFunction, errhandler: Out<Errhandler>,
    );

    fn MPI_Comm_get_errhandler(comm: Comm, errhandler: Out<Errhandler>) on comm;

    fn MPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler) on comm;

    fn MPI_File_call_errhandler(fh: File, errorcode: ErrorCode) on fh;

    fn MPI_File_create_errhandler(
        file_errhandler_fn: FileErrhandlerFunction, errhandler: Out<Errhandler>,
    );

    fn MPI_File_get_errhandler(file: File, errhandler: Out<Errhandler>) on file;

    fn MPI_File_set_errhandler(file: File, errhandler: Errhandler) on file;

    fn MPI_Session_call_errhandler(session: Session, errorcode: ErrorCode) on session;

    fn MPI_Session_create_errhandler(
        session_errhandler_fn: SessionErrhandlerFunction, errhandler: Out<Errhandler>,
    );

    fn MPI_Session_get_errhandler(session: Session, errhandler: Out<Errhandler>) on session;

    fn MPI_Session_set_errhandler(session: Session, errhandler: Errhandler) on session;

    fn MPI_Win_call_errhandler(win: Win, errorcode: ErrorCode) on win;

    fn MPI_Win_create_errhandler(
        win_errhandler_fn: WinErrhandlerFunction, errhandler: Out<Errhandler>,
    );

    fn MPI_Win_get_errhandler(win: Win, errhandler: Out<Errhandler>) on win;

    fn MPI_Win_set_errhandler(win: Win, errhandler: Errhandler) on win;

    fn MPI_Errhandler_free(errhandler: InOut<Errhandler>);
}
