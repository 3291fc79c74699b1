//! How a group keeps its members: as patterns of a few bytes, as a bitmap, or one by one.
//!
//! Invariant: the shape follows from the sequence of members alone ([`Builder`]), so that equal groups have equal
//! shapes. A member takes at most 8 bytes. Translation takes constant or logarithmic time in all of them.

use std::sync::OnceLock;

/// World ranks `first, first + stride, ...`. A stride is never zero, and 1 where there is no second member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub first: u32,
    pub count: u32,
    pub stride: i64,
}

impl Piece {
    #[inline(always)]
    pub fn member(&self, rank: u32) -> u32 {
        (i64::from(self.first) + i64::from(rank) * self.stride) as u32
    }

    #[inline]
    pub fn rank_of(&self, world: u32) -> Option<u32> {
        let distance = i64::from(world) - i64::from(self.first);
        let rank = match self.stride {
            1 => distance,
            stride if distance % stride == 0 => distance / stride,
            _ => return None,
        };
        (0..i64::from(self.count))
            .contains(&rank)
            .then_some(rank as u32)
    }

    /// Takes `world` in if it is the next of the pattern.
    fn extend(&mut self, world: u32) -> bool {
        let distance = i64::from(world) - i64::from(self.first);
        if self.count == 1 {
            self.stride = distance;
        } else if distance != i64::from(self.count) * self.stride {
            return false;
        }
        self.count += 1;
        true
    }
}

/// A few patterns, one after the other, each with the rank of its first member.
#[derive(Debug, PartialEq, Eq)]
pub struct Pieces(Box<[(u32, Piece)]>);

impl Pieces {
    fn member(&self, rank: u32) -> u32 {
        let at = self.0.partition_point(|(before, _)| *before <= rank) - 1;
        let (before, piece) = &self.0[at];
        piece.member(rank - before)
    }

    fn rank_of(&self, world: u32) -> Option<u32> {
        let mut pieces = self.0.iter();
        pieces.find_map(|(before, piece)| piece.rank_of(world).map(|rank| rank + before))
    }

    fn count(&self) -> u32 {
        self.0
            .last()
            .map_or(0, |(before, piece)| before + piece.count)
    }
}

/// Members in ascending order, one bit each.
#[derive(Debug, PartialEq, Eq)]
pub struct Bitmap {
    /// World rank of the first bit.
    base: u32,
    words: Box<[u64]>,
    /// Members before each word.
    before: Box<[u32]>,
    count: u32,
}

impl Bitmap {
    fn new(members: &[u32]) -> Bitmap {
        let base = members[0] / 64 * 64;
        let last = members[members.len() - 1];
        let mut words = vec![0u64; ((last - base) / 64 + 1) as usize];
        for member in members {
            words[((member - base) / 64) as usize] |= 1 << (member % 64);
        }
        let mut count = 0;
        let before = words.iter().map(|word| {
            count += word.count_ones();
            count - word.count_ones()
        });
        Bitmap {
            base,
            before: before.collect(),
            words: words.into(),
            count,
        }
    }

    fn rank_of(&self, world: u32) -> Option<u32> {
        let offset = world.checked_sub(self.base)?;
        let at = (offset / 64) as usize;
        let (word, bit) = (*self.words.get(at)?, 1u64 << (offset % 64));
        (word & bit != 0).then(|| self.before[at] + (word & (bit - 1)).count_ones())
    }

    fn member(&self, rank: u32) -> u32 {
        let at = self.before.partition_point(|before| *before <= rank) - 1;
        let mut word = self.words[at];
        for _ in self.before[at]..rank {
            word &= word - 1;
        }
        self.base + at as u32 * 64 + word.trailing_zeros()
    }

