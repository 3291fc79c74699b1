//! Inquiry of the environment: versions, names, memory, time, chapter 9.

use crate::constants::{
    MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_PROCESSOR_NAME, MPI_SUBVERSION, MPI_VERSION,
};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{Class, Result};
use oxmpi::{fail, info as core};
use std::ffi::c_void;

/// What memory is aligned to at least: a cache line, so that no one shares it.
const ALIGNMENT: usize = 64;
/// Hint of MPI_Alloc_mem: a power of two of bytes.
const ALIGNMENT_HINT: &str = "mpi_minimum_memory_alignment";

entry! {
    Allocate fn MPI_Alloc_mem(size: Aint, info: Info, baseptr: AddressOut) {
        let Ok(bytes) = usize::try_from(size.0) else {
            return fail!(Class::Arg, "size is {}; it must not be negative", size.0);
        };
        let hints = core::hints(info.0)?;
        let wish = hints.get(ALIGNMENT_HINT)?;
        let wish = wish.and_then(|text| text.parse::<usize>().ok());
        let alignment = match wish.filter(|wish| wish.is_power_of_two()) {
            Some(wish) => wish.max(ALIGNMENT),
            None => ALIGNMENT,
        };
        if baseptr.0.is_null() {
            return fail!(Class::Arg, "baseptr is NULL");
        }
        baseptr.write(allocate(bytes, alignment)?)
    }
}

fn allocate(bytes: usize, alignment: usize) -> Result<*mut c_void> {
    let mut address = std::ptr::null_mut();
    // SAFETY: the place is ours, the alignment a power of two and a multiple of a pointer's size.
    let code = unsafe { libc::posix_memalign(&mut address, alignment, bytes.max(1)) };
    if code != 0 {
        return fail!(Class::NoMem, "there is no memory for {bytes} bytes");
    }
    Ok(address)
}

entry! {
    Allocate fn MPI_Free_mem(base: Memory) {
        // SAFETY: the program gives back what MPI_Alloc_mem gave, or NULL.
        unsafe { libc::free(base.0) };
        Ok(())
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
    /// For tools that intercept it; the library itself does nothing at any level.
    None fn MPI_Pcontrol(level: Int) {
        let _ = level;
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
