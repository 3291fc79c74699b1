//! Every constant, size and offset of `mpi.h`, as a C compiler sees them, against the facts about
//! MPICH. Without the facts the layout alone is tested.

mod abi;

use abi::{facts, run, scratch, staged};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

/// Compiles and runs a program that prints `name value` lines.
fn ask(name: &str, statements: &str) -> BTreeMap<String, String> {
    let work = scratch(name);
    let program = format!(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stddef.h>\n\
         int main(void) {{\n{statements}  return 0;\n}}\n"
    );
    std::fs::write(work.join("ask.c"), program).unwrap();
    run(staged("mpicc")
        .current_dir(&work)
        .args(["ask.c", "-o", "ask", "-Wno-deprecated"]));
    run(&mut Command::new(work.join("ask")))
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn constants_have_the_values_of_mpich() {
    let Some(text) = facts("mpich-abi.json") else {
        return;
    };
    let abi: Value = serde_json::from_str(&text).unwrap();
    let mut statements = String::new();
    let mut expected = BTreeMap::new();
    for constant in abi["constants"].as_array().unwrap() {
        let name = constant["name"].as_str().unwrap();
        // The version is the first of MPICH with this ABI, whichever the facts are of.
        if matches!(name, "MPICH_VERSION" | "MPICH_NUMVERSION") {
            continue;
        }
        let kind = constant["c_type"].as_str().unwrap();
        // Where two versions of MPICH differ, the newer one is followed.
        let value = constant.get("value_5_0_2").unwrap_or(&constant["value"]);
        let same = |function: &Value| {
            let function = function.as_str().unwrap();
            format!("  printf(\"{name} %d\\n\", (void *){name} == (void *){function});\n")
        };
        if let Some(function) = constant.get("address_of_function") {
            statements += &same(function);
            expected.insert(name.to_owned(), "1".to_owned());
        } else if kind == "string" {
            writeln!(statements, "  printf(\"{name} %s\\n\", {name});").unwrap();
            expected.insert(name.to_owned(), value.as_str().unwrap().to_owned());
        } else if constant.get("exported_data_symbol").is_some() {
            writeln!(statements, "  printf(\"{name} %zu\\n\", sizeof {name});").unwrap();
            expected.insert(name.to_owned(), constant["size"].to_string());
        } else if let Some(number) = value.as_i64() {
            writeln!(
                statements,
                "  printf(\"{name} %lld\\n\", (long long){name});"
            )
            .unwrap();
            expected.insert(name.to_owned(), number.to_string());
        } else if let Some(function) = constant.get("alias_of_function") {
            statements += &same(function);
            expected.insert(name.to_owned(), "1".to_owned());
        } else {
            panic!("what is {constant}?");
        }
    }
    let values = ask("constants", &statements);
    let wrong: Vec<String> = expected
        .iter()
        .filter(|(name, value)| values.get(*name) != Some(value))
        .map(|(name, value)| format!("{name} is {:?}, not {value}", values.get(name)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} constants compared", expected.len());
    assert!(expected.len() > 400);
}

#[test]
fn types_have_the_layout_of_mpich() {
    let Some(text) = facts("mpich-abi.json") else {
        return;
    };
    let abi: Value = serde_json::from_str(&text).unwrap();
    let mut statements = String::new();
    let mut expected = BTreeMap::new();
    let mut expect = |name: String, expression: String, value: &Value| {
        writeln!(
            statements,
            "  printf(\"{name} %zu\\n\", (size_t)({expression}));"
        )
        .unwrap();
        expected.insert(name, value.to_string());
    };
    for (name, facts) in abi["types"]["5.0.2"].as_object().unwrap() {
        expect(
            format!("sizeof:{name}"),
            format!("sizeof({name})"),
            &facts["size"],
        );
        let align = format!("offsetof(struct {{ char c; {name} value; }}, value)");
        expect(format!("align:{name}"), align, &facts["align"]);
    }
    for (name, facts) in abi["structs"]["5.0.2"].as_object().unwrap() {
        expect(
            format!("sizeof:{name}"),
            format!("sizeof({name})"),
            &facts["size"],
        );
        for field in facts["fields"].as_array().unwrap() {
            let field_name = field["name"].as_str().unwrap();
            expect(
                format!("offset:{name}.{field_name}"),
                format!("offsetof({name}, {field_name})"),
                &field["offset"],
            );
            expect(
                format!("sizeof:{name}.{field_name}"),
                format!("sizeof(((({name} *)0)->{field_name}))"),
                &field["size"],
            );
        }
    }
    for name in abi["function_types"]["5.0.2"].as_object().unwrap().keys() {
        expect(
            format!("pointer:{name}"),
            format!("sizeof({name} *)"),
            &Value::from(8),
        );
    }
    assert_eq!(ask("types", &statements), expected);
}

/// Without any facts: a status is five ints.
#[test]
fn a_status_is_five_ints() {
    let values = ask(
        "status",
        "  printf(\"size %zu\\n\", sizeof(MPI_Status));\n\
         \x20 printf(\"source %zu\\n\", offsetof(MPI_Status, MPI_SOURCE));\n\
         \x20 printf(\"tag %zu\\n\", offsetof(MPI_Status, MPI_TAG));\n\
         \x20 printf(\"error %zu\\n\", offsetof(MPI_Status, MPI_ERROR));\n",
    );
    let text: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    assert_eq!(text, ["error 16", "size 20", "source 8", "tag 12"]);
}
