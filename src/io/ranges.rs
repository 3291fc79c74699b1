//! Where accesses of the atomic mode lock their ranges: a table in the node's heap, or the file itself.

use crate::engine::{enter, table};
use crate::error::{Class, Result, fail};
use crate::queue::range_lock::Table;
use crate::transport::{self, FirstNotifier};
use std::sync::OnceLock;

/// Where the accesses to a file lock their ranges.
pub enum Ranges {
    Table {
        table: &'static Table,
        /// What stands for device and inode.
        object: u64,
    },
    Kernel,
}

/// What wakes a process of the job.
static NOTIFIERS: OnceLock<Box<[Option<FirstNotifier>]>> = OnceLock::new();

/// Files that get the same number wait for each other without need.
fn object(device: u64, inode: u64) -> u64 {
    let mixed = (inode ^ device.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

fn is_one_node() -> bool {
    table().is_none_or(|table| table.is_of_one_node())
}

impl Ranges {
    /// Those of the file with this identity, device and inode. Not on a thread of the library's.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    pub fn of((device, inode): (u64, u64)) -> Result<Ranges> {
        let Some(heap) = transport::heap().filter(|_| is_one_node()) else {
            return Ok(Ranges::Kernel);
        };
        if let Err(why) = heap.open_now() {
            return fail!(
                Class::NoMem,
                "there is no memory for the locks of the atomic mode: {why}"
            );
        }
        let object = object(device, inode);
        let tables = heap.ranges();
        NOTIFIERS.get_or_init(|| {
            let engine = enter();
            let processes = 0..engine.processes() as u32;
            processes
                .map(|process| engine.transport().notifier_of(process))
                .collect()
        });
        Ok(Ranges::Table {
            table: &tables[object as usize % tables.len()],
            object,
        })
    }
}

/// Wakes a process of the job that may wait for a range, after a full fence.
pub fn wake(process: u32) {
    let all = NOTIFIERS.get().map_or(&[][..], |all| &all[..]);
    if let Some(Some(notifier)) = all.get(process as usize) {
        notifier.wake_ordered();
    }
}
