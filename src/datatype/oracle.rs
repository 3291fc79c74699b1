//! Everything that the engine says and moves, against a walker that knows types as lists of single bytes.
//!
//! Random trees of all constructors; the walker follows the standard's definitions word by word. Where a type names a byte
//! twice, nothing may be received into it (the standard), so only packing is compared.

use super::external::{self, Part};
use super::layout::{Blocks, Layout, Lengths, Member};
use super::{Buffer, Contents, Datatype, Element, NULL, Numbers, Scalar, get};
use crate::sync::keep::keep;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Tree {
    Basic(u32),
    Contiguous(u64, Box<Tree>),
    Strided(u64, u64, i64, Box<Tree>),
    Indexed(Vec<(i64, u64)>, Box<Tree>),
    Struct(Vec<(i64, u64, Tree)>),
    Resized(i64, i64, Box<Tree>),
}

/// A type map. Bounds are kept as all the offsets that vote for them.
#[derive(Clone, Default)]
struct Map {
    entries: Vec<(i64, Element)>,
    soft: Vec<(i64, i64)>,
    lower: Vec<i64>,
    upper: Vec<i64>,
    alignment: i64,
}

impl Map {
    fn lb(&self) -> i64 {
        let soft = self.soft.iter().map(|(lower, _)| *lower).min();
        let lower = self.lower.iter().copied().min().or(soft);
        lower.or(self.upper.iter().copied().max()).unwrap_or(0)
    }

    fn ub(&self) -> i64 {
        let soft = self.soft.iter().map(|(_, upper)| *upper).max();
        let upper = self.upper.iter().copied().max().or(soft);
        upper.or(self.lower.iter().copied().min()).unwrap_or(0)
    }

    fn extent(&self) -> i64 {
        self.ub() - self.lb()
    }

    fn add(&mut self, at: i64, count: u64, other: &Map) {
        for index in 0..count as i64 {
            let at = at + index * other.extent();
            self.entries.extend(
                other
                    .entries
                    .iter()
                    .map(|(offset, element)| (offset + at, *element)),
            );
            self.soft.extend(
                other
                    .soft
                    .iter()
                    .map(|(lower, upper)| (lower + at, upper + at)),
            );
            self.lower
                .extend(other.lower.iter().map(|offset| offset + at));
            self.upper
                .extend(other.upper.iter().map(|offset| offset + at));
        }
        if count > 0 {
            self.alignment = self.alignment.max(other.alignment);
        }
    }

    /// The offsets of the packed bytes of `count` elements.
    fn offsets(&self, count: u64) -> Vec<i64> {
        let mut offsets = Vec::new();
        for index in 0..count as i64 {
            for (at, element) in &self.entries {
                let at = at + index * self.extent();
                offsets.extend(at..at + element.size() as i64);
            }
        }
        offsets
    }
}

impl Tree {
    fn map(&self) -> Map {
        let mut map = Map {
            alignment: 1,
            ..Map::default()
        };
        match self {
            Tree::Basic(handle) => {
                let datatype = get(*handle as i32).unwrap();
                map.entries = super::predefined::elements(datatype);
                let alignment = map.entries.iter().map(|(_, element)| element.scalar.size());
                map.alignment = alignment.max().unwrap_or(1) as i64;
                match *handle {
                    0x4c00_0010 => map.lower = vec![0],
                    0x4c00_0011 => map.upper = vec![0],
                    _ => map.soft = vec![(0, datatype.extent)],
                }
            }
            Tree::Contiguous(count, child) => map.add(0, *count, &child.map()),
            Tree::Strided(count, blocklength, stride, child) => {
                let child = child.map();
                for index in 0..*count as i64 {
                    map.add(index * stride, *blocklength, &child);
                }
            }
            Tree::Indexed(blocks, child) => {
                let child = child.map();
                for (at, blocklength) in blocks {
                    map.add(*at, *blocklength, &child);
                }
            }
            Tree::Struct(members) => {
                for (at, blocklength, child) in members {
                    map.add(*at, *blocklength, &child.map());
                }
                if map.upper.is_empty() && !map.soft.is_empty() {
                    let mut ub = map.ub();
                    while (ub - map.lb()) % map.alignment != 0 {
                        ub += 1;
                    }
                    let lower = map.soft[0].0.max(map.lb());
                    map.soft.push((lower, ub));
                }
            }
            Tree::Resized(lb, extent, child) => {
                let child = child.map();
                map.entries = child.entries;
                map.alignment = child.alignment;
                map.lower = vec![*lb];
                map.upper = vec![lb + extent];
            }
        }
        map
    }

