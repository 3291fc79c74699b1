//! Data representations: what the bytes of a file are, where they are not those of memory (MPI 5.0, section 14.5).
//!
//! Invariant: what the program has registered stays until it ends; no lock is held while a function of the program's runs.

use super::direction::Direction;
use crate::datatype::{Datatype, Element, Layout, Scalar, Signature, leaf_of, scaled};
use crate::error::{Class, Result, fail};
use crate::sync::{AtomicBool, Ordering};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Items that a function of the program's converts: entries of the type map of a datatype that follows itself without end.
#[derive(Clone, Copy)]
pub struct Items {
    /// The elements in memory.
    pub user: *mut u8,
    /// The handle of their datatype.
    pub datatype: i32,
    pub count: u64,
    /// The items in the file's representation, one after the other.
    pub file: *mut u8,
    /// The number of the first one.
    pub position: i64,
}

/// What a program has passed to MPI_Register_datarep. A number that is returned is the program's own error code.
pub trait Functions: Send + Sync {
    /// Bytes that a predefined type takes in the file.
    fn extent(&self, datatype: i32) -> std::result::Result<i64, i32>;
    /// Whether there is a function for this direction; if not, the bytes of the file are those of memory.
    fn converts(&self, direction: Direction) -> bool;
    /// Converts items; there is a function for it.
    ///
    /// # Safety
    /// The items are in memory of the caller's, on both sides.
    unsafe fn convert(&self, direction: Direction, items: Items) -> std::result::Result<(), i32>;
}

pub struct Registered {
    pub name: String,
    pub functions: Box<dyn Functions>,
}

static REGISTERED: Mutex<Vec<&'static Registered>> = Mutex::new(Vec::new());

const NATIVE: &str = "native";
const INTERNAL: &str = "internal";
const EXTERNAL: &str = "external32";

/// Whether a view of this process has ever had a representation of another kind than memory's.
static CONVERTS: AtomicBool = AtomicBool::new(false);

/// Whether buffers for files have to remember their datatypes.
#[inline(always)]
pub fn converts() -> bool {
    CONVERTS.load(Ordering::Relaxed)
}

/// MPI_Register_datarep.
///
/// Errors: MPI_ERR_DUP_DATAREP, MPI_ERR_ARG.
pub fn register(name: &str, functions: Box<dyn Functions>) -> Result<()> {
    if name.is_empty() {
        return fail!(Class::Arg, "datarep is empty");
    }
    let mut all = REGISTERED.lock();
    let is_known = matches!(name, NATIVE | INTERNAL | EXTERNAL);
    if is_known || all.iter().any(|known| known.name == name) {
        return fail!(
            Class::DupDatarep,
            "datarep is \"{name}\", which is there already"
        );
    }
    let name = name.to_owned();
    all.push(Box::leak(Box::new(Registered { name, functions })));
    Ok(())
}

#[derive(Clone, Copy)]
pub enum Datarep {
    /// The bytes of memory: "native", and "internal" too.
    Native,
    /// "external32".
    External,
    Registered(&'static Registered),
}

impl Datarep {
    /// Errors: MPI_ERR_UNSUPPORTED_DATAREP.
    pub fn of(name: &str) -> Result<Datarep> {
        match name {
            NATIVE | INTERNAL => return Ok(Datarep::Native),
            EXTERNAL => return Ok(Datarep::External),
            _ => {}
        }
        let known = REGISTERED.lock().iter().copied().find(|by| by.name == name);
        match known {
            Some(by) => Ok(Datarep::Registered(by)),
            None => fail!(
                Class::UnsupportedDatarep,
                "datarep is \"{name}\"; known are \"{NATIVE}\", \"{INTERNAL}\", \"{EXTERNAL}\" and those registered"
            ),
        }
    }

    pub fn is_native(&self) -> bool {
        matches!(self, Datarep::Native)
    }

