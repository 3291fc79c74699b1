//! What the ABI tests share: the staged prefix, and running compilers and programs on it.
#![allow(dead_code)] // each test file uses a part

#[path = "../harness/parts.rs"]
mod parts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The staged prefix; panics with advice if there is none, because then nothing can be tested.
pub fn stage() -> PathBuf {
    let stage = match std::env::var_os("OXMPI_STAGE") {
        Some(stage) => PathBuf::from(stage),
        None => root().join("target/stage"),
    };
    let library = stage.join("lib/libmpi.so.12");
    assert!(
        library.exists(),
        "{} is not there: run `make` first",
        library.display()
    );
    stage.canonicalize().unwrap()
}

pub fn library() -> PathBuf {
    stage().join("lib/libmpi.so.12")
}

/// A new empty directory for one test.
pub fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The name of the test that runs in this thread.
fn name() -> String {
    let file = std::env::args().next().unwrap_or_default();
    let file = Path::new(&file).file_stem().unwrap_or_default();
    let file = file.to_string_lossy().into_owned();
    let file = file
        .rsplit_once('-')
        .map_or(file.as_str(), |(name, _)| name);
    let thread = std::thread::current();
    format!("{file}::{}", thread.name().unwrap_or_default())
}

/// Says why the test of this thread is left out, or a part of it.
pub fn skip(reason: &str, package: Option<&str>) {
    parts::skip(&name(), reason, package);
}

/// Whether a package of `.ci/packages` is there. A test that needs a missing one says so and passes.
pub fn have(package: &str) -> bool {
    parts::has_all(&name(), &[package])
}

/// As [`have`], but says nothing.
pub fn has_package(package: &str) -> bool {
    parts::has(package)
}

/// As [`have`], of gfortran and what `make` has made by it.
pub fn have_fortran() -> bool {
    let found = parts::fortran(&stage());
    if let Err(reason) = &found {
        skip(reason, Some("gfortran"));
    }
    found.is_ok()
}

/// Whether a program can be found on PATH.
pub fn has_program(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    })
}

/// Runs a command that must succeed, and returns what it printed on stdout.
pub fn run(command: &mut Command) -> String {
    let output = output(command);
    assert!(
        output.status.success(),
        "{command:?} failed: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

pub fn output(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// A command of the staged prefix.
pub fn staged(program: &str) -> Command {
    Command::new(stage().join("bin").join(program))
}

/// Exported names with the letter that nm gives them.
pub fn exported(library: &Path) -> Vec<(String, char)> {
    let listing = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library));
    listing
        .lines()
        .map(|line| {
            let mut words = line.split_whitespace().rev();
            let name = words.next().unwrap().to_owned();
            (name, words.next().unwrap().chars().next().unwrap())
        })
        .collect()
}

/// A file of facts about other libraries' ABI, which this project does not carry; None if absent.
pub fn facts(name: &str) -> Option<String> {
    let directory = match std::env::var_os("OXMPI_ABI_FACTS") {
        Some(directory) => PathBuf::from(directory),
        None => root().join("../shared/abi"),
    };
    let text = std::fs::read_to_string(directory.join(name)).ok();
    if text.is_none() {
        skip("there are no facts about other libraries' ABI", None);
    }
    text
}