    fn layout(&self) -> Layout {
        match self {
            Tree::Basic(handle) => get(*handle as i32).unwrap().layout().clone(),
            Tree::Contiguous(count, child) => Layout::contiguous(*count, &child.layout()).unwrap(),
            Tree::Strided(count, blocklength, stride, child) => {
                Layout::strided(*count, *blocklength, *stride as i128, &child.layout()).unwrap()
            }
            Tree::Indexed(blocks, child) => {
                let offsets: Vec<i64> = blocks.iter().map(|block| block.0).collect();
                let lengths: Vec<i64> = blocks.iter().map(|block| block.1 as i64).collect();
                let blocks = Blocks {
                    lengths: Lengths::Each(Numbers::Large(&lengths)),
                    offsets: Numbers::Large(&offsets),
                    scale: 1,
                };
                Layout::indexed(&blocks, &child.layout()).unwrap()
            }
            Tree::Struct(members) => {
                let layouts: Vec<Layout> =
                    members.iter().map(|(_, _, tree)| tree.layout()).collect();
                let members = members
                    .iter()
                    .zip(&layouts)
                    .map(|((at, blocklength, _), layout)| Member {
                        displacement: *at,
                        blocklength: *blocklength,
                        layout,
                    });
                Layout::structure(&members.collect::<Vec<_>>()).unwrap()
            }
            Tree::Resized(lb, extent, child) => {
                Layout::resized(*lb, *extent, &child.layout()).unwrap()
            }
        }
    }
}

/// Basic types of every size, pairs with holes, the old markers.
fn basic() -> impl Strategy<Value = Tree> {
    let handles = [
        0x4c00_0101_u32,
        0x4c00_0203,
        0x4c00_0405,
        0x4c00_040a,
        0x4c00_0807,
        0x4c00_080b,
        0x4c00_080b,
        0x4c00_100c,
        0x4c00_1041,
        0x4c00_2042,
        0x8c00_0001,
        0x8c00_0003,
        0x8c00_0004,
        0x4c00_0010,
        0x4c00_0011,
        0x4c00_040e,
        0x4c00_0405,
    ];
    prop::sample::select(handles.to_vec()).prop_map(Tree::Basic)
}

fn tree() -> impl Strategy<Value = Tree> {
    basic().prop_recursive(6, 24, 4, |inner| {
        let child = inner.clone().prop_map(Box::new);
        let count = || prop_oneof![4 => 0..4_u64, 1 => 0..40_u64];
        let stride =
            || prop_oneof![3 => -64..64_i64, 1 => (-4..20_i64).prop_map(|n| n * 8), 1 => Just(0)];
        let blocks = prop::collection::vec((stride(), count()), 0..6);
        let members = prop::collection::vec((stride(), 0..3_u64, inner.clone()), 0..4);
        // Growing displacements, which more often name no byte twice.
        let ascending = prop::collection::vec((0..40_i64, 0..4_u64), 0..8).prop_map(|steps| {
            let mut at = 0;
            let offset = |(step, count): (i64, u64)| {
                at += step + 8;
                (at, count)
            };
            steps.into_iter().map(offset).collect::<Vec<_>>()
        });
        prop_oneof![
            (count(), child.clone()).prop_map(|(count, child)| Tree::Contiguous(count, child)),
            (count(), 0..4_u64, stride(), child.clone()).prop_map(
                |(count, length, stride, child)| { Tree::Strided(count, length, stride, child) }
            ),
            (blocks, child.clone()).prop_map(|(blocks, child)| Tree::Indexed(blocks, child)),
            (ascending, child.clone()).prop_map(|(blocks, child)| Tree::Indexed(blocks, child)),
            members.clone().prop_map(Tree::Struct),
            members.prop_map(in_order),
            (
                -32..32_i64,
                prop_oneof![1 => -100..200_i64, 2 => 0..64_i64],
                child
            )
                .prop_map(|(lb, extent, child)| Tree::Resized(lb, extent, child)),
        ]
    })
}

