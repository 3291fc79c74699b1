//! MPI_Win_attach and MPI_Win_detach, and how origins find what was attached.

use super::access::{Region, Remote};
use super::regions::{Dynamic, Meets, Seen};
use super::room::private_key;
use super::ways;
use super::window::{Way, Window};
use super::{addresses, in_place};
use crate::assembly::the_heap;
use crate::datatype::Buffer;
use crate::engine;
use crate::engine::losses::{self, Cause};
use crate::error::{Class, Result, fail};
use crate::os::backoff::Backoff;
use crate::sync::Ordering;

impl Window {
    fn as_dynamic(&self) -> Result<&Dynamic> {
        match &self.dynamic {
            Some(dynamic) => Ok(dynamic),
            None => fail!(
                Class::RmaFlavor,
                "{} was not made by MPI_Win_create_dynamic; memory is attached to such windows only",
                self.title()
            ),
        }
    }

    /// MPI_Win_attach.
    ///
    /// Errors: MPI_ERR_RMA_FLAVOR, MPI_ERR_SIZE, MPI_ERR_BASE, MPI_ERR_RMA_ATTACH if some of it is attached, MPI_ERR_NO_MEM.
    pub fn attach(&'static self, base: usize, size: i64) -> Result<()> {
        let dynamic = self.as_dynamic()?;
        let Ok(bytes) = u64::try_from(size) else {
            return fail!(Class::Size, "size is {size}; it must not be negative");
        };
        if base == 0 && bytes > 0 {
            return fail!(Class::Base, "base is NULL, and size is {bytes}");
        }
        if base.checked_add(bytes as usize).is_none() {
            return fail!(
                Class::Size,
                "size is {bytes}: memory at {base:#x} does not go so far"
            );
        }
        match dynamic.add(self.block.target(self.rank), base, bytes)? {
            None => {
                self.expose();
                Ok(())
            }
            Some(Meets(at, size)) => fail!(
                Class::RmaAttach,
                "memory at {base:#x} of {bytes} bytes meets {at:#x} of {size} bytes, which is attached to {}",
                self.title()
            ),
        }
    }

    /// MPI_Win_detach.
    ///
    /// Errors: MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_ATTACH if no attached memory begins there.
    pub fn detach(&self, base: usize) -> Result<()> {
        let dynamic = self.as_dynamic()?;
        let bytes = dynamic.bytes_at(base);
        match dynamic.remove(self.block.target(self.rank), base)? {
            true => {
                in_place::withdraw_region(self, &(base..base + bytes as usize));
                Ok(())
            }
            false => fail!(
                Class::RmaAttach,
                "base is {base:#x}, where no memory begins that is attached to {}",
                self.title()
            ),
        }
    }

    /// Reads a rank's table.
    ///
    /// Errors: MPI_ERR_PROC_FAILED, the rank has ended while it changed it.
    #[cold]
    fn read_table(&self, target: usize, seen: &mut Seen) -> Result<()> {
        let line = self.block.target(target);
        let mut backoff = Backoff::default();
        while !seen.look_at(line)? {
            let process = self.targets[target].process;
            if backoff.pause() && engine::has_died(process) {
                let text = format!(
                    "target rank {target} of {} has ended while it attached memory",
                    self.title()
                );
                return Err(losses::error_of(Cause::Holder, text));
            }
        }
        Ok(())
    }

    /// Where elements are that may lie in several pieces of attached memory: the place of what is at address `remote.disp`.
    ///
    /// Errors: MPI_ERR_RMA_RANGE if some of them are not attached, or if the pieces are reached in different ways.
    #[cold]
    pub fn find_elements(&self, target: usize, remote: &Remote) -> Result<Region> {
        let start = remote.disp as usize;
        // SAFETY: only the addresses of the elements are looked at.
        let elements = unsafe { Buffer::new(start as *mut u8, remote.count, remote.datatype) };
        let mut found: Result<Option<Region>> = Ok(None);
        elements.runs(0, elements.len(), |run, bytes| {
            found = self.find_run(target, run.addr(), bytes, start, &found);
            found.is_ok()
        });
        found.map(|region| region.expect("an access has a first byte"))
    }

