//! The predefined datatypes, with MPICH's handles and names.
//!
//! Invariant: a basic type's handle carries its index in bits 7..0 and its size in bits 15..8, so the
//! table is read by the index and the whole handle is compared.

use super::basic::Basic;
use super::{Category, Contents, Datatype, Element, Layout, Scalar};
use crate::attr::Attributes;
use crate::references::References;
use crate::sync::{AtomicBool, AtomicU32};
use parking_lot::Mutex;
use std::sync::OnceLock;

const INDICES: usize = 0x80;
const LB: i32 = 0x4c00_0010;
const UB: i32 = 0x4c00_0011;
/// Pair types with a direct handle, from index 0.
pub(super) const DIRECT_PAIRS: usize = 5;

static BASIC: [Datatype; INDICES] = by_index();
/// Pair types whose handle is a direct one, by index; made of a value and an int.
static DIRECT: [Datatype; DIRECT_PAIRS] = [
    pair(0x8c00_0000, "MPI_FLOAT_INT", &[Scalar::F32, Scalar::I32]),
    pair(0x8c00_0001, "MPI_DOUBLE_INT", &[Scalar::F64, Scalar::I32]),
    pair(0x8c00_0002, "MPI_LONG_INT", &[Scalar::I64, Scalar::I32]),
    pair(0x8c00_0003, "MPI_SHORT_INT", &[Scalar::I16, Scalar::I32]),
    pair(
        0x8c00_0004,
        "MPI_LONG_DOUBLE_INT",
        &[Scalar::LongDouble, Scalar::I32],
    ),
];

#[inline]
pub(super) fn find(handle: i32) -> Option<&'static Datatype> {
    let datatype = match handle as u32 >> 24 {
        0x4c => &BASIC[handle as usize % INDICES],
        0x8c => DIRECT.get(handle as usize & 0x00ff_ffff)?,
        _ => return None,
    };
    (datatype.handle == handle).then_some(datatype)
}

/// All predefined types.
pub(super) fn all() -> impl Iterator<Item = &'static Datatype> {
    let all = BASIC.iter().chain(DIRECT.iter());
    all.filter(|datatype| datatype.handle != 0)
}

const fn datatype(
    handle: u32,
    name: &'static str,
    size: usize,
    extent: usize,
    category: Category,
    scalars: &'static [Scalar],
    true_extent: usize,
) -> Datatype {
    Datatype {
        handle: handle as i32,
        size: size as u64,
        lb: 0,
        extent: extent as i64,
        true_lb: 0,
        true_extent: true_extent as i64,
        category,
        scalars,
        contiguous: size == extent,
        lies_bare: AtomicBool::new(size == extent),
        committed: AtomicBool::new(true),
        layout: None,
        attributes: Attributes::new(),
        contents: Contents::named(),
        basic: Basic::new(),
        uses: AtomicU32::new(0),
        references: References::of_program(),
        born: 0,
        prefix: None,
        given_name: name,
        new_name: Mutex::new(None),
    }
}

const fn basic(
    handle: u32,
    name: &'static str,
    category: Category,
    scalars: &'static [Scalar],
) -> Datatype {
    let size = handle as usize >> 8 & 0xff;
    datatype(handle, name, size, size, category, scalars, size)
}

/// A struct of two members, laid out as a C compiler does.
const fn pair(handle: u32, name: &'static str, scalars: &'static [Scalar; 2]) -> Datatype {
    let (first, second) = (scalars[0].size(), scalars[1].size());
    let alignment = if first > second { first } else { second };
    let extent = (first.next_multiple_of(second) + second).next_multiple_of(alignment);
    datatype(
        handle,
        name,
        first + second,
        extent,
        Category::Pair,
        scalars,
        first.next_multiple_of(second) + second,
    )
}

