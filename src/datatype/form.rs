//! The normal form of a datatype: where its bytes lie, as nested strided blocks.
//!
//! Invariant: displacements count from the form's first packed byte; no form is empty, no loop runs once, no loop or list can
//! be said as a smaller one by the rules here: neighbours are merged, nests collapsed, equal spacing is a loop. The packed
//! order is never changed.

use std::sync::Arc;

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
    pub stride: i64,
    pub body: Form,
    pub body_size: u64,
}

/// Blocks of one body.
#[derive(Debug)]
pub(super) struct Indexed {
    pub body: Form,
    pub body_size: u64,
    /// From one body to the next of the same block.
    pub stride: i64,
    pub blocks: Box<[IndexedBlock]>,
    pub size: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedBlock {
    pub at: i64,
    /// Where its first byte is in the packed stream.
    pub start: u64,
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
            Form::Loop(form) => form.count * form.body_size,
            Form::Indexed(form) => form.size,
            Form::Sequence(form) => form.size,
        }
    }

    /// Whether they are known to be the same without looking far.
    pub fn is_same(&self, other: &Form) -> bool {
        match (self, other) {
            (Form::Block(one), Form::Block(two)) => one == two,
            (Form::Loop(one), Form::Loop(two)) => {
                Arc::ptr_eq(one, two)
                    || one.count == two.count
                        && one.stride == two.stride
                        && one.body.is_same(&two.body)
            }
            (Form::Indexed(one), Form::Indexed(two)) => Arc::ptr_eq(one, two),
            (Form::Sequence(one), Form::Sequence(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

impl Indexed {
    /// The packed position behind a block.
    #[inline]
    pub fn end(&self, block: usize) -> u64 {
        match self.blocks.get(block + 1) {
            Some(next) => next.start,
            None => self.size,
        }
    }
}

/// A form `count` times, `stride` bytes apart.
pub(super) fn repeated(form: Form, count: u64, stride: i128) -> Option<Form> {
    match count {
        0 => return None,
        1 => return Some(form),
        _ => {}
    }
    match &form {
        Form::Block(bytes) if stride == *bytes as i128 => return Some(Form::Block(bytes * count)),
        Form::Loop(inner) if inner.count as i128 * inner.stride as i128 == stride => {
            return Some(Form::Loop(Arc::new(Loop {
                count: inner.count * count,
                stride: inner.stride,
                body: inner.body.clone(),
                body_size: inner.body_size,
            })));
        }
        _ => {}
    }
    Some(Form::Loop(Arc::new(Loop {
        count,
        stride: stride as i64,
        body_size: form.size(),
        body: form,
    })))
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
    if flat.iter().all(|part| part.form.is_block()) {
        let mut blocks = IndexedBuilder::new(Some(Form::Block(1)), 1);
        for part in &flat {
            blocks.add(part.at, part.form.size());
        }
        return blocks.finish();
    }
    let first = flat[0].at;
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

/// Merges a block with the one before where they touch.
fn push(flat: &mut Vec<Part>, part: Part) {
    if let (Some(last), Form::Block(bytes)) = (flat.last_mut(), &part.form)
        && let Form::Block(before) = last.form
        && last.at + before as i128 == part.at
    {
        last.form = Form::Block(before + bytes);
        return;
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
    body: Option<Form>,
    body_size: u64,
    stride: i128,
    /// Blocks that touch become one.
    merges: bool,
    blocks: Vec<IndexedBlock>,
    size: u64,
    first: i128,
    /// Where the last block ends.
    end: i128,
}

impl IndexedBuilder {
    /// For blocks of a form that follow each other `stride` bytes apart.
    pub fn new(body: Option<Form>, stride: i128) -> IndexedBuilder {
        let body_size = body.as_ref().map_or(0, Form::size);
        IndexedBuilder {
            merges: matches!(&body, Some(Form::Block(bytes)) if *bytes as i128 == stride),
            body,
            body_size,
            stride,
            blocks: Vec::new(),
            size: 0,
            first: 0,
            end: 0,
        }
    }

    pub fn reserve(&mut self, blocks: usize) {
        self.blocks.reserve(blocks);
    }

    /// Wrong numbers that the caller refuses later (by the bounds) may wrap here, but never panic.
    #[inline]
    pub fn add(&mut self, at: i128, count: u64) {
        if self.body_size == 0 || count == 0 {
            return;
        }
        let bytes = self.body_size.wrapping_mul(count);
        let start = self.size;
        self.size = self.size.wrapping_add(bytes);
        let end = at.wrapping_add(bytes as i128);
        if self.blocks.is_empty() {
            self.first = at;
        } else if self.merges && at == self.end {
            self.end = end;
            return;
        }
        self.end = end;
        let at = at.wrapping_sub(self.first) as i64;
        self.blocks.push(IndexedBlock { at, start });
    }

    pub fn finish(self) -> (i128, Option<Form>) {
        let Some(body) = self.body else {
            return (0, None);
        };
        let block = |bytes: u64| repeated(body.clone(), bytes / self.body_size, self.stride);
        match self.blocks.len() {
            0 => return (0, None),
            1 => return (self.first, block(self.size)),
            _ => {}
        }
        if let Some(spacing) = regular(&self.blocks, self.size) {
            let form = block(self.blocks[1].start).expect("a block that was added");
            let form = repeated(form, self.blocks.len() as u64, spacing as i128);
            return (self.first, form);
        }
        let indexed = Indexed {
            body,
            body_size: self.body_size,
            stride: self.stride as i64,
            blocks: self.blocks.into(),
            size: self.size,
        };
        (self.first, Some(Form::Indexed(Arc::new(indexed))))
    }
}

/// The distance between blocks, if that and their lengths are all equal.
fn regular(blocks: &[IndexedBlock], size: u64) -> Option<i64> {
    let (stride, length) = (blocks[1].at, blocks[1].start);
    let equal = blocks.windows(2).all(|pair| {
        pair[1].at.wrapping_sub(pair[0].at) == stride
            && pair[1].start.wrapping_sub(pair[0].start) == length
    });
    (equal && size.wrapping_sub(blocks[blocks.len() - 1].start) == length).then_some(stride)
}
