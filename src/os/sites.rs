//! Where the program has called the library: the addresses of its functions on the stack.
//!
//! Invariant: nothing is allocated, and no lock of this library is taken, so that a wait can ask at any time. Addresses become names
//! elsewhere (mpiexec's `sites`): that takes long and reads files.

use super::cancellation::uncancelled;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

/// How many addresses are kept. Wrappers of other languages and of tools are among them, so one is too few.
pub const MOST: usize = 8;

/// Addresses within calls, the innermost first; 0 behind the last. Within: a return address may be the next line's.
pub type Callers = [u64; MOST];

#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut Context, is_before: *mut c_int) -> usize;
}

const GO_ON: c_int = 0;
const STOP: c_int = 5;

/// The functions outside of this library that are on the stack of this thread.
///
/// Only from where a call of the program can be: not from handlers of signals, which may have interrupted the unwinder.
pub fn callers() -> Callers {
    callers_outside(own_code())
}

struct Walk {
    found: Callers,
    count: usize,
    skipped: Range<usize>,
}

#[inline(never)]
fn callers_outside(skipped: Range<usize>) -> Callers {
    let mut walk = Walk {
        found: [0; MOST],
        count: 0,
        skipped,
    };
    // The unwinder of an old libc looks through the list of libraries under a lock, and may be asked to cancel there.
    uncancelled(|| {
        // SAFETY: `visit` gets the address of `walk`, which lives until the call returns; it does not unwind.
        unsafe { _Unwind_Backtrace(visit, (&raw mut walk).cast()) }
    });
    walk.found
}

extern "C" fn visit(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the address that `callers_outside` has passed, which nobody else uses meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    let mut is_before = 0;
    // SAFETY: the context is the unwinder's, for this call.
    let address = unsafe { _Unwind_GetIPInfo(context, &mut is_before) };
    // A frame that a signal has interrupted is at an instruction; all others are behind their call.
    let address = address.wrapping_sub(usize::from(is_before == 0));
    if walk.skipped.contains(&address) {
        return GO_ON;
    }
    let Some(place) = walk.found.get_mut(walk.count) else {
        return STOP;
    };
    *place = address as u64;
    walk.count += 1;
    GO_ON
}

/// The addresses of this library.
fn own_code() -> Range<usize> {
    static OWN: OnceLock<Range<usize>> = OnceLock::new();
    OWN.get_or_init(|| code_with(own_code as *const () as usize))
        .clone()
}

struct Search {
    address: usize,
    found: Range<usize>,
}

/// The addresses of the loaded file that has this one.
fn code_with(address: usize) -> Range<usize> {
    let mut search = Search {
        address,
        found: 0..0,
    };
    // SAFETY: `look` gets the address of `search`, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader's record, for this call, and the address that `code_with` has passed.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: the loader's table of so many headers, which stay while the file is loaded.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    for header in headers.iter().filter(|it| it.p_type == libc::PT_LOAD) {
        let begin = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        let range = begin..begin + header.p_memsz as usize;
        if range.contains(&search.address) {
            search.found = range;
            return 1;
        }
    }
    0
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[inline(never)]
    fn inner() -> Callers {
        std::hint::black_box(callers_outside(0..0))
    }

    #[inline(never)]
    fn outer() -> Callers {
        std::hint::black_box(inner())
    }

    #[test]
    fn callers_are_on_the_stack_and_nothing_of_the_library_is() {
        let near = |address: u64, function: usize| {
            (function..function + 256).contains(&(address as usize))
        };
        let found = outer();
        assert!(
            found
                .iter()
                .any(|it| near(*it, inner as *const () as usize))
        );
        assert!(
            found
                .iter()
                .any(|it| near(*it, outer as *const () as usize))
        );
        // The code of the tests is the library's: only what has started this thread is outside.
        let own = own_code();
        assert!(own.contains(&(outer as *const () as usize)));
        let outside = callers();
        let outside = outside.iter().filter(|it| **it != 0);
        assert!(outside.clone().all(|it| !own.contains(&(*it as usize))));
    }

    #[test]
    fn nothing_is_allocated() {
        let (_, held, most) = crate::os::counting::bytes_of(outer);
        assert_eq!((held, most), (0, 0));
    }
}
