//! The program's memory where it may be gone: the kernel looks at the addresses, so that the answer is no signal.

use super::peer_memory::{self, PIECES, Piece};
use std::ops::Range;

const PAGE: usize = 4096;

/// The addresses of the pages that have some bytes. `None`: there are no such addresses.
pub fn pages(address: usize, bytes: usize) -> Option<Range<usize>> {
    let end = address.checked_add(bytes)?.checked_next_multiple_of(PAGE)?;
    Some(address & !(PAGE - 1)..end)
}

/// Has pages ready to be read, or, where it `writes`, to be written. False: they cannot be; or the kernel is older than 5.14.
pub fn provide(pages: &Range<usize>, writes: bool) -> bool {
    let advice = match writes {
        true => libc::MADV_POPULATE_WRITE,
        false => libc::MADV_POPULATE_READ,
    };
    // SAFETY: it changes no content, and the kernel checks the addresses.
    unsafe { libc::madvise(pages.start as *mut libc::c_void, pages.len(), advice) == 0 }
}

/// Copies the pieces of this process's memory one behind the other, many with one call. False: not all of it is mapped. Where the kernel refuses to
/// copy for a process itself (seccomp), they are read directly.
///
/// # Safety
/// Nothing there is a Rust object that others write: it is the program's own memory.
pub unsafe fn read(pieces: &[Piece], mut out: &mut [u8]) -> bool {
    let pid = std::process::id() as i32;
    for some in pieces.chunks(PIECES) {
        let bytes: usize = some.iter().map(|piece| piece.bytes).sum();
        let (now, rest) = out.split_at_mut(bytes);
        out = rest;
        let local = Piece {
            address: now.as_mut_ptr() as usize,
            bytes,
        };
        // SAFETY: a part of `out`, which is borrowed mutably.
        match unsafe { peer_memory::read_pieces(pid, &[local], some) } {
            Ok(copied) if copied == bytes => {}
            // It stops in front of what is not mapped.
            Ok(_) => return false,
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => return false,
            Err(_) => {
                let mut to = now;
                for piece in some {
                    let (here, rest) = to.split_at_mut(piece.bytes);
                    to = rest;
                    let from = piece.address as *const u8;
                    // SAFETY: the caller vouches for the memory, which the program has given to an operation.
                    unsafe { std::ptr::copy_nonoverlapping(from, here.as_mut_ptr(), here.len()) };
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_one_behind_the_other_also_more_than_one_call_takes() {
        let source: Vec<u8> = (0..9000).map(|at| at as u8).collect();
        let begin = source.as_ptr() as usize;
        let pieces = (0..3000).map(|at| Piece {
            address: begin + 3 * at,
            bytes: 2,
        });
        let pieces: Vec<Piece> = pieces.collect();
        let mut copy = vec![0; 6000];
        // SAFETY: this function's own.
        assert!(unsafe { read(&pieces, &mut copy) });
        let wanted = (0..9000).filter(|at| at % 3 != 2).map(|at| at as u8);
        assert!(copy.into_iter().eq(wanted));
    }

    #[test]
    fn what_cannot_be_used_is_not_provided() {
        let provide =
            |address, bytes, writes| super::provide(&pages(address, bytes).unwrap(), writes);
        let own = [1u8; 3 * super::PAGE];
        let address = own.as_ptr() as usize;
        // Older kernels have no answer.
        if provide(address, own.len(), false) {
            assert!(provide(address + 1, own.len() - 1, true));
            assert!(!provide(8, 8, false));
            // The code is read only.
            let code = super::provide as *const () as usize;
            assert!(provide(code, 1, false));
            assert!(!provide(code, 1, true));
        }
        assert_eq!(pages(usize::MAX - 4, 8), None);
        assert_eq!(pages(usize::MAX - 12, 8), None);
        assert_eq!(pages(4097, 4095), Some(4096..8192));
    }

    #[test]
    fn what_is_not_mapped_is_told() {
        let source = [1u8, 2, 3, 4];
        let good = Piece {
            address: source.as_ptr() as usize,
            bytes: 4,
        };
        let bad = Piece {
            address: 8,
            bytes: 4,
        };
        let mut copy = [0u8; 8];
        // SAFETY: this function's own, and nothing.
        assert!(!unsafe { read(&[good, bad], &mut copy) } && !unsafe { read(&[bad], &mut copy) });
    }
}
