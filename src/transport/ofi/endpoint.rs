//! An endpoint with its completion queue and addresses. [`super::port::Port`] and [`super::rma_port::RmaPort`] each have one.
//!
//! Invariants: an endpoint is used by one thread at a time (FI_THREAD_DOMAIN). Providers call connect, recv and send, which are
//! cancellation points: a thread that ended there would keep the provider's locks, so each call that the program's threads make is
//! [`Uncancelled`].

use super::bindings::*;
use super::library::{Functions, call};
use crate::os::cancellation::{Uncancelled, uncancelled};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};

/// Bytes of the longest address that a provider reads.
const ADDRESS: usize = 256;

/// Entries that are read at a time.
const MOST: usize = 16;

/// Room for entries of the completion queue.
pub struct Entries([MaybeUninit<fi_cq_tagged_entry>; MOST]);

impl Entries {
    #[inline]
    pub fn new() -> Entries {
        Entries([const { MaybeUninit::uninit() }; MOST])
    }
}

/// See the module. Its objects are never closed: they end with the process, so that what is under way keeps its place, and a close
/// here does not lose what a peer has not read.
pub(super) struct Endpoint {
    pub functions: Functions,
    pub domain: *mut fid_domain,
    pub ep: *mut fid_ep,
    cq: *mut fid_cq,
    av: *mut fid_av,
    fabric: *mut fid_fabric,
    waits: bool,
    descriptor: Option<i32>,
    has_failed: bool,
}

// SAFETY: the objects may be used by one thread after the other.
unsafe impl Send for Endpoint {}

impl Endpoint {
    /// Opens all objects, with an unbound queue of `entries` entries. What was opened before one fails is left: the process goes on without a
    /// fabric, or not at all.
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
                has_failed: false,
            })
        }
    }

    /// Binds the queue for the completions that `flags` name.
    pub fn bind(&mut self, flags: u64) -> Result<(), String> {
        // SAFETY: endpoint and queue are open.
        let result = unsafe {
            let bind = call((*(*self.ep).fid.ops).bind);
            bind(&raw mut (*self.ep).fid, &raw mut (*self.cq).fid, flags)
        };
        self.functions.check("fi_ep_bind", result)
    }

    /// Enables the endpoint, and finds the queue's descriptor.
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
        let _uncancelled = Uncancelled::begin();
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
        let _uncancelled = Uncancelled::begin();
        // SAFETY: the table is open, and has given out the address.
        unsafe {
            let remove = call((*(*self.av).ops).remove);
            // An address that is not there any more needs no removal.
            remove(self.av, &raw mut address, 1, 0);
        }
    }

    /// Registers memory for the access given, and binds it to the endpoint where the provider wants that.
    ///
    /// Errors: the function that has failed, and why.
    ///
    /// # Safety
    /// The memory stays until the region is closed, if others may access it.
    pub unsafe fn register(
        &mut self,
        (begin, bytes): (*mut u8, usize),
        access: u64,
        key: u64,
        by_endpoint: bool,
    ) -> Result<*mut fid_mr, String> {
        let _uncancelled = Uncancelled::begin();
        let mut region = null_mut();
        // SAFETY: domain and endpoint are open.
        unsafe {
            let register = call((*(*self.domain).mr).reg);
            let result = register(
                &raw mut (*self.domain).fid,
                begin.cast(),
                bytes as size_t,
                access,
                0,
                key,
                0,
                &raw mut region,
                null_mut(),
            );
            self.functions.check("fi_mr_reg", result)?;
            if by_endpoint {
                let own: *mut fid = &raw mut (*region).fid;
                let bind = call((*(*own).ops).bind);
                let result = bind(own, &raw mut (*self.ep).fid, 0);
                self.functions.check("fi_mr_bind", result)?;
                let control = call((*(*own).ops).control);
                let result = control(own, FI_ENABLE as i32, null_mut());
                self.functions.check("fi_mr_enable", result)?;
            }
        }
        Ok(region)
    }

    /// Ends a region's registration.
    ///
    /// # Safety
    /// The region is open, and nobody uses it any more.
    pub unsafe fn close(region: *mut fid_mr) {
        let _uncancelled = Uncancelled::begin();
        // SAFETY: by the caller.
        unsafe {
            let own: *mut fid = &raw mut (*region).fid;
            let close = call((*(*own).ops).close);
            close(own);
        }
    }

    /// Makes progress. Returns what is complete; nothing may be a [`Self::failure`].
    #[inline]
    pub fn read<'a>(&mut self, entries: &'a mut Entries) -> &'a [fi_cq_tagged_entry] {
        // SAFETY: the queue is open and has the format of these entries; as many as it says are filled.
        let count = uncancelled(|| unsafe {
            let read = call((*(*self.cq).ops).read);
            read(self.cq, entries.0.as_mut_ptr().cast(), MOST as size_t)
        });
        self.has_failed = count < 0 && count != -i64::from(FI_EAGAIN);
        let filled = &entries.0[..count.max(0) as usize];
        // SAFETY: the queue has filled these in.
        unsafe { std::slice::from_raw_parts(filled.as_ptr().cast(), filled.len()) }
    }

    /// The operation that has failed, by its context, and why, if the last [`Self::read`] has found nothing for that reason.
    ///
    /// Errors: the queue does not tell.
    #[inline]
    pub fn failure(&mut self) -> Option<Result<(*mut c_void, String), String>> {
        // SAFETY: the queue is open.
        self.has_failed
            .then(|| unsafe { self.functions.failed_in(self.cq) })
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
