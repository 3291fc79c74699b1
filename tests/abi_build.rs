//! Building programs with us: the compiler wrappers, pkg-config, CMake.

mod abi;

use abi::{has_program, have, have_fortran, output, run, scratch, stage, staged};
use std::process::Command;

const PROGRAM: &str = "#include <mpi.h>\n#include <stdio.h>\n\
    int main(int argc, char **argv) { int size; MPI_Init(&argc, &argv);\n\
    MPI_Comm_size(MPI_COMM_WORLD, &size); printf(\"size %d\\n\", size);\n\
    return MPI_Finalize(); }\n";

#[test]
fn wrappers_compile_and_link_for_this_library() {
    let work = scratch("wrappers");
    for (wrapper, file) in [("mpicc", "a.c"), ("mpicxx", "a.cpp"), ("mpic++", "a.cc")] {
        std::fs::write(work.join(file), PROGRAM).unwrap();
        run(staged(wrapper)
            .current_dir(&work)
            .args(["-O1", "-o", "a", file]));
        let dynamic = run(Command::new("readelf").arg("-dW").arg(work.join("a")));
        assert!(dynamic.contains("[libmpi.so.12]"), "{dynamic}");
        assert_eq!(run(&mut Command::new(work.join("a"))), "size 1\n");
    }
    // In two steps, and from another directory by a relative path.
    run(staged("mpicc").current_dir(&work).args(["-c", "a.c"]));
    run(staged("mpicc").current_dir(&work).args(["-o", "b", "a.o"]));
    assert_eq!(run(&mut Command::new(work.join("b"))), "size 1\n");
}

#[test]
fn wrappers_answer_questions() {
    let stage = stage();
    let show = run(staged("mpicc").arg("-show"));
    assert!(
        show.contains(&format!("-I{}/include", stage.display())),
        "{show}"
    );
    assert!(show.contains("-lmpi"), "{show}");
    let compile = run(staged("mpicc").arg("-compile_info"));
    assert!(
        compile.contains("-I") && !compile.contains("-lmpi"),
        "{compile}"
    );
    assert!(run(staged("mpicc").arg("-link_info")).contains("-lmpi"));
    assert!(run(staged("mpicc").args(["-cc=clang", "-show"])).starts_with("clang "));
    let other = run(staged("mpicxx").arg("-show").env("MPICH_CXX", "clang++"));
    assert!(other.starts_with("clang++ "), "{other}");
    let without = run(staged("mpicc").args(["-show", "-norpath"]));
    assert!(show.contains("-rpath") && !without.contains("-rpath"));
    // Questions to the compiler itself get through.
    assert!(
        run(staged("mpicc").arg("-dumpversion"))
            .trim()
            .starts_with(|c: char| c.is_ascii_digit())
    );
    let missing = output(staged("mpicc").args(["-cc=no-such-compiler", "a.c"]));
    assert!(!missing.status.success());
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no-such-compiler"));
}

#[test]
fn pkg_config_knows_us() {
    if !have("pkg-config") {
        return;
    }
    let work = scratch("pkg-config");
    std::fs::write(work.join("a.c"), PROGRAM).unwrap();
    for name in ["mpich", "oxmpi"] {
        let mut ask = Command::new("pkg-config");
        ask.env("PKG_CONFIG_PATH", stage().join("lib/pkgconfig"));
        let flags = run(ask.args(["--cflags", "--libs", name]));
        let mut compile = Command::new("gcc");
        run(compile
            .current_dir(&work)
            .arg("a.c")
            .args(flags.split_whitespace())
            .args(["-o", "a"]));
        let mut program = Command::new(work.join("a"));
        assert_eq!(
            run(program.env("LD_LIBRARY_PATH", stage().join("lib"))),
            "size 1\n"
        );
    }
}

#[test]
fn cmake_finds_us() {
    if !have("cmake") {
        return;
    }
    let work = scratch("cmake");
    let project = "cmake_minimum_required(VERSION 3.18)\nproject(ring C CXX)\n\
        find_package(MPI 4 REQUIRED COMPONENTS C CXX)\n\
        add_executable(a a.c)\ntarget_link_libraries(a MPI::MPI_C)\n\
        add_executable(b b.cpp)\ntarget_link_libraries(b MPI::MPI_CXX)\n\
        message(STATUS \"library ${MPI_C_LIBRARIES} version ${MPI_C_VERSION}\")\n";
    std::fs::write(work.join("CMakeLists.txt"), project).unwrap();
    std::fs::write(work.join("a.c"), PROGRAM).unwrap();
    std::fs::write(work.join("b.cpp"), PROGRAM).unwrap();
    let path = format!(
        "{}:{}",
        stage().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let cmake = |arguments: &[&str]| {
        run(Command::new("cmake")
            .current_dir(&work)
            .env("PATH", &path)
            .args(arguments))
    };
    let configured = cmake(&["-S", ".", "-B", "build", "-DMPI_CXX_SKIP_MPICXX=ON"]);
    let library = stage().join("lib").join("libmpi.so");
    assert!(
        configured.contains(&format!("library {}", library.display())),
        "{configured}"
    );
    cmake(&["--build", "build"]);
    for name in ["a", "b"] {
        assert_eq!(
            run(&mut Command::new(work.join("build").join(name))),
            "size 1\n"
        );
    }
}

/// FindMPI hands what `mpifort -show` says to all files of a target that uses MPI::MPI_Fortran, and clang ends
/// at an option of gfortran's.
#[test]
fn cmake_builds_a_target_of_c_and_fortran() {
    if !have("cmake") || !have_fortran() {
        return;
    }
    let work = scratch("cmake-mixed");
    let project = "cmake_minimum_required(VERSION 3.18)\nproject(mixed C Fortran)\n\
        find_package(MPI 4 REQUIRED COMPONENTS C Fortran)\n\
        add_executable(mixed part.c main.f90)\n\
        target_compile_options(mixed PRIVATE -Werror)\n\
        target_link_libraries(mixed MPI::MPI_Fortran MPI::MPI_C)\n";
    let part = "#include <mpi.h>\n#include <stdio.h>\nvoid part_(const int *comm)\n{\n  int size = 0;\n  \
        MPI_Comm_size(MPI_Comm_f2c(*comm), &size);\n  printf(\"size %d\\n\", size);\n}\n";
    let main = "program main\n  use mpi\n  implicit none\n  external :: part\n  integer :: ierr\n  real :: x(2)\n  \
        call MPI_Init(ierr)\n  call part(MPI_COMM_WORLD)\n  call MPI_Bcast(x, 2, MPI_REAL, 0, MPI_COMM_WORLD, ierr)\n  \
        call MPI_Bcast(ierr, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n  call MPI_Finalize(ierr)\nend program\n";
    for (name, text) in [
        ("CMakeLists.txt", project),
        ("part.c", part),
        ("main.f90", main),
    ] {
        std::fs::write(work.join(name), text).unwrap();
    }
    let path = format!(
        "{}:{}",
        stage().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let compiler = if has_program("clang") { "clang" } else { "gcc" };
    let c = format!("-DCMAKE_C_COMPILER={compiler}");
    for arguments in [
        vec![
            "-S",
            ".",
            "-B",
            "build",
            &c,
            "-DCMAKE_Fortran_COMPILER=gfortran",
        ],
        vec!["--build", "build"],
    ] {
        run(Command::new("cmake")
            .current_dir(&work)
            .env("PATH", &path)
            .args(arguments));
    }
    assert_eq!(run(&mut Command::new(work.join("build/mixed"))), "size 1\n");
}
