//! An operation applied to the target's elements, each of them atomically.
//!
//! Every element is reached either by an atomic instruction or under the lock of the piece that its first byte is in (`docs/windows.md`).
//! Invariant: which of the two depends on window, type and address only, never on the count.

use super::access::{Pieces, Spot};
use super::element::{self, Arithmetic};
use super::locks::{self, Held, Locks, MOST_LOCKS, PIECE};
use super::private::{self, PrivateMemory};
use super::window::{Flavor, Window};
use crate::datatype::{Buffer, Datatype, Scalar, nontemporal};
use crate::error::Result;
use crate::op::Operation;
use smallvec::{SmallVec, smallvec};

/// Bytes of scratch memory for a side that has holes.
const SCRATCH: usize = 8192;
/// Bytes of which the old values are copied before the operation changes them: they are in the first cache then.
const STEP: usize = 4096;
/// Bytes that are fetched from private memory at once, with the locks of all their pieces.
const BATCH: usize = 128 << 10;

/// The memory of a call.
pub(super) struct Sides {
    pub origin: Option<Buffer>,
    pub result: Option<Buffer>,
    pub target: Buffer,
    pub spot: Spot,
}

/// The first address of a buffer's packed bytes from `at` on.
fn first_of(buffer: &Buffer, at: usize, length: usize) -> usize {
    let mut first = 0;
    buffer.runs(at, length, |address, _| {
        first = address as usize;
        false
    });
    first
}

/// An operation on elements of one predefined type.
pub(super) struct Work<'a> {
    window: &'a Window,
    operation: Operation,
    basic: &'static Datatype,
    arithmetic: Arithmetic,
    atomics: bool,
}

impl<'a> Work<'a> {
    #[inline(always)]
    pub fn new(window: &'a Window, operation: Operation, basic: &'static Datatype) -> Work<'a> {
        Work {
            window,
            operation,
            basic,
            arithmetic: Arithmetic::of(basic),
            atomics: is_atomic(window),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.basic.size as usize
    }

    /// Without a lock: for elements that are held, or nobody else's. `source` may be null for MPI_NO_OP, `result` always.
    ///
    /// # Safety
    /// `elements` packed elements are valid at `target` for writing, at `source` for reading, at `result` for writing.
    #[inline(always)]
    unsafe fn compute(&self, target: *mut u8, source: *const u8, result: *mut u8, elements: usize) {
        let size = self.size();
        if result.is_null() {
            // SAFETY: by the caller.
            return unsafe { self.change(target, source, elements) };
        }
        let step = STEP / size;
        let mut done = 0;
        while done < elements {
            let count = step.min(elements - done);
            let at = done * size;
            // SAFETY: by the caller.
            unsafe {
                nontemporal::fetch(target.add(at), result.add(at), count * size);
                self.change(target.add(at), source.wrapping_add(at), count);
            }
            done += count;
        }
    }

    /// # Safety
    /// As for [`Work::compute`].
    #[inline(always)]
    pub(super) unsafe fn change(&self, target: *mut u8, source: *const u8, elements: usize) {
        // SAFETY: by the caller.
        unsafe { change((self.operation, self.basic), target, source, elements) }
    }

    /// Elements one after the other in direct memory; atomic for each.
    ///
    /// # Safety
    /// As for [`Work::compute`]; `key` is that of `target`.
    #[inline(always)]
    pub unsafe fn span(
        &self,
        target: *mut u8,
        key: u64,
        source: *const u8,
        result: *mut u8,
        elements: usize,
    ) -> Result<()> {
        let size = self.size();
        // SAFETY: by the caller, in each arm.
        unsafe {
            if self.atomics && element::is_atomic(target.addr(), size as u64) {
                for at in (0..elements * size).step_by(size) {
                    let result = match result.is_null() {
                        true => result,
                        false => result.add(at),
                    };
                    self.by_instruction(target.add(at), source.wrapping_add(at), result);
                }
                return Ok(());
            }
            if let (1, Arithmetic::Register(scalar)) = (elements, self.arithmetic) {
                return self.one_of_others(target, key, source, result, scalar);
            }
            self.by_pieces(&self.locks()?, target, key, source, result, elements)
        }
    }

