//! What buffers read and write, against the positions of every packed byte.

use super::super::{Category, Contents, INT, Layout, get, predefined};
use super::*;
use crate::sync::keep::keep;

/// The positions in memory of the packed bytes, one by one.
fn positions(datatype: &Datatype, count: usize) -> Vec<usize> {
    let mut positions = Vec::new();
    for element in 0..count {
        let start = element * datatype.extent as usize;
        let first = match (datatype.category, datatype.scalars) {
            (Category::Pair, [first, _]) => first.size(),
            _ => datatype.size as usize,
        };
        let second = datatype.size as usize - first;
        positions.extend(start..start + first);
        let end = start + datatype.true_extent as usize;
        positions.extend(end - second..end);
    }
    positions
}

#[test]
fn streaming_packs_what_reading_packs() {
    let datatype = get(0x8c00_0003_u32 as i32).unwrap(); // MPI_SHORT_INT
    let mut memory: Vec<u8> = (0..8 * 2000_u32).map(|byte| (byte * 13) as u8).collect();
    // SAFETY: the vector holds 2000 elements and is used through the buffer only.
    let buffer = unsafe { Buffer::new(memory.as_mut_ptr(), 2000, datatype) };
    for (offset, length) in [(0, 12_000), (1, 11_999), (5, 4096), (7, 100), (3, 5000)] {
        let (mut nontemporal, mut read) = (vec![0; length], vec![0; length]);
        buffer.read_nontemporal(offset, &mut nontemporal);
        crate::datatype::nontemporal::fence();
        buffer.read(offset, &mut read);
        assert_eq!(nontemporal, read, "{length} bytes at {offset}");
    }
}

/// Blocks of the user's memory: (displacement, bytes).
fn moves_exactly(layout: &Layout, blocks: &[(usize, usize)], what: &str) {
    let datatype = keep(Datatype::derived(0, layout.clone(), Contents::named()));
    let end = blocks.iter().map(|(at, bytes)| at + bytes).max().unwrap();
    let places: Vec<usize> = (blocks.iter().flat_map(|(at, bytes)| *at..at + bytes)).collect();
    let mut memory: Vec<u8> = (0..end).map(|at| (at * 7 + at / 251) as u8).collect();
    let expected: Vec<u8> = places.iter().map(|at| memory[*at]).collect();
    // Memory of exactly the size of the data: nothing outside is to be read or written.
    let mut packed = vec![0xee; places.len()];
    in_memory(&mut memory, 0, 1, datatype).read(0, &mut packed);
    assert!(packed == expected, "packing {what}");
    memory.fill(0xee);
    let mut wanted = memory.clone();
    (places.iter().zip(&expected)).for_each(|(at, byte)| wanted[*at] = *byte);
    let buffer = in_memory(&mut memory, 0, 1, datatype);
    buffer.write(0, &expected);
    if let Some((first, bytes, stride)) = buffer.stripes() {
        let first = first.addr() - memory.as_ptr().addr();
        let stripe = |number| first.wrapping_add_signed(number as isize * stride);
        let found = (0..places.len() / bytes).flat_map(|it| stripe(it)..stripe(it) + bytes);
        assert!(found.eq(places), "stripes of {what}");
    }
    assert!(memory == wanted, "unpacking {what}");
}

#[test]
fn blocks_of_every_length_at_every_level() {
    let byte = get(super::super::BYTE).unwrap().layout();
    for kernels in 0..level::Kernels::ALL.len() {
        use_kernels(kernels);
        for bytes in (1..=140).step_by(if cfg!(miri) { 31 } else { 1 }) {
            for (count, gap) in [(2, 1), (3, 5), (4, 8), (7, bytes), (33, 3), (6, 600)] {
                let strided = |stride: usize| -> Vec<_> {
                    (0..count).map(|block| (block * stride, bytes)).collect()
                };
                let stride = bytes + gap;
                let layout = Layout::strided(count as u64, bytes as u64, stride as i128, byte);
                let what = format!("{count} x {bytes} of {stride} at level {kernels}");
                moves_exactly(&layout.unwrap(), &strided(stride), &what);
                // Of mixed lengths, and of equal ones at mixed distances.
                let mut at = 0;
                let mut next = |length: usize, gap: usize| {
                    let block = (at, length);
                    at += length + gap;
                    block
                };
                let blocks: Vec<_> = (0..count)
                    .map(|block| next(1 + (bytes * (block + 3)) % 140, 1 + gap % (block + 2)))
                    .collect();
                moves_exactly(
                    &listed(&blocks, byte),
                    &blocks,
                    &format!("{blocks:?}, {kernels}"),
                );
                at = 0;
                let mut next = |gap: usize| {
                    let block = (at, bytes);
                    at += bytes + gap;
                    block
                };
                let blocks: Vec<_> = (0..count).map(|block| next(1 + block * gap % 7)).collect();
                moves_exactly(
                    &listed(&blocks, byte),
                    &blocks,
                    &format!("{blocks:?}, {kernels}"),
                );
            }
        }
    }
    use_kernels(level::Kernels::ALL.len() - 1);
}

