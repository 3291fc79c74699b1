//! The fabric of a [`Transport`]: how it is opened, whether there is one, what wakes for it, and its end.

use super::net::{Directory, Net};
use super::ofi::{FABRIC, Fabric, Wish};
use super::{Route, Table, Transport, ofi, rma};
use crate::os::tell;
use crate::variables::show::SHOW;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Opens the first engine's end of the fabric; `settings`: the hash of what must be equal on all ranks.
///
/// Errors: as [`ofi::open`] and [`Net::new`] say.
pub fn open_fabric(
    fabric: Fabric,
    one_host: bool,
    table: Arc<Table>,
    directory: Arc<dyn Directory>,
    settings: u64,
) -> Result<Net, String> {
    let text_of = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let (library, interface) = (text_of("OXMPI_LIBFABRIC"), text_of("OXMPI_INTERFACE"));
    let wish = Wish {
        fabric,
        library: library.as_deref(),
        interface: interface.as_deref(),
        one_host,
    };
    let port = ofi::open(&wish, table.me())?;
    Net::new(port, table, directory, settings)
}

/// Opens a fabric for a process that meets others of another host, and whose job has no need for one.
///
/// Errors: as [`open_fabric`].
pub fn open_late(table: Arc<Table>, settings: u64) -> Result<Net, String> {
    let fabric = match FABRIC.get() {
        Fabric::No => Fabric::Auto,
        fabric => fabric,
    };
    let rank = table.me();
    let net = open_fabric(fabric, false, table, Arc::new(Nobody), settings)?;
    show_fabric(rank, &net);
    Ok(net)
}

/// Tells what messages go by, if that was asked for.
pub fn show_fabric(rank: u32, net: &Net) {
    if SHOW.get().fabric {
        tell(&format!(
            "oxmpi: rank {rank}: messages to other nodes go by {}\n",
            net.description()
        ));
    }
}

/// Of a job whose processes do not reach each other over the fabric: guests bring their cards.
struct Nobody;

impl Directory for Nobody {
    fn card(&self, _process: u32) -> Result<Option<String>, String> {
        Ok(None)
    }

    fn difference(&self, _process: u32) -> Option<String> {
        None
    }

    fn host(&self, _process: u32) -> String {
        "this host".to_owned()
    }
}

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

    /// Takes nothing more of a process that has ended. False: all that it had sent is here, as by shared memory.
    #[cold]
    pub fn shut_out(&mut self, process: u32) -> bool {
        match self.table.of(process).route {
            Route::Net(process) => self.remote().shut_out(process),
            #[cfg(test)]
            Route::Loopback(process) => self.looped().shut_out(process),
            _ => return false,
        }
        true
    }

    /// Takes nothing more of processes whose hosts are lost: they may run on there. Called after each piece of news.
    #[cold]
    pub fn fence(&mut self) {
        if let Some(net) = &mut self.net {
            net.fence();
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
