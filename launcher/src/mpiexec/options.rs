//! The table of options, from which parsing, help and suggestions are made. An option may be written with one dash or
//! two, as MPICH's and Open MPI's users do, and `--name=value` means `--name value`.
//!
//! Invariant: an option not in the table is an error, never ignored; one that is accepted without effect says so here.

mod placement;
mod programs;
mod silent;
mod streams;

use super::request::Parsing;
use super::words;

/// How many arguments an option takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    None,
    One(&'static str),
    /// `NAME VALUE`, or one argument `NAME=VALUE`.
    Variable,
    Two(&'static str),
}

impl Takes {
    /// As help shows it.
    pub fn text(self) -> &'static str {
        match self {
            Takes::None => "",
            Takes::One(what) | Takes::Two(what) => what,
            Takes::Variable => "NAME VALUE",
        }
    }
}

type Set = fn(&mut Parsing, &[String]) -> Result<(), String>;

pub struct Choice {
    /// Without dashes; the first one is shown first.
    pub names: &'static [&'static str],
    pub takes: Takes,
    pub help: &'static str,
    /// Accepted for the sake of other launchers' users; `help` says why it changes nothing.
    pub without_effect: bool,
    pub set: Set,
}

const fn choice(
    names: &'static [&'static str],
    takes: Takes,
    help: &'static str,
    set: Set,
) -> Choice {
    Choice {
        names,
        takes,
        help,
        without_effect: false,
        set,
    }
}

const fn without_effect(names: &'static [&'static str], takes: Takes, why: &'static str) -> Choice {
    Choice {
        names,
        takes,
        help: why,
        without_effect: true,
        set: |_, _| Ok(()),
    }
}

/// Headings and the options below them.
pub const SECTIONS: &[(&str, &[Choice])] = &[
    ("What to run", programs::WHAT),
    ("Process sets", programs::SETS),
    ("Environment", programs::ENVIRONMENT),
    ("Where", placement::WHERE),
    ("Input and output", streams::STREAMS),
    ("Watching", streams::WATCHING),
    ("Accepted without effect (-v says why)", silent::SILENT),
];

/// The option of this name, without dashes.
pub fn find(name: &str) -> Option<&'static Choice> {
    all().find(|choice| choice.names.contains(&name))
}

/// Every option.
pub fn all() -> impl Iterator<Item = &'static Choice> {
    SECTIONS.iter().flat_map(|(_, choices)| choices.iter())
}

/// Options that end the parsing with an answer, see `request::Answer`: names and help.
pub const ANSWERS: &[(&[&str], &str)] = &[
    (&["help", "h", "?"], "print the options"),
    (&["version", "V"], "print the version"),
    (
        &["info"],
        "print how the library was built, and all variables with their values",
    ),
    (
        &["doctor"],
        "print what the library finds on this machine, what that means and what to change; exit code 1 if jobs may fail",
    ),
    (
        &["top"],
        "PID [SECONDS]: show what the ranks of that mpiexec do, on all hosts, each second: those first for which others wait",
    ),
];

/// The names of [`ANSWERS`].
pub fn answers() -> impl Iterator<Item = &'static str> {
    ANSWERS.iter().flat_map(|(names, _)| names.iter().copied())
}

/// The known name that an unknown one most likely means.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let names = all().flat_map(|choice| choice.names.iter());
    words::nearest(name, names.copied().chain(answers()))
}

fn positive(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number) if (1..=i32::MAX as u32).contains(&number) => Ok(number),
        _ => Err(format!("'{text}' is not a positive number")),
    }
}

/// A number of bytes, with k, m or g for 2^10, 2^20 and 2^30.
fn bytes_of(option: &str, text: &str) -> Result<u64, String> {
    let small = text.to_ascii_lowercase();
    let (digits, shift) = match small.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if small.ends_with('k') => (digits, 10),
        Some(digits) if small.ends_with('m') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (small.as_str(), 0),
    };
    let number: Option<u64> = digits.parse().ok().filter(|number| *number > 0);
    let bytes = number.and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or(format!(
        "-{option}: '{text}' is no number of bytes above 0, such as 200m"
    ))
}

/// A time limit in seconds; 0 and -1 mean none.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= -1.0 => Ok(number),
        _ => Err(format!("'{text}' is not a number of seconds")),
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn pair(given: &[String]) -> Result<(String, String), String> {
    let (name, value) = match given {
        [both] => both.split_once('=').unwrap_or((both, "")),
        [name, value, ..] => (name.as_str(), value.as_str()),
        [] => ("", ""),
    };
    if name.is_empty() {
        return Err("a variable needs a name".into());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_two_things() {
        let mut names: Vec<&str> = all().flat_map(|choice| choice.names).copied().collect();
        names.extend(answers());
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn near_misses_are_suggested() {
        assert_eq!(suggestion("bindto"), Some("bind-to"));
        assert_eq!(suggestion("timeuot"), Some("timeout"));
        assert_eq!(suggestion("zzzzzz"), None);
        assert_eq!(suggestion("porl"), None);
    }
}