fn listed(blocks: &[(usize, usize)], byte: &Layout) -> Layout {
    let blocks: Vec<(i64, i64)> =
        (blocks.iter().map(|(at, bytes)| (*at as i64, *bytes as i64))).collect();
    super::super::layout::tests::of(&blocks, byte).unwrap()
}

#[test]
fn every_piece_of_every_type() {
    for datatype in predefined::all() {
        let count = if cfg!(miri) { 2 } else { 3 };
        let mut memory: Vec<u8> = (0..count * datatype.extent as usize)
            .map(|byte| byte as u8)
            .collect();
        let positions = positions(datatype, count);
        // SAFETY: the vector holds `count` elements and is used through the buffer only.
        let buffer = unsafe { Buffer::new(memory.as_mut_ptr(), count as u64, datatype) };
        assert_eq!(buffer.len(), positions.len());
        // Miri takes a millisecond for each.
        let step = if cfg!(miri) {
            1 + positions.len() / 5
        } else {
            1
        };
        for start in (0..=positions.len()).step_by(step) {
            for end in (start..=positions.len()).step_by(step) {
                let mut out = vec![0; end - start];
                buffer.read(start, &mut out);
                let expected: Vec<u8> = positions[start..end]
                    .iter()
                    .map(|position| *position as u8)
                    .collect();
                assert_eq!(out, expected);
            }
        }
    }
}

#[test]
fn writing_leaves_the_holes_alone() {
    let datatype = get(0x8c00_0003_u32 as i32).unwrap(); // MPI_SHORT_INT
    let mut memory = [0xee_u8; 24];
    // SAFETY: room for three elements, used through the buffer only.
    let buffer = unsafe { Buffer::new(memory.as_mut_ptr(), 3, datatype) };
    assert!(buffer.contiguous().is_none());
    let data: Vec<u8> = (1..=18).collect();
    for (start, piece) in data.chunks(5).enumerate() {
        buffer.write(start * 5, piece);
    }
    let mut expected = [0xee_u8; 24];
    for (value, position) in data.iter().zip(positions(datatype, 3)) {
        expected[position] = *value;
    }
    assert_eq!(memory, expected);
}

#[test]
fn parts_of_arrays_that_are_one_run() {
    let int = get(INT).unwrap();
    let row = Layout::indexed_at(8, 3, int.layout());
    let part = |lb, extent| {
        let layout = Layout::resized(lb, extent, &row).unwrap();
        keep(Datatype::derived(0, layout, Contents::named()))
    };
    let mut memory: Vec<i32> = (0..40).collect();
    let address = memory.as_mut_ptr().cast::<u8>();
    for (datatype, count, one) in [
        (part(0, 40), 1, true),
        (part(0, 40), 2, false),
        (part(-4, 12), 3, true), // one after the other, whatever the bounds
        (part(0, -12), 1, true),
        (part(0, 40), 0, true),
    ] {
        // SAFETY: the vector holds these elements and is used through the buffer only.
        let buffer = unsafe { Buffer::new(address, count, datatype) };
        let expected = (one && count > 0).then(|| address.wrapping_add(8));
        assert_eq!(buffer.contiguous().filter(|_| count > 0), expected);
        let mut packed = vec![0; buffer.len()];
        buffer.read(0, &mut packed);
        let starts = (0..count as i64).map(|index| 2 + index * datatype.extent / 4);
        let expected = starts.flat_map(|start| start as i32..start as i32 + 3);
        let expected: Vec<u8> = expected.flat_map(i32::to_ne_bytes).collect();
        assert_eq!(packed, expected);
    }
}

#[test]
fn contiguous_data_is_where_it_is() {
    let mut memory = [1_i32, 2, 3];
    let address = memory.as_mut_ptr().cast();
    // SAFETY: three ints, used through the buffer only.
    let buffer = unsafe { Buffer::new(address, 3, get(INT).unwrap()) };
    assert_eq!(buffer.contiguous(), Some(address));
    buffer.write(4, &7_i32.to_ne_bytes());
    assert_eq!(memory, [1, 7, 3]);
    assert!(Buffer::empty().is_empty());
    Buffer::empty().read(0, &mut []);
}

#[test]
#[should_panic(expected = "5 bytes at 8 of a buffer of 12")]
fn out_of_bounds_is_refused() {
    let mut memory = [0_u8; 12];
    // SAFETY: twelve bytes, used through the buffer only.
    let buffer = unsafe { Buffer::bytes(memory.as_mut_ptr(), 12) };
    buffer.read(8, &mut [0; 5]);
}
