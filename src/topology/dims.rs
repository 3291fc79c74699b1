//! MPI_Dims_create: a number of processes as a grid whose sides are as close to each other as possible.
//!
//! Invariant: the difference between the largest and the smallest side is as small as it can be, then the largest side, then the
//! next, and so on; sides come in falling order. Cost: for each dimension a walk over all pairs of divisors of which one divides the
//! other. An int has 1,536 divisors at most, and such a one has about 100,000 pairs.

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
    let found = balanced(rest, open);
    let free = dims.iter_mut().filter(|side| **side == 0);
    free.zip(found)
        .for_each(|(position, side)| *position = side);
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

/// No int has so many prime factors: further sides are 1.
const MOST_SIDES: usize = 31;
/// Marks a number without such factors.
const NONE: i32 = 0;

/// The most even `sides` factors of `number`, falling. Without sides `number` must be 1.
fn balanced(number: i32, sides: usize) -> Vec<i32> {
    let more = sides.saturating_sub(MOST_SIDES);
    let sides = sides - more;
    let mut found = Vec::with_capacity(sides + more);
    if sides > 0 {
        let factors = Factors::of(number);
        let smallest = factors.smallest_side(sides);
        factors.falling(sides, smallest, &mut found);
    }
    found.resize(sides + more, 1);
    found
}

/// The divisors of a number, in rising order, and what they divide.
struct Factors {
    divisors: Vec<i32>,
    /// For each divisor, by their places: the divisors that it divides, and the quotients.
    divided: Vec<Vec<(usize, usize)>>,
}

impl Factors {
    fn of(number: i32) -> Factors {
        let divisors = divisors(number);
        let position = |divisor| divisors.partition_point(|other| *other < divisor);
        let of = |(at, side): (usize, &i32)| {
            let multiples = divisors.iter().enumerate().skip(at);
            let multiples = multiples.filter(|(_, other)| **other % side == 0);
            let pairs = multiples.map(|(multiple, other)| (multiple, position(other / side)));
            pairs.collect()
        };
        let divided = divisors.iter().enumerate().map(of).collect();
        Factors { divisors, divided }
    }

    /// The smallest side of the factors whose largest is the least above it, and as small as it can be.
    fn smallest_side(&self, sides: usize) -> i32 {
        let last = self.divisors.len() - 1;
        // For each number of factors and each divisor: the largest that the smallest factor can be, of those looked at so far.
        let mut best = vec![vec![NONE; last + 1]; sides + 1];
        best[0][0] = i32::MAX;
        let (mut smallest, mut least) = (NONE, i32::MAX);
        let root = root(self.divisors[last], sides);
        for (largest, divided) in self.divisors.iter().zip(&self.divided) {
            // What is found later has a smallest side that is no larger than this.
            if largest - root >= least {
                break;
            }
            for fewer in 0..sides {
                for (product, quotient) in divided {
                    let with = best[fewer][*quotient].min(*largest);
                    let side = &mut best[fewer + 1][*product];
                    *side = with.max(*side);
                }
            }
            let found = best[sides][last];
            if found != NONE && largest - found < least {
                (smallest, least) = (found, largest - found);
            }
        }
        smallest
    }

    /// Appends the factors, none below `smallest`, of which the largest is as small as it can be, then the next, and so on.
    fn falling(&self, sides: usize, smallest: i32, found: &mut Vec<i32>) {
        let last = self.divisors.len() - 1;
        // For each number of factors and each divisor: the least that the largest factor can be.
        let mut best = vec![vec![i32::MAX; last + 1]; sides + 1];
        best[0][0] = NONE;
        for fewer in 0..sides {
            for (side, divided) in self.divisors.iter().zip(&self.divided) {
                if *side < smallest {
                    continue;
                }
                for (product, quotient) in divided {
                    let with = best[fewer][*quotient].max(*side);
                    let least = &mut best[fewer + 1][*product];
                    *least = with.min(*least);
                }
            }
        }
        let mut rest = self.divisors[last];
        for sides in (1..=sides).rev() {
            let position = self.divisors.partition_point(|other| *other < rest);
            let side = best[sides][position];
            found.push(side);
            rest /= side;
        }
    }
}

/// The largest number whose power is not above `number`.
fn root(number: i32, power: usize) -> i32 {
    let number = i64::from(number);
    let is_below = |root: i64| {
        let product = root.checked_pow(power as u32);
        product.is_some_and(|product| product <= number)
    };
    let (mut below, mut above) = (1, number + 1);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if is_below(middle) {
            below = middle;
        } else {
            above = middle;
        }
    }
    below as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to write `number` as `sides` factors in falling order.
    fn ways(number: i32, sides: usize, most: i32) -> Vec<Vec<i32>> {
        if sides == 0 {
            return if number == 1 { vec![vec![]] } else { vec![] };
        }
        let factors = divisors(number).into_iter().filter(|side| *side <= most);
        let rests = factors.flat_map(|side| {
            let rests = ways(number / side, sides - 1, side).into_iter();
            rests.map(move |rest| [vec![side], rest].concat())
        });
        rests.collect()
    }

    #[test]
    fn no_other_grid_is_more_even() {
        for sides in 1..=4 {
            for nodes in 1..=[3000, 3000, 3000, 1500][sides - 1] {
                let mut found = vec![0; sides];
                dims(nodes, &mut found).unwrap();
                let uneven = |way: &Vec<i32>| (way[0] - way[sides - 1], way.clone());
                let best = ways(nodes, sides, nodes).into_iter().min_by_key(uneven);
                assert_eq!(Some(found), best, "{nodes}");
            }
        }
    }

    #[test]
    fn large_numbers() {
        // The most divisors that an int has, much of one prime, a prime, its neighbor, a square of a prime, and many primes.
        let numbers = [
            2_095_133_040,
            1 << 30,
            i32::MAX,
            i32::MAX - 1,
            46_337 * 46_337,
            2 * 3 * 5 * 7 * 11 * 13 * 17 * 19 * 23,
        ];
        for nodes in numbers {
            for sides in [1, 2, 3, 4, 6, 15, 31, 60] {
                let mut found = vec![0; sides];
                dims(nodes, &mut found).unwrap();
                let product: i64 = found.iter().map(|side| i64::from(*side)).product();
                assert_eq!(product, i64::from(nodes), "{found:?}");
                assert!(found.is_sorted_by(|one, next| one >= next), "{found:?}");
                if sides == 2 {
                    let side = root(nodes, 2);
                    let side = (1..=side).rev().find(|side| nodes % side == 0);
                    assert_eq!(side, Some(found[1]));
                }
                if sides == 3 && divisors(nodes).len() < 600 {
                    let uneven = |way: &Vec<i32>| (way[0] - way[2], way.clone());
                    let best = ways(nodes, 3, nodes).into_iter().min_by_key(uneven);
                    assert_eq!(Some(found), best, "{nodes}");
                }
            }
        }
    }

    #[test]
    fn roots() {
        for (number, power, expected) in [
            (1, 5, 1),
            (26, 3, 2),
            (27, 3, 3),
            (i32::MAX, 2, 46_340),
            (i32::MAX, 1, i32::MAX),
            (i32::MAX, 31, 1),
            (i32::MAX, 30, 2),
        ] {
            assert_eq!(root(number, power), expected, "{number} {power}");
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
            (24_624, vec![38, 27, 24]),
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
