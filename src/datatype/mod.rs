//! Datatypes: what lies where in a user's buffer, and the statuses that count in them.
//!
//! Invariant: a `Datatype` never changes after it was made, but for being committed, its name and attributes, so that
//! buffers and pending requests may keep a reference to it.

mod basic;
mod bounds;
mod contents;
pub mod copying;
pub mod create;
pub mod external;
mod form;
mod layout;
mod list;
pub mod nontemporal;
#[cfg(test)]
mod oracle;
mod order;
mod overlap;
pub mod pack;
mod pattern;
mod places;
mod predefined;
mod ranges;
mod scalar;
mod scaled;
mod signature;
mod status;

pub use contents::{Combiner, Contents, Numbers};
pub use layout::{Layout, Member};
pub use order::Order;
#[cfg(test)]
pub use pack::copies;
pub use pack::{Buffer, MemoryKind, Parts, Scratch};
pub use ranges::Range;
pub use scalar::{Category, Scalar};
pub use scaled::{leaf_of, scaled};
pub use signature::{Element, Signature};
pub use status::Status;

use crate::attr::Attributes;
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, Table, null};
use crate::references::{self, References};
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use parking_lot::Mutex;

/// MPI_DATATYPE_NULL.
pub const NULL: i32 = null(ObjectType::Datatype);
pub const BYTE: i32 = 0x4c00_010d;
pub const INT: i32 = 0x4c00_0405;
pub const PACKED: i32 = 0x4c00_010f;

/// One datatype. Sizes and extents are in bytes.
pub struct Datatype {
    pub handle: i32,
    /// Bytes of data in one element of this type, holes not counted.
    pub size: u64,
    pub lb: i64,
    pub extent: i64,
    pub true_lb: i64,
    pub true_extent: i64,
    pub category: Category,
    /// The scalars of one element of a predefined type in their order: one, or two of a pair or complex type.
    pub scalars: &'static [Scalar],
    contiguous: bool,
    /// Whether buffers of it are bare bytes, which need no type: it has no holes, and is not counted.
    lies_bare: AtomicBool,
    committed: AtomicBool,
    /// `None` of a predefined type, whose layout is made when it is first asked for.
    layout: Option<Layout>,
    pub attributes: Attributes,
    /// What it was made from.
    pub contents: Contents,
    /// See [`Datatype::basic`].
    basic: basic::Basic,
    /// Types, alive or not yet given back, that were made from this one. Of predefined types nothing is counted.
    uses: AtomicU32,
    /// Those of requests, where the scheme counts them.
    pub references: References,
    /// How many types had been made before this one.
    born: u64,
    /// Bytes of the library's own that come first, of a type made for one message.
    prefix: Option<pack::Prefix>,
    given_name: &'static str,
    new_name: Mutex<Option<String>>,
}

impl Datatype {
    /// A derived type; it has to be put under its handle yet. Under the guard of `TYPES`.
    #[inline(always)]
    fn derived(handle: i32, layout: Layout, contents: Contents) -> Datatype {
        let born = BIRTHS.load(Ordering::Relaxed) as u64;
        BIRTHS.store(born as usize + 1, Ordering::Release);
        Datatype {
            handle,
            size: layout.size,
            lb: layout.lb(),
            extent: layout.extent(),
            true_lb: layout.true_lb(),
            true_extent: layout.true_extent(),
            category: Category::Derived,
            scalars: &[],
            contiguous: layout.is_contiguous(),
            lies_bare: AtomicBool::new(layout.is_contiguous() && !references::are_counted()),
            committed: AtomicBool::new(false),
            layout: Some(layout),
            attributes: Attributes::new(),
            contents,
            basic: basic::Basic::new(),
            uses: AtomicU32::new(0),
            references: References::of_program(),
            born,
            prefix: None,
            given_name: "",
            new_name: Mutex::new(None),
        }
    }

    /// Whether elements of this type follow each other from their address on without holes, in the order of memory.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether a buffer of elements of this type need not remember it.
    #[inline(always)]
    fn lies_bare(&self) -> bool {
        self.lies_bare.load(Ordering::Relaxed)
    }

    /// Where the data lies, and what it is.
    #[inline]
    pub fn layout(&self) -> &Layout {
        match &self.layout {
            Some(layout) => layout,
            None => predefined::layout(self),
        }
    }

