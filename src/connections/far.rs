//! Processes of other jobs on other hosts: the fabric that is opened for them, and connections over it.
//!
//! Invariant: a process is let in on both sides before either sends it anything, and is forgotten when both have said that nothing
//! follows, or one is gone.

use super::guests::{forget, new_page};
use super::{Hold, add, lifelines, node_of};
use crate::engine::enter;
use crate::engine::losses::{self, Cause};
use crate::error::Result;
use crate::group::names;
use crate::os::addresses;
pub use crate::transport::net::Guest;
use crate::transport::net::{Invitation, Net};
use crate::transport::{Loss, Peer, Route, open_late};
use parking_lot::Mutex;
use std::net::TcpStream;

/// Settings that processes must have alike to talk over the fabric. They do not change while the process is in its job.
pub struct Compared {
    /// Of those that ranks of one job compare.
    pub hash: u64,
    /// Those that processes of all jobs that meet compare, in words.
    pub words: String,
}

/// An end of the fabric, as processes of other hosts are told of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Provider and address, as the fabric has them.
    pub card: String,
    pub provider: String,
    pub entry: u32,
    /// Whether only processes of this machine reach it.
    pub is_loopback: bool,
    pub settings: String,
}

/// This process's end, for those of one meeting; what is not used is taken back.
pub struct Offer {
    pub invitation: Invitation,
    pub end: End,
}

impl Drop for Offer {
    fn drop(&mut self) {
        if let Some(net) = enter().net() {
            net.take_back(self.invitation);
        }
    }
}

/// Opens a fabric, on any thread.
pub type Open = Box<dyn FnOnce() -> std::result::Result<Net, String> + Send>;

/// Begins a meeting with processes of other hosts. If there is no fabric yet, `run` runs what opens one, which takes a while and enters no
/// engine.
///
/// Errors: a text, there is no fabric or no room for more guests.
pub fn offer(
    compared: &Compared,
    run: impl FnOnce(Open) -> std::result::Result<Net, String>,
) -> std::result::Result<Offer, String> {
    static OPENING: Mutex<()> = Mutex::new(());
    let opening = OPENING.lock();
    let (is_open, table) = {
        let engine = enter();
        let transport = engine.transport();
        (transport.has_net(), transport.table().clone())
    };
    if !is_open {
        let hash = compared.hash;
        let net = run(Box::new(move || open_late(table, hash)))?;
        enter().open_net(net);
    }
    drop(opening);
    let mut engine = enter();
    let Some(net) = engine.net() else {
        return Err("the fabric was not opened".to_owned());
    };
    let word = addresses::random() as u32;
    let Some(invitation) = net.invite(word) else {
        return Err("too many other jobs are connected over the fabric".to_owned());
    };
    let card = net
        .card_for(invitation)
        .inspect_err(|_| net.take_back(invitation))?;
    let end = End {
        card,
        provider: net.provider().to_owned(),
        entry: invitation.entry,
        is_loopback: net.is_on_loopback(),
        settings: compared.words.clone(),
    };
    Ok(Offer { invitation, end })
}

/// A process of another job that shares no memory with this one, and is let in.
pub struct FarPeer<'a> {
    pub guest: Guest<'a>,
    /// Its node in its job.
    pub node: u32,
    /// The connection by which its end is noticed.
    pub lifeline: TcpStream,
}

/// Lets processes of other hosts in.
///
/// Errors: MPI_ERR_OTHER, one cannot be reached.
pub fn connect(invitation: Invitation, met: Vec<FarPeer<'_>>) -> Result<Hold> {
    let mut engine = enter();
    let mut processes = Vec::new();
    let mut failed = None;
    for it in met {
        let process = it.guest.process;
        // Should it have left without a word.
        forget(&mut engine, process);
        let page = new_page();
        let node = node_of(names::of(process).job, it.node);
        engine.reach(process, Peer::new(node, Route::Net(process), None, page));
        processes.push(process);
        let admitted = match engine.net() {
            Some(net) => net.admit(invitation, &it.guest),
            None => Err("there is no fabric".to_owned()),
        };
        let kept = admitted.and_then(|()| {
            lifelines::keep(process, it.lifeline, page).map_err(|error| error.to_string())
        });
        if let Err(text) = kept {
            let name = names::of(process);
            failed = Some(format!(
                "rank {} of another job cannot be reached over the fabric: {text}",
                name.rank
            ));
            break;
        }
    }
    drop(engine);
    let hold = add(None, processes);
    match failed {
        None => Ok(hold),
        // The hold ends what was begun.
        Some(text) => Err(losses::error_of(Cause::Lost(Some(Loss::Unreachable)), text)),
    }
}