    /// A view will have it.
    pub fn begin(&self) {
        if !self.is_native() {
            CONVERTS.store(true, Ordering::Relaxed);
        }
    }

    /// Where the data of a type lies in the file. Elements of its signature are those of memory, or if the representation was registered
    /// entries of the type map.
    ///
    /// Errors: MPI_ERR_CONVERSION; MPI_ERR_ARG, the type would be too large.
    pub fn layout(&self, datatype: &'static Datatype) -> Result<Layout> {
        match self {
            Datarep::Native => Ok(datatype.layout().clone()),
            Datarep::External => scaled(datatype, &mut |leaf| {
                let signature = leaf.layout().signature.clone();
                leaf_of(signature.external_size, signature)
            }),
            Datarep::Registered(by) => scaled(datatype, &mut |leaf| {
                let bytes = by.extent(leaf)?;
                leaf_of(bytes.into(), item(bytes))
            }),
        }
    }
}

impl Registered {
    /// Bytes of a predefined type in the file.
    ///
    /// Errors: MPI_ERR_CONVERSION.
    fn extent(&self, datatype: &Datatype) -> Result<u32> {
        let (name, title) = (&self.name, datatype.title());
        match self.functions.extent(datatype.handle) {
            Err(code) => fail!(
                Class::Conversion,
                "dtype_file_extent_fn of the representation \"{name}\" returned {code} for {title}"
            ),
            Ok(bytes) => match u32::try_from(bytes) {
                Ok(bytes) if bytes > 0 => Ok(bytes),
                _ => fail!(
                    Class::Conversion,
                    "dtype_file_extent_fn of the representation \"{name}\" says that {title} has {bytes} bytes in the file"
                ),
            },
        }
    }
}

/// The signature of one entry of a type map that has so many bytes.
pub(super) fn item(bytes: u32) -> Signature {
    static ITEMS: Mutex<BTreeMap<u32, &'static Element>> = Mutex::new(BTreeMap::new());
    let mut items = ITEMS.lock();
    let element = items.entry(bytes).or_insert_with(|| {
        // For as long as the process runs, once for each size.
        Box::leak(Box::new(Element {
            scalar: Scalar::U8,
            parts: bytes,
            external: 1,
            name: "an item",
        }))
    });
    Signature::run(element, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{INT, get};

    struct Doubled;

    impl Functions for Doubled {
        fn extent(&self, datatype: i32) -> std::result::Result<i64, i32> {
            match get(datatype) {
                Some(datatype) if datatype.size < 8 => Ok(2 * datatype.size as i64),
                Some(_) => Ok(-4),
                None => Err(7),
            }
        }

        fn converts(&self, _: Direction) -> bool {
            false
        }

        unsafe fn convert(&self, _: Direction, _: Items) -> std::result::Result<(), i32> {
            Ok(())
        }
    }

    #[test]
    fn names_are_there_once() {
        for name in ["native", "internal", "external32"] {
            let error = register(name, Box::new(Doubled)).unwrap_err();
            assert_eq!(error.class(), Class::DupDatarep, "{name}");
        }
        let unknown = Datarep::of("doubled").err().unwrap();
        assert_eq!(unknown.class(), Class::UnsupportedDatarep);
        register("doubled", Box::new(Doubled)).unwrap();
        let error = register("doubled", Box::new(Doubled)).unwrap_err();
        assert_eq!(error.class(), Class::DupDatarep);
        let doubled = Datarep::of("doubled").unwrap();
        let layout = doubled.layout(get(INT).unwrap()).unwrap();
        assert_eq!(
            (layout.size, layout.extent(), layout.signature.elements),
            (8, 8, 1)
        );
        let double = get(0x4c00_080b).unwrap();
        let error = doubled.layout(double).unwrap_err();
        assert_eq!(error.class(), Class::Conversion);
        assert!(error.text().contains("-4"), "{error:?}");
    }
}
