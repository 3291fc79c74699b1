//! Types whose predefined types have other sizes than in memory: as a file has them (MPI 5.0, section 14.5.1).
//!
//! Invariant: what a constructor counts in elements is scaled; displacements and bounds in bytes stay as they were given.

use super::contents::{Combiner, Contents, Numbers};
use super::create::array;
use super::layout::{Blocks, Layout, Lengths, Member};
use super::{BYTE, Category, Datatype, Signature, get};
use crate::error::{Class, Result, fail};

/// Says the layout of a predefined type.
pub type Leaf<'a> = dyn FnMut(&'static Datatype) -> Result<Layout> + 'a;

/// The layout of a type whose predefined types have those that `leaf` says.
///
/// Errors: those of `leaf`; MPI_ERR_ARG, the type would be too large.
pub fn scaled(datatype: &'static Datatype, leaf: &mut Leaf<'_>) -> Result<Layout> {
    let contents = &datatype.contents;
    if datatype.is_predefined() {
        return match datatype.category {
            Category::Marker => Ok(datatype.layout().clone()),
            _ => leaf(datatype),
        };
    }
    let olds = contents.datatypes.iter();
    let olds: Result<Vec<Layout>> = olds.map(|old| scaled(old, leaf)).collect();
    rebuilt(contents, &olds?)
}

/// A predefined type that takes so many bytes, of these elements.
pub fn leaf_of(bytes: u64, signature: Signature) -> Result<Layout> {
    let Some(byte) = get(BYTE) else {
        return fail!(Class::Intern, "MPI_BYTE is no datatype");
    };
    let layout = Layout::contiguous(bytes, byte.layout())?;
    Ok(layout.with_signature(signature))
}

/// The numbers of a constructor in the order of its arguments.
struct Arguments<'a> {
    contents: &'a Contents,
    integers: usize,
    addresses: usize,
    counts: usize,
}

impl<'a> Arguments<'a> {
    fn of(contents: &'a Contents) -> Arguments<'a> {
        Arguments {
            contents,
            integers: 0,
            addresses: 0,
            counts: 0,
        }
    }

    /// Numbers that are an `int` in both functions.
    fn integers(&mut self, number: usize) -> &'a [i32] {
        let from = self.integers;
        self.integers += number;
        &self.contents.integers[from..self.integers]
    }

    fn integer(&mut self) -> i32 {
        self.integers(1)[0]
    }

    /// Numbers that are counts in the function with the suffix.
    fn counts(&mut self, number: usize) -> Numbers<'a> {
        if !self.contents.large {
            return Numbers::Small(self.integers(number));
        }
        let from = self.counts;
        self.counts += number;
        Numbers::Large(&self.contents.counts[from..self.counts])
    }

    fn count(&mut self) -> i64 {
        self.counts(1).get(0)
    }

    fn addresses(&mut self, number: usize) -> &'a [i64] {
        let (list, next) = match self.contents.large {
            true => (&self.contents.counts, &mut self.counts),
            false => (&self.contents.addresses, &mut self.addresses),
        };
        let from = *next;
        *next += number;
        &list[from..*next]
    }

    fn address(&mut self) -> i64 {
        self.addresses(1)[0]
    }
}

/// What a constructor makes of other old types.
fn rebuilt(contents: &Contents, olds: &[Layout]) -> Result<Layout> {
    let mut arguments = Arguments::of(contents);
    if contents.combiner == Combiner::Struct {
        return structure(&mut arguments, olds);
    }
    let [old] = olds else {
        return fail!(
            Class::Intern,
            "a type that is no structure is made of {} types",
            olds.len()
        );
    };
    match contents.combiner {
        Combiner::Dup => Ok(old.clone()),
        Combiner::Contiguous => Layout::contiguous(arguments.count() as u64, old),
        Combiner::Vector => {
            let (count, length) = (arguments.count(), arguments.count());
            let stride = i128::from(arguments.count()) * i128::from(old.extent());
            Layout::strided(count as u64, length as u64, stride, old)
        }
        Combiner::Hvector => {
            let (count, length) = (arguments.count(), arguments.count());
            let stride = arguments.address().into();
            Layout::strided(count as u64, length as u64, stride, old)
        }
        Combiner::Indexed
        | Combiner::Hindexed
        | Combiner::IndexedBlock
        | Combiner::HindexedBlock => indexed(&mut arguments, old),
        Combiner::Resized => {
            let (lb, extent) = (arguments.address(), arguments.address());
            Layout::resized(lb, extent, old)
        }
        Combiner::Subarray => {
            let number = arguments.integer() as usize;
            let (sizes, subsizes) = (arguments.counts(number), arguments.counts(number));
            let starts = arguments.counts(number);
            let order = array::Order::of(arguments.integer())?;
            array::subarray_of(sizes, subsizes, starts, order, old)
        }
        Combiner::Darray => {
            let (size, rank) = (arguments.integer(), arguments.integer());
            let number = arguments.integer() as usize;
            array::Grid {
                size,
                rank,
                sizes: arguments.counts(number),
                distributions: arguments.integers(number),
                arguments: arguments.integers(number),
                processes: arguments.integers(number),
                order: array::Order::of(arguments.integer())?,
            }
            .layout(old)
        }
        Combiner::Struct
        | Combiner::Named
        | Combiner::F90Real
        | Combiner::F90Complex
        | Combiner::F90Integer => fail!(Class::Intern, "a predefined type is made of another"),
    }
}

