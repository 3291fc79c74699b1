//! The Fortran library and its wrappers: names, what a profiling tool sees, compilers, and the example of
//! docs/fortran.md, which has to give the same in C and in three styles of Fortran.

mod abi;

use abi::{exported, facts, have_fortran, library, output, run, scratch, stage, staged};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn names() -> BTreeSet<String> {
    let library = stage().join("lib/libmpifort.so.12");
    exported(&library).into_iter().map(|row| row.0).collect()
}

#[test]
fn every_function_has_the_names_that_compilers_give_it() {
    let names = names();
    for stem in [
        "mpi_send",
        "mpi_comm_spawn_multiple",
        "mpi_comm_dup_fn",
        "mpi_wtime",
    ] {
        let upper = stem.to_uppercase();
        for name in [
            format!("{stem}_"),
            format!("{stem}__"),
            stem.to_owned(),
            upper,
        ] {
            assert!(names.contains(&name), "no {name}");
            let profiling = if name.starts_with('M') { "P" } else { "p" };
            assert!(
                names.contains(&format!("{profiling}{name}")),
                "no {profiling}{name}"
            );
        }
    }
    // Every C function of the standard but the tool interface and conversions of handles.
    let c: BTreeSet<String> = exported(&library()).into_iter().map(|row| row.0).collect();
    let missing: Vec<&String> = c
        .iter()
        .filter(|name| name.starts_with("MPI_") && name.chars().any(|c| c.is_ascii_lowercase()))
        .filter(|name| !name.starts_with("MPI_T_") && !name.ends_with("_c"))
        .filter(|name| {
            !["2c", "2f", "2f08", "2c", "toint", "fromint"]
                .iter()
                .any(|end| name.ends_with(end))
        })
        .filter(|name| {
            !name.starts_with("MPI_Abi_") && !names.contains(&format!("{}_", name.to_lowercase()))
        })
        .collect();
    assert!(missing.is_empty(), "no Fortran names of {missing:?}");
}

#[test]
fn names_of_debians_library_are_there() {
    let Some(text) = facts("fortran-abi.json") else {
        return;
    };
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut names = names();
    names.extend(exported(&library()).into_iter().map(|row| row.0));
    let mut missing = Vec::new();
    for (kind, symbols) in facts["symbols_debian"].as_object().unwrap() {
        // What no program can refer to: internals of the library's own start and modules.
        if matches!(kind.as_str(), "other" | "module_entities") {
            continue;
        }
        let symbols = symbols
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|s| s.as_str());
        missing.extend(
            symbols
                .filter(|name| !names.contains(*name) && !name.starts_with("MPI_F_"))
                .map(str::to_owned),
        );
    }
    assert!(missing.is_empty(), "missing {missing:?}");
}

#[test]
fn it_is_one_library_over_the_c_one() {
    let lib = stage().join("lib");
    let real = lib.join("libmpifort.so.12").canonicalize().unwrap();
    for name in ["libmpifort.so", "libmpichfort.so", "libmpichfort.so.12"] {
        assert_eq!(lib.join(name).canonicalize().unwrap(), real, "{name}");
    }
    let dynamic = run(Command::new("readelf").args(["-dW"]).arg(&real));
    assert!(dynamic.contains("soname: [libmpifort.so.12]"), "{dynamic}");
    assert!(dynamic.contains("[libmpi.so.12]"), "{dynamic}");
    assert!(!dynamic.contains("gfortran"), "{dynamic}");
}

#[test]
fn the_wrapper_answers_like_those_of_others() {
    let show = run(staged("mpifort").args(["-fc=any", "-O2", "-show", "x.f90"]));
    assert!(show.starts_with("any -I"), "{show}");
    assert!(
        show.contains(" -O2 x.f90 ") && show.contains("-lmpifort -lmpi"),
        "{show}"
    );
    // What a program of mpif.h needs is in the command of a file, and not where flags are asked for: those end up in
    // the commands of other languages.
    if have_fortran() {
        let mpifort =
            |arguments: &[&str]| run(staged("mpifort").arg("-fc=gfortran").args(arguments));
        for question in ["-show", "-compile_info", "-link_info", "--showme:compile"] {
            let answer = mpifort(&[question]);
            assert!(!answer.contains("mismatch"), "{question}: {answer}");
        }
        let whole = mpifort(&["-show", "-c", "x.f90"]);
        assert!(whole.contains("-fallow-argument-mismatch"), "{whole}");
    }
    let by_variable = run(staged("mpif90")
        .env("MPICH_FC", "other")
        .arg("-showme:command"));
    assert_eq!(by_variable, "other\n");
    let failed = output(staged("mpif77").args(["-fc=/nowhere/at-all", "x.f"]));
    let text = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && text.contains("-fc="), "{text}");
}

