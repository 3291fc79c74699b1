//! The blocks of an indexed type: where each one lies and where it starts in the packed stream, in as few bytes as will do.
//!
//! A list is read once for each time the data is moved, so its bytes count beside those of the data: four a block where all
//! blocks are equally long, eight where 32 bits of units reach, sixteen else. Invariant: starts ascend strictly.

#[derive(Debug)]
pub(super) struct List {
    /// Displacements and starts are in units of 1, 2, 4 or 8 bytes: this is the shift.
    pub shift: u32,
    pub blocks: Blocks,
    /// Packed bytes of all.
    pub size: u64,
    /// Bytes of the longest block.
    pub longest: u64,
}

#[derive(Debug)]
pub(super) enum Blocks {
    /// All of the same length in bytes.
    Equal(u64, Vec<i32>),
    /// (displacement, start), and one more entry with the end.
    Narrow(Vec<(i32, u32)>),
    /// In bytes, whatever the shift says.
    Wide(Vec<(i64, u64)>),
}

/// Which elements an indexed type has.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub elements: u64,
    /// The lowest and the highest offset that an element counts from.
    pub lowest: i64,
    pub highest: i64,
}

impl Span {
    pub const EMPTY: Span = Span {
        elements: 0,
        lowest: i64::MAX,
        highest: i64::MIN,
    };
}

impl List {
    /// Of blocks (offset in units of `scale` bytes, number of elements) of a type of `extent` bytes without holes; also where
    /// the first one lies. In one pass without branches, so `None` if there is anything particular about the blocks: empty
    /// ones, some that touch, distances that need 64 bits.
    pub fn plain(
        blocks: impl ExactSizeIterator<Item = (i64, i64)> + Clone,
        scale: i64,
        extent: u64,
    ) -> Option<(Span, i64, List)> {
        const MOST: u64 = 1 << 31;
        if scale.unsigned_abs() > MOST || extent > MOST {
            return None;
        }
        let first = blocks.clone().next()?.0.checked_mul(scale)?;
        let shift = extent.trailing_zeros().min(3);
        let (mut lowest, mut highest, mut end) = (0, 0, i64::MIN);
        let (mut size, mut longest, mut shortest) = (0u64, 0, u64::MAX);
        let (mut low_bits, mut far) = (0, 0);
        let mut particular = false;
        let mut list = Vec::with_capacity(blocks.len() + 1);
        list.extend(blocks.map(|(offset, length)| {
            far |= (offset ^ (offset >> 63)) | length;
            let at = offset.wrapping_mul(scale).wrapping_sub(first);
            let bytes = (length as u64).wrapping_mul(extent);
            particular |= (at == end) | (length == 0);
            low_bits |= at;
            longest = longest.max(bytes);
            shortest = shortest.min(bytes);
            let block = ((at >> shift) as i32, (size >> shift) as u32);
            end = at.wrapping_add(bytes as i64);
            lowest = lowest.min(at);
            highest = highest.max(end);
            size = size.wrapping_add(bytes);
            block
        }));
        // Below these limits nothing has wrapped.
        let reach = |at: i64| (at >> shift) == (at >> shift) as i32 as i64;
        let fits = far < MOST as i64
            && reach(lowest)
            && reach(highest)
            && size >> shift <= u32::MAX.into()
            && longest.checked_mul(list.len() as u64).is_some();
        if particular || !fits || low_bits & ((1 << shift) - 1) != 0 {
            return None;
        }
        let span = Span {
            elements: size / extent,
            lowest: lowest + first,
            highest: highest + first - extent as i64,
        };
        let list = ListBuilder {
            shift,
            blocks: Blocks::Narrow(list),
            size,
            longest,
            shortest,
        };
        Some((span, first, list.finish()))
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        match &self.blocks {
            Blocks::Equal(_, blocks) => blocks.len(),
            Blocks::Narrow(blocks) => blocks.len() - 1,
            Blocks::Wide(blocks) => blocks.len() - 1,
        }
    }

    /// Displacement of a block in bytes.
    #[inline]
    pub fn at(&self, block: usize) -> i64 {
        match &self.blocks {
            Blocks::Equal(_, blocks) => (blocks[block] as i64) << self.shift,
            Blocks::Narrow(blocks) => (blocks[block].0 as i64) << self.shift,
            Blocks::Wide(blocks) => blocks[block].0,
        }
    }