/// Where the data of a predefined type lies, and what it is; made when it is first asked for.
pub(super) fn layout(datatype: &Datatype) -> &'static Layout {
    static BASIC: [OnceLock<Layout>; INDICES] = [const { OnceLock::new() }; INDICES];
    static DIRECT: [OnceLock<Layout>; DIRECT_PAIRS] = [const { OnceLock::new() }; DIRECT_PAIRS];
    let handle = datatype.handle as u32;
    let slot = match handle >> 24 {
        0x8c => &DIRECT[handle as usize & 0x00ff_ffff],
        _ => &BASIC[handle as usize % INDICES],
    };
    slot.get_or_init(|| made(datatype))
}

#[cold]
fn made(datatype: &Datatype) -> Layout {
    // For as long as the process runs, once for each type.
    let elements = Vec::leak(elements(datatype));
    let alignment = elements.iter().map(|(_, element)| element.scalar.size());
    match datatype.handle {
        LB => Layout::lower_marker(),
        UB => Layout::upper_marker(),
        _ => Layout::basic(
            elements,
            datatype.extent as u64,
            alignment.max().unwrap_or(1) as u64,
        ),
    }
}

/// The elements of a predefined type, and where they lie.
pub(super) fn elements(datatype: &Datatype) -> Vec<(i64, Element)> {
    let size = datatype.size as usize;
    let element = |scalar: Scalar, parts: u32, name: &'static str| Element {
        scalar,
        parts,
        external: match name {
            "MPI_LONG" | "MPI_UNSIGNED_LONG" => 4,
            "MPI_WCHAR" => 2,
            _ => scalar.size() as u8,
        },
        name,
    };
    let name = datatype.given_name;
    match (datatype.category, datatype.scalars) {
        (Category::Marker, _) => Vec::new(),
        (Category::Pair, [first, second]) => {
            let at = first.size().next_multiple_of(second.size()) as i64;
            let value = match (name, first) {
                ("MPI_LONG_INT", _) => "MPI_LONG",
                (_, Scalar::F32) => "MPI_FLOAT",
                (_, Scalar::F64) => "MPI_DOUBLE",
                (_, Scalar::I16) => "MPI_SHORT",
                (_, Scalar::LongDouble) => "MPI_LONG_DOUBLE",
                _ => "MPI_INT",
            };
            let index = if first == second { value } else { "MPI_INT" };
            vec![
                (0, element(*first, 1, value)),
                (at, element(*second, 1, index)),
            ]
        }
        (_, scalars) => {
            let (scalar, parts) = match scalars {
                [part, _] => (*part, 2),
                [scalar] => (*scalar, 1),
                // Text and packed data, which is never reduced.
                _ if size == 4 => (Scalar::U32, 1),
                _ => (Scalar::U8, 1),
            };
            vec![(0, element(scalar, parts, name))]
        }
    }
}

const fn by_index() -> [Datatype; INDICES] {
    let mut table = [const { basic(0, "", Category::Marker, &[]) }; INDICES];
    let mut position = 0;
    while position < LIST.len() {
        let (handle, name, category, scalars) = LIST[position];
        let entry = match scalars {
            [_, _] if matches!(category, Category::Pair) => {
                pair(handle, name, scalars.first_chunk().unwrap())
            }
            _ => basic(handle, name, category, scalars),
        };
        // The entry that is replaced has nothing to drop, but the compiler cannot know that here.
        std::mem::forget(std::mem::replace(
            &mut table[handle as usize % INDICES],
            entry,
        ));
        position += 1;
    }
    table
}

type Row = (u32, &'static str, Category, &'static [Scalar]);

