//! The endpoint of a process's messages: sends, and receive buffers for several messages each. The calls of libfabric, and nothing of ours.
//!
//! Invariants: a place that a call has been given stays where it is until its completion was read ([`super::pool`]); those of
//! [`super::endpoint`].

use super::bindings::*;
use super::choice::{Offer, Wish, choose};
use super::endpoint::{Endpoint, Entries};
use super::library::{Functions, Sent, call, load, offers, text_of};
use super::record::LARGEST;
use super::wanted::Wanted;
use crate::os::cancellation::Uncancelled;
use crate::os::signals::Actions;
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;

/// An entry of the completion queue.
pub enum Completion {
    /// A transmission is complete; its place is free.
    Sent(*mut fi_context2),
    /// A message has come into the buffer posted with this context; the buffer is the port's no more if it says `released`.
    Received {
        context: *mut fi_context2,
        data: *const u8,
        length: usize,
        released: bool,
    },
    /// An operation failed.
    Failed {
        context: *mut fi_context2,
        text: String,
    },
}

/// See the module.
pub struct Port {
    pub(super) endpoint: Endpoint,
    inject: usize,
    pub(super) longest: usize,
    pub(super) tag_bits: u64,
    pub(super) registration: Wanted,
    /// Registrations that were made, and those that are there.
    pub(super) registrations: u64,
    pub(super) open_registrations: u64,
    #[cfg(test)]
    pub(super) refuses_registration: bool,
    description: String,
    provider: String,
    loopback: bool,
    /// What it was opened with, for further ones; never freed.
    info: *mut fi_info,
}

// SAFETY: what it was opened with is read only.
unsafe impl Send for Port {}

impl Port {
    /// Opens a port by the best provider.
    ///
    /// Errors: there is no library, it is too old, no provider serves, or the provider fails; the text says which.
    pub fn open(wish: &Wish<'_>) -> Result<Port, String> {
        let actions = Actions::now();
        let port = Self::open_by_library(wish);
        actions.restore();
        port
    }

    fn open_by_library(wish: &Wish<'_>) -> Result<Port, String> {
        let (library, path) = load(wish.library)?;
        let functions = Functions::of(&library).map_err(|text| format!("{path}: {text}"))?;
        let shown = format!(
            "{path} {}",
            functions
                .version()
                .map_err(|text| format!("{path}: {text}"))?
        );
        let all = list(&functions).map_err(|text| format!("{shown}: {text}"))?;
        let offers: Vec<(Offer, *mut fi_info)> = offers(all);
        let plain: Vec<Offer> = offers.iter().map(|(offer, _)| offer.clone()).collect();
        let chosen = choose(&plain, wish.fabric, wish.interface, wish.one_host);
        let opened = chosen
            .map_err(|text| format!("{shown}: {text}"))
            .and_then(|(index, why)| {
                let (offer, info) = &offers[index];
                // SAFETY: the entry is one of the library's list, which is there.
                let info = unsafe { (functions.duplicate)(*info) };
                if info.is_null() {
                    return Err(format!("{shown}: fi_dupinfo: out of memory"));
                }
                let name = format!("{} on {}", offer.provider, offer.domain);
                let endpoint =
                    open(functions, info).map_err(|text| format!("{shown}, {name}: {text}"))?;
                // SAFETY: the library fills this in for every entry and its copies.
                unsafe {
                    let ep = (*info).ep_attr;
                    Ok(Port {
                        endpoint,
                        inject: (*(*info).tx_attr).inject_size as usize,
                        longest: (*ep).max_msg_size as usize,
                        tag_bits: bits_below((*ep).mem_tag_format),
                        registration: Wanted::of((*(*info).domain_attr).mr_mode),
                        registrations: 0,
                        open_registrations: 0,
                        #[cfg(test)]
                        refuses_registration: false,
                        description: format!("{shown}, {name}: {why}"),
                        provider: offer.provider.clone(),
                        loopback: offer.is_loopback,
                        info,
                    })
                }
            });
        // SAFETY: the list is not used any more; objects keep copies of what they need.
        unsafe { (functions.free)(all) };
        opened
    }

