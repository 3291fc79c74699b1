//! Offers as they travel: 32-bit words, and how those of two members are combined.

/// Combines two offers of the same kind: the first word is the larger one, of the others common bits stay.
pub fn combine(into: &mut [u32], other: &[u32]) {
    for (at, (into, other)) in into.iter_mut().zip(other).enumerate() {
        *into = if at == 0 {
            (*into).max(*other)
        } else {
            *into & *other
        };
    }
}

/// What messages carry: 32-bit words.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

pub fn bytes(words: impl IntoIterator<Item = u32>) -> Box<[u8]> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
