//! One endpoint of a fabric, with its completion queue and its addresses: the calls of libfabric, and nothing of ours.
//!
//! The library is loaded when the first port is opened, never linked: the site's own has the drivers of its network. Invariants: a
//! place that a call has been given stays where it is until its completion was read ([`super::pool`]); a port is used by one
//! thread at a time (FI_THREAD_DOMAIN). Providers call connect, recv and send, which are cancellation points: a thread that ended there would keep
//! the provider's locks, so each call that the program's threads make is [`Uncancelled`].

use super::bindings::*;
use super::choice::{Fabric, Offer, choose};
use super::record::LARGEST;
use super::wanted::Wanted;
use crate::os::cancellation::{Uncancelled, uncancelled};
use crate::os::library::Library;
use crate::os::signals::Actions;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::ptr::{null, null_mut};

/// The version whose headers the bindings are made of; a newer one is asked to behave like it, and to know structures as they are there.
const NEWEST: u32 = FI_MAJOR_VERSION << 16 | FI_MINOR_VERSION;
/// What sites still have, and what has all that is used here.
const OLDEST: u32 = 1 << 16 | 14;
/// Where sites have theirs, after what the loader finds.
const PLACES: &[&str] = &[
    "/opt/cray/libfabric/default/lib64/libfabric.so.1",
    "/opt/amazon/efa/lib64/libfabric.so.1",
    "/opt/amazon/efa/lib/libfabric.so.1",
    "/opt/cornelis/lib64/libfabric.so.1",
];

type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const fi_info,
    *mut *mut fi_info,
) -> i32;

/// The exported functions that are used; all others are reached through the objects.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    version: unsafe extern "C" fn() -> u32,
    pub(super) duplicate: unsafe extern "C" fn(*const fi_info) -> *mut fi_info,
    pub(super) free: unsafe extern "C" fn(*mut fi_info),
    pub(super) get: GetInfo,
    pub(super) fabric:
        unsafe extern "C" fn(*mut fi_fabric_attr, *mut *mut fid_fabric, *mut c_void) -> i32,
    text: unsafe extern "C" fn(i32) -> *const c_char,
}

impl Functions {
    pub(super) fn of(library: &Library) -> Result<Functions, String> {
        // SAFETY: the types are those of libfabric's headers.
        unsafe {
            Ok(Functions {
                version: library.function("fi_version")?,
                duplicate: library.function("fi_dupinfo")?,
                free: library.function("fi_freeinfo")?,
                get: library.function("fi_getinfo")?,
                fabric: library.function("fi_fabric")?,
                text: library.function("fi_strerror")?,
            })
        }
    }

    /// The version whose behaviour is asked for.
    pub(super) fn version_to_ask(&self) -> u32 {
        // SAFETY: a function without arguments.
        unsafe { (self.version)() }.min(NEWEST)
    }

    pub(super) fn check(&self, function: &str, result: i32) -> Result<(), String> {
        match result {
            0 => Ok(()),
            error => Err(format!("{function}: {}", self.text(error.into()))),
        }
    }

    #[inline]
    pub(super) fn outcome(&self, function: &str, result: i64) -> Sent {
        match result {
            0 => Sent::Done,
            error if error == -i64::from(FI_EAGAIN) => Sent::Later,
            error => Sent::Failed(format!("{function}: {}", self.text(error))),
        }
    }

    /// Takes an operation that has failed out of a queue: its context, and why.
    ///
    /// Errors: there is none.
    ///
    /// # Safety
    /// The queue is open.
    pub(super) unsafe fn failed_in(
        &self,
        cq: *mut fid_cq,
    ) -> Result<(*mut c_void, String), String> {
        /// Newer libraries have more fields (1.20 has the sender's address), and providers that write them whatever version they are asked for.
        #[repr(C)]
        struct Entry {
            known: fi_cq_err_entry,
            room: [u64; 16],
        }
        // SAFETY: all-zero is a valid value, for the call to fill; the rest is the caller's word.
        let (entry, read) = unsafe {
            let mut entry: Entry = std::mem::zeroed();
            let read = call((*(*cq).ops).readerr);
            let read = read(cq, (&raw mut entry).cast(), 0);
            (entry.known, read)
        };
        match read {
            1.. => Ok((entry.op_context, self.text(entry.err.into()))),
            error => Err(self.text(error)),
        }
    }

