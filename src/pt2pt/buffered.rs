//! Buffered sends: the attached buffers and what is in use of them.
//!
//! The data of a buffered send is kept in memory of the library's own; what the program attached is the account that it
//! is charged to, so that a send fails exactly when the standard's model says there is no room.

use super::{envelope, origin};
use crate::comm::Comm;
use crate::datatype::Buffer;
use crate::engine::account::{Account, BSEND_OVERHEAD};
use crate::engine::requests;
use crate::engine::wait::{Reason, until};
use crate::engine::{Engine, enter};
use crate::error::{Class, Result, fail};
use parking_lot::Mutex;

/// MPI_BUFFER_AUTOMATIC.
pub const AUTOMATIC: usize = usize::MAX - 1;

/// What a buffer is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Process,
    /// A communicator, by its handle.
    Comm(i32),
    /// A session, by its handle.
    Session(i32),
}

#[derive(Clone, Copy, Debug)]
struct Attached {
    scope: Scope,
    address: usize,
    bytes: usize,
    account: u32,
}

static ATTACHED: Mutex<Vec<Attached>> = Mutex::new(Vec::new());

fn find(scope: Scope) -> Option<Attached> {
    ATTACHED
        .lock()
        .iter()
        .find(|attached| attached.scope == scope)
        .copied()
}

/// MPI_Buffer_attach and its kin; `address` may be [`AUTOMATIC`].
///
/// Errors: MPI_ERR_BUFFER if one is attached there already.
pub fn attach(scope: Scope, address: usize, bytes: usize) -> Result<()> {
    if find(scope).is_some() {
        return fail!(Class::Buffer, "a buffer is attached already");
    }
    let automatic = address == AUTOMATIC;
    let account = Account {
        capacity: bytes,
        automatic,
        open: true,
        ..Account::default()
    };
    let mut engine = enter();
    let accounts = engine.accounts();
    let number = match accounts.iter().position(|account| !account.open) {
        Some(number) => number,
        None => {
            accounts.push(account);
            accounts.len() - 1
        }
    };
    accounts[number] = account;
    ATTACHED.lock().push(Attached {
        scope,
        address,
        bytes: if automatic { 0 } else { bytes },
        account: number as u32,
    });
    Ok(())
}

/// MPI_Buffer_detach and its kin: waits until its messages have left; address and size as they were attached, or
/// `None` if there is no buffer.
pub fn detach(scope: Scope) -> Result<Option<(usize, usize)>> {
    let Some(attached) = find(scope) else {
        return Ok(None);
    };
    drain(attached, "MPI_Buffer_detach");
    enter().accounts()[attached.account as usize].open = false;
    ATTACHED
        .lock()
        .retain(|other| other.scope != attached.scope);
    Ok(Some((attached.address, attached.bytes)))
}

/// MPI_Buffer_flush and its kin: waits until all messages in the buffer have left.
pub fn flush(scope: Scope) -> Result<()> {
    if let Some(attached) = find(scope) {
        drain(attached, "MPI_Buffer_flush");
    }
    Ok(())
}

/// MPI_Buffer_iflush and its kin: a request that is complete when all messages in the buffer have left.
pub fn iflush(scope: Scope) -> Result<i32> {
    Ok(match find(scope) {
        Some(attached) => requests::handle_of(enter().flush_account(attached.account)),
        None => requests::SENT,
    })
}

impl Scope {
    /// Whether MPI_Finalize ends it: a session's lives on.
    pub fn is_of_world(self) -> bool {
        !matches!(self, Scope::Session(_))
    }
}

/// Detaches what is attached to those, at finalize.
pub fn detach_all(those: impl Fn(Scope) -> bool) -> Result<()> {
    loop {
        let next = ATTACHED
            .lock()
            .iter()
            .map(|attached| attached.scope)
            .find(|scope| those(*scope));
        match next {
            Some(scope) => detach(scope)?,
            None => return Ok(()),
        };
    }
}

fn drain(attached: Attached, function: &'static str) {
    until(&Reason::of(function), |engine| {
        (engine.accounts()[attached.account as usize].messages == 0).then_some(())
    });
}

/// The account that a send on a communicator is charged to: the communicator's, else that of its session, or of
/// the process.
fn account(engine: &mut Engine, communicator: i32, bytes: usize) -> Result<u32> {
    // A communicator that comes from a session is none of the world's.
    let otherwise = || match origin::of(communicator) {
        Some(session) => find(Scope::Session(session)),
        None => find(Scope::Process),
    };
    let Some(attached) = find(Scope::Comm(communicator)).or_else(otherwise) else {
        return fail!(
            Class::Buffer,
            "no buffer is attached for buffered sends; this message needs {} bytes",
            bytes + BSEND_OVERHEAD
        );
    };
    if !engine.accounts()[attached.account as usize].fits(bytes) {
        // Some of what is in the buffer may have left since.
        engine.progress();
    }
    let account = engine.accounts()[attached.account as usize];
    if !account.fits(bytes) {
        return fail!(
            Class::Buffer,
            "the attached buffer of {} bytes has {} in use; this message needs {}",
            account.capacity,
            account.used,
            bytes + BSEND_OVERHEAD
        );
    }
    Ok(attached.account)
}

/// MPI_Bsend and MPI_Ibsend.
///
/// Errors: MPI_ERR_BUFFER if there is no room.
pub fn send(buffer: Buffer, dest: i32, tag: i32, comm: &Comm) -> Result<()> {
    let mut engine = enter();
    let account = account(&mut engine, comm.handle, buffer.len())?;
    let envelope = envelope(comm, dest, tag);
    if !engine.send_short(&envelope, &buffer) {
        engine.send_buffered(account, &envelope, buffer);
    }
    Ok(())
}

/// Starts a persistent buffered send.
pub fn start(engine: &mut Engine, index: u32) -> Result<()> {
    let request = engine.requests().at(index);
    let buffer = request.buffer;
    let envelope = crate::engine::send::Envelope {
        world: request.world,
        context: request.context,
        source: request.source,
        tag: request.tag,
        peer: request.peer,
        communicator: request.communicator,
    };
    let account = account(engine, envelope.communicator, buffer.len())?;
    engine.send_buffered(account, &envelope, buffer);
    Ok(())
}
