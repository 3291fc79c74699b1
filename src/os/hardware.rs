//! The hardware resources that this process is confined to, by its affinity mask, as /sys tells them.
//!
//! What belongs to a processor is looked up once a process, when it is first asked for; the mask, which may change, each time.
//! Invariant: on one node, two processes get the same number for a kind exactly when they are confined to the same
//! resource.

use super::cancellation::uncancelled;
use super::schedule::{CPU_WORDS, affinity};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::fs;
use std::os::unix::fs::MetadataExt;

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

/// Where the calling thread may run now.
pub struct Binding {
    mask: [u64; CPU_WORDS],
}

impl Binding {
    pub fn now() -> Binding {
        Binding { mask: affinity() }
    }

    /// The number of the one resource of this kind that the thread is confined to; `None` if it may use several, or there
    /// is no such thing.
    pub fn confined_to(&self, kind: Kind) -> Option<u32> {
        let allowed = |core: &usize| self.mask[core / 64] & 1 << (core % 64) != 0;
        let cores = (0..CPU_WORDS * 64).filter(allowed);
        let mut numbers = cores.map(|core| number(kind, core));
        let first = numbers.next()??;
        numbers.all(|other| other == Some(first)).then_some(first)
    }
}

/// What was found for each kind and processor: 0 nothing yet, 1 that there is no such resource, else its number and 2. Threads that
/// look at the same time find the same.
static FOUND: [[AtomicU32; CPU_WORDS * 64]; Kind::ALL.len()] =
    [const { [const { AtomicU32::new(0) }; CPU_WORDS * 64] }; Kind::ALL.len()];

/// How often the system was asked.
static LOOKUPS: AtomicU64 = AtomicU64::new(0);

pub fn lookups() -> u64 {
    LOOKUPS.load(Ordering::Relaxed)
}

/// The number of the resource that a processor belongs to.
fn number(kind: Kind, core: usize) -> Option<u32> {
    match kind {
        Kind::Machine => return Some(0),
        Kind::Pu => return Some(core as u32),
        _ => {}
    }
    let found = &FOUND[kind as usize][core];
    match found.load(Ordering::Relaxed) {
        0 => {
            LOOKUPS.fetch_add(1, Ordering::Relaxed);
            let number = uncancelled(|| look_up(kind, core));
            found.store(
                number.map_or(1, |number| number.saturating_add(2)),
                Ordering::Relaxed,
            );
            number
        }
        1 => None,
        number => Some(number - 2),
    }
}

/// Whether two processors have a cache in common, if /sys is to be believed: that of a virtual machine is not, for its host places
/// virtual processors as it likes.
pub fn share_cache(one: usize, other: usize) -> Option<bool> {
    if is_virtual() || one.max(other) >= CPU_WORDS * 64 {
        return None;
    }
    let largest = |core| number(Kind::L3Cache, core).or_else(|| number(Kind::L2Cache, core));
    Some(largest(one)? == largest(other)?)
}

/// Whether a hypervisor runs this system, or it cannot be known.
fn is_virtual() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        static KNOWN: AtomicU32 = AtomicU32::new(0);
        known(&KNOWN, || std::arch::x86_64::__cpuid(1).ecx >> 31 != 0)
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    true
}

/// Whether a core loads from another core's cache, however far away, as fast as from memory. Intel's do: on family 6 model 207, cores 200 ns
/// apart, data of 64 KB in ordinary stores reaches another core in 0.75 of the time of non-temporal ones. On AMD's Zen 3 such loads are three to ten
/// times slower than those from memory.
pub fn loads_from_far_caches_are_fast() -> bool {
    is_intel()
}

/// Whether the processor is Intel's.
pub fn is_intel() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        static KNOWN: AtomicU32 = AtomicU32::new(0);
        known(&KNOWN, || is_vendor(b"GenuineIntel"))
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

