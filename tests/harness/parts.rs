//! Packages that a test needs and a machine may lack: the list is `.ci/packages`, what is missing of it `.ci/missing` says. A test that is left
//! out says so, and to the file in `TESTS_SKIPPED` (`make check`) for its last line.
//!
//! Invariant: what there is is decided once: by `make check` for all its tests (`TESTS_MISSING` is a file with the names), and when a test program
//! first asks. A package that comes later is not used; one that has gone by the time a test program starts is missing.

#![allow(dead_code)] // each test uses a part

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of the project.
fn project() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut above = own.ancestors();
    let found = above.find(|folder| folder.join(".ci/packages").exists());
    found.expect("a folder with .ci/packages").to_owned()
}

fn missing() -> &'static BTreeSet<String> {
    static MISSING: OnceLock<BTreeSet<String>> = OnceLock::new();
    MISSING.get_or_init(|| {
        let output = Command::new(project().join(".ci/missing")).output();
        let output = output.expect("run .ci/missing");
        assert!(output.status.success(), ".ci/missing: {output:?}");
        let now = String::from_utf8_lossy(&output.stdout).into_owned();
        let before = std::env::var_os("TESTS_MISSING").map(|path| {
            std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("TESTS_MISSING is {path:?}: {error}"))
        });
        let before = before.unwrap_or_default();
        now.lines()
            .chain(before.lines())
            .map(str::to_owned)
            .collect()
    })
}

/// Whether a package of `.ci/packages` is there.
pub fn has(package: &str) -> bool {
    let list = std::fs::read_to_string(project().join(".ci/packages")).expect("read .ci/packages");
    let mut names = list.lines().filter_map(|it| it.split_whitespace().nth(1));
    assert!(
        names.any(|name| name == package),
        "{package} is not in .ci/packages"
    );
    !missing().contains(package)
}

/// Says that a test is left out, also while the output of tests is captured; `package` is what to install.
pub fn skip(test: &str, reason: &str, package: Option<&str>) {
    let reason = reason.trim().replace(['\n', '\t'], " ");
    let install = package.map(|name| format!(", install {name}"));
    let mut text = format!("skipped: {test}: {reason}{}\n", install.unwrap_or_default());
    let _ = std::io::stderr().write_all(text.as_bytes());
    if let Some(path) = std::env::var_os("TESTS_SKIPPED") {
        text = format!("{test}\t{reason}\t{}\n", package.unwrap_or_default());
        let file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .unwrap_or_else(|error| panic!("TESTS_SKIPPED is {path:?}: {error}"));
    }
}

/// Whether all of these packages are there; says that the test is left out where one is not.
pub fn has_all(test: &str, packages: &[&str]) -> bool {
    match packages.iter().find(|package| !has(package)) {
        None => true,
        Some(package) => {
            skip(test, &format!("{package} is not there"), Some(package));
            false
        }
    }
}

/// Whether programs in Fortran can be compiled by the mpifort of this prefix.
///
/// Errors: why not. A compiler that came after `make` is not used: the library lacks what is made by it.
pub fn fortran(prefix: &Path) -> Result<(), String> {
    if !has("gfortran") {
        return Err("gfortran is not there".into());
    }
    match prefix.join("lib/oxmpi/modules/gfortran").is_dir() {
        true => Ok(()),
        false => Err("gfortran came after `make`, or its modules are not there".into()),
    }
}
