//! What every datatype is made with: how large it is, which basic types it has, where its data lies.
//!
//! A `Layout` is immutable and cheap to clone; the constructors take displacements in bytes, in 128 bits, so that a product
//! of an argument and an extent cannot wrap before it is checked here. Invariant: all sizes and bounds fit in 63 bits.

use super::bounds::{Bound, Bounds};
use super::form::{self, Form, Repeat};
use super::signature::{Element, Signature};
use crate::error::{Class, Result, fail};
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes of data, holes not counted.
    pub size: u64,
    pub signature: Signature,
    bounds: Bounds,
    /// The strictest alignment of the basic types in it: what MPI_Type_create_struct pads to.
    alignment: u64,
    /// Where the form's displacements count from.
    pub(super) at: i64,
    /// `None`: no data.
    pub(super) form: Option<Form>,
    /// The form with copies of itself at its extent, made when data is moved first.
    endless: OnceLock<Arc<Repeat>>,
}

/// One member of a struct.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub displacement: i128,
    pub blocklength: u64,
    pub layout: &'a Layout,
}

impl Layout {
    /// No data, no bounds.
    pub fn empty() -> Layout {
        Layout {
            size: 0,
            signature: Signature::EMPTY,
            bounds: Bounds::EMPTY,
            alignment: 1,
            at: 0,
            form: None,
            endless: OnceLock::new(),
        }
    }

    /// A predefined type: elements at displacements, in a struct of `extent` bytes.
    pub(super) fn basic(elements: &[(i64, Element)], extent: u64, alignment: u64) -> Layout {
        let parts = elements.iter().map(|(at, element)| form::Part {
            at: *at as i128,
            form: Form::block(element.size()),
        });
        let (at, form) = form::sequence(parts);
        let signature = Signature::sequence(
            elements
                .iter()
                .map(|(_, element)| Signature::run(*element, 1)),
        );
        let end = elements
            .last()
            .map_or(0, |(at, element)| at + element.size() as i64);
        Layout {
            size: signature.size,
            signature,
            bounds: Bounds::of_data(0, end as i128, extent as i128),
            alignment,
            at: at as i64,
            form,
            endless: OnceLock::new(),
        }
    }

    /// MPI_LB.
    pub(super) fn lower_marker() -> Layout {
        Layout::marker(true)
    }

    /// MPI_UB.
    pub(super) fn upper_marker() -> Layout {
        Layout::marker(false)
    }

    fn marker(lower: bool) -> Layout {
        let bound = Some(Bound { at: 0, set: true });
        Layout {
            bounds: Bounds {
                lower: bound.filter(|_| lower),
                upper: bound.filter(|_| !lower),
                data: None,
            },
            ..Layout::empty()
        }
    }

    pub fn lb(&self) -> i64 {
        self.bounds.lb() as i64
    }

    pub fn ub(&self) -> i64 {
        self.bounds.ub() as i64
    }

    pub fn extent(&self) -> i64 {
        self.bounds.extent() as i64
    }

    pub fn true_lb(&self) -> i64 {
        self.bounds.data.map_or(0, |(from, _)| from as i64)
    }

    pub fn true_extent(&self) -> i64 {
        self.bounds.data.map_or(0, |(from, to)| (to - from) as i64)
    }

    /// The data of elements one after the other, however many.
    pub(super) fn endless(&self) -> Option<&Repeat> {
        let form = self.form.as_ref()?;
        let make = || Arc::new(form::endless(form.clone(), self.extent()));
        Some(self.endless.get_or_init(make))
    }

    /// Whether elements of this type follow each other from 0 without holes, in the order of memory.
    pub fn is_contiguous(&self) -> bool {
        match &self.form {
            None => true,
            Some(form) => {
                form.is_block()
                    && self.at == 0
                    && self.extent() as i128 == self.size as i128
                    && self.lb() == 0
            }
        }
    }

    /// Of as many elements of this type as have `size` bytes.
    fn signature_of(&self, size: u64) -> Signature {
        match self.size {
            0 => Signature::EMPTY,
            own => self.signature.repeated(size / own),
        }
    }

    /// MPI_Type_contiguous.
    pub fn contiguous(count: u64, child: &Layout) -> Result<Layout> {
        Layout::strided(1, count, 0, child)
    }

    /// MPI_Type_vector and its kin: `count` blocks of `blocklength` elements, `stride` bytes from one start to the next.
    pub fn strided(count: u64, blocklength: u64, stride: i128, child: &Layout) -> Result<Layout> {
        let elements = count as u128 * blocklength as u128;
        let size = checked_size(elements.saturating_mul(child.size as u128))?;
        let extent = child.bounds.extent();
        let block = child.bounds.repeated(blocklength, extent);
        let bounds = checked(block.repeated(count, stride))?;
        let form = (child.form.clone())
            .and_then(|form| form::repeated(form, blocklength, extent))
            .and_then(|form| form::repeated(form, count, stride));
        Ok(Layout {
            size,
            signature: child.signature_of(size),
            bounds,
            alignment: if size == 0 { 1 } else { child.alignment },
            at: child.at,
            form,
            endless: OnceLock::new(),
        })
    }

