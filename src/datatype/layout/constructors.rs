//! Layouts made of others: the constructors of MPI, brought to the form that moves fastest.
//!
//! Invariant: sizes and bounds are checked here, so that whoever uses a layout need not.

use super::{Blocks, Layout, Lengths, Member, too_far, too_large};
use crate::datatype::bounds::Bounds;
use crate::datatype::contents::Numbers;
use crate::datatype::form::{self, Form, Repeat};
use crate::datatype::list::{List, Span};
use crate::datatype::signature::Signature;
use crate::error::Result;
use std::sync::OnceLock;

impl Layout {
    /// MPI_Type_contiguous.
    pub fn contiguous(count: u64, child: &Layout) -> Result<Layout> {
        Layout::strided(1, count, 0, child)
    }

    /// MPI_Type_vector and its kin: `count` blocks of `blocklength` elements, `stride` bytes from one start to the next.
    #[inline(always)]
    pub fn strided(count: u64, blocklength: u64, stride: i128, child: &Layout) -> Result<Layout> {
        let elements = count.checked_mul(blocklength);
        let size = child.size_of(elements)?;
        let extent = child.bounds.extent() as i128;
        let block = |bounds: &Bounds| bounds.repeated(blocklength, extent);
        let bounds = match count {
            0 => Some(Bounds::EMPTY),
            _ => block(&child.bounds).and_then(|block| block.repeated(count, stride)?.checked()),
        };
        let bounds = bounds.ok_or_else(too_far)?;
        let form = (child.form.clone())
            .and_then(|form| form::repeated(form, blocklength, extent))
            .and_then(|form| form::repeated(form, count, stride));
        Ok(Layout {
            size,
            signature: child.signature_of(elements.unwrap_or(0), size),
            bounds,
            alignment: if size == 0 { 1 } else { child.alignment },
            at: child.at,
            form,
            endless: OnceLock::new(),
        })
    }

    /// MPI_Type_indexed and its kin.
    pub fn indexed(blocks: &Blocks<'_>, child: &Layout) -> Result<Layout> {
        let scale = blocks.scale;
        let one = |length: i64| move |offset: i64| (offset, length);
        match (blocks.lengths, blocks.offsets) {
            (Lengths::Each(Numbers::Small(lengths)), Numbers::Small(offsets)) => {
                let blocks = offsets.iter().zip(lengths);
                let blocks = blocks.map(|(offset, length)| ((*offset).into(), (*length).into()));
                Layout::of_blocks(blocks, scale, child)
            }
            (Lengths::Each(Numbers::Small(lengths)), Numbers::Large(offsets)) => {
                let blocks = offsets.iter().zip(lengths);
                let blocks = blocks.map(|(offset, length)| (*offset, (*length).into()));
                Layout::of_blocks(blocks, scale, child)
            }
            (Lengths::Each(Numbers::Large(lengths)), offsets) => {
                let blocks = offsets.iter().zip(lengths.iter().copied());
                Layout::of_blocks(blocks, scale, child)
            }
            (Lengths::All(length), Numbers::Small(offsets)) => {
                let offsets = offsets.iter().map(|offset| (*offset).into());
                Layout::of_blocks(offsets.map(one(length)), scale, child)
            }
            (Lengths::All(length), Numbers::Large(offsets)) => {
                Layout::of_blocks(offsets.iter().copied().map(one(length)), scale, child)
            }
        }
    }

