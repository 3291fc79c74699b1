//! Dynamic processes: ports, accept and connect, join, spawn, and published names (`docs/dynamic.md`).
//!
//! Every function that is collective takes what this rank has found wrong with its own arguments, too: the error is then one of
//! all ranks of the communicator, and nobody waits.

use crate::comm::Comm;
use crate::error::{Class, Result, fail};
use crate::info::Info;

/// One program of MPI_Comm_spawn_multiple, or that of MPI_Comm_spawn.
#[derive(Clone, Debug)]
pub struct Command {
    pub program: String,
    pub arguments: Vec<String>,
    /// Processes wanted, at least one.
    pub processes: u32,
    pub info: Info,
}

/// What MPI_Comm_spawn gives.
pub struct Spawned {
    /// The intercommunicator to the new processes.
    pub comm: Result<&'static Comm>,
    /// An error code for each process that was asked for, on every rank; none if the arguments were wrong.
    pub codes: Vec<i32>,
}

/// MPI_Open_port: the name of a new port of this process.
pub fn open_port(_info: &Info) -> Result<String> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Close_port. MPI_ERR_PORT: this process has no such port.
pub fn close_port(_name: &str) -> Result<()> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Comm_accept. `port`: name and info, which only the root has.
pub fn accept(
    _comm: &Comm,
    _root: Result<i32>,
    _port: Result<Option<(String, Info)>>,
) -> Result<&'static Comm> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Comm_connect. `port`: name and info, which only the root has.
pub fn connect(
    _comm: &Comm,
    _root: Result<i32>,
    _port: Result<Option<(String, Info)>>,
) -> Result<&'static Comm> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Comm_join over a connected socket, which stays open.
pub fn join(_fd: i32) -> Result<&'static Comm> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Comm_spawn and MPI_Comm_spawn_multiple, as `function` says. `commands`: what only the root has.
pub fn spawn(
    _comm: &Comm,
    _root: Result<i32>,
    _commands: Result<Option<Vec<Command>>>,
    _function: &'static str,
) -> Spawned {
    Spawned {
        comm: fail!(Class::UnsupportedOperation, "not yet"),
        codes: Vec::new(),
    }
}

/// MPI_Comm_get_parent: a handle, MPI_COMM_NULL where there is none or after it was disconnected.
pub fn parent() -> i32 {
    crate::comm::NULL
}

/// MPI_Publish_name. MPI_ERR_SERVICE: the name is taken.
pub fn publish_name(_service: &str, _info: &Info, _port: &str) -> Result<()> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Lookup_name: the port that was published. MPI_ERR_NAME: none was.
pub fn lookup_name(_service: &str, _info: &Info) -> Result<String> {
    fail!(Class::UnsupportedOperation, "not yet")
}

/// MPI_Unpublish_name. MPI_ERR_SERVICE: the name was not published.
pub fn unpublish_name(_service: &str, _info: &Info, _port: &str) -> Result<()> {
    fail!(Class::UnsupportedOperation, "not yet")
}
