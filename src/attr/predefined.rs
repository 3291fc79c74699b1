//! The predefined attributes of communicators. C reads them through a pointer to an int; Fortran
//! names them by a key one higher and reads the value itself.
//!
//! Windows have theirs too, but they differ from window to window; here are their keys and how languages read them.

use super::{Found, Kind, Target, Value};
use crate::error::{Class, Result, fail, last_used_code};
use crate::sync::{AtomicBool, AtomicUsize, Ordering};

pub const TAG_UB: i32 = 0x6440_0001;
pub const HOST: i32 = 0x6440_0003;
pub const IO: i32 = 0x6440_0005;
pub const WTIME_IS_GLOBAL: i32 = 0x6440_0007;
pub const UNIVERSE_SIZE: i32 = 0x6440_0009;
pub const LAST_USED_CODE: i32 = 0x6440_000b;
pub const APPNUM: i32 = 0x6440_000d;
/// MPIX_FT: whether failures of processes are survived.
pub const FT: i32 = 0x6440_000f;

/// What the predefined keys of windows ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowKey {
    Base,
    Size,
    DispUnit,
    CreateFlavor,
    Model,
}

/// The language that a predefined attribute is read in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    C,
    Fortran,
}

/// What a key of windows asks for, if it is a predefined one.
pub fn window_key(key: i32) -> Option<(WindowKey, Language)> {
    const KEYS: [WindowKey; 5] = [
        WindowKey::Base,
        WindowKey::Size,
        WindowKey::DispUnit,
        WindowKey::CreateFlavor,
        WindowKey::Model,
    ];
    let number = usize::try_from(key.checked_sub(WINDOW_FIRST)?).ok()?;
    let language = [Language::C, Language::Fortran][number % 2];
    KEYS.get(number / 2).map(|key| (*key, language))
}

/// A predefined attribute that is an address itself, in both languages.
pub fn found_address(address: &usize) -> Found {
    Found {
        value: Value {
            bits: *address,
            kind: Kind::Pointer,
        },
        address,
    }
}

/// A predefined attribute that C gets the place of, and Fortran the value.
pub fn found_fact(fact: &usize, language: Language) -> Found {
    let value = match language {
        Language::C => Value {
            bits: std::ptr::from_ref(fact) as usize,
            kind: Kind::Pointer,
        },
        Language::Fortran => Value {
            bits: *fact,
            kind: Kind::Integer,
        },
    };
    Found {
        value,
        address: fact,
    }
}

const COUNT: usize = 8;
const WINDOW_FIRST: i32 = 0x6600_0001;
const WINDOW_LAST: i32 = 0x6600_0009;
const PROC_NULL: i32 = -1;
const ANY_SOURCE: i32 = -2;

struct Cell {
    set: AtomicBool,
    /// An int in the low half: on a little-endian machine its address is that of an int.
    value: AtomicUsize,
}

const _: () = assert!(cfg!(target_endian = "little"));

const fn cell(set: bool, value: i32) -> Cell {
    Cell {
        set: AtomicBool::new(set),
        value: AtomicUsize::new(value as usize),
    }
}

/// Before anyone calls `set`. All processes are on one machine and read one clock.
static CELLS: [Cell; COUNT] = [
    cell(true, i32::MAX),
    cell(true, PROC_NULL),
    cell(true, ANY_SOURCE),
    cell(true, 1),
    cell(false, 0),
    cell(true, 0),
    cell(false, 0),
    cell(true, 0),
];

/// Sets a predefined attribute, or with `None` lets it be undefined (its flag false).
pub fn set(key: i32, value: Option<i32>) {
    let cell = &CELLS[(key - TAG_UB) as usize / 2];
    let bits = value.unwrap_or(0) as usize;
    cell.value.store(bits, Ordering::Relaxed);
    cell.set.store(value.is_some(), Ordering::Release);
}

