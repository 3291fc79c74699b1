//! The hardware resources that this process is confined to, by its affinity mask, as /sys tells them.
//!
//! Invariant: on one node, two processes get the same number for a kind exactly when they are confined to the same
//! resource.

use super::cancellation::uncancelled;
use super::schedule::affinity;
use std::fs;

/// Kinds of resources, from the whole to the smallest, with the names of hwloc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Machine,
    Package,
    NumaNode,
    L3Cache,
    L2Cache,
    L1Cache,
    Core,
    Pu,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Machine,
        Kind::Package,
        Kind::NumaNode,
        Kind::L3Cache,
        Kind::L2Cache,
        Kind::L1Cache,
        Kind::Core,
        Kind::Pu,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Machine => "Machine",
            Kind::Package => "Package",
            Kind::NumaNode => "NUMANode",
            Kind::L3Cache => "L3Cache",
            Kind::L2Cache => "L2Cache",
            Kind::L1Cache => "L1Cache",
            Kind::Core => "Core",
            Kind::Pu => "PU",
        }
    }

    /// By name, upper or lower case, with or without `hwloc://` before it; a package may be called a socket.
    pub fn of(name: &str) -> Option<Kind> {
        let name = name.strip_prefix("hwloc://").unwrap_or(name);
        if name.eq_ignore_ascii_case("Socket") {
            return Some(Kind::Package);
        }
        let mut kinds = Kind::ALL.into_iter();
        kinds.find(|kind| kind.name().eq_ignore_ascii_case(name))
    }
}

/// The number of the one resource of this kind that the calling thread is confined to; `None` if it may use several,
/// or there is no such thing.
pub fn confined_to(kind: Kind) -> Option<u32> {
    let mask = affinity();
    let cores = (0..mask.len() * 64).filter(|core| mask[core / 64] & 1 << (core % 64) != 0);
    uncancelled(|| {
        let mut numbers = cores.map(|core| number(kind, core));
        let first = numbers.next()??;
        numbers.all(|other| other == Some(first)).then_some(first)
    })
}

/// The number of the resource that a processor belongs to: for what has no number of its own, its first processor.
fn number(kind: Kind, core: usize) -> Option<u32> {
    let file = |what: &str| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{core}/{what}"));
    let first = |list: &str| list.trim().split([',', '-']).next()?.parse().ok();
    match kind {
        Kind::Machine => Some(0),
        Kind::Pu => Some(core as u32),
        Kind::Package => file("topology/physical_package_id")
            .ok()?
            .trim()
            .parse()
            .ok(),
        Kind::Core => first(&file("topology/thread_siblings_list").ok()?),
        Kind::NumaNode => {
            let entries = fs::read_dir(format!("/sys/devices/system/cpu/cpu{core}")).ok()?;
            let names = entries
                .flatten()
                .filter_map(|entry| entry.file_name().into_string().ok());
            names
                .filter_map(|name| name.strip_prefix("node")?.parse().ok())
                .next()
        }
        Kind::L3Cache | Kind::L2Cache | Kind::L1Cache => {
            let level = match kind {
                Kind::L3Cache => "3",
                Kind::L2Cache => "2",
                _ => "1",
            };
            let is_it = |at: &usize| {
                let has = |what: &str, value: &str| {
                    file(&format!("cache/index{at}/{what}")).is_ok_and(|text| text.trim() == value)
                };
                has("level", level) && !has("type", "Instruction")
            };
            let at = (0..8).find(is_it)?;
            first(&file(&format!("cache/index{at}/shared_cpu_list")).ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(kind.name()), Some(kind));
        }
        assert_eq!(Kind::of("hwloc://numanode"), Some(Kind::NumaNode));
        assert_eq!(Kind::of("Socket"), Some(Kind::Package));
        assert_eq!(Kind::of("Gpu"), None);
    }

    #[test]
    fn every_process_is_confined_to_its_machine() {
        assert_eq!(confined_to(Kind::Machine), Some(0));
    }
}
