//! Accumulate and get-accumulate: an operation on each element of the target, atomic for each element.
//!
//! Every element is reached either by an atomic instruction or under the lock of the piece that its first byte is in (`docs/windows.md`).
//! Invariant: which of the two depends on window, type and address only, never on the count.

use super::access::{Operand, Pieces, Remote, Spot};
use super::element::{self, Arithmetic};
use super::locks::{self, Held, Locks, PIECE};
use super::private::{self, Far};
use super::window::{Flavor, Way, Window};
use crate::datatype::{Buffer, Category, Datatype, Scalar, nontemporal};
use crate::error::{Class, Result, fail};
use crate::op::{Op, Operation};
use smallvec::{SmallVec, smallvec};

/// Bytes of scratch memory for a side that has holes.
const SCRATCH: usize = 8192;
/// Bytes of which the old values are copied before the operation changes them: they are in the first cache then.
const STEP: usize = 4096;
/// Bytes that are fetched from private memory at once, with the locks of all their pieces.
const BATCH: usize = 128 << 10;
/// Locks that are held at once.
const MOST_LOCKS: usize = 16;

/// MPI_Accumulate.
///
/// Errors: MPI_ERR_OP, MPI_ERR_TYPE, those of [`Window::locate`] and [`Locks::hold`].
#[inline]
pub fn accumulate(window: &Window, op: &Op, origin: &Operand, remote: &Remote) -> Result<()> {
    if !reads_origin(op) {
        return fail!(
            Class::Op,
            "op is MPI_NO_OP, which only operations with a result take"
        );
    }
    run(window, op, Some(origin), None, remote)
}

/// One element that is computed in a register, of direct memory: most calls, in a few instructions. `result` may be null. `None`: it is
/// not that, or there is an error of the arguments; nothing was done.
///
/// # Safety
/// There is an element of the type at `origin`, and at `result` if it is not null.
#[inline(always)]
pub unsafe fn accumulate_one(
    window: &Window,
    op: &Op,
    origin: *const u8,
    result: *mut u8,
    datatype: &'static Datatype,
    (rank, disp): (i32, i64),
) -> Option<Result<()>> {
    let (Op::Predefined(operation), Arithmetic::Register(scalar)) = (op, Arithmetic::of(datatype))
    else {
        return None;
    };
    if *operation == Operation::NoOp && result.is_null() || check(op, *operation, datatype).is_err()
    {
        return None;
    }
    let spot = window.locate_quickly(rank, disp, datatype.size)?;
    let work = Work::new(window, op, *operation, datatype);
    let target = spot.address as *mut u8;
    // What counters and sums are made of has code of its own, without the jumps by operation and type.
    // SAFETY: the caller's, and found in the window.
    Some(unsafe {
        match (operation, scalar) {
            (Operation::Sum, Scalar::F64) => {
                let kind = (Operation::Sum, Scalar::F64, 8);
                work.one(target, spot.key, origin, result, kind)
            }
            (Operation::Sum, Scalar::I64) => {
                let kind = (Operation::Sum, Scalar::I64, 8);
                work.one(target, spot.key, origin, result, kind)
            }
            _ => work.one_of_others(target, spot.key, origin, result, scalar),
        }
    })
}

/// MPI_Get_accumulate: the result is what was there before. The origin is `None` for MPI_NO_OP, which does not look at it.
///
/// Errors: as for [`accumulate`].
#[inline]
pub fn get_accumulate(
    window: &Window,
    op: &Op,
    origin: Option<&Operand>,
    result: &Operand,
    remote: &Remote,
) -> Result<()> {
    run(window, op, origin, Some(result), remote)
}

/// Whether an operation looks at the origin's elements.
#[inline(always)]
pub fn reads_origin(op: &Op) -> bool {
    !matches!(op, Op::Predefined(Operation::NoOp))
}

