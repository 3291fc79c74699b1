//! `mpi.h`: clean in every C since C89 and every C++, and in agreement with the library, function by function.

mod abi;

use abi::{facts, has_program, output, run, scratch, skip, staged};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

const HEADER: &str = include_str!("../include/mpi.h");

/// In C89: declarations first, no comments of C++.
const PROGRAM: &str = "#include <mpi.h>
#include <stdio.h>
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
  (void)comm; (void)key; (void)extra; (void)in; (void)out;
  *flag = 0;
  return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
  int rank = -1, key = MPI_KEYVAL_INVALID;
  MPI_Count bytes = 0;
  MPI_Offset offset = 0;
  MPI_Aint address = 0;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, (void *)0);
  MPI_Comm_free_keyval(&key);
  MPI_Type_size_c(MPI_DOUBLE, &bytes);
  MPI_Get_address(&offset, &address);
  MPI_Comm_rank(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)), &rank);
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &key, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, &status);
  printf(\"%d %d %d\\n\", (int)bytes, status.MPI_TAG, address != 0);
  MPI_Finalize();
  return 0;
}
";

/// Whatever the standard and however strict the compiler: nothing to complain of, and a program that runs.
#[test]
fn strict_compilers_take_the_header() {
    let work = scratch("strict");
    for (name, text) in [
        ("a.c", PROGRAM),
        ("a.cpp", PROGRAM),
        ("empty.c", "int x;\n"),
        ("empty.cpp", "int x;\n"),
    ] {
        std::fs::write(work.join(name), text).unwrap();
    }
    let c = [
        "c89", "gnu89", "c99", "gnu99", "c11", "gnu11", "c17", "gnu17", "c2x", "c23", "gnu23",
    ];
    let cxx = [
        "c++98", "gnu++98", "c++11", "c++14", "c++17", "c++20", "c++23", "c++2b", "gnu++20",
    ];
    let compilers = [
        ("gcc", "mpicc", "-cc=", "c", &c[..]),
        ("clang", "mpicc", "-cc=", "c", &c),
        ("g++", "mpicxx", "-cxx=", "cpp", &cxx),
        ("clang++", "mpicxx", "-cxx=", "cpp", &cxx),
    ];
    for (compiler, wrapper, option, extension, standards) in compilers {
        if !has_program(compiler) {
            skip(&format!("{compiler} is not there"), Some("clang"));
            continue;
        }
        for standard in standards {
            let standard = format!("-std={standard}");
            let known = output(Command::new(compiler).current_dir(&work).args([
                &standard,
                "-fsyntax-only",
                &format!("empty.{extension}"),
            ]));
            if !known.status.success() {
                continue;
            }
            run(staged(wrapper).current_dir(&work).args([
                &format!("{option}{compiler}"),
                &standard,
                "-Wall",
                "-Wextra",
                "-pedantic-errors",
                "-Werror",
                &format!("a.{extension}"),
                "-o",
                "a",
            ]));
            let told = run(&mut Command::new(work.join("a")));
            assert_eq!(told, "8 3 1\n", "{compiler} {standard}");
        }
        let ansi = ["-ansi", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c"];
        run(staged(wrapper)
            .current_dir(&work)
            .arg(format!("{option}{compiler}"))
            .args(ansi)
            .arg(format!("a.{extension}")));
    }
}

/// Takes the address of every function that the header declares: it must be in the library.
#[test]
fn every_prototype_is_a_function_of_the_library() {
    let names: Vec<&str> = prototypes(HEADER).into_keys().collect();
    assert!(names.len() > 1400, "only {} prototypes", names.len());
    let mut program = String::from("#include <mpi.h>\n#include <stdio.h>\n");
    program.push_str("typedef void function(void);\nfunction *all[] = {\n");
    for name in &names {
        // In parentheses: some names are macros too.
        writeln!(program, "  (function *)&({name}),").unwrap();
    }
    program.push_str(
        "};\nint main(void) { printf(\"%zu\\n\", sizeof all / sizeof *all); return 0; }\n",
    );
    let work = scratch("prototypes");
    std::fs::write(work.join("all.c"), program).unwrap();
    run(staged("mpicc")
        .current_dir(&work)
        .args(["all.c", "-o", "all"]));
    let count = run(Command::new(work.join("all")).env("LD_BIND_NOW", "1"));
    assert_eq!(count.trim(), names.len().to_string());
}

/// The types of all parameters against the facts about the MPI 5.0 functions.
#[test]
fn prototypes_have_the_types_of_the_standard() {
    let Some(text) = facts("functions.json") else {
        return;
    };
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
    let prototypes = prototypes(HEADER);
    let mut wrong = Vec::new();
    for function in facts["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap();
        let Some((result, parameters)) = prototypes.get(name) else {
            wrong.push(format!("{name} is not declared"));
            continue;
        };
        let expected: Vec<String> = function["c"]["params"]
            .as_array()
            .unwrap()
            .iter()
            .map(|parameter| plain(parameter["type"].as_str().unwrap()))
            .collect();
        let given: Vec<String> = parameters
            .iter()
            .map(|parameter| plain(parameter))
            .collect();
        if expected != given || function["c"]["return"].as_str() != Some(result.as_str()) {
            wrong.push(format!("{name}: {given:?}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One spelling for what is the same to C as a parameter.
fn plain(spelled: &str) -> String {
    let mut text = spelled
        .replace("[][3]", "*")
        .replace("(*", "*")
        .replace(")[3]", "");
    while let Some(at) = text.find("[]") {
        text.replace_range(at..at + 2, "*");
    }
    let text: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" *", "*");
    match text.as_str() {
        // A function as a parameter is a pointer to it, and a const value is a value.
        "MPI_T_event_cb_function"
        | "MPI_T_event_free_cb_function"
        | "MPI_T_event_dropped_cb_function" => format!("{text}*"),
        "const int" => "int".to_owned(),
        _ => text,
    }
}

/// Name to result and parameter types, of the lines that declare a function.
fn prototypes(header: &str) -> BTreeMap<&str, (String, Vec<String>)> {
    let mut found = BTreeMap::new();
    for line in header.lines() {
        let Some(rest) = line.strip_prefix("extern ") else {
            continue;
        };
        let Some((front, parameters)) = rest.split_once('(') else {
            continue;
        };
        let at = front.rfind([' ', '*']).unwrap() + 1;
        let parameters = parameters.trim_end_matches(';');
        let parameters = &parameters[..parameters.len() - 1];
        let types = split(parameters)
            .iter()
            .map(|parameter| without_name(parameter))
            .collect();
        found.insert(&front[at..], (front[..at].trim().to_owned(), types));
    }
    found
}

fn split(parameters: &str) -> Vec<&str> {
    parameters
        .split(", ")
        .filter(|parameter| *parameter != "void")
        .collect()
}

/// `const int *ranks` is a `const int *`, `int (*ranges)[3]` an `int (*)[3]`.
fn without_name(parameter: &str) -> String {
    if parameter == "..." {
        return parameter.to_owned();
    }
    let end = parameter.find(')').unwrap_or(parameter.len());
    let start = parameter[..end]
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap()
        + 1;
    format!("{}{}", &parameter[..start], &parameter[end..])
}
