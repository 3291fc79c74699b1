//! Writes to and reads of windows of other hosts by the fabric itself (`docs/windows.md`, "RMA of the fabric").
//!
//! One endpoint a process ([`super::rma_port`]), opened with the first window over several hosts, behind a lock of its own, so that neither an
//! operation nor its end needs the engine. Whoever polls makes progress for all: a thread that waits, and the thread of windows over hosts.
//! Invariant: the function that an operation has given is called once, without the lock, when the operation has ended.

use super::bindings::fi_context2;
use super::choice::{Fabric, Wish};
use super::rma_port::{Ended, LONGEST_ADDRESS, Registered, RmaPort, There};
use crate::os::tell;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::transport::net::port::Sent;
use crate::variables::Variable;
use crate::variables::show::SHOW;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

crate::choice! {
    /// Whether windows over hosts use the fabric's own writes and reads.
    pub enum Use {
        Auto = "auto",
        Yes = "yes" | "true" | "on" | "1",
        No = "no" | "false" | "off" | "0",
    }
}

/// Whether they do.
pub static FABRIC_RMA: Variable<Use> = Variable::new(
    "FABRIC_RMA",
    Use::Auto,
    "Whether MPI_Put and MPI_Get to other hosts are RMA operations of libfabric; with \"auto\" where the provider has an adapter that does them \
     (cxi, efa, opx, psm2, psm3, ucx, verbs). Else, and for all other operations, a thread of the target's process takes messages.",
);

/// Providers whose adapters, or libraries below, move data to registered memory. Those over TCP have the target's processor do it, as messages have.
const WITH_ADAPTER: &[&str] = &["cxi", "efa", "opx", "psm2", "psm3", "ucx", "verbs;ofi_rxm"];

/// Whether a provider has such an adapter.
pub fn has_adapter(provider: &str) -> bool {
    WITH_ADAPTER.contains(&provider)
}

/// What the messages go by, from which the endpoint follows.
struct Plan {
    fabric: Fabric,
    library: Option<String>,
    interface: Option<String>,
    one_host: bool,
    provider: String,
    /// Of this process, and whether it says what it chooses.
    process: u32,
    shows: bool,
}

static PLAN: OnceLock<Plan> = OnceLock::new();
static RMA: OnceLock<Option<Rma>> = OnceLock::new();

/// Remembers what this process's messages go by.
pub(super) fn remember(wish: &Wish<'_>, provider: &str, process: u32) {
    let _ = PLAN.set(Plan {
        fabric: wish.fabric,
        library: wish.library.map(str::to_owned),
        interface: wish.interface.map(str::to_owned),
        one_host: wish.one_host,
        provider: provider.to_owned(),
        process,
        shows: SHOW.get().fabric,
    });
}

/// Why not, or that it may.
fn may_use(choice: Use, provider: &str) -> Result<(), String> {
    match choice {
        Use::No => Err("OXMPI_FABRIC_RMA=no".to_owned()),
        Use::Yes => Ok(()),
        Use::Auto if has_adapter(provider) => Ok(()),
        Use::Auto => Err(format!(
            "{provider} has the target's processor do the work, as messages have; OXMPI_FABRIC_RMA=yes uses it"
        )),
    }
}

/// The endpoint of this process; the first call opens it. `None`: it is not used, or not to be had.
pub fn rma() -> Option<&'static Rma> {
    RMA.get_or_init(|| {
        let plan = PLAN.get()?;
        let opened = may_use(FABRIC_RMA.get(), &plan.provider).and_then(|()| Rma::open(plan));
        if plan.shows {
            let (process, how) = (plan.process, "puts and gets of windows go by");
            tell(&match &opened {
                Ok(rma) => format!(
                    "oxmpi: rank {process}: {how} RMA of {}\n",
                    rma.port.lock().description()
                ),
                Err(why) => format!("oxmpi: rank {process}: {how} messages: {why}\n"),
            });
        }
        opened.ok()
    })
    .as_ref()
}

/// The endpoint, if there is one.
#[inline]
pub fn opened() -> Option<&'static Rma> {
    RMA.get()?.as_ref()
}

/// Callback for the end of an operation, with what was wrong.
pub type End = Box<dyn FnOnce(Option<String>) + Send>;

/// An operation that is under way. The provider has its context.
#[repr(C)]
struct Operation {
    context: fi_context2,
    end: End,
}

/// Which way an operation moves bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    Write,
    Read,
}

/// How an attempt to begin an operation has gone.
pub enum Begun {
    Yes,
    /// No room now, or the connection is being made; `end` comes back.
    Later(End),
    Failed(String),
}

/// See the module.
pub struct Rma {
    port: Mutex<RmaPort>,
    address: Vec<u8>,
    longest: usize,
    /// Peers by process number.
    peers: Mutex<HashMap<u32, u64>>,
    watched: AtomicBool,
    begun: AtomicU64,
    /// Operations of those whose end was told.
    ended: AtomicU64,
}