    /// Blocks of (offset, number of elements), which is not negative; a offset is a displacement in units of `scale` bytes.
    fn of_blocks(
        blocks: impl ExactSizeIterator<Item = (i64, i64)> + Clone,
        scale: i64,
        child: &Layout,
    ) -> Result<Layout> {
        let extent = child.extent();
        let body = child.form.clone().map(|form| Repeat::new(form, extent));
        let (span, at, form) = match body {
            Some(body) if body.is_block() => {
                let span_and_list = List::plain(blocks.clone(), scale, extent as u64);
                match span_and_list {
                    Some((span, first, list)) => {
                        let (at, form) = form::of_list(body, first, list);
                        (span, at, form)
                    }
                    None => collect(blocks, scale, extent, Some(body))?,
                }
            }
            body => collect(blocks, scale, extent, body)?,
        };
        let size = child.size_of(Some(span.elements))?;
        let bounds = match span.elements {
            0 => Some(Bounds::EMPTY),
            _ => (child.bounds.shifted(span.lowest)).and_then(|lowest| {
                let both = lowest.and(&child.bounds.shifted(span.highest)?);
                both.checked()
            }),
        };
        Ok(Layout {
            size,
            signature: child.signature_of(span.elements, size),
            bounds: bounds.ok_or_else(too_far)?,
            alignment: if size == 0 { 1 } else { child.alignment },
            at: (at + child.at as i128) as i64,
            form,
            endless: OnceLock::new(),
        })
    }

    /// MPI_Type_create_struct.
    pub fn structure(members: &[Member<'_>]) -> Result<Layout> {
        let members = || members.iter().filter(|member| member.blocklength > 0);
        let mut bounds = Bounds::EMPTY;
        let mut alignment = 1;
        let mut size = 0u64;
        for member in members() {
            let child = &member.layout;
            let extent = child.bounds.extent() as i128;
            let block = (child.bounds.repeated(member.blocklength, extent))
                .and_then(|block| block.shifted(member.displacement));
            bounds = bounds.and(&block.ok_or_else(too_far)?);
            alignment = alignment.max(child.alignment);
            size = size
                .checked_add(child.size_of(Some(member.blocklength))?)
                .filter(|size| *size <= i64::MAX as u64)
                .ok_or_else(too_large)?;
        }
        let bounds = (bounds.padded(alignment).and_then(Bounds::checked)).ok_or_else(too_far)?;
        let signature = Signature::sequence(members().map(|member| {
            let child = member.layout;
            child.signature_of(member.blocklength, child.size)
        }));
        let (at, form) = form::sequence(members().filter_map(|member| {
            let child = &member.layout;
            let form = child.form.clone()?;
            let form = form::repeated(form, member.blocklength, child.extent().into())?;
            Some(form::Part {
                at: child.at as i128 + member.displacement as i128,
                form,
            })
        }));
        Ok(Layout {
            size,
            signature,
            bounds,
            alignment,
            at: at as i64,
            form,
            endless: OnceLock::new(),
        })
    }

    /// MPI_Type_create_resized: earlier bounds of any kind no longer count.
    pub fn resized(lb: i64, extent: i64, child: &Layout) -> Result<Layout> {
        let bounds = child
            .bounds
            .with_set(lb, extent)
            .and_then(Bounds::checked)
            .ok_or_else(too_far)?;
        Ok(Layout {
            bounds,
            endless: OnceLock::new(),
            ..child.clone()
        })
    }
}

/// As [`List::plain`], for blocks of all kinds; the form, and where it starts.
fn collect(
    blocks: impl ExactSizeIterator<Item = (i64, i64)>,
    scale: i64,
    extent: i64,
    body: Option<Repeat>,
) -> Result<(Span, i128, Option<Form>)> {
    let mut builder = form::IndexedBuilder::new(body, blocks.len());
    let mut span = Span::EMPTY;
    for (offset, length) in blocks {
        if length == 0 {
            continue;
        }
        let first = offset.checked_mul(scale);
        let reach = (length - 1).checked_mul(extent);
        let last = first
            .zip(reach)
            .and_then(|(first, reach)| first.checked_add(reach));
        let elements = span.elements.checked_add(length as u64);
        let (Some(first), Some(last), Some(elements)) = (first, last, elements) else {
            return Err(too_far());
        };
        span.lowest = span.lowest.min(first).min(last);
        span.highest = span.highest.max(first).max(last);
        span.elements = elements;
        builder.add(first, length as u64);
    }
    let (at, form) = builder.finish();
    Ok((span, at, form))
}
