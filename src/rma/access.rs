//! From the arguments of an operation to the target's memory: rank, epoch, range.
//!
//! Invariant: what passes here lies inside of the window, whatever the datatype, and no product or sum has wrapped.

use super::window::{Flavor, Target, Way, Window};
use crate::datatype::{Buffer, Datatype, pack};
use crate::engine::losses::{self, Cause};
use crate::error::{Class, Error, Result, fail};
use crate::os::peer_memory::Piece;
use smallvec::SmallVec;

/// The target's side of an operation, as the program says it.
#[derive(Clone, Copy)]
pub struct Remote {
    pub rank: i32,
    /// In units of the target's.
    pub disp: i64,
    pub count: u64,
    pub datatype: &'static Datatype,
}

impl Remote {
    /// Packed bytes.
    #[inline(always)]
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.datatype.size)
    }
}

/// The origin's side.
#[derive(Clone, Copy)]
pub struct Operand {
    pub buffer: Buffer,
    pub datatype: &'static Datatype,
}

/// Memory of a dynamic window, found by its address at the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub way: Way,
    /// The address that was asked for, as [`Target::base`] has it.
    pub address: usize,
    /// Its key, see [`Target::key`].
    pub key: u64,
}

/// Where the elements of an operation count from at the target.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub rank: usize,
    pub way: Way,
    pub address: usize,
    pub key: u64,
}

/// Pieces of one side of a transfer.
pub type Pieces = SmallVec<[Piece; 4]>;

impl Spot {
    /// The elements. If the way is not direct their addresses mean nothing here, and only [`Buffer::runs`] may be asked.
    ///
    /// # Safety
    /// The spot comes from [`Window::locate`] for these elements.
    #[inline(always)]
    pub unsafe fn elements(&self, remote: &Remote) -> Buffer {
        // SAFETY: `locate` has found the elements inside of the window.
        unsafe { Buffer::new(self.address as *mut u8, remote.count, remote.datatype) }
    }

    /// The key of a byte of this target.
    #[inline(always)]
    pub fn key_of(&self, address: usize) -> u64 {
        self.key
            .wrapping_add(address.wrapping_sub(self.address) as u64)
    }
}

impl Window {
    /// Where an operation finds its elements; `None`: there are none, or the target is MPI_PROC_NULL. `bytes` is how many the origin
    /// has.
    ///
    /// Errors: MPI_ERR_RANK, MPI_ERR_RMA_SYNC, MPI_ERR_TYPE for sides of different sizes, MPI_ERR_DISP, MPI_ERR_RMA_RANGE.
    #[inline(always)]
    pub fn locate(&self, remote: &Remote, bytes: u64) -> Result<Option<Spot>> {
        let Some(rank) = self.target("target_rank", remote.rank)? else {
            return Ok(None);
        };
        let target = &self.targets[rank];
        self.enter_epoch(rank)?;
        let datatype = remote.datatype;
        let size = remote.bytes();
        if size != bytes {
            return self.other_size(remote, bytes).map(|()| None);
        }
        if self.flavor == Flavor::Dynamic || !datatype.is_contiguous() || size == 0 {
            return self.locate_unusual(remote, rank, target);
        }
        let at = match (remote.disp as u64).checked_mul(target.unit) {
            Some(at) if remote.disp >= 0 => at,
            _ => return self.outside(remote, target).map(|()| None),
        };
        if at > target.bytes || size > target.bytes - at {
            return self.outside(remote, target).map(|()| None);
        }
        Ok(Some(self.spot(rank, target, at)))
    }

    /// As [`Window::locate`] for `bytes` bytes without holes, more than none, in direct memory: most calls, in a few instructions.
    /// `None`: it is not that, or an error; nothing was done.
    #[inline(always)]
    pub fn locate_quickly(&self, rank: i32, disp: i64, bytes: u64) -> Option<Spot> {
        let rank = rank as u32 as usize;
        let target = self.targets.get(rank)?;
        if target.way != Way::Direct {
            return self.locate_shared(rank, disp, bytes);
        }
        if !self.has_epoch(rank) || disp < 0 {
            return None;
        }
        // A dynamic window has no bytes.
        let at = (disp as u64).checked_mul(target.unit)?;
        if at > target.bytes || bytes > target.bytes - at {
            return None;
        }
        Some(Spot {
            rank,
            way: Way::Direct,
            address: target.base.wrapping_add(at as usize),
            key: target.key.wrapping_add(at),
        })
    }

    /// As [`Window::locate_quickly`], in private memory that is shared in place.
    #[cold]
    #[inline(never)]
    fn locate_shared(&self, rank: usize, disp: i64, bytes: u64) -> Option<Spot> {
        let target = &self.targets[rank];
        // Puts that wait come first.
        if !self.has_epoch(rank) || disp < 0 || self.has_waiting() {
            return None;
        }
        let at = (disp as u64).checked_mul(target.unit)?;
        if at > target.bytes || bytes > target.bytes - at {
            return None;
        }
        Some(Spot {
            rank,
            way: Way::Direct,
            address: self.shared_address(rank, target.base + at as usize, bytes)?,
            key: target.key.wrapping_add(at),
        })
    }

    #[inline(always)]
    pub(super) fn spot(&self, rank: usize, target: &Target, at: u64) -> Spot {
        Spot {
            rank,
            way: self.way(rank, target.way),
            address: target.base.wrapping_add(at as usize),
            key: target.key.wrapping_add(at),
        }
    }

