//! Hashes of the layout of structures in shared memory, computed by the compiler. Two builds that map one segment compare them.
//!
//! Invariant: [`shape!`] names every field of a structure (one that is missing does not compile), so a field that is added, moved or
//! renamed changes the hash.

/// FNV-1a.
pub const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Continues a hash with bytes.
pub const fn bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(PRIME);
        at += 1;
    }
    (hash ^ 0xff).wrapping_mul(PRIME) // the end, which no text contains
}

/// Continues a hash with a number.
pub const fn number(hash: u64, number: usize) -> u64 {
    bytes(hash, &(number as u64).to_le_bytes())
}

/// One hash of many.
pub const fn combine(hashes: &[u64]) -> u64 {
    let (mut hash, mut at) = (START, 0);
    while at < hashes.len() {
        hash = bytes(hash, &hashes[at].to_le_bytes());
        at += 1;
    }
    hash
}

/// The hash of a structure: its name, its size, and the name and offset of each field.
macro_rules! shape {
    ($structure:ident { $($field:ident),* $(,)? }) => {{
        #[allow(dead_code)]
        fn complete(it: &$structure) {
            let $structure { $($field: _),* } = it;
        }
        let hash = $crate::queue::shape::bytes($crate::queue::shape::START, stringify!($structure).as_bytes());
        let hash = $crate::queue::shape::number(hash, size_of::<$structure>());
        $(
            let hash = $crate::queue::shape::bytes(hash, stringify!($field).as_bytes());
            let hash = $crate::queue::shape::number(hash, std::mem::offset_of!($structure, $field));
        )*
        hash
    }};
}
pub(crate) use shape;

#[cfg(test)]
mod tests {
    #[test]
    fn fields_that_change_places_change_the_hash() {
        let one = {
            #[repr(C)]
            struct Page {
                state: u32,
                pid: u32,
            }
            shape!(Page { state, pid })
        };
        let other = {
            #[repr(C)]
            struct Page {
                pid: u32,
                state: u32,
            }
            shape!(Page { state, pid })
        };
        let larger = {
            #[repr(C, align(16))]
            struct Page {
                state: u32,
                pid: u32,
            }
            shape!(Page { state, pid })
        };
        assert_ne!(one, other);
        assert_ne!(one, larger);
        assert_ne!(super::combine(&[one, other]), super::combine(&[other, one]));
    }
}
