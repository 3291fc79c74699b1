//! What this process has of those of other jobs that are reached over the fabric, and parting from them.
//!
//! Invariant: a page is the next guest's when nothing in the process table refers to it.

use super::lifelines;
use crate::engine::Engine;
use crate::transport::{Page, Peer, Route, State};
use parking_lot::Mutex;

/// Pages of those that have left, for the next ones.
static PAGES: Mutex<Vec<&'static Page>> = Mutex::new(Vec::new());

/// A page for a process that is let in.
pub(super) fn new_page() -> &'static Page {
    let page = PAGES.lock().pop();
    let page = page.unwrap_or_else(|| Box::leak(Box::default()));
    page.clear_loss();
    page.engines.store(1, crate::sync::Ordering::Relaxed);
    page.set_state(State::Joined);
    page
}

/// Forgets a process.
pub(super) fn forget(engine: &mut Engine, process: u32) {
    lifelines::forget(process);
    if let Some(net) = engine.net() {
        net.forget(process);
    }
    let table = engine.transport().table();
    if table.has(process) {
        let peer = table.of(process);
        if let (Route::Net(_), false) = (peer.route, peer.is_disconnected()) {
            PAGES.lock().push(peer.page);
            table.set_foreign(process, Peer::disconnected());
        }
    }
}

/// How many records have gone to a process, and have come from it.
pub(super) fn exchanged(engine: &mut Engine, process: u32) -> (u32, u32) {
    let net = engine.net();
    net.map_or((0, 0), |net| net.exchanged(process))
}

/// Parts from these processes a step further. Whether that is done: they have all that was sent, and know that this one has left.
pub(super) fn have_parted(engine: &mut Engine, processes: &[u32]) -> bool {
    let owes = |process: &u32| !engine.has_sent_all(*process) && !engine.peer(*process).has_gone();
    if processes.iter().any(owes) {
        return false;
    }
    let Some(net) = engine.net() else {
        return true;
    };
    processes.iter().for_each(|it| net.begin_to_part(*it));
    if !processes.iter().all(|it| net.has_parted(*it)) {
        return false;
    }
    processes.iter().for_each(|it| lifelines::part(*it));
    processes.iter().all(|it| lifelines::has_parted(*it))
}