/// A struct as a C compiler lays it out, more or less.
fn in_order(members: Vec<(i64, u64, Tree)>) -> Tree {
    let mut at = 0;
    let offset = |(gap, count, child): (i64, u64, Tree)| {
        let map = child.map();
        let here = at - map.lb() + gap.rem_euclid(8);
        at = here + map.extent().max(0) * count as i64;
        (here, count, child)
    };
    Tree::Struct(members.into_iter().map(offset).collect())
}

const MOST_BYTES: usize = 6000;

struct Case {
    map: Map,
    offsets: Vec<i64>,
    /// The lowest and the highest offset.
    from: i64,
    to: i64,
    buffer_type: &'static Datatype,
    count: u64,
}

impl Case {
    /// `None` if it would take too long.
    fn new(tree: &Tree, count: u64) -> Option<Case> {
        if tree.weight() > MOST_BYTES as u64 {
            return None;
        }
        let map = tree.map();
        if map.entries.len() * count as usize * 8 > MOST_BYTES {
            return None;
        }
        let datatype = keep(Datatype::derived(NULL, tree.layout(), Contents::named()));
        datatype.commit();
        let offsets = map.offsets(count);
        let from = offsets.iter().copied().min().unwrap_or(0);
        let to = offsets.iter().copied().max().unwrap_or(0) + 1;
        ((to - from) < 1 << 22).then_some(Case {
            map,
            offsets,
            from,
            to,
            buffer_type: datatype,
            count,
        })
    }

    fn memory(&self) -> Vec<u8> {
        let size = (self.to - self.from) as usize;
        (0..size as u64)
            .map(|at| ((at * 0x9e37_79b9) >> 7) as u8)
            .collect()
    }

    fn buffer(&self, memory: &mut [u8]) -> Buffer {
        super::pack::in_memory(memory, -self.from as isize, self.count, self.buffer_type)
    }

    fn packed(&self, memory: &[u8]) -> Vec<u8> {
        self.offsets
            .iter()
            .map(|offset| memory[(offset - self.from) as usize])
            .collect()
    }

    fn names_a_byte_twice(&self) -> bool {
        let mut offsets = self.offsets.clone();
        offsets.sort_unstable();
        offsets.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn unpacked(&self, packed: &[u8], memory: &mut [u8]) {
        for (byte, offset) in packed.iter().zip(&self.offsets) {
            memory[(offset - self.from) as usize] = *byte;
        }
    }
}

impl Tree {
    /// An upper bound of the work to expand it.
    fn weight(&self) -> u64 {
        match self {
            Tree::Basic(_) => 1,
            Tree::Contiguous(count, child) => 1 + count * child.weight(),
            Tree::Strided(count, length, _, child) => 1 + count * length * child.weight(),
            Tree::Indexed(blocks, child) => {
                1 + blocks.iter().map(|(_, length)| length).sum::<u64>() * child.weight()
            }
            Tree::Struct(members) => {
                1 + members
                    .iter()
                    .map(|(_, length, child)| length * child.weight())
                    .sum::<u64>()
            }
            Tree::Resized(_, _, child) => 1 + child.weight(),
        }
    }
}

/// Cuts 0..length at offsets made from a number.
fn pieces(length: usize, mut seed: u64) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < length {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let most = [3, 17, 80, 700][(seed >> 60) as usize % 4];
        let to = (from + 1 + (seed >> 33) as usize % most).min(length);
        pieces.push((from, to));
        from = to;
    }
    pieces
}

