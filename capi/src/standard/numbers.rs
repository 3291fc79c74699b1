//! Numbers with special values: ranks, tags, keys, modes and the like.

use crate::constants;

/// Pairs of the core's value and the program's.
type Pairs = &'static [(i32, i32)];

/// One to one over all numbers: what is none of the program's constants keeps its value, unless the core has given that a
/// meaning. Then it becomes a value that neither has given one, found by going back along the pairs.
#[cold]
fn to_inside(pairs: Pairs, given: i32) -> i32 {
    if let Some((inside, _)) = pairs.iter().find(|pair| pair.1 == given) {
        return *inside;
    }
    let mut other = given;
    while let Some((_, of_program)) = pairs.iter().find(|pair| pair.0 == other) {
        other = *of_program;
    }
    other
}

/// The other way.
#[cold]
fn to_program(pairs: Pairs, inside: i32) -> i32 {
    if let Some((_, of_program)) = pairs.iter().find(|pair| pair.0 == inside) {
        return *of_program;
    }
    let mut other = inside;
    while let Some((inside, _)) = pairs.iter().find(|pair| pair.1 == other) {
        other = *inside;
    }
    other
}

/// Numbers that are ordinary unless they are negative: one comparison on the usual path.
macro_rules! negative {
    ($($name:ident: $group:ident;)*) => {
        $(
            pub mod $name {
                use crate::constants::$group::PAIRS;

                #[inline(always)]
                pub fn inside(given: i32) -> i32 {
                    if given >= 0 { given } else { super::to_inside(PAIRS, given) }
                }

                #[inline(always)]
                pub fn of_program(inside: i32) -> i32 {
                    if inside >= 0 { inside } else { super::to_program(PAIRS, inside) }
                }
            }
        )*
    };
}

negative! {
    rank: ranks;
    tag: tags;
}

macro_rules! values {
    ($($name:ident: $group:ident;)*) => {
        $(
            pub mod $name {
                use crate::constants::$group::PAIRS;

                pub fn inside(given: i32) -> i32 {
                    super::to_inside(PAIRS, given)
                }

                pub fn of_program(inside: i32) -> i32 {
                    super::to_program(PAIRS, inside)
                }
            }
        )*
    };
}

values! {
    keyval: keyvals;
    thread_level: thread_levels;
    comparison: comparisons;
    combiner: MPIR_Combiner_enum;
    order: orders;
    distribution: distributions;
    distribution_argument: distribution_arguments;
    typeclass: typeclasses;
    split_type: split_types;
    topology: MPIR_Topo_type;
    lock: locks;
    whence: whence;
    safety: MPI_T_cb_safety;
    source_order: MPI_T_source_order;
    verbosity: MPIR_T_verbosity_t;
    binding: MPIR_T_bind_t;
    scope: MPIR_T_scope_t;
    variable_class: MPIR_T_pvar_class_t;
    flavor: MPIR_Win_flavor_t;
    model: MPIR_Win_model_t;
}

/// Numbers whose bits mean something, the same ones in both ABIs.
macro_rules! bits {
    ($($name:ident: $group:ident;)*) => {
        $(
            pub mod $name {
                use crate::constants::$group::PAIRS;

                pub fn inside(given: i32) -> i32 {
                    let known = |inside, pair: &(i32, i32)| match given & pair.1 {
                        0 => inside,
                        _ => inside | pair.0,
                    };
                    PAIRS.iter().fold(given & !super::all(PAIRS).1, known)
                }

                pub fn of_program(inside: i32) -> i32 {
                    let known = |given, pair: &(i32, i32)| match inside & pair.0 {
                        0 => given,
                        _ => given | pair.1,
                    };
                    PAIRS.iter().fold(inside & !super::all(PAIRS).0, known)
                }

                const _: () = assert!(super::all(PAIRS).0 == super::all(PAIRS).1);
            }
        )*
    };
}

const fn all(pairs: Pairs) -> (i32, i32) {
    let (mut at, mut bits) = (0, (0, 0));
    while at < pairs.len() {
        bits = (bits.0 | pairs[at].0, bits.1 | pairs[at].1);
        at += 1;
    }
    bits
}

bits! {
    assertion: assertions;
    access_mode: access_modes;
}

pub mod error {
    pub use crate::standard::errors::{inside, of_program};
}

/// MPI_DISPLACEMENT_CURRENT, and what is another ABI's.
pub mod displacement {
    use super::constants::{MPI_DISPLACEMENT_CURRENT, displacements};

    const OF_PROGRAM: i64 = displacements::MPI_DISPLACEMENT_CURRENT as i64;

    pub fn inside(given: i64) -> i64 {
        match given {
            OF_PROGRAM => MPI_DISPLACEMENT_CURRENT,
            MPI_DISPLACEMENT_CURRENT => OF_PROGRAM,
            other => other,
        }
    }

    pub fn of_program(inside: i64) -> i64 {
        self::inside(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_one() {
        let tables = [
            constants::ranks::PAIRS,
            constants::keyvals::PAIRS,
            constants::whence::PAIRS,
            constants::MPI_T_source_order::PAIRS,
            constants::MPIR_T_pvar_class_t::PAIRS,
            constants::typeclasses::PAIRS,
        ];
        for pairs in tables {
            let mut seen = std::collections::BTreeSet::new();
            for given in -20..1000 {
                let inside = to_inside(pairs, given);
                assert_eq!(to_program(pairs, inside), given);
                assert!(seen.insert(inside));
            }
            for (inside, of_program) in pairs {
                assert_eq!(to_inside(pairs, *of_program), *inside);
                // What MPICH's programs have means nothing, or what the standard says.
                let given = to_inside(pairs, *inside);
                let standard = pairs.iter().find(|pair| pair.1 == *inside);
                assert_eq!(
                    standard.map(|pair| pair.0),
                    pairs.iter().find(|pair| pair.0 == given).map(|pair| pair.0)
                );
            }
        }
    }
}
