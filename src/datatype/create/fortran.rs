//! Datatypes for Fortran's parameterized kinds: MPI_Type_create_f90_integer, _real and _complex, and MPI_Type_match_size.
//!
//! Invariant: the same arguments give the same handle as long as the program runs; these types are predefined ones without a
//! name, committed, and never freed.

use super::super::contents::{Combiner, Contents};
use super::super::{Datatype, get, insert_like};
use super::New;
use crate::error::{Class, Result, fail};
use parking_lot::Mutex;

const UNDEFINED: i32 = -32766;

/// Decimal digits, exponent range and MPI type of the kinds of reals that a compiler for this machine has.
const REALS: [(i32, i32, i32); 3] = [
    (6, 37, 0x4c00_0427),
    (15, 307, 0x4c00_0829),
    (33, 4931, 0x4c00_102b),
];
/// Their complex numbers.
const COMPLEXES: [i32; 3] = [0x4c00_0828, 0x4c00_102a, 0x4c00_202c];
/// Decimal digits and MPI type of the kinds of integers.
const INTEGERS: [(i32, i32); 5] = [
    (2, 0x4c00_012d),
    (4, 0x4c00_022f),
    (9, 0x4c00_0430),
    (18, 0x4c00_0831),
    (38, 0x4c00_1032),
];

type Made = Vec<((Combiner, i32, i32), &'static Datatype)>;

static MADE: Mutex<Made> = Mutex::new(Vec::new());

/// MPI_Type_create_f90_real; a number left out is MPI_UNDEFINED.
pub fn real(p: i32, r: i32) -> New {
    let kind = kind_of_real(p, r)?;
    made(Combiner::F90Real, p, r, REALS[kind].2)
}

/// MPI_Type_create_f90_complex.
pub fn complex(p: i32, r: i32) -> New {
    let kind = kind_of_real(p, r)?;
    made(Combiner::F90Complex, p, r, COMPLEXES[kind])
}

/// MPI_Type_create_f90_integer.
pub fn integer(r: i32) -> New {
    let kind = INTEGERS.iter().find(|(digits, _)| r <= *digits);
    match kind {
        Some((_, base)) if r != UNDEFINED && r >= 0 => made(Combiner::F90Integer, 0, r, *base),
        _ => fail!(
            Class::Arg,
            "r is {r}; allowed is 0 to 38, the most digits that an integer kind has"
        ),
    }
}

fn kind_of_real(p: i32, r: i32) -> Result<usize> {
    if p == UNDEFINED && r == UNDEFINED {
        return fail!(Class::Arg, "p and r are both MPI_UNDEFINED; one is needed");
    }
    for (name, value) in [("p", p), ("r", r)] {
        if value < 0 && value != UNDEFINED {
            return fail!(
                Class::Arg,
                "{name} is {value}; it must not be negative, but for MPI_UNDEFINED"
            );
        }
    }
    // MPI_UNDEFINED is below all.
    let fits = |(digits, range, _): &(i32, i32, i32)| p <= *digits && r <= *range;
    match REALS.iter().position(fits) {
        Some(kind) => Ok(kind),
        None => fail!(
            Class::Arg,
            "p is {p} and r is {r}; the largest real kind has 33 digits and a range of 4931"
        ),
    }
}

fn made(combiner: Combiner, p: i32, r: i32, base: i32) -> New {
    let mut all = MADE.lock();
    let wanted = (combiner, p, r);
    if let Some((_, datatype)) = all.iter().find(|(key, _)| *key == wanted) {
        return Ok(datatype);
    }
    let Some(base) = get(base) else {
        return fail!(Class::Intern, "the type {base:#x} is not there");
    };
    let mut contents = Contents::new(combiner, false);
    match combiner {
        Combiner::F90Integer => contents.integer(r),
        _ => contents.integer(p).integer(r),
    };
    let datatype = insert_like(base, contents)?;
    all.push((wanted, datatype));
    Ok(datatype)
}
