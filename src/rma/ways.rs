//! How this process reaches memory that only another one can address: by the kernel, if it lets it, else by that one's helper thread.
//!
//! Each pair of processes tries it once, with a read and a write of a word of the target's; the answer does not change.

use super::window::Way;
use crate::engine;
use crate::sync::{AtomicU8, Ordering};
use std::sync::OnceLock;

const UNKNOWN: u8 = 0;
const BY_KERNEL: u8 = 1;
const REFUSED: u8 = 2;

/// By process.
static KNOWN: OnceLock<Box<[AtomicU8]>> = OnceLock::new();

/// The way to private memory of a process of this node that has joined the job.
pub fn to(process: u32) -> Way {
    let Some(table) = engine::table() else {
        return Way::Helper;
    };
    if process == table.me() {
        return Way::Direct;
    }
    let peer = table.of(process);
    let all = KNOWN.get_or_init(|| (0..table.size()).map(|_| AtomicU8::new(UNKNOWN)).collect());
    let known = &all[process as usize];
    let pid = match known.load(Ordering::Relaxed) {
        UNKNOWN => peer.writable_by_id(),
        BY_KERNEL => Some(peer.pid.load(Ordering::Relaxed)),
        _ => None,
    };
    known.store(
        if pid.is_some() { BY_KERNEL } else { REFUSED },
        Ordering::Relaxed,
    );
    pid.map_or(Way::Helper, |pid| Way::Kernel { pid })
}
