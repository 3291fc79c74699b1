//! The growing array: a cell for each key up to the highest one there was.
//!
//! Invariant: the array only grows.

/// See the module.
pub struct Array<T> {
    cells: Vec<Option<T>>,
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Array { cells: Vec::new() }
    }
}

impl<T> Array<T> {
    #[inline]
    pub fn get(&self, key: u32) -> Option<&T> {
        self.cells.get(key as usize)?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        self.cells.get_mut(key as usize)?.as_mut()
    }

    pub fn insert(&mut self, key: u32, value: T) {
        let key = key as usize;
        if key >= self.cells.len() {
            self.cells.resize_with(key + 1, || None);
        }
        self.cells[key] = Some(value);
    }

    pub fn remove(&mut self, key: u32) -> Option<T> {
        self.cells.get_mut(key as usize)?.take()
    }

    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.cells.iter().flatten()
    }
}
