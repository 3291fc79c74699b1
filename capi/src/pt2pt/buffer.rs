//! Buffers for buffered sends: of the process, a communicator, a session.

use crate::addresses::BUFFER_AUTOMATIC;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::datatype::Buffer;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::process::session as core;
use oxmpi::pt2pt::buffered::{self, Scope};

fn attach(scope: Scope, buffer: Memory, size: Count) -> Result<()> {
    let Ok(bytes) = u64::try_from(size.0) else {
        return fail!(Class::Arg, "size is {}; it must not be negative", size.0);
    };
    if buffer.0 as usize == BUFFER_AUTOMATIC {
        return buffered::attach(scope, None);
    }
    if buffer.0.is_null() && bytes > 0 {
        return fail!(Class::Buffer, "buffer is NULL, but {bytes} bytes are meant");
    }
    // SAFETY: the program leaves the memory to the library until it detaches it.
    let memory = unsafe { Buffer::bytes(buffer.0.cast(), bytes as usize) };
    buffered::attach(scope, Some(memory))
}

fn detach(scope: Scope, address: AddressOut, size: Out<Count>) -> Result<()> {
    size.not_null()?;
    address.not_null()?;
    // Without one it is as if a buffer of no bytes were attached (MPI 5.0, 3.6).
    let (buffer, bytes) = buffered::detach(scope)?.unwrap_or((0, 0));
    let buffer = match buffer {
        buffered::AUTOMATIC => BUFFER_AUTOMATIC,
        buffer => buffer,
    };
    address.write(buffer as *mut std::ffi::c_void)?;
    size.set(Count(bytes as i64))
}

entry! {
    Own fn MPI_Buffer_attach[_c](buffer: Memory, size: Count) {
        decode::running()?;
        attach(Scope::Process, buffer, size)
    }
}

entry! {
    Own fn MPI_Buffer_detach[_c](buffer_addr: AddressOut, size: Out<Count>) {
        decode::running()?;
        detach(Scope::Process, buffer_addr, size)
    }
}

entry! {
    Own fn MPI_Buffer_flush() {
        decode::running()?;
        buffered::flush(Scope::Process)
    }
}

entry! {
    Own fn MPI_Comm_attach_buffer[_c](comm: Comm, buffer: Memory, size: Count) on comm {
        let comm = decode::any_comm(comm)?;
        attach(Scope::Comm(comm.handle), buffer, size)
    }
}

entry! {
    Own fn MPI_Comm_detach_buffer[_c](comm: Comm, buffer_addr: AddressOut, size: Out<Count>) on comm {
        let comm = decode::any_comm(comm)?;
        detach(Scope::Comm(comm.handle), buffer_addr, size)
    }
}

entry! {
    Own fn MPI_Comm_flush_buffer(comm: Comm) on comm {
        let comm = decode::any_comm(comm)?;
        buffered::flush(Scope::Comm(comm.handle))
    }
}

entry! {
    Own fn MPI_Buffer_iflush(request: Out<Request>) {
        decode::running()?;
        request.not_null()?;
        request.set(Request(buffered::iflush(Scope::Process)?))
    }
}

entry! {
    Own fn MPI_Comm_iflush_buffer(comm: Comm, request: Out<Request>) on comm {
        let comm = decode::any_comm(comm)?;
        request.not_null()?;
        request.set(Request(buffered::iflush(Scope::Comm(comm.handle))?))
    }
}

/// The buffers of a session. Messages are sent only while MPI is running.
fn of_session(session: Session) -> Result<Scope> {
    core::get(session.0)?;
    decode::running()?;
    Ok(Scope::Session(session.0))
}

entry! {
    Own fn MPI_Session_attach_buffer[_c](session: Session, buffer: Memory, size: Count) on session {
        attach(of_session(session)?, buffer, size)
    }
}

entry! {
    Own fn MPI_Session_detach_buffer[_c](
        session: Session, buffer_addr: AddressOut, size: Out<Count>,
    ) on session {
        detach(of_session(session)?, buffer_addr, size)
    }
}

entry! {
    Own fn MPI_Session_flush_buffer(session: Session) on session {
        buffered::flush(of_session(session)?)
    }
}

entry! {
    Own fn MPI_Session_iflush_buffer(session: Session, request: Out<Request>) on session {
        request.not_null()?;
        request.set(Request(buffered::iflush(of_session(session)?)?))
    }
}
