//! The normal form of a datatype: where its bytes lie, as nested strided blocks.
//!
//! Invariant: displacements count from the form's first packed byte; no form is empty, no loop runs once, no loop or list can
//! be said as a smaller one by the rules here: neighbours are merged, nests collapsed, equal spacing is a loop. The packed
//! order is never changed.

use super::list::{List, ListBuilder};
use super::pattern::Pattern;
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug)]
pub(super) enum Form {
    /// So many bytes without a hole.
    Block(u64),
    Loop(Arc<Loop>),
    Indexed(Arc<Indexed>),
    Sequence(Arc<Sequence>),
}

#[derive(Debug)]
pub(super) struct Loop {
    /// At least 2.
    pub count: u64,
    pub body: Repeat,
}

/// A body that follows itself at equal distances.
#[derive(Debug)]
pub(super) struct Repeat {
    pub body: Form,
    pub size: u64,
    pub stride: i64,
    /// Found out when it is first needed: the bytes of the body as a pattern, if it is small.
    pattern: OnceLock<Option<Box<Pattern>>>,
}

/// Blocks of one body.
#[derive(Debug)]
pub(super) struct Indexed {
    pub body: Repeat,
    pub list: List,
}

#[derive(Debug)]
pub(super) struct Sequence {
    pub members: Box<[Placed]>,
    pub size: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub at: i64,
    pub start: u64,
    pub form: Form,
}

/// A form somewhere, on the way to a sequence.
pub(super) struct Part {
    pub at: i128,
    pub form: Form,
}

impl Form {
    pub fn block(bytes: u64) -> Form {
        Form::Block(bytes)
    }

    pub fn is_block(&self) -> bool {
        matches!(self, Form::Block(_))
    }

    pub fn size(&self) -> u64 {
        match self {
            Form::Block(bytes) => *bytes,
            Form::Loop(form) => form.count * form.body.size,
            Form::Indexed(form) => form.list.size,
            Form::Sequence(form) => form.size,
        }
    }

