//! An endpoint for writes to and reads of registered memory of other processes: the calls of libfabric, and nothing of ours.
//!
//! It is another endpoint than that of the messages, in a domain of its own, so that a provider is asked for FI_RMA by processes with windows
//! only. Invariants: as those of [`super::port`]; an operation's context lives until its completion was read.

use super::bindings::*;
use super::choice::{Offer, choose};
use super::port::{Functions, Sent, Wish, call, load, offers};
use super::rma_bindings::{
    FI_DELIVERY_COMPLETE, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_RMA, fi_msg_rma, fi_ops_mr,
    fi_ops_rma, fi_rma_iov, fid_mr,
};
use crate::os::library::Library;
use crate::os::signals::Actions;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};

/// Bytes of an operation, at most.
const LONGEST: usize = 1 << 30;
/// Bytes of the longest address.
pub const LONGEST_ADDRESS: usize = 64;

/// See the module. Its objects are never closed, as those of [`super::port::Port`].
pub struct RmaPort {
    functions: Functions,
    fabric: *mut fid_fabric,
    domain: *mut fid_domain,
    ep: *mut fid_ep,
    cq: *mut fid_cq,
    av: *mut fid_av,
    descriptor: Option<i32>,
    mr_mode: u32,
    longest: usize,
    registered: u64,
    offer: Offer,
    library: String,
    _loaded: Library,
}

// SAFETY: the objects may be used by one thread after the other.
unsafe impl Send for RmaPort {}

