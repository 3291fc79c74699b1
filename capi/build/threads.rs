//! `docs/threads.md`: the thread-safety class of each function, as its entry says it, and what the library does about it.

use crate::scan::Entry;
use std::error::Error;

/// As written in an entry, as the page names it, and what it means here.
const CLASSES: &[(&str, &str, &str)] = &[
    (
        "None",
        "None",
        "nothing shared, or state that one load reads",
    ),
    (
        "AccessOnly",
        "Access only",
        "what never changes in an object (no lock), or one value that is replaced, such as its name (that value's lock)",
    ),
    (
        "UpdateRef",
        "Update ref",
        "a reference count, or the end of a handle: an atomic operation, or the lock of the table for a few stores",
    ),
    (
        "CommIo",
        "Comm/IO",
        "the engine, whose guard is taken for each look and never while waiting",
    ),
    (
        "Collective",
        "Collective",
        "a mark; its messages are of class Comm/IO",
    ),
    ("ReadList", "Read list", "the lock of one list, for reading"),
    (
        "UpdateList",
        "Update list",
        "a mark; the lock of one list, given back before a callback runs",
    ),
    (
        "Allocate",
        "Allocate",
        "a mark; the lock of the table of one kind of object, for a few stores",
    ),
    (
        "Own",
        "Own",
        "a mark; a lock of its own, or calls of other classes",
    ),
    ("Other", "Other", "a mark; the lock of the library's life"),
];

pub fn page(entries: &[Entry]) -> Result<String, Box<dyn Error>> {
    let mut page = include_str!("threads.md").to_owned();
    page.push_str("\n| class | functions | what a call takes |\n|---|---|---|\n");
    for (word, name, text) in CLASSES {
        let number = names_of(entries, word).len();
        page.push_str(&format!("| {name} | {number} | {text} |\n"));
    }
    for (word, name, _) in CLASSES {
        let names = names_of(entries, word);
        page.push_str(&format!("\n**{name}**: {}\n", names.join(", ")));
    }
    let known = |entry: &&Entry| CLASSES.iter().any(|(word, ..)| *word == entry.class);
    match entries.iter().find(|entry| !known(entry)) {
        None => Ok(page),
        Some(entry) => Err(format!("{} is of no class that there is", entry.name).into()),
    }
}

/// The functions of a class by name.
fn names_of(entries: &[Entry], class: &str) -> Vec<String> {
    let of_class = entries.iter().filter(|entry| entry.class == class);
    let mut names: Vec<String> = of_class
        .map(|entry| format!("{}{}", entry.name, if entry.large { "[_c]" } else { "" }))
        .collect();
    names.sort();
    names
}
