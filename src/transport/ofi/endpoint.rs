//! An endpoint of a fabric with its completion queue and its addresses, as [`super::port::Port`] and [`super::rma_port::RmaPort`] have one each.
//!
//! Invariants: an endpoint is used by one thread at a time (FI_THREAD_DOMAIN). Providers call connect, recv and send, which are
//! cancellation points: a thread that ended there would keep the provider's locks, so each call that the program's threads make is
//! [`Uncancelled`].

use super::bindings::*;
use super::library::{Functions, call};
use crate::os::cancellation::Uncancelled;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};

/// Bytes of the longest address that a provider reads.
const ADDRESS: usize = 256;

/// See the module. Its objects are never closed: they end with the process, so that what is under way keeps its place, and a close
/// here does not lose what a peer has not read.
pub(super) struct Endpoint {
    pub functions: Functions,
    pub domain: *mut fid_domain,
    pub ep: *mut fid_ep,
    pub cq: *mut fid_cq,
    av: *mut fid_av,
    fabric: *mut fid_fabric,
    waits: bool,
    descriptor: Option<i32>,
}

// SAFETY: the objects may be used by one thread after the other.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// Opens all objects, with a queue of so many entries, which is to be bound. What was opened before one fails is left: the process goes on
    /// without a fabric, or not at all.
    ///
    /// Errors: what the provider says, with the function's name.
    ///
    /// # Safety
    /// `info` is the library's.
    pub unsafe fn open(
        functions: Functions,
        info: *mut fi_info,
        entries: usize,
    ) -> Result<Endpoint, String> {
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
            attributes.size = entries as size_t;
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
            let result = bind(&raw mut (*ep).fid, &raw mut (*av).fid, 0);
            functions.check("fi_ep_bind", result)?;
            Ok(Endpoint {
                functions,
                domain,
                ep,
                cq,
                av,
                fabric,
                waits,
                descriptor: None,
            })
        }
    }

    /// Has the queue tell of what the flags say.
    pub fn bind(&mut self, flags: u64) -> Result<(), String> {
        // SAFETY: endpoint and queue are open.
        let result = unsafe {
            let bind = call((*(*self.ep).fid.ops).bind);
            bind(&raw mut (*self.ep).fid, &raw mut (*self.cq).fid, flags)
        };
        self.functions.check("fi_ep_bind", result)
    }

    /// Lets it be used.
    pub fn enable(&mut self) -> Result<(), String> {
        // SAFETY: all objects are open; the number is as large as the provider writes.
        unsafe {
            let control = call((*(*self.ep).fid.ops).control);
            let result = control(&raw mut (*self.ep).fid, FI_ENABLE as i32, null_mut());
            self.functions.check("fi_enable", result)?;
            let mut number = -1i32;
            let control = call((*(*self.cq).fid.ops).control);
            let has = self.waits
                && control(
                    &raw mut (*self.cq).fid,
                    FI_GETWAIT as i32,
                    (&raw mut number).cast(),
                ) == 0;
            self.descriptor = (has && number >= 0).then_some(number);
        }
        Ok(())
    }

    /// The address that others reach it by.
    pub fn address(&self) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0u8; ADDRESS];
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
        let _uncancelled = Uncancelled::begin();
        let mut padded = [0u8; ADDRESS];
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

    /// Forgets a peer's address, and the connection with it.
    pub fn remove(&mut self, mut address: u64) {
        // SAFETY: the table is open, and has given out the address.
        unsafe {
            let remove = call((*(*self.av).ops).remove);
            // An address that is not there any more needs no removal.
            remove(self.av, &raw mut address, 1, 0);
        }
    }

    /// Registers memory for the access given, and binds it to the endpoint where the provider wants that.
    ///
    /// Errors: libfabric's number.
    ///
    /// # Safety
    /// The memory stays until the region is closed, if others may access it.
    pub unsafe fn register(
        &mut self,
        (begin, bytes): (*mut u8, usize),
        access: u64,
        key: u64,
        by_endpoint: bool,
    ) -> Result<*mut fid_mr, i32> {
        let _uncancelled = Uncancelled::begin();
        let done = |result: i32| match result {
            0 => Ok(()),
            error => Err(error),
        };
        let mut region = null_mut();
        // SAFETY: domain and endpoint are open.
        unsafe {
            let register = call((*(*self.domain).mr).reg);
            done(register(
                &raw mut (*self.domain).fid,
                begin.cast(),
                bytes as size_t,
                access,
                0,
                key,
                0,
                &raw mut region,
                null_mut(),
            ))?;
            if by_endpoint {
                let own: *mut fid = &raw mut (*region).fid;
                let bind = call((*(*own).ops).bind);
                done(bind(own, &raw mut (*self.ep).fid, 0))?;
                let control = call((*(*own).ops).control);
                done(control(own, FI_ENABLE as i32, null_mut()))?;
            }
        }
        Ok(region)
    }

    /// The descriptor that is readable when something may be complete, if the provider has one.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor is the queue's, which is open.
        self.descriptor
            .map(|number| unsafe { BorrowedFd::borrow_raw(number) })
    }

    /// Whether a thread may sleep until the descriptor is readable; if not, there is something to poll for.
    pub fn may_sleep(&mut self) -> bool {
        let _uncancelled = Uncancelled::begin();
        if !self.try_wait() {
            return false;
        }
        if self.is_ready() {
            self.take_signal();
            return self.try_wait();
        }
        true
    }

    fn try_wait(&self) -> bool {
        // Without a wait object there is nothing to ask, and `shm` of libfabric 2 crashes.
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

    /// Whether the descriptor is readable.
    fn is_ready(&self) -> bool {
        let Some(descriptor) = self.descriptor() else {
            return false;
        };
        let mut polled = [PollFd::new(&descriptor, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Takes back a signal that has no completion behind it, by the provider's own wait. fi_trywait of `net` in 1.17 leaves it.
    #[cold]
    fn take_signal(&mut self) {
        const MILLISECONDS: i32 = 1;
        // SAFETY: the queue is open; no entry is asked for, so none is lost.
        unsafe {
            let sread = call((*(*self.cq).ops).sread);
            sread(self.cq, null_mut::<c_void>(), 0, null(), MILLISECONDS);
        }
    }
}
