//! The send and the receive buffer of a collective operation must not overlap: told where parts begin at the same byte.
//!
//! Invariant: every rank that a mistake concerns is told. A program passes `&b[rank]` and `b`, so rank 0 has two equal addresses and
//! the others have not; if rank 0 alone left the operation, its next one would be taken for this one. What lies between
//! the elements of a part belongs to nobody, so buffers that are interleaved are allowed.

use oxmpi::comm::Comm;
use oxmpi::datatype::{Buffer, Parts};
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use std::ffi::c_void;

/// One part here and one for each rank there.
#[inline]
pub fn from_parts(own: &Buffer, parts: &Parts, comm: &Comm) -> Result<()> {
    let Some(begin) = own.begin() else {
        return Ok(());
    };
    match parts.beginning_at(begin, comm.peers() as usize) {
        Some(rank) => overlap(begin, rank, comm),
        None => Ok(()),
    }
}

/// One for each rank on both sides.
#[inline]
pub fn parts(out: &Parts, into: &Parts, comm: &Comm) -> Result<()> {
    let ranks = comm.peers() as usize;
    let all = |_| true;
    match common_begin((out, ranks, &all), (into, ranks, &all)) {
        Some((begin, rank)) => overlap(begin, rank, comm),
        None => Ok(()),
    }
}

/// Parts, how many there are, and whether one is used: that of a neighbor beyond a border is not.
type Used<'a> = (&'a Parts, usize, &'a dyn Fn(usize) -> bool);

/// One for each neighbor on both sides, or for one side the buffer that goes to all.
pub fn of_neighbors(out: Used<'_>, into: Used<'_>) -> Result<()> {
    let Some((begin, index)) = common_begin(out, into) else {
        return Ok(());
    };
    fail!(
        Class::Buffer,
        "sendbuf and recvbuf overlap at {begin:#x}, where recvbuf has the part of neighbor {index}"
    )
}

/// Two vectors, which must not be one.
#[inline]
pub fn vectors(one: *const c_void, other: *const c_void, is_empty: bool) -> Result<()> {
    if one == other && !is_empty {
        return same(one);
    }
    Ok(())
}

/// A vector of so many bytes with blocks that begin at `offsets`, and a buffer for one of them.
#[inline]
pub fn blocks(
    (from, to): (*const c_void, *const c_void),
    bytes: u64,
    mut offsets: impl Iterator<Item = u64>,
) -> Result<()> {
    let distance = (to as u64).wrapping_sub(from as u64);
    if distance < bytes && offsets.any(|offset| offset == distance) {
        return same(to);
    }
    Ok(())
}

#[cold]
fn same(address: *const c_void) -> Result<()> {
    fail!(
        Class::Buffer,
        "sendbuf and recvbuf overlap at {address:p}; MPI_IN_PLACE is for that"
    )
}

/// An address at which a part of both begins, and whose part that is on the second side. Lists are searched only if the
/// addresses of one lie among those of the other.
fn common_begin(out: Used<'_>, into: Used<'_>) -> Option<(usize, usize)> {
    let (lowest, highest) = out.0.begins_within(out.1)?;
    let (low, high) = into.0.begins_within(into.1)?;
    if highest < low || high < lowest {
        return None;
    }
    search(out, into)
}

#[cold]
fn search(out: Used<'_>, into: Used<'_>) -> Option<(usize, usize)> {
    let begins = |(parts, ranks, is_used): Used<'_>| -> Vec<(usize, usize)> {
        let used = (0..ranks).filter(|rank| is_used(*rank));
        let begins = used.filter_map(|rank| Some((parts.of(rank).begin()?, rank)));
        let mut begins: Vec<_> = begins.collect();
        begins.sort_unstable();
        begins
    };
    let into = begins(into);
    begins(out).into_iter().find_map(|(begin, _)| {
        let at = into.partition_point(|(other, _)| *other < begin);
        into.get(at).filter(|(other, _)| *other == begin).copied()
    })
}

#[cold]
fn overlap(begin: usize, rank: usize, comm: &Comm) -> Result<()> {
    let advice = match comm.is_inter() {
        true => "",
        false => "; MPI_IN_PLACE is for that",
    };
    fail!(
        Class::Buffer,
        "sendbuf and recvbuf overlap at {begin:#x}, the part of rank {rank}{advice}"
    )
}
