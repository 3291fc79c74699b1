//! libfabric's library: where it is, the functions it exports, and what its providers offer.
//!
//! It is loaded when the first endpoint is opened, never linked: the site's own has the drivers of its network.

use super::bindings::*;
use super::choice::Offer;
use crate::os::library::{Library, text_of};
use crate::transport::net::port::Sent;
use std::ffi::{c_char, c_void};
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
    version_number: unsafe extern "C" fn() -> u32,
    pub(super) duplicate: unsafe extern "C" fn(*const fi_info) -> *mut fi_info,
    pub(super) free: unsafe extern "C" fn(*mut fi_info),
    get: GetInfo,
    pub(super) fabric:
        unsafe extern "C" fn(*mut fi_fabric_attr, *mut *mut fid_fabric, *mut c_void) -> i32,
    text: unsafe extern "C" fn(i32) -> *const c_char,
}

impl Functions {
    pub(super) fn of(library: &Library) -> Result<Functions, String> {
        // SAFETY: the types are those of libfabric's headers.
        unsafe {
            Ok(Functions {
                version_number: library.function("fi_version")?,
                duplicate: library.function("fi_dupinfo")?,
                free: library.function("fi_freeinfo")?,
                get: library.function("fi_getinfo")?,
                fabric: library.function("fi_fabric")?,
                text: library.function("fi_strerror")?,
            })
        }
    }

    /// The library's version, as users write it.
    ///
    /// Errors: it is too old.
    pub fn version(&self) -> Result<String, String> {
        // SAFETY: a function without arguments.
        let version = unsafe { (self.version_number)() };
        let shown = format!("{}.{}", version >> 16, version & 0xffff);
        if version < OLDEST {
            return Err(format!(
                "libfabric {shown} is too old: 1.14 or newer is needed"
            ));
        }
        Ok(shown)
    }

    /// Providers with these capabilities and registration modes, and what `set` asks for: fields of the hints that 1.14 has, none of them a text.
    /// The caller frees the list.
    ///
    /// Errors: nothing can.
    pub fn list(
        &self,
        capabilities: u32,
        registration: u32,
        set: impl FnOnce(*mut fi_info),
    ) -> Result<*mut fi_info, String> {
        let mut found = null_mut();
        // SAFETY: the hints are the library's own object, as large as it makes it, with its parts; only fields that 1.14 has are set here,
        // and none of them is a text.
        let result = unsafe {
            let hints = (self.duplicate)(null());
            if hints.is_null() {
                return Err("fi_dupinfo: out of memory".to_owned());
            }
            (*hints).caps = capabilities.into();
            // Not all bits: 1.17's rxm takes one for a wish and fails.
            (*hints).mode = FI_CONTEXT | FI_CONTEXT2;
            (*(*hints).ep_attr).type_ = FI_EP_RDM;
            let domain = (*hints).domain_attr;
            (*domain).threading = FI_THREAD_DOMAIN;
            (*domain).control_progress = FI_PROGRESS_MANUAL;
            (*domain).data_progress = FI_PROGRESS_MANUAL;
            (*domain).resource_mgmt = FI_RM_ENABLED;
            (*domain).mr_mode = registration as i32;
            set(hints);
            let version = (self.version_number)().min(NEWEST);
            let result = (self.get)(version, null(), null(), 0, hints, &raw mut found);
            (self.free)(hints);
            result
        };
        match result {
            0 => Ok(found),
            error => Err(format!(
                "no provider has what is needed: {}",
                self.text(error.into())
            )),
        }
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
        unsafe { text_of((self.text)(error.unsigned_abs() as i32)) }
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