    /// MPI_Type_indexed and its kin: blocks of (displacement in bytes, number of elements).
    pub fn indexed(blocks: impl Iterator<Item = (i128, u64)>, child: &Layout) -> Result<Layout> {
        let extent = child.extent();
        let mut builder =
            form::IndexedBuilder::new(child.form.clone(), extent.into(), blocks.size_hint().0);
        // The lowest and the highest place that an element counts from decide the bounds.
        let (mut lowest, mut highest) = (i64::MAX, i64::MIN);
        let mut elements = 0u64;
        for (displacement, blocklength) in blocks {
            if blocklength == 0 {
                continue;
            }
            let first = i64::try_from(displacement).ok();
            let length = i64::try_from(blocklength - 1).ok();
            let span = length.and_then(|length| length.checked_mul(extent));
            let last = first
                .zip(span)
                .and_then(|(first, span)| first.checked_add(span));
            let sum = elements.checked_add(blocklength);
            let (Some(first), Some(last), Some(sum)) = (first, last, sum) else {
                return fail!(
                    Class::Arg,
                    "a block of {blocklength} elements at {displacement} bytes is beyond 2^63 - 1"
                );
            };
            lowest = lowest.min(first).min(last);
            highest = highest.max(first).max(last);
            elements = sum;
            builder.add(first, blocklength);
        }
        let size = checked_size(elements as u128 * child.size as u128)?;
        let bounds = match elements {
            0 => Bounds::EMPTY,
            _ => (child.bounds.shifted(lowest.into())).and(&child.bounds.shifted(highest.into())),
        };
        let bounds = checked(bounds)?;
        let (at, form) = builder.finish();
        Ok(Layout {
            size,
            signature: child.signature_of(size),
            bounds,
            alignment: if size == 0 { 1 } else { child.alignment },
            at: (at + child.at as i128) as i64,
            form,
            endless: OnceLock::new(),
        })
    }