    pub(super) fn text(&self, error: i64) -> String {
        // SAFETY: the function takes any number, and its text stays.
        let text = unsafe { (self.text)(error.unsigned_abs() as i32) };
        text_of(text)
    }
}

fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, so it is a terminated text of the library's.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// What was asked for.
pub struct Wish<'a> {
    pub fabric: Fabric,
    /// `OXMPI_LIBFABRIC`: the file of the library.
    pub library: Option<&'a str>,
    /// `OXMPI_INTERFACE`.
    pub interface: Option<&'a str>,
    /// All processes of the job are on this host.
    pub one_host: bool,
}

/// What came of an attempt to send.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    Done,
    /// No room now, or the connection is being made.
    Later,
    Failed(String),
}

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

/// See the module. Its objects are never closed: they end with the process, so that what is under way keeps its place, and a close
/// here does not lose what a peer has not read.
pub struct Port {
    pub(super) functions: Functions,
    pub(super) domain: *mut fid_domain,
    pub(super) ep: *mut fid_ep,
    cq: *mut fid_cq,
    av: *mut fid_av,
    fabric: *mut fid_fabric,
    descriptor: Option<i32>,
    inject: usize,
    pub(super) longest: usize,
    pub(super) tag_bits: u64,
    pub(super) registration: Wanted,
    /// Registrations that were made, and those that are there.
    pub(super) registrations: u64,
    pub(super) open_registrations: u64,
    has_failed: bool,
    description: String,
    provider: String,
    loopback: bool,
    /// What it was opened with, for further ones; never freed.
    info: *mut fi_info,
}