    /// As [`Work::span`], of one element that is computed in a register. Operation, scalar and size are those of the work; where they
    /// are constants, the code is short.
    ///
    /// # Safety
    /// As for [`Work::span`].
    #[inline(always)]
    pub unsafe fn one(
        &self,
        target: *mut u8,
        key: u64,
        source: *const u8,
        result: *mut u8,
        (operation, scalar, size): (Operation, Scalar, usize),
    ) -> Result<()> {
        // SAFETY: by the caller.
        unsafe {
            let input = match operation {
                Operation::NoOp => 0,
                _ => element::load(source, size),
            };
            let old;
            if self.atomics && element::is_atomic(target.addr(), size as u64) {
                old = element::fetch_and_combine(target, size, operation, scalar, input);
            } else {
                let _held = self.locks()?.hold(key)?;
                old = element::load(target, size);
                let new = element::combine(operation, scalar, old, input);
                if operation != Operation::NoOp {
                    element::store(target, size, new);
                }
            }
            if !result.is_null() {
                element::store(result, size, old);
            }
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Work::one`].
    #[inline(never)]
    pub unsafe fn one_of_others(
        &self,
        target: *mut u8,
        key: u64,
        source: *const u8,
        result: *mut u8,
        scalar: Scalar,
    ) -> Result<()> {
        let kind = (self.operation, scalar, self.size());
        // SAFETY: by the caller.
        unsafe { self.one(target, key, source, result, kind) }
    }

    #[inline(always)]
    fn locks(&self) -> Result<Locks<'a>> {
        Locks::of(self.window)
    }

    /// Under one lock after the other.
    ///
    /// # Safety
    /// As for [`Work::span`].
    #[inline(never)]
    unsafe fn by_pieces(
        &self,
        locks: &Locks<'_>,
        target: *mut u8,
        key: u64,
        source: *const u8,
        result: *mut u8,
        elements: usize,
    ) -> Result<()> {
        let size = self.size();
        let mut done = 0;
        while done < elements {
            let at = done * size;
            let key = key.wrapping_add(at as u64);
            let in_piece = (PIECE - key % PIECE).div_ceil(size as u64) as usize;
            let count = in_piece.min(elements - done);
            let result = match result.is_null() {
                true => result,
                false => result.wrapping_add(at),
            };
            let _held = locks.hold(key)?;
            // SAFETY: by the caller, and held.
            unsafe { self.compute(target.add(at), source.wrapping_add(at), result, count) };
            done += count;
        }
        Ok(())
    }

    /// One element by an atomic instruction.
    ///
    /// # Safety
    /// As for [`Work::compute`]; the element [is fit](element::is_atomic) for it.
    #[inline(always)]
    unsafe fn by_instruction(&self, target: *mut u8, source: *const u8, result: *mut u8) {
        let size = self.size();
        // SAFETY: by the caller.
        unsafe {
            let input = match self.operation {
                Operation::NoOp => 0,
                _ => element::load(source, size),
            };
            let old = match self.arithmetic {
                Arithmetic::Register(scalar) => {
                    element::fetch_and_combine(target, size, self.operation, scalar, input)
                }
                Arithmetic::Kernel => self.by_kernel(target, input),
            };
            if !result.is_null() {
                element::store(result, size, old);
            }
        }
    }

    /// As [`Work::by_instruction`], with a kernel between two attempts to store.
    ///
    /// # Safety
    /// As for [`Work::by_instruction`].
    #[inline(never)]
    unsafe fn by_kernel(&self, target: *mut u8, input: u64) -> u64 {
        let input = input.to_ne_bytes();
        // SAFETY: by the caller.
        unsafe {
            element::update(target, self.size(), |old| {
                let mut new = old.to_ne_bytes();
                self.change(new.as_mut_ptr(), input.as_ptr(), 1);
                u64::from_ne_bytes(new)
            })
        }
    }

    /// Runs of whole elements in direct memory.
    pub fn runs(&self, sides: &Sides) -> Result<()> {
        let (origin, result) = (sides.origin.as_ref(), sides.result.as_ref());
        let source = origin.map_or(Some(std::ptr::null_mut()), Buffer::contiguous);
        let old = result.map_or(Some(std::ptr::null_mut()), Buffer::contiguous);
        let size = self.size();
        let length = sides.target.len();
        if let (Some(target), Some(source), Some(old)) = (sides.target.contiguous(), source, old) {
            let key = sides.spot.key_of(target.addr());
            // SAFETY: all have as many elements.
            return unsafe { self.span(target, key, source, old, length / size) };
        }
        let (mut inputs, mut olds) = ([0; SCRATCH], [0; SCRATCH]);
        let mut offset = 0;
        let mut outcome = Ok(());
        sides.target.runs(0, length, |run, bytes| {
            let mut at = 0;
            while at < bytes && outcome.is_ok() {
                let count = (SCRATCH / size * size).min(bytes - at);
                let source = match (source, origin) {
                    (Some(source), _) => source.wrapping_add(offset).cast_const(),
                    (None, Some(origin)) => {
                        origin.read(offset, &mut inputs[..count]);
                        inputs.as_ptr()
                    }
                    (None, None) => std::ptr::null(),
                };
                let old = match old {
                    Some(old) if old.is_null() => old,
                    Some(old) => old.wrapping_add(offset),
                    None => olds.as_mut_ptr(),
                };
                let target = run.wrapping_add(at);
                let key = sides.spot.key_of(target.addr());
                // SAFETY: a run of the target's, and as many bytes of the others.
                outcome = unsafe { self.span(target, key, source, old, count / size) };
                if let (Some(result), None) = (result, result.and_then(Buffer::contiguous)) {
                    result.write(offset, &olds[..count]);
                }
                at += count;
                offset += count;
            }
            outcome.is_ok()
        });
        outcome
    }

    /// Elements that may have holes in direct memory, one by one.
    pub fn pairs(&self, sides: &Sides) -> Result<()> {
        let locks = self.locks()?;
        let size = self.size();
        let (mut input, mut element, mut old) = ([0; 32], [0; 32], [0; 32]);
        let (input, element) = (&mut input[..size], &mut element[..size]);
        let old = &mut old[..size];
        let mut held: Option<(u64, Held)> = None;
        for at in (0..sides.target.len()).step_by(size) {
            let first = first_of(&sides.target, at, size);
            let piece = locks::piece(sides.spot.key_of(first));
            if held.as_ref().is_none_or(|held| held.0 != piece) {
                drop(held.take());
                held = Some((piece, locks.hold_number(locks::number(piece))?));
            }
            if let Some(origin) = &sides.origin {
                origin.read(at, input);
            }
            sides.target.read(at, element);
            // SAFETY: all have one element.
            unsafe {
                self.compute(element.as_mut_ptr(), input.as_ptr(), old.as_mut_ptr(), 1);
            }
            if self.operation != Operation::NoOp {
                sides.target.write(at, element);
            }
            if let Some(result) = &sides.result {
                result.write(at, old);
            }
        }
        Ok(())
    }

    /// Works on elements in private memory of another process.
    pub fn private(&self, sides: &Sides, target: &PrivateMemory) -> Result<()> {
        let locks = self.locks()?;
        let size = self.size();
        let length = sides.target.len();
        let mut elements: SmallVec<[u8; 64]> = smallvec![0; BATCH.min(length)];
        let mut inputs: SmallVec<[u8; 64]> = SmallVec::new();
        let mut at = 0;
        while at < length {
            let (pieces, numbers) = self.batch(sides, at);
            let bytes: usize = pieces.iter().map(|piece| piece.bytes).sum();
            let elements = &mut elements[..bytes];
            let source = match &sides.origin {
                None => std::ptr::null(),
                Some(origin) => match origin.contiguous() {
                    Some(source) => source.wrapping_add(at).cast_const(),
                    None => {
                        inputs.resize(bytes, 0);
                        origin.read(at, &mut inputs);
                        inputs.as_ptr()
                    }
                },
            };
            {
                let mut held: SmallVec<[Held; MOST_LOCKS]> = SmallVec::new();
                for number in numbers {
                    held.push(locks.hold_number(number)?);
                }
                let inputs = match source.is_null() {
                    true => &[],
                    // SAFETY: as many bytes; only read.
                    false => unsafe { std::slice::from_raw_parts(source, bytes) },
                };
                let old = sides.result.is_some().then_some(&mut *elements);
                let kind = (self.operation, self.basic);
                let is_done = target.accumulate_by_target(kind, &pieces, inputs, old);
                if !is_done && (self.operation != Operation::Replace || sides.result.is_some()) {
                    target.read(&pieces, elements)?;
                }
                if let Some(result) = &sides.result {
                    result.write(at, elements);
                }
                if !is_done {
                    // SAFETY: both have as many elements.
                    unsafe { self.change(elements.as_mut_ptr(), source, bytes / size) };
                    if self.operation != Operation::NoOp {
                        target.write(&pieces, elements)?;
                    }
                }
            }
            at += bytes;
        }
        Ok(())
    }

    /// The next elements that are fetched at once, and the locks of all their pieces, in ascending order.
    fn batch(&self, sides: &Sides, at: usize) -> (Pieces, SmallVec<[usize; MOST_LOCKS]>) {
        let size = self.size();
        let rest = sides.target.len() - at;
        let mut pieces = Pieces::new();
        let found = private::runs(
            &sides.target,
            at,
            (BATCH / size * size).min(rest),
            &mut pieces,
        );
        let mut numbers: SmallVec<[usize; MOST_LOCKS]> = SmallVec::new();
        let mut bytes = 0;
        'all: for piece in &pieces {
            let mut address = piece.address;
            let end = piece.address + piece.bytes;
            while address < end {
                let key = sides.spot.key_of(address);
                let number = locks::number(locks::piece(key));
                if !numbers.contains(&number) {
                    // Two are left for an element that goes on in the next piece.
                    if numbers.len() + 2 > MOST_LOCKS {
                        break 'all;
                    }
                    numbers.push(number);
                }
                let next = (address + (PIECE - key % PIECE) as usize).min(end);
                bytes += next - address;
                address = next;
            }
        }
        let bytes = bytes.min(found) / size * size;
        private::truncate(&mut pieces, bytes);
        numbers.sort_unstable();
        (pieces, numbers)
    }
}

/// Applies an operation to packed elements of one type, without a lock. `source` may be null for MPI_NO_OP.
///
/// # Safety
/// `target` is valid for writing that many elements, `source` for reading them.
#[inline(always)]
pub(super) unsafe fn change(
    (operation, basic): (Operation, &'static Datatype),
    target: *mut u8,
    source: *const u8,
    elements: usize,
) {
    let bytes = elements * basic.size as usize;
    match operation {
        Operation::NoOp => {}
        // SAFETY: by the caller.
        Operation::Replace => unsafe { std::ptr::copy(source, target, bytes) },
        // SAFETY: by the caller.
        _ => unsafe {
            let source = std::slice::from_raw_parts(source, bytes);
            let target = std::slice::from_raw_parts_mut(target, bytes);
            operation.apply(source, target, basic);
        },
    }
}

/// Whether elements are reached by atomic instructions where they can be. Dynamic windows may have regions of both kinds.
#[inline(always)]
pub(super) fn is_atomic(window: &Window) -> bool {
    window.element_mode && window.flavor != Flavor::Dynamic
}
