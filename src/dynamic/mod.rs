//! Dynamic processes: ports, accept and connect, join, spawn, and published names (`docs/dynamic.md`).
//!
//! Every function that is collective takes what this rank has found wrong with its own arguments, too: the error is then one of
//! all ranks of the communicator, and nobody waits.

pub mod card;
pub mod codec;
mod command;
mod connect;
mod conversation;
mod exchange;
mod far;
mod introduce;
mod means;
mod meeting;
mod name_folder;
mod port;
mod reception;
mod service;
mod spawn;

use crate::connections::far::Compared;
use crate::constructors;
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::launch::Job;
use crate::os::made;
use crate::variables::{Listed, Variable};
pub use command::Command;
pub use connect::{accept, connect, join};
pub use meeting::Codes;
use reception::Addresses;
pub use service::{lookup_name, publish_name, unpublish_name};
pub use spawn::{Spawned, meet_parents, parent, spawn};
use std::sync::OnceLock;

static CONNECT_TIMEOUT: Variable<u64> = Variable::new(
    "CONNECT_TIMEOUT",
    180,
    "How long MPI_Comm_connect waits until the other side accepts, seconds, where its info does not say.",
)
.with_aliases(&["MPIR_CVAR_CH4_COMM_CONNECT_TIMEOUT"]);
/// What users can set about connections to other jobs.
pub static VARIABLES: &[&dyn Listed] = &[&CONNECT_TIMEOUT, &reception::LISTEN_ADDRESS];

/// What it is called in a list of what is left.
const OPEN_PORT: &str = "open port";

static JOB: OnceLock<(&'static Job, Compared)> = OnceLock::new();

/// Says which job this process has joined, and what others compare.
pub fn set_job(job: &'static Job, compared: Compared) {
    let _ = JOB.set((job, compared));
    constructors::introduce_by(introduce::introduce);
}

fn joined() -> Result<&'static (&'static Job, Compared)> {
    match JOB.get() {
        Some(joined) => Ok(joined),
        None => fail!(Class::Other, "this process has joined no job"),
    }
}

fn job() -> Result<&'static Job> {
    joined().map(|(job, _)| *job)
}

/// MPI_Open_port: the name of a new port of this process, at the address and TCP port that the info keys `ip_address` and `ip_port` say.
///
/// Errors: MPI_ERR_INFO_VALUE, a value of these is none; MPI_ERR_PORT, the kernel does not have it.
pub fn open_port(info: &Info) -> Result<String> {
    let addresses = match info.get("ip_address")? {
        None => Addresses::of_settings(),
        Some(text) => match text.trim().parse() {
            Ok(address) => Addresses::one(address),
            Err(_) => {
                return fail!(
                    Class::InfoValue,
                    "the value of ip_address is \"{text}\", which is no Internet address"
                );
            }
        },
    };
    let number = match info.get("ip_port")? {
        None => 0,
        Some(text) => match text.trim().parse() {
            Ok(number) if number > 0 => number,
            _ => {
                return fail!(
                    Class::InfoValue,
                    "the value of ip_port is \"{text}\", which is no number from 1 to {}",
                    u16::MAX
                );
            }
        },
    };
    let name = port::open(addresses, number)?.name.clone();
    made::note_named(OPEN_PORT, name.clone());
    Ok(name)
}

/// MPI_Close_port.
///
/// Errors: MPI_ERR_PORT, this process has no such port.
pub fn close_port(name: &str) -> Result<()> {
    port::close(name)?;
    made::forget_named(OPEN_PORT, name);
    Ok(())
}

/// Takes back what this process has published, when it leaves the job.
pub fn leave() {
    service::unpublish_all();
}

/// A number of seconds in an info.
///
/// Errors: MPI_ERR_INFO_VALUE.
fn seconds_in(info: &Info, key: &str) -> Result<Option<f64>> {
    let Some(text) = info.get(key)? else {
        return Ok(None);
    };
    match text.trim().parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => Ok(Some(seconds)),
        _ => fail!(
            Class::InfoValue,
            "the value of {key} is \"{text}\", which is no number of seconds"
        ),
    }
}
