//! The list of packages, and the scripts that read it, on a list with a package that no machine has.

use crate::root;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const LIST: &str = "# a comment\nbuild  sh-itself     sh                 everything\n\
    tests  not-there     no-such-program    a test\ntests  not-loaded    libno-such.so.1    another one\n\
    other  not-a-file    /no/such/file      a third\n";

/// Rows that are not complete, packages that are there twice.
pub fn mistakes() -> Vec<String> {
    let text = fs::read_to_string(root().join(".ci/packages")).unwrap();
    let mut packages = BTreeSet::new();
    let mut found = Vec::new();
    for row in text.lines().filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split_whitespace().collect();
        if words.len() < 4 || !packages.insert(words[1]) {
            found.push(format!("not complete, or there twice: {row}"));
        }
    }
    if packages.len() < 20 {
        found.push(format!("only {} packages were found", packages.len()));
    }
    found
}

/// What `.ci/setup` and `.ci/missing` say of [`LIST`] to one who is not root, and how `tests/skipped` sums up.
pub fn scripts(folder: &Path) -> Vec<String> {
    let here = folder.join("packages");
    fs::create_dir_all(&here).unwrap();
    for name in ["setup", "missing"] {
        fs::copy(root().join(".ci").join(name), here.join(name)).unwrap();
    }
    fs::write(here.join("packages"), LIST).unwrap();
    // Not root, whoever runs the test.
    let id = here.join("id");
    fs::write(&id, "#!/bin/sh\necho 1000\n").unwrap();
    fs::set_permissions(&id, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let run = |program: &str, arguments: &[&str]| -> Output {
        let mut command = Command::new(here.join(program));
        command
            .args(arguments)
            .env("PATH", format!("{}:{path}", here.display()));
        command.output().unwrap()
    };
    let mut found = Vec::new();
    let mut expect = |what: &str, output: Output, code: i32, out: &str, error: &str| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        );
        if said != (Some(code), out.to_owned(), error.to_owned()) {
            found.push(format!("{what}: {said:?}"));
        }
    };
    let all = "not-there\nnot-loaded\nnot-a-file\n";
    expect("missing", run("missing", &[]), 0, all, "");
    let tests = "not-there\nnot-loaded\n";
    expect("missing tests", run("missing", &["tests"]), 0, tests, "");
    expect("missing build", run("missing", &["build"]), 0, "", "");
    expect("setup", run("setup", &[]), 0, "", "");
    let line = "please install: apt-get install --no-install-recommends not-there not-loaded\n";
    expect("setup tests", run("setup", &["tests"]), 0, "", line);
    let unknown = ".ci/setup: there is no group 'test' in .ci/packages\n";
    expect("setup test", run("setup", &["test"]), 1, "", unknown);
    // What building needs cannot be left out.
    fs::write(here.join("packages"), LIST.replace("other ", "build ")).unwrap();
    let line = "please install: apt-get install --no-install-recommends not-a-file\n";
    expect("setup, incomplete", run("setup", &[]), 1, "", line);

    let skipped = here.join("skipped");
    let mut sum = |rows: &str, line: &str| {
        fs::write(&skipped, rows).unwrap();
        let mut command = Command::new(root().join("tests/skipped"));
        let output = command.arg("sum").env("TESTS_SKIPPED", &skipped);
        expect(rows, output.output().unwrap(), 0, line, "");
    };
    sum("", "skipped: 0\n");
    sum(
        "a\tit is not there\tsome-package\nb\tit is not there\tsome-package\nc\tit is forbidden\t\n",
        "skipped: 3 tests: 2 without some-package (.ci/setup tests installs what is missing); 1: it is forbidden\n",
    );
    found
}
