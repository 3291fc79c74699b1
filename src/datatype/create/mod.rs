//! The constructors of derived datatypes as the standard has them: arguments are checked, and become a `Layout` in bytes.
//! Parameters are named as in the standard, for the texts of errors; `large` says that the function had the suffix `_c`.
//!
//! Invariant: a type is made completely or not at all, and what was passed is kept in its `Contents`.

pub mod array;
pub mod fortran;

use super::contents::{Combiner, Contents, Numbers};
use super::layout::{Layout, Member};
use super::{Datatype, insert, insert_like};
use crate::error::{Class, Result, fail};

type New = Result<&'static Datatype>;

/// Fails for a negative count or block length.
fn not_negative(name: &str, value: i64) -> Result<u64> {
    match u64::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => fail!(Class::Count, "{name} is {value}; it must not be negative"),
    }
}

fn all_not_negative(lengths: Numbers<'_>) -> Result<()> {
    match lengths.iter().position(|length| length < 0) {
        None => Ok(()),
        Some(index) => fail!(
            Class::Count,
            "array_of_blocklengths[{index}] is {}; it must not be negative",
            lengths.get(index)
        ),
    }
}

/// MPI_Type_dup without the attributes, which the edge copies (it may call user functions).
pub fn dup(old: &'static Datatype) -> New {
    insert_like(old, Contents::new(Combiner::Dup, false).datatype(old))
}

/// MPI_Type_contiguous.
pub fn contiguous(large: bool, count: i64, old: &'static Datatype) -> New {
    let elements = not_negative("count", count)?;
    insert(
        Layout::contiguous(elements, old.layout())?,
        Contents::new(Combiner::Contiguous, large)
            .count(count)
            .datatype(old),
    )
}

/// MPI_Type_vector; the stride is in extents of the old type.
pub fn vector(
    large: bool,
    count: i64,
    blocklength: i64,
    stride: i64,
    old: &'static Datatype,
) -> New {
    let blocks = not_negative("count", count)?;
    let length = not_negative("blocklength", blocklength)?;
    let bytes = stride as i128 * old.extent as i128;
    insert(
        Layout::strided(blocks, length, bytes, old.layout())?,
        Contents::new(Combiner::Vector, large)
            .count(count)
            .count(blocklength)
            .count(stride)
            .datatype(old),
    )
}

/// MPI_Type_create_hvector; the stride is in bytes.
pub fn hvector(
    large: bool,
    count: i64,
    blocklength: i64,
    stride: i64,
    old: &'static Datatype,
) -> New {
    let blocks = not_negative("count", count)?;
    let length = not_negative("blocklength", blocklength)?;
    insert(
        Layout::strided(blocks, length, stride.into(), old.layout())?,
        Contents::new(Combiner::Hvector, large)
            .count(count)
            .count(blocklength)
            .address(stride)
            .datatype(old),
    )
}

/// MPI_Type_indexed; displacements are in extents of the old type. The arrays are equally long.
pub fn indexed(
    large: bool,
    lengths: Numbers<'_>,
    displacements: Numbers<'_>,
    old: &'static Datatype,
) -> New {
    all_not_negative(lengths)?;
    let extent = old.extent as i128;
    let places = displacements.iter().map(|at| at as i128 * extent);
    let blocks = places.zip(lengths.iter().map(|length| length as u64));
    insert(
        Layout::indexed(blocks, old.layout())?,
        Contents::new(Combiner::Indexed, large)
            .count(lengths.len() as i64)
            .counts(lengths)
            .counts(displacements)
            .datatype(old),
    )
}

/// MPI_Type_create_hindexed; displacements are in bytes.
pub fn hindexed(
    large: bool,
    lengths: Numbers<'_>,
    displacements: &[i64],
    old: &'static Datatype,
) -> New {
    all_not_negative(lengths)?;
    let places = displacements.iter().map(|at| (*at).into());
    let blocks = places.zip(lengths.iter().map(|length| length as u64));
    insert(
        Layout::indexed(blocks, old.layout())?,
        Contents::new(Combiner::Hindexed, large)
            .count(lengths.len() as i64)
            .counts(lengths)
            .addresses(displacements)
            .datatype(old),
    )
}

/// MPI_Type_create_indexed_block; displacements are in extents of the old type.
pub fn indexed_block(
    large: bool,
    blocklength: i64,
    displacements: Numbers<'_>,
    old: &'static Datatype,
) -> New {
    let length = not_negative("blocklength", blocklength)?;
    let extent = old.extent as i128;
    let blocks = displacements.iter().map(|at| (at as i128 * extent, length));
    insert(
        Layout::indexed(blocks, old.layout())?,
        Contents::new(Combiner::IndexedBlock, large)
            .count(displacements.len() as i64)
            .count(blocklength)
            .counts(displacements)
            .datatype(old),
    )
}

/// MPI_Type_create_hindexed_block; displacements are in bytes.
pub fn hindexed_block(
    large: bool,
    blocklength: i64,
    displacements: &[i64],
    old: &'static Datatype,
) -> New {
    let length = not_negative("blocklength", blocklength)?;
    let blocks = displacements.iter().map(|at| ((*at).into(), length));
    insert(
        Layout::indexed(blocks, old.layout())?,
        Contents::new(Combiner::HindexedBlock, large)
            .count(displacements.len() as i64)
            .count(blocklength)
            .addresses(displacements)
            .datatype(old),
    )
}

/// MPI_Type_create_struct; displacements are in bytes. The arrays are equally long.
pub fn structure(
    large: bool,
    lengths: Numbers<'_>,
    displacements: &[i64],
    types: Vec<&'static Datatype>,
) -> New {
    all_not_negative(lengths)?;
    let arguments = displacements.iter().zip(lengths.iter()).zip(&types);
    let members: Vec<Member<'_>> = arguments
        .map(|((displacement, length), datatype)| Member {
            displacement: (*displacement).into(),
            blocklength: length as u64,
            layout: datatype.layout(),
        })
        .collect();
    let layout = Layout::structure(&members)?;
    let mut contents = Contents::new(Combiner::Struct, large)
        .count(lengths.len() as i64)
        .counts(lengths)
        .addresses(displacements);
    contents.datatypes = types;
    insert(layout, contents)
}

/// MPI_Type_create_resized.
pub fn resized(large: bool, lb: i64, extent: i64, old: &'static Datatype) -> New {
    insert(
        Layout::resized(lb, extent, old.layout())?,
        Contents::new(Combiner::Resized, large)
            .address(lb)
            .address(extent)
            .datatype(old),
    )
}
