//! Memory that a provider has been told of, as those need whose network card reads and writes it by itself (FI_MR_LOCAL).
//!
//! The buffers of a pool are registered once. Buffers of the program are registered for one transfer each: a cache would have to notice
//! whenever the program gives memory back to the system.

use super::bindings::*;
use super::endpoint::Endpoint;
use super::port::Port;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A registration, to be given back; nothing where none is needed.
#[derive(Debug)]
pub struct Registered(*mut fid_mr);

impl Registered {
    /// None is needed.
    pub fn none() -> Registered {
        Registered(null_mut())
    }

    /// What operations on this memory name.
    pub fn description(&self) -> *mut c_void {
        match self.0.is_null() {
            true => null_mut(),
            // SAFETY: the object is open until it is given back.
            false => unsafe { (*self.0).mem_desc },
        }
    }
}

impl Port {
    /// Registers memory for sending and receiving, if the provider wants that.
    ///
    /// Errors: there is no room for it (RLIMIT_MEMLOCK); the text says how much it was.
    pub fn register(&mut self, begin: *mut u8, bytes: usize) -> Result<Registered, String> {
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
        match result {
            Ok(region) => {
                self.open_registrations += 1;
                Ok(Registered(region))
            }
            Err(why) => Err(format!(
                "{bytes} bytes cannot be registered ({why}); the limit of locked memory may be too low (ulimit -l)"
            )),
        }
    }

    /// Whether memory has to be registered before the provider uses it.
    pub fn wants_registration(&self) -> bool {
        self.registration.local
    }

    /// Gives a registration back. No operation uses the memory any more.
    pub fn unregister(&mut self, registered: Registered) {
        if registered.0.is_null() {
            return;
        }
        self.open_registrations -= 1;
        // SAFETY: the object was open, and nobody has it any more.
        unsafe { Endpoint::close(registered.0) };
    }

    /// Registers nothing any more.
    #[cfg(test)]
    pub fn refuse_registration(&mut self) {
        self.refuses_registration = true;
    }

    /// Has memory registered although the provider does not want it, from now on.
    #[cfg(test)]
    pub fn want_registration(&mut self) {
        self.registration.local = true;
    }
}