    /// Opens another port of the same provider and interface, with objects of its own: another thread may use it at the same time.
    ///
    /// Errors: what the provider says.
    pub fn another(&self) -> Result<Port, String> {
        let actions = Actions::now();
        let endpoint = open(self.endpoint.functions, self.info);
        actions.restore();
        Ok(Port {
            endpoint: endpoint.map_err(|text| format!("{}: {text}", self.description))?,
            registrations: 0,
            open_registrations: 0,
            description: self.description.clone(),
            provider: self.provider.clone(),
            ..*self
        })
    }

    /// Library, version, provider, interface, and why.
    pub fn description(&self) -> &str {
        &self.description
    }

    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Whether its interface is the loopback one.
    pub fn is_on_loopback(&self) -> bool {
        self.loopback
    }

    /// Messages of up to so many bytes go by [`Self::inject`].
    pub fn inject_bytes(&self) -> usize {
        self.inject
    }

    /// The address that others reach this port by.
    pub fn address(&self) -> Result<Vec<u8>, String> {
        self.endpoint.address()
    }

    /// Learns a peer's address.
    pub fn insert(&mut self, address: &[u8]) -> Result<u64, String> {
        self.endpoint.insert(address)
    }

    /// Forgets a peer's address, and the connection with it.
    pub fn remove(&mut self, address: u64) {
        self.endpoint.remove(address);
    }

    /// Sends a message of at most [`Self::inject_bytes`], which is copied.
    #[inline]
    pub fn inject(&mut self, to: u64, message: &[u8]) -> Sent {
        let _uncancelled = Uncancelled::begin();
        // SAFETY: the endpoint is open; the message is used during the call only.
        let result = unsafe {
            let inject = (*(*self.endpoint.ep).msg).inject;
            call(inject)(
                self.endpoint.ep,
                message.as_ptr().cast(),
                message.len() as size_t,
                to,
            )
        };
        self.outcome("fi_inject", result)
    }

    /// Sends a message out of memory with this description.
    ///
    /// # Safety
    /// Message and context stay, and the message unchanged, until the completion with this context was read.
    #[inline]
    pub unsafe fn send(
        &mut self,
        to: u64,
        message: *const u8,
        bytes: usize,
        description: *mut c_void,
        context: *mut fi_context2,
    ) -> Sent {
        let _uncancelled = Uncancelled::begin();
        let part = (message.cast_mut(), bytes, description);
        let result = in_one_part(part, to, context, |message| {
            // SAFETY: the endpoint is open; what the message leads to stays, by the caller's word.
            unsafe {
                let send = (*(*self.endpoint.ep).msg).sendmsg;
                call(send)(self.endpoint.ep, message, FI_COMPLETION.into())
            }
        });
        self.outcome("fi_sendmsg", result)
    }

    /// Gives the port a buffer for several messages.
    ///
    /// # Safety
    /// Buffer and context stay, and nobody writes the buffer, until a completion with this context has said that it is released.
    pub unsafe fn post(
        &mut self,
        buffer: *mut u8,
        bytes: usize,
        description: *mut c_void,
        context: *mut fi_context2,
    ) -> Sent {
        let _uncancelled = Uncancelled::begin();
        let part = (buffer, bytes, description);
        let result = in_one_part(part, u64::MAX, context, |message| {
            // SAFETY: as in `send`.
            unsafe {
                let receive = (*(*self.endpoint.ep).msg).recvmsg;
                call(receive)(self.endpoint.ep, message, FI_MULTI_RECV.into())
            }
        });
        self.outcome("fi_recvmsg", result)
    }

    /// Makes progress. Returns what is complete; nothing may be a [`Self::failure`].
    #[inline]
    pub fn poll<'a>(&mut self, entries: &'a mut Entries) -> &'a [fi_cq_tagged_entry] {
        self.endpoint.read(entries)
    }

    /// Why the last [`Self::poll`] has found nothing, if an operation has failed.
    #[inline]
    pub fn failure(&mut self) -> Option<Completion> {
        let failure = self.endpoint.failure()?;
        let (context, text) =
            failure.unwrap_or_else(|text| (null_mut(), format!("fi_cq_readerr: {text}")));
        Some(Completion::Failed {
            context: context.cast(),
            text,
        })
    }

    /// The descriptor that is readable when something may be complete, if the provider has one.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.endpoint.descriptor()
    }

    /// Whether a thread may sleep until the descriptor is readable; if not, there is something to poll for.
    pub fn may_sleep(&mut self) -> bool {
        self.endpoint.may_sleep()
    }

    #[inline]
    pub(super) fn outcome(&self, function: &str, result: i64) -> Sent {
        self.endpoint.functions.outcome(function, result)
    }
}

