//! The standard ABI: `libmpi_abi.so.1` and `include/standard/mpi.h` against the facts about it, and programs compiled by either
//! library's header, which give the same on both libraries. MPICH's is the prefix `OXMPI_STANDARD_PEER` or
//! `/opt/peers/mpich`, else its wheel is fetched.

mod abi;

use abi::{exported, facts, output, root, run, scratch, skip, stage, staged};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn header() -> String {
    std::fs::read_to_string(root().join("include/standard/mpi.h")).unwrap()
}

/// A prefix with MPICH's mpicc_abi and libmpi_abi.so.1: one that is there, or its wheel, fetched once.
fn peer() -> Option<PathBuf> {
    static PEER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let peer = PEER.get_or_init(|| {
        let named = std::env::var_os("OXMPI_STANDARD_PEER").map(PathBuf::from);
        let own = root().join("target/clients/mpich5");
        let places = [named, Some("/opt/peers/mpich".into()), Some(own.clone())];
        let has_mpich = |prefix: &PathBuf| prefix.join("bin/mpicc_abi").exists();
        (places.into_iter().flatten().find(has_mpich)).or_else(|| fetched(own).filter(has_mpich))
    });
    if peer.is_none() {
        let reason = "there is no MPICH 5, and pip could not fetch its wheel";
        let venv = abi::has_package("python3-venv");
        skip(reason, (!venv).then_some("python3-venv"));
    }
    peer.clone()
}

fn fetched(prefix: PathBuf) -> Option<PathBuf> {
    let succeeds = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&prefix));
    let mut pip = Command::new(prefix.join("bin/pip"));
    pip.args([
        "-q",
        "--retries",
        "1",
        "install",
        "--only-binary",
        ":all:",
        "mpich==5.0.2",
    ]);
    (made && succeeds(&mut pip)).then_some(prefix)
}

#[test]
fn the_library_exports_what_the_header_declares() {
    let listed: BTreeSet<String> =
        std::fs::read_to_string(root().join("include/standard/mpi.symbols"))
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
    let library = stage().join("lib/libmpi_abi.so.1");
    let there: BTreeSet<String> = exported(&library)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(listed, there);
    // One symbol is not MPI's: by which the libraries of the two ABIs know of each other.
    let header = header();
    let undeclared: Vec<&String> = there
        .iter()
        .filter(|name| !header.contains(&format!(" {name}(")))
        .collect();
    assert_eq!(undeclared, ["oxmpi_in_use"]);
    let dynamic = run(Command::new("readelf").args(["-dW"]).arg(&library));
    assert!(dynamic.contains("soname: [libmpi_abi.so.1]"), "{dynamic}");
}

#[test]
fn the_header_declares_the_functions_of_the_standard() {
    let Some(text) = facts("std-abi.json") else {
        return;
    };
    let abi: Value = serde_json::from_str(&text).unwrap();
    let mut expected = BTreeSet::from(["oxmpi_in_use".to_owned()]);
    for name in abi["functions"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        expected.extend([name.to_owned(), format!("P{name}")]);
    }
    let library = stage().join("lib/libmpi_abi.so.1");
    let there: BTreeSet<String> = exported(&library)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<_> = expected.difference(&there).collect();
    let unknown: Vec<_> = there.difference(&expected).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing {missing:?}, not standard {unknown:?}"
    );
    assert!(expected.len() > 1300);
}

