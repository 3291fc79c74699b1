//! Shared libraries, loaded while the program runs: for programs that are linked with none of them.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A library that stays loaded.
pub struct Library {
    handle: *mut c_void,
}

impl Library {
    /// Loads a library by its path, or by a name that the dynamic loader looks for.
    ///
    /// Errors: what the loader says.
    pub fn open(name: &str) -> Result<Library, String> {
        Self::open_as(name, libc::RTLD_NOW | libc::RTLD_GLOBAL)
    }

    /// As [`Self::open`]; the names in it are seen by nobody else in the process.
    pub fn open_local(name: &str) -> Result<Library, String> {
        Self::open_as(name, libc::RTLD_NOW | libc::RTLD_LOCAL)
    }

    fn open_as(name: &str, flags: i32) -> Result<Library, String> {
        let name = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: `name` is a terminated string; what the library's constructors do is the caller's wish.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        match handle.is_null() {
            false => Ok(Library { handle }),
            true => Err(said()),
        }
    }

    /// A function, as a pointer of type `F`.
    ///
    /// Errors: there is none of this name.
    ///
    /// # Safety
    /// `F` is a pointer to a function with the arguments and the result that the function of this name has.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let address = self.address(name)?;
        // SAFETY: `F` has the size of an address and, by the caller's word, is what lies there.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }

    fn address(&self, name: &str) -> Result<*mut c_void, String> {
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the handle is of a loaded library, and `text` a terminated string.
        let address = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        match address.is_null() {
            false => Ok(address),
            true => Err(format!("the library has no function {name}")),
        }
    }

    /// The file that a function of the library came from.
    pub fn file_of(&self, name: &str) -> Option<PathBuf> {
        file_at(self.address(name).ok()?)
    }
}

/// The file that what lies at an address was loaded from.
fn file_at(address: *const c_void) -> Option<PathBuf> {
    let (file, _) = place_at(address as u64)?;
    Some(file)
}

/// The file that what lies at an address was loaded from, and the distance from where it was loaded.
pub fn place_at(address: u64) -> Option<(PathBuf, u64)> {
    let address = address as *const c_void;
    // SAFETY: all-zero is a valid value of this struct of addresses, for the call to fill.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the call only compares the address with those of what is loaded.
    if unsafe { libc::dladdr(address, &mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: not null, so it is the name of a loaded file, which stays loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    let file = OsStr::from_bytes(name.to_bytes()).into();
    Some((file, address as u64 - found.dli_fbase as u64))
}

/// A text of a C library.
///
/// # Safety
/// Null, or a terminated text.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the caller.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// The loader's last error.
fn said() -> String {
    // SAFETY: the text is this thread's until the next call of the loader.
    unsafe {
        let text = libc::dlerror();
        match text.is_null() {
            true => "the dynamic loader gives no reason".to_owned(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        }
    }
}

/// The file that the code of this library is in.
pub fn own_file() -> Option<PathBuf> {
    let here = own_file as *const ();
    std::path::absolute(file_at(here.cast())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri loads no libraries")]
    fn a_library_is_loaded_or_the_loader_says_why_not() {
        let missing = Library::open("libnothing-of-this-name.so.1").err().unwrap();
        assert!(
            missing.contains("libnothing-of-this-name.so.1"),
            "{missing}"
        );
        let libc = Library::open("libc.so.6").unwrap();
        let file = libc.file_of("printf").unwrap();
        assert!(file.to_string_lossy().contains("libc"), "{file:?}");
        assert!(libc.address("no_such_function").is_err());
        assert!(libc.file_of("no_such_function").is_none());
    }
}