    /// Where this process addresses the elements at a spot of private memory, if all of them are on whole pages that are shared in place.
    #[cold]
    #[inline(never)]
    pub(super) fn shared_spot(&self, spot: &Spot, remote: &Remote) -> Option<Spot> {
        if self.flavor == Flavor::Dynamic {
            return None; // `find_region` has looked
        }
        self.spot_here(spot, remote, |at, bytes| {
            self.shared_address(spot.rank, at, bytes)
        })
    }

    /// Where this process addresses the elements at a spot of private memory; `find` knows where so many bytes at an address of the target's
    /// are here.
    #[inline]
    pub(super) fn spot_here(
        &self,
        spot: &Spot,
        remote: &Remote,
        find: impl Fn(usize, u64) -> Option<usize>,
    ) -> Option<Spot> {
        let (from, to) = pack::reach(remote.count, remote.datatype);
        // Inside of the window, so these are numbers of 64 bits.
        let (from, bytes) = (from as isize, (to - from) as u64);
        let first = spot.address.wrapping_add_signed(from);
        let here = find(first, bytes)?;
        Some(Spot {
            way: Way::Direct,
            address: here.wrapping_add_signed(-from),
            ..*spot
        })
    }

    /// A process needs nobody's help to reach its own memory.
    #[inline(always)]
    fn way(&self, rank: usize, way: Way) -> Way {
        match way {
            Way::Direct => Way::Direct,
            _ if rank == self.rank => Way::Direct,
            way => way,
        }
    }

    /// Zero sizes, types with holes, and dynamic windows.
    #[inline(never)]
    fn locate_unusual(
        &self,
        remote: &Remote,
        rank: usize,
        target: &Target,
    ) -> Result<Option<Spot>> {
        let dynamic = self.flavor == Flavor::Dynamic;
        if remote.disp < 0 && !dynamic {
            return self.outside(remote, target).map(|()| None);
        }
        if remote.bytes() == 0 {
            return Ok(None);
        }
        let (from, to) = pack::reach(remote.count, remote.datatype);
        if dynamic {
            let (first, end) = (remote.disp as i128 + from, remote.disp as i128 + to);
            let (Ok(first), Ok(bytes)) = (usize::try_from(first), u64::try_from(end - first))
            else {
                return self.outside(remote, target).map(|()| None);
            };
            // Most types lie in one region as a whole, holes included.
            let region = match self.find_region(rank, first, bytes, true) {
                Ok(region) => Region {
                    address: region.address.wrapping_sub(from as usize),
                    key: region.key.wrapping_sub(from as u64),
                    ..region
                },
                Err(_) if !remote.datatype.is_contiguous() => self.find_elements(rank, remote)?,
                Err(error) => return Err(error),
            };
            if region.way == Way::Direct {
                // What waits may be for the same memory, which was shared in place meanwhile.
                self.catch_up(rank)?;
            }
            return Ok(Some(Spot {
                rank,
                way: self.way(rank, region.way),
                address: region.address,
                key: region.key,
            }));
        }
        let at = remote.disp as i128 * target.unit as i128;
        if at + from < 0 || at + to > target.bytes as i128 {
            return self.outside(remote, target).map(|()| None);
        }
        Ok(Some(self.spot(rank, target, at as u64)))
    }

    #[cold]
    fn other_size(&self, remote: &Remote, bytes: u64) -> Result<()> {
        fail!(
            Class::Type,
            "the origin has {bytes} bytes, but target_count {} of {} are {} bytes",
            remote.count,
            remote.datatype.title(),
            remote.bytes()
        )
    }

    #[cold]
    #[inline(never)]
    fn outside(&self, remote: &Remote, target: &Target) -> Result<()> {
        if remote.disp < 0 && self.flavor != Flavor::Dynamic {
            return fail!(
                Class::Disp,
                "target_disp is {}; it must not be negative",
                remote.disp
            );
        }
        let (from, to) = pack::reach(remote.count, remote.datatype);
        let at = remote.disp as i128 * target.unit.max(1) as i128;
        fail!(
            Class::RmaRange,
            "target_disp {} (in units of {} bytes) and target_count {} of {} mean bytes {} to {} of {}, which has {} bytes at rank {}",
            remote.disp,
            target.unit,
            remote.count,
            remote.datatype.title(),
            at + from,
            at + to,
            self.title(),
            target.bytes,
            remote.rank
        )
    }

    /// Memory that is in the window but not there: an address that the target has unmapped, or a target that is gone.
    #[cold]
    pub(super) fn unreachable(&self, rank: usize, address: usize, why: &std::io::Error) -> Error {
        let title = self.title();
        let text = |what: &str| {
            format!(
                "memory of target rank {rank} of {title} at address {address:#x} cannot be accessed: {what}"
            )
        };
        let unmapped = || text("it, or the origin's buffer, is not mapped");
        match why.raw_os_error() {
            Some(libc::ESRCH) => losses::error_of(Cause::Holder, text("its process has ended")),
            Some(libc::EFAULT) if self.flavor == Flavor::Dynamic => {
                Error::new(Class::RmaAttach, unmapped())
            }
            Some(libc::EFAULT) => Error::new(Class::RmaRange, unmapped()),
            _ => Error::new(Class::Access, text(&why.to_string())),
        }
    }
}
