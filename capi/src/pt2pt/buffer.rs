//! Buffers for buffered sends: of the process, a communicator, a session.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Buffer_attach[_c](buffer: Memory, size: Count);

    fn MPI_Buffer_detach[_c](buffer_addr: AddressOut, size: Out<Count>);

    fn MPI_Buffer_flush();

    fn MPI_Buffer_iflush(request: Out<Request>);

    fn MPI_Comm_attach_buffer[_c](comm: Comm, buffer: Memory, size: Count) on comm;

    fn MPI_Comm_detach_buffer[_c](comm: Comm, buffer_addr: AddressOut, size: Out<Count>) on comm;

    fn MPI_Comm_flush_buffer(comm: Comm) on comm;

    fn MPI_Comm_iflush_buffer(comm: Comm, request: Out<Request>) on comm;

    fn MPI_Session_attach_buffer[_c](session: Session, buffer: Memory, size: Count) on session;

    fn MPI_Session_detach_buffer[_c](
        session: Session, buffer_addr: AddressOut, size: Out<Count>,
    ) on session;

    fn MPI_Session_flush_buffer(session: Session) on session;

    fn MPI_Session_iflush_buffer(session: Session, request: Out<Request>) on session;
}