#[rustfmt::skip]
const LIST: &[Row] = {
    use Category::*;
    use Scalar::*;
    &[
        (0x4c00_0101, "MPI_CHAR", Integer, &[I8]),
        (0x4c00_0102, "MPI_UNSIGNED_CHAR", Integer, &[U8]),
        (0x4c00_0203, "MPI_SHORT", Integer, &[I16]),
        (0x4c00_0204, "MPI_UNSIGNED_SHORT", Integer, &[U16]),
        (0x4c00_0405, "MPI_INT", Integer, &[I32]),
        (0x4c00_0406, "MPI_UNSIGNED", Integer, &[U32]),
        (0x4c00_0807, "MPI_LONG", Integer, &[I64]),
        (0x4c00_0808, "MPI_UNSIGNED_LONG", Integer, &[U64]),
        (0x4c00_0809, "MPI_LONG_LONG_INT", Integer, &[I64]),
        (0x4c00_040a, "MPI_FLOAT", Floating, &[F32]),
        (0x4c00_080b, "MPI_DOUBLE", Floating, &[F64]),
        (0x4c00_100c, "MPI_LONG_DOUBLE", Floating, &[LongDouble]),
        (0x4c00_010d, "MPI_BYTE", Byte, &[U8]),
        (0x4c00_040e, "MPI_WCHAR", Character, &[]),
        (0x4c00_010f, "MPI_PACKED", Packed, &[]),
        (0x4c00_0010, "MPI_LB", Marker, &[]),
        (0x4c00_0011, "MPI_UB", Marker, &[]),
        (0x4c00_0816, "MPI_2INT", Pair, &[I32, I32]),
        (0x4c00_0118, "MPI_SIGNED_CHAR", Integer, &[I8]),
        (0x4c00_0819, "MPI_UNSIGNED_LONG_LONG", Integer, &[U64]),
        (0x4c00_011a, "MPI_CHARACTER", Character, &[]),
        (0x4c00_041b, "MPI_INTEGER", FortranInteger, &[I32]),
        (0x4c00_041c, "MPI_REAL", Floating, &[F32]),
        (0x4c00_041d, "MPI_LOGICAL", Logical, &[I32]),
        (0x4c00_081e, "MPI_COMPLEX", Complex, &[F32, F32]),
        (0x4c00_081f, "MPI_DOUBLE_PRECISION", Floating, &[F64]),
        (0x4c00_0820, "MPI_2INTEGER", Pair, &[I32, I32]),
        (0x4c00_0821, "MPI_2REAL", Pair, &[F32, F32]),
        (0x4c00_1022, "MPI_DOUBLE_COMPLEX", Complex, &[F64, F64]),
        (0x4c00_1023, "MPI_2DOUBLE_PRECISION", Pair, &[F64, F64]),
        (0x4c00_0226, "MPI_REAL2", Floating, &[F16]),
        (0x4c00_0427, "MPI_REAL4", Floating, &[F32]),
        (0x4c00_0828, "MPI_COMPLEX8", Complex, &[F32, F32]),
        (0x4c00_0829, "MPI_REAL8", Floating, &[F64]),
        (0x4c00_102a, "MPI_COMPLEX16", Complex, &[F64, F64]),
        (0x4c00_102b, "MPI_REAL16", Floating, &[F128]),
        (0x4c00_202c, "MPI_COMPLEX32", Complex, &[F128, F128]),
        (0x4c00_012d, "MPI_INTEGER1", FortranInteger, &[I8]),
        (0x4c00_042e, "MPI_COMPLEX4", Complex, &[F16, F16]),
        (0x4c00_022f, "MPI_INTEGER2", FortranInteger, &[I16]),
        (0x4c00_0430, "MPI_INTEGER4", FortranInteger, &[I32]),
        (0x4c00_0831, "MPI_INTEGER8", FortranInteger, &[I64]),
        (0x4c00_1032, "MPI_INTEGER16", FortranInteger, &[I128]),
        (0x4c00_0133, "MPI_CXX_BOOL", Logical, &[U8]),
        (0x4c00_0834, "MPI_CXX_FLOAT_COMPLEX", Complex, &[F32, F32]),
        (0x4c00_1035, "MPI_CXX_DOUBLE_COMPLEX", Complex, &[F64, F64]),
        (0x4c00_2036, "MPI_CXX_LONG_DOUBLE_COMPLEX", Complex, &[LongDouble, LongDouble]),
        (0x4c00_0137, "MPI_INT8_T", Integer, &[I8]),
        (0x4c00_0238, "MPI_INT16_T", Integer, &[I16]),
        (0x4c00_0439, "MPI_INT32_T", Integer, &[I32]),
        (0x4c00_083a, "MPI_INT64_T", Integer, &[I64]),
        (0x4c00_013b, "MPI_UINT8_T", Integer, &[U8]),
        (0x4c00_023c, "MPI_UINT16_T", Integer, &[U16]),
        (0x4c00_043d, "MPI_UINT32_T", Integer, &[U32]),
        (0x4c00_083e, "MPI_UINT64_T", Integer, &[U64]),
        (0x4c00_013f, "MPI_C_BOOL", Logical, &[U8]),
        (0x4c00_0840, "MPI_C_COMPLEX", Complex, &[F32, F32]),
        (0x4c00_1041, "MPI_C_DOUBLE_COMPLEX", Complex, &[F64, F64]),
        (0x4c00_2042, "MPI_C_LONG_DOUBLE_COMPLEX", Complex, &[LongDouble, LongDouble]),
        (0x4c00_0843, "MPI_AINT", Address, &[I64]),
        (0x4c00_0844, "MPI_OFFSET", Address, &[I64]),
        (0x4c00_0845, "MPI_COUNT", Address, &[I64]),
        (0x4c00_0246, "MPIX_C_FLOAT16", Floating, &[F16]),
        (0x4c00_0147, "MPI_LOGICAL1", Logical, &[I8]),
        (0x4c00_0248, "MPI_LOGICAL2", Logical, &[I16]),
        (0x4c00_0449, "MPI_LOGICAL4", Logical, &[I32]),
        (0x4c00_084a, "MPI_LOGICAL8", Logical, &[I64]),
        (0x4c00_104b, "MPI_LOGICAL16", Logical, &[I128]),
        (0x4c00_024c, "MPIX_BFLOAT16", Floating, &[BF16]),
    ]
};

