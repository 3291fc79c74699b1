//! The modules mpi and mpi_f08 against the bindings of the standard (functions.json): each procedure is named
//! or called in a program that gfortran compiles.

mod abi;

use abi::{facts, have, run, scratch, staged};
use serde_json::Value;

/// The bindings of one style, `f77` or `f08`, with the name of the C function of each.
fn bindings(style: &str) -> Option<Vec<(String, Value)>> {
    let facts: Value = serde_json::from_str(&facts("functions.json")?).unwrap();
    let functions = facts["functions"].as_array().unwrap();
    let bindings = functions.iter().filter_map(|function| {
        let binding = &function["fortran"][style];
        let name = function["name"].as_str().unwrap().to_owned();
        (!binding.is_null()).then(|| (name, binding.clone()))
    });
    Some(bindings.collect())
}

/// What an old program gives for an argument, and whether it is an element of the array that is wanted.
fn actual(position: usize, parameter: &Value) -> (String, bool) {
    let dimension = parameter["dimension"].as_str();
    let (name, element) = match (parameter["type"].as_str().unwrap(), dimension) {
        ("<type>", _) => ("buffers(3", false),
        ("EXTERNAL", _) => return ("callback".to_owned(), false),
        ("TYPE(MPI_Status)", _) => ("f08_statuses(1", false),
        ("CHARACTER*(*)", None) => ("texts(1", false),
        ("CHARACTER*(*)", Some("(COUNT, *)")) => ("text_lists(1, 1", true),
        ("CHARACTER*(*)", Some(_)) => ("texts(1", true),
        ("LOGICAL", None) => ("flags(1", false),
        ("LOGICAL", Some(_)) => ("flags(1", true),
        ("INTEGER", None) => ("numbers(1", false),
        ("INTEGER", Some("(MPI_STATUS_SIZE)")) => ("statuses(1, 2", true),
        ("INTEGER", Some("(MPI_STATUS_SIZE, *)")) => ("statuses(1, 1", true),
        ("INTEGER", Some("(3, *)")) => ("ranges(1, 2", true),
        ("INTEGER", Some(_)) => ("numbers(2", true),
        ("INTEGER(KIND=MPI_COUNT_KIND)", None) => ("counts(1", false),
        ("INTEGER(KIND=MPI_OFFSET_KIND)", None) => ("offsets(1", false),
        ("INTEGER(KIND=MPI_ADDRESS_KIND)", None) => ("addresses(1", false),
        ("INTEGER(KIND=MPI_ADDRESS_KIND)", Some(_)) => ("addresses(2", true),
        other => panic!("{other:?}"),
    };
    // The last index keeps arguments of one call apart.
    (format!("{name}, {})", position + 1), element)
}

const DECLARATIONS: &str = "  use mpi\n  implicit none\n  external :: callback\n\
    \x20 integer :: numbers(9, 20), ranges(3, 4, 20), statuses(MPI_STATUS_SIZE, 9, 20)\n\
    \x20 integer(kind=MPI_ADDRESS_KIND) :: addresses(9, 20)\n\
    \x20 integer(kind=MPI_OFFSET_KIND) :: offsets(9, 20)\n\
    \x20 integer(kind=MPI_COUNT_KIND) :: counts(9, 20)\n\
    \x20 logical :: flags(9, 20)\n\
    \x20 character(len=20) :: texts(9, 20), text_lists(3, 4, 20)\n\
    \x20 real :: buffers(9, 20)\n  type(MPI_Status) :: f08_statuses(9, 20)\n\
    \x20 common /all/ addresses, offsets, counts, numbers, ranges, statuses, flags, buffers, texts, text_lists\n";

/// An element stands for the array from there on, as old programs write it: `MPI_Waitall(n, req(1), st(1,1), ierr)`.
#[test]
fn the_module_mpi_takes_an_element_for_an_array() {
    let Some(bindings) = bindings("f77") else {
        return;
    };
    if !have("gfortran") {
        return;
    }
    let mut text = format!("subroutine elements(callback, f08_statuses)\n{DECLARATIONS}");
    let mut procedures = 0;
    for (name, binding) in &bindings {
        let parameters = binding["params"].as_array().unwrap().iter().enumerate();
        let actuals: Vec<_> = parameters.map(|(at, p)| actual(at, p)).collect();
        if !actuals.iter().any(|(_, element)| *element) {
            continue;
        }
        procedures += 1;
        let actuals: Vec<String> = actuals.into_iter().map(|(actual, _)| actual).collect();
        let actuals = actuals.join(", &\n    ");
        for prefix in ["", "P"] {
            text.push_str(&format!("  call {prefix}{name}({actuals})\n"));
        }
    }
    text.push_str("end subroutine\n");
    assert!(procedures > 110, "{procedures}");
    let work = scratch("modules-elements");
    std::fs::write(work.join("elements.f90"), text).unwrap();
    run(staged("mpifort").current_dir(&work).args([
        "-c",
        "-Wall",
        "-Wno-unused-dummy-argument",
        "-Werror",
        "-fmax-errors=0",
        "elements.f90",
    ]));
}
