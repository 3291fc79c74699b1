//! The endpoint of a process's messages: libfabric's [`Port`].
//!
//! Memory is registered where a provider's network card reads and writes it by itself (FI_MR_LOCAL): buffers of a pool once, buffers of the program
//! for one transfer each. A cache would have to notice whenever the program gives memory back to the system.
//!
//! Invariants: those of [`super::endpoint`].

use super::bindings::*;
use super::choice::{Offer, Wish, choose};
use super::endpoint::{Endpoint, Entries};
use super::library::{Functions, call, load, offers};
use super::rma::has_adapter;
use super::wanted::Wanted;
use crate::os::cancellation::Uncancelled;
use crate::os::library::text_of;
use crate::os::signals::Actions;
use crate::transport::net::port::{
    Completion, Completions, Context, LARGEST, Port, Registered, Run, Sent,
};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;

/// Providers whose messages come in one stream of bytes: what is missing is lost. What they say of it themselves (`comp_order`) is less.
const COMPLETING_IN_ORDER: &[&str] = &["net", "tcp"];

const _: () = assert!(
    size_of::<Context>() >= size_of::<fi_context2>()
        && align_of::<Context>() >= align_of::<fi_context2>()
);

/// See the module.
pub struct MessagePort {
    endpoint: Endpoint,
    inject: usize,
    longest: usize,
    tag_bits: u64,
    registration: Wanted,
    /// Registrations that were made, and those that are there.
    registrations: u64,
    open_registrations: u64,
    #[cfg(test)]
    refuses_registration: bool,
    description: String,
    provider: String,
    loopback: bool,
    /// What it was opened with, for further ones; never freed.
    info: *mut fi_info,
}

// SAFETY: what it was opened with is read only.
unsafe impl Send for MessagePort {}

impl MessagePort {
    /// Opens a port by the best provider.
    ///
    /// Errors: there is no library, it is too old, no provider serves, or the provider fails; the text says which.
    pub fn open(wish: &Wish<'_>) -> Result<MessagePort, String> {
        let actions = Actions::now();
        let port = Self::open_by_library(wish);
        actions.restore();
        port
    }