fn check(tree: &Tree, count: u64, other: &Tree, other_count: u64, seed: u64) {
    let Some(case) = Case::new(tree, count) else {
        return;
    };
    let (map, datatype) = (&case.map, case.buffer_type);
    assert_eq!(datatype.lb, map.lb());
    assert_eq!(datatype.extent, map.extent());
    let one = map.offsets(1);
    let ends = one.iter().copied().min().zip(one.iter().copied().max());
    let (true_lb, true_extent) = ends.map_or((0, 0), |(from, to)| (from, to + 1 - from));
    assert_eq!(
        (datatype.true_lb, datatype.true_extent),
        (true_lb, true_extent)
    );
    assert_eq!(datatype.size as usize, one.len());
    let signature = datatype.layout().signature.repeated(count);
    assert_eq!(signature.elements, map.entries.len() as u64 * count);

    // All kinds of kernels; another test may change it meanwhile, which is no matter.
    super::pack::use_kernels((seed % 4) as usize);
    let mut memory = case.memory();
    let expected = case.packed(&memory);
    let buffer = case.buffer(&mut memory);
    assert_eq!(buffer.len(), expected.len());
    let mut packed = vec![0xee; expected.len()];
    buffer.read(0, &mut packed);
    assert_eq!(packed, expected);
    packed.fill(0xee);
    for (from, to) in pieces(packed.len(), seed) {
        buffer.read(from, &mut packed[from..to]);
    }
    assert_eq!(packed, expected);
    for (from, to) in pieces(packed.len(), seed ^ 99).into_iter().step_by(3) {
        let mut offsets = Vec::new();
        buffer.runs(from, to - from, |address, bytes| {
            let at = address as i64 - memory.as_ptr() as i64 + case.from;
            offsets.extend(at..at + bytes as i64);
            true
        });
        assert_eq!(offsets, case.offsets[from..to]);
    }
    external_representation(&case, &signature, &buffer, &expected);
    if case.names_a_byte_twice() {
        return;
    }

    let mut filled = vec![0xee; memory.len()];
    case.unpacked(&expected, &mut filled);
    let mut target = vec![0xee; memory.len()];
    case.buffer(&mut target).write(0, &expected);
    assert_eq!(target, filled);
    target.fill(0xee);
    let into = case.buffer(&mut target);
    let mut pieces = pieces(expected.len(), seed ^ 7);
    if seed.is_multiple_of(2) {
        pieces.reverse();
    }
    for (from, to) in pieces {
        into.write(from, &expected[from..to]);
    }
    assert_eq!(target, filled);

    // To and from another type.
    let Some(source) = Case::new(other, other_count) else {
        return;
    };
    let mut memory = source.memory();
    let data = source.packed(&memory);
    let length = data.len().min(expected.len());
    filled.fill(0xee);
    case.unpacked(&data[..length], &mut filled);
    target.fill(0xee);
    source
        .buffer(&mut memory)
        .copy_to(&case.buffer(&mut target), length);
    assert_eq!(target, filled);
}

fn external_representation(
    case: &Case,
    signature: &super::Signature,
    buffer: &Buffer,
    native: &[u8],
) {
    let elements = (0..case.count).flat_map(|_| &case.map.entries);
    let mut expected = Vec::new();
    let mut at = 0;
    let mut exact = true;
    for (_, element) in elements {
        for _ in 0..element.parts {
            let size = element.scalar.size();
            let bytes = &native[at..at + size];
            at += size;
            if element.scalar == Scalar::LongDouble {
                let low = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as u128;
                expected.extend_from_slice(&[bytes[9], bytes[8]]);
                expected
                    .extend_from_slice(&((low << 1 & u64::MAX as u128) << 64).to_be_bytes()[..14]);
                exact = false;
            } else {
                expected.extend(bytes[..element.external as usize].iter().rev());
                exact &= element.external as usize == size;
            }
        }
    }
    let mut external = vec![0; expected.len()];
    external::pack(&Part::whole(buffer, signature), &mut external);
    assert_eq!(external, expected);
    for share in 1..4 {
        let (all, cut) = (signature.elements, signature.elements * share / 4);
        let (first, second) = external.split_at_mut(signature.external_bytes_of(cut) as usize);
        for (from, to, piece) in [(0, cut, first), (cut, all, second)] {
            piece.fill(0);
            external::pack(&Part::new(buffer, signature, from, to - from), piece);
        }
        assert_eq!(external, expected);
    }
    if exact && !case.names_a_byte_twice() {
        let mut memory = vec![0; (case.to - case.from) as usize];
        let (buffer, cut) = (case.buffer(&mut memory), signature.elements / 3);
        let (first, second) = external.split_at(signature.external_bytes_of(cut) as usize);
        let rest = Part::new(&buffer, signature, cut, signature.elements - cut);
        external::unpack(second, &rest);
        external::unpack(first, &Part::new(&buffer, signature, 0, cut));
        assert_eq!(case.packed(&memory), native);
    }
}

fn run(cases: u32) {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(tree in tree(), count in 0..5_u64, other in tree(), times in 0..5_u64, seed: u64)| {
        check(&tree, count, &other, times, seed);
    });
}

#[test]
fn random_trees() {
    run(if cfg!(miri) { 2 } else { 4000 });
}

#[test]
#[ignore = "the long version of random_trees: make check-long"]
fn a_hundred_thousand_random_trees() {
    run(100_000);
}