    fn visit(&self, mut each: impl FnMut(u32)) {
        for (at, word) in self.words.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                each(self.base + at as u32 * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
}

/// Members without any pattern.
#[derive(Debug)]
pub struct List {
    members: Box<[u32]>,
    /// Made when it is needed first.
    ranks: OnceLock<Ranks>,
}

/// Rank by world rank.
#[derive(Debug)]
enum Ranks {
    /// For members without a gap: one more than the rank, zero for none, from `base` on.
    Dense { base: u32, ranks: Box<[u32]> },
    /// The ranks in the order of the members.
    Sorted(Box<[u32]>),
}

impl PartialEq for List {
    fn eq(&self, other: &List) -> bool {
        self.members == other.members
    }
}

impl Eq for List {}

impl List {
    fn rank_of(&self, world: u32) -> Option<u32> {
        match self.ranks.get_or_init(|| Ranks::new(&self.members)) {
            Ranks::Dense { base, ranks } => {
                let at = world.checked_sub(*base)?;
                ranks.get(at as usize)?.checked_sub(1)
            }
            Ranks::Sorted(ranks) => {
                let member = |rank: &u32| self.members[*rank as usize];
                let found = ranks.binary_search_by_key(&world, member);
                found.ok().map(|at| ranks[at])
            }
        }
    }
}

impl Ranks {
    fn new(members: &[u32]) -> Ranks {
        let (mut low, mut high) = (u32::MAX, 0);
        for member in members {
            low = low.min(*member);
            high = high.max(*member);
        }
        if ((high - low) as usize) < members.len() {
            let mut ranks = vec![0; (high - low) as usize + 1];
            let positions = members.iter().zip(1u32..);
            positions.for_each(|(member, after)| ranks[(member - low) as usize] = after);
            return Ranks::Dense {
                base: low,
                ranks: ranks.into(),
            };
        }
        let mut ranks: Box<[u32]> = (0..members.len() as u32).collect();
        ranks.sort_unstable_by_key(|rank| members[*rank as usize]);
        Ranks::Sorted(ranks)
    }
}

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub enum Shape {
    Pattern(Piece),
    Pieces(Pieces),
    Bitmap(Bitmap),
    List(List),
}

impl Shape {
    #[inline]
    pub fn count(&self) -> u32 {
        match self {
            Shape::Pattern(piece) => piece.count,
            Shape::Pieces(pieces) => pieces.count(),
            Shape::Bitmap(bitmap) => bitmap.count,
            Shape::List(list) => list.members.len() as u32,
        }
    }

    /// The world rank of a rank, which must be one of the group's.
    #[inline(always)]
    pub fn member(&self, rank: u32) -> u32 {
        match self {
            Shape::Pattern(piece) => piece.member(rank),
            other => other.member_without_pattern(rank),
        }
    }

    fn member_without_pattern(&self, rank: u32) -> u32 {
        match self {
            Shape::Pattern(piece) => piece.member(rank),
            Shape::Pieces(pieces) => pieces.member(rank),
            Shape::Bitmap(bitmap) => bitmap.member(rank),
            Shape::List(list) => list.members[rank as usize],
        }
    }

    pub fn rank_of(&self, world: u32) -> Option<u32> {
        match self {
            Shape::Pattern(piece) => piece.rank_of(world),
            Shape::Pieces(pieces) => pieces.rank_of(world),
            Shape::Bitmap(bitmap) => bitmap.rank_of(world),
            Shape::List(list) => list.rank_of(world),
        }
    }

    pub fn is_ascending(&self) -> bool {
        match self {
            Shape::Pattern(piece) => piece.stride > 0 || piece.count < 2,
            Shape::Bitmap(_) => true,
            Shape::Pieces(_) | Shape::List(_) => {
                let (mut ascending, mut last) = (true, None);
                self.visit(|member| {
                    ascending = ascending && last < Some(member);
                    last = Some(member);
                });
                ascending
            }
        }
    }

    /// All members in the order of their ranks.
    pub fn visit(&self, mut each: impl FnMut(u32)) {
        match self {
            Shape::Pattern(piece) => (0..piece.count).for_each(|rank| each(piece.member(rank))),
            Shape::Pieces(pieces) => {
                for (_, piece) in &pieces.0 {
                    (0..piece.count).for_each(|rank| each(piece.member(rank)));
                }
            }
            Shape::Bitmap(bitmap) => bitmap.visit(each),
            Shape::List(list) => list.members.iter().for_each(|member| each(*member)),
        }
    }
}

/// More patterns than this are no pattern.
const MOST_PIECES: usize = 16;
/// Fewer members than this for each pattern are better kept one by one.
const LEAST_OF_PIECE: usize = 16;
/// A bitmap takes 3/16 byte for each world rank from the first to the last, a list 4 for each member.
const SPAN_OF_BITMAP: usize = 21;

/// Takes members in the order of their ranks; what follows a pattern takes no memory meanwhile.
pub struct Builder {
    pieces: Vec<Piece>,
    /// All members, once they were too many pieces.
    list: Vec<u32>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder {
            pieces: Vec::new(),
            list: Vec::new(),
        }
    }

    pub fn push(&mut self, world: u32) {
        if !self.list.is_empty() {
            self.list.push(world);
            return;
        }
        if let Some(last) = self.pieces.last_mut()
            && last.extend(world)
        {
            return;
        }
        if self.pieces.len() == MOST_PIECES {
            self.unfold();
            self.list.push(world);
            return;
        }
        self.pieces.push(Piece {
            first: world,
            count: 1,
            stride: 1,
        });
    }

    fn unfold(&mut self) {
        for piece in self.pieces.drain(..) {
            let members = (0..piece.count).map(|rank| piece.member(rank));
            self.list.extend(members);
        }
    }

    pub fn finish(mut self) -> Shape {
        let count: usize = self.pieces.iter().map(|piece| piece.count as usize).sum();
        match *self.pieces {
            [] if self.list.is_empty() => {
                return Shape::Pattern(Piece {
                    first: 0,
                    count: 0,
                    stride: 1,
                });
            }
            [piece] => return Shape::Pattern(piece),
            _ if count >= LEAST_OF_PIECE * self.pieces.len() && count > 0 => {
                let mut before = 0;
                let pieces = self.pieces.iter().map(|piece| {
                    before += piece.count;
                    (before - piece.count, *piece)
                });
                return Shape::Pieces(Pieces(pieces.collect()));
            }
            _ => self.unfold(),
        }
        let list = self.list;
        let ascending = list.is_sorted_by(|one, next| one < next);
        if ascending && (list[list.len() - 1] - list[0]) as usize <= SPAN_OF_BITMAP * list.len() {
            return Shape::Bitmap(Bitmap::new(&list));
        }
        Shape::List(List {
            members: list.into(),
            ranks: OnceLock::new(),
        })
    }
}

impl FromIterator<u32> for Shape {
    fn from_iter<I: IntoIterator<Item = u32>>(members: I) -> Shape {
        let mut builder = Builder::new();
        members.into_iter().for_each(|member| builder.push(member));
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(members: impl IntoIterator<Item = u32>) -> Shape {
        members.into_iter().collect()
    }

    fn bytes(shape: &Shape) -> usize {
        size_of::<Shape>()
            + match shape {
                Shape::Pattern(_) => 0,
                Shape::Pieces(pieces) => pieces.0.len() * size_of::<(u32, Piece)>(),
                Shape::Bitmap(bitmap) => bitmap.words.len() * 12,
                Shape::List(list) => list.members.len() * 4,
            }
    }

    #[test]
    fn patterns_of_a_million_cost_bytes() {
        const MILLION: u32 = 1 << 20;
        let all = shape(0..MILLION);
        let backwards = shape((0..MILLION).rev());
        let strided = shape((0..MILLION).map(|rank| rank * 3 + 7));
        let but_some = shape((0..MILLION).filter(|rank| ![5, 77777, 500_000].contains(rank)));
        for shape in [&all, &backwards, &strided, &but_some] {
            assert!(bytes(shape) < 500, "{shape:?}");
        }
        assert_eq!(but_some.member(5), 6);
        assert_eq!(but_some.rank_of(MILLION - 1), Some(MILLION - 4));
        assert_eq!(but_some.rank_of(77777), None);
        assert_eq!(backwards.rank_of(MILLION - 1), Some(0));
        assert_eq!(strided.rank_of(8), None);
    }

    #[test]
    fn what_ascends_without_a_pattern_is_a_bitmap() {
        let odd = shape((0..100_000).filter(|rank| rank % 7 == 3 || rank % 5 == 1));
        assert!(matches!(odd, Shape::Bitmap(_)));
        assert!(bytes(&odd) < 20_000);
        let mixed = shape([9, 2, 5, 1000]);
        assert!(matches!(mixed, Shape::List(_)));
    }

    #[test]
    fn equal_sequences_have_equal_shapes() {
        assert_eq!(shape([4]), shape(4..5));
        assert_eq!(shape([]), shape(7..7));
        assert_ne!(shape([1, 2]), shape([2, 1]));
        assert_eq!(shape([3, 1]), shape((0..2).map(|i| 3 - 2 * i)));
    }
}
