//! The 4-level array: each byte of the key is an index, from the highest on.
//!
//! Invariant: below the top there is no empty level; one goes when its last cell is emptied.

/// Cells of a level, and how many are full.
struct Level<C> {
    full: usize,
    cells: Box<[Option<C>]>,
}

type Second<T> = Level<Third<T>>;
type Third<T> = Level<Level<T>>;

/// See the module.
pub struct Levels<T> {
    top: Level<Second<T>>,
    /// Levels that hold values.
    leaves: usize,
}

const CELLS: usize = 256;

impl<C> Default for Level<C> {
    fn default() -> Self {
        Level {
            full: 0,
            cells: (0..CELLS).map(|_| None).collect(),
        }
    }
}

impl<C> Level<C> {
    #[inline]
    fn get(&self, index: u8) -> Option<&C> {
        self.cells[index as usize].as_ref()
    }

    #[inline]
    fn get_mut(&mut self, index: u8) -> Option<&mut C> {
        self.cells[index as usize].as_mut()
    }

    fn put(&mut self, index: u8, content: C) {
        let before = self.cells[index as usize].replace(content);
        self.full += usize::from(before.is_none());
    }

    fn take(&mut self, index: u8) -> Option<C> {
        let content = self.cells[index as usize].take();
        self.full -= usize::from(content.is_some());
        content
    }

    fn values(&self) -> impl Iterator<Item = &C> {
        self.cells.iter().flatten()
    }
}

impl<C> Level<Level<C>> {
    fn below(&mut self, index: u8) -> &mut Level<C> {
        let cell = &mut self.cells[index as usize];
        self.full += usize::from(cell.is_none());
        cell.get_or_insert_default()
    }

    fn drop_if_empty(&mut self, index: u8) {
        if self.get(index).is_some_and(|below| below.full == 0) {
            self.take(index);
        }
    }
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Levels {
            top: Level::default(),
            leaves: 0,
        }
    }
}

impl<T> Levels<T> {
    #[inline]
    pub fn get(&self, key: u32) -> Option<&T> {
        let [a, b, c, d] = key.to_be_bytes();
        self.top.get(a)?.get(b)?.get(c)?.get(d)
    }

    #[inline]
    pub fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        let [a, b, c, d] = key.to_be_bytes();
        self.top.get_mut(a)?.get_mut(b)?.get_mut(c)?.get_mut(d)
    }

    pub fn insert(&mut self, key: u32, value: T) {
        let [a, b, c, d] = key.to_be_bytes();
        let third = self.top.below(a).below(b);
        self.leaves += usize::from(third.get(c).is_none());
        third.below(c).put(d, value);
    }

    pub fn remove(&mut self, key: u32) -> Option<T> {
        let [a, b, c, d] = key.to_be_bytes();
        let second = self.top.get_mut(a)?;
        let third = second.get_mut(b)?;
        let leaf = third.get_mut(c)?;
        let value = leaf.take(d)?;
        self.leaves -= usize::from(leaf.full == 0);
        third.drop_if_empty(c);
        second.drop_if_empty(b);
        self.top.drop_if_empty(a);
        Some(value)
    }

    /// Cells for values.
    pub fn cells(&self) -> usize {
        self.leaves * CELLS
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        let seconds = self.top.values();
        let thirds = seconds.flat_map(Level::values);
        let leaves = thirds.flat_map(Level::values);
        leaves.flat_map(Level::values)
    }
}