fn compile(work: &Path, source: &str, arguments: &[&str], program: &str) {
    run(staged("mpifort")
        .current_dir(work)
        .args(["-O1", source, "-o", program])
        .args(arguments));
}

/// A C tool sees what Fortran programs call, of every style, and not what it calls itself as PMPI.
#[test]
fn a_tool_in_c_sees_the_calls_of_a_fortran_program() {
    if !have_fortran() {
        return;
    }
    let work = scratch("fortran-tool");
    let tool = "#include <mpi.h>\n#include <stdio.h>\nstatic int calls;\n\
        int MPI_Comm_rank(MPI_Comm comm, int *rank) { calls++; return PMPI_Comm_rank(comm, rank); }\n\
        int MPI_Sendrecv(const void *a, int b, MPI_Datatype c, int d, int e, void *f, int g, MPI_Datatype h, int i, int j,\n\
          MPI_Comm k, MPI_Status *l) { calls += 100; return PMPI_Sendrecv(a, b, c, d, e, f, g, h, i, j, k, l); }\n\
        int MPI_Finalize(void) { int code = PMPI_Finalize(); printf(\"calls %d\\n\", calls); return code; }\n";
    let program = "program p\nuse MODULE\nimplicit none\ninteger :: rank, a(9), b(9), ierror\na = 1\n\
        call MPI_Init(ierror)\ncall MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)\n\
        call PMPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)\n\
        call MPI_Sendrecv(a, 1, MPI_INTEGER, 0, 1, b(1:9:2), 5, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)\n\
        call PMPI_Sendrecv(a, 1, MPI_INTEGER, 0, 1, b(1:9:2), 5, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)\n\
        call MPI_Finalize(ierror)\nend program\n";
    std::fs::write(work.join("tool.c"), tool).unwrap();
    run(staged("mpicc")
        .current_dir(&work)
        .args(["-shared", "-fPIC", "tool.c", "-o", "tool.so"]));
    for module in ["mpi", "mpi_f08"] {
        std::fs::write(work.join("p.f90"), program.replace("MODULE", module)).unwrap();
        compile(&work, "p.f90", &[], "p");
        let told = run(Command::new(work.join("p")).env("LD_PRELOAD", work.join("tool.so")));
        assert_eq!(told, "calls 101\n", "{module}");
    }
}

#[test]
fn old_programs_in_fixed_form_compile() {
    if !have_fortran() {
        return;
    }
    let work = scratch("fortran-fixed");
    let program = "      PROGRAM OLD\n      INCLUDE 'mpif.h'\n      INTEGER IERR, R, S(MPI_STATUS_SIZE)\n\
        C     A comment\n      DOUBLE PRECISION T\n      CALL MPI_INIT(IERR)\n      T = MPI_WTIME()\n\
        \x20     CALL MPI_COMM_RANK(MPI_COMM_WORLD, R, IERR)\n\
        \x20     CALL MPI_SENDRECV(R, 1, MPI_INTEGER, 0, 1, IERR, 1, MPI_INTEGER,\n     +0, 1, MPI_COMM_SELF, S, IERR)\n\
        \x20     IF (S(MPI_TAG) .EQ. 1 .AND. T .GT. 0) PRINT '(A)', 'fixed'\n\
        \x20     CALL MPI_FINALIZE(IERR)\n      END\n";
    std::fs::write(work.join("old.f"), program).unwrap();
    compile(&work, "old.f", &[], "old");
    assert_eq!(run(&mut Command::new(work.join("old"))), "fixed\n");
}

/// docs/heat: the same numbers and the same picture from C and from three styles of Fortran.
#[test]
fn the_example_gives_the_same_in_all_languages() {
    if !have_fortran() {
        return;
    }
    let work = scratch("fortran-heat");
    let docs = abi::root().join("docs/heat");
    let c = docs.join("heat.c").display().to_string();
    let fortran = docs.join("heat.F90").display().to_string();
    run(staged("mpicc")
        .current_dir(&work)
        .args(["-O1", &c, "-o", "c", "-lm"]));
    for (style, flag) in [
        ("mpif", "-DUSE_MPIF"),
        ("mpi", "-DUSE_MPI"),
        ("f08", "-DUSE_F08"),
    ] {
        compile(&work, &fortran, &["-fcheck=all", flag], style);
    }
    for ranks in ["1", "4", "6"] {
        let results = ["c", "mpif", "mpi", "f08"].map(|program| {
            let text = run(staged("mpiexec").current_dir(&work).args([
                "-n",
                ranks,
                &format!("./{program}"),
                "50",
                "60",
                "picture.pgm",
            ]));
            (text, std::fs::read(work.join("picture.pgm")).unwrap())
        });
        assert!(
            results[0].0.starts_with("after 60 steps"),
            "{}",
            results[0].0
        );
        assert!(
            results.iter().all(|result| *result == results[0]),
            "on {ranks} ranks"
        );
    }
}
