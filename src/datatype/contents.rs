//! What a datatype was made from: the arguments of its constructor, for MPI_Type_get_envelope and MPI_Type_get_contents.
//!
//! Invariant: the numbers are in the order of the constructor's arguments, each in the list that the standard names for it (MPI
//! 5.0, section 5.1.13); a constructor with the suffix `_c` has its counts and displacements in `counts`.

use super::Datatype;
use smallvec::SmallVec;

/// How a datatype was made; the numbers are MPI_COMBINER_NAMED and so on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Combiner {
    Named = 1,
    Dup = 2,
    Contiguous = 3,
    Vector = 4,
    Hvector = 6,
    Indexed = 7,
    Hindexed = 9,
    IndexedBlock = 10,
    Struct = 12,
    Subarray = 13,
    Darray = 14,
    F90Real = 15,
    F90Complex = 16,
    F90Integer = 17,
    Resized = 18,
    HindexedBlock = 19,
}

/// Numbers of a caller's array, in the width of the function that was called.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
}

impl Numbers<'_> {
    pub fn len(&self) -> usize {
        match self {
            Numbers::Small(numbers) => numbers.len(),
            Numbers::Large(numbers) => numbers.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, index: usize) -> i64 {
        match self {
            Numbers::Small(numbers) => numbers[index].into(),
            Numbers::Large(numbers) => numbers[index],
        }
    }

    pub fn iter(self) -> impl ExactSizeIterator<Item = i64> + Clone {
        (0..self.len()).map(move |index| self.get(index))
    }

    /// In one pass without branches.
    pub fn any_negative(&self) -> bool {
        match self {
            Numbers::Small(numbers) => numbers.iter().fold(0, |all, number| all | number) < 0,
            Numbers::Large(numbers) => numbers.iter().fold(0, |all, number| all | number) < 0,
        }
    }
}

/// The arguments of a constructor. Those of most types lie in the type itself.
#[derive(Clone)]
pub struct Contents {
    pub combiner: Combiner,
    /// Whether the constructor had the suffix `_c`.
    pub large: bool,
    pub integers: SmallVec<[i32; 4]>,
    pub addresses: SmallVec<[i64; 2]>,
    pub counts: SmallVec<[i64; 2]>,
    pub datatypes: SmallVec<[&'static Datatype; 2]>,
}

impl Contents {
    #[inline(always)]
    pub const fn new(combiner: Combiner, large: bool) -> Contents {
        Contents {
            combiner,
            large,
            integers: SmallVec::new_const(),
            addresses: SmallVec::new_const(),
            counts: SmallVec::new_const(),
            datatypes: SmallVec::new_const(),
        }
    }

    /// Filled in its place: a value that is handed on from argument to argument is copied each time.
    #[inline(always)]
    pub fn with(
        combiner: Combiner,
        large: bool,
        fill: impl FnOnce(&mut Contents) -> &mut Contents,
    ) -> Contents {
        let mut contents = Contents::new(combiner, large);
        fill(&mut contents);
        contents
    }

    /// Of the types that a program did not make.
    pub const fn named() -> Contents {
        Contents::new(Combiner::Named, false)
    }

    /// Makes room for so many arguments that are counts or displacements in elements, and so many addresses.
    pub fn reserve(&mut self, counts: usize, addresses: usize) {
        if self.large {
            self.counts.reserve_exact(counts + addresses);
        } else {
            self.integers.reserve_exact(counts);
            self.addresses.reserve_exact(addresses);
        }
    }

    /// An argument that is an `int` in both functions.
    #[inline(always)]
    pub fn integer(&mut self, value: i32) -> &mut Contents {
        self.integers.push(value);
        self
    }

    pub fn integers(&mut self, values: &[i32]) -> &mut Contents {
        self.integers.extend_from_slice(values);
        self
    }

    /// An argument that is an `int`, or in the function with the suffix an MPI_Count.
    #[inline(always)]
    pub fn count(&mut self, value: i64) -> &mut Contents {
        if self.large {
            self.counts.push(value);
        } else {
            self.integers.push(value as i32);
        }
        self
    }

    pub fn counts(&mut self, values: Numbers<'_>) -> &mut Contents {
        match values {
            Numbers::Small(values) => self.integers.extend_from_slice(values),
            Numbers::Large(values) => self.counts.extend_from_slice(values),
        }
        self
    }

    /// An argument that is an MPI_Aint, or in the function with the suffix an MPI_Count.
    #[inline(always)]
    pub fn address(&mut self, value: i64) -> &mut Contents {
        if self.large {
            self.counts.push(value);
        } else {
            self.addresses.push(value);
        }
        self
    }

    #[inline(always)]
    pub fn addresses(&mut self, values: &[i64]) -> &mut Contents {
        let list = if self.large {
            &mut self.counts
        } else {
            &mut self.addresses
        };
        list.extend_from_slice(values);
        self
    }

    #[inline(always)]
    pub fn datatype(&mut self, datatype: &'static Datatype) -> &mut Contents {
        self.datatypes.push(datatype);
        self
    }
}