/// The operation, if windows have it.
#[inline(always)]
fn predefined(op: &Op) -> Result<Operation> {
    match op {
        Op::Predefined(operation) => Ok(*operation),
        Op::User(_) => fail!(
            Class::Op,
            "op was made by MPI_Op_create; operations on windows must be predefined"
        ),
    }
}

/// Fails unless the operation is defined on the type.
#[inline(always)]
pub(super) fn check(op: &Op, operation: Operation, basic: &Datatype) -> Result<()> {
    match operation {
        Operation::Replace | Operation::NoOp => Ok(()),
        _ => op.check(basic),
    }
}

/// The predefined type that a type consists of.
///
/// Errors: MPI_ERR_TYPE if it consists of several, or of none.
#[inline(always)]
fn basic(name: &'static str, datatype: &'static Datatype) -> Result<&'static Datatype> {
    match datatype.category {
        Category::Derived | Category::Marker => basic_of_derived(name, datatype),
        _ => Ok(datatype),
    }
}

#[cold]
fn basic_of_derived(name: &'static str, datatype: &'static Datatype) -> Result<&'static Datatype> {
    match datatype.basic() {
        Some(basic) => Ok(basic),
        None => fail!(
            Class::Type,
            "{name} is {}, which does not consist of elements of one predefined datatype ({})",
            datatype.title(),
            datatype.layout().signature.text(1)
        ),
    }
}

/// Fails unless the elements of another side are those of the target.
#[inline(always)]
fn alike(name: &'static str, datatype: &'static Datatype, of_target: &Datatype) -> Result<()> {
    let own = basic(name, datatype)?;
    if own.is_like(of_target) {
        return Ok(());
    }
    fail!(
        Class::Type,
        "{name} consists of {}, but target_datatype of {}",
        own.title(),
        of_target.title()
    )
}

#[inline(never)]
fn run(
    window: &Window,
    op: &Op,
    origin: Option<&Operand>,
    result: Option<&Operand>,
    remote: &Remote,
) -> Result<()> {
    let operation = predefined(op)?;
    if remote.bytes() == 0 {
        let bytes = origin.map_or(0, |origin| origin.buffer.len());
        return window.locate(remote, bytes as u64).map(|_| ());
    }
    let basic = basic("target_datatype", remote.datatype)?;
    check(op, operation, basic)?;
    let mut bytes = remote.bytes();
    if let Some(origin) = origin {
        if !std::ptr::eq(origin.datatype, remote.datatype) {
            alike("origin_datatype", origin.datatype, basic)?;
        }
        bytes = origin.buffer.len() as u64;
    }
    if let Some(result) = result
        && !std::ptr::eq(result.datatype, remote.datatype)
    {
        alike("result_datatype", result.datatype, basic)?;
    }
    let Some(spot) = window.locate(remote, bytes)? else {
        return Ok(());
    };
    if let Some(result) = result
        && result.buffer.len() as u64 != bytes
    {
        return fail!(
            Class::Type,
            "the result has {} bytes, but the target {bytes}",
            result.buffer.len()
        );
    }
    let work = Work::new(window, op, operation, basic);
    let sides = Sides {
        origin: origin.map(|origin| origin.buffer),
        result: result.map(|result| result.buffer),
        // SAFETY: found by `locate` for these elements.
        target: unsafe { spot.elements(remote) },
        spot,
    };
    // A run of the target's memory consists of whole elements unless these may have holes.
    let whole = basic.category != Category::Pair
        || basic.is_contiguous() && sides.target.contiguous().is_some();
    match (spot.way, whole) {
        (Way::Direct, true) => work.runs(&sides),
        (Way::Direct, false) => work.pairs(&sides),
        _ => work.far(&sides, &Far::of(window, &spot)),
    }
}

