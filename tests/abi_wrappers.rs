//! The compiler wrappers as programs: options and variables of MPICH's and of Open MPI's, in a prefix that was moved to a path
//! with a space and a comma in it.

mod abi;

use abi::{have_fortran, output, run, scratch, stage};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "#include <mpi.h>\n#include <stdio.h>\n#ifndef WORD\n#define WORD \"size\"\n#endif\n\
    int main(int argc, char **argv) { int size; MPI_Init(&argc, &argv);\n\
    MPI_Comm_size(MPI_COMM_WORLD, &size); printf(\"%s %d\\n\", WORD, size);\n\
    return MPI_Finalize(); }\n";

/// Variables that the caller of the tests may have set.
const VARIABLES: [&str; 4] = ["OXMPI_CC", "MPICH_CC", "OMPI_CC", "I_MPI_CC"];

/// A prefix of its own, with a copy of what programs need from the stage, and `a.c` beside it.
struct Moved {
    work: PathBuf,
    prefix: PathBuf,
}

impl Moved {
    fn new(name: &str) -> Moved {
        let work = scratch(name);
        let prefix = work.join("moved here, twice");
        for folder in ["bin", "lib", "include", "lib/oxmpi/modules"] {
            fs::create_dir_all(prefix.join(folder)).unwrap();
            for entry in fs::read_dir(stage().join(folder)).unwrap().flatten() {
                let to = prefix.join(folder).join(entry.file_name());
                let kind = entry.file_type().unwrap();
                if kind.is_symlink() {
                    symlink(fs::read_link(entry.path()).unwrap(), to).unwrap();
                } else if kind.is_file() {
                    fs::hard_link(entry.path(), &to)
                        .or_else(|_| fs::copy(entry.path(), &to).map(|_| ()))
                        .unwrap();
                }
            }
        }
        fs::write(work.join("a.c"), PROGRAM).unwrap();
        Moved { work, prefix }
    }

    fn wrapper(&self, name: &str) -> Command {
        let mut command = Command::new(self.prefix.join("bin").join(name));
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command.current_dir(&self.work);
        command
    }

    fn says(&self, name: &str, arguments: &[&str]) -> String {
        run(self.wrapper(name).args(arguments)).trim().to_owned()
    }

    /// What a call that must fail says.
    fn fails(&self, name: &str, arguments: &[&str]) -> String {
        let output = output(self.wrapper(name).args(arguments));
        assert!(!output.status.success(), "{name} {arguments:?} succeeded");
        String::from_utf8(output.stderr).unwrap()
    }

    fn program(&self) -> String {
        run(&mut Command::new(self.work.join("a")))
    }
}

fn needed(program: &Path) -> String {
    run(Command::new("readelf").arg("-dW").arg(program))
}

#[test]
fn a_moved_prefix_compiles_programs_that_run() {
    let moved = Moved::new("wrapper-moved");
    moved.says("mpicc", &["-o", "a", "a.c"]);
    assert_eq!(moved.program(), "size 1\n");
    let found = run(Command::new("ldd").arg(moved.work.join("a")));
    assert!(
        found.contains("moved here, twice/lib/libmpi.so.12"),
        "{found}"
    );
    // What a build system takes from -show and hands to a shell.
    let shown = moved.says("mpicc", &["-show", "-o", "b", "a.c"]);
    run(Command::new("sh")
        .args(["-c", &shown])
        .current_dir(&moved.work));
    assert_eq!(run(&mut Command::new(moved.work.join("b"))), "size 1\n");
}

#[test]
fn a_link_to_a_wrapper_is_the_wrapper() {
    let moved = Moved::new("wrapper-link");
    for name in ["mpicxx.oxmpi", "x86_64-linux-gnu-mpicxx", "mpic++"] {
        let link = moved.work.join(name);
        symlink(moved.prefix.join("bin/mpicxx"), &link).unwrap();
        let shown = run(Command::new(&link).arg("-show"));
        assert!(
            shown.contains("++ ") && shown.contains("moved here, twice/include"),
            "{shown}"
        );
    }
    symlink(moved.prefix.join("bin/mpicc"), moved.work.join("gcc")).unwrap();
    let output = output(&mut Command::new(moved.work.join("gcc")));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("call this program as mpicc"), "{text}");
}

