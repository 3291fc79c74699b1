//! The library's own code and variables, as the loader has mapped them: whether their pages are there before they are needed.

use super::own_memory;
use std::ffi::{c_int, c_void};

struct Search {
    address: usize,
    is_all: bool,
}

/// Maps all pages of this library's code, and those of its variables as they are, so that code which runs for the first time waits for none.
/// No memory is allocated but for page tables. False: not all of them could be; or the kernel is older than 5.14.
pub fn provide() -> bool {
    let mut search = Search {
        address: provide as *const () as usize,
        is_all: false,
    };
    // SAFETY: `visit` gets the address of `search`, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.is_all
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader's record, for this call, and the address that `provide` has passed.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: the loader's table of so many headers, which stay while the file is loaded.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let loaded = headers.iter().filter(|it| it.p_type == libc::PT_LOAD);
    let pages = |header: &libc::Elf64_Phdr| {
        let begin = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        own_memory::pages(begin, header.p_memsz as usize)
    };
    let has_address = |header| pages(header).is_some_and(|it| it.contains(&search.address));
    if !loaded.clone().any(has_address) {
        return 0;
    }
    let mut used = loaded.filter(|it| it.p_flags & (libc::PF_X | libc::PF_W) != 0);
    search.is_all =
        used.all(|header| pages(header).is_some_and(|it| own_memory::provide(&it, false)));
    1
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    /// Code that nobody runs.
    #[inline(never)]
    fn never() -> u64 {
        std::hint::black_box(7)
    }

    #[test]
    fn code_that_has_never_run_is_mapped() {
        // Older kernels have no answer.
        if provide() {
            let page = std::hint::black_box(never as *const () as usize) / 4096;
            let mut entry = [0; 8];
            let pages = std::fs::File::open("/proc/self/pagemap").unwrap();
            pages.read_exact_at(&mut entry, page as u64 * 8).unwrap();
            // Bit 63: the page is there.
            assert!(u64::from_ne_bytes(entry) >> 63 == 1);
        }
    }
}