    /// MPI_Type_create_struct.
    pub fn structure(members: &[Member<'_>]) -> Result<Layout> {
        let mut bounds = Bounds::EMPTY;
        let mut alignment = 1;
        let mut size = 0u128;
        for member in members.iter().filter(|member| member.blocklength > 0) {
            let child = &member.layout;
            let block = child
                .bounds
                .repeated(member.blocklength, child.bounds.extent());
            bounds = bounds.and(&block.shifted(member.displacement));
            alignment = alignment.max(child.alignment);
            size = size.saturating_add(child.size as u128 * member.blocklength as u128);
        }
        let size = checked_size(size)?;
        let bounds = checked(bounds.padded(alignment as i128))?;
        let signature = Signature::sequence((members.iter()).map(|member| {
            let child = member.layout;
            child.signature_of(child.size * member.blocklength)
        }));
        let parts = members.iter().filter(|member| member.blocklength > 0);
        let (at, form) = form::sequence(parts.filter_map(|member| {
            let child = &member.layout;
            let form = child.form.clone()?;
            let form = form::repeated(form, member.blocklength, child.bounds.extent())?;
            Some(form::Part {
                at: child.at as i128 + member.displacement,
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
        Ok(Layout {
            bounds: checked(child.bounds.with_set(lb as i128, extent as i128))?,
            endless: OnceLock::new(),
            ..child.clone()
        })
    }
}

fn checked_size(size: u128) -> Result<u64> {
    if size <= i64::MAX as u128 {
        return Ok(size as u64);
    }
    fail!(
        Class::Arg,
        "the datatype would have {size} bytes or elements; at most 2^63 - 1 are possible"
    )
}

/// Every place of the type and all distances between places fit in 63 bits.
fn checked(bounds: Bounds) -> Result<Bounds> {
    let (from, to) = bounds.data.unwrap_or((0, 0));
    for value in [
        bounds.lb(),
        bounds.ub(),
        bounds.extent(),
        from,
        to,
        to - from,
    ] {
        if i64::try_from(value).is_err() {
            return fail!(
                Class::Arg,
                "the datatype's bounds would be {} and {}, its data from {from} to {to}; 2^63 - 1 is the largest possible",
                bounds.lb(),
                bounds.ub()
            );
        }
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::super::get;
    use super::*;

    fn of(handle: u32) -> &'static Layout {
        get(handle as i32).unwrap().layout()
    }

    fn int() -> &'static Layout {
        of(0x4c00_0405)
    }

    fn member(displacement: i128, blocklength: u64, layout: &Layout) -> Member<'_> {
        Member {
            displacement,
            blocklength,
            layout,
        }
    }

    /// lb, extent, true lb, true extent
    fn bounds(layout: &Layout) -> [i64; 4] {
        [
            layout.lb(),
            layout.extent(),
            layout.true_lb(),
            layout.true_extent(),
        ]
    }

    /// What the reference says of the same types.
    #[test]
    fn bounds_of_structs_and_what_is_made_of_them() {
        let character = of(0x4c00_0101);
        let padded = Layout::structure(&[member(0, 1, int()), member(4, 1, character)]).unwrap();
        assert_eq!(bounds(&padded), [0, 8, 0, 5]);
        let twice = Layout::contiguous(2, &padded).unwrap();
        assert_eq!(bounds(&twice), [0, 16, 0, 13]);
        let indexed = Layout::indexed([(1, 1), (20, 1)].into_iter(), &padded).unwrap();
        assert_eq!(bounds(&indexed), [1, 27, 1, 24]);
        let outer = [member(3, 1, &padded), member(9, 1, character)];
        assert_eq!(bounds(&Layout::structure(&outer).unwrap()), [3, 8, 3, 7]);
        let back = Layout::strided(2, 1, -8, &padded).unwrap();
        assert_eq!(bounds(&back), [-8, 16, -8, 13]);
        let plain = Layout::indexed([(0, 1), (5, 1)].into_iter(), int()).unwrap();
        assert_eq!(bounds(&plain), [0, 9, 0, 9]);
        let pair = of(0x8c00_0001); // MPI_DOUBLE_INT
        assert_eq!(
            bounds(&Layout::structure(&[member(0, 1, pair)]).unwrap()),
            [0, 16, 0, 12]
        );
    }

    #[test]
    fn bounds_that_were_set_stay() {
        let set = Layout::resized(-4, 20, int()).unwrap();
        let members = [member(0, 1, &set), member(100, 1, int())];
        // The standard's markers, which resizing sets, win; the reference says 108.
        assert_eq!(
            bounds(&Layout::structure(&members).unwrap()),
            [-4, 20, 0, 104]
        );
        let vector = Layout::strided(3, 2, -4 * 20, &set).unwrap();
        assert_eq!(bounds(&vector), [-164, 200, -160, 184]);
        let negative = Layout::resized(0, -8, int()).unwrap();
        let three = Layout::contiguous(3, &negative).unwrap();
        assert_eq!(bounds(&three), [-16, 8, -16, 20]);
        let old = [
            member(-3, 1, of(0x4c00_0010)), // MPI_LB
            member(0, 1, int()),
            member(6, 1, of(0x4c00_0011)), // MPI_UB
        ];
        let old = Layout::structure(&old).unwrap();
        assert_eq!(bounds(&old), [-3, 9, 0, 4]);
        assert!(!old.is_contiguous());
    }

    #[test]
    fn forms_are_normal() {
        let column = Layout::strided(4, 1, 4, int()).unwrap();
        assert!(column.is_contiguous());
        let nest = Layout::strided(3, 1, 32, &Layout::strided(4, 1, 8, int()).unwrap()).unwrap();
        let Some(Form::Loop(form)) = &nest.form else {
            panic!("{nest:?}");
        };
        assert_eq!((form.count, form.body.stride, form.body.size), (12, 8, 4));
        let regular = Layout::indexed((0..9).map(|index| (index * 8, 1)), int()).unwrap();
        assert!(matches!(&regular.form, Some(Form::Loop(_))));
        let touching = [(8, 1), (12, 0), (12, 2), (20, 1)];
        let touching = Layout::indexed(touching.into_iter(), int()).unwrap();
        assert!(matches!(touching.form, Some(Form::Block(16))));
        assert_eq!(touching.at, 8);
        let backwards = Layout::strided(2, 1, -4, int()).unwrap();
        assert!(!backwards.is_contiguous());
    }

    #[test]
    fn too_large_types_are_refused() {
        let huge = i64::MAX as i128;
        for result in [
            Layout::strided(1 << 62, 1, 4, int()),
            Layout::strided(2, 1, huge, int()),
            Layout::strided(2, 1, huge * huge, int()),
            Layout::indexed([(-huge, 1), (huge, 1)].into_iter(), int()),
            Layout::indexed([(i128::MAX, 1), (i128::MIN, u64::MAX)].into_iter(), int()),
            Layout::structure(&[member(huge, 1, int())]),
            Layout::structure(&[member(0, 1 << 62, int())]),
            Layout::resized(i64::MAX, 1, int()),
        ] {
            assert_eq!(result.unwrap_err().class(), Class::Arg);
        }
        assert!(Layout::strided(1 << 40, 0, 1 << 60, int()).is_ok());
    }
}
