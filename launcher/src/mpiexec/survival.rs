//! Whether the others go on when a rank dies, because the user or the program wants it.
//!
//! A program wants it that has one of MPI's functions for failed processes: it, or a library that it is linked with, imports the name. What is
//! loaded later does not count: Python's mpi4py imports all names there are.

use super::elf;
use oxmpi::process::survival::{SURVIVE, Survive};
use oxmpi::variables::{Listed, Value};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The functions.
const FUNCTIONS: &[&str] = &[
    "MPIX_Comm_revoke",
    "MPIX_Comm_is_revoked",
    "MPIX_Comm_get_failed",
    "MPIX_Comm_ack_failed",
    "MPIX_Comm_failure_ack",
    "MPIX_Comm_failure_get_acked",
    "MPIX_Comm_agree",
    "MPIX_Comm_iagree",
    "MPIX_Comm_agree_failed",
    "MPIX_Comm_iagree_failed",
    "MPIX_Comm_shrink",
    "MPIX_Comm_ishrink",
];

/// What an option or a variable says.
///
/// Errors: another word.
pub fn parse(text: &str) -> Result<Survive, String> {
    Survive::parse(text).ok_or_else(|| format!("'{text}' is none of ulfm, mpi, yes, no and auto"))
}

/// The variable by which ranks are told.
pub fn variable() -> String {
    SURVIVE.name()
}

/// The names under which the environment has it.
pub fn variables() -> impl Iterator<Item = String> {
    let aliases = SURVIVE.aliases().iter();
    std::iter::once(variable()).chain(aliases.map(|name| (*name).to_owned()))
}

/// A program's file, and the environment of its ranks.
pub type Program<'p> = (&'p Path, &'p BTreeMap<OsString, OsString>);

/// Decides, by what the user has `chosen` and what the programs have.
pub fn settle(chosen: Option<Survive>, programs: &[Program<'_>]) -> Survive {
    let of_ranks = |(_, environment): &Program<'_>| {
        let mut values = variables().filter_map(|name| environment.get(OsStr::new(&name)));
        values.find_map(|value| Survive::parse(value.to_str()?))
    };
    let chosen = chosen.or_else(|| programs.iter().find_map(of_ranks));
    match chosen.unwrap_or(Survive::Auto) {
        Survive::Auto if programs.iter().any(wants) => Survive::Yes,
        settled => settled,
    }
}

/// Whether a program has one of the functions.
fn wants(program: &Program<'_>) -> bool {
    let Some(elf) = imports(program.0) else {
        return false;
    };
    let imports_one = |elf: &elf::Elf| elf.imports.iter().any(|name| is_one(name));
    // MPI's own libraries have all of them.
    let libraries = elf.needed.iter();
    let libraries = libraries.filter(|name| !name.starts_with("libmpi"));
    let mut libraries = libraries.filter_map(|name| imports(&find(name, &elf, program)?));
    imports_one(&elf) || libraries.any(|library| imports_one(&library))
}

/// Whether a symbol is one of the functions, in C or, with an ending, in Fortran.
fn is_one(symbol: &str) -> bool {
    FUNCTIONS.iter().any(|function| {
        let begins = symbol.get(..function.len());
        let fortran = symbol.as_bytes().get(function.len()) == Some(&b'_');
        match symbol.len() == function.len() {
            true => symbol == *function,
            false => fortran && begins.is_some_and(|begin| begin.eq_ignore_ascii_case(function)),
        }
    })
}

fn imports(file: &Path) -> Option<elf::Elf> {
    let file = File::open(file).ok()?;
    elf::read_imports(&|at, bytes| file.read_at(bytes, at).unwrap_or(0))
}

/// A library in the folders that the program or the user names.
fn find(name: &str, elf: &elf::Elf, (executable, environment): &Program<'_>) -> Option<PathBuf> {
    let origin = executable.parent()?;
    let own = elf.folders.iter().map(|folder| {
        let folder = folder.replace("${ORIGIN}", "$ORIGIN");
        PathBuf::from(folder.replace("$ORIGIN", &origin.to_string_lossy()))
    });
    let variable = environment.get(OsStr::new("LD_LIBRARY_PATH"));
    let users = variable.into_iter().flat_map(std::env::split_paths);
    let mut files = own.chain(users).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_in_each_language() {
        let ones = [
            "MPIX_Comm_agree",
            "mpix_comm_agree_",
            "mpix_comm_get_failed_f08_",
        ];
        assert!(ones.into_iter().all(is_one));
        let others = [
            "MPIX_Comm_agre",
            "MPIX_Comm_get_stream",
            "MPI_Comm_agree",
            "mpix_comm_agreed",
            "",
        ];
        assert!(!others.into_iter().any(is_one));
    }

    #[test]
    fn words_of_other_libraries_are_understood() {
        for (word, meant) in [
            ("ulfm", Survive::Yes),
            ("MPI", Survive::Yes),
            ("no", Survive::No),
            ("auto", Survive::Auto),
        ] {
            assert_eq!(parse(word), Ok(meant));
        }
        assert!(parse("maybe").unwrap_err().contains("'maybe'"));
    }
}