    /// Where a block's first byte is in the packed stream; the end for the number behind the last block.
    #[inline]
    pub fn start(&self, block: usize) -> u64 {
        match &self.blocks {
            Blocks::Equal(length, _) => length * block as u64,
            Blocks::Narrow(blocks) => (blocks[block].1 as u64) << self.shift,
            Blocks::Wide(blocks) => blocks[block].1,
        }
    }

    /// The block that has this packed byte, which must be one of the list's.
    #[inline]
    pub fn find(&self, byte: u64) -> usize {
        match &self.blocks {
            Blocks::Equal(length, _) => (byte / length) as usize,
            Blocks::Narrow(blocks) => {
                let unit = (byte >> self.shift) as u32;
                blocks.partition_point(|block| block.1 <= unit) - 1
            }
            Blocks::Wide(blocks) => blocks.partition_point(|block| block.1 <= byte) - 1,
        }
    }

    /// Where the list is regular (equal lengths and distances) in pieces of at least `least` blocks on average, those: the
    /// number of the first block of each, and the number of blocks at the end. A long list that begins with a thousand
    /// shorter pieces is not looked at further.
    pub fn regular_pieces(&self, least: usize) -> Option<Vec<usize>> {
        let blocks = self.len();
        let most = blocks / least;
        let mut firsts = vec![0];
        let mut first = 0;
        let length = |block: usize| self.start(block + 1) - self.start(block);
        for block in 1..blocks {
            let spacing = self.at(first + 1).wrapping_sub(self.at(first));
            let here = self.at(block).wrapping_sub(self.at(block - 1));
            if here != spacing || length(block) != length(first) {
                firsts.push(block);
                first = block;
                let pieces = firsts.len();
                if pieces > most || pieces > 1024 && pieces * 2 > block {
                    return None;
                }
            }
        }
        if firsts.len() > most {
            return None;
        }
        firsts.push(blocks);
        Some(firsts)
    }
}

/// Collects blocks; the first one lies at 0.
pub(super) struct ListBuilder {
    shift: u32,
    blocks: Blocks,
    size: u64,
    longest: u64,
    shortest: u64,
}

impl ListBuilder {
    /// For blocks whose lengths are multiples of `unit` bytes.
    pub fn new(unit: u64, capacity: usize) -> ListBuilder {
        ListBuilder {
            shift: unit.trailing_zeros().min(3),
            blocks: Blocks::Narrow(Vec::with_capacity(capacity + 1)),
            size: 0,
            longest: 0,
            shortest: u64::MAX,
        }
    }

    /// Adds a block behind those before it. Sizes that the caller refuses later may wrap here.
    #[inline]
    pub fn push(&mut self, at: i64, bytes: u64) {
        if let Blocks::Narrow(blocks) = &mut self.blocks {
            let unit = at >> self.shift;
            let end = self.size.wrapping_add(bytes) >> self.shift;
            if unit << self.shift == at && unit == unit as i32 as i64 && end <= u32::MAX as u64 {
                blocks.push((unit as i32, (self.size >> self.shift) as u32));
                self.add(bytes);
                return;
            }
        }
        self.push_wide(at, bytes);
    }

    #[cold]
    fn push_wide(&mut self, at: i64, bytes: u64) {
        if let Blocks::Narrow(blocks) = &self.blocks {
            let widen = |(at, start): &(i32, u32)| {
                ((*at as i64) << self.shift, (*start as u64) << self.shift)
            };
            let mut wide = Vec::with_capacity(blocks.capacity());
            wide.extend(blocks.iter().map(widen));
            self.blocks = Blocks::Wide(wide);
        }
        if let Blocks::Wide(blocks) = &mut self.blocks {
            blocks.push((at, self.size));
        }
        self.add(bytes);
    }

