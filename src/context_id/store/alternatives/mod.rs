//! The papers' other stores, for comparison: `OXMPI_CONTEXT_STORE` chooses one, no job does by default.
//!
//! The rest of the library knows [`Alternative`] only.

mod levels;

use super::kind::Kind;
use levels::Levels;
use std::collections::BTreeMap;

/// Another store than the default one.
pub enum Alternative<T> {
    /// An ordered tree: no empty cells, log n loads.
    Tree(BTreeMap<u32, T>),
    /// Four levels of 256 cells, freed when empty: four loads.
    Levels(Levels<T>),
}

impl<T> Alternative<T> {
    /// `None` where the default store is chosen.
    pub fn new(kind: Kind) -> Option<Alternative<T>> {
        match kind {
            Kind::Array => None,
            Kind::Tree => Some(Alternative::Tree(BTreeMap::new())),
            Kind::Levels => Some(Alternative::Levels(Levels::default())),
        }
    }

    pub fn get(&self, key: u32) -> Option<&T> {
        match self {
            Alternative::Tree(store) => store.get(&key),
            Alternative::Levels(store) => store.get(key),
        }
    }

    pub fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        match self {
            Alternative::Tree(store) => store.get_mut(&key),
            Alternative::Levels(store) => store.get_mut(key),
        }
    }

    pub fn insert(&mut self, key: u32, value: T) {
        match self {
            Alternative::Tree(store) => drop(store.insert(key, value)),
            Alternative::Levels(store) => store.insert(key, value),
        }
    }

    pub fn remove(&mut self, key: u32) -> Option<T> {
        match self {
            Alternative::Tree(store) => store.remove(&key),
            Alternative::Levels(store) => store.remove(key),
        }
    }

    pub fn cells(&self) -> usize {
        match self {
            Alternative::Tree(store) => store.len(),
            Alternative::Levels(store) => store.cells(),
        }
    }

    pub fn values(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Alternative::Tree(store) => Box::new(store.values()),
            Alternative::Levels(store) => Box::new(store.values()),
        }
    }
}
