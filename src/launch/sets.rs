//! Process sets as `mpiexec -pset NAME=RANKS` names them, and as it hands them to the ranks: one in a line.
//!
//! Invariant: a set that was parsed has ranks of the job only, each once, in the order given.

use std::collections::HashSet;

/// A process set: its name, and its processes in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSet {
    pub name: String,
    pub ranks: Vec<u32>,
}

/// The longest name, without the zero that C puts behind it.
pub const LONGEST_NAME: usize = 255;

/// Whether two names are one: names are URIs, in whose scheme and host case does not matter (RFC 3986, 6.2.2.1), nor in the
/// digits of an escaped byte.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || normalized(one) == normalized(other)
}

fn normalized(name: &str) -> String {
    let Some((scheme, rest)) = name.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return name.to_owned();
    };
    let scheme = scheme.to_ascii_lowercase();
    let rest = with_upper_escapes(rest);
    let Some(hierarchy) = rest.strip_prefix("//") else {
        return format!("{scheme}:{rest}");
    };
    let end = hierarchy.find(['/', '?', '#']).unwrap_or(hierarchy.len());
    let (authority, path) = hierarchy.split_at(end);
    let (user, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    // Not in the escapes, which are compared in upper case.
    let host = with_upper_escapes(&host.to_ascii_lowercase());
    format!("{scheme}://{user}{host}{path}")
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The digits of each `%2f` in upper case.
fn with_upper_escapes(text: &str) -> String {
    let mut digits = 0;
    let convert = |c: char| {
        digits = match c {
            '%' => 2,
            _ if digits > 0 && c.is_ascii_hexdigit() => {
                digits -= 1;
                return c.to_ascii_uppercase();
            }
            _ => 0,
        };
        c
    };
    text.chars().map(convert).collect()
}

/// Reads `NAME=RANKS` in a job of so many ranks; ranks are numbers and ranges (`0-3`, `0-6:2`), separated by commas, or `all`.
///
/// Errors: why it is none, in words.
pub fn parse(text: &str, size: u32) -> Result<ProcessSet, String> {
    let Some((name, ranks)) = text.split_once('=') else {
        return Err(format!("{text}: NAME=RANKS is needed"));
    };
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\n') {
        return Err(format!(
            "{text}: the name must have 1 to {LONGEST_NAME} bytes in one line"
        ));
    }
    if normalized(name).starts_with("mpi://") {
        return Err(format!("{text}: names beginning with mpi:// are MPI's own"));
    }
    let mut set = ProcessSet {
        name: name.to_owned(),
        ranks: Vec::new(),
    };
    // A job may have a million ranks.
    let mut seen = HashSet::new();
    for part in ranks.split(',').map(str::trim) {
        let (first, last, stride) = range(part, size)
            .ok_or_else(|| format!("{text}: '{part}' is no rank or range of ranks"))?;
        if last >= size {
            return Err(format!("{text}: there is no rank {last} among {size}"));
        }
        for rank in (first..=last).step_by(stride) {
            if !seen.insert(rank) {
                return Err(format!("{text}: rank {rank} occurs twice"));
            }
            set.ranks.push(rank);
        }
    }
    Ok(set)
}

/// First, last and stride of `5`, `0-3`, `0-6:2` or `all`.
fn range(part: &str, size: u32) -> Option<(u32, u32, usize)> {
    if part == "all" {
        return Some((0, size.checked_sub(1)?, 1));
    }
    let (ends, stride) = part.split_once(':').unwrap_or((part, "1"));
    let (first, last) = ends.split_once('-').unwrap_or((ends, ends));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let stride: usize = stride.parse().ok()?;
    (first <= last && stride > 0).then_some((first, last, stride))
}

/// Reads all of them, from several lines; lines that are none are left out.
pub fn parse_all(text: &str, size: u32) -> Vec<ProcessSet> {
    let sets = text.lines().map(|line| parse(line, size));
    sets.filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fuzzer met a list that was searched for each rank.
    #[test]
    fn all_ranks_of_a_large_job_are_a_set() {
        let size = 1_000_000;
        let set = parse("all=all", size).unwrap();
        assert!(set.ranks.into_iter().eq(0..size));
        assert!(parse("all=all,999999", size).is_err());
    }

    #[test]
    fn ranks_may_be_ranges_with_a_stride() {
        for (text, ranks) in [
            ("a=0", &[0][..]),
            ("a=3,0-1", &[3, 0, 1]),
            ("a=0-5:2,1", &[0, 2, 4, 1]),
            ("a=all", &[0, 1, 2, 3, 4, 5]),
        ] {
            let set = parse(text, 6).unwrap();
            assert_eq!((set.name.as_str(), set.ranks.as_slice()), ("a", ranks));
        }
    }

    #[test]
    fn case_does_not_matter_in_scheme_and_host() {
        for (one, other, same) in [
            ("mpi://WORLD", "MPI://world", true),
            ("mpi://SELF", "mpi://self", true),
            ("mpi://WORLD", "mpi://SELF", false),
            ("mpi://WORLD", "mpi:/WORLD", false),
            ("app://Host:80/Path?q#f", "APP://hOST:80/Path?q#f", true),
            ("app://host/Path", "app://host/path", false),
            ("app://me@host", "app://ME@host", false),
            ("app://me@host", "app://me@HOST", true),
            ("App:part", "aPP:part", true),
            ("app:part", "app:Part", false),
            ("app://h/%2f%e4", "app://h/%2F%E4", true),
            ("app://h/%2fa", "app://h/%2FA", false),
            ("app://%c3%a4", "app://%C3%A4", true),
            ("even", "even", true),
            ("even", "Even", false),
            ("1a:b", "1A:b", false),
            ("ä:b", "Ä:b", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, word) in [
            ("a", "NAME=RANKS"),
            ("=1", "name"),
            ("mpi://WORLD=1", "MPI's own"),
            ("MPI://mine=1", "MPI's own"),
            ("a=6", "no rank 6"),
            ("a=0,0-1", "twice"),
            ("a=3-1", "'3-1'"),
            ("a=", "''"),
            ("a=0-4:0", "'0-4:0'"),
            ("a=-1", "'-1'"),
        ] {
            let error = parse(text, 6).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        assert_eq!(parse_all("a=0\nb=9\nc=1", 6).len(), 2);
    }
}
