//! Parts of arrays: MPI_Type_create_subarray, and MPI_Type_create_darray for arrays distributed over a grid of processes.
//!
//! Invariant: the type has the bounds of the whole array, so that its elements lie one array after the other.

use super::super::contents::{Combiner, Contents, Numbers};
use super::super::layout::Layout;
use super::super::{Datatype, insert};
use super::New;
use crate::error::{Class, Result, fail};

/// In which order an array's dimensions lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// MPI_ORDER_C: the last dimension is the fastest.
    C,
    /// MPI_ORDER_FORTRAN: the first is.
    Fortran,
}

const ORDER_C: i32 = 56;
const ORDER_FORTRAN: i32 = 57;

impl Order {
    pub fn of(number: i32) -> Result<Order> {
        match number {
            ORDER_C => Ok(Order::C),
            ORDER_FORTRAN => Ok(Order::Fortran),
            _ => fail!(
                Class::Arg,
                "order is {number}; allowed is MPI_ORDER_C or MPI_ORDER_FORTRAN"
            ),
        }
    }

    fn number(self) -> i32 {
        match self {
            Order::C => ORDER_C,
            Order::Fortran => ORDER_FORTRAN,
        }
    }

    /// The dimensions from the fastest to the slowest.
    fn dimensions(self, number: usize) -> impl Iterator<Item = usize> {
        (0..number).map(move |position| match self {
            Order::C => number - 1 - position,
            Order::Fortran => position,
        })
    }
}

/// How a dimension is dealt out to the processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    Block,
    Cyclic,
    None,
}

const DISTRIBUTE_BLOCK: i32 = 121;
const DISTRIBUTE_CYCLIC: i32 = 122;
const DISTRIBUTE_NONE: i32 = 123;
const DEFAULT_ARGUMENT: i32 = -49767;

/// The array that is built up dimension by dimension, from the fastest to the slowest.
struct Growing {
    layout: Layout,
    /// Bytes of the whole array so far: the distance of neighbours in the next dimension.
    extent: i128,
    /// Where the part starts in the whole array.
    start: i128,
}

impl Growing {
    fn new(old: &Layout) -> Growing {
        Growing {
            layout: old.clone(),
            extent: old.extent().into(),
            start: 0,
        }
    }

    /// Takes the elements `first .. first + number` of `all`.
    fn slice(&mut self, all: i64, number: i64, first: i64) -> Result<()> {
        self.layout = Layout::strided(number as u64, 1, self.extent, &self.layout)?;
        self.move_on(all, first)
    }

    /// Takes blocks of `length` elements, every `distance` elements from `first` on, the last one cut where the array ends.
    fn cyclic(&mut self, all: i64, first: i64, length: i64, distance: i64) -> Result<()> {
        let left = (all - first).max(0);
        let last = left % distance;
        let blocks = left / distance + (last >= length) as i64;
        let block = Layout::strided(length as u64, 1, self.extent, &self.layout)?;
        let step = self.extent.saturating_mul(distance.into());
        let whole = Layout::strided(blocks as u64, 1, step, &block)?;
        self.layout = if last > 0 && last < length {
            let rest = Layout::strided(last as u64, 1, self.extent, &self.layout)?;
            let at = step.saturating_mul(blocks.into());
            Layout::structure(&[member(0, &whole)?, member(at, &rest)?])?
        } else {
            whole
        };
        self.move_on(all, first)
    }

    fn move_on(&mut self, all: i64, first: i64) -> Result<()> {
        self.start = self
            .start
            .saturating_add(self.extent.saturating_mul(first.into()));
        self.extent = self.extent.saturating_mul(all.into());
        Ok(())
    }

    fn finish(self) -> Result<Layout> {
        let extent = fitting(self.extent)?;
        let moved = Layout::structure(&[member(self.start, &self.layout)?])?;
        Layout::resized(0, extent, &moved)
    }
}

fn member(displacement: i128, layout: &Layout) -> Result<super::Member<'_>> {
    Ok(super::Member {
        displacement: fitting(displacement)?,
        blocklength: 1,
        layout,
    })
}

/// A distance in the array.
fn fitting(bytes: i128) -> Result<i64> {
    match i64::try_from(bytes) {
        Ok(bytes) => Ok(bytes),
        Err(_) => fail!(
            Class::Arg,
            "the array has {bytes} bytes; at most 2^63 - 1 are possible"
        ),
    }
}

/// Fails unless there are dimensions.
pub fn dimensions(ndims: i32) -> Result<usize> {
    match usize::try_from(ndims) {
        Ok(number) if number > 0 => Ok(number),
        _ => fail!(Class::Arg, "ndims is {ndims}; it must be positive"),
    }
}

fn wrong<T>(name: &str, dimension: usize, value: i64, allowed: &str) -> Result<T> {
    fail!(
        Class::Arg,
        "{name}[{dimension}] is {value}; allowed is {allowed}"
    )
}

/// MPI_Type_create_subarray. The arrays are as long as the number of dimensions, which is positive.
pub fn subarray(
    large: bool,
    sizes: Numbers<'_>,
    subsizes: Numbers<'_>,
    starts: Numbers<'_>,
    order: Order,
    old: &'static Datatype,
) -> New {
    for dimension in 0..sizes.len() {
        let (size, part) = (sizes.get(dimension), subsizes.get(dimension));
        let start = starts.get(dimension);
        if size < 1 {
            return wrong("array_of_sizes", dimension, size, "1 or more");
        }
        if part < 1 || part > size {
            let allowed = format!("1 to {size}, the size of the array");
            return wrong("array_of_subsizes", dimension, part, &allowed);
        }
        if start < 0 || start > size - part {
            let allowed = format!("0 to {}", size - part);
            return wrong("array_of_starts", dimension, start, &allowed);
        }
    }
    insert(
        subarray_of(sizes, subsizes, starts, order, old.layout())?,
        Contents::with(Combiner::Subarray, large, |contents| {
            contents
                .integer(sizes.len() as i32)
                .counts(sizes)
                .counts(subsizes)
                .counts(starts)
                .integer(order.number())
                .datatype(old)
        }),
    )
}

