//! Where communicators were made: the program's function and line that called MPI, as far as symbols tell.
//!
//! Invariant: a site's number stays its number. Sites are looked for only if `OXMPI_SHOW` asks for them.

use crate::os::made;
use crate::variables::show::SHOW;
use std::collections::HashMap;

/// The site of predefined communicators, and of all if nobody asked.
pub const PREDEFINED: u32 = 0;

/// The number of the location that called MPI.
pub fn site() -> u32 {
    match SHOW.get().communicators {
        true => made::here() + 1,
        false => PREDEFINED,
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
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut text = format!("oxmpi: rank {rank}, {why}: {total} communicators live, made by\n");
    for (site, count) in counts {
        let made::Site { function, place } = made::site(site - 1).unwrap_or_default();
        text.push_str(&format!("{count:>9}  {function}, called by {place}\n"));
    }
    text
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn most_come_first() {
        let (few, many) = (made::here() + 1, made::here() + 2);
        let text = of_sites([0, few, many, many, 0, many].into_iter(), 3, "now");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "oxmpi: rank 3, now: 4 communicators live, made by"
        );
        assert!(lines[1].trim().starts_with("3  "));
        assert!(lines[2].trim().starts_with("1  "));
    }
}