impl Rma {
    fn open(plan: &Plan) -> Result<Rma, String> {
        let wish = Wish {
            fabric: plan.fabric,
            library: plan.library.as_deref(),
            interface: plan.interface.as_deref(),
            one_host: plan.one_host,
        };
        let port = RmaPort::open(&wish, &plan.provider)?;
        let address = port.address()?;
        if address.len() > LONGEST_ADDRESS {
            return Err(format!("its addresses have {} bytes", address.len()));
        }
        Ok(Rma {
            longest: port.longest(),
            port: Mutex::new(port),
            address,
            peers: Mutex::default(),
            watched: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        })
    }

    /// The address of this process, at most [`LONGEST_ADDRESS`] bytes.
    pub fn address(&self) -> &[u8] {
        &self.address
    }

    /// Bytes of one operation, at most.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Operations that were begun.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Whether no operation of this process is under way.
    pub fn is_settled(&self) -> bool {
        // Acquire: pairs with `poll`; what an end has moved is there. Another order of the two would miss one that ends in between.
        let ended = self.ended.load(Ordering::Acquire);
        ended == self.begun()
    }

    /// The number by which a process is reached.
    ///
    /// Errors: the provider does not take its address.
    pub fn peer(&self, process: u32, address: &[u8]) -> Result<u64, String> {
        let mut peers = self.peers.lock();
        if let Some(known) = peers.get(&process) {
            return Ok(*known);
        }
        let number = self.port.lock().insert(address)?;
        peers.insert(process, number);
        Ok(number)
    }

    /// Lets others access memory.
    ///
    /// Errors: the provider refuses.
    ///
    /// # Safety
    /// The memory stays until [`Rma::forget`].
    pub unsafe fn register(&self, base: *mut u8, bytes: usize) -> Result<Registered, String> {
        // SAFETY: by the caller.
        unsafe { self.port.lock().register(base, bytes) }
    }

    /// Ends that.
    pub fn forget(&self, registered: Registered) {
        let _port = self.port.lock();
        registered.close();
    }

    /// Begins an operation.
    ///
    /// # Safety
    /// There are so many bytes at `here`, which stay until `end` is called.
    pub unsafe fn begin(
        &self,
        which: Move,
        there: &There,
        here: *mut u8,
        bytes: usize,
        end: End,
    ) -> Begun {
        let context = fi_context2 {
            internal: [std::ptr::null_mut(); 8],
        };
        let operation = Box::into_raw(Box::new(Operation { context, end }));
        // First: it may end before the provider returns.
        self.begun.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the bytes by the caller; the operation is freed when it has ended.
        let sent = unsafe {
            let mut port = self.port.lock();
            match which {
                Move::Write => port.write(there, here, bytes, operation.cast()),
                Move::Read => port.read(there, here, bytes, operation.cast()),
            }
        };
        let back = || {
            self.begun.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: as it was made; the provider has not taken it.
            unsafe { Box::from_raw(operation) }
        };
        match sent {
            Sent::Done => Begun::Yes,
            Sent::Later => Begun::Later(back().end),
            Sent::Failed(text) => {
                drop(back());
                Begun::Failed(text)
            }
        }
    }

    /// Makes progress, also for operations of others on this process's memory. True if an operation has ended.
    pub fn poll(&self) -> bool {
        let mut ended: SmallVec<[Ended; 16]> = SmallVec::new();
        // Whoever is inside makes progress for all.
        let Some(mut port) = self.port.try_lock() else {
            return false;
        };
        port.poll(|one| ended.push(one));
        drop(port);
        let any = !ended.is_empty();
        for one in ended {
            if one.context.is_null() {
                continue;
            }
            // SAFETY: the context of an operation that was begun, which ends once.
            let operation = unsafe { Box::from_raw(one.context.cast::<Operation>()) };
            (operation.end)(one.error);
            self.ended.fetch_add(1, Ordering::Release);
        }
        any
    }

    /// Has the descriptor watched by `watch`, once.
    pub fn watch_by(&self, watch: impl FnOnce(BorrowedFd<'_>) -> bool) {
        let port = self.port.lock();
        if !self.watched.load(Ordering::Relaxed)
            && let Some(descriptor) = port.descriptor()
        {
            self.watched.store(watch(descriptor), Ordering::Relaxed);
        }
    }

    /// Whether sleepers are woken for what comes in here.
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// Whether a thread that has announced itself may sleep.
    pub fn may_sleep(&self) -> bool {
        // Those who sleep forget that there are windows: what comes now must be taken all the same.
        !self.poll() && self.port.lock().may_sleep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_without_adapters_are_used_if_asked_for() {
        for provider in ["net", "tcp", "tcp;ofi_rxm", "sockets"] {
            let why = may_use(Use::Auto, provider).unwrap_err();
            assert!(why.starts_with(provider), "{why}");
            assert!(may_use(Use::Yes, provider).is_ok());
        }
        for provider in WITH_ADAPTER {
            assert!(may_use(Use::Auto, provider).is_ok());
            assert!(may_use(Use::No, provider).is_err());
        }
    }
}
