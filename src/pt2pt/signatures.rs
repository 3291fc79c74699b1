//! Checking of type signatures, when OXMPI_CHECK_SIGNATURES is set: each message begins with its signature, and a receive whose
//! own does not begin with it fails with MPI_ERR_TYPE and both in words.
//!
//! Invariant: a status never counts the bytes before the message. Types match if their basic types have the same representation;
//! MPI_PACKED matches all.

use super::outcome::Completion;
use crate::datatype::pack::PREFIX;
use crate::datatype::{Buffer, Datatype, Signature, Status};
use crate::engine::Engine;
use crate::engine::refusal::is_of_program;
use crate::engine::requests::{Kind, Reaped, Request};
use crate::error::{Class, Error, Result};
use crate::events::timeline;
use crate::sync::{AtomicU32, Ordering};
use crate::variables::Variable;
use std::ops::ControlFlow;

pub static CHECK_SIGNATURES: Variable<bool> = Variable::new(
    "CHECK_SIGNATURES",
    false,
    "Messages carry the type signature they were sent with, and a receive that does not fit it fails. To find mistakes.",
)
.same_on_all();

const TEXT: usize = 24;

/// Why completed receives are looked at: a set of these bits.
static LOOKS: AtomicU32 = AtomicU32::new(0);
const SIGNATURES: u32 = 1;
const TIMELINE: u32 = 2;

/// Begins with what is set.
pub fn begin() {
    let signatures = u32::from(CHECK_SIGNATURES.get()) * SIGNATURES;
    let timeline = u32::from(timeline::is_on()) * TIMELINE;
    LOOKS.store(signatures | timeline, Ordering::Relaxed);
}

/// Whether signatures are checked.
#[inline(always)]
pub fn on() -> bool {
    LOOKS.load(Ordering::Relaxed) & SIGNATURES != 0
}

/// Whether completed receives are looked at one by one.
#[inline(always)]
fn looks() -> u32 {
    LOOKS.load(Ordering::Relaxed)
}

/// Which receive has completed.
#[derive(Clone, Copy)]
pub(super) struct Met {
    /// 0: of a call that blocks.
    pub handle: i32,
    /// `None`: it is a send.
    pub context: Option<u32>,
}

impl Met {
    /// Of a request; `handle` as above.
    pub fn of(request: &Request, handle: i32) -> Met {
        let receives = request.kind == Kind::Receive;
        Met {
            handle,
            context: receives.then_some(request.context),
        }
    }
}

/// The elements with their signature before them. The caller ends the type that the buffer is made of.
#[cold]
pub fn signed(address: *mut u8, count: u64, datatype: &Datatype) -> Result<Buffer> {
    let signature = &datatype.layout().signature;
    let whole = signature.repeated(count);
    let mut prefix = [0; PREFIX];
    prefix[..8].copy_from_slice(&whole.elements.to_ne_bytes());
    prefix[8..16].copy_from_slice(&sum(&whole, 0, whole.elements).to_ne_bytes());
    prefix[16] = is_packed(&whole, 0).into();
    let text = signature.text(count);
    let length = text.len().min(PREFIX - TEXT);
    prefix[17] = length as u8;
    prefix[TEXT..TEXT + length].copy_from_slice(&text.as_bytes()[..length]);
    Buffer::prefixed(prefix, address, count, datatype)
}

/// The status of the message without its signature.
#[inline(always)]
pub fn without(mut status: Status) -> Status {
    if on() {
        status.set_bytes(status.bytes().saturating_sub(PREFIX as u64));
    }
    status
}

/// The result of a receive, with the error of a signature that does not fit. The timeline is told of it.
#[inline(always)]
pub(super) fn judged(buffer: &Buffer, met: impl FnOnce() -> Met, done: Completion) -> Completion {
    if looks() == 0 {
        return done;
    }
    look(buffer, met(), done)
}

#[cold]
#[inline(never)]
fn look(buffer: &Buffer, met: Met, done: Completion) -> Completion {
    let done = match on() {
        true => judge(buffer, done),
        false => done,
    };
    let came = match &done.error {
        None => !done.status.cancelled(),
        Some(error) => matches!(error.class(), Class::Truncate | Class::Type),
    };
    if looks() & TIMELINE != 0
        && came
        && done.status.source >= 0
        && let Some(context) = met.context.filter(|context| is_of_program(*context))
    {
        let (source, tag) = (done.status.source, done.status.tag);
        timeline::received(met.handle, source, tag, context, done.status.bytes());
    }
    done
}

