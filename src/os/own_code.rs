//! The library's own code and variables, as the loader has mapped them: whether their pages are there before they are needed.

use super::own_memory;
use std::ffi::{c_int, c_void};
use std::ops::Range;

/// Maps all pages of this library's code, and those of its variables as they are, so that code which runs for the first time waits for none.
/// No memory is allocated but for page tables. False: not all of them could be; or the kernel is older than 5.14.
pub fn provide() -> bool {
    let used = used();
    !used.is_empty() && used.iter().all(|pages| own_memory::provide(pages, false))
}

/// The pages of the code and the variables of the loaded file that has this function.
fn used() -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // SAFETY: `visit` gets the address of `found`, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the loader's record, for this call, and the address that `used` has passed.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Range<usize>>>()) };
    // SAFETY: the loader's table of so many headers, which stay while the file is loaded.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let is_used = |flags: u32| flags & (libc::PF_X | libc::PF_W) != 0;
    let loaded = headers.iter().filter(|it| it.p_type == libc::PT_LOAD);
    let pages = loaded.filter(|it| is_used(it.p_flags)).filter_map(|it| {
        let begin = (info.dlpi_addr as usize).wrapping_add(it.p_vaddr as usize);
        own_memory::pages(begin, it.p_memsz as usize)
    });
    found.extend(pages);
    let own = used as *const () as usize;
    let is_own = found.iter().any(|pages| pages.contains(&own));
    if !is_own {
        found.clear();
    }
    c_int::from(is_own)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// How many of some pages are mapped.
    fn mapped(pages: &Range<usize>) -> usize {
        let mut entries = vec![0; pages.len() / 4096 * 8];
        let table = File::open("/proc/self/pagemap").unwrap();
        let first = pages.start / 4096 * 8;
        table.read_exact_at(&mut entries, first as u64).unwrap();
        // The highest bit says so.
        entries.chunks(8).filter(|entry| entry[7] >> 7 == 1).count()
    }

    #[test]
    fn code_is_mapped_whether_it_has_run_or_not() {
        let own = used as *const () as usize;
        let code = used().into_iter().find(|pages| pages.contains(&own));
        let code = code.expect("this function is in it");
        // Older kernels have no answer. The kernel may take a page back at any time.
        if provide() {
            assert!(mapped(&code) * 4096 > code.len() / 10 * 9);
        }
    }
}
