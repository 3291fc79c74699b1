//! Handles. Predefined ones are small numbers (below 4096), which a table translates. Others are the core's handles themselves:
//! their highest bit is set and nothing is above 32 bits.
//!
//! Invariant: what is none of these becomes a handle that the core has no object for, and is remembered for the texts of errors.

use crate::constants::*;
use oxmpi::handle::{self, Kind};
use std::cell::Cell;

/// Above all predefined handles.
const LIMIT: usize = 1024;

const KINDS: [&[(i32, i32)]; 12] = [
    comms::PAIRS,
    groups::PAIRS,
    requests::PAIRS,
    sessions::PAIRS,
    windows::PAIRS,
    infos::PAIRS,
    messages::PAIRS,
    errhandlers::PAIRS,
    datatypes::PAIRS,
    pair_types::PAIRS,
    sized_types::PAIRS,
    ops::PAIRS,
];

/// The core's handle for each predefined one; 0 for none, which is no handle of the core.
static PREDEFINED: [i32; LIMIT] = {
    let mut table = [0; LIMIT];
    let mut kind = 0;
    while kind < KINDS.len() {
        let mut at = 0;
        while at < KINDS[kind].len() {
            let (inside, of_program) = KINDS[kind][at];
            table[of_program as usize] = inside;
            at += 1;
        }
        kind += 1;
    }
    table
};

/// Handles that stand for nothing are numbered: no object of the core has this type and kind.
const UNKNOWN: i32 = 0x3f00_0000;
const REMEMBERED: usize = 16;

thread_local! {
    static UNKNOWN_HANDLES: Cell<[usize; REMEMBERED]> = const { Cell::new([0; REMEMBERED]) };
    static NEXT: Cell<usize> = const { Cell::new(0) };
}

#[cold]
#[inline(never)]
fn unknown(given: usize) -> i32 {
    let place = NEXT.replace((NEXT.get() + 1) % REMEMBERED);
    let mut handles = UNKNOWN_HANDLES.get();
    handles[place] = given;
    UNKNOWN_HANDLES.set(handles);
    UNKNOWN | place as i32
}

/// What the program gave for a handle that stands for nothing.
fn remembered(inside: i32) -> Option<usize> {
    let place = inside.wrapping_sub(UNKNOWN) as u32 as usize;
    (place < REMEMBERED).then(|| UNKNOWN_HANDLES.get()[place])
}

#[inline(always)]
fn inside(given: usize) -> i32 {
    if given < LIMIT {
        match PREDEFINED[given] {
            0 => unknown(given),
            inside => inside,
        }
    } else if is_dynamic(given) {
        given as u32 as i32
    } else {
        unknown(given)
    }
}

/// Handles of objects that are made have their highest bit set.
#[inline(always)]
fn is_dynamic(given: usize) -> bool {
    given >> 31 == 1
}

const _: () = assert!(Kind::Direct as u32 >> 1 == 1 && Kind::Indirect as u32 >> 1 == 1);

#[inline(always)]
fn of_program(inside: i32, kinds: &[&[(i32, i32)]]) -> usize {
    if inside < 0 {
        return inside as u32 as usize;
    }
    predefined_of_program(inside, kinds)
}

#[inline]
fn predefined_of_program(inside: i32, kinds: &[&[(i32, i32)]]) -> usize {
    for pairs in kinds {
        for (predefined, of_program) in *pairs {
            if *predefined == inside {
                return *of_program as usize;
            }
        }
    }
    remembered(inside).unwrap_or(inside as u32 as usize)
}

/// The handle of any object, for callbacks, texts and what is known by its handle alone. Of requests and messages, the request.
pub fn any(inside: i32) -> usize {
    match is_pair_type(inside) {
        true => predefined_of_program(inside, &KINDS),
        false => of_program(inside, &KINDS),
    }
}

/// Pair types are the only predefined objects among the direct handles.
#[inline(always)]
fn is_pair_type(inside: i32) -> bool {
    const FIRST: i32 = MPI_FLOAT_INT;
    (inside.wrapping_sub(FIRST) as u32) < pair_types_in_a_row() as u32
}

const fn pair_types_in_a_row() -> i32 {
    MPI_LONG_DOUBLE_INT - MPI_FLOAT_INT + 1
}

/// Replaces in the text of an error what stands for unknown handles by what the program gave.
pub fn in_text(text: &str) -> String {
    let mut written = text.to_owned();
    for place in 0..REMEMBERED {
        let inside = UNKNOWN | place as i32;
        let spelled = format!("{inside:#010x}");
        if written.contains(&spelled) {
            let given = UNKNOWN_HANDLES.get()[place];
            written = written.replace(&spelled, &spell(given));
        }
    }
    written
}

/// A handle in the text of an error.
pub fn spelled(inside: i32) -> String {
    spell(any(inside))
}

/// With what it would be in MPICH's ABI, which a caller compiled with another header gives.
fn spell(given: usize) -> String {
    let foreign = u32::try_from(given).is_ok_and(|bits| {
        let bits = bits as i32;
        handle::kind(bits) == Kind::Builtin && handle::object_type(bits).is_some()
    });
    match foreign {
        true => format!("{given:#010x} (of MPICH's ABI: compiled with another mpi.h)"),
        false => format!("{given:#010x}"),
    }
}

