//! MPI_Dims_create: a number of processes as a grid whose sides are as close to each other as possible.
//!
//! Invariant: the largest side is as small as it can be, then the next, and so on; sides come in falling order. Cost: a walk
//! over the divisors, of which an int has 1,536 at most, for each dimension.

use crate::error::{Class, Result, fail};

/// Fills in the sides that are zero.
pub fn dims(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        return fail!(Class::Arg, "nnodes is {nodes}; it must be positive");
    }
    let mut rest = nodes;
    for (index, side) in dims.iter().enumerate() {
        if *side < 0 {
            return fail!(
                Class::Dims,
                "dims[{index}] is {side}; it must not be negative"
            );
        }
        if *side > 0 {
            if rest % side != 0 {
                return fail!(
                    Class::Dims,
                    "dims[{index}] is {side}; with the sides before it, it does not divide nnodes, which is {nodes}"
                );
            }
            rest /= side;
        }
    }
    let open = dims.iter().filter(|side| **side == 0).count();
    if open == 0 && rest != 1 {
        return fail!(
            Class::Dims,
            "dims is a grid of {} processes, but nnodes is {nodes}",
            nodes / rest
        );
    }
    let mut found = Vec::with_capacity(open);
    let fits = balanced(rest, open, &divisors(rest), rest, &mut found);
    debug_assert!(fits || open == 0);
    let free = dims.iter_mut().filter(|side| **side == 0);
    free.zip(found).for_each(|(place, side)| *place = side);
    Ok(())
}

/// In rising order.
fn divisors(number: i32) -> Vec<i32> {
    let small = (1..=number).take_while(|side| *side as i64 * *side as i64 <= number as i64);
    let mut all: Vec<i32> = small.filter(|side| number % side == 0).collect();
    let large: Vec<i32> = all.iter().rev().map(|side| number / side).collect();
    all.extend(large);
    all.dedup();
    all
}

/// Appends `sides` factors of `number`, falling, none above `most`; false if there are none such.
fn balanced(number: i32, sides: usize, divisors: &[i32], most: i32, found: &mut Vec<i32>) -> bool {
    if sides == 0 {
        return number == 1;
    }
    for side in divisors.iter().take_while(|side| **side <= most) {
        let enough = (*side as i64)
            .checked_pow(sides as u32)
            .is_none_or(|all| all >= number as i64);
        if number % side != 0 || !enough {
            continue;
        }
        found.push(*side);
        if balanced(number / side, sides - 1, divisors, *side, found) {
            return true;
        }
        found.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to write `number` as `sides` factors in falling order.
    fn ways(number: i32, sides: usize, most: i32) -> Vec<Vec<i32>> {
        if sides == 0 {
            return if number == 1 { vec![vec![]] } else { vec![] };
        }
        let factors = (1..=most.min(number)).filter(|side| number % side == 0);
        let rests = factors.flat_map(|side| {
            let rests = ways(number / side, sides - 1, side).into_iter();
            rests.map(move |rest| [vec![side], rest].concat())
        });
        rests.collect()
    }

    #[test]
    fn no_other_grid_is_more_even() {
        for nodes in 1..=360 {
            for sides in 1..=4 {
                let mut found = vec![0; sides];
                dims(nodes, &mut found).unwrap();
                let best = ways(nodes, sides, nodes).into_iter().min().unwrap();
                assert_eq!(found, best, "{nodes}");
                if sides == 2 {
                    let least = (1..=nodes).filter(|side| nodes % side == 0);
                    let least = least.map(|side| (side - nodes / side).abs()).min();
                    assert_eq!(least, Some(found[0] - found[1]), "{nodes}");
                }
            }
        }
    }

    #[test]
    fn grids() {
        for (nodes, expected) in [
            (6, vec![3, 2]),
            (24, vec![6, 4]),
            (96, vec![4, 4, 3, 2]),
            (1024, vec![16, 8, 8]),
            (2310, vec![15, 14, 11]),
            (17, vec![17, 1, 1]),
            (1, vec![1; 40]),
            (i32::MAX, vec![i32::MAX, 1]),
        ] {
            let mut found = vec![0; expected.len()];
            dims(nodes, &mut found).unwrap();
            assert_eq!(found, expected, "{nodes}");
        }
        let mut some = [0, 3, 0];
        dims(36, &mut some).unwrap();
        assert_eq!(some, [4, 3, 3]);
        assert_eq!(dims(4, &mut [3, 0]).unwrap_err().class(), Class::Dims);
        assert_eq!(dims(4, &mut [2]).unwrap_err().class(), Class::Dims);
    }
}
