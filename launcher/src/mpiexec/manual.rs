//! The tables of options and variables, for the man pages (`crate::manual`).

use super::options::{ANSWERS, SECTIONS};
use super::variables::HONOURED;

/// An option.
pub struct Entry {
    /// Without dashes.
    pub names: &'static [&'static str],
    pub takes: &'static str,
    pub help: &'static str,
}

/// Headings and the options below them.
pub fn sections() -> Vec<(&'static str, Vec<Entry>)> {
    let mut sections: Vec<(&str, Vec<Entry>)> = SECTIONS
        .iter()
        .map(|(heading, choices)| {
            let entries = choices.iter().map(|choice| Entry {
                names: choice.names,
                takes: choice.takes.text(),
                help: choice.help,
            });
            (*heading, entries.collect())
        })
        .collect();
    let answers = ANSWERS.iter().map(|(names, help)| Entry {
        names,
        takes: "",
        help,
    });
    sections.push(("Answers", answers.collect()));
    sections
}

/// What mpiexec takes from the environment.
pub fn variables() -> &'static [(&'static str, &'static str)] {
    HONOURED
}