/// The memory of a call.
struct Sides {
    origin: Option<Buffer>,
    result: Option<Buffer>,
    target: Buffer,
    spot: Spot,
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

/// What is done with each element.
pub(super) struct Work<'a> {
    window: &'a Window,
    op: &'a Op,
    operation: Operation,
    basic: &'static Datatype,
    arithmetic: Arithmetic,
    atomics: bool,
}

impl<'a> Work<'a> {
    #[inline(always)]
    pub(super) fn new(
        window: &'a Window,
        op: &'a Op,
        operation: Operation,
        basic: &'static Datatype,
    ) -> Work<'a> {
        Work {
            window,
            op,
            operation,
            basic,
            arithmetic: Arithmetic::of(basic),
            atomics: is_atomic(window),
        }
    }

    fn size(&self) -> usize {
        self.basic.size as usize
    }

    /// Without a lock: for elements that are held, or nobody else's. `source` may be null for MPI_NO_OP, `result` always.
    ///
    /// # Safety
    /// `elements` packed elements are valid at `target` for writing, at `source` for reading, at `result` for writing.
    #[inline(always)]
    unsafe fn compute(
        &self,
        target: *mut u8,
        source: *const u8,
        result: *mut u8,
        elements: usize,
    ) -> Result<()> {
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
                self.change(target.add(at), source.wrapping_add(at), count)?;
            }
            done += count;
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Work::compute`].
    #[inline(always)]
    unsafe fn change(&self, target: *mut u8, source: *const u8, elements: usize) -> Result<()> {
        let bytes = elements * self.size();
        match self.operation {
            Operation::NoOp => Ok(()),
            // SAFETY: by the caller.
            Operation::Replace => unsafe {
                std::ptr::copy(source, target, bytes);
                Ok(())
            },
            // SAFETY: by the caller.
            _ => unsafe {
                let source = std::slice::from_raw_parts(source, bytes);
                let target = std::slice::from_raw_parts_mut(target, bytes);
                self.op.apply(source, target, elements as u64, self.basic)
            },
        }
    }

    /// Elements one after the other in direct memory; atomic for each.
    ///
    /// # Safety
    /// As for [`Work::compute`]; `key` is that of `target`.
    #[inline(always)]
    pub(super) unsafe fn span(
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
    unsafe fn one(
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
    unsafe fn one_of_others(
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
    fn locks(&self) -> Result<Locks> {
        Locks::of(self.window.targets[self.window.rank].process)
    }

    /// Under one lock after the other.
    ///
    /// # Safety
    /// As for [`Work::span`].
    #[inline(never)]
    unsafe fn by_pieces(
        &self,
        locks: &Locks,
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
            unsafe { self.compute(target.add(at), source.wrapping_add(at), result, count)? };
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
                // The operation has been checked, so it cannot fail.
                let _ = self.change(new.as_mut_ptr(), input.as_ptr(), 1);
                u64::from_ne_bytes(new)
            })
        }
    }

    /// Runs of whole elements in direct memory.
    fn runs(&self, sides: &Sides) -> Result<()> {
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
    fn pairs(&self, sides: &Sides) -> Result<()> {
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
                self.compute(element.as_mut_ptr(), input.as_ptr(), old.as_mut_ptr(), 1)?;
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

    /// Elements in another process's private memory.
    fn far(&self, sides: &Sides, far: &Far) -> Result<()> {
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
                if self.operation != Operation::Replace || sides.result.is_some() {
                    far.read(&pieces, elements)?;
                }
                if let Some(result) = &sides.result {
                    result.write(at, elements);
                }
                // SAFETY: both have as many elements.
                unsafe { self.change(elements.as_mut_ptr(), source, bytes / size)? };
                if self.operation != Operation::NoOp {
                    far.write(&pieces, elements)?;
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

/// Whether elements are reached by atomic instructions where they can be. Dynamic windows may have regions of both kinds.
#[inline(always)]
pub(super) fn is_atomic(window: &Window) -> bool {
    window.element_mode && window.flavor != Flavor::Dynamic
}