fn judge(buffer: &Buffer, done: Completion) -> Completion {
    let arrived = done.status.bytes() >= PREFIX as u64;
    let mut done = Completion {
        status: without(done.status),
        ..done
    };
    if arrived && done.error.is_none() {
        done.error = buffer
            .prefix()
            .and_then(|(prefix, own)| compare(&prefix, own));
    }
    done
}

/// The common end of a request in one step, unless there is more to look at.
#[inline(always)]
pub(super) fn end(engine: &mut Engine, handle: i32) -> Reaped {
    if looks() != 0 {
        return Reaped::Other;
    }
    engine.requests().reap(handle)
}

fn number(prefix: &[u8; PREFIX], at: usize) -> u64 {
    u64::from_ne_bytes(prefix[at..at + 8].try_into().unwrap_or_default())
}

fn compare(sent: &[u8; PREFIX], own: &Datatype) -> Option<Error> {
    let signature = &own.layout().signature;
    let elements = number(sent, 0);
    let fits = sent[16] != 0
        || is_packed(signature, PREFIX as u64)
        || sum(signature, PREFIX as u64, elements) == number(sent, 8);
    if fits {
        return None;
    }
    let length = (sent[17] as usize).min(PREFIX - TEXT);
    let text = String::from_utf8_lossy(&sent[TEXT..TEXT + length]);
    Some(Error::new(
        Class::Type,
        format!(
            "the message was sent as {text}, but is received as {}",
            text_of(signature)
        ),
    ))
}

/// The first runs after the prefix in words.
fn text_of(signature: &Signature) -> String {
    let mut words: Vec<(&'static str, u64)> = Vec::new();
    let _ = runs(signature, PREFIX as u64, u64::MAX, &mut |name, _, count| {
        let full = words.len() == 8;
        match words.last_mut() {
            Some((last, sum)) if *last == name => *sum += count,
            _ if full => return ControlFlow::Break(()),
            _ => words.push((name, count)),
        }
        ControlFlow::Continue(())
    });
    let words: Vec<String> = words
        .iter()
        .map(|(name, count)| format!("{name} x {count}"))
        .collect();
    words.join(", ")
}

/// Whether the first element after `skip` others is MPI_PACKED.
fn is_packed(signature: &Signature, skip: u64) -> bool {
    let first = runs(signature, skip, 1, &mut |name, _, _| {
        ControlFlow::Break(name)
    });
    first == ControlFlow::Break("MPI_PACKED")
}

/// A number for the representation of `limit` elements after `skip` others, the same for the same sequence of basic types.
fn sum(signature: &Signature, skip: u64, limit: u64) -> u64 {
    let mut joined: Vec<(u32, u64)> = Vec::new();
    let mut total = 0xcbf2_9ce4_8422_2325_u64;
    let mut fold = |kind: u32, count: u64| {
        for word in [kind.into(), count] {
            total = (total ^ word)
                .wrapping_mul(0x0000_0100_0000_01b3)
                .rotate_left(23);
        }
    };
    let _ = runs(signature, skip, limit, &mut |_, kind, count| {
        match joined.last_mut() {
            Some((last, sum)) if *last == kind => *sum += count,
            _ => {
                if let Some((last, sum)) = joined.pop() {
                    fold(last, sum);
                }
                joined.push((kind, count));
            }
        }
        ControlFlow::<()>::Continue(())
    });
    if let Some((last, sum)) = joined.pop() {
        fold(last, sum);
    }
    total
}

/// Visits `limit` elements after `skip` others: name, representation, number.
fn runs<B>(
    signature: &Signature,
    skip: u64,
    limit: u64,
    visit: &mut impl FnMut(&'static str, u32, u64) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let (mut skip, mut left) = (skip, limit);
    let found = signature.for_each_run(&mut |element, count| {
        let skipped = skip.min(count);
        skip -= skipped;
        let here = (count - skipped).min(left);
        left -= here;
        if here > 0 {
            let kind = (element.scalar as u32) << 8 | element.parts;
            if let ControlFlow::Break(value) = visit(element.name, kind, here) {
                return ControlFlow::Break(Some(value));
            }
        }
        if left == 0 {
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(())
    });
    match found {
        ControlFlow::Break(Some(value)) => ControlFlow::Break(value),
        _ => ControlFlow::Continue(()),
    }
}