/// As [`subarray`], of arguments that were checked.
pub fn subarray_of(
    sizes: Numbers<'_>,
    subsizes: Numbers<'_>,
    starts: Numbers<'_>,
    order: Order,
    old: &Layout,
) -> Result<Layout> {
    let mut growing = Growing::new(old);
    for dimension in order.dimensions(sizes.len()) {
        growing.slice(
            sizes.get(dimension),
            subsizes.get(dimension),
            starts.get(dimension),
        )?;
    }
    growing.finish()
}

/// The arguments of MPI_Type_create_darray; the arrays are as long as the number of dimensions, which is positive.
#[derive(Clone, Copy)]
pub struct Grid<'a> {
    pub size: i32,
    pub rank: i32,
    pub sizes: Numbers<'a>,
    pub distributions: &'a [i32],
    pub arguments: &'a [i32],
    pub processes: &'a [i32],
    pub order: Order,
}

impl Grid<'_> {
    fn check(&self) -> Result<()> {
        if self.size < 1 {
            return fail!(Class::Arg, "size is {}; it must be positive", self.size);
        }
        if self.rank < 0 || self.rank >= self.size {
            return fail!(
                Class::Rank,
                "rank is {}; allowed is 0 to {}",
                self.rank,
                self.size - 1
            );
        }
        let mut product = 1i64;
        for (dimension, processes) in self.processes.iter().enumerate() {
            if *processes < 1 {
                let value = (*processes).into();
                return wrong("array_of_psizes", dimension, value, "1 or more");
            }
            product = product.saturating_mul((*processes).into());
            let size = self.sizes.get(dimension);
            if size < 1 {
                return wrong("array_of_gsizes", dimension, size, "1 or more");
            }
            self.check_distribution(dimension, size, *processes)?;
        }
        if product != i64::from(self.size) {
            return fail!(
                Class::Arg,
                "array_of_psizes has the product {product}, but size is {}",
                self.size
            );
        }
        Ok(())
    }

    fn check_distribution(&self, dimension: usize, size: i64, processes: i32) -> Result<()> {
        let argument = self.arguments[dimension];
        let distribution = self.distribution(dimension)?;
        if distribution == Distribution::None {
            return match processes {
                1 => Ok(()),
                _ => wrong(
                    "array_of_psizes",
                    dimension,
                    processes.into(),
                    "1 where the distribution is MPI_DISTRIBUTE_NONE",
                ),
            };
        }
        if argument == DEFAULT_ARGUMENT {
            return Ok(());
        }
        let least = match distribution {
            Distribution::Block => (size + processes as i64 - 1) / processes as i64,
            _ => 1,
        };
        if (argument as i64) < least {
            let allowed = format!("{least} or more, or MPI_DISTRIBUTE_DFLT_DARG");
            return wrong("array_of_dargs", dimension, argument.into(), &allowed);
        }
        Ok(())
    }

    fn distribution(&self, dimension: usize) -> Result<Distribution> {
        match self.distributions[dimension] {
            DISTRIBUTE_BLOCK => Ok(Distribution::Block),
            DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic),
            DISTRIBUTE_NONE => Ok(Distribution::None),
            other => wrong(
                "array_of_distribs",
                dimension,
                other.into(),
                "MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE",
            ),
        }
    }

    /// The place of the rank in the grid of processes, which is ordered as in C always.
    fn coordinates(&self) -> Vec<i64> {
        let mut coordinates = vec![0; self.processes.len()];
        let mut rest = self.rank as i64;
        for (dimension, processes) in self.processes.iter().enumerate().rev() {
            coordinates[dimension] = rest % *processes as i64;
            rest /= *processes as i64;
        }
        coordinates
    }

    /// Of arguments that were checked.
    pub fn layout(&self, old: &Layout) -> Result<Layout> {
        let coordinates = self.coordinates();
        let mut growing = Growing::new(old);
        for dimension in self.order.dimensions(self.processes.len()) {
            let all = self.sizes.get(dimension);
            let (processes, at) = (self.processes[dimension] as i64, coordinates[dimension]);
            let argument = match self.arguments[dimension] {
                DEFAULT_ARGUMENT => None,
                argument => Some(argument as i64),
            };
            match self.distribution(dimension)? {
                Distribution::None => growing.slice(all, all, 0)?,
                Distribution::Block => {
                    let length = argument.unwrap_or((all + processes - 1) / processes);
                    let first = (at * length).min(all);
                    growing.slice(all, length.min(all - first), first)?;
                }
                Distribution::Cyclic => {
                    let length = argument.unwrap_or(1);
                    growing.cyclic(all, at * length, length, processes * length)?;
                }
            }
        }
        growing.finish()
    }
}

/// MPI_Type_create_darray.
pub fn darray(large: bool, grid: &Grid<'_>, old: &'static Datatype) -> New {
    grid.check()?;
    insert(
        grid.layout(old.layout())?,
        Contents::with(Combiner::Darray, large, |contents| {
            contents
                .integer(grid.size)
                .integer(grid.rank)
                .integer(grid.processes.len() as i32)
                .counts(grid.sizes)
                .integers(grid.distributions)
                .integers(grid.arguments)
                .integers(grid.processes)
                .integer(grid.order.number())
                .datatype(old)
        }),
    )
}