    #[inline]
    fn add(&mut self, bytes: u64) {
        self.size = self.size.wrapping_add(bytes);
        self.longest = self.longest.max(bytes);
        self.shortest = self.shortest.min(bytes);
    }

    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    pub fn finish(self) -> List {
        let ListBuilder {
            shift,
            mut blocks,
            size,
            longest,
            shortest,
        } = self;
        match &mut blocks {
            Blocks::Narrow(list) if shortest == longest => {
                blocks = Blocks::Equal(longest, list.iter().map(|block| block.0).collect());
            }
            Blocks::Narrow(list) => list.push((0, (size >> shift) as u32)),
            Blocks::Wide(list) => list.push((0, size)),
            Blocks::Equal(..) => {}
        }
        List {
            shift,
            blocks,
            size,
            longest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(blocks: &[(i64, u64)], unit: u64) -> List {
        let mut builder = ListBuilder::new(unit, 0);
        blocks
            .iter()
            .for_each(|(at, bytes)| builder.push(*at, *bytes));
        builder.finish()
    }

    #[test]
    fn each_kind_says_the_same() {
        let far = 1 << 40;
        let equal: &[(i64, u64)] = &[(0, 12), (40, 12), (-8, 12)];
        let mixed: &[(i64, u64)] = &[(0, 8), (40, 24), (-8, 4)];
        let odd: &[(i64, u64)] = &[(0, 8), (41, 24), (-8, 4)];
        let wide: &[(i64, u64)] = &[(0, 8), (far, 24), (-8, 4)];
        for (blocks, kind) in [(equal, 0), (mixed, 1), (odd, 2), (wide, 2)] {
            let list = list(blocks, 4);
            let found = match &list.blocks {
                Blocks::Equal(..) => 0,
                Blocks::Narrow(_) => 1,
                Blocks::Wide(_) => 2,
            };
            assert_eq!(found, kind);
            assert_eq!(list.len(), 3);
            let mut start = 0;
            for (index, (at, bytes)) in blocks.iter().enumerate() {
                assert_eq!((list.at(index), list.start(index)), (*at, start));
                for byte in start..start + bytes {
                    assert_eq!(list.find(byte), index);
                }
                start += bytes;
            }
            assert_eq!((list.start(3), list.size), (start, start));
        }
    }

    #[test]
    fn plain_lists_are_those_of_the_general_way() {
        let plain = |blocks: &[(i64, i64)], scale, extent| {
            List::plain(blocks.iter().copied(), scale, extent)
        };
        let (span, first, made) = plain(&[(5, 2), (9, 1), (2, 3)], 8, 8).unwrap();
        assert_eq!((span.elements, span.lowest, span.highest), (6, 16, 72));
        assert_eq!((first, made.size, made.longest), (40, 48, 24));
        let general = list(&[(0, 16), (32, 8), (-24, 24)], 8);
        for block in 0..3 {
            assert_eq!(made.at(block), general.at(block));
            assert_eq!(made.start(block), general.start(block));
        }
        let (_, _, equal) = plain(&[(7, 2), (9, 2)], 3, 1).unwrap();
        assert!(matches!(&equal.blocks, Blocks::Equal(2, offsets) if offsets[..] == [0, 6]));
        for (particular, scale, extent) in [
            (&[][..], 8, 8),
            (&[(0, 1), (4, 0)], 8, 8),            // an empty block
            (&[(0, 1), (1, 1)], 8, 8),            // blocks that touch
            (&[(0, 1), (9, 1)], 1, 8),            // between two units
            (&[(0, 1), (1 << 30, 1)], 1 << 6, 8), // beyond 32 bits of units
            (&[(0, 1), (1 << 40, 1)], 8, 8),
            (&[(0, 1), (9, 1 << 40)], 8, 8),
            (&[(0, 1 << 30), (1 << 30, 1 << 30)], 1 << 8, 8),
            (&[(0, 1), (9, 1)], 1 << 40, 8),
        ] {
            assert!(plain(particular, scale, extent).is_none(), "{particular:?}");
        }
    }

    #[test]
    fn regular_pieces_are_found() {
        let mut blocks: Vec<(i64, u64)> = (0..10).map(|index| (index * 16, 8)).collect();
        blocks.extend((0..10).map(|index| (1000 + index * 24, 8)));
        assert_eq!(list(&blocks, 8).regular_pieces(5), Some(vec![0, 10, 20]));
        assert_eq!(list(&blocks, 8).regular_pieces(11), None);
        blocks.push((5000, 16));
        assert_eq!(
            list(&blocks, 8).regular_pieces(5),
            Some(vec![0, 10, 20, 21])
        );
    }
}
