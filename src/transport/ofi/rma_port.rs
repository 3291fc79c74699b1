//! An endpoint for writes to and reads of registered memory of other processes: the calls of libfabric, and nothing of ours.
//!
//! It is another endpoint than that of the messages, in a domain of its own, so that a provider is asked for FI_RMA by processes with windows
//! only. Invariants: those of [`super::endpoint`]; an operation's context lives until its completion was read.

use super::bindings::*;
use super::choice::{Offer, Wish, choose};
use super::endpoint::{Endpoint, Entries};
use super::library::{Functions, call, load, offers};
use super::rma_bindings::{
    FI_DELIVERY_COMPLETE, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_RMA, fi_msg_rma, fi_ops_rma,
    fi_rma_iov,
};
use crate::os::cancellation::Uncancelled;
use crate::os::signals::Actions;
use crate::transport::net::port::Sent;
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;

/// Bytes of an operation, at most.
const LONGEST: usize = 1 << 30;
/// Bytes of the longest address.
pub const LONGEST_ADDRESS: usize = 64;

/// See the module.
pub struct RmaPort {
    endpoint: Endpoint,
    mr_mode: u32,
    longest: usize,
    registered: u64,
    offer: Offer,
    library: String,
}

/// Memory that others may access until [`Self::close`].
pub struct Registered {
    region: *mut fid_mr,
    /// What others name it by.
    pub key: u64,
    /// What others call its first byte.
    pub base: u64,
}

// SAFETY: closed by whichever thread, one at a time (`super::rma`).
unsafe impl Send for Registered {}

impl Registered {
    /// Ends it.
    pub fn close(self) {
        // SAFETY: the region is open, and nobody has it any more.
        unsafe { Endpoint::close(self.region) };
    }
}

/// Memory of another process.
#[derive(Clone, Copy, Debug)]
pub struct There {
    /// The process, as [`RmaPort::insert`] has said.
    pub process: u64,
    pub address: u64,
    pub key: u64,
}

/// An end of an operation.
pub struct Ended {
    pub context: *mut c_void,
    pub error: Option<String>,
}

impl RmaPort {
    /// Opens an endpoint by the provider that has the messages.
    ///
    /// Errors: the library or the provider has nothing of the kind; the text says why.
    pub fn open(wish: &Wish<'_>, provider: &str) -> Result<RmaPort, String> {
        let _uncancelled = Uncancelled::begin();
        let actions = Actions::now();
        let port = Self::open_by_library(wish, provider);
        actions.restore();
        port
    }

    fn open_by_library(wish: &Wish<'_>, provider: &str) -> Result<RmaPort, String> {
        let (loaded, library) = load(wish.library)?;
        let functions = Functions::of(&loaded)?;
        let all = list(&functions)?;
        let mut offers: Vec<(Offer, *mut fi_info)> = offers(all);
        offers.retain(|(offer, _)| offer.provider == provider);
        let plain: Vec<Offer> = offers.iter().map(|(offer, _)| offer.clone()).collect();
        let opened = choose(&plain, wish.fabric, wish.interface, wish.one_host)
            .map_err(|_| format!("{provider} does not offer it"))
            .and_then(|(index, _)| {
                let info = offers[index].1;
                // SAFETY: an entry of the library's list, which fills this in.
                let (mr_mode, longest) = unsafe {
                    let longest = (*(*info).ep_attr).max_msg_size as usize;
                    ((*(*info).domain_attr).mr_mode as u32, longest)
                };
                Ok(RmaPort {
                    endpoint: open(functions, info)?,
                    mr_mode,
                    longest: longest.min(LONGEST),
                    registered: 0,
                    offer: plain[index].clone(),
                    library,
                })
            });
        // SAFETY: the list is not used any more; objects keep copies of what they need.
        unsafe { (functions.free)(all) };
        opened
    }

    /// Library, provider and interface.
    pub fn description(&self) -> String {
        let Offer {
            provider, domain, ..
        } = &self.offer;
        format!("{}, {provider} on {domain}", self.library)
    }

    /// Bytes of one operation, at most.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The address that others reach this endpoint by.
    pub fn address(&self) -> Result<Vec<u8>, String> {
        self.endpoint.address()
    }

    /// Learns a peer's address.
    pub fn insert(&mut self, address: &[u8]) -> Result<u64, String> {
        self.endpoint.insert(address)
    }

