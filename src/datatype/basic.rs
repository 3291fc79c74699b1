//! The one predefined type that a derived type consists of, if it is one: what accumulate operations on windows ask for.

use super::{Category, Combiner, Datatype};
use std::sync::OnceLock;

/// The predefined type of one datatype, found when it is first asked for.
pub(super) type Basic = OnceLock<Option<&'static Datatype>>;

impl Datatype {
    /// The predefined type that all elements of this one are [like](Datatype::is_like); `None` if they differ, or there are none.
    pub fn basic(&self) -> Option<&'static Datatype> {
        *self.basic.get_or_init(|| {
            let mut found = None;
            let alike = (self.contents.datatypes.iter()).all(|old| collect(old, &mut found));
            found.filter(|_| alike)
        })
    }

    /// Whether elements of two predefined types are computed alike: of one size and family.
    pub fn is_like(&self, other: &Datatype) -> bool {
        let family = |category| match category {
            Category::FortranInteger | Category::Address => Category::Integer,
            category => category,
        };
        family(self.category) == family(other.category)
            && self.size == other.size
            && self.scalars == other.scalars
    }
}

/// Adds the predefined types that a type consists of. False: they are not alike.
fn collect(datatype: &'static Datatype, found: &mut Option<&'static Datatype>) -> bool {
    // Without data it is no matter of what: the removed markers, empty blocks.
    if datatype.size == 0 {
        return true;
    }
    let basic = match datatype.contents.combiner {
        Combiner::Named => datatype,
        _ => match leaf(datatype) {
            Some(leaf) => leaf,
            None => return false,
        },
    };
    match found {
        Some(found) => found.is_like(basic),
        None => {
            *found = Some(basic);
            true
        }
    }
}

fn leaf(datatype: &'static Datatype) -> Option<&'static Datatype> {
    match datatype.category {
        Category::Derived => datatype.basic(),
        // A type like a predefined one: of a Fortran kind, or a duplicate.
        _ => Some(datatype),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{INT, create, get};
    use super::*;

    #[test]
    fn of_one_type_or_of_several() {
        let int = get(INT).unwrap();
        let double = get(0x4c00_080b).unwrap();
        let pair = get(0x8c00_0003_u32 as i32).unwrap(); // MPI_SHORT_INT
        let vector = create::vector(false, 2, 1, 3, int).unwrap();
        let twice = create::contiguous(false, 2, create::dup(vector).unwrap()).unwrap();
        assert!(std::ptr::eq(twice.basic().unwrap(), int));
        let pairs = create::vector(false, 2, 1, 3, create::dup(pair).unwrap()).unwrap();
        assert!(pairs.basic().unwrap().is_like(pair));
        assert_eq!(pairs.basic().unwrap().category, Category::Pair);
        assert!(!int.is_like(double) && !int.is_like(pair));
        assert!(int.is_like(get(0x4c00_041b).unwrap())); // MPI_INTEGER
        assert!(!int.is_like(get(0x4c00_0406).unwrap())); // MPI_UNSIGNED
    }
}
