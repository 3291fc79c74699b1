//! All settings of the library in one list, for those who show them (mpiexec, docs/variables.md, MPI_T), and those that
//! belong to the life of the process.
//!
//! Invariant: every [`Variable`] of the library is in [`all`], so none works that nobody can find.

use super::ThreadLevel;
use crate::transport::shm::layout;
use crate::variables::{self, Listed, Variable};
use crate::{
    choice, coll, context_id, datatype, engine, errhandler, events, launch, lifetime, op, pt2pt,
};

choice! {
    /// A level of thread support, by MPICH's and Intel's words.
    pub enum Level {
        Single = "MPI_THREAD_SINGLE" | "SINGLE",
        Funneled = "MPI_THREAD_FUNNELED" | "FUNNELED",
        Serialized = "MPI_THREAD_SERIALIZED" | "SERIALIZED",
        Multiple = "MPI_THREAD_MULTIPLE" | "MULTIPLE",
    }
}

impl From<Level> for ThreadLevel {
    fn from(level: Level) -> ThreadLevel {
        match level {
            Level::Single => ThreadLevel::Single,
            Level::Funneled => ThreadLevel::Funneled,
            Level::Serialized => ThreadLevel::Serialized,
            Level::Multiple => ThreadLevel::Multiple,
        }
    }
}

choice! {
    /// There is nothing to choose: it is here so that those who try to switch it off are told.
    pub enum Always { Always = "always" | "1" | "yes" | "true" | "on" }
}

/// What MPI_Init asks for.
pub static THREAD_LEVEL: Variable<Level> = Variable::new(
    "THREAD_LEVEL",
    Level::Single,
    "The level of thread support that MPI_Init gives.",
)
.with_aliases(&[
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL",
    "I_MPI_THREAD_LEVEL_DEFAULT",
]);

pub static SUPPRESS_ABORT_MESSAGE: Variable<bool> = Variable::new(
    "SUPPRESS_ABORT_MESSAGE",
    false,
    "The rank that calls MPI_Abort does not say so (mpiexec still does).",
)
.with_aliases(&["MPIR_CVAR_SUPPRESS_ABORT_MESSAGE"]);

choice! {
    /// What MPI_Get_library_version begins with.
    pub enum LibraryVersion { Mpich = "mpich", Plain = "plain" }
}

pub static LIBRARY_VERSION: Variable<LibraryVersion> = Variable::new(
    "LIBRARY_VERSION",
    LibraryVersion::Mpich,
    "What MPI_Get_library_version says: mpich begins with the line of MPICH whose ABI this is, so that programs that accept \
     known libraries only run, and names oxmpi in the next lines; plain names oxmpi only.",
);

static SHOW_VARIABLES: Variable<bool> = Variable::new(
    "SHOW_VARIABLES",
    false,
    "Rank 0 writes all settings with the values in force to its standard error in MPI_Init.",
)
.with_aliases(&["MPIR_CVAR_DEBUG_SUMMARY"]);

static ERROR_CHECKING: Variable<Always> = Variable::new(
    "ERROR_CHECKING",
    Always::Always,
    "Arguments are checked; that cannot be switched off.",
)
.with_aliases(&["MPIR_CVAR_ERROR_CHECKING"]);

/// Settings that belong together.
pub struct Chapter {
    pub name: &'static str,
    pub text: &'static str,
    pub variables: &'static [&'static dyn Listed],
}

static OWN: &[&dyn Listed] = &[
    &THREAD_LEVEL,
    &SUPPRESS_ABORT_MESSAGE,
    &LIBRARY_VERSION,
    &SHOW_VARIABLES,
    &ERROR_CHECKING,
];

/// Every setting of the library, by chapters.
pub fn chapters() -> [Chapter; 14] {
    [
        (
            "collectives",
            "Algorithms of collective operations.",
            coll::choose::VARIABLES,
        ),
        (
            "context_ids",
            "Context ids of communicators.",
            context_id::VARIABLES,
        ),
        (
            "datatypes",
            "Derived datatypes and packing.",
            datatype::pack::VARIABLES,
        ),
        (
            "lifetimes",
            "When freed communicators and datatypes are given back.",
            lifetime::VARIABLES,
        ),
        ("operations", "Reduction operations.", op::VARIABLES),
        (
            "protocols",
            "How messages travel.",
            engine::dispatch::VARIABLES,
        ),
        (
            "memory",
            "Memory that the ranks of a node share.",
            layout::VARIABLES,
        ),
        (
            "waiting",
            "How ranks wait for messages.",
            engine::wait::VARIABLES,
        ),
        (
            "threads",
            "How threads share the library.",
            engine::spread::VARIABLES,
        ),
        (
            "errors",
            "What is done about errors.",
            errhandler::VARIABLES,
        ),
        ("process", "The life of a process in MPI.", OWN),
        (
            "launch",
            "How processes find each other.",
            launch::VARIABLES,
        ),
        (
            "checking",
            "Looking for mistakes of programs.",
            pt2pt::signatures::VARIABLES,
        ),
        ("tools", "What tools are told.", events::VARIABLES),
    ]
    .map(|(name, text, variables)| Chapter {
        name,
        text,
        variables,
    })
}

/// Every setting of the library.
pub fn all() -> Vec<&'static dyn Listed> {
    let all = chapters().into_iter();
    all.flat_map(|chapter| chapter.variables.iter().copied())
        .collect()
}

/// Reads all settings and, on rank 0, says what is wrong with them, and shows them if that is wanted.
pub(super) fn read(rank: u32) {
    let all = all();
    let shown = variables::describe(&all);
    let mistakes = variables::take_mistakes();
    if rank != 0 {
        return;
    }
    let mut text: String = mistakes
        .iter()
        .map(|mistake| format!("oxmpi: {mistake}\n"))
        .collect();
    if SHOW_VARIABLES.get() {
        text.push_str(&shown);
    }
    if !text.is_empty() {
        eprint!("{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_texts_are_sentences() {
        let all = all();
        let mut names = BTreeSet::new();
        for variable in &all {
            let own = variable.name();
            for name in std::iter::once(own.as_str()).chain(variable.aliases().iter().copied()) {
                assert!(names.insert(name.to_owned()), "{name} twice");
            }
            assert!(variable.text().ends_with('.'), "{own}");
        }
    }

    /// A variable that is declared and not listed works, but nobody is told.
    #[test]
    fn every_declaration_is_listed() {
        let mut declared = 0;
        let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().is_some_and(|name| name != "variables.rs") {
                    let source = std::fs::read_to_string(&path).unwrap();
                    let lines = source.lines();
                    declared += lines
                        .filter(|line| line.contains(": Variable<"))
                        .filter(|line| line.starts_with("static ") || line.starts_with("pub"))
                        .count();
                }
            }
        }
        assert_eq!(all().len(), declared);
    }
}
