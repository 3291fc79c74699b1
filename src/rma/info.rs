//! Hints of windows: which are known, and what the library tells of those in use.
//!
//! Invariant: what decides how memory is reached or changed is fixed when the window is made, and the same on all ranks.

use super::share::{HINT, Share};
use super::window::{Flavor, Way, Window};
use crate::error::Result;
use crate::info::{Info, kinds};
use crate::variables::Value;

pub const NONCONTIG: &str = "alloc_shared_noncontig";
const GRANULARITY: &str = "mpi_accumulate_granularity";
const ACCUMULATE: &str = "oxmpi_accumulate";
const PRIVATE_ACCESS: &str = "oxmpi_private_access";
const ALIGNMENT: &str = "mpi_minimum_memory_alignment";
const ORDERING: &str = "accumulate_ordering";

/// The largest granularity, bytes, with which elements are accumulated one by one.
const FINE: u64 = 16;
/// The largest part of a window that is taken for counters, bytes.
const SMALL: u64 = 4096;

/// Hints with a default; a program may change those later that have `true` here.
const KNOWN: [(&str, &str, bool); 6] = [
    ("no_locks", "false", true),
    (ORDERING, "rar,raw,war,waw", true),
    ("accumulate_ops", "same_op_no_op", true),
    (GRANULARITY, "0", false),
    ("same_size", "false", false),
    ("same_disp_unit", "false", false),
];

/// Whether a value is one that the hint can have.
fn is_valid(key: &str, value: &str) -> bool {
    let is_ordering = |word: &str| matches!(word, "rar" | "raw" | "war" | "waw");
    match key {
        ORDERING => value == "none" || value.split(',').all(is_ordering),
        "accumulate_ops" => matches!(value, "same_op" | "same_op_no_op"),
        GRANULARITY => value.parse::<u64>().is_ok(),
        _ => matches!(value, "true" | "false"),
    }
}

/// What a rank wishes of the method of accumulates; a number that ranks tell each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Method {
    Any = 0,
    Element = 1,
    Lock = 2,
}

impl Method {
    pub fn of(hints: &Info) -> Method {
        match hints.get(ACCUMULATE) {
            Ok(Some("element")) => return Method::Element,
            Ok(Some("lock")) => return Method::Lock,
            _ => {}
        }
        let granularity = hints.get(GRANULARITY).ok().flatten();
        match granularity.and_then(|bytes| bytes.parse::<u64>().ok()) {
            None | Some(0) => Method::Any,
            Some(bytes) if bytes <= FINE => Method::Element,
            Some(_) => Method::Lock,
        }
    }

    pub fn of_number(number: u64) -> Method {
        match number {
            1 => Method::Element,
            2 => Method::Lock,
            _ => Method::Any,
        }
    }

    /// Whether elements are accumulated one by one, where all memory can be addressed by all: `largest` is that of the largest part.
    pub fn agree(wishes: impl Iterator<Item = Method> + Clone, largest: u64) -> bool {
        let mut each = wishes.clone();
        if each.all(|wish| wish == Method::Element) {
            return true;
        }
        largest <= SMALL && wishes.clone().all(|wish| wish != Method::Lock)
    }
}

/// Whether a hint that is off by default is on.
pub fn is_on(hints: &Info, key: &str) -> bool {
    matches!(hints.get(key), Ok(Some("true")))
}

/// The alignment that a program wishes for memory that it is given, bytes; a power of two.
pub fn alignment(hints: &Info) -> Option<usize> {
    let wish = hints.get(ALIGNMENT).ok().flatten()?.parse::<usize>().ok()?;
    wish.is_power_of_two().then_some(wish)
}

/// What a window keeps of the hints that it was made with: the known ones that are not as by default, since there may be many windows.
pub fn kept(flavor: Flavor, hints: &Info, is_contiguous: bool) -> Result<Info> {
    let mut kept = Info::new();
    for (key, default, _) in KNOWN {
        let given = hints.get(key)?.filter(|value| is_valid(key, value));
        if let Some(value) = given.filter(|value| *value != default) {
            kept.set(key, value)?;
        }
    }
    if flavor == Flavor::Shared {
        kept.set(NONCONTIG, if is_contiguous { "false" } else { "true" })?;
    }
    if matches!(flavor, Flavor::Shared | Flavor::Allocate)
        && let Some(alignment) =
            alignment(hints).filter(|wish| *wish <= super::room::MOST_ALIGNMENT)
    {
        kept.set(ALIGNMENT, &alignment.to_string())?;
    }
    if matches!(flavor, Flavor::Create | Flavor::Dynamic)
        && let Some(value) = hints.get(HINT)?
        && Share::parse(value).is_some()
    {
        kept.set(HINT, value)?;
    }
    let promise = hints.get(kinds::PROMISE)?;
    if let Some(value) = promise.filter(|value| kinds::are_supported(value)) {
        kept.set(kinds::PROMISE, value)?;
    }
    Ok(kept)
}

