//! The library of the other ABI in the same process (`libmpi.so.12` beside `libmpi_abi.so.1`): each has a core of its own, and both
//! would take themselves for the same rank of the job. The one that comes second says so.
//!
//! Invariant: whoever initializes MPI has asked before.

use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::sync::{AtomicBool, Ordering};
use std::ffi::{CStr, CString, c_char, c_int, c_void};

static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether MPI, or a session, was begun by this library.
#[unsafe(export_name = "oxmpi_in_use")]
extern "C" fn in_use() -> c_int {
    IN_USE.load(Ordering::Acquire).into()
}

/// From now on this library's MPI is in use.
///
/// Errors: MPI_ERR_OTHER if that of the other library is.
pub fn begin() -> Result<()> {
    for path in loaded() {
        if is_in_use(&path) {
            return fail!(
                Class::Other,
                "MPI is in use in this process by {}, which has the other ABI; a process can use one of the two libraries",
                path.to_string_lossy()
            );
        }
    }
    IN_USE.store(true, Ordering::Release);
    Ok(())
}

/// The paths of MPI libraries in this process.
fn loaded() -> Vec<CString> {
    unsafe extern "C" fn look(
        object: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        paths: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader gives a description with a name, and the list that `loaded` gave it.
        let (name, paths) = unsafe { ((*object).dlpi_name, &mut *paths.cast::<Vec<CString>>()) };
        if !name.is_null() {
            // SAFETY: names of the loader's are zero-terminated.
            let path = unsafe { CStr::from_ptr(name) };
            let file = path.to_bytes().rsplit(|byte| *byte == b'/').next();
            let names: [&[u8]; 3] = [b"libmpi.so", b"libmpich.so", b"libmpi_abi.so"];
            if file.is_some_and(|file| names.iter().any(|name| file.starts_with(name))) {
                paths.push(path.to_owned());
            }
        }
        0
    }
    let mut paths = Vec::new();
    // SAFETY: `look` takes the list as what it is, and does not keep it.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut paths).cast()) };
    paths
}

/// Asks a library that is loaded, unless it is this one.
fn is_in_use(path: &CStr) -> bool {
    const QUESTION: *const c_char = c"oxmpi_in_use".as_ptr();
    // SAFETY: nothing is loaded by this, and the symbol is a function of this prototype in each library that has it.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return false;
        }
        let found = libc::dlsym(library, QUESTION);
        let other = !found.is_null() && !std::ptr::eq(found.cast(), in_use as *const ());
        let used =
            other && std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(found)() != 0;
        libc::dlclose(library);
        used
    }
}
