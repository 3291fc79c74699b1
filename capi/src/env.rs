//! Inquiry of the environment: versions, names, memory, time, chapter 9.

use crate::constants::of_program::MPI_MAX_PROCESSOR_NAME;
use crate::constants::{MPI_MAX_LIBRARY_VERSION_STRING, MPI_SUBVERSION, MPI_VERSION};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Class;
use oxmpi::rma::memory;
use oxmpi::{fail, info as core};
use std::ffi::c_void;

entry! {
    Allocate fn MPI_Alloc_mem(size: Aint, info: Info, baseptr: AddressOut) {
        let Ok(bytes) = usize::try_from(size.0) else {
            return fail!(Class::Arg, "size is {}; it must not be negative", size.0);
        };
        let hints = core::hints(info.0)?;
        if baseptr.0.is_null() {
            return fail!(Class::Arg, "baseptr is NULL");
        }
        baseptr.write(memory::allocate(bytes, &hints)? as *mut c_void)
    }
}

entry! {
    Allocate fn MPI_Free_mem(base: Memory) {
        // SAFETY: the program gives back what MPI_Alloc_mem gave, or NULL.
        unsafe { memory::free(base.0 as usize) }
    }
}

entry! {
    None fn MPI_Get_library_version(version: TextOut, resultlen: Out<Int>) {
        let text = oxmpi::library_version();
        let length = version.write(&text, MPI_MAX_LIBRARY_VERSION_STRING as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    None fn MPI_Get_processor_name(name: TextOut, resultlen: Out<Int>) {
        decode::running()?;
        let length = name.write(&core::host(), MPI_MAX_PROCESSOR_NAME as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    None fn MPI_Get_version(version: Out<Int>, subversion: Out<Int>) {
        version.set(Int(MPI_VERSION))?;
        subversion.set(Int(MPI_SUBVERSION))
    }
}

entry! {
    /// Switches the timeline, where there is one; else for tools that intercept it.
    None fn MPI_Pcontrol(level: Int) {
        oxmpi::events::timeline::switch(level.0 > 0);
        Ok(())
    }
}

entry! {
    /// Seconds since some moment in the past, the same for all processes of a node.
    None fn MPI_Wtime() -> Double {
        Double(oxmpi::os::monotonic_nanoseconds() as f64 * 1e-9)
    }
}

entry! {
    None fn MPI_Wtick() -> Double {
        Double(oxmpi::os::clock_resolution())
    }
}