/// Whether a string move (`rep movsb`) is the best copy to memory that another core reads next, however far away that core is, and from there. On
/// AMD's family 26 (Zen 5) it is (benches/counts.md), wherever source and target lie. On Intel's it is slow where the target lies a few bytes behind the
/// source modulo a page; other processors of AMD's were not tried.
pub fn string_moves_are_best_between_cores() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        static KNOWN: AtomicU32 = AtomicU32::new(0);
        known(&KNOWN, || is_amd() && family() >= 26)
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn is_vendor(name: &[u8; 12]) -> bool {
    let vendor = std::arch::x86_64::__cpuid(0);
    let words = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    words.as_flattened() == name
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn is_amd() -> bool {
    is_vendor(b"AuthenticAMD")
}

/// As AMD numbers it: the base family, and the extended one where that is 15.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn family() -> u32 {
    let signature = std::arch::x86_64::__cpuid(1).eax;
    match signature >> 8 & 15 {
        15 => 15 + (signature >> 20 & 255),
        base => base,
    }
}

/// What the processor was asked once, because a hypervisor makes the instruction slow. `answer`: 0 nobody asked, 1 no, 2 yes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn known(answer: &AtomicU32, ask: impl Fn() -> bool) -> bool {
    match answer.load(Ordering::Relaxed) {
        0 => {
            let is = ask();
            answer.store(1 + u32::from(is), Ordering::Relaxed);
            is
        }
        known => known == 2,
    }
}

/// A directory's file system and number there; `None` for what is no directory that this process sees.
pub fn directory(path: &str) -> Option<[u32; 4]> {
    let found = uncancelled(|| fs::metadata(path)).ok()?;
    let (device, number) = (found.dev(), found.ino());
    let identity = [device, device >> 32, number, number >> 32];
    found.is_dir().then(|| identity.map(|word| word as u32))
}

/// What /sys says: for what has no number of its own, its first processor.
fn look_up(kind: Kind, core: usize) -> Option<u32> {
    let file = |what: &str| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{core}/{what}"));
    let first = |list: &str| list.trim().split([',', '-']).next()?.parse().ok();
    match kind {
        Kind::Machine | Kind::Pu => None,
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

/// The largest cache of the first core that this process may run on, bytes; how many cores share it, and how many cores there are.
/// `None`: /sys says nothing of it.
pub fn last_level_cache() -> Option<(u64, u64, u64)> {
    let mask = affinity();
    let core = (0..CPU_WORDS * 64).find(|core| mask[core / 64] & 1 << (core % 64) != 0)?;
    uncancelled(|| {
        let of = |at: usize, what: &str| {
            fs::read_to_string(format!(
                "/sys/devices/system/cpu/cpu{core}/cache/index{at}/{what}"
            ))
        };
        let largest = (0..8).rev().find_map(|at| {
            let text = of(at, "size").ok()?;
            let bytes = text.trim().strip_suffix('K')?.parse::<u64>().ok()? << 10;
            Some((bytes, cores_of(&of(at, "shared_cpu_list").ok()?)?))
        });
        let cores = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
        let (bytes, sharers) = largest?;
        Some((bytes, sharers, cores_of(&cores)?))
    })
}

/// How many there are in a list as `0-3,8`.
fn cores_of(list: &str) -> Option<u64> {
    let ranges = list.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    });
    ranges.sum()
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
    fn lists_of_cores_are_counted() {
        assert_eq!(cores_of("0-3,8,10-11\n"), Some(7));
        assert_eq!(cores_of("5"), Some(1));
        for wrong in ["", "3-1", "all"] {
            assert_eq!(cores_of(wrong), None);
        }
    }

    #[test]
    fn every_process_is_confined_to_its_machine() {
        assert_eq!(Binding::now().confined_to(Kind::Machine), Some(0));
    }

    #[test]
    fn the_system_is_asked_once() {
        let ask = || Kind::ALL.map(|kind| Binding::now().confined_to(kind));
        let first = ask();
        let before = lookups();
        assert!(before > 0);
        assert_eq!(ask(), first);
        assert_eq!(lookups(), before);
    }

    #[test]
    fn the_binding_is_asked_each_time() {
        let core = affinity()
            .iter()
            .zip((0..).step_by(64))
            .find(|(word, _)| **word != 0)
            .map(|(word, first)| first + word.trailing_zeros())
            .unwrap();
        // A thread of its own, whose mask ends with it.
        let bound = std::thread::spawn(move || {
            let mut one = rustix::thread::CpuSet::new();
            one.set(core as usize);
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            Binding::now().confined_to(Kind::Pu)
        });
        assert_eq!(bound.join().unwrap(), Some(core));
    }
}