#[test]
fn questions_of_both_families_are_answered() {
    let moved = Moved::new("wrapper-questions");
    let library = moved.prefix.join("lib").display().to_string();
    for (question, expected) in [
        ("--showme:command", "gcc"),
        ("-showme:libs", "mpi"),
        ("--showme:libdirs", &library),
    ] {
        assert_eq!(moved.says("mpicc", &[question]), expected);
    }
    assert_eq!(moved.says("mpifort", &["-showme:libs"]), "mpifort mpi");
    assert!(moved.says("mpicc", &["-showme:version"]).contains("oxmpi"));
    // Every part that the list names has an answer.
    let help = moved.says("mpicc", &["--showme:help"]);
    assert!(help.lines().count() >= 8, "{help}");
    for line in help.lines() {
        let part = line.split_whitespace().nth(1).unwrap();
        assert!(!moved.says("mpicc", &[part]).is_empty(), "{part}");
    }
    // Around the program's own arguments.
    let compile = moved.says("mpicc", &["-showme:compile", "-c", "a.c"]);
    assert!(
        compile.starts_with("-c a.c ") && compile.contains("-I"),
        "{compile}"
    );
    for question in ["-compile_info", "-compile-info"] {
        let said = moved.says("mpicc", &[question, "-O2"]);
        assert!(said.contains("-O2") && !said.contains("-lmpi"), "{said}");
    }
    for question in ["-link_info", "-link-info"] {
        let said = moved.says("mpicc", &[question, "-O2"]);
        assert!(
            said.starts_with("gcc ") && said.contains("-O2") && said.ends_with("-lmpi"),
            "{said}"
        );
    }
    assert!(!moved.says("mpicc", &["-show", "-c", "a.c"]).contains("-l"));
    // Questions to the compiler get through, after our own line.
    let version = moved.says("mpicc", &["-v"]);
    assert!(version.starts_with("mpicc for oxmpi version"), "{version}");
    assert!(
        moved
            .says("mpicc", &["--version"])
            .contains("Free Software")
    );
    for name in ["mpicc", "mpicxx", "mpifort"] {
        let help = moved.says(name, &["-help"]);
        assert!(
            help.starts_with(name) && help.contains("-profile=NAME"),
            "{help}"
        );
    }
    // The command goes beside the preprocessed program, not into it.
    let output = output(moved.wrapper("mpicc").args(["-echo", "-E", "a.c"]));
    let (program, command) = (output.stdout, output.stderr);
    assert!(String::from_utf8(command).unwrap().starts_with("gcc "));
    assert!(!String::from_utf8_lossy(&program).contains("gcc -I"));
}

