//! The one copier: moves packed bytes between a user's memory and a packed stream, in either direction, by a form.
//!
//! Any part of the packed bytes can be asked for; finding where it starts costs the depth of the form, and the logarithm of
//! the length of a list. Invariant: only bytes that the form names are touched, and each exactly once.

#![allow(unsafe_code)]

use super::super::form::{Form, Indexed, Repeat, Sequence};
use super::blocks::{by_pattern, listed, patterned, strided};
use super::nest::{DEPTH, each_row};
use super::piece::copy;

/// Copies `length` packed bytes of a form from its packed byte `skip` on: into `packed` if `PACK`, else out of it.
///
/// # Safety
/// `user` is where the form's first byte lies, and all bytes the part names are valid there; `packed` has `length` bytes;
/// the two do not overlap; `skip + length` is within the form.
pub unsafe fn part<const PACK: bool>(
    form: &Form,
    user: *mut u8,
    packed: *mut u8,
    skip: u64,
    length: u64,
) {
    if length == 0 {
        return;
    }
    // SAFETY: by the caller, in each arm.
    unsafe {
        match form {
            Form::Block(_) => {
                copy::<PACK>(user.wrapping_add(skip as usize), packed, length as usize);
            }
            Form::Loop(form) => repeat_part::<PACK>(&form.body, user, packed, skip, length),
            Form::Indexed(form) => indexed_part::<PACK>(form, user, packed, skip, length),
            Form::Sequence(form) => sequence_part::<PACK>(form, user, packed, skip, length),
        }
    }
}

/// As [`part`], of a body that is repeated for as long as it takes.
///
/// # Safety
/// As for [`part`].
pub unsafe fn repeat_part<const PACK: bool>(
    body: &Repeat,
    user: *mut u8,
    mut packed: *mut u8,
    skip: u64,
    mut length: u64,
) {
    let stride = body.stride as isize;
    let (mut user, mut rest) = (user, skip);
    if skip >= body.size {
        user = user.wrapping_offset((skip / body.size) as isize * stride);
        rest = skip % body.size;
    }
    // SAFETY: by the caller; the three parts lie one after the other.
    unsafe {
        if rest > 0 {
            let bytes = (body.size - rest).min(length);
            part::<PACK>(&body.body, user, packed, rest, bytes);
            packed = packed.wrapping_add(bytes as usize);
            user = user.wrapping_offset(stride);
            length -= bytes;
        }
        let whole = length / body.size;
        if whole > 0 {
            repeat::<PACK>(body, user, packed, whole);
            user = user.wrapping_offset(whole as isize * stride);
            packed = packed.wrapping_add((whole * body.size) as usize);
            length -= whole * body.size;
        }
        part::<PACK>(&body.body, user, packed, 0, length);
    }
}

/// As [`part`], of `count` whole bodies.
///
/// # Safety
/// As for [`part`].
unsafe fn repeat<const PACK: bool>(body: &Repeat, user: *mut u8, packed: *mut u8, count: u64) {
    // Loops in each other, from the outermost on, as far as they go.
    let mut levels = [(count, body.stride); DEPTH];
    let mut used = 1;
    let mut inner = body;
    // SAFETY: by the caller, in each arm.
    unsafe {
        loop {
            let (outer, last) = (&levels[..used - 1], levels[used - 1]);
            if let Some(pattern) = inner.pattern().filter(|found| by_pattern::<PACK>(found)) {
                return patterned::<PACK>(pattern, user, packed, outer, last);
            }
            match &inner.body {
                Form::Block(bytes) => {
                    return strided::<PACK>(user, packed, *bytes, outer, last);
                }
                Form::Loop(next) if used < DEPTH => {
                    levels[used] = (next.count, next.body.stride);
                    used += 1;
                    inner = &next.body;
                }
                _ => break,
            }
        }
        let mut packed = packed;
        each_row(&levels[..used], user, |user| {
            part::<PACK>(&inner.body, user, packed, 0, inner.size);
            packed = packed.wrapping_add(inner.size as usize);
        });
    }
}

