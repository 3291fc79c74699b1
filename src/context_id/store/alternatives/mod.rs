//! The stores of paper 002 beside each other, for comparison: `OXMPI_CONTEXT_STORE` chooses one in a library with the feature `papers`.

mod kind;
mod levels;

pub use kind::{ALL, Kind};

use super::array::Array;
use levels::Levels;
use std::collections::BTreeMap;

/// Values by key.
pub enum Store<T> {
    /// Grows to the highest key and never shrinks: one load.
    Array(Array<T>),
    /// An ordered tree: no empty cells, log n loads.
    Tree(BTreeMap<u32, T>),
    /// Four levels of 256 cells, freed when empty: four loads.
    Levels(Levels<T>),
}

impl<T> Store<T> {
    pub fn new(kind: Kind) -> Store<T> {
        match kind {
            Kind::Array => Store::Array(Array::default()),
            Kind::Tree => Store::Tree(BTreeMap::new()),
            Kind::Levels => Store::Levels(Levels::default()),
        }
    }

    #[inline]
    pub fn get(&self, key: u32) -> Option<&T> {
        match self {
            Store::Array(store) => store.get(key),
            Store::Tree(store) => store.get(&key),
            Store::Levels(store) => store.get(key),
        }
    }

    #[inline]
    pub fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        match self {
            Store::Array(store) => store.get_mut(key),
            Store::Tree(store) => store.get_mut(&key),
            Store::Levels(store) => store.get_mut(key),
        }
    }

    /// Replaces what was there.
    pub fn insert(&mut self, key: u32, value: T) {
        match self {
            Store::Array(store) => store.insert(key, value),
            Store::Tree(store) => drop(store.insert(key, value)),
            Store::Levels(store) => store.insert(key, value),
        }
    }

    pub fn remove(&mut self, key: u32) -> Option<T> {
        match self {
            Store::Array(store) => store.remove(key),
            Store::Tree(store) => store.remove(&key),
            Store::Levels(store) => store.remove(key),
        }
    }

    /// Cells there are, full or empty: what paper 002 calls density is the full part of them.
    pub fn cells(&self) -> usize {
        match self {
            Store::Array(store) => store.cells(),
            Store::Tree(store) => store.len(),
            Store::Levels(store) => store.cells(),
        }
    }

    /// All values, by key.
    pub fn values(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Store::Array(store) => Box::new(store.values()),
            Store::Tree(store) => Box::new(store.values()),
            Store::Levels(store) => Box::new(store.values()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = u32> {
        prop_oneof![
            0u32..40,
            250u32..270,
            65_530u32..65_540,
            0xff_fff0u32..0x100_0010
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_stores_are_alike(steps in proptest::collection::vec((key(), any::<bool>()), 1..200)) {
            for kind in ALL {
                // The array is as long as its highest key.
                let small = |key: u32| if kind == Kind::Array { key % 70_000 } else { key };
                let mut store = Store::new(kind);
                let mut plain = BTreeMap::new();
                for (at, (key, insert)) in steps.iter().enumerate() {
                    let key = small(*key);
                    if *insert {
                        store.insert(key, at);
                        plain.insert(key, at);
                    } else {
                        prop_assert_eq!(store.remove(key), plain.remove(&key));
                    }
                    prop_assert_eq!(store.get(key), plain.get(&key));
                    prop_assert!(store.cells() >= plain.len());
                }
                prop_assert!(store.values().eq(plain.values()));
                for (key, value) in &plain {
                    prop_assert_eq!(store.get_mut(*key).copied(), Some(*value));
                    store.remove(*key);
                }
                if kind != Kind::Array {
                    prop_assert_eq!(store.cells(), 0, "empty levels stay");
                }
            }
        }
    }
}
