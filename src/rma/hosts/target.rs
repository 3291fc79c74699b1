//! The target's side: a call's operation applied to the own memory, as an origin of this host would, so that all are atomic together.

use super::wire::{self, ANSWER_HEAD, Call, Group, Kind};
use crate::datatype::{self, Buffer, Category, Datatype};
use crate::error::{Class, Result, fail};
use crate::op::Operation;
use crate::os::peer_memory::Piece;
use crate::rma::access::{Pieces, Spot};
use crate::rma::apply::{Sides, Work};
use crate::rma::private::PrivateMemory;
use crate::rma::room::is_private;
use crate::rma::window::{Way, Window};
use crate::rma::{atomic, put_get, ways};
use std::sync::OnceLock;

/// Does what a call asks for. Returns the answer, with the data behind the head.
///
/// Errors: MPI_ERR_RMA_RANGE for memory that is not the window's; MPI_ERR_TYPE, MPI_ERR_OP for what this process does not know.
pub fn apply(window: &Window, call: &Call) -> Result<Vec<u8>> {
    if !call.is_sound() {
        return fail!(
            Class::Intern,
            "a call of rank {} of {} has other bytes than it says",
            call.head.rank,
            window.title()
        );
    }
    match call.head.kind {
        Kind::Put => put(window, call),
        Kind::Get => get(window, call),
        Kind::Accumulate => accumulate(window, call, false),
        Kind::GetAccumulate => accumulate(window, call, true),
        _ => swap(window, call),
    }
}

impl Window {
    /// Where a piece of the own memory is.
    ///
    /// Errors: MPI_ERR_RMA_RANGE.
    fn own_spot(&self, address: u64, bytes: u64) -> Result<Spot> {
        let (rank, own) = (self.rank, &self.targets[self.rank]);
        if self.is_dynamic() {
            let region = self.find_region(rank, address as usize, bytes, false)?;
            return Ok(Spot {
                rank,
                way: own_way(region.key),
                address: region.address,
                key: region.key,
            });
        }
        if address > own.bytes || bytes > own.bytes - address {
            return fail!(
                Class::RmaRange,
                "bytes {address} to {} are not in {}, which has {} bytes at rank {rank}",
                u128::from(address) + u128::from(bytes),
                self.title(),
                own.bytes
            );
        }
        Ok(Spot {
            rank,
            way: own_way(own.key),
            address: own.base.wrapping_add(address as usize),
            key: own.key.wrapping_add(address),
        })
    }

    /// Visits pieces of the own memory, and where each is among the packed bytes; none if one is not the window's. A piece has `reach` bytes,
    /// or as many as its group says.
    fn each_piece(
        &self,
        call: &Call,
        reach: Option<u64>,
        mut visit: impl FnMut(Spot, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let length = |group: &Group| reach.unwrap_or(group.bytes);
        for group in &call.groups {
            for address in group.addresses() {
                self.own_spot(address, length(group))?;
            }
        }
        let mut at = 0;
        for group in &call.groups {
            for address in group.addresses() {
                let spot = self.own_spot(address, length(group))?;
                visit(spot, at, group.bytes as usize)?;
                at += group.bytes as usize;
            }
        }
        Ok(())
    }
}

/// How the thread reaches memory of its own process: what the program may have unmapped by the kernel, so that this is an error.
fn own_way(key: u64) -> Way {
    static BY_KERNEL: OnceLock<bool> = OnceLock::new();
    let can = || ways::can_reach_itself();
    match is_private(key) && *BY_KERNEL.get_or_init(can) {
        true => Way::Kernel,
        false => Way::Direct,
    }
}

/// The memory at a spot, as the kernel wants it.
fn one(spot: &Spot, bytes: usize) -> Pieces {
    let mut pieces = Pieces::new();
    pieces.push(Piece {
        address: spot.address,
        bytes,
    });
    pieces
}

/// Fails unless a call has so many bytes of data.
fn check_data(call: &Call, bytes: u64) -> Result<()> {
    match call.data.len() as u64 == bytes {
        true => Ok(()),
        false => fail!(
            Class::Intern,
            "a call has {} bytes of data instead of {bytes}",
            call.data.len()
        ),
    }
}

fn put(window: &Window, call: &Call) -> Result<Vec<u8>> {
    check_data(call, call.head.bytes)?;
    window.each_piece(call, None, |spot, at, bytes| {
        if spot.way != Way::Direct {
            return PrivateMemory::begin(window, &spot)?
                .write(&one(&spot, bytes), &call.data[at..][..bytes]);
        }
        let from = call.data[at..][..bytes].as_ptr().cast_mut();
        // SAFETY: as many bytes of the own window as of the data.
        unsafe { put_get::copy::<true>(from, spot.address as *mut u8, bytes) };
        Ok(())
    })?;
    Ok(wire::room(0))
}

fn get(window: &Window, call: &Call) -> Result<Vec<u8>> {
    let mut answer = wire::room(call.head.bytes as usize);
    window.each_piece(call, None, |spot, at, bytes| {
        let to = &mut answer[ANSWER_HEAD + at..][..bytes];
        if spot.way != Way::Direct {
            return PrivateMemory::begin(window, &spot)?.read(&one(&spot, bytes), to);
        }
        let to = to.as_mut_ptr();
        // SAFETY: as many bytes of the own window as of the answer.
        unsafe { put_get::copy::<false>(to, spot.address as *mut u8, bytes) };
        Ok(())
    })?;
    Ok(answer)
}

/// The type of a call's elements.
fn basic(call: &Call) -> Result<&'static Datatype> {
    match datatype::get(call.head.basic).filter(|basic| basic.size > 0) {
        Some(basic) => Ok(basic),
        None => fail!(
            Class::Type,
            "{:#x} is no datatype that the target knows",
            call.head.basic
        ),
    }
}

