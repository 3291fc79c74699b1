//! Where the program has made what it has handles of, for lists of what it forgot.
//!
//! Invariant: nothing is noted, and no time is lost, unless [`begin`] was called. The handles are numbers here. A number that is used
//! again is noted again, so what is noted of an object that lives is true.

use super::cancellation::uncancelled;
use super::library::place_at;
use super::process::exported_caller;
use super::sites::{Callers, callers};
use crate::sync::{AtomicBool, Ordering};
use parking_lot::Mutex;
use std::backtrace::Backtrace;
use std::collections::HashMap;

/// A call of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The function of the library.
    pub function: String,
    /// Where it was called: `halo.c:88 in exchange`, or as much of it as symbols tell.
    pub place: String,
}

/// Functions of the library have names with these beginnings.
const EXPORTED: [&str; 4] = ["MPI_", "PMPI_", "MPIX_", "PMPIX_"];

/// By so many callers two calls are told apart: the first ones may be wrappers.
const NEAR: usize = 3;

static IS_NOTED: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct Noted {
    sites: Vec<Site>,
    known: HashMap<[u64; NEAR], u32>,
    of: HashMap<i32, u32>,
}

static NOTED: Mutex<Option<Noted>> = Mutex::new(None);

/// What has no handle: what it is, its name, and the place.
static NAMED: Mutex<Vec<(&'static str, String, u32)>> = Mutex::new(Vec::new());

/// From now on sites are noted.
pub fn begin() {
    IS_NOTED.store(true, Ordering::Relaxed);
}

/// Whether sites are noted.
#[inline]
pub fn is_noted() -> bool {
    IS_NOTED.load(Ordering::Relaxed)
}

impl Noted {
    /// The number of the place where the program is.
    fn here(&mut self) -> u32 {
        let callers = callers();
        let mut near = [0; NEAR];
        near.copy_from_slice(&callers[..NEAR]);
        if let Some(site) = self.known.get(&near) {
            return *site;
        }
        // It reads tables of names, once for each place.
        let site = uncancelled(|| {
            let trace = format!("{:#}", Backtrace::force_capture());
            describe(&trace, &callers)
        });
        let same = self.sites.iter().position(|it| *it == site);
        let number = same.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        }) as u32;
        self.known.insert(near, number);
        number
    }
}

/// The number of the place where the program is: [`site`] has it in words. It stays its number.
#[cold]
#[inline(never)]
pub fn here() -> u32 {
    NOTED.lock().get_or_insert_default().here()
}

/// The place of a number.
pub fn site(number: u32) -> Option<Site> {
    let noted = NOTED.lock();
    noted.as_ref()?.sites.get(number as usize).cloned()
}

/// The program makes this now.
#[cold]
#[inline(never)]
pub fn note(number: i32) {
    let mut noted = NOTED.lock();
    let noted = noted.get_or_insert_default();
    let site = noted.here();
    noted.of.insert(number, site);
}

/// The program makes something without a handle now: `what` in the singular.
pub fn note_named(what: &'static str, name: String) {
    if is_noted() {
        let site = here();
        NAMED.lock().push((what, name, site));
    }
}

/// It is given back.
pub fn forget_named(what: &'static str, name: &str) {
    if is_noted() {
        let mut named = NAMED.lock();
        if let Some(at) = named.iter().position(|it| it.0 == what && it.1 == name) {
            named.remove(at);
        }
    }
}

/// What was noted and not given back.
pub fn named() -> Vec<(&'static str, String, Site)> {
    let named = NAMED.lock().clone();
    let of = |(what, name, number)| (what, name, site(number).unwrap_or_default());
    named.into_iter().map(of).collect()
}

/// Where this was made, as far as it was noted.
pub fn of(number: i32) -> Option<Site> {
    let noted = NOTED.lock();
    let noted = noted.as_ref()?;
    let site = noted.of.get(&number)?;
    noted.sites.get(*site as usize).cloned()
}

/// All that was noted, dead or alive.
pub fn numbers() -> Vec<i32> {
    let noted = NOTED.lock();
    let mut all: Vec<i32> = noted.iter().flat_map(|it| it.of.keys().copied()).collect();
    all.sort_unstable();
    all
}

fn describe(trace: &str, callers: &Callers) -> Site {
    let function = exported_caller(&EXPORTED).unwrap_or_default();
    let function = match function.strip_prefix('P') {
        Some(plain) => plain.to_owned(),
        None => function,
    };
    Site {
        function,
        place: caller(trace, callers),
    }
}

/// What a frame shows: names, the innermost of functions that were put into each other first, and their lines.
#[derive(Debug, Default)]
struct Frame<'a> {
    /// Where it goes on.
    address: u64,
    names: Vec<&'a str>,
    lines: Vec<&'a str>,
}