fn indexed(arguments: &mut Arguments<'_>, old: &Layout) -> Result<Layout> {
    let combiner = arguments.contents.combiner;
    let number = arguments.count() as usize;
    let lengths = match combiner {
        Combiner::Indexed | Combiner::Hindexed => Lengths::Each(arguments.counts(number)),
        _ => Lengths::All(arguments.count()),
    };
    let (offsets, scale) = match combiner {
        Combiner::Indexed | Combiner::IndexedBlock => (arguments.counts(number), old.extent()),
        _ => (Numbers::Large(arguments.addresses(number)), 1),
    };
    let blocks = Blocks {
        lengths,
        offsets,
        scale,
    };
    Layout::indexed(&blocks, old)
}

fn structure(arguments: &mut Arguments<'_>, olds: &[Layout]) -> Result<Layout> {
    let number = arguments.count() as usize;
    let lengths = arguments.counts(number);
    let displacements = arguments.addresses(number);
    let members = displacements.iter().zip(lengths.iter()).zip(olds);
    let members: Vec<Member<'_>> = members
        .map(|((displacement, length), layout)| Member {
            displacement: *displacement,
            blocklength: length as u64,
            layout,
        })
        .collect();
    Layout::structure(&members)
}

#[cfg(test)]
mod tests {
    use super::super::{INT, create};
    use super::*;
    use create::{Displacements, Lengths as Long};

    /// MPI_LONG, with eight bytes in memory and four here.
    const LONG: i32 = 0x4c00_0807;

    fn half(datatype: &'static Datatype) -> Layout {
        let mut leaf = |datatype: &'static Datatype| {
            let signature = datatype.layout().signature.clone();
            leaf_of(signature.external_size, signature)
        };
        scaled(datatype, &mut leaf).unwrap()
    }

    /// Where the bytes of one element lie.
    fn runs(layout: &Layout) -> Vec<(i64, u64)> {
        let mut runs = Vec::new();
        layout.runs(0, layout.size, |at, bytes| {
            runs.push((at, bytes));
            true
        });
        runs
    }

    #[test]
    fn elements_scale_and_bytes_do_not() {
        let (int, long) = (get(INT).unwrap(), get(LONG).unwrap());
        for large in [false, true] {
            let vector = create::vector(large, 2, 1, 3, long).unwrap();
            assert_eq!(runs(&half(vector)), [(0, 4), (12, 4)]);
            assert_eq!(half(vector).extent(), 16);
            let bytes = create::hvector(large, 2, 1, 24, long).unwrap();
            assert_eq!(runs(&half(bytes)), [(0, 4), (24, 4)]);
            let numbers = [1i64, 5];
            let small = [1i32, 5];
            let of = match large {
                true => Numbers::Large(&numbers),
                false => Numbers::Small(&small),
            };
            let each = create::indexed(large, Long::Each(of), Displacements::Elements(of), long);
            assert_eq!(runs(&half(each.unwrap())), [(4, 4), (20, 20)]);
            let all =
                create::indexed(large, Long::All(2), Displacements::Bytes(&[8, 40]), long).unwrap();
            assert_eq!(runs(&half(all)), [(8, 8), (40, 8)]);
            let types = vec![int, vector];
            let members = create::structure(large, of, &[0, 100], types).unwrap();
            // Four of MPI_INT stay four; no padding.
            assert_eq!(runs(&half(members))[..2], [(0, 4), (100, 4)]);
            assert_eq!(half(members).extent(), 100 + 5 * 16);
            let resized = create::resized(large, -8, 64, vector).unwrap();
            let resized = half(create::dup(resized).unwrap());
            assert_eq!((resized.lb(), resized.extent()), (-8, 64));
            let (sizes, parts, starts) = ([4i64, 6], [2i64, 3], [1i64, 2]);
            let (small_sizes, small_parts, small_starts) = ([4i32, 6], [2i32, 3], [1i32, 2]);
            let numbers = match large {
                true => [
                    Numbers::Large(&sizes),
                    Numbers::Large(&parts),
                    Numbers::Large(&starts),
                ],
                false => [
                    Numbers::Small(&small_sizes),
                    Numbers::Small(&small_parts),
                    Numbers::Small(&small_starts),
                ],
            };
            let [sizes, parts, starts] = numbers;
            let part = array::subarray(large, sizes, parts, starts, array::Order::C, long).unwrap();
            assert_eq!(runs(&half(part)), [(32, 12), (56, 12)]);
            assert_eq!(half(part).extent(), 96);
            let grid = array::Grid {
                size: 2,
                rank: 1,
                sizes,
                distributions: &[122, 123],
                arguments: &[-49767, -49767],
                processes: &[2, 1],
                order: array::Order::C,
            };
            let rows = array::darray(large, &grid, long).unwrap();
            assert_eq!(runs(&half(rows)), [(24, 24), (72, 24)]);
        }
    }
}