fn accumulate(window: &Window, call: &Call, has_result: bool) -> Result<Vec<u8>> {
    let basic = basic(call)?;
    let size = basic.size;
    let Some(operation) = Operation::of_number(call.head.operation) else {
        return fail!(
            Class::Op,
            "the target knows no operation {}",
            call.head.operation
        );
    };
    let reads = operation != Operation::NoOp;
    check_data(call, if reads { call.head.bytes } else { 0 })?;
    let is_pair = basic.category == Category::Pair;
    if !(call.groups.iter()).all(|it| match is_pair {
        true => it.bytes == size,
        false => it.bytes.is_multiple_of(size),
    }) {
        return fail!(Class::Intern, "a call has parts of elements");
    }
    let mut answer = wire::room(if has_result {
        call.head.bytes as usize
    } else {
        0
    });
    let result = answer[ANSWER_HEAD..].as_mut_ptr();
    let work = Work::new(window, operation, basic);
    let reach = is_pair.then_some(basic.true_extent as u64);
    window.each_piece(call, reach, |spot, at, bytes| {
        let source = match reads {
            true => call.data[at..].as_ptr(),
            false => std::ptr::null(),
        };
        let target = spot.address as *mut u8;
        let result = match has_result {
            true => result.wrapping_add(at),
            false => std::ptr::null_mut(),
        };
        if !is_pair && spot.way == Way::Direct {
            // SAFETY: whole elements of the own window, as many of the data, and of the answer if there is a result.
            return unsafe { work.span(target, spot.key, source, result, bytes / size as usize) };
        }
        // SAFETY: as above; the data is only read.
        let sides = unsafe {
            Sides {
                origin: reads.then(|| Buffer::bytes(source.cast_mut(), bytes)),
                result: has_result.then(|| Buffer::bytes(result, bytes)),
                target: match is_pair {
                    true => Buffer::new(target, 1, basic),
                    false => Buffer::bytes(target, bytes),
                },
                spot,
            }
        };
        match spot.way {
            Way::Direct => work.pairs(&sides),
            _ => work.private(&sides, &PrivateMemory::begin(window, &spot)?),
        }
    })?;
    Ok(answer)
}

fn swap(window: &Window, call: &Call) -> Result<Vec<u8>> {
    let basic = basic(call)?;
    let size = basic.size;
    check_data(call, 2 * size)?;
    let [group] = call.groups[..] else {
        return fail!(Class::Intern, "a swap has {} groups", call.groups.len());
    };
    if size > atomic::LARGEST as u64 || group.bytes != size || group.count != 1 {
        return fail!(Class::Intern, "a swap of {} bytes", group.bytes);
    }
    let spot = window.own_spot(group.first, size)?;
    let (compare, new) = call.data.split_at(size as usize);
    let mut answer = wire::room(size as usize);
    let old = answer[ANSWER_HEAD..].as_mut_ptr();
    // SAFETY: an element of the own window, and three of this function's.
    unsafe { atomic::swap_at(window, &spot, basic, new.as_ptr(), compare.as_ptr(), old) }?;
    Ok(answer)
}
