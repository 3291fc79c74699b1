//! The constructors of derived datatypes as the standard has them: arguments are checked, and become a `Layout` in bytes.
//! Parameters are named as in the standard, for the texts of errors; `large` says that the function had the suffix `_c`.
//!
//! Invariant: a type is made completely or not at all, and what was passed is kept in its `Contents`.

pub mod array;
pub mod fortran;

use super::contents::{Combiner, Contents, Numbers};
pub use super::layout::Lengths;
use super::layout::{Blocks, Layout, Member};
use super::{Datatype, insert, insert_like};
use crate::error::{Class, Result, fail, memory};

type New = Result<&'static Datatype>;

/// What a block of an indexed type takes, and a member of a structure: in the layout, the contents, and while these are made. Bytes, about.
const BLOCK_BYTES: usize = 40;
const MEMBER_BYTES: usize = 96;

/// Fails for a negative count or block length.
fn not_negative(name: &str, value: i64) -> Result<u64> {
    match u64::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => fail!(Class::Count, "{name} is {value}; it must not be negative"),
    }
}

fn all_not_negative(lengths: Numbers<'_>) -> Result<()> {
    if !lengths.any_negative() {
        return Ok(());
    }
    let index = lengths.iter().position(|length| length < 0).unwrap_or(0);
    fail!(
        Class::Count,
        "array_of_blocklengths[{index}] is {}; it must not be negative",
        lengths.get(index)
    )
}

/// MPI_Type_dup without the attributes, which the edge copies (it may call user functions).
pub fn dup(old: &'static Datatype) -> New {
    let contents = Contents::with(Combiner::Dup, false, |contents| contents.datatype(old));
    insert_like(old, contents)
}

/// MPI_Type_contiguous.
pub fn contiguous(large: bool, count: i64, old: &'static Datatype) -> New {
    let elements = not_negative("count", count)?;
    insert(
        Layout::contiguous(elements, old.layout())?,
        Contents::with(Combiner::Contiguous, large, |contents| {
            contents.count(count).datatype(old)
        }),
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
        Contents::with(Combiner::Vector, large, |contents| {
            contents
                .count(count)
                .count(blocklength)
                .count(stride)
                .datatype(old)
        }),
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
        Contents::with(Combiner::Hvector, large, |contents| {
            contents
                .count(count)
                .count(blocklength)
                .address(stride)
                .datatype(old)
        }),
    )
}

/// MPI_Type_indexed, its kin with displacements in bytes (hindexed), and those with blocks of one length. The arrays are
/// equally long.
pub fn indexed(
    large: bool,
    lengths: Lengths<'_>,
    displacements: Displacements<'_>,
    old: &'static Datatype,
) -> New {
    use Combiner::{Hindexed, HindexedBlock, Indexed, IndexedBlock};
    let (offsets, scale, elements, bytes) = match displacements {
        Displacements::Elements(offsets) => (offsets, old.extent, offsets.len(), 0),
        Displacements::Bytes(offsets) => (Numbers::Large(offsets), 1, 0, offsets.len()),
    };
    memory::check(offsets.len() * BLOCK_BYTES, "blocks")?;
    let blocks = Blocks {
        lengths,
        offsets,
        scale,
    };
    let combiner = match (lengths, displacements) {
        (Lengths::Each(_), Displacements::Elements(_)) => Indexed,
        (Lengths::Each(_), Displacements::Bytes(_)) => Hindexed,
        (Lengths::All(_), Displacements::Elements(_)) => IndexedBlock,
        (Lengths::All(_), Displacements::Bytes(_)) => HindexedBlock,
    };
    let mut contents = Contents::new(combiner, large);
    match lengths {
        Lengths::Each(lengths) => {
            all_not_negative(lengths)?;
            contents.reserve(1 + lengths.len() + elements, bytes);
            contents.count(lengths.len() as i64).counts(lengths);
        }
        Lengths::All(length) => {
            not_negative("blocklength", length)?;
            contents.reserve(2 + elements, bytes);
            contents.count(offsets.len() as i64).count(length);
        }
    }
    let layout = Layout::indexed(&blocks, old.layout())?;
    match displacements {
        Displacements::Elements(offsets) => contents.counts(offsets),
        Displacements::Bytes(offsets) => contents.addresses(offsets),
    };
    contents.datatype(old);
    insert(layout, contents)
}

/// Where the blocks of an indexed type lie.
#[derive(Clone, Copy)]
pub enum Displacements<'a> {
    /// In extents of the old type.
    Elements(Numbers<'a>),
    Bytes(&'a [i64]),
}

/// MPI_Type_create_struct; displacements are in bytes. The arrays are equally long.
pub fn structure(
    large: bool,
    lengths: Numbers<'_>,
    displacements: &[i64],
    types: Vec<&'static Datatype>,
) -> New {
    memory::check(displacements.len() * MEMBER_BYTES, "members")?;
    all_not_negative(lengths)?;
    let arguments = displacements.iter().zip(lengths.iter()).zip(&types);
    let members: Vec<Member<'_>> = arguments
        .map(|((displacement, length), datatype)| Member {
            displacement: *displacement,
            blocklength: length as u64,
            layout: datatype.layout(),
        })
        .collect();
    let layout = Layout::structure(&members)?;
    let mut contents = Contents::new(Combiner::Struct, large);
    contents.reserve(1 + lengths.len(), displacements.len());
    contents.count(lengths.len() as i64).counts(lengths);
    contents.addresses(displacements);
    contents.datatypes = types.into();
    insert(layout, contents)
}

/// MPI_Type_create_resized.
pub fn resized(large: bool, lb: i64, extent: i64, old: &'static Datatype) -> New {
    insert(
        Layout::resized(lb, extent, old.layout())?,
        Contents::with(Combiner::Resized, large, |contents| {
            contents.address(lb).address(extent).datatype(old)
        }),
    )
}