impl Frame<'_> {
    /// A wrapper of another language or of a tool.
    fn is_wrapper(&self) -> bool {
        self.names.first().is_some_and(|name| {
            let of_fortran = name.starts_with("mpi_") || name.starts_with("pmpi_");
            of_fortran && name.ends_with('_')
                || name.starts_with("MPI::")
                || EXPORTED.iter().any(|beginning| name.starts_with(beginning))
        })
    }

    fn in_words(&self) -> Option<String> {
        let name = *self.names.first().filter(|name| **name != "<unknown>")?;
        let Some(line) = self.lines.first() else {
            return Some(name.to_owned());
        };
        // `./program.c:17:5`: without the folder and the column.
        let line = line.rsplit('/').next().unwrap_or(line);
        let mut parts = line.rsplitn(3, ':');
        let line = match (parts.next(), parts.next(), parts.next()) {
            (Some(_column), Some(line), Some(file)) => format!("{file}:{line}"),
            _ => line.to_owned(),
        };
        Some(format!("{line} in {name}"))
    }
}

/// The frames of a trace that has addresses: `  3:     0x55e0b4d0a1c9 - main`, and lines beginning with `at`.
fn frames(trace: &str) -> Vec<Frame<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    for line in trace.lines().map(str::trim) {
        let first = line.split_once(": ").and_then(|(number, rest)| {
            let (address, name) = rest.trim_start().strip_prefix("0x")?.split_once(" - ")?;
            let is_number = number.bytes().all(|digit| digit.is_ascii_digit());
            let address = u64::from_str_radix(address, 16).ok();
            Some((address.filter(|_| is_number)?, name))
        });
        match (first, frames.last_mut(), line.strip_prefix("at ")) {
            (Some((address, name)), _, _) => frames.push(Frame {
                address,
                names: vec![name],
                lines: Vec::new(),
            }),
            (None, Some(frame), Some(location)) => frame.lines.push(location),
            (None, Some(frame), None) => frame.names.push(line.trim_start_matches("- ")),
            (None, None, _) => {}
        }
    }
    frames
}

/// The first of the program's frames that is no wrapper.
fn caller(trace: &str, callers: &Callers) -> String {
    let frames = frames(trace);
    let frame_of = |address: &u64| {
        let is_it = |it: &&Frame<'_>| it.address == *address || it.address == address + 1;
        frames.iter().find(is_it)
    };
    let mut programs = callers.iter().filter_map(frame_of);
    let found = programs.find(|frame| !frame.is_wrapper());
    let words = found.and_then(Frame::in_words);
    let words = words.or_else(|| {
        // The address is within the call, so that it is the one that tools want.
        let address = found.map_or(callers[0], |frame| frame.address.wrapping_sub(1));
        let (file, distance) = place_at(address)?;
        let name = file.file_name()?.to_string_lossy().into_owned();
        Some(format!("{name}+{distance:#x}"))
    });
    words.unwrap_or_else(|| "a function without symbols".to_owned())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_the_first_of_the_program() {
        let trace = "   0:     0x10 - oxmpi::constructors::dup\n             at /src/x.rs:1:2\n   1:     0x20 - MPI_Comm_dup\n   2:     0x30 - setup\n             at /a/program.c:17:5\n   3:     0x40 - main\n";
        assert_eq!(
            caller(trace, &[0x2f, 0x3f, 0, 0, 0, 0, 0, 0]),
            "program.c:17 in setup"
        );
        assert_eq!(caller(trace, &[0x3f, 0, 0, 0, 0, 0, 0, 0]), "main");
        assert_eq!(caller(trace, &[0; 8]), "a function without symbols");
        // Of functions that are put into each other the innermost, with its own line.
        let inner = "1: 0x10 - exchange\n at ./halo.c:8:1\n  - residual\n at ./halo.c:30:1\n2: 0x20 - <unknown>";
        assert_eq!(
            caller(inner, &[0xf, 0x1f, 0, 0, 0, 0, 0, 0]),
            "halo.c:8 in exchange"
        );
        assert_eq!(
            caller(inner, &[0x1f, 0, 0, 0, 0, 0, 0, 0]),
            "a function without symbols"
        );
        let wrapped = "0: 0x8 - MPI_Irecv\n1: 0x10 - mpi_irecv_\n2: 0x20 - MAIN__\n3: 0x30 - main";
        assert_eq!(caller(wrapped, &[0xf, 0x1f, 0x2f, 0, 0, 0, 0, 0]), "MAIN__");
    }

    #[test]
    fn what_is_made_again_is_noted_again() {
        note(-17);
        let first = of(-17).unwrap();
        note(-17);
        assert_eq!(of(-17).unwrap(), first);
        assert!(numbers().contains(&-17));
        assert_eq!(of(-18), None);
    }
}