/// The hints in use: those kept, and defaults.
fn in_use(kept: &Info) -> Result<Info> {
    let mut used = Info::new();
    for (key, default, _) in KNOWN {
        used.set(key, kept.get(key)?.unwrap_or(default))?;
    }
    for (key, value) in kept.entries() {
        used.set(key, value)?;
    }
    used.set(kinds::KEY, kinds::ALWAYS)?;
    Ok(used)
}

impl Window {
    /// MPI_Win_set_info. Hints that cannot change any more, unknown ones and bad values are passed over.
    pub fn set_info(&self, new: &Info) -> Result<()> {
        let mut hints = self.info.lock();
        for (key, _, changes) in KNOWN {
            let value = new
                .get(key)?
                .filter(|value| changes && is_valid(key, value));
            if let Some(value) = value {
                hints.set(key, value)?;
            }
        }
        Ok(())
    }

    /// MPI_Win_get_info: the hints in use, and how the window works.
    pub fn get_info(&self) -> Result<Info> {
        let hints = self.info.lock();
        let mut info = in_use(&hints)?;
        if matches!(self.flavor, Flavor::Create | Flavor::Dynamic) {
            info.set(HINT, &Share::of(hints.get(HINT)?).to_string())?;
        }
        let method = if self.element_mode { "element" } else { "lock" };
        info.set(ACCUMULATE, method)?;
        if let Some(way) = self.private_way() {
            info.set(PRIVATE_ACCESS, way)?;
        }
        Ok(info)
    }

    /// Whether only its process can address a rank's memory, but for sharing in place.
    fn is_private_at(&self, rank: usize) -> bool {
        matches!(self.targets[rank].way, Way::Kernel | Way::Helper)
    }

    /// How this process reaches memory that only others can address; `None`: there is none.
    fn private_way(&self) -> Option<&'static str> {
        let others = || (0..self.size()).filter(|rank| *rank != self.rank);
        let ways: Vec<Way> = match self.flavor {
            Flavor::Dynamic => others()
                .map(|rank| super::ways::to(self.targets[rank].process))
                .collect(),
            _ => others().map(|rank| self.targets[rank].way).collect(),
        };
        let are_shared = || {
            let mut private = others().filter(|rank| self.is_private_at(*rank));
            private.all(|rank| self.block.target(rank).place.pages().is_some())
        };
        let by_kernel = ways.iter().any(|way| matches!(way, Way::Kernel));
        let by_helper = ways.iter().any(|way| matches!(way, Way::Helper));
        match (by_helper, by_kernel) {
            (false, false) => None,
            _ if !self.is_dynamic() && are_shared() => Some("shared"),
            (true, _) => Some("helper"),
            (false, true) => Some("kernel"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(entries: &[(&str, &str)]) -> Info {
        let mut info = Info::new();
        for (key, value) in entries {
            info.set(key, value).unwrap();
        }
        info
    }

    #[test]
    fn methods_are_agreed() {
        use Method::{Any, Element, Lock};
        let agree = |wishes: &[Method], largest| Method::agree(wishes.iter().copied(), largest);
        assert!(agree(&[Any, Any], SMALL));
        assert!(!agree(&[Any, Any], SMALL + 1));
        assert!(agree(&[Element, Element], 1 << 40));
        assert!(!agree(&[Element, Any], 1 << 40));
        assert!(!agree(&[Element, Lock], 8));
        assert_eq!(Method::of(&hints(&[(GRANULARITY, "8")])), Element);
        assert_eq!(Method::of(&hints(&[(GRANULARITY, "17")])), Lock);
        assert_eq!(Method::of(&hints(&[(GRANULARITY, "0")])), Any);
        let both = hints(&[(GRANULARITY, "8"), (ACCUMULATE, "lock")]);
        assert_eq!(Method::of(&both), Lock);
    }

    #[test]
    fn unknown_hints_and_bad_values_are_not_told() {
        let given = hints(&[
            ("no_locks", "true"),
            ("same_size", "maybe"),
            ("color", "red"),
        ]);
        let used = in_use(&kept(Flavor::Create, &given, true).unwrap()).unwrap();
        assert_eq!(used.get("no_locks").unwrap(), Some("true"));
        assert_eq!(used.get("same_size").unwrap(), Some("false"));
        assert_eq!(used.get("color").unwrap(), None);
        assert_eq!(used.get(NONCONTIG).unwrap(), None);
        let used = in_use(&kept(Flavor::Shared, &given, true).unwrap()).unwrap();
        assert_eq!(used.get(NONCONTIG).unwrap(), Some("false"));
    }
}