#[test]
fn variables_of_all_families_are_read() {
    let moved = Moved::new("wrapper-variables");
    for (name, variable) in [
        ("mpicc", "CC"),
        ("mpicxx", "CXX"),
        ("mpifort", "FC"),
        ("mpif77", "F77"),
        ("mpif90", "F90"),
    ] {
        for family in ["OXMPI", "MPICH", "OMPI", "I_MPI"] {
            let old = variable.starts_with("F7") || variable.starts_with("F9");
            if old && ["OXMPI", "OMPI"].contains(&family) {
                continue; // there is no such variable
            }
            let said = run(moved
                .wrapper(name)
                .env(format!("{family}_{variable}"), "my-compiler -m64")
                .arg("-show"));
            assert!(
                said.starts_with("my-compiler -m64 "),
                "{family}_{variable}: {said}"
            );
        }
    }
    // The option wins, then our own variable.
    let said = run(moved
        .wrapper("mpicc")
        .env("MPICH_CC", "one")
        .args(["-cc=two", "-show"]));
    assert!(said.starts_with("two "), "{said}");
    let both = |first, second| {
        run(moved
            .wrapper("mpicc")
            .env(first, "one")
            .env(second, "two")
            .arg("-show"))
    };
    assert!(both("OXMPI_CC", "MPICH_CC").starts_with("one "));
    assert!(both("MPICH_CC", "OMPI_CC").starts_with("one "));

    for family in ["OXMPI", "MPICH", "OMPI"] {
        let said = run(moved
            .wrapper("mpicc")
            .env(format!("{family}_CPPFLAGS"), "-DFIRST='a b'")
            .env(format!("{family}_CFLAGS"), "-O3")
            .env(format!("{family}_LDFLAGS"), "-L/other")
            .env(format!("{family}_LIBS"), "-lm")
            .args(["-show", "a.c"]));
        let places = ["'-DFIRST=a b'", "-O3", "a.c", "-L/other", "-lmpi", "-lm\n"]
            .map(|word| said.find(word).unwrap_or_else(|| panic!("{word}: {said}")));
        assert!(places.is_sorted(), "{said}");
    }
    // Of another language.
    let said = run(moved
        .wrapper("mpicc")
        .env("OXMPI_CXXFLAGS", "-DNO")
        .arg("-show"));
    assert!(!said.contains("-DNO"), "{said}");
    run(moved
        .wrapper("mpicc")
        .env("OMPI_CFLAGS", "-DWORD='\"other\"'")
        .args(["-o", "a", "a.c"]));
    assert_eq!(moved.program(), "other 1\n");
    let open = output(
        moved
            .wrapper("mpicc")
            .env("OXMPI_CFLAGS", "'open")
            .arg("-show"),
    );
    let text = String::from_utf8(open.stderr).unwrap();
    assert!(
        !open.status.success() && text.contains("OXMPI_CFLAGS"),
        "{text}"
    );
}

#[test]
fn profiling_libraries_are_linked_in_front() {
    let moved = Moved::new("wrapper-profile");
    let tool = "#include <mpi.h>\n#include <stdio.h>\n\
        int MPI_Finalize(void) { puts(\"tool\"); return PMPI_Finalize(); }\n";
    fs::write(moved.work.join("tool.c"), tool).unwrap();
    let library = moved.prefix.join("lib/libtool.so");
    moved.says(
        "mpicc",
        &[
            "-shared",
            "-fPIC",
            "-o",
            library.to_str().unwrap(),
            "tool.c",
        ],
    );
    moved.says("mpicc", &["-profile=tool", "-o", "a", "a.c"]);
    assert_eq!(moved.program(), "size 1\ntool\n");
    run(moved
        .wrapper("mpicc")
        .env("MPICC_PROFILE", "tool")
        .args(["-o", "b", "a.c"]));
    assert_eq!(
        run(&mut Command::new(moved.work.join("b"))),
        "size 1\ntool\n"
    );

    // By a file, which may name any library, and headers.
    fs::create_dir(moved.prefix.join("etc")).unwrap();
    let text = "# as for MPICH\nPROFILE_PRELIB=\"-L/first -ltool\"\nPROFILE_INCPATHS=-I/headers\nPROFILE_POSTLIB=-llast\n";
    fs::write(moved.prefix.join("etc/mine.conf"), text).unwrap();
    let said = moved.says("mpicc", &["-profile=mine", "-show", "a.c"]);
    let places = ["-I/headers", "a.c", "-L/first -ltool", "-lmpi -llast"]
        .map(|word| said.find(word).unwrap_or_else(|| panic!("{word}: {said}")));
    assert!(places.is_sorted(), "{said}");
    let said = moved.fails("mpicc", &["-profile=absent", "a.c"]);
    assert!(
        said.contains("etc/absent.conf") && said.contains("lib/libabsent.so"),
        "{said}"
    );
}

