//! Names and lines of a real program, with and without tables of names.

use crate::harness::Folder;
use oxmpi_launcher::mpiexec::sites::{LIMIT, of_program, resolve};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

pub const TESTS: &[(&str, fn())] = &[
    ("places::lines_and_names", lines_and_names),
    ("places::the_time_is_limited", the_time_is_limited),
];

/// Says its process id and where `MPI_Call` was called, and waits until its input ends.
const SOURCE: &str = r#"#include <stdio.h>
#include <unistd.h>
static void *site;
__attribute__((noinline)) void MPI_Call(void) { site = __builtin_return_address(0); __asm__ volatile(""); }
static inline __attribute__((always_inline)) void exchange(void) {
    MPI_Call();
    __asm__ volatile("");
}
__attribute__((noinline)) void residual(void) {
    exchange();
    __asm__ volatile("");
}
int main(void) {
    char byte;
    residual();
    printf("%d %lx\n", (int)getpid(), (unsigned long)site);
    fflush(stdout);
    while (read(0, &byte, 1) > 0);
    return 0;
}
"#;

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// What is said of the call's place in a program that runs; `meanwhile` is done before.
fn said(program: &Path, meanwhile: impl FnOnce()) -> String {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line);
    assert!(output.unwrap() > 0);
    meanwhile();
    let (pid, address) = line.trim().split_once(' ').unwrap();
    let address = u64::from_str_radix(address, 16).unwrap() - 1;
    let places = resolve(&[(pid.parse().unwrap(), vec![address])], LIMIT);
    drop(child.stdin.take());
    child.wait().unwrap();
    of_program(&places[0]).unwrap().to_string()
}

fn lines_and_names() {
    let folder = Folder::new();
    let folder = folder.0.as_path();
    let source = folder.join("solver.c");
    std::fs::write(&source, SOURCE).unwrap();
    let program = folder.join("solver");
    let cc = |options: &[&str]| {
        run(Command::new("cc")
            .args(["-O2", "-Wl,--build-id"])
            .args(options)
            .arg(&source)
            .arg("-o")
            .arg(&program));
    };
    cc(&["-g"]);
    assert_eq!(said(&program, || ()), "solver.c:6 in exchange");
    cc(&["-g", "-gz"]);
    assert_eq!(said(&program, || ()), "solver.c:6 in exchange");
    // A program that was deleted can still be read.
    let gone = || std::fs::remove_file(&program).unwrap();
    assert_eq!(said(&program, gone), "solver.c:6 in exchange");
    cc(&["-g0"]);
    let name = said(&program, || ());
    assert!(
        name.starts_with("residual+0x") && name.ends_with(" in solver"),
        "{name}"
    );
    cc(&["-g0", "-s"]);
    let name = said(&program, || ());
    assert!(name.starts_with("solver+0x"), "{name}");
    // As distributions do it.
    cc(&["-g"]);
    let separate = folder.join("solver.debug");
    let objcopy = || {
        let mut command = Command::new("objcopy");
        command.current_dir(folder);
        command
    };
    run(objcopy().args(["--only-keep-debug", "solver", "solver.debug"]));
    run(objcopy().args(["--strip-all", "--add-gnu-debuglink=solver.debug", "solver"]));
    assert_eq!(said(&program, || ()), "solver.c:6 in exchange");
    // Another build's.
    let other = folder.join("other");
    run(Command::new("cc")
        .args(["-O0", "-g", "-Wl,--build-id"])
        .arg(&source)
        .arg("-o")
        .arg(&other));
    std::fs::rename(&other, &separate).unwrap();
    let name = said(&program, || ());
    assert!(name.starts_with("solver+0x"), "{name}");
}

fn the_time_is_limited() {
    let here = the_time_is_limited as *const () as u64;
    let own = std::process::id() as i32;
    let places = resolve(
        &[(own, vec![here, 1]), (-1, vec![2])],
        std::time::Duration::ZERO,
    );
    assert_eq!(places[0].len(), 2);
    assert_eq!(places[0][1][0].to_string(), "0x1");
    assert_eq!(places[1][0][0].to_string(), "0x2");
}
