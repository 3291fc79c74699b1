//! Grids: ranks in row-major order, the last dimension fastest.
//!
//! Invariant: the number of ranks fits an int. A grid with a side of zero has none, so no communicator has such a grid.

use crate::error::{Class, Result, fail};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cartesian {
    sides: Vec<i32>,
    periodic: Vec<bool>,
    size: i32,
}

impl Cartesian {
    /// A grid of at most `most` processes. Without dimensions it is of one, with a side of zero it has none, as in MPICH.
    ///
    /// Errors: MPI_ERR_DIMS for a negative side, and for a grid that is too large.
    pub fn new(sides: Vec<i32>, periodic: Vec<bool>, most: i32) -> Result<Cartesian> {
        for (index, side) in sides.iter().enumerate() {
            if *side < 0 {
                return fail!(
                    Class::Dims,
                    "dims[{index}] is {side}; it must not be negative"
                );
            }
        }
        let mut size = i32::from(!sides.contains(&0));
        for side in &sides {
            match size.checked_mul(*side) {
                Some(product) if product <= most => size = product,
                _ => {
                    let product: i128 = sides
                        .iter()
                        .fold(1_i128, |all, side| all.saturating_mul(i128::from(*side)));
                    return fail!(
                        Class::Dims,
                        "dims is {sides:?}, a grid of {product} processes; allowed are {most}, which comm_old has"
                    );
                }
            }
        }
        Ok(Cartesian {
            sides,
            periodic,
            size,
        })
    }

    pub fn dimensions(&self) -> usize {
        self.sides.len()
    }

    pub fn sides(&self) -> &[i32] {
        &self.sides
    }

    pub fn periodic(&self) -> &[bool] {
        &self.periodic
    }

    /// How many processes are in the grid.
    pub fn size(&self) -> i32 {
        self.size
    }

    /// The coordinates of a rank in the grid.
    pub fn coordinates(&self, mut rank: i32) -> Vec<i32> {
        let mut found = vec![0; self.sides.len()];
        for (coordinate, side) in found.iter_mut().zip(&self.sides).rev() {
            *coordinate = rank % side;
            rank /= side;
        }
        found
    }

    /// The rank at these coordinates, which wrap around in periodic dimensions.
    ///
    /// Errors: MPI_ERR_ARG for a coordinate outside of another dimension.
    pub fn rank_at(&self, coordinates: &[i32]) -> Result<i32> {
        let mut rank = 0;
        for (index, coordinate) in coordinates.iter().enumerate() {
            let side = self.sides[index];
            let within = if self.periodic[index] {
                coordinate.rem_euclid(side)
            } else if (0..side).contains(coordinate) {
                *coordinate
            } else {
                return fail!(
                    Class::Arg,
                    "coords[{index}] is {coordinate}; allowed is 0 to {} in this dimension, which is not periodic",
                    side - 1
                );
            };
            rank = rank * side + within;
        }
        Ok(rank)
    }

    /// The rank that is `displacement` steps from a rank in one dimension; `None` beyond the border.
    pub fn at_distance(&self, rank: i32, dimension: usize, displacement: i64) -> Option<i32> {
        let stride: i32 = self.sides[dimension + 1..].iter().product();
        let side = self.sides[dimension];
        let old = rank / stride % side;
        let new = i64::from(old) + displacement;
        let new = if self.periodic[dimension] {
            new.rem_euclid(i64::from(side))
        } else if (0..i64::from(side)).contains(&new) {
            new
        } else {
            return None;
        };
        Some(rank + (new as i32 - old) * stride)
    }

    /// The neighbors of a rank: of each dimension the one before and the one behind.
    pub fn neighbors(&self, rank: i32) -> impl Iterator<Item = Option<i32>> {
        (0..2 * self.sides.len()).map(move |index| {
            let displacement = if index % 2 == 0 { -1 } else { 1 };
            self.at_distance(rank, index / 2, displacement)
        })
    }

