//! The one copier: moves packed bytes between a user's memory and a packed stream, in either direction, by a form.
//!
//! Any part of the packed bytes can be asked for; finding where it starts costs the depth of the form, and the logarithm of
//! the length of a list. Invariant: only bytes that the form names are touched, and each exactly once.

#![allow(unsafe_code)]

use super::super::form::{Form, Indexed, Loop, Sequence};
use std::ptr;

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
            Form::Loop(form) => {
                let Loop { stride, body, .. } = &**form;
                loop_part::<PACK>(body, form.body_size, *stride, user, packed, skip, length);
            }
            Form::Indexed(form) => indexed_part::<PACK>(form, user, packed, skip, length),
            Form::Sequence(form) => sequence_part::<PACK>(form, user, packed, skip, length),
        }
    }
}

/// As [`part`], of a body that is repeated for as long as it takes, `stride` bytes apart.
///
/// # Safety
/// As for [`part`].
pub unsafe fn loop_part<const PACK: bool>(
    body: &Form,
    body_size: u64,
    stride: i64,
    user: *mut u8,
    mut packed: *mut u8,
    skip: u64,
    mut length: u64,
) {
    let (first, rest) = (skip / body_size, skip % body_size);
    let mut user = user.wrapping_offset(first as isize * stride as isize);
    // SAFETY: by the caller; the three parts lie one after the other.
    unsafe {
        if rest > 0 {
            let bytes = (body_size - rest).min(length);
            part::<PACK>(body, user, packed, rest, bytes);
            packed = packed.wrapping_add(bytes as usize);
            user = user.wrapping_offset(stride as isize);
            length -= bytes;
        }
        let whole = length / body_size;
        repeat::<PACK>(body, body_size, stride, user, packed, whole);
        user = user.wrapping_offset(whole as isize * stride as isize);
        packed = packed.wrapping_add((whole * body_size) as usize);
        part::<PACK>(body, user, packed, 0, length % body_size);
    }
}

/// As [`part`], of `count` whole bodies.
///
/// # Safety
/// As for [`part`].
unsafe fn repeat<const PACK: bool>(
    body: &Form,
    body_size: u64,
    stride: i64,
    user: *mut u8,
    packed: *mut u8,
    count: u64,
) {
    for index in 0..count as usize {
        let user = user.wrapping_offset(index as isize * stride as isize);
        let packed = packed.wrapping_add(index * body_size as usize);
        // SAFETY: by the caller.
        unsafe { part::<PACK>(body, user, packed, 0, body_size) };
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
    let mut index = form.blocks.partition_point(|block| block.start <= skip) - 1;
    let mut skip = skip - form.blocks[index].start;
    while length > 0 {
        let block = form.blocks[index];
        let bytes = (form.end(index) - block.start - skip).min(length);
        let user = user.wrapping_offset(block.at as isize);
        // SAFETY: by the caller.
        unsafe {
            loop_part::<PACK>(
                &form.body,
                form.body_size,
                form.stride,
                user,
                packed,
                skip,
                bytes,
            );
        }
        packed = packed.wrapping_add(bytes as usize);
        length -= bytes;
        skip = 0;
        index += 1;
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

/// # Safety
/// As for [`part`], of a block.
#[inline(always)]
unsafe fn copy<const PACK: bool>(user: *mut u8, packed: *mut u8, length: usize) {
    // SAFETY: by the caller.
    unsafe {
        if PACK {
            ptr::copy_nonoverlapping(user, packed, length);
        } else {
            ptr::copy_nonoverlapping(packed, user, length);
        }
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
        Form::Loop(form) => loop_runs(
            &form.body,
            form.body_size,
            form.stride,
            at,
            skip,
            length,
            visit,
        ),
        Form::Indexed(form) => {
            let mut index = form.blocks.partition_point(|block| block.start <= skip) - 1;
            let (mut skip, mut length) = (skip - form.blocks[index].start, length);
            while length > 0 {
                let block = form.blocks[index];
                let bytes = (form.end(index) - block.start - skip).min(length);
                let at = at + block.at;
                if !loop_runs(
                    &form.body,
                    form.body_size,
                    form.stride,
                    at,
                    skip,
                    bytes,
                    visit,
                ) {
                    return false;
                }
                length -= bytes;
                skip = 0;
                index += 1;
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
pub fn loop_runs(
    body: &Form,
    body_size: u64,
    stride: i64,
    at: i64,
    skip: u64,
    mut length: u64,
    visit: &mut impl FnMut(i64, u64) -> bool,
) -> bool {
    if stride as i128 == body_size as i128 && body.is_block() {
        return visit(at + skip as i64, length);
    }
    let mut at = at.wrapping_add(stride.wrapping_mul((skip / body_size) as i64));
    let mut skip = skip % body_size;
    while length > 0 {
        let bytes = (body_size - skip).min(length);
        if !runs(body, at, skip, bytes, visit) {
            return false;
        }
        at = at.wrapping_add(stride);
        length -= bytes;
        skip = 0;
    }
    true
}