    /// Whether data may be sent and received with it.
    #[inline]
    pub fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Acquire)
    }

    /// MPI_Type_commit.
    pub fn commit(&self) {
        self.committed.store(true, Ordering::Release);
    }

    /// Whether this is one of the types of the standard, or of Fortran's kinds, which cannot be freed.
    #[inline]
    pub fn is_predefined(&self) -> bool {
        use Combiner::{F90Complex, F90Integer, F90Real, Named};
        let combiner = self.contents.combiner;
        matches!(combiner, Named | F90Integer | F90Real | F90Complex)
    }

    /// How many types had been made before this one.
    pub fn born(&self) -> u64 {
        self.born
    }

    /// Whether it lives in the table and ends some day: what a program makes, and what the library makes for one message.
    pub fn can_end(&self) -> bool {
        self.prefix.is_some() || !self.is_predefined()
    }

    /// Whether others were made of it, and live.
    fn is_named(&self) -> bool {
        self.uses.load(Ordering::Acquire) > 0
    }

    /// The types it was made from that can be freed.
    #[inline(always)]
    fn derived_olds(&self) -> impl Iterator<Item = &'static Datatype> {
        let olds = self.contents.datatypes.iter().copied();
        olds.filter(|old| !old.is_predefined())
    }

    /// The name set last by MPI_Type_set_name, or the one in mpi.h.
    pub fn name(&self) -> String {
        match &*self.new_name.lock() {
            Some(name) => name.clone(),
            None => self.given_name.to_owned(),
        }
    }

    /// The name, or the handle where there is none, for texts.
    pub fn title(&self) -> String {
        match self.name() {
            name if name.is_empty() => format!("{:#010x}", self.handle),
            name => name,
        }
    }

    pub fn set_name(&self, name: &str) {
        *self.new_name.lock() = Some(name.to_owned());
    }
}

static TYPES: Table<Datatype> = Table::starting_at(ObjectType::Datatype, predefined::DIRECT_PAIRS);

/// Types made so far. Counted under the guard of `TYPES`.
static BIRTHS: AtomicUsize = AtomicUsize::new(0);

/// Types made so far.
pub fn births() -> u64 {
    BIRTHS.load(Ordering::Acquire) as u64
}

/// Whether several threads may make and end types at once; if nobody says otherwise, they may.
///
/// # Safety
/// Nobody makes or ends a type meanwhile; without threads, one thread at a time does.
#[allow(unsafe_code)]
pub unsafe fn share(threads: bool) {
    // SAFETY: by the caller.
    unsafe { TYPES.share(threads) };
}

/// When MPI starts, before there is a buffer.
pub fn start() {
    if references::are_counted() && references::are_counted_of(true) {
        predefined::all().for_each(|datatype| datatype.lies_bare.store(false, Ordering::Release));
    }
}

/// The datatype of a handle; `None` for MPI_DATATYPE_NULL and for what is no datatype.
#[inline]
pub fn get(handle: i32) -> Option<&'static Datatype> {
    predefined::find(handle).or_else(|| TYPES.get(handle))
}

/// A new type, not committed.
#[inline(always)]
fn insert(layout: Layout, contents: Contents) -> Result<&'static Datatype> {
    insert_as(layout, Category::Derived, &[], contents)
}

/// A new type of the same data as `base`, for reductions too; committed if that is.
fn insert_like(base: &Datatype, contents: Contents) -> Result<&'static Datatype> {
    let new = insert_as(base.layout().clone(), base.category, base.scalars, contents)?;
    if base.is_committed() {
        new.commit();
    }
    Ok(new)
}

/// A new handle of the same type: also what it was made from is the same. It has no attributes and no name.
pub fn another_handle(datatype: &Datatype) -> Result<&'static Datatype> {
    insert_like(datatype, datatype.contents.clone())
}

#[inline(always)]
fn insert_as(
    layout: Layout,
    category: Category,
    scalars: &'static [Scalar],
    contents: Contents,
) -> Result<&'static Datatype> {
    let new = TYPES.insert_with(|handle| Datatype {
        category,
        scalars,
        ..Datatype::derived(handle, layout, contents)
    })?;
    for old in new.derived_olds() {
        old.uses.fetch_add(1, Ordering::Relaxed);
    }
    Ok(new)
}

/// Makes a type last until [`let_go`], also when the program has freed it: as if another one were made from it.
pub fn keep(datatype: &'static Datatype) {
    if !datatype.is_predefined() {
        datatype.uses.fetch_add(1, Ordering::Relaxed);
    }
}

/// Ends one [`keep`]; true if nothing keeps the type any more.
pub(crate) fn let_go(datatype: &'static Datatype) -> bool {
    !datatype.is_predefined() && datatype.uses.fetch_sub(1, Ordering::AcqRel) == 1
}

/// Fails for a predefined type; else how many types had been made before this one, or nothing if it is gone.
pub fn may_be_freed(handle: i32) -> Result<Option<u64>> {
    let Some(datatype) = get(handle) else {
        return Ok(None);
    };
    if datatype.is_predefined() {
        return fail!(
            Class::Type,
            "datatype is {}, which is predefined and cannot be freed",
            datatype.name()
        );
    }
    Ok(Some(datatype.born))
}