#[test]
fn configuration_files_choose_the_compiler() {
    let moved = Moved::new("wrapper-config");
    let said = moved.fails("mpicc", &["-config=other", "-show"]);
    assert!(
        said.contains("etc/mpicc-other.conf") && said.contains("CC=gcc"),
        "{said}"
    );
    fs::create_dir(moved.prefix.join("etc")).unwrap();
    let path = moved.prefix.join("etc/mpicc-other.conf");
    fs::write(&path, "CC=\"gcc -m64\"\nCFLAGS=\"-O1 -g\"\n").unwrap();
    let said = moved.says("mpicc", &["-config=other", "-show"]);
    assert!(
        said.starts_with("gcc -m64 ") && said.contains(" -O1 -g "),
        "{said}"
    );
    fs::write(&path, "CC=gcc\nwhat is this\n").unwrap();
    let said = moved.fails("mpicc", &["-config=other", "-show"]);
    assert!(
        said.contains("mpicc-other.conf:2") && said.contains("what is this"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_done_is_told() {
    let moved = Moved::new("wrapper-bad");
    let said = moved.fails("mpicc", &["-showme:compiel"]);
    assert!(
        said.contains("compiel") && said.contains("compile, link"),
        "{said}"
    );
    for option in ["-static", "-static-mpi", "-noshlib"] {
        let said = moved.fails("mpicc", &[option, "-o", "a", "a.c"]);
        assert!(
            said.contains(option) && said.contains("libmpi.so.12"),
            "{said}"
        );
    }
    assert!(moved.fails("mpicc", &["-cc=", "a.c"]).contains("-cc=gcc"));
    // An object is not linked.
    moved.says("mpicc", &["-static", "-c", "a.c"]);
    // Nor is a program without MPI linked with it.
    fs::write(moved.work.join("plain.c"), "int main(void) { return 0; }\n").unwrap();
    let plain = moved.work.join("plain");
    for options in [vec!["-nativelinking"], vec!["-nativelinking", "-static"]] {
        let mut arguments = options;
        arguments.extend(["-o", "plain", "plain.c"]);
        moved.says("mpicc", &arguments);
        assert!(!needed(&plain).contains("libmpi"));
    }
}

#[test]
fn a_sysroot_is_taken_into_account() {
    let moved = Moved::new("wrapper-sysroot");
    moved.says("mpicc", &["--sysroot=/", "-o", "a", "a.c"]);
    assert_eq!(moved.program(), "size 1\n");
    // The prefix lies in it: the program will find the library without it.
    let sysroot = format!("--sysroot={}", moved.work.display());
    let said = moved.says("mpicc", &[&sysroot, "-show", "-norpath"]);
    let inside = moved.prefix.join("lib").display().to_string();
    assert!(said.contains(&inside) && !said.contains("-rpath"), "{said}");
    let said = moved.says("mpicc", &[&sysroot, "-show"]);
    assert!(
        said.contains("-rpath -Xlinker '/moved here, twice/lib'"),
        "{said}"
    );
    // A prefix of the same name lies in it.
    let other = moved.work.join("target");
    let there = other.join(moved.prefix.strip_prefix("/").unwrap());
    fs::create_dir_all(there.join("include")).unwrap();
    fs::write(there.join("include/mpi.h"), "").unwrap();
    let said = moved.says("mpicc", &["--sysroot", other.to_str().unwrap(), "-show"]);
    assert!(
        said.contains(&there.join("include").display().to_string()),
        "{said}"
    );
}

#[test]
fn modules_are_compiled_at_their_first_use() {
    if !have_fortran() {
        return;
    }
    let moved = Moved::new("wrapper-modules");
    let program = "program main\n  use mpi\n  implicit none\n  integer :: ierr\n  call MPI_Init(ierr)\n  \
        call MPI_Finalize(ierr)\n  print *, 'done'\nend program\n";
    fs::write(moved.work.join("a.f90"), program).unwrap();
    let plain = "program main\n  print *, 'plain'\nend program\n";
    fs::write(moved.work.join("plain.f90"), plain).unwrap();
    let compile = |file: &str| {
        let output = output(
            moved
                .wrapper("mpifort")
                .args(["-fc=gfortran", "-o", "a", file]),
        );
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        text
    };
    assert_eq!(compile("plain.f90"), "");
    assert!(compile("a.f90").contains("compiling the modules mpi and mpi_f08"));
    assert_eq!(moved.program().trim(), "done");
    assert_eq!(compile("a.f90"), "");
}