    /// Lets others access memory.
    ///
    /// Errors: the provider refuses.
    ///
    /// # Safety
    /// The memory stays until the region is closed.
    pub unsafe fn register(&mut self, base: *mut u8, bytes: usize) -> Result<Registered, String> {
        // A provider that makes keys itself ignores this one.
        self.registered += 1;
        let access = u64::from(FI_REMOTE_READ | FI_REMOTE_WRITE);
        let by_endpoint = self.mr_mode & FI_MR_ENDPOINT != 0;
        // SAFETY: the memory stays, by the caller's word.
        let region = unsafe {
            self.endpoint
                .register((base, bytes), access, self.registered, by_endpoint)
        };
        let region = region?;
        Ok(Registered {
            region,
            // SAFETY: the region is open.
            key: unsafe { (*region).key },
            base: match self.mr_mode & FI_MR_VIRT_ADDR {
                0 => 0,
                _ => base as u64,
            },
        })
    }

    /// Writes to memory of another process; complete when it is visible there.
    ///
    /// # Safety
    /// Memory and context stay until the completion was read.
    pub unsafe fn write(
        &mut self,
        there: &There,
        from: *const u8,
        bytes: usize,
        context: *mut c_void,
    ) -> Sent {
        let flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
        let result = message(there, from.cast_mut(), bytes, context, |message| {
            // SAFETY: the endpoint is open; what the message leads to stays, by the caller's word.
            unsafe {
                let write = call((*(*self.endpoint.ep).rma.cast::<fi_ops_rma>()).writemsg);
                write(self.endpoint.ep, message, flags.into())
            }
        });
        self.endpoint.functions.outcome("fi_writemsg", result)
    }

    /// Reads memory of another process.
    ///
    /// # Safety
    /// As for [`RmaPort::write`].
    pub unsafe fn read(
        &mut self,
        there: &There,
        to: *mut u8,
        bytes: usize,
        context: *mut c_void,
    ) -> Sent {
        let result = message(there, to, bytes, context, |message| {
            // SAFETY: as in `write`.
            unsafe {
                let read = call((*(*self.endpoint.ep).rma.cast::<fi_ops_rma>()).readmsg);
                read(self.endpoint.ep, message, FI_COMPLETION.into())
            }
        });
        self.endpoint.functions.outcome("fi_readmsg", result)
    }

    /// Makes progress, for others too. Tells which operations have ended; returns how many.
    pub fn poll(&mut self, mut tell: impl FnMut(Ended)) -> usize {
        let mut entries = Entries::new();
        let complete = self.endpoint.read(&mut entries);
        for entry in complete {
            tell(Ended {
                context: entry.op_context,
                error: None,
            });
        }
        let Some(Ok((context, text))) = self.endpoint.failure() else {
            return complete.len();
        };
        tell(Ended {
            context,
            error: Some(text),
        });
        1
    }

    /// The descriptor that is readable when there is something to poll for, if the provider has one.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.endpoint.descriptor()
    }

    /// Whether a thread may sleep until the descriptor is readable.
    pub fn may_sleep(&mut self) -> bool {
        self.endpoint.may_sleep()
    }
}

/// Calls with the description of an operation, valid during the call.
fn message<T>(
    there: &There,
    here: *mut u8,
    bytes: usize,
    context: *mut c_void,
    call: impl FnOnce(*const fi_msg_rma) -> T,
) -> T {
    let _uncancelled = Uncancelled::begin();
    let part = iovec {
        iov_base: here.cast(),
        iov_len: bytes as size_t,
    };
    let remote = fi_rma_iov {
        addr: there.address,
        len: bytes as size_t,
        key: there.key,
    };
    let mut description: *mut c_void = null_mut();
    call(&fi_msg_rma {
        msg_iov: &raw const part,
        desc: &raw mut description,
        iov_count: 1,
        addr: there.process,
        rma_iov: &raw const remote,
        rma_iov_count: 1,
        context,
        data: 0,
    })
}

/// All that can serve.
fn list(functions: &Functions) -> Result<*mut fi_info, String> {
    let modes = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    // A provider that cannot say when a write is visible at the target is not used.
    // SAFETY: the hints have this part.
    functions.list(FI_RMA, modes, |hints| unsafe {
        (*(*hints).tx_attr).op_flags = FI_DELIVERY_COMPLETE.into();
    })
}

/// Opens an endpoint as an RMA port has it.
fn open(functions: Functions, info: *mut fi_info) -> Result<Endpoint, String> {
    const ENTRIES: usize = 4096;
    // SAFETY: `info` is the library's.
    let mut endpoint = unsafe { Endpoint::open(functions, info, ENTRIES) }?;
    endpoint.bind((FI_TRANSMIT | FI_RECV).into())?;
    endpoint.enable()?;
    Ok(endpoint)
}