/// Memory that others may access; not any more when this is dropped.
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
        unsafe {
            let close = call((*(*self.region).fid.ops).close);
            close(&raw mut (*self.region).fid);
        }
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
                // SAFETY: an entry of the library's list.
                let objects = unsafe { open(&functions, offers[index].1) }?;
                Ok((objects, plain[index].clone()))
            });
        // SAFETY: the list is not used any more; objects keep copies of what they need.
        unsafe { (functions.free)(all) };
        let (objects, offer) = opened?;
        Ok(RmaPort {
            fabric: objects.fabric,
            domain: objects.domain,
            ep: objects.ep,
            cq: objects.cq,
            av: objects.av,
            descriptor: objects.descriptor,
            mr_mode: objects.mr_mode,
            longest: objects.longest.min(LONGEST),
            registered: 0,
            functions,
            offer,
            library,
            _loaded: loaded,
        })
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
        let mut bytes = vec![0u8; LONGEST_ADDRESS];
        let mut length = bytes.len() as size_t;
        // SAFETY: the endpoint is open, and `bytes` has the length given.
        let result = unsafe {
            let getname = call((*(*self.ep).cm).getname);
            getname(
                &raw mut (*self.ep).fid,
                bytes.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        self.functions.check("fi_getname", result)?;
        bytes.truncate(length as usize);
        Ok(bytes)
    }

    /// Learns a peer's address.
    pub fn insert(&mut self, address: &[u8]) -> Result<u64, String> {
        let mut padded = [0u8; 256];
        let length = address.len().min(padded.len());
        padded[..length].copy_from_slice(&address[..length]);
        let mut found: fi_addr_t = u64::MAX;
        // SAFETY: the table is open; the address is at least as long as the provider reads, and of its format.
        let inserted = unsafe {
            let insert = call((*(*self.av).ops).insert);
            insert(
                self.av,
                padded.as_ptr().cast(),
                1,
                &raw mut found,
                0,
                null_mut(),
            )
        };
        match inserted {
            1 => Ok(found),
            error => Err(format!(
                "fi_av_insert: {}",
                self.functions.text(error.into())
            )),
        }
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
        let mut region: *mut fid_mr = null_mut();
        // SAFETY: domain and endpoint are open; the memory stays, by the caller's word.
        unsafe {
            let register = call((*(*self.domain).mr.cast::<fi_ops_mr>()).reg);
            let result = register(
                &raw mut (*self.domain).fid,
                base.cast_const().cast(),
                bytes as size_t,
                access,
                0,
                self.registered,
                0,
                &raw mut region,
                null_mut(),
            );
            self.functions.check("fi_mr_reg", result)?;
            let own = &raw mut (*region).fid;
            if self.mr_mode & FI_MR_ENDPOINT != 0 {
                let bind = call((*(*own).ops).bind);
                let result = bind(own, &raw mut (*self.ep).fid, 0);
                self.functions.check("fi_mr_bind", result)?;
                let control = call((*(*own).ops).control);
                let result = control(own, FI_ENABLE as i32, null_mut());
                self.functions.check("fi_mr_enable", result)?;
            }
            Ok(Registered {
                region,
                key: (*region).key,
                base: match self.mr_mode & FI_MR_VIRT_ADDR {
                    0 => 0,
                    _ => base as u64,
                },
            })
        }
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
                let write = call((*(*self.ep).rma.cast::<fi_ops_rma>()).writemsg);
                write(self.ep, message, flags.into())
            }
        });
        self.functions.outcome("fi_writemsg", result)
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
                let read = call((*(*self.ep).rma.cast::<fi_ops_rma>()).readmsg);
                read(self.ep, message, FI_COMPLETION.into())
            }
        });
        self.functions.outcome("fi_readmsg", result)
    }

    /// Makes progress, for others too. Tells which operations have ended; returns how many.
    pub fn poll(&mut self, mut tell: impl FnMut(Ended)) -> usize {
        const MOST: usize = 16;
        let mut entries = [const { std::mem::MaybeUninit::<fi_cq_tagged_entry>::uninit() }; MOST];
        // SAFETY: the queue is open and has the format of these entries; as many as it says are filled.
        let count = unsafe {
            let read = call((*(*self.cq).ops).read);
            read(self.cq, entries.as_mut_ptr().cast(), MOST as size_t)
        };
        if count > 0 {
            for entry in &entries[..count as usize] {
                tell(Ended {
                    // SAFETY: filled.
                    context: unsafe { entry.assume_init_ref() }.op_context,
                    error: None,
                });
            }
            return count as usize;
        }
        if count == -i64::from(FI_EAGAIN) {
            return 0;
        }
        // SAFETY: the queue is open.
        let Ok((context, text)) = (unsafe { self.functions.failed_in(self.cq) }) else {
            return 0;
        };
        tell(Ended {
            context,
            error: Some(text),
        });
        1
    }

    /// The descriptor that is readable when there is something to poll for, if the provider has one.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor is the queue's, which is open.
        self.descriptor
            .map(|number| unsafe { BorrowedFd::borrow_raw(number) })
    }

    /// Whether a thread may sleep until the descriptor is readable.
    pub fn may_sleep(&mut self) -> bool {
        if !self.try_wait() {
            return false;
        }
        let is_ready = self.descriptor().is_some_and(|descriptor| {
            let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
            poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        });
        if is_ready {
            const MILLISECONDS: i32 = 1;
            // A signal without a completion, which `net` of 1.17 leaves.
            // SAFETY: the queue is open; no entry is asked for, so none is lost.
            unsafe {
                let sread = call((*(*self.cq).ops).sread);
                sread(self.cq, null_mut(), 0, null(), MILLISECONDS);
            }
            return self.try_wait();
        }
        true
    }

    fn try_wait(&self) -> bool {
        // As `Port` does it.
        if self.descriptor.is_none() {
            return true;
        }
        // SAFETY: fabric and queue are open.
        unsafe {
            let mut queue = &raw mut (*self.cq).fid;
            let trywait = call((*(*self.fabric).ops).trywait);
            trywait(self.fabric, &raw mut queue, 1) == 0
        }
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
    let mut found = null_mut();
    // SAFETY: as in `port::list`.
    let result = unsafe {
        let hints = (functions.duplicate)(null());
        if hints.is_null() {
            return Err("fi_dupinfo: out of memory".to_owned());
        }
        (*hints).caps = u64::from(FI_RMA);
        (*hints).mode = FI_CONTEXT | FI_CONTEXT2;
        (*(*hints).ep_attr).type_ = FI_EP_RDM;
        let domain = (*hints).domain_attr;
        (*domain).threading = FI_THREAD_DOMAIN;
        (*domain).control_progress = FI_PROGRESS_MANUAL;
        (*domain).data_progress = FI_PROGRESS_MANUAL;
        (*domain).resource_mgmt = FI_RM_ENABLED;
        (*domain).mr_mode =
            (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT) as i32;
        // A provider that cannot say when a write is visible at the target is not used.
        (*(*hints).tx_attr).op_flags = FI_DELIVERY_COMPLETE.into();
        let result = (functions.get)(
            functions.version_to_ask(),
            null(),
            null(),
            0,
            hints,
            &raw mut found,
        );
        (functions.free)(hints);
        result
    };
    match result {
        0 => Ok(found),
        error => Err(format!("fi_getinfo: {}", functions.text(error.into()))),
    }
}

