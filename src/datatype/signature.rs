//! The type signature: which basic types a datatype's packed bytes are, in their order.
//!
//! Invariant: kept compressed (runs of one basic type, repeats, sequences), so its memory depends on how a type was made and
//! not on its counts; what describes the same type in one obvious way is described in that way.

use super::Scalar;
use std::ops::ControlFlow;
use std::sync::Arc;

/// One basic type, as MPI_Get_elements counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    pub scalar: Scalar,
    /// Scalars in it: 2 of a complex number, else 1; of what a file has in a registered representation, its bytes.
    pub parts: u32,
    /// Bytes that a scalar takes in the representation "external32".
    pub external: u8,
    /// The name in mpi.h.
    pub name: &'static str,
}

impl Element {
    /// Bytes in memory.
    pub const fn size(&self) -> u64 {
        self.scalar.size() as u64 * self.parts as u64
    }

    /// Bytes in the representation "external32".
    pub const fn external_size(&self) -> u64 {
        self.external as u64 * self.parts as u64
    }
}

#[derive(Clone, Debug)]
pub struct Signature {
    /// Packed bytes in memory's representation.
    pub size: u64,
    pub elements: u64,
    pub external_size: u64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Empty,
    /// As many as `elements`.
    Run(&'static Element),
    Repeat(u64, Arc<Signature>),
    Sequence(Arc<[Signature]>),
}

impl Signature {
    pub const EMPTY: Signature = Signature {
        size: 0,
        elements: 0,
        external_size: 0,
        kind: Kind::Empty,
    };

    pub fn run(element: &'static Element, count: u64) -> Signature {
        Signature {
            size: element.size() * count,
            elements: count,
            external_size: element.external_size() * count,
            kind: Kind::Run(element),
        }
    }

    /// The signature `count` times. The caller has checked that the size fits; there are never more elements or external bytes
    /// than twice the bytes, and those saturate.
    #[inline(always)]
    pub fn repeated(&self, count: u64) -> Signature {
        match &self.kind {
            Kind::Run(element) if count > 0 => self.times(count, Kind::Run(element)),
            Kind::Empty => Signature::EMPTY,
            _ => self.repeated_parts(count),
        }
    }

    fn repeated_parts(&self, count: u64) -> Signature {
        let kind = match &self.kind {
            _ if count == 0 => return Signature::EMPTY,
            _ if count == 1 => return self.clone(),
            Kind::Repeat(inner, of) if inner.checked_mul(count).is_some() => {
                Kind::Repeat(inner * count, of.clone())
            }
            _ => Kind::Repeat(count, Arc::new(self.clone())),
        };
        self.times(count, kind)
    }

    #[inline(always)]
    fn times(&self, count: u64, kind: Kind) -> Signature {
        Signature {
            size: self.size.saturating_mul(count),
            elements: self.elements.saturating_mul(count),
            external_size: self.external_size.saturating_mul(count),
            kind,
        }
    }

    /// One after the other.
    pub fn sequence(parts: impl IntoIterator<Item = Signature>) -> Signature {
        let mut joined: Vec<Signature> = Vec::new();
        for part in parts {
            match (joined.last_mut(), &part.kind) {
                (_, Kind::Empty) => {}
                (Some(last), Kind::Run(element)) if matches!(&last.kind, Kind::Run(other) if other == element) =>
                {
                    *last = Signature::run(element, last.elements + part.elements);
                }
                _ => joined.push(part),
            }
        }
        match joined.len() {
            0 => Signature::EMPTY,
            1 => joined.swap_remove(0),
            _ => Signature {
                size: joined.iter().map(|part| part.size).sum(),
                elements: joined.iter().map(|part| part.elements).sum(),
                external_size: joined.iter().map(|part| part.external_size).sum(),
                kind: Kind::Sequence(joined.into()),
            },
        }
    }

