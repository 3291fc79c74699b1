//! What every datatype is made with: how large it is, which basic types it has, where its data lies.
//!
//! A `Layout` is immutable and cheap to clone; strides are in bytes and 128 bits, so that a product of an argument and an
//! extent cannot wrap before it is checked here. Invariant: all sizes and bounds fit in 63 bits.

mod constructors;

use super::bounds::{Bound, Bounds};
use super::contents::Numbers;
use super::form::{self, Form, Repeat};
use super::order::{self, Order};
use super::signature::{Element, Signature};
use crate::error::{Class, Error, Result};
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
    /// Made when data is moved first.
    endless: OnceLock<Arc<Endless>>,
}

/// A form with copies of itself at its extent.
#[derive(Debug)]
struct Endless {
    body: Repeat,
    order: OnceLock<Order>,
}

/// The blocks of an indexed type as a program says them.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    pub lengths: Lengths<'a>,
    pub offsets: Numbers<'a>,
    /// Bytes of a offset's unit.
    pub scale: i64,
}

/// In elements; none is negative.
#[derive(Clone, Copy)]
pub enum Lengths<'a> {
    Each(Numbers<'a>),
    All(i64),
}

/// One member of a struct.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub displacement: i64,
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
    pub(super) fn basic(
        elements: &'static [(i64, Element)],
        extent: u64,
        alignment: u64,
    ) -> Layout {
        let parts = elements.iter().map(|(at, element)| form::Part {
            at: *at as i128,
            form: Form::block(element.size()),
        });
        let (at, form) = form::sequence(parts);
        let signature = Signature::sequence(
            elements
                .iter()
                .map(|(_, element)| Signature::run(element, 1)),
        );
        let end = elements
            .last()
            .map_or(0, |(at, element)| at + element.size() as i64);
        Layout {
            size: signature.size,
            signature,
            bounds: Bounds::of_data(end, extent as i64),
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
        let (set, none) = (Bound::set(0), Bound::NONE);
        let (lower, upper) = if lower { (set, none) } else { (none, set) };
        Layout {
            bounds: Bounds {
                lower,
                upper,
                ..Bounds::EMPTY
            },
            ..Layout::empty()
        }
    }

    /// A layout with these bytes and another signature.
    pub(super) fn with_signature(self, signature: Signature) -> Layout {
        Layout { signature, ..self }
    }

    pub fn lb(&self) -> i64 {
        self.bounds.lb()
    }

    pub fn ub(&self) -> i64 {
        self.bounds.ub()
    }

    pub fn extent(&self) -> i64 {
        self.bounds.extent()
    }

    pub fn true_lb(&self) -> i64 {
        self.bounds.from
    }

    pub fn true_extent(&self) -> i64 {
        self.bounds.true_extent()
    }

    /// The data of elements one after the other, however many.
    pub(super) fn endless(&self) -> Option<&Repeat> {
        Some(&self.laid_endless()?.body)
    }

    fn laid_endless(&self) -> Option<&Endless> {
        let form = self.form.as_ref()?;
        let make = || {
            Arc::new(Endless {
                body: form::endless(form.clone(), self.extent()),
                order: OnceLock::new(),
            })
        };
        Some(self.endless.get_or_init(make))
    }

    /// The order of one element's bytes; `None`: there are none. Found out once.
    pub fn order(&self) -> Option<Order> {
        let (form, endless) = (self.form.as_ref()?, self.laid_endless()?);
        let found = || order::of(form, self.at, self.extent());
        Some(*endless.order.get_or_init(found))
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

    /// Where the data of `count` elements lies if it is one run of bytes in the order of memory.
    #[inline]
    pub(super) fn run(&self, count: u64) -> Option<i64> {
        match &self.form {
            _ if count == 0 => Some(0),
            None => Some(0),
            Some(form) if form.is_block() => {
                (count == 1 || self.extent() as u64 == self.size).then_some(self.at)
            }
            Some(_) => None,
        }
    }

    /// Bytes of so many elements.
    #[inline(always)]
    fn size_of(&self, elements: Option<u64>) -> Result<u64> {
        if self.size == 0 {
            return Ok(0);
        }
        match elements.and_then(|elements| elements.checked_mul(self.size)) {
            Some(size) if size <= i64::MAX as u64 => Ok(size),
            _ => Err(too_large()),
        }
    }

    /// Of so many elements, if they have `size` bytes.
    #[inline(always)]
    fn signature_of(&self, elements: u64, size: u64) -> Signature {
        match size {
            0 => Signature::EMPTY,
            _ => self.signature.repeated(elements),
        }
    }
}

#[cold]
fn too_large() -> Error {
    let text = "the datatype would have more than 2^63 - 1 bytes, the most possible";
    Error::new(Class::Arg, text)
}

/// A offset of the type, or a distance between two of its offsets, does not fit.
#[cold]
fn too_far() -> Error {
    let text = "the datatype's bounds or its data would be more than 2^63 - 1 bytes apart or away from its origin";
    Error::new(Class::Arg, text)
}

#[cfg(test)]
impl Layout {
    /// For tests: elements one after the other from a offset on.
    pub fn indexed_at(offset: i64, count: u64, child: &Layout) -> Layout {
        let member = Member {
            displacement: offset,
            blocklength: count,
            layout: child,
        };
        Layout::structure(&[member]).unwrap()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::get;
    use super::*;

    fn named(handle: u32) -> &'static Layout {
        get(handle as i32).unwrap().layout()
    }

    fn int() -> &'static Layout {
        named(0x4c00_0405)
    }

    /// Of blocks (displacement in bytes, number of elements).
    pub fn of(blocks: &[(i64, i64)], child: &Layout) -> Result<Layout> {
        let (offsets, lengths): (Vec<i64>, Vec<i64>) = blocks.iter().copied().unzip();
        let blocks = Blocks {
            lengths: Lengths::Each(Numbers::Large(&lengths)),
            offsets: Numbers::Large(&offsets),
            scale: 1,
        };
        Layout::indexed(&blocks, child)
    }

    fn member(displacement: i64, blocklength: u64, layout: &Layout) -> Member<'_> {
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
        let character = named(0x4c00_0101);
        let padded = Layout::structure(&[member(0, 1, int()), member(4, 1, character)]).unwrap();
        assert_eq!(bounds(&padded), [0, 8, 0, 5]);
        let twice = Layout::contiguous(2, &padded).unwrap();
        assert_eq!(bounds(&twice), [0, 16, 0, 13]);
        let indexed = of(&[(1, 1), (20, 1)], &padded).unwrap();
        assert_eq!(bounds(&indexed), [1, 27, 1, 24]);
        let outer = [member(3, 1, &padded), member(9, 1, character)];
        assert_eq!(bounds(&Layout::structure(&outer).unwrap()), [3, 8, 3, 7]);
        let back = Layout::strided(2, 1, -8, &padded).unwrap();
        assert_eq!(bounds(&back), [-8, 16, -8, 13]);
        let plain = of(&[(0, 1), (5, 1)], int()).unwrap();
        assert_eq!(bounds(&plain), [0, 9, 0, 9]);
        let pair = named(0x8c00_0001); // MPI_DOUBLE_INT
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
            member(-3, 1, named(0x4c00_0010)), // MPI_LB
            member(0, 1, int()),
            member(6, 1, named(0x4c00_0011)), // MPI_UB
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
        let regular = (0..9).map(|index| (index * 8, 1)).collect::<Vec<_>>();
        let regular = of(&regular, int()).unwrap();
        assert!(matches!(&regular.form, Some(Form::Loop(_))));
        let touching = [(8, 1), (12, 0), (12, 2), (20, 1)];
        let touching = of(&touching, int()).unwrap();
        assert!(matches!(touching.form, Some(Form::Block(16))));
        assert_eq!(touching.at, 8);
        let backwards = Layout::strided(2, 1, -4, int()).unwrap();
        assert!(!backwards.is_contiguous());
    }

    #[test]
    fn too_large_types_are_refused() {
        let huge = i64::MAX;
        for result in [
            Layout::strided(1 << 62, 1, 4, int()),
            Layout::strided(2, 1, huge.into(), int()),
            Layout::strided(2, 1, huge as i128 * huge as i128, int()),
            of(&[(-huge, 1), (huge, 1)], int()),
            of(&[(huge, 1), (i64::MIN, huge)], int()),
            Layout::structure(&[member(huge, 1, int())]),
            Layout::structure(&[member(0, 1 << 62, int())]),
            Layout::resized(i64::MAX, 1, int()),
        ] {
            assert_eq!(result.unwrap_err().class(), Class::Arg);
        }
        assert!(Layout::strided(1 << 40, 0, 1 << 60, int()).is_ok());
    }
}