/// Compiles and runs a program that prints `name value` lines.
fn ask(name: &str, statements: &str) -> BTreeMap<String, String> {
    let work = scratch(name);
    let program = format!(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stddef.h>\nint main(void) {{\n{statements}  return 0;\n}}\n"
    );
    std::fs::write(work.join("ask.c"), program).unwrap();
    run(staged("mpicc_abi")
        .current_dir(&work)
        .args(["-Wall", "-Werror", "ask.c", "-o", "ask"]));
    run(&mut Command::new(work.join("ask")))
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn constants_and_types_are_those_of_the_standard() {
    let Some(text) = facts("std-abi.json") else {
        return;
    };
    let abi: Value = serde_json::from_str(&text).unwrap();
    let mut statements = String::new();
    let mut expected = BTreeMap::new();
    for constant in abi["constants"].as_array().unwrap() {
        let name = constant["name"].as_str().unwrap();
        let in_header = constant["in_header"] == true && !name.starts_with("MPIX_");
        let (true, Some(value)) = (in_header, constant["value"].as_i64()) else {
            continue;
        };
        writeln!(
            statements,
            "  printf(\"{name} %lld\\n\", (long long)(intptr_t){name});"
        )
        .unwrap();
        expected.insert(name.to_owned(), value.to_string());
    }
    assert!(expected.len() > 350);
    for (name, facts) in abi["types"].as_object().unwrap() {
        writeln!(
            statements,
            "  printf(\"type:{name} %zu/%zu\\n\", sizeof({name}), offsetof(struct {{ char c; {name} value; }}, value));"
        )
        .unwrap();
        expected.insert(
            format!("type:{name}"),
            format!("{}/{}", facts["size"], facts["align"]),
        );
    }
    for (name, facts) in abi["structs"].as_object().unwrap() {
        writeln!(
            statements,
            "  printf(\"struct:{name} %zu\\n\", sizeof({name}));"
        )
        .unwrap();
        expected.insert(format!("struct:{name}"), facts["size"].to_string());
        for field in facts["fields"].as_array().unwrap() {
            let field_name = field["name"].as_str().unwrap();
            writeln!(
                statements,
                "  printf(\"field:{name}.{field_name} %zu\\n\", offsetof({name}, {field_name}));"
            )
            .unwrap();
            expected.insert(
                format!("field:{name}.{field_name}"),
                field["offset"].to_string(),
            );
        }
    }
    let values = ask("standard_constants", &statements);
    let wrong: Vec<String> = expected
        .iter()
        .filter(|(name, value)| values.get(*name) != Some(value))
        .map(|(name, value)| format!("{name} is {:?}, not {value}", values.get(name)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What this header says that the other one does not is an error of the compiler: types and prototypes are compatible.
#[test]
fn prototypes_are_those_of_another_library() {
    let Some(prefix) = peer() else { return };
    let work = scratch("standard_prototypes");
    // The names of structs are those of the standard, so the declarations of both headers can stand in one file.
    let mut text = "#include \"mpi_abi.h\"\n".to_owned();
    let prototypes = header();
    let prototypes = prototypes
        .lines()
        .filter(|line| line.starts_with("extern ") && line.ends_with(");"));
    // In MPICH 5.0.2 these have an MPI_Count without the suffix _c, which the standard has not.
    let others = prototypes
        .filter(|line| !line.contains("MPI_Psend_init(") && !line.contains("MPI_Precv_init("));
    for line in others {
        text.push_str(line);
        text.push('\n');
    }
    std::fs::write(work.join("both.c"), text).unwrap();
    run(Command::new("gcc")
        .current_dir(&work)
        .arg(format!("-I{}", prefix.join("include").display()))
        .args(["-fsyntax-only", "-Werror", "both.c"]));
}

/// The output of a program of `c-tests/abi`, compiled by one compiler, run by one launcher on one library.
fn output_of(program: &str, cc: &Path, prefix: &Path, ranks: usize) -> String {
    let work = scratch(&format!(
        "standard-{program}-{}",
        format!("{}-{}", cc.display(), prefix.display()).replace('/', "_")
    ));
    let source = root().join("c-tests");
    run(Command::new(cc)
        .arg(source.join(format!("abi/{program}.c")))
        .arg(format!("-I{}", source.join("common").display()))
        .args(["-o"])
        .arg(work.join(program)));
    let text = run(Command::new(prefix.join("bin/mpiexec"))
        .args(["-n", &ranks.to_string()])
        .arg(work.join(program))
        .arg("values")
        .env("LD_LIBRARY_PATH", prefix.join("lib"))
        .env("C_SUITE_PROGRAM", program));
    // A remark of MPICH's at the end.
    let lines = text.lines().filter(|line| !line.starts_with("MPICH: "));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Three ways: all on MPICH; compiled by MPICH's header and run on us; all on us.
#[test]
fn programs_give_the_same_on_both_libraries() {
    let ours = stage();
    let our_cc = ours.join("bin/mpicc_abi");
    let peer = peer();
    for (program, ranks) in [("constants", 1), ("callbacks", 2), ("values", 2)] {
        let text = output_of(program, &our_cc, &ours, ranks);
        assert!(text.contains("passed"), "{text}");
        if let Some(peer) = &peer {
            let their_cc = peer.join("bin/mpicc_abi");
            assert_eq!(
                output_of(program, &their_cc, &ours, ranks),
                text,
                "{program} by MPICH's header on us"
            );
            assert_eq!(
                output_of(program, &their_cc, peer, ranks),
                text,
                "{program} on MPICH"
            );
        }
    }
}

/// Handles and numbers of MPICH's ABI mean nothing here, and the text says what they are.
#[test]
fn values_of_the_other_abi_are_errors() {
    let statements = "\
        #define TRY(call) do { int code = (call), class_ = -1, length; char text[MPI_MAX_ERROR_STRING];\\\n\
          MPI_Error_class(code, &class_); MPI_Error_string(code, text, &length); printf(\"%s %d %s\\n\", #call, class_, text); } while (0)\n\
        int x = 0; MPI_Request r = (MPI_Request)0x98000123; MPI_Datatype t; MPI_Comm c, freed;\n\
        MPI_Init(NULL, NULL); MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);\n\
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);\n\
        MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN); freed = c; MPI_Comm_free(&c);\n\
        TRY(MPI_Barrier((MPI_Comm)0x44000000));\n\
        TRY(MPI_Barrier((MPI_Comm)0));\n\
        TRY(MPI_Barrier((MPI_Comm)0x7fff12345678));\n\
        TRY(MPI_Barrier(freed));\n\
        TRY(MPI_Barrier((MPI_Comm)MPI_INT));\n\
        TRY(MPI_Send(&x, 1, (MPI_Datatype)0x4c000405, 0, 0, MPI_COMM_WORLD));\n\
        TRY(MPI_Send(&x, 1, (MPI_Datatype)0x8c000000, 0, 0, MPI_COMM_WORLD));\n\
        TRY(MPI_Allreduce(&x, &x + 1, 1, MPI_INT, (MPI_Op)0x58000003, MPI_COMM_WORLD));\n\
        TRY(MPI_Recv(&x, 1, MPI_INT, -2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));\n\
        TRY(MPI_Bcast((void *)-1, 1, MPI_INT, -3, MPI_COMM_WORLD));\n\
        TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));\n\
        TRY(MPI_Type_match_size(1, 8, &t));\n\
        TRY(MPI_Comm_get_attr(MPI_COMM_WORLD, 0x64400001, &t, &x));\n\
        TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)0x54000000));\n\
        TRY(MPI_Win_create(&x, 4, 1, (MPI_Info)0x1c000000, MPI_COMM_WORLD, (MPI_Win *)&r));\n\
        MPI_Finalize();\n";
    let work = scratch("standard_mistakes");
    let program = format!(
        "#include <mpi.h>\n#include <stdio.h>\nint main(void) {{\n{statements}return 0;\n}}\n"
    );
    std::fs::write(work.join("mistakes.c"), program).unwrap();
    run(staged("mpicc_abi")
        .current_dir(&work)
        .args(["mistakes.c", "-o", "mistakes"]));
    let text = run(&mut Command::new(work.join("mistakes")));
    let lines: Vec<&str> = text.lines().collect();
    // Class and a part of the text, in the order of the calls.
    let expected = [
        (
            5,
            "comm is 0x44000000 (of MPICH's ABI: compiled with another mpi.h), which is no communicator",
        ),
        (5, "comm is 0x00000000, which is no communicator"),
        (5, "comm is 0x7fff12345678, which is no communicator"),
        (5, "which is no communicator, or one that was freed"),
        (5, "comm is 0x00000209, which is no communicator"),
        (
            3,
            "datatype is 0x4c000405 (of MPICH's ABI: compiled with another mpi.h), which is no datatype",
        ),
        (3, "datatype is 0x8c000000, which is no datatype"),
        (
            10,
            "0x58000003 (of MPICH's ABI: compiled with another mpi.h)",
        ),
        (
            6,
            "source is -2; allowed is 0 to 0, MPI_ANY_SOURCE or MPI_PROC_NULL",
        ),
        (8, "root is -3; allowed is 0 to 0"),
        (7, "0x98000123"),
        (13, "typeclass is 1"),
        (36, "0x64400001"),
        (61, "0x54000000"),
        (34, "0x1c000000"),
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, (class, part)) in lines.iter().zip(expected) {
        let (_, rest) = line.split_once(") ").unwrap_or(("", line));
        assert!(
            line.contains(&format!(") {class} MPI_")) && line.contains(part),
            "class {class} and {part:?} are not in {line} ({rest})"
        );
    }
}

/// A process that has loaded the libraries of both ABIs: each calls itself, and the second one to be initialized says why not.
#[test]
fn both_libraries_in_one_process() {
    let work = scratch("both_abis");
    let program = "#include <dlfcn.h>\n#include <stdio.h>\n#include <string.h>\n\
        static int (*of(void *library, const char *name))() { return (int (*)())dlsym(library, name); }\n\
        int main(int argc, char **argv) {\n\
        void *first = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL), *second = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);\n\
        if (argc < 3 || !first || !second) { puts(dlerror()); return 1; }\n\
        int major = 0, minor, flag = -1;\n\
        of(second, \"MPI_Abi_get_version\")(&major, &minor); printf(\"second %d\\n\", major);\n\
        of(first, \"MPI_Abi_get_version\")(&major, &minor); printf(\"first %d\\n\", major);\n\
        printf(\"init %d\\n\", of(first, \"MPI_Init\")(NULL, NULL));\n\
        of(second, \"MPI_Initialized\")(&flag); printf(\"second is initialized %d\\n\", flag);\n\
        fflush(stdout);\n\
        if (argc > 3) return of(second, \"MPI_Init\")(NULL, NULL);\n\
        printf(\"finalize %d\\n\", of(first, \"MPI_Finalize\")()); return 0; }\n";
    std::fs::write(work.join("both.c"), program).unwrap();
    run(Command::new("gcc")
        .current_dir(&work)
        .args(["-w", "both.c", "-o", "both", "-ldl"]));
    let libraries = ["lib/libmpi.so.12", "lib/libmpi_abi.so.1"].map(|name| stage().join(name));
    for (at, major) in [(0, [1, -1]), (1, [-1, 1])] {
        let (first, second) = (&libraries[at], &libraries[1 - at]);
        let start = || {
            let mut command = Command::new(work.join("both"));
            command.arg(first).arg(second);
            command
        };
        let text = run(&mut start());
        let expected = format!(
            "second {}\nfirst {}\ninit 0\nsecond is initialized 0\nfinalize 0\n",
            major[0], major[1]
        );
        assert_eq!(text, expected);
        let refused = output(start().arg("both"));
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success());
        let named = first.canonicalize().unwrap();
        assert!(
            error.contains("MPI is in use in this process by")
                && error.contains(&named.display().to_string()),
            "{error}"
        );
    }
}

#[test]
fn the_wrappers_and_pkg_config_know_the_standard_abi() {
    let stage = stage();
    let shown = run(staged("mpicc_abi").arg("-show"));
    assert!(
        shown.contains("include/standard") && shown.contains("-lmpi_abi"),
        "{shown}"
    );
    for options in [["-abi=standard", "-show"], ["-mpi-abi", "-show"]] {
        assert_eq!(run(staged("mpicc").args(options)), shown);
    }
    assert!(run(staged("mpicxx_abi").arg("-show")).contains("-lmpi_abi"));
    assert!(!run(staged("mpicc_abi").args(["-abi=mpich", "-show"])).contains("standard"));
    let fortran = output(staged("mpifort").args(["-abi=standard", "-show"]));
    assert!(!fortran.status.success());
    if abi::have("pkg-config") {
        let flags = run(Command::new("pkg-config")
            .env("PKG_CONFIG_PATH", stage.join("lib/pkgconfig"))
            .args(["--cflags", "--libs", "oxmpi-abi"]));
        assert!(
            flags.contains("include/standard") && flags.contains("-lmpi_abi"),
            "{flags}"
        );
    }
}

/// For C89 without a warning, and for C++.
#[test]
fn the_header_compiles_in_every_dialect() {
    let work = scratch("standard_dialects");
    std::fs::write(
        work.join("use.c"),
        "#include <mpi.h>\nMPI_Comm world = MPI_COMM_WORLD;\n",
    )
    .unwrap();
    for (compiler, dialects) in [("gcc", ["c89", "c11"]), ("g++", ["c++98", "c++17"])] {
        for dialect in dialects {
            let language = if compiler == "g++" { "c++" } else { "c" };
            run(Command::new(compiler)
                .current_dir(&work)
                .arg(format!("-I{}", root().join("include/standard").display()))
                .arg(format!("-std={dialect}"))
                .args([
                    "-x",
                    language,
                    "-pedantic",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-fsyntax-only",
                    "use.c",
                ]));
        }
    }
}
