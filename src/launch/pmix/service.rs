//! Names that a PMIx launcher keeps for all of its jobs.

use super::jobs::set;
use super::{Pmix, string_of, terminated};
use crate::error::Result;
use crate::launch::pmix_bindings::*;
use std::ffi::c_char;
use std::ptr::null;

pub type Publish = unsafe extern "C" fn(*const pmix_info_t, usize) -> pmix_status_t;
pub type Lookup =
    unsafe extern "C" fn(*mut pmix_pdata_t, usize, *const pmix_info_t, usize) -> pmix_status_t;
pub type Unpublish =
    unsafe extern "C" fn(*mut *mut c_char, *const pmix_info_t, usize) -> pmix_status_t;

impl Pmix {
    /// Errors: the launcher has no such service.
    pub fn publish(&self, key: &str, port: &str) -> Result<()> {
        let (key, port) = (terminated(key)?, terminated(port)?);
        // SAFETY: all-zero is a valid value; its text stays during the call, which copies it.
        let status = unsafe {
            let mut info: pmix_info_t = std::mem::zeroed();
            set(&mut info, key.as_bytes());
            info.value.type_ = PMIX_STRING as u16;
            info.value.data.string = port.as_ptr().cast_mut();
            (self.functions.publish)(&raw const info, 1)
        };
        self.functions.check("PMIx_Publish", status)
    }

    /// `None`: it is not published, as far as the launcher knows.
    pub fn lookup(&self, key: &str) -> Option<String> {
        let key = terminated(key).ok()?;
        // SAFETY: all-zero is a valid value, which the call fills; its text is malloc's and ours.
        unsafe {
            let mut data: pmix_pdata_t = std::mem::zeroed();
            for (to, from) in data.key.iter_mut().zip(key.as_bytes()) {
                *to = *from as c_char;
            }
            let status = (self.functions.lookup)(&raw mut data, 1, null(), 0);
            let found = (status == PMIX_SUCCESS as pmix_status_t).then(|| string_of(&data.value));
            if u32::from(data.value.type_) == PMIX_STRING {
                libc::free(data.value.data.string.cast());
            }
            found.flatten()
        }
    }

    /// Errors: it was not published, or not by this process.
    pub fn unpublish(&self, key: &str) -> Result<()> {
        let key = terminated(key)?;
        let mut keys = [key.as_ptr().cast_mut(), std::ptr::null_mut()];
        // SAFETY: a list that ends with null, and stays during the call.
        let status = unsafe { (self.functions.unpublish)(keys.as_mut_ptr(), null(), 0) };
        self.functions.check("PMIx_Unpublish", status)
    }
}