/// `NAME: KIND...;` the conversion of one kind of handle.
macro_rules! kinds {
    ($($name:ident: $($kind:ident)*;)*) => {
        $(
            pub mod $name {
                const KINDS: &[&[(i32, i32)]] = &[$(crate::constants::$kind::PAIRS),*];

                #[inline(always)]
                pub fn inside<T>(given: *mut T) -> i32 {
                    super::inside(given as usize)
                }

                #[inline(always)]
                pub fn of_program<T>(inside: i32) -> *mut T {
                    super::of_program(inside, KINDS) as *mut T
                }
            }
        )*
    };
}

kinds! {
    comm: comms;
    errhandler: errhandlers;
    group: groups;
    info: infos;
    message: messages;
    op: ops;
    session: sessions;
    win: windows;
    other: ;
}

/// Requests that were complete when they were made share handles (`oxmpi::pt2pt`), which are the program's as they are.
pub mod request {
    use oxmpi::pt2pt::{RECEIVED_FROM_NOBODY, SENT};

    #[inline(always)]
    pub fn inside<T>(given: *mut T) -> i32 {
        let given = given as usize;
        match given == SENT as usize || given == RECEIVED_FROM_NOBODY as usize {
            true => given as i32,
            false => super::inside(given),
        }
    }

    #[inline(always)]
    pub fn of_program<T>(inside: i32) -> *mut T {
        super::of_program(inside, &[crate::constants::requests::PAIRS]) as *mut T
    }
}

pub mod datatype {
    #[inline(always)]
    pub fn inside<T>(given: *mut T) -> i32 {
        let inside = super::inside(given as usize);
        // The core's own number of a pair type.
        if super::is_pair_type(inside) && given as usize >= super::LIMIT {
            return super::unknown(given as usize);
        }
        inside
    }

    #[inline(always)]
    pub fn of_program<T>(inside: i32) -> *mut T {
        super::any(inside) as *mut T
    }
}

/// Files are pointers in the core's C too, NULL for MPI_FILE_NULL.
pub mod file {
    const NULL: usize = 280;

    #[inline(always)]
    pub fn inside<T>(given: *mut T) -> *mut T {
        match given as usize {
            NULL => std::ptr::null_mut(),
            0 => NULL as *mut T,
            _ => given,
        }
    }

    #[inline(always)]
    pub fn of_program<T>(inside: *mut T) -> *mut T {
        self::inside(inside)
    }
}

/// Handles of performance variables: MPI_T_PVAR_ALL_HANDLES takes the first number.
pub mod pvar {
    const ALL: usize = 1;
    /// As `data::PVAR_ALL_HANDLES`.
    pub const ALL_INSIDE: usize = usize::MAX;

    pub fn inside<T>(given: *mut T) -> *mut T {
        match given as usize {
            0 => given,
            ALL => ALL_INSIDE as *mut T,
            number => (number - 1) as *mut T,
        }
    }

    pub fn of_program<T>(inside: *mut T) -> *mut T {
        match inside as usize {
            0 => inside,
            ALL_INSIDE => ALL as *mut T,
            number => (number + 1) as *mut T,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Handles that are only compared.
    fn pointer(given: usize) -> *mut u8 {
        given as *mut u8
    }

    #[test]
    fn predefined_handles_in_both_directions() {
        for pairs in KINDS {
            for (core, standard) in pairs {
                assert_eq!(super::inside(*standard as usize), *core);
                assert!(*standard < LIMIT as i32);
            }
        }
        assert_eq!(datatype::of_program(MPI_DOUBLE_INT), pointer(553));
        assert_eq!(datatype::inside(pointer(553)), MPI_DOUBLE_INT);
        assert_eq!(message::of_program(MPI_MESSAGE_NULL), pointer(296));
        assert_eq!(request::of_program(MPI_REQUEST_NULL), pointer(384));
        assert_eq!(comm::inside(pointer(257)), MPI_COMM_WORLD);
    }

    #[test]
    fn handles_of_objects_are_themselves() {
        for handle in [0x8400_0000u32, 0xc400_1003, 0x8c00_0005, 0xffff_ffff] {
            assert_eq!(datatype::inside(pointer(handle as usize)), handle as i32);
            assert_eq!(
                datatype::of_program(handle as i32),
                pointer(handle as usize)
            );
        }
        let sent = oxmpi::pt2pt::SENT;
        assert_eq!(request::inside(request::of_program::<u8>(sent)), sent);
    }

    #[test]
    fn what_stands_for_nothing_is_remembered() {
        let foreign = [
            0,
            9,
            0x4400_0000,
            0x2c00_0000,
            0x1_8400_0000,
            0x7fff_dead_beef,
            usize::MAX,
        ];
        for given in foreign {
            let inside = comm::inside(pointer(given));
            assert_eq!(inside & UNKNOWN, UNKNOWN);
            assert_eq!(comm::of_program(inside), pointer(given));
            let text = in_text(&format!("comm is {inside:#010x}, which is none"));
            assert!(text.contains(&format!("{given:#010x}")), "{text}");
            assert_eq!(text.contains("MPICH"), given == 0x4400_0000, "{text}");
        }
        assert_eq!(datatype::inside(pointer(0x8c00_0000)) & UNKNOWN, UNKNOWN);
    }
}