#[cfg(test)]
mod tests {
    use super::super::get;
    use super::*;

    #[test]
    fn every_type_is_found_by_its_handle() {
        let mut count = 0;
        for datatype in all() {
            let found = get(datatype.handle).unwrap();
            assert_eq!(found.given_name, datatype.given_name);
            assert!(datatype.is_predefined());
            let bytes: usize = datatype.scalars.iter().map(|scalar| scalar.size()).sum();
            if !datatype.scalars.is_empty() {
                assert_eq!(bytes as u64, datatype.size, "{}", datatype.given_name);
            }
            count += 1;
        }
        assert_eq!(count, LIST.len() + DIRECT_PAIRS);
    }

    #[test]
    fn pair_types_have_the_layout_of_the_c_struct() {
        // size, extent, true extent, as sizeof and offsetof of the structs say
        for (handle, size, extent, true_extent) in [
            (0x8c00_0000_u32, 8, 8, 8),
            (0x8c00_0001, 12, 16, 12),
            (0x8c00_0002, 12, 16, 12),
            (0x8c00_0003, 6, 8, 8),
            (0x8c00_0004, 20, 32, 20),
            (0x4c00_0816, 8, 8, 8),
            (0x4c00_1023, 16, 16, 16),
        ] {
            let datatype = get(handle as i32).unwrap();
            let found = (datatype.size, datatype.extent, datatype.true_extent);
            assert_eq!(found, (size, extent, true_extent), "{}", datatype.name());
        }
    }

    #[test]
    fn layouts_say_the_same_as_the_table() {
        for datatype in all() {
            let (layout, name) = (datatype.layout(), datatype.given_name);
            assert_eq!(layout.size, datatype.size, "{name}");
            assert_eq!((layout.lb(), layout.true_lb()), (0, 0), "{name}");
            assert_eq!(layout.extent(), datatype.extent, "{name}");
            assert_eq!(layout.true_extent(), datatype.true_extent, "{name}");
            assert_eq!(layout.is_contiguous(), datatype.is_contiguous(), "{name}");
            let elements = match datatype.category {
                Category::Pair => 2,
                Category::Marker => 0,
                _ => 1,
            };
            assert_eq!(layout.signature.elements, elements, "{name}");
        }
    }
}