/// Ends the handle of a type; its memory stays for operations that use it, until [`reclaim`].
pub(crate) fn retire(handle: i32) {
    if references::are_counted()
        && let Some(datatype) = TYPES.get(handle)
    {
        datatype.references.give();
    }
    TYPES.retire(handle);
}

/// Whether requests have a type that was retired, where they count.
pub(crate) fn is_counted(handle: i32) -> bool {
    TYPES
        .retired(handle)
        .is_some_and(|datatype| !datatype.references.are_gone())
}

/// Whether others were made of a type that was retired, and live.
pub(crate) fn is_named(handle: i32) -> bool {
    TYPES.retired(handle).is_some_and(Datatype::is_named)
}

/// Ends a type that is alive, if no other one was made from it; true if it is gone. `unnamed` gets those that it was made of
/// if they were retired and no other names them.
///
/// For [`crate::lifetime::datatypes`] only, when no request and no other call uses the type.
pub(crate) fn remove(handle: i32, unnamed: impl FnMut(i32)) -> bool {
    TYPES
        .get(handle)
        .is_some_and(|datatype| forget_olds(datatype, unnamed))
        && end(handle)
}

/// Gives back a type that was retired, if no other one was made from it; true if it is gone. `unnamed` as in [`remove`].
///
/// For [`crate::lifetime::collector`] only, when no request and no call uses the type.
pub(crate) fn reclaim(handle: i32, unnamed: impl FnMut(i32)) -> bool {
    let retired = TYPES.retired(handle);
    match retired.map(|datatype| forget_olds(datatype, unnamed)) {
        Some(forgotten) => forgotten && end(handle),
        None => true,
    }
}

/// Unless it is in use: what it was made from is so no more by this type.
fn forget_olds(datatype: &Datatype, mut unnamed: impl FnMut(i32)) -> bool {
    if datatype.is_named() {
        return false;
    }
    for old in datatype.derived_olds() {
        if old.uses.fetch_sub(1, Ordering::AcqRel) == 1 {
            unnamed(old.handle);
        }
    }
    true
}

/// By its handle: a reference that is an argument has to stay good as long as the function runs.
#[allow(unsafe_code)]
fn end(handle: i32) -> bool {
    // SAFETY: types made from this one are gone, and the caller knows that no request and no call uses it; every other use
    // looks it up by its handle, which is dead or dies here.
    unsafe { TYPES.reclaim(handle) }
}

/// The handles of all predefined types.
pub fn predefined_handles() -> impl Iterator<Item = i32> {
    predefined::all().map(|datatype| datatype.handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_changed() {
        let datatype = get(0x4c00_0809).unwrap();
        assert_eq!(datatype.name(), "MPI_LONG_LONG_INT");
        datatype.set_name("mine");
        assert_eq!(datatype.name(), "mine");
        datatype.set_name("MPI_LONG_LONG_INT");
    }

    #[test]
    fn duplicates() {
        let old = get(0x8c00_0003_u32 as i32).unwrap(); // MPI_SHORT_INT
        let new = create::dup(old).unwrap();
        assert_ne!(new.handle, old.handle);
        assert_eq!((new.size, new.extent, new.true_extent), (6, 8, 8));
        assert_eq!(new.contents.datatypes[0].handle, old.handle);
        assert_eq!(new.name(), "");
        assert!(!new.is_predefined());
        let handle = new.handle;
        assert!(remove(handle, |_| {}));
        assert!(get(handle).is_none());
        assert_eq!(may_be_freed(old.handle).unwrap_err().class(), Class::Type);
    }

    #[test]
    fn a_freed_type_stays_for_those_made_from_it() {
        let child = create::vector(false, 2, 1, 3, get(INT).unwrap()).unwrap();
        let parent = create::contiguous(false, 2, child).unwrap();
        let (child, parent) = (child.handle, parent.handle);
        assert!(!remove(child, |_| {}));
        retire(child);
        assert!(get(child).is_none());
        assert!(is_named(child) && !reclaim(child, |_| {}));
        let contents = &get(parent).unwrap().contents;
        assert_eq!(contents.datatypes[0].size, 8);
        let mut unnamed = Vec::new();
        assert!(remove(parent, |old| unnamed.push(old)));
        assert_eq!(unnamed, [child]);
        assert!(reclaim(child, |_| {}));
        assert!(TYPES.retired(child).is_none());
    }

    #[test]
    fn what_is_no_datatype() {
        for handle in [0, NULL, -1, 0x4c00_0505, 0x4c00_02ff, 0x4400_0000] {
            assert!(get(handle).is_none(), "{handle:#x}");
        }
        assert!(get(0x8c00_0fff_u32 as i32).is_none());
        assert!(get(0x8800_0000_u32 as i32).is_none());
    }
}