    /// Whether they are known to be the same without looking far.
    pub fn is_same(&self, other: &Form) -> bool {
        match (self, other) {
            (Form::Block(one), Form::Block(two)) => one == two,
            (Form::Loop(one), Form::Loop(two)) => {
                Arc::ptr_eq(one, two) || one.count == two.count && one.body.is_same(&two.body)
            }
            (Form::Indexed(one), Form::Indexed(two)) => Arc::ptr_eq(one, two),
            (Form::Sequence(one), Form::Sequence(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

impl Repeat {
    pub fn new(body: Form, stride: i64) -> Repeat {
        Repeat {
            size: body.size(),
            body,
            stride,
            pattern: OnceLock::new(),
        }
    }

    /// Whether bodies lie without holes, one behind the other.
    pub fn is_block(&self) -> bool {
        matches!(self.body, Form::Block(bytes) if bytes as i128 == self.stride as i128)
    }

    #[inline]
    pub fn pattern(&self) -> Option<&Pattern> {
        let found = self.pattern.get_or_init(|| Pattern::of(self).map(Box::new));
        found.as_deref()
    }

    fn is_same(&self, other: &Repeat) -> bool {
        self.stride == other.stride && self.body.is_same(&other.body)
    }
}

impl Clone for Repeat {
    fn clone(&self) -> Repeat {
        Repeat {
            body: self.body.clone(),
            pattern: OnceLock::new(),
            ..*self
        }
    }
}

/// A form `count` times, `stride` bytes apart.
#[inline(always)]
pub(super) fn repeated(form: Form, count: u64, stride: i128) -> Option<Form> {
    match count {
        0 => return None,
        1 => return Some(form),
        _ => {}
    }
    Some(match form {
        Form::Block(bytes) if stride == bytes as i128 => Form::Block(bytes * count),
        Form::Loop(inner) if inner.follows_itself_at(stride) => Form::Loop(Arc::new(Loop {
            count: inner.count * count,
            body: inner.body.clone(),
        })),
        body => Form::Loop(Arc::new(Loop {
            count,
            body: Repeat::new(body, stride as i64),
        })),
    })
}

/// A form as the body of a loop of unknown length, at the distance `stride`.
pub(super) fn endless(form: Form, stride: i64) -> Repeat {
    match form {
        Form::Loop(inner) if inner.follows_itself_at(stride as i128) => inner.body.clone(),
        body => Repeat::new(body, stride),
    }
}

impl Loop {
    /// Whether a copy of it at this distance goes on where it ends.
    fn follows_itself_at(&self, stride: i128) -> bool {
        self.count as i128 * self.body.stride as i128 == stride
    }

    fn with_count(&self, count: u64) -> Form {
        Form::Loop(Arc::new(Loop {
            count,
            body: self.body.clone(),
        }))
    }
}

/// Parts one after the other in the packed stream; returns where the form starts.
pub(super) fn sequence(parts: impl IntoIterator<Item = Part>) -> (i128, Option<Form>) {
    let mut flat: Vec<Part> = Vec::new();
    for part in parts {
        match part.form {
            Form::Sequence(inner) => {
                for member in &inner.members {
                    push(
                        &mut flat,
                        Part {
                            at: part.at + member.at as i128,
                            form: member.form.clone(),
                        },
                    );
                }
            }
            _ => push(&mut flat, part),
        }
    }
    if let [_] = flat[..] {
        let only = flat.swap_remove(0);
        return (only.at, Some(only.form));
    }
    let first = flat.first().map_or(0, |part| part.at);
    if flat.iter().all(|part| part.form.is_block()) {
        let mut blocks = IndexedBuilder::new(Some(Repeat::new(Form::Block(1), 1)), flat.len());
        for part in &flat {
            blocks.add((part.at - first) as i64, part.form.size());
        }
        let (at, form) = blocks.finish();
        return (first + at, form);
    }
    if let Some(stride) = equal_spacing(&flat) {
        let form = flat.swap_remove(0).form;
        return (first, repeated(form, flat.len() as u64 + 1, stride));
    }
    let mut size = 0;
    let members = flat.into_iter().map(|part| {
        let start = size;
        size += part.form.size();
        Placed {
            at: (part.at - first) as i64,
            start,
            form: part.form,
        }
    });
    let members = members.collect();
    (
        first,
        Some(Form::Sequence(Arc::new(Sequence { members, size }))),
    )
}

/// Merges a part with the one before, where they are blocks that touch, or one goes on with the other's loop.
fn push(flat: &mut Vec<Part>, part: Part) {
    if let Some(last) = flat.last_mut() {
        let distance = part.at - last.at;
        let merged = match (&last.form, &part.form) {
            (Form::Block(one), Form::Block(two)) if distance == *one as i128 => {
                Some(Form::Block(one + two))
            }
            (Form::Loop(one), two) if one.follows_itself_at(distance) => match two {
                Form::Loop(two) if one.body.is_same(&two.body) => Some((one, two.count)),
                _ if one.body.body.is_same(two) => Some((one, 1)),
                _ => None,
            }
            .map(|(one, more)| one.with_count(one.count + more)),
            (one, Form::Loop(two))
                if two.body.body.is_same(one) && distance == two.body.stride as i128 =>
            {
                Some(two.with_count(two.count + 1))
            }
            _ => None,
        };
        if let Some(form) = merged {
            last.form = form;
            return;
        }
    }
    flat.push(part);
}

fn equal_spacing(parts: &[Part]) -> Option<i128> {
    let [first, second, ..] = parts else {
        return Some(0);
    };
    let stride = second.at - first.at;
    let regular = parts
        .windows(2)
        .all(|pair| pair[1].at - pair[0].at == stride && pair[1].form.is_same(&pair[0].form));
    regular.then_some(stride)
}

/// Makes the form of MPI_Type_indexed and its kin, block by block.
pub(super) struct IndexedBuilder {
    /// `None`: no data whatever is added.
    body: Option<Repeat>,
    /// Blocks that touch become one.
    merges: bool,
    list: ListBuilder,
    first: i64,
    /// The block that may grow yet.
    at: i64,
    bytes: u64,
}

impl IndexedBuilder {
    /// For at most so many blocks of bodies.
    pub fn new(body: Option<Repeat>, blocks: usize) -> IndexedBuilder {
        IndexedBuilder {
            merges: body.as_ref().is_some_and(Repeat::is_block),
            list: ListBuilder::new(body.as_ref().map_or(1, |body| body.size), blocks),
            body,
            first: 0,
            at: 0,
            bytes: 0,
        }
    }

    /// Wrong numbers that the caller refuses later (by the bounds) may wrap here, but never panic.
    #[inline]
    pub fn add(&mut self, at: i64, count: u64) {
        let Some(body) = &self.body else { return };
        let bytes = body.size.wrapping_mul(count);
        if bytes == 0 {
            return;
        }
        if self.bytes > 0 {
            if self.merges && at == self.at.wrapping_add(self.bytes as i64) {
                self.bytes = self.bytes.wrapping_add(bytes);
                return;
            }
            self.list.push(self.at.wrapping_sub(self.first), self.bytes);
        } else if self.list.is_empty() {
            self.first = at;
        }
        self.at = at;
        self.bytes = bytes;
    }

    /// Where the form starts, and the form.
    pub fn finish(mut self) -> (i128, Option<Form>) {
        let Some(body) = self.body.take().filter(|_| self.bytes > 0) else {
            return (0, None);
        };
        self.list.push(self.at.wrapping_sub(self.first), self.bytes);
        of_list(body, self.first, self.list.finish())
    }
}

/// Blocks of bodies, the first one at `first`; where the form starts, and the form.
pub(super) fn of_list(body: Repeat, first: i64, list: List) -> (i128, Option<Form>) {
    // Blocks of one length and one distance are a loop; several of those, a sequence.
    let Some(pieces) = list.regular_pieces(4.min(list.len())) else {
        let form = Form::Indexed(Arc::new(Indexed { body, list }));
        return (first.into(), Some(form));
    };
    let block = |bytes: u64| repeated(body.body.clone(), bytes / body.size, body.stride as i128);
    let parts = pieces.windows(2).filter_map(|piece| {
        let (from, to) = (piece[0], piece[1]);
        let spacing = if to > from + 1 {
            list.at(from + 1).wrapping_sub(list.at(from))
        } else {
            0
        };
        let form = block(list.start(from + 1) - list.start(from))?;
        Some(Part {
            at: list.at(from) as i128,
            form: repeated(form, (to - from) as u64, spacing as i128)?,
        })
    });
    let (at, form) = sequence(parts);
    (first as i128 + at, form)
}