// SAFETY: the objects may be used by one thread after the other.
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
        // SAFETY: a function without arguments.
        let version = unsafe { (functions.version)() };
        let shown = format!("{path} {}.{}", version >> 16, version & 0xffff);
        if version < OLDEST {
            return Err(format!("{shown} is too old: 1.14 or newer is needed"));
        }
        let all =
            list(&functions, version.min(NEWEST)).map_err(|text| format!("{shown}: {text}"))?;
        let offers: Vec<(Offer, *mut fi_info)> = offers(all);
        let plain: Vec<Offer> = offers.iter().map(|(offer, _)| offer.clone()).collect();
        let chosen = choose(&plain, wish.fabric, wish.interface, wish.one_host);
        let opened = chosen
            .map_err(|text| format!("{shown}: {text}"))
            .and_then(|(index, why)| {
                let (offer, info) = &offers[index];
                // SAFETY: the entry is one of the library's list, which is there.
                let info = &unsafe { (functions.duplicate)(*info) };
                if info.is_null() {
                    return Err(format!("{shown}: fi_dupinfo: out of memory"));
                }
                let name = format!("{} on {}", offer.provider, offer.domain);
                let objects =
                    open(&functions, *info).map_err(|text| format!("{shown}, {name}: {text}"))?;
                // SAFETY: the library fills this in for every entry and its copies.
                let limits = unsafe {
                    let ep = (**info).ep_attr;
                    Limits {
                        inject: (*(**info).tx_attr).inject_size as usize,
                        longest: (*ep).max_msg_size as usize,
                        tag_bits: bits_below((*ep).mem_tag_format),
                        registration: Wanted::of((*(**info).domain_attr).mr_mode),
                    }
                };
                let description = format!("{shown}, {name}: {why}");
                Ok((objects, limits, description, offer.clone(), *info))
            });
        // SAFETY: the list is not used any more; objects keep copies of what they need.
        unsafe { (functions.free)(all) };
        let (objects, limits, description, offer, info) = opened?;
        let (fabric, domain, ep, cq, av, descriptor) = objects;
        Ok(Port {
            inject: limits.inject,
            longest: limits.longest,
            tag_bits: limits.tag_bits,
            registration: limits.registration,
            registrations: 0,
            open_registrations: 0,
            has_failed: false,
            domain,
            functions,
            ep,
            cq,
            av,
            fabric,
            descriptor,
            description,
            provider: offer.provider,
            loopback: offer.is_loopback,
            info,
        })
    }

    /// Opens another port of the same provider and interface, with objects of its own: another thread may use it at the same time.
    ///
    /// Errors: what the provider says.
    pub fn another(&self) -> Result<Port, String> {
        let actions = Actions::now();
        let objects = open(&self.functions, self.info);
        actions.restore();
        let (fabric, domain, ep, cq, av, descriptor) =
            objects.map_err(|text| format!("{}: {text}", self.description))?;
        Ok(Port {
            fabric,
            domain,
            ep,
            cq,
            av,
            descriptor,
            registrations: 0,
            open_registrations: 0,
            has_failed: false,
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
        let mut bytes = vec![0u8; 256];
        let mut length = bytes.len() as size_t;
        // SAFETY: the endpoint is open, and `bytes` has the length given.
        let result = unsafe {
            let getname = (*(*self.ep).cm).getname;
            call(getname)(
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
        let mut padded = [0u8; 256];
        let length = address.len().min(padded.len());
        padded[..length].copy_from_slice(&address[..length]);
        let mut found: fi_addr_t = u64::MAX;
        // SAFETY: the table is open; the address is at least as long as the provider reads, and of its format.
        let inserted = unsafe {
            let insert = (*(*self.av).ops).insert;
            call(insert)(
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
            let remove = (*(*self.av).ops).remove;
            // An address that is not there any more needs no removal.
            call(remove)(self.av, &raw mut address, 1, 0);
        }
    }

    /// Sends a message of at most [`Self::inject_bytes`], which is copied.
    #[inline]
    pub fn inject(&mut self, to: u64, message: &[u8]) -> Sent {
        let _uncancelled = Uncancelled::begin();
        // SAFETY: the endpoint is open; the message is used during the call only.
        let result = unsafe {
            let inject = (*(*self.ep).msg).inject;
            call(inject)(
                self.ep,
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
                let send = (*(*self.ep).msg).sendmsg;
                call(send)(self.ep, message, FI_COMPLETION.into())
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
                let receive = (*(*self.ep).msg).recvmsg;
                call(receive)(self.ep, message, FI_MULTI_RECV.into())
            }
        });
        self.outcome("fi_recvmsg", result)
    }

    /// Makes progress. Returns what is complete; nothing may be a [`Self::failure`].
    #[inline]
    pub fn poll<'a>(&mut self, entries: &'a mut Entries) -> &'a [fi_cq_tagged_entry] {
        // SAFETY: the queue is open and has the format of these entries; as many as it says are filled.
        let count = uncancelled(|| unsafe {
            let read = (*(*self.cq).ops).read;
            call(read)(self.cq, entries.0.as_mut_ptr().cast(), MOST as size_t)
        });
        self.has_failed = count < 0 && count != -i64::from(FI_EAGAIN);
        let filled = &entries.0[..count.max(0) as usize];
        // SAFETY: the queue has filled these in.
        unsafe { std::slice::from_raw_parts(filled.as_ptr().cast(), filled.len()) }
    }

    /// Why the last [`Self::poll`] has found nothing, if an operation has failed.
    #[inline]
    pub fn failure(&mut self) -> Option<Completion> {
        self.has_failed.then(|| self.read_failure())
    }

    #[cold]
    fn read_failure(&mut self) -> Completion {
        // SAFETY: the queue is open.
        match unsafe { self.functions.failed_in(self.cq) } {
            Ok((context, text)) => Completion::Failed {
                context: context.cast(),
                text,
            },
            Err(text) => Completion::Failed {
                context: null_mut(),
                text: format!("fi_cq_readerr: {text}"),
            },
        }
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
            let trywait = (*(*self.fabric).ops).trywait;
            call(trywait)(self.fabric, &raw mut queue, 1) == 0
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
            let sread = (*(*self.cq).ops).sread;
            call(sread)(self.cq, null_mut(), 0, null(), MILLISECONDS);
        }
    }

    #[inline]
    pub(super) fn outcome(&self, function: &str, result: i64) -> Sent {
        self.functions.outcome(function, result)
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

/// A function that every object of libfabric has; the headers allow null for those that nobody calls.
#[inline]
pub(super) fn call<F>(function: Option<F>) -> F {
    match function {
        Some(function) => function,
        None => missing(),
    }
}

#[cold]
fn missing() -> ! {
    unreachable!("libfabric has an object without one of its functions")
}

pub(super) fn load(wish: Option<&str>) -> Result<(Library, String), String> {
    let places: Vec<&str> = match wish {
        Some(path) => vec![path],
        None => std::iter::once("libfabric.so.1")
            .chain(PLACES.iter().copied())
            .collect(),
    };
    let mut first = None;
    for place in places {
        match Library::open_local(place) {
            Ok(library) => {
                let path = library.file_of("fi_version");
                let shown = path.map_or(place.to_owned(), |path| path.display().to_string());
                return Ok((library, shown));
            }
            Err(text) => first = first.or(Some(text)),
        }
    }
    Err(format!(
        "libfabric cannot be loaded ({}); OXMPI_LIBFABRIC can say where it is",
        first.unwrap_or_default()
    ))
}

/// All that can serve.
fn list(functions: &Functions, version: u32) -> Result<*mut fi_info, String> {
    let mut found = null_mut();
    // SAFETY: the hints are the library's own object, as large as it makes it, with its parts; only fields that 1.14 has are set,
    // and none of them is a text.
    let result = unsafe {
        let hints = (functions.duplicate)(null());
        if hints.is_null() {
            return Err("fi_dupinfo: out of memory".to_owned());
        }
        (*hints).caps = u64::from(FI_MSG | FI_TAGGED | FI_MULTI_RECV);
        // Not all bits: 1.17's rxm takes one for a wish and fails.
        (*hints).mode = FI_CONTEXT | FI_CONTEXT2;
        (*(*hints).ep_attr).type_ = FI_EP_RDM;
        let domain = (*hints).domain_attr;
        (*domain).threading = FI_THREAD_DOMAIN;
        (*domain).control_progress = FI_PROGRESS_MANUAL;
        (*domain).data_progress = FI_PROGRESS_MANUAL;
        (*domain).resource_mgmt = FI_RM_ENABLED;
        (*domain).mr_mode =
            (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
                as i32;
        (*(*hints).tx_attr).msg_order = FI_ORDER_SAS.into();
        (*(*hints).rx_attr).msg_order = FI_ORDER_SAS.into();
        let result = (functions.get)(version, null(), null(), 0, hints, &raw mut found);
        (functions.free)(hints);
        result
    };
    match result {
        0 => Ok(found),
        error => Err(format!(
            "no provider has what is needed: {}",
            functions.text(error.into())
        )),
    }
}

pub(super) fn offers(list: *mut fi_info) -> Vec<(Offer, *mut fi_info)> {
    let mut all = Vec::new();
    let mut next = list;
    while !next.is_null() {
        // SAFETY: the entries of a list of the library have all parts, and the next one or none.
        unsafe {
            let info = &*next;
            let domain = text_of((*info.domain_attr).name);
            let offer = Offer {
                provider: text_of((*info.fabric_attr).prov_name),
                is_loopback: domain == "lo",
                is_plain: info.addr_format != FI_SOCKADDR_IN6,
                domain,
            };
            all.push((offer, next));
            next = info.next;
        }
    }
    all
}

/// What a provider says of itself.
struct Limits {
    inject: usize,
    longest: usize,
    tag_bits: u64,
    registration: Wanted,
}

/// All bits up to the highest that is set. libfabric's format of tags has fields of alternating bits, the highest one set; zero stands for all.
fn bits_below(format: u64) -> u64 {
    match format {
        0 => u64::MAX,
        format => u64::MAX >> format.leading_zeros(),
    }
}

type Objects = (
    *mut fid_fabric,
    *mut fid_domain,
    *mut fid_ep,
    *mut fid_cq,
    *mut fid_av,
    Option<i32>,
);

/// Opens all objects. What was opened before one fails is left: the process goes on without a fabric, or not at all.
fn open(functions: &Functions, info: *mut fi_info) -> Result<Objects, String> {
    let check = |what: &str, result: i32| match result {
        0 => Ok(()),
        error => Err(format!("{what}: {}", functions.text(error.into()))),
    };
    // SAFETY: `info` is the library's, the attributes are zero but for what is set, and each object is open when it is used.
    unsafe {
        let (mut fabric, mut domain, mut ep) = (null_mut(), null_mut(), null_mut());
        let (mut cq, mut av): (*mut fid_cq, *mut fid_av) = (null_mut(), null_mut());
        check(
            "fi_fabric",
            (functions.fabric)((*info).fabric_attr, &raw mut fabric, null_mut()),
        )?;
        let open_domain = call((*(*fabric).ops).domain);
        check(
            "fi_domain",
            open_domain(fabric, info, &raw mut domain, null_mut()),
        )?;
        let open_endpoint = call((*(*domain).ops).endpoint);
        check(
            "fi_endpoint",
            open_endpoint(domain, info, &raw mut ep, null_mut()),
        )?;
        let mut attributes: fi_cq_attr = std::mem::zeroed();
        attributes.format = FI_CQ_FORMAT_TAGGED;
        attributes.size = 8192;
        attributes.wait_obj = FI_WAIT_FD;
        let open_queue = call((*(*domain).ops).cq_open);
        let mut result = open_queue(domain, &raw mut attributes, &raw mut cq, null_mut());
        let mut waits = true;
        if result != 0 {
            attributes.wait_obj = FI_WAIT_NONE;
            waits = false;
            result = open_queue(domain, &raw mut attributes, &raw mut cq, null_mut());
        }
        check("fi_cq_open", result)?;
        let mut attributes: fi_av_attr = std::mem::zeroed();
        attributes.type_ = FI_AV_TABLE;
        let open_table = call((*(*domain).ops).av_open);
        check(
            "fi_av_open",
            open_table(domain, &raw mut attributes, &raw mut av, null_mut()),
        )?;
        let bind = call((*(*ep).fid.ops).bind);
        let endpoint = &raw mut (*ep).fid;
        check("fi_ep_bind", bind(endpoint, &raw mut (*av).fid, 0))?;
        // To the receiving side the queue is bound without it: multi-receive buffers would be silent.
        let selective = u64::from(FI_TRANSMIT) | FI_SELECTIVE_COMPLETION;
        check("fi_ep_bind", bind(endpoint, &raw mut (*cq).fid, selective))?;
        check(
            "fi_ep_bind",
            bind(endpoint, &raw mut (*cq).fid, FI_RECV.into()),
        )?;
        let tell_longest = || {
            let mut least: size_t = LARGEST as size_t;
            let setopt = call((*(*ep).ops).setopt);
            let result = setopt(
                endpoint,
                FI_OPT_ENDPOINT as i32,
                FI_OPT_MIN_MULTI_RECV as i32,
                (&raw mut least).cast(),
                size_of::<size_t>() as size_t,
            );
            check("fi_setopt", result)
        };
        // `ofi_rxm` of libfabric 2 takes no notice of it after fi_enable, and cuts messages off; `shm` and `sm2` crash before.
        if text_of((*(*info).fabric_attr).prov_name).ends_with(";ofi_rxm") {
            tell_longest()?;
        }
        let control = call((*(*ep).fid.ops).control);
        check("fi_enable", control(endpoint, FI_ENABLE as i32, null_mut()))?;
        tell_longest()?;
        let mut number = -1i32;
        let control = call((*(*cq).fid.ops).control);
        let has = waits
            && control(
                &raw mut (*cq).fid,
                FI_GETWAIT as i32,
                (&raw mut number).cast(),
            ) == 0;
        Ok((
            fabric,
            domain,
            ep,
            cq,
            av,
            (has && number >= 0).then_some(number),
        ))
    }
}
