//! Accept, connect and join.

use super::meeting::{Codes, Side, opening};
use super::port::{self, Deadline, Socket};
use super::{job, seconds_in};
use crate::coll::CollContext;
use crate::comm::{self, Comm, Maker};
use crate::constructors::one_leader;
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::os::addresses;
use crate::os::process::duplicate;
use std::net::TcpStream;

/// MPI_Comm_accept. `port`: name and info, which only the root has.
///
/// Errors: on all ranks, MPI_ERR_PORT if the root has not opened the port, or nobody connects in the time that the info key `timeout`
/// gives (seconds; without it the call waits), a rank of `comm` dies before, and those of a meeting.
pub fn accept(
    comm: &Comm,
    root: Result<i32>,
    port: Result<Option<(String, Info)>>,
) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Comm_accept";
    let (side, port) = begin(comm, root, port, (FUNCTION, Maker::Accept))?;
    let opening = port.map(|(name, info)| {
        let all_live = side.all_live();
        opening(move || {
            let deadline = seconds_in(&info, "timeout")?.map(Deadline::after);
            port::find(&name)?.accept(deadline, all_live)
        })
    });
    side.meet(opening, &mut Codes::new())
}

/// MPI_Comm_connect. `port`: name and info, which only the root has.
///
/// Errors: on all ranks, MPI_ERR_PORT if there is no such port or nobody accepts in the time that the info key `timeout` gives (seconds;
/// else `MPIR_CVAR_CH4_COMM_CONNECT_TIMEOUT`), a rank of `comm` dies before, and those of a meeting.
pub fn connect(
    comm: &Comm,
    root: Result<i32>,
    port: Result<Option<(String, Info)>>,
) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Comm_connect";
    let (side, port) = begin(comm, root, port, (FUNCTION, Maker::Connect))?;
    let opening = port.map(|(name, info)| {
        let all_live = side.all_live();
        opening(move || {
            let seconds = seconds_in(&info, "timeout")?;
            let seconds = seconds.unwrap_or(super::CONNECT_TIMEOUT.get() as f64);
            port::connect(&name, Deadline::after(seconds), all_live)
        })
    });
    side.meet(opening, &mut Codes::new())
}

/// Agrees on the root, and on whether all have right arguments.
pub(super) fn begin<'a, T>(
    comm: &'a Comm,
    root: Result<i32>,
    at_root: Result<Option<T>>,
    (function, made): (&'static str, Maker),
) -> Result<(Side<'a>, Option<T>)> {
    let own = CollContext::new(comm, function);
    let (at_root, right) = match at_root {
        Ok(at_root) => (at_root, Ok(())),
        Err(error) => (None, Err(error)),
    };
    let agreed = one_leader(&own, &right, &root, "root");
    right?;
    root?;
    let (root, good) = agreed?;
    if !good {
        return fail!(
            Class::Other,
            "another rank of {} had a wrong argument, so nothing was done",
            comm.title()
        );
    }
    let side = Side {
        comm,
        own,
        root,
        made,
        job: job()?,
    };
    Ok((side, at_root.filter(|_| comm.rank() == root)))
}

/// MPI_Comm_join over a connected socket, which stays open. Nothing is read from it but what the other side's call has written.
///
/// Errors: MPI_ERR_ARG, `fd` is no socket; MPI_ERR_PORT, the connection is lost; those of a meeting.
pub fn join(fd: i32) -> Result<&'static Comm> {
    const FUNCTION: &str = "MPI_Comm_join";
    let Some(own) = comm::find(comm::SELF) else {
        return fail!(Class::Comm, "there is no MPI_COMM_SELF");
    };
    let Some(copy) = duplicate(fd) else {
        return fail!(Class::Arg, "fd is {fd}, which is no open socket");
    };
    let mut socket = Socket::of(TcpStream::from(copy), false);
    let side = Side {
        comm: own,
        own: CollContext::new(own, FUNCTION),
        root: 0,
        made: Maker::Join,
        job: job()?,
    };
    let opening = opening(move || {
        loop {
            let mine = addresses::random().to_le_bytes();
            socket.send(&mine)?;
            let theirs = socket.receive()?;
            if theirs.len() != mine.len() {
                return fail!(
                    Class::Port,
                    "at the other end of fd is no call of MPI_Comm_join"
                );
            }
            if theirs != mine {
                socket.accepts = theirs.as_slice() < mine.as_slice();
                return Ok(socket);
            }
        }
    });
    side.meet(Some(opening), &mut Codes::new())
}
