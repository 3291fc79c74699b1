//! Where communicators were made: the program's function and line that called MPI, as far as symbols tell.
//!
//! Invariant: a site's number stays its number. Sites are looked for only if `OXMPI_SHOW` asks for them, because
//! walking the stack takes longer than making a communicator.

use crate::os::cancellation::uncancelled;
use crate::variables::show::SHOW;
use parking_lot::Mutex;
use std::backtrace::Backtrace;
use std::collections::HashMap;

/// The site of predefined communicators, and of all if nobody asked.
pub const PREDEFINED: u32 = 0;

static SITES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The number of the location that called this MPI function.
pub fn site(function: &str) -> u32 {
    if !SHOW.get().communicators {
        return PREDEFINED;
    }
    // It reads the program's tables of names.
    let trace = uncancelled(|| Backtrace::force_capture().to_string());
    let caller = caller(&trace);
    let text = format!("{function}, called by {caller}");
    let mut sites = SITES.lock();
    if sites.is_empty() {
        sites.push("predefined".to_owned());
    }
    let known = sites.iter().position(|site| *site == text);
    known.unwrap_or_else(|| {
        sites.push(text);
        sites.len() - 1
    }) as u32
}

/// The frame below the last one of an exported function, and its line where there is one.
///
/// An exported function is known by its name, or by the file where all of them are made when the compiler has named the
/// frame after what it put into it.
fn caller(trace: &str) -> String {
    let mut frames: Vec<(&str, &str)> = Vec::new();
    for line in trace.lines().map(str::trim) {
        if let Some(location) = line.strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                frame.1 = location;
            }
        } else if let Some((number, name)) = line.split_once(": ")
            && number.bytes().all(|digit| digit.is_ascii_digit())
        {
            frames.push((name, ""));
        }
    }
    let is_exported = |(name, location): &(&str, &str)| {
        name.starts_with("MPI_")
            || name.starts_with("PMPI_")
            || location.contains("capi/src/entry.rs")
    };
    let below = frames.iter().rposition(is_exported).map(|last| last + 1);
    match below.and_then(|below| frames.get(below)) {
        Some((name, "")) => (*name).to_owned(),
        Some((name, location)) => format!("{name} at {location}"),
        None => "a function without symbols".to_owned(),
    }
}

/// The report: one line a site.
pub fn of_sites(live: impl Iterator<Item = u32>, rank: usize, why: &str) -> String {
    let mut counts = HashMap::new();
    for site in live {
        *counts.entry(site).or_insert(0u64) += 1;
    }
    counts.remove(&PREDEFINED);
    let mut counts: Vec<(u32, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(site, count)| (std::cmp::Reverse(*count), *site));
    if counts.is_empty() {
        return String::new();
    }
    let sites = SITES.lock();
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut text = format!("oxmpi: rank {rank}, {why}: {total} communicators live, made by\n");
    for (site, count) in counts {
        text.push_str(&format!("{count:>9}  {}\n", sites[site as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_below_the_exported_function() {
        let trace = "   0: oxmpi::constructors::dup\n             at ./src/x.rs:1:2\n   1: MPI_Comm_dup\n   2: PMPI_Comm_dup\n   3: setup\n             at ./program.c:17:5\n   4: main\n";
        assert_eq!(caller(trace), "setup at ./program.c:17:5");
        assert_eq!(
            caller("   0: MPI_Comm_dup\n   1: main\n   2: start"),
            "main"
        );
        let inlined =
            "0: site\n at ./src/x.rs:1:2\n 1: small\n at ./capi/src/entry.rs:101:13\n2: main";
        assert_eq!(caller(inlined), "main");
        assert_eq!(caller("   0: start"), "a function without symbols");
    }

    #[test]
    fn most_come_first() {
        *SITES.lock() = ["predefined", "few", "many"].map(str::to_owned).to_vec();
        let text = of_sites([0, 1, 2, 2, 0, 2].into_iter(), 3, "now");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "oxmpi: rank 3, now: 4 communicators live, made by"
        );
        assert_eq!(lines[1].trim(), "3  many");
        assert_eq!(lines[2].trim(), "1  few");
    }
}