/// # Safety
/// As for [`part`].
unsafe fn indexed_part<const PACK: bool>(
    form: &Indexed,
    user: *mut u8,
    mut packed: *mut u8,
    skip: u64,
    mut length: u64,
) {
    let (list, body) = (&form.list, &form.body);
    let mut block = list.find(skip);
    let address = |block: usize| user.wrapping_offset(list.at(block) as isize);
    // SAFETY: by the caller; the three parts lie one after the other.
    unsafe {
        let rest = skip - list.start(block);
        if rest > 0 {
            let bytes = (list.start(block + 1) - skip).min(length);
            repeat_part::<PACK>(body, address(block), packed, rest, bytes);
            packed = packed.wrapping_add(bytes as usize);
            length -= bytes;
            if length == 0 {
                return;
            }
            block += 1;
        }
        let from = list.start(block);
        let end = from + length;
        let last = if end == list.size {
            list.len()
        } else {
            list.find(end)
        };
        if body.is_block() {
            listed::<PACK>(list, (block, last), user, packed);
        } else {
            for block in block..last {
                let count = (list.start(block + 1) - list.start(block)) / body.size;
                let packed = packed.wrapping_add((list.start(block) - from) as usize);
                repeat::<PACK>(body, address(block), packed, count);
            }
        }
        let whole = list.start(last) - from;
        if whole < length {
            let packed = packed.wrapping_add(whole as usize);
            repeat_part::<PACK>(body, address(last), packed, 0, length - whole);
        }
    }
}

/// # Safety
/// As for [`part`].
unsafe fn sequence_part<const PACK: bool>(
    form: &Sequence,
    user: *mut u8,
    mut packed: *mut u8,
    skip: u64,
    mut length: u64,
) {
    let mut index = form.members.partition_point(|member| member.start <= skip) - 1;
    let mut skip = skip - form.members[index].start;
    while length > 0 {
        let member = &form.members[index];
        let bytes = (member.form.size() - skip).min(length);
        let user = user.wrapping_offset(member.at as isize);
        // SAFETY: by the caller.
        unsafe { part::<PACK>(&member.form, user, packed, skip, bytes) };
        packed = packed.wrapping_add(bytes as usize);
        length -= bytes;
        skip = 0;
        index += 1;
    }
}

/// Visits the runs of bytes without a hole that make up a part: `visit(displacement, bytes)`, until it says false.
/// Returns whether it went to the end.
pub fn runs(
    form: &Form,
    at: i64,
    skip: u64,
    length: u64,
    visit: &mut impl FnMut(i64, u64) -> bool,
) -> bool {
    if length == 0 {
        return true;
    }
    match form {
        Form::Block(_) => visit(at + skip as i64, length),
        Form::Loop(form) => repeat_runs(&form.body, at, skip, length, visit),
        Form::Indexed(form) => {
            let list = &form.list;
            let mut block = list.find(skip);
            let (mut skip, mut length) = (skip - list.start(block), length);
            while length > 0 {
                let bytes = (list.start(block + 1) - list.start(block) - skip).min(length);
                if !repeat_runs(&form.body, at + list.at(block), skip, bytes, visit) {
                    return false;
                }
                length -= bytes;
                skip = 0;
                block += 1;
            }
            true
        }
        Form::Sequence(form) => {
            let mut index = form.members.partition_point(|member| member.start <= skip) - 1;
            let (mut skip, mut length) = (skip - form.members[index].start, length);
            while length > 0 {
                let member = &form.members[index];
                let bytes = (member.form.size() - skip).min(length);
                if !runs(&member.form, at + member.at, skip, bytes, visit) {
                    return false;
                }
                length -= bytes;
                skip = 0;
                index += 1;
            }
            true
        }
    }
}

/// As [`runs`], of a body that is repeated.
pub fn repeat_runs(
    body: &Repeat,
    at: i64,
    skip: u64,
    mut length: u64,
    visit: &mut impl FnMut(i64, u64) -> bool,
) -> bool {
    if body.is_block() {
        return visit(at + skip as i64, length);
    }
    let mut at = at.wrapping_add(body.stride.wrapping_mul((skip / body.size) as i64));
    let mut skip = skip % body.size;
    while length > 0 {
        let bytes = (body.size - skip).min(length);
        if !runs(&body.body, at, skip, bytes, visit) {
            return false;
        }
        at = at.wrapping_add(body.stride);
        length -= bytes;
        skip = 0;
    }
    true
}