    /// The place of what is at `start`, if a run of elements is attached memory, and reached as those before.
    fn find_run(
        &self,
        target: usize,
        address: usize,
        bytes: usize,
        start: usize,
        before: &Result<Option<Region>>,
    ) -> Result<Option<Region>> {
        let mut region = self.find_region(target, address, bytes as u64, false)?;
        region.address = region.address.wrapping_sub(address).wrapping_add(start);
        region.key = region
            .key
            .wrapping_sub((address as u64).wrapping_sub(start as u64));
        match before {
            Ok(Some(before)) if *before != region => fail!(
                Class::RmaRange,
                "the elements lie in pieces of memory attached to {} at target rank {target} of which only some are from MPI_Alloc_mem or a \
                 window ({address:#x} is in the first such piece); use an operation for each kind",
                self.title()
            ),
            _ => Ok(Some(region)),
        }
    }

    /// As [`Window::counted_address`], in a dynamic window.
    pub(super) fn counted_address_attached(
        &self,
        target: usize,
        address: usize,
        bytes: u64,
    ) -> Option<usize> {
        let mut seen = self.dynamic.as_ref()?.seen(target);
        // Acquire: what the target has told before it ended a move is seen.
        let version = self.block.target(target).version.load(Ordering::Acquire);
        if version != seen.version {
            self.read_table(target, &mut seen).ok()?;
        }
        if !seen.has_edges {
            return None;
        }
        let entry = seen.find(address as u64, bytes)?;
        let memory = entry.address as usize..(entry.address + entry.bytes) as usize;
        let pages = entry.shared?;
        addresses::counted_address_here(the_heap().ok()?, &memory, pages, (address, bytes))
    }

    /// Where memory of a dynamic window is: `bytes` from `address` of the target's on, all of it attached. `shared`: memory that is shared in
    /// place is looked for there.
    ///
    /// Errors: MPI_ERR_RMA_RANGE if it is not; the target has died while it changed its table.
    pub fn find_region(
        &self,
        target: usize,
        address: usize,
        bytes: u64,
        shared: bool,
    ) -> Result<Region> {
        if self.is_remote(target) {
            // The target looks itself.
            return Ok(Region {
                way: Way::Remote,
                address,
                key: 0,
            });
        }
        let mut seen = self.as_dynamic()?.seen(target);
        // Acquire: what the target has attached is seen.
        let version = self.block.target(target).version.load(Ordering::Acquire);
        if version != seen.version {
            self.read_table(target, &mut seen)?;
        }
        let first = address as u64;
        let Some(entry) = seen.find(first, bytes) else {
            return fail!(
                Class::RmaRange,
                "{bytes} bytes at address {address:#x} are not attached to {} at target rank {target}",
                self.title()
            );
        };
        let Some(offset) = entry.offset else {
            let process = self.targets[target].process;
            let shared = entry.shared.filter(|_| shared && target != self.rank);
            let here = shared.and_then(|pages| {
                let memory = entry.address as usize..(entry.address + entry.bytes) as usize;
                addresses::address_here(the_heap().ok()?, &memory, pages, (address, bytes))
            });
            return Ok(Region {
                way: here.map_or_else(|| ways::to(process), |_| Way::Direct),
                address: here.unwrap_or(address),
                key: private_key(process, first),
            });
        };
        let offset = offset + (first - entry.address);
        match the_heap()?.at(offset, bytes) {
            Some(here) => Ok(Region {
                way: Way::Direct,
                address: here as usize,
                key: offset,
            }),
            None => fail!(
                Class::RmaRange,
                "attached memory at {offset} is not in the heap"
            ),
        }
    }
}