    /// Whole basic elements in the first `bytes` packed bytes; `None` if the last one is cut. May be asked beyond the end,
    /// as if the type were repeated.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let (whole, mut rest) = (bytes / self.size, bytes % self.size);
        let mut elements = whole.checked_mul(self.elements)?;
        if rest > 0 {
            elements += match &self.kind {
                Kind::Empty => 0,
                Kind::Run(element) => rest
                    .is_multiple_of(element.size())
                    .then(|| rest / element.size())?,
                Kind::Repeat(_, inner) => inner.elements_in(rest)?,
                Kind::Sequence(parts) => {
                    let mut elements = 0;
                    for part in parts.iter() {
                        if rest < part.size {
                            elements += part.elements_in(rest)?;
                            break;
                        }
                        elements += part.elements;
                        rest -= part.size;
                    }
                    elements
                }
            };
        }
        Some(elements)
    }

    /// Packed bytes of the first `elements` basic elements, the inverse of `elements_in`; `None` if that is no number, or
    /// the type has none.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        if self.elements == 0 {
            return (elements == 0).then_some(0);
        }
        let (whole, mut rest) = (elements / self.elements, elements % self.elements);
        let mut bytes = whole.checked_mul(self.size)?;
        if rest > 0 {
            let more = match &self.kind {
                Kind::Empty => 0,
                Kind::Run(element) => rest * element.size(),
                Kind::Repeat(_, inner) => inner.bytes_of(rest)?,
                Kind::Sequence(parts) => {
                    let mut bytes = 0;
                    for part in parts.iter() {
                        if rest < part.elements {
                            bytes += part.bytes_of(rest)?;
                            break;
                        }
                        bytes += part.size;
                        rest -= part.elements;
                    }
                    bytes
                }
            };
            bytes = bytes.checked_add(more)?;
        }
        Some(bytes)
    }

    /// Visits the runs of equal elements in order; a run may be visited in pieces.
    pub fn for_each_run<B>(
        &self,
        visit: &mut impl FnMut(Element, u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match &self.kind {
            Kind::Empty => {}
            Kind::Run(element) => visit(**element, self.elements)?,
            Kind::Repeat(count, inner) => {
                for _ in 0..*count {
                    inner.for_each_run(visit)?;
                }
            }
            Kind::Sequence(parts) => {
                for part in parts.iter() {
                    part.for_each_run(visit)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// As [`Signature::for_each_run`], of `count` elements from `from` on, which are all there.
    pub fn for_each_run_in(
        &self,
        mut from: u64,
        mut count: u64,
        visit: &mut impl FnMut(Element, u64),
    ) {
        match &self.kind {
            Kind::Run(element) if count > 0 => visit(**element, count),
            Kind::Empty | Kind::Run(_) => {}
            Kind::Repeat(_, inner) => {
                from %= inner.elements;
                while count > 0 {
                    let here = (inner.elements - from).min(count);
                    inner.for_each_run_in(from, here, visit);
                    count -= here;
                    from = 0;
                }
            }
            Kind::Sequence(parts) => {
                for part in parts.iter() {
                    if count == 0 {
                        break;
                    }
                    if from >= part.elements {
                        from -= part.elements;
                        continue;
                    }
                    let here = (part.elements - from).min(count);
                    part.for_each_run_in(from, here, visit);
                    count -= here;
                    from = 0;
                }
            }
        }
    }

    /// Bytes of the first `elements` elements in the representation "external32"; at most all.
    pub fn external_bytes_of(&self, elements: u64) -> u64 {
        let mut bytes = 0;
        match &self.kind {
            Kind::Empty => {}
            Kind::Run(element) => bytes = elements * element.external_size(),
            Kind::Repeat(_, inner) => {
                bytes = elements / inner.elements * inner.external_size
                    + inner.external_bytes_of(elements % inner.elements);
            }
            Kind::Sequence(parts) => {
                let mut rest = elements;
                for part in parts.iter() {
                    let here = rest.min(part.elements);
                    bytes += part.external_bytes_of(here);
                    rest -= here;
                }
            }
        }
        bytes
    }

    /// Whole elements in the first `bytes` bytes of the representation "external32"; at most all.
    pub fn external_elements_in(&self, bytes: u64) -> u64 {
        match &self.kind {
            Kind::Empty => 0,
            Kind::Run(element) => bytes / element.external_size().max(1),
            Kind::Repeat(_, inner) => {
                let (whole, rest) = (bytes / inner.external_size, bytes % inner.external_size);
                whole * inner.elements + inner.external_elements_in(rest)
            }
            Kind::Sequence(parts) => {
                let (mut rest, mut elements) = (bytes, 0);
                for part in parts.iter() {
                    if rest < part.external_size {
                        return elements + part.external_elements_in(rest);
                    }
                    elements += part.elements;
                    rest -= part.external_size;
                }
                elements
            }
        }
    }

    /// The first runs in words, such as `MPI_INT x 1, MPI_DOUBLE x 3`.
    pub fn text(&self, count: u64) -> String {
        const RUNS: usize = 8;
        let mut runs: Vec<(Element, u64)> = Vec::new();
        let whole = self.repeated(count);
        let cut = whole.for_each_run(&mut |element, count| {
            let full = runs.len() == RUNS;
            match runs.last_mut() {
                Some((last, sum)) if *last == element => *sum += count,
                _ if full => return ControlFlow::Break(()),
                _ => runs.push((element, count)),
            }
            ControlFlow::Continue(())
        });
        let mut words: Vec<String> = runs
            .iter()
            .map(|(element, count)| format!("{} x {count}", element.name))
            .collect();
        if cut.is_break() {
            words.push("...".to_owned());
        }
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: &Element = &Element {
        scalar: Scalar::I32,
        parts: 1,
        external: 4,
        name: "MPI_INT",
    };
    const DOUBLE: &Element = &Element {
        scalar: Scalar::F64,
        parts: 1,
        external: 8,
        name: "MPI_DOUBLE",
    };

    #[test]
    fn elements_and_bytes_are_inverse() {
        let pair = Signature::sequence([Signature::run(INT, 1), Signature::run(DOUBLE, 2)]);
        let all = Signature::sequence([pair.repeated(3), Signature::run(INT, 2)]).repeated(2);
        assert_eq!((all.size, all.elements), (2 * (60 + 8), 2 * 11));
        for elements in 0..50 {
            let bytes = all.bytes_of(elements).unwrap();
            assert_eq!(all.elements_in(bytes), Some(elements));
            assert_eq!(all.elements_in(bytes + 1), None);
        }
    }

    #[test]
    fn ranges_and_external_bytes() {
        const LONG: &Element = &Element {
            scalar: Scalar::I64,
            parts: 1,
            external: 4,
            name: "MPI_LONG",
        };
        let pair = Signature::sequence([Signature::run(LONG, 1), Signature::run(DOUBLE, 2)]);
        let all = Signature::sequence([pair.repeated(3), Signature::run(LONG, 2)]).repeated(2);
        let mut each = Vec::new();
        all.for_each_run_in(0, all.elements, &mut |element, count| {
            each.extend((0..count).map(|_| element));
        });
        assert_eq!(each.len() as u64, all.elements);
        for from in 0..=each.len() {
            let external: u64 = each[..from].iter().map(Element::external_size).sum();
            assert_eq!(all.external_bytes_of(from as u64), external);
            assert_eq!(all.external_elements_in(external), from as u64);
            if from > 0 {
                assert_eq!(all.external_elements_in(external - 1), from as u64 - 1);
            }
            for to in from..=each.len() {
                let mut part = Vec::new();
                all.for_each_run_in(from as u64, (to - from) as u64, &mut |element, count| {
                    part.extend((0..count).map(|_| element));
                });
                assert_eq!(part, each[from..to]);
            }
        }
    }

    #[test]
    fn equal_runs_are_joined() {
        let twice = Signature::sequence([Signature::run(INT, 1), Signature::run(INT, 3)]);
        assert_eq!(twice.text(2), "MPI_INT x 8");
        let mixed = Signature::sequence([Signature::run(INT, 1), Signature::run(DOUBLE, 1)]);
        assert_eq!(mixed.text(1), "MPI_INT x 1, MPI_DOUBLE x 1");
        assert!(mixed.text(1 << 40).ends_with(", ..."));
    }
}
