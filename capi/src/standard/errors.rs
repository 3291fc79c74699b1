//! Error classes and codes. A code of the core has its class in the lowest bits (`oxmpi::error`), which are translated; numbers that
//! programs added are the same on both sides.
//!
//! The tool interface returns bare classes, which the standard has at 1001 and above.

use crate::constants::{MPIX_ERR_PROC_FAILED, MPIX_ERR_TIMEOUT, error_classes, tool_errors};
use oxmpi::error::Error;

const CLASSES: i32 = 128;
/// Codes that the program added (`oxmpi::error`).
const ADDED: i32 = 0x4000_0000;

/// The core's class for each of the program's, and the other way. Numbers that are no class of the standard's stand for the rest, in
/// ascending order.
const TABLES: ([u8; CLASSES as usize], [u8; CLASSES as usize]) = {
    let mut inside = [u8::MAX; CLASSES as usize];
    let mut of_program = [u8::MAX; CLASSES as usize];
    let mut at = 0;
    while at < error_classes::PAIRS.len() {
        let (core, standard) = error_classes::PAIRS[at];
        if core < CLASSES {
            inside[standard as usize] = core as u8;
            of_program[core as usize] = standard as u8;
        }
        at += 1;
    }
    // MPICH's extensions keep their numbers.
    let mut extension = MPIX_ERR_PROC_FAILED as usize;
    while extension <= MPIX_ERR_TIMEOUT as usize {
        inside[extension] = extension as u8;
        of_program[extension] = extension as u8;
        extension += 1;
    }
    let (mut given, mut core) = (0, 0);
    while given < CLASSES as usize {
        if inside[given] == u8::MAX {
            while of_program[core] != u8::MAX {
                core += 1;
            }
            inside[given] = core as u8;
            of_program[core] = given as u8;
        }
        given += 1;
    }
    (inside, of_program)
};

fn translated(code: i32, table: &[u8; CLASSES as usize]) -> i32 {
    match code & ADDED != 0 || code < 0 {
        true => code,
        false => code & !(CLASSES - 1) | i32::from(table[(code & (CLASSES - 1)) as usize]),
    }
}

/// The bare classes of the tool interface change places with the numbers that would stand for them.
fn exchanged(code: i32) -> i32 {
    for (core, standard) in tool_errors::PAIRS {
        let other = i32::from(TABLES.1[*core as usize]);
        if code == *standard {
            return other;
        }
        if code == other {
            return *standard;
        }
    }
    code
}

/// The core's code for one that the program gives.
pub fn inside(given: i32) -> i32 {
    match given {
        0 => 0,
        _ => translated(exchanged(given), &TABLES.0),
    }
}

/// The program's code for one of the core's.
#[inline]
pub fn of_program(code: i32) -> i32 {
    match code {
        0 => 0,
        _ => exchanged(translated(code, &TABLES.1)),
    }
}

/// The text as the program's values have it.
pub fn as_given(error: Error) -> Error {
    error.with_text(super::handles::in_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back() {
        let mut seen = std::collections::BTreeSet::new();
        for given in (0..3000).chain([-1, 7 << 20 | 3, ADDED, ADDED | 5]) {
            assert_eq!(of_program(inside(given)), given, "{given}");
            assert!(seen.insert(inside(given)));
        }
        for (core, standard) in error_classes::PAIRS
            .iter()
            .filter(|pair| pair.0 < CLASSES)
            .chain(tool_errors::PAIRS)
        {
            assert_eq!(of_program(*core), *standard);
        }
    }
}
