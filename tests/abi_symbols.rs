//! The exported names: exactly those of `include/mpi.symbols`, under the right library names, and
//! so that tools which interpose MPI functions work.

mod abi;

use abi::{exported, facts, library, run, scratch, stage, staged};
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn the_library_exports_what_the_list_says() {
    let listed: BTreeSet<String> = include_str!("../include/mpi.symbols")
        .lines()
        .map(str::to_owned)
        .collect();
    let there: BTreeSet<String> = exported(&library())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<_> = listed.difference(&there).collect();
    let unlisted: Vec<_> = there.difference(&listed).collect();
    assert!(
        missing.is_empty() && unlisted.is_empty(),
        "missing {missing:?}, unlisted {unlisted:?}"
    );
    assert!(
        listed.len() > 1400,
        "the list has only {} names",
        listed.len()
    );
}

#[test]
fn the_list_is_sorted_and_every_function_has_its_twin() {
    let names: Vec<&str> = include_str!("../include/mpi.symbols").lines().collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
    let set: BTreeSet<&str> = names.iter().copied().collect();
    let data: BTreeSet<String> = exported(&library())
        .into_iter()
        .filter(|(_, kind)| *kind != 'T')
        .map(|(name, _)| name)
        .collect();
    for name in names {
        if (name.starts_with("MPI_") || name.starts_with("MPIX_")) && !data.contains(name) {
            assert!(set.contains(format!("P{name}").as_str()), "no P{name}");
        }
    }
}

#[test]
fn one_library_under_all_its_names() {
    let lib = stage().join("lib");
    let real = lib.join("libmpi.so.12").canonicalize().unwrap();
    for name in ["libmpi.so", "libmpich.so", "libmpich.so.12"] {
        let link = lib.join(name);
        assert!(
            link.symlink_metadata().unwrap().is_symlink(),
            "{name} is no symbolic link"
        );
        assert_eq!(link.canonicalize().unwrap(), real, "{name}");
    }
    let dynamic = run(Command::new("readelf").args(["-dW"]).arg(&real));
    assert!(dynamic.contains("soname: [libmpi.so.12]"), "{dynamic}");
    for line in dynamic.lines().filter(|line| line.contains("(NEEDED)")) {
        let system = [
            "libc.so",
            "libgcc_s.so",
            "ld-linux",
            "libm.so",
            "libdl.so",
            "libpthread.so",
        ];
        assert!(
            system.iter().any(|name| line.contains(name)),
            "needs more than the C library: {line}"
        );
    }
}

#[test]
fn functions_and_data_of_other_mpich_libraries_are_there() {
    let Some(text) = facts("functions.json") else {
        return;
    };
    let facts_of_functions: serde_json::Value = serde_json::from_str(&text).unwrap();
    let there: BTreeSet<String> = exported(&library())
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let mut missing = Vec::new();
    for function in facts_of_functions["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap();
        for name in [name.to_owned(), format!("P{name}")] {
            if !there.contains(&name) {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "missing {missing:?}");
    // What the sibling libraries of Debian's package import from the C library.
    if let Some(table) = facts("symbols/other-exported.tsv") {
        for line in table.lines().filter(|line| line.starts_with("Debian")) {
            let fields: Vec<&str> = line.split('\t').collect();
            if fields.len() > 6 && !fields[6].is_empty() && fields[6] != "deb-cxx" {
                assert!(there.contains(fields[2]), "missing {}", fields[2]);
            }
        }
    }
}

/// A tool that defines MPI_Comm_rank and calls PMPI_Comm_rank sees the program's calls, and none
/// of the library's own.
#[test]
fn a_preloaded_tool_sees_the_calls_of_the_program() {
    let work = scratch("interposition");
    let tool = "#include <mpi.h>\n#include <stdio.h>\n\
        static int calls;\n\
        int MPI_Comm_rank(MPI_Comm comm, int *rank) { calls++; return PMPI_Comm_rank(comm, rank); }\n\
        int MPI_Barrier(MPI_Comm comm) { calls += 100; return PMPI_Barrier(comm); }\n\
        int MPI_Finalize(void) { int code = PMPI_Finalize(); printf(\"calls %d\\n\", calls); return code; }\n";
    let program = "#include <mpi.h>\n\
        int main(int argc, char **argv) { int rank; MPI_Init(&argc, &argv);\n\
        MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_rank(MPI_COMM_SELF, &rank);\n\
        MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n";
    std::fs::write(work.join("tool.c"), tool).unwrap();
    std::fs::write(work.join("program.c"), program).unwrap();
    run(staged("mpicc")
        .current_dir(&work)
        .args(["-shared", "-fPIC", "tool.c", "-o", "tool.so"]));
    run(staged("mpicc")
        .current_dir(&work)
        .args(["program.c", "-o", "program"]));
    let told = run(Command::new(work.join("program")).env("LD_PRELOAD", work.join("tool.so")));
    assert_eq!(told, "calls 102\n");
}
