//! The fabric of a [`Transport`]: whether there is one, what wakes for it, and its end.

use super::net::Net;
use super::{Route, Transport, ofi, rma};
use std::os::fd::BorrowedFd;

impl Transport {
    /// Opens the way to other hosts, in a process whose job needs none.
    pub fn set_net(&mut self, net: Net) {
        self.net = Some(Box::new(net));
        self.has_others = true;
    }

    /// The fabric, if there is one.
    pub fn net(&mut self) -> Option<&mut Net> {
        self.net.as_deref_mut()
    }

    /// The next look for packets includes the fabric: the thread is about to yield or to sleep.
    #[inline]
    pub fn hurry(&mut self) {
        if let Some(net) = &mut self.net {
            net.hurry();
        }
    }

    /// Whether there is a fabric to look at, which costs more than a look at the node's memory.
    #[inline]
    pub fn has_net(&self) -> bool {
        self.net.is_some()
    }

    /// The descriptor that says that the fabric has something, for [`super::Waiter::watch`].
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.net.as_ref()?.descriptor()
    }

    /// The descriptor is watched.
    pub fn set_watched(&mut self) {
        if let Some(net) = &mut self.net {
            net.set_watched();
        }
    }

    /// Whether a thread that has announced itself may sleep: nothing is there, and what comes will wake it.
    pub fn may_sleep(&mut self) -> bool {
        self.net
            .as_mut()
            .is_none_or(|net| net.may_sleep() && ofi::rma::opened().is_none_or(rma::Rma::may_sleep))
    }

    /// Whether this process may leave the job as far as the fabric is concerned, which is asked until it is so.
    pub fn has_left(&mut self) -> bool {
        self.net.as_mut().is_none_or(|net| net.has_left())
    }

    /// Takes a process for lost that is reached over the fabric.
    #[cold]
    pub fn lose(&mut self, process: u32, why: &str) {
        if let Route::Net(process) = self.table.of(process).route {
            self.remote().lose(process, why);
        }
    }

    #[inline]
    pub(super) fn remote(&mut self) -> &mut Net {
        match &mut self.net {
            Some(net) => net,
            None => no_fabric(),
        }
    }

    /// Whether the fence of a sleeping thread reaches all that may wake it; if not, it may sleep for short times only.
    pub fn fences_reach_all(&self) -> bool {
        self.shm.fences_reach_all()
            && self.net.as_ref().is_none_or(|net| {
                net.is_watched() && ofi::rma::opened().is_none_or(rma::Rma::is_watched)
            })
    }
}

#[cold]
#[inline(never)]
fn no_fabric() -> ! {
    unreachable!("a route by a fabric that was not opened")
}