struct Objects {
    fabric: *mut fid_fabric,
    domain: *mut fid_domain,
    ep: *mut fid_ep,
    cq: *mut fid_cq,
    av: *mut fid_av,
    descriptor: Option<i32>,
    mr_mode: u32,
    longest: usize,
}

/// Opens all objects. What was opened before one fails is left.
///
/// # Safety
/// `info` is the library's.
unsafe fn open(functions: &Functions, info: *mut fi_info) -> Result<Objects, String> {
    // SAFETY: by the caller; the attributes are zero but for what is set, and each object is open when it is used.
    unsafe {
        let (mut fabric, mut domain, mut ep) = (null_mut(), null_mut(), null_mut());
        let (mut cq, mut av): (*mut fid_cq, *mut fid_av) = (null_mut(), null_mut());
        let result = (functions.fabric)((*info).fabric_attr, &raw mut fabric, null_mut());
        functions.check("fi_fabric", result)?;
        let open_domain = call((*(*fabric).ops).domain);
        let result = open_domain(fabric, info, &raw mut domain, null_mut());
        functions.check("fi_domain", result)?;
        let open_endpoint = call((*(*domain).ops).endpoint);
        let result = open_endpoint(domain, info, &raw mut ep, null_mut());
        functions.check("fi_endpoint", result)?;
        let mut attributes: fi_cq_attr = std::mem::zeroed();
        attributes.format = FI_CQ_FORMAT_TAGGED;
        attributes.size = 4096;
        attributes.wait_obj = FI_WAIT_FD;
        let open_queue = call((*(*domain).ops).cq_open);
        let mut result = open_queue(domain, &raw mut attributes, &raw mut cq, null_mut());
        let waits = result == 0;
        if !waits {
            attributes.wait_obj = FI_WAIT_NONE;
            result = open_queue(domain, &raw mut attributes, &raw mut cq, null_mut());
        }
        functions.check("fi_cq_open", result)?;
        let mut attributes: fi_av_attr = std::mem::zeroed();
        attributes.type_ = FI_AV_TABLE;
        let open_table = call((*(*domain).ops).av_open);
        let result = open_table(domain, &raw mut attributes, &raw mut av, null_mut());
        functions.check("fi_av_open", result)?;
        let bind = call((*(*ep).fid.ops).bind);
        let endpoint = &raw mut (*ep).fid;
        functions.check("fi_ep_bind", bind(endpoint, &raw mut (*av).fid, 0))?;
        let both = u64::from(FI_TRANSMIT | FI_RECV);
        functions.check("fi_ep_bind", bind(endpoint, &raw mut (*cq).fid, both))?;
        let control = call((*(*ep).fid.ops).control);
        functions.check("fi_enable", control(endpoint, FI_ENABLE as i32, null_mut()))?;
        let mut number = -1i32;
        let control = call((*(*cq).fid.ops).control);
        let has = waits
            && control(
                &raw mut (*cq).fid,
                FI_GETWAIT as i32,
                (&raw mut number).cast(),
            ) == 0;
        Ok(Objects {
            fabric,
            domain,
            ep,
            cq,
            av,
            descriptor: (has && number >= 0).then_some(number),
            mr_mode: (*(*info).domain_attr).mr_mode as u32,
            longest: (*(*info).ep_attr).max_msg_size as usize,
        })
    }
}