    fn open_by_library(wish: &Wish<'_>) -> Result<MessagePort, String> {
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
                    Ok(MessagePort {
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

    /// Has memory registered although the provider does not want it, from now on.
    #[cfg(test)]
    pub fn want_registration(&mut self) {
        self.registration.local = true;
    }

    #[inline]
    fn outcome(&self, function: &str, result: i64) -> Sent {
        self.endpoint.functions.outcome(function, result)
    }
}

// SAFETY: libfabric's completions have the context and the buffer of their operations, and one each but for FI_MULTI_RECV.
unsafe impl Port for MessagePort {
    fn another(&self) -> Result<Box<dyn Port>, String> {
        let actions = Actions::now();
        let endpoint = open(self.endpoint.functions, self.info);
        actions.restore();
        Ok(Box::new(MessagePort {
            endpoint: endpoint.map_err(|text| format!("{}: {text}", self.description))?,
            registrations: 0,
            open_registrations: 0,
            description: self.description.clone(),
            provider: self.provider.clone(),
            ..*self
        }))
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn provider(&self) -> &str {
        &self.provider
    }

    fn is_on_loopback(&self) -> bool {
        self.loopback
    }

    fn has_adapter(&self) -> bool {
        has_adapter(&self.provider)
    }

    fn completes_in_order(&self) -> bool {
        COMPLETING_IN_ORDER.contains(&self.provider.as_str())
    }

    fn wants_registration(&self) -> bool {
        self.registration.local
    }

    fn inject_bytes(&self) -> usize {
        self.inject
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn tag_bits(&self) -> u64 {
        self.tag_bits
    }

    fn address(&self) -> Result<Vec<u8>, String> {
        self.endpoint.address()
    }

    fn insert(&mut self, address: &[u8]) -> Result<u64, String> {
        self.endpoint.insert(address)
    }

    fn remove(&mut self, address: u64) {
        self.endpoint.remove(address);
    }

    fn register(&mut self, begin: *mut u8, bytes: usize) -> Result<Registered, String> {
        if !self.registration.local {
            return Ok(Registered::none());
        }
        #[cfg(test)]
        if self.refuses_registration {
            return Err("there is no room".to_owned());
        }
        self.registrations += 1;
        let (access, key) = (u64::from(FI_SEND | FI_RECV), self.registrations);
        let by_endpoint = self.registration.by_endpoint;
        // SAFETY: nobody else may access it, and operations that do are given memory by their own rules.
        let result = unsafe {
            self.endpoint
                .register((begin, bytes), access, key, by_endpoint)
        };
        let region = result.map_err(|why| {
            format!(
                "{bytes} bytes cannot be registered ({why}); the limit of locked memory may be too low (ulimit -l)"
            )
        })?;
        self.open_registrations += 1;
        Ok(Registered {
            region: region.cast(),
            // SAFETY: the region is open.
            description: unsafe { (*region).mem_desc },
        })
    }

    fn unregister(&mut self, registered: Registered) {
        if registered.region.is_null() {
            return;
        }
        self.open_registrations -= 1;
        // SAFETY: the region was open, and nobody has it any more.
        unsafe { Endpoint::close(registered.region.cast()) };
    }

    #[inline]
    fn inject(&mut self, to: u64, message: &[u8]) -> Sent {
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

    #[inline]
    unsafe fn send(
        &mut self,
        to: u64,
        message: *const u8,
        bytes: usize,
        description: *mut c_void,
        context: *mut Context,
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

    unsafe fn post(
        &mut self,
        buffer: *mut u8,
        bytes: usize,
        description: *mut c_void,
        context: *mut Context,
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

    unsafe fn send_tagged(&mut self, to: u64, run: &Run) -> Sent {
        let result = tagged(run, to, |message| {
            // SAFETY: as in `send`.
            unsafe {
                let send = (*(*self.endpoint.ep).tagged).sendmsg;
                call(send)(self.endpoint.ep, message, FI_COMPLETION.into())
            }
        });
        self.outcome("fi_tsendmsg", result)
    }

    unsafe fn receive_tagged(&mut self, run: &Run) -> Sent {
        let result = tagged(run, u64::MAX, |message| {
            // SAFETY: as in `send`.
            unsafe {
                let receive = (*(*self.endpoint.ep).tagged).recvmsg;
                call(receive)(self.endpoint.ep, message, FI_COMPLETION.into())
            }
        });
        self.outcome("fi_trecvmsg", result)
    }

    fn cancel(&mut self, context: *mut Context) {
        let _uncancelled = Uncancelled::begin();
        // SAFETY: the endpoint is open; a context that no operation has is none of the provider's.
        unsafe {
            let cancel = (*(*self.endpoint.ep).ops).cancel;
            call(cancel)(&raw mut (*self.endpoint.ep).fid, context.cast());
        }
    }

    #[inline]
    fn poll(&mut self, complete: &mut Completions) {
        let mut entries = Entries::new();
        complete.extend(self.endpoint.read(&mut entries).iter().map(completion));
    }

    #[inline]
    fn failure(&mut self) -> Option<Completion> {
        let failure = self.endpoint.failure()?;
        let (context, text) =
            failure.unwrap_or_else(|text| (null_mut(), format!("fi_cq_readerr: {text}")));
        Some(Completion::Failed {
            context: context.cast(),
            text,
        })
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.endpoint.descriptor()
    }

    fn may_sleep(&mut self) -> bool {
        self.endpoint.may_sleep()
    }

    #[cfg(test)]
    fn open_registrations(&self) -> u64 {
        self.open_registrations
    }

    #[cfg(test)]
    fn refuse_registration(&mut self) {
        self.refuses_registration = true;
    }
}

/// Calls with the description of a message that is one run of bytes, valid during the call. Memory that is not registered has no description.
#[inline]
fn in_one_part<T>(
    (begin, bytes, mut description): (*mut u8, usize, *mut c_void),
    peer: u64,
    context: *mut Context,
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

/// Calls with the description of a tagged message that is one run of bytes, valid during the call.
fn tagged<T>(run: &Run, peer: u64, call: impl FnOnce(*const fi_msg_tagged) -> T) -> T {
    let _uncancelled = Uncancelled::begin();
    let part = iovec {
        iov_base: run.place.cast(),
        iov_len: run.bytes as size_t,
    };
    let mut description = run.description;
    call(&fi_msg_tagged {
        msg_iov: &raw const part,
        desc: &raw mut description,
        iov_count: 1,
        addr: peer,
        tag: run.tag,
        ignore: 0,
        context: run.context.cast(),
        data: 0,
    })
}

/// What an entry says.
#[inline]
fn completion(entry: &fi_cq_tagged_entry) -> Completion {
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