/// Calls with the description of a message that is one run of bytes, valid during the call. Memory that is not registered has no description.
#[inline]
fn in_one_part<T>(
    (begin, bytes, mut description): (*mut u8, usize, *mut c_void),
    peer: u64,
    context: *mut fi_context2,
    call: impl FnOnce(*const fi_msg) -> T,
) -> T {
    let part = iovec {
        iov_base: begin.cast(),
        iov_len: bytes as size_t,
    };
    call(&fi_msg {
        msg_iov: &raw const part,
        desc: &raw mut description,
        iov_count: 1,
        addr: peer,
        context: context.cast(),
        data: 0,
    })
}

/// What an entry says.
#[inline]
pub fn completion(entry: &fi_cq_tagged_entry) -> Completion {
    let context = entry.op_context.cast();
    if entry.flags & u64::from(FI_RECV | FI_MULTI_RECV) == 0 {
        return Completion::Sent(context);
    }
    let length = match entry.flags & u64::from(FI_RECV) {
        0 => 0,
        _ => entry.len as usize,
    };
    Completion::Received {
        context,
        data: entry.buf.cast_const().cast(),
        length,
        released: entry.flags & u64::from(FI_MULTI_RECV) != 0,
    }
}

/// All bits up to the highest that is set. libfabric's format of tags has fields of alternating bits, the highest one set; zero stands for all.
fn bits_below(format: u64) -> u64 {
    match format {
        0 => u64::MAX,
        format => u64::MAX >> format.leading_zeros(),
    }
}

/// All that can serve.
fn list(functions: &Functions) -> Result<*mut fi_info, String> {
    let modes = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    let capabilities = FI_MSG | FI_TAGGED | FI_MULTI_RECV;
    // SAFETY: the hints have these parts.
    functions.list(capabilities, modes, |hints| unsafe {
        (*(*hints).tx_attr).msg_order = FI_ORDER_SAS.into();
        (*(*hints).rx_attr).msg_order = FI_ORDER_SAS.into();
    })
}

/// Opens an endpoint as a port has it.
fn open(functions: Functions, info: *mut fi_info) -> Result<Endpoint, String> {
    const ENTRIES: usize = 8192;
    // SAFETY: `info` is the library's.
    let mut endpoint = unsafe { Endpoint::open(functions, info, ENTRIES) }?;
    endpoint.bind(u64::from(FI_TRANSMIT) | FI_SELECTIVE_COMPLETION)?;
    // Without selective completion: multi-receive buffers would be silent.
    endpoint.bind(FI_RECV.into())?;
    // SAFETY: as above.
    let provider = unsafe { text_of((*(*info).fabric_attr).prov_name) };
    // `ofi_rxm` of libfabric 2 takes no notice of it after fi_enable, and cuts messages off; `shm` and `sm2` crash before.
    if provider.ends_with(";ofi_rxm") {
        tell_longest(&endpoint)?;
    }
    endpoint.enable()?;
    tell_longest(&endpoint)?;
    Ok(endpoint)
}

/// Has a receive buffer released when the longest message does not fit into it any more.
fn tell_longest(endpoint: &Endpoint) -> Result<(), String> {
    let mut least: size_t = LARGEST as size_t;
    // SAFETY: the endpoint is open; the value is as long as is said.
    let result = unsafe {
        let setopt = call((*(*endpoint.ep).ops).setopt);
        setopt(
            &raw mut (*endpoint.ep).fid,
            FI_OPT_ENDPOINT as i32,
            FI_OPT_MIN_MULTI_RECV as i32,
            (&raw mut least).cast(),
            size_of::<size_t>() as size_t,
        )
    };
    endpoint.functions.check("fi_setopt", result)
}