/// Whether a key is one of those that the world model has only. Communicators that come from a session have MPI_TAG_UB (MPI 5.0,
/// 9.1.2).
pub fn is_of_world(key: i32) -> bool {
    (TAG_UB + 2..=FT + 1).contains(&key)
}

/// `None` if the key is not predefined; else what it is set to. MPI_ERR_KEYVAL for a predefined key
/// of another kind of object.
pub(super) fn get(target: Target, key: i32) -> Result<Option<Option<Found>>> {
    let communicator = (TAG_UB..=FT + 1).contains(&key);
    let window = (WINDOW_FIRST..=WINDOW_LAST + 1).contains(&key);
    match (communicator, window, target) {
        (false, false, _) => Ok(None),
        (true, _, Target::Comm) => Ok(Some(read(key))),
        (_, true, Target::Win) => Ok(Some(None)),
        _ => fail!(
            Class::Keyval,
            "keyval is {key:#x}, a predefined key for another kind of object"
        ),
    }
}

fn read(key: i32) -> Option<Found> {
    let cell = &CELLS[(key - TAG_UB) as usize / 2];
    if (key - TAG_UB) & !1 == LAST_USED_CODE - TAG_UB {
        cell.value
            .store(last_used_code() as usize, Ordering::Relaxed);
    }
    if !cell.set.load(Ordering::Acquire) {
        return None;
    }
    let address: *const usize = cell.value.as_ptr();
    let for_fortran = (key - TAG_UB) & 1 == 1;
    let value = if for_fortran {
        Value {
            bits: cell.value.load(Ordering::Relaxed) as i32 as isize as usize,
            kind: Kind::Integer,
        }
    } else {
        Value {
            bits: address as usize,
            kind: Kind::Pointer,
        }
    };
    Some(Found { value, address })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{add_class, remove_class};

    #[test]
    fn set_and_unset() {
        assert_eq!(get(Target::Comm, APPNUM).unwrap(), Some(None));
        set(APPNUM, Some(3));
        let found = get(Target::Comm, APPNUM + 1).unwrap().unwrap().unwrap();
        assert_eq!(found.for_fortran(), 3);
        let found = get(Target::Comm, APPNUM).unwrap().unwrap().unwrap();
        assert_eq!(found.for_c(), found.address as usize);
        set(APPNUM, None);
        assert_eq!(get(Target::Comm, APPNUM).unwrap(), Some(None));
    }

    #[test]
    fn negative_values_keep_their_sign_in_fortran() {
        let found = get(Target::Comm, HOST + 1).unwrap().unwrap().unwrap();
        assert_eq!(found.for_fortran() as isize, -1);
    }

    #[test]
    fn the_last_used_code_is_current() {
        let class = add_class().unwrap();
        let found = get(Target::Comm, LAST_USED_CODE + 1).unwrap();
        assert!(found.unwrap().unwrap().for_fortran() >= class as usize);
        remove_class(class).unwrap();
    }

    #[test]
    fn a_session_has_the_upper_bound_of_tags() {
        let of_world = [HOST, IO + 1, LAST_USED_CODE, FT + 1].map(is_of_world);
        assert_eq!(of_world, [true; 4]);
        let others = [TAG_UB, TAG_UB + 1, WINDOW_FIRST, 0x6440_0100].map(is_of_world);
        assert_eq!(others, [false; 4]);
    }

    #[test]
    fn keys_of_windows() {
        assert_eq!(
            window_key(WINDOW_FIRST),
            Some((WindowKey::Base, Language::C))
        );
        let last = Some((WindowKey::Model, Language::Fortran));
        assert_eq!(window_key(WINDOW_LAST + 1), last);
        for other in [WINDOW_FIRST - 1, WINDOW_LAST + 2, TAG_UB, i32::MIN] {
            assert_eq!(window_key(other), None);
        }
        assert_eq!(get(Target::Win, WINDOW_FIRST).unwrap(), Some(None));
        assert!(get(Target::Comm, WINDOW_FIRST).is_err());
        assert_eq!(get(Target::Comm, 0x6440_0100).unwrap(), None);
    }
}