    /// MPI_Cart_sub: the grid of the dimensions that are kept, and the ranks in this one of the slice that has `rank`.
    pub fn slice(&self, keep: &[bool], rank: i32) -> (Cartesian, Vec<i32>) {
        let kept = |index: &usize| keep[*index];
        let dimensions: Vec<usize> = (0..self.sides.len()).filter(kept).collect();
        let sides: Vec<i32> = dimensions.iter().map(|index| self.sides[*index]).collect();
        let periodic = dimensions.iter().map(|index| self.periodic[*index]);
        let grid = Cartesian {
            periodic: periodic.collect(),
            size: sides.iter().product(),
            sides,
        };
        let mut coordinates = self.coordinates(rank);
        let members = (0..grid.size).map(|inside| {
            for (index, coordinate) in dimensions.iter().zip(grid.coordinates(inside)) {
                coordinates[*index] = coordinate;
            }
            coordinates
                .iter()
                .zip(&self.sides)
                .fold(0, |rank, (at, side)| rank * side + at)
        });
        let members = members.collect();
        (grid, members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(sides: &[i32], periodic: &[bool]) -> Cartesian {
        Cartesian::new(sides.to_vec(), periodic.to_vec(), i32::MAX).unwrap()
    }

    #[test]
    fn coordinates_and_ranks_are_each_others_inverse() {
        let grid = grid(&[3, 1, 4, 2], &[false, true, false, true]);
        for rank in 0..grid.size() {
            let coordinates = grid.coordinates(rank);
            assert_eq!(grid.rank_at(&coordinates).unwrap(), rank);
        }
        assert_eq!(grid.coordinates(13), [1, 0, 2, 1]);
        assert_eq!(grid.rank_at(&[1, -7, 2, 9]).unwrap(), 13);
        assert_eq!(grid.rank_at(&[3, 0, 0, 0]).unwrap_err().class(), Class::Arg);
        assert_eq!(
            grid.rank_at(&[0, 0, -1, 0]).unwrap_err().class(),
            Class::Arg
        );
    }

    #[test]
    fn distances_are_those_of_the_coordinates() {
        let grid = grid(&[3, 4, 1], &[true, false, true]);
        for rank in 0..grid.size() {
            for dimension in 0..3 {
                for displacement in [-9, -4, -2, -1, 0, 1, 2, 3, 1 << 31, -1 << 31] {
                    let mut at = grid.coordinates(rank);
                    let far = i64::from(at[dimension]) + displacement;
                    at[dimension] = if grid.periodic()[dimension] {
                        far.rem_euclid(i64::from(grid.sides()[dimension])) as i32
                    } else {
                        far.clamp(-1, 99) as i32
                    };
                    let found = grid.at_distance(rank, dimension, displacement);
                    assert_eq!(found, grid.rank_at(&at).ok());
                }
            }
        }
        let neighbors: Vec<_> = grid.neighbors(0).collect();
        assert_eq!(
            neighbors,
            [Some(8), Some(4), None, Some(1), Some(0), Some(0)]
        );
    }

    #[test]
    fn slices() {
        let grid = grid(&[2, 3, 4], &[false, true, false]);
        let (slice, members) = grid.slice(&[true, false, true], 17); // at 1, 1, 1
        assert_eq!(slice.sides(), [2, 4]);
        assert_eq!(slice.periodic(), [false, false]);
        assert_eq!(members, [4, 5, 6, 7, 16, 17, 18, 19]);
        let (point, members) = grid.slice(&[false; 3], 17);
        assert_eq!(
            (point.dimensions(), point.size(), members),
            (0, 1, vec![17])
        );
    }

    #[test]
    fn what_is_no_grid() {
        let class = |sides: &[i32], most| {
            let periodic = vec![false; sides.len()];
            Cartesian::new(sides.to_vec(), periodic, most)
                .unwrap_err()
                .class()
        };
        assert_eq!(class(&[2, -2], 9), Class::Dims);
        assert_eq!(class(&[5, 2], 9), Class::Dims);
        assert_eq!(class(&[i32::MAX, i32::MAX, i32::MAX], 9), Class::Dims);
        assert_eq!(class(&[0, -2], 9), Class::Dims);
        assert_eq!(grid(&[], &[]).size(), 1);
        assert_eq!(grid(&[2, 0], &[false; 2]).size(), 0);
        assert_eq!(grid(&[i32::MAX, i32::MAX, 0], &[true; 3]).size(), 0);
    }
}
