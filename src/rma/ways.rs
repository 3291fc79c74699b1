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

/// The way to private memory of a process that has joined the job.
pub fn to(process: u32) -> Way {
    let Some(table) = engine::table() else {
        return Way::Helper;
    };
    if process == table.me() {
        return Way::Direct;
    }
    let peer = table.of(process);
    if peer.seat.is_none() {
        return Way::Remote;
    }
    let all = KNOWN.get_or_init(|| (0..table.size()).map(|_| AtomicU8::new(UNKNOWN)).collect());
    let known = &all[process as usize];
    let by_kernel = match known.load(Ordering::Relaxed) {
        UNKNOWN => peer.page.writable_by_id().is_some(),
        answer => answer == BY_KERNEL,
    };
    known.store(
        if by_kernel { BY_KERNEL } else { REFUSED },
        Ordering::Relaxed,
    );
    if by_kernel { Way::Kernel } else { Way::Helper }
}

/// Whether the kernel reads and writes this process's memory for it: then what is not mapped is an error and no signal.
pub fn can_reach_itself() -> bool {
    engine::table().is_some_and(|table| table.own().writable_by_id().is_some())
}

/// The system's id of a process of this node.
pub fn pid_of(process: u32) -> i32 {
    let table = engine::table();
    table.map_or(0, |table| {
        table.of(process).page.pid.load(Ordering::Relaxed)
    })
}
