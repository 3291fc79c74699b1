//! Programs and libraries that were linked to MPICH load on us, with every symbol bound at once.

mod abi;

use abi::{output, run, scratch, skip, stage};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Shared libraries of the system that name libmpich, if its packages are installed.
fn linked_to_mpich() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in ["/usr/lib/x86_64-linux-gnu", "/usr/bin", "/usr/lib64"] {
        let Ok(entries) = std::fs::read_dir(directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let of_mpich =
                name.starts_with("libmpichfort.so.") || name.starts_with("libmpichcxx.so.");
            let program = directory == "/usr/bin" && (name.contains("mpich") || name == "NPmpich2");
            if of_mpich || program && is_elf(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found
}

fn is_elf(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"))
}

#[test]
fn everything_linked_to_mpich_finds_its_symbols() {
    let lib = stage().join("lib");
    let mut tested = 0;
    for path in linked_to_mpich() {
        let mut command = Command::new("ldd");
        command.arg("-r").arg(&path).env("LD_LIBRARY_PATH", &lib);
        let output = output(&mut command);
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        if !text.contains("libmpich.so.12") {
            continue;
        }
        assert!(
            !text.contains("undefined symbol"),
            "{}: {text}",
            path.display()
        );
        tested += 1;
    }
    println!("{tested} files linked to MPICH looked at");
    if tested == 0 {
        skip("nothing linked to MPICH is there", Some("mpich"));
    }
}

/// A program that names both libraries of MPICH's and of Debian's name has one MPI in memory.
#[test]
fn two_names_load_one_library() {
    let work = scratch("names");
    let program = "#include <stdio.h>\n#include <dlfcn.h>\n\
        int main(void) {\n\
        void *a = dlopen(\"libmpi.so.12\", RTLD_NOW), *b = dlopen(\"libmpich.so.12\", RTLD_NOW);\n\
        if (!a || !b) { puts(dlerror()); return 1; }\n\
        puts(dlsym(a, \"MPI_Init\") == dlsym(b, \"MPI_Init\") ? \"one\" : \"two\"); return 0; }\n";
    std::fs::write(work.join("names.c"), program).unwrap();
    run(Command::new("gcc")
        .current_dir(&work)
        .args(["names.c", "-o", "names", "-ldl"]));
    let mut names = Command::new(work.join("names"));
    names
        .env("LD_LIBRARY_PATH", stage().join("lib"))
        .env("LD_BIND_NOW", "1");
    assert_eq!(run(&mut names), "one\n");
}
