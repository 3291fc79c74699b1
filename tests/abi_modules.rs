//! The modules mpi and mpi_f08 against the bindings of the standard (functions.json): each procedure is named
//! or called in a program that gfortran compiles; and what profiling tools see under the linker names of 19.1.5.

mod abi;

use abi::{exported, facts, have_fortran, run, scratch, stage, staged};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

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
    if !have_fortran() {
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

/// C alone has them.
const NOT_FORTRAN: [&str; 2] = [
    "MPI_Abi_get_fortran_booleans",
    "MPI_Abi_set_fortran_booleans",
];

/// The large form has arguments of the same kinds, so that a generic name cannot have both.
const ONE_KIND: [&str; 4] = [
    "MPI_File_get_type_extent_c",
    "MPI_Type_create_resized_c",
    "MPI_Type_get_extent_c",
    "MPI_Type_get_true_extent_c",
];

/// What the standard calls the specific procedures of mpi_f08 (table 19.1): 1B, `MPI_Send_f08ts`, where there are choice
/// buffers, because MPI_SUBARRAYS_SUPPORTED is true; else `MPI_Comm_rank_f08`.
fn specifics() -> Option<Vec<String>> {
    let bindings = bindings("f08")?.into_iter();
    let bindings = bindings.filter(|(name, _)| !NOT_FORTRAN.contains(&name.as_str()));
    let specifics = bindings.map(|(name, binding)| {
        let mut parameters = binding["params"].as_array().unwrap().iter();
        let choice = parameters.any(|parameter| parameter["type"] == "TYPE(*)");
        format!("{name}{}", if choice { "_f08ts" } else { "_f08" })
    });
    Some(specifics.collect())
}

fn symbol(specific: &str) -> String {
    specific.to_lowercase() + "_"
}

fn library_names() -> BTreeSet<String> {
    let library = exported(&stage().join("lib/libmpifort.so.12"));
    library.into_iter().map(|row| row.0).collect()
}

#[test]
fn mpi_f08_has_the_linker_names_of_the_standard() {
    let Some(specifics) = specifics() else {
        return;
    };
    let library = library_names();
    let mut program = String::from(
        "program names\n  use, intrinsic :: iso_c_binding\n  use mpi_f08\n  implicit none\n",
    );
    let mut expected = BTreeSet::new();
    for specific in &specifics {
        for prefix in ["", "P"] {
            let specific = format!("{prefix}{specific}");
            let symbol = symbol(&specific);
            assert!(library.contains(&symbol), "no {symbol}");
            if !ONE_KIND.iter().any(|name| specific.contains(name)) {
                program.push_str(&format!("  call take(c_funloc({specific}))\n"));
                // Those with choice buffers are called by way of a BIND(C) procedure.
                expected.insert(symbol.replace("_f08ts_", "_cdesc_"));
            }
        }
    }
    assert!(expected.len() > 1150, "{}", expected.len());
    if !have_fortran() {
        return;
    }
    program.push_str(
        "contains\n  subroutine take(address)\n    type(c_funptr), intent(in) :: address\n    \
         if (.not. c_associated(address)) error stop\n  end subroutine\nend program\n",
    );
    let work = scratch("modules-names");
    // Not optimized: nothing is called that could be left out.
    let arguments = ["-O0", "-o", "names"];
    build(&work, "mpifort", "names.f90", &program, &arguments);
    run(Command::new(work.join("names")).env("LD_BIND_NOW", "1"));
    let listing = run(Command::new("nm").arg("-u").arg(work.join("names")));
    let called: BTreeSet<String> = listing
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .map(str::to_owned)
        .collect();
    let missing: Vec<_> = expected.difference(&called).collect();
    assert!(missing.is_empty(), "not called: {missing:?}");
}

/// A tool may have any of them: the procedure that mpi_f08 calls calls the tool's.
#[test]
fn every_procedure_with_choice_buffers_reaches_a_tool() {
    let Some(specifics) = specifics() else {
        return;
    };
    let choice: Vec<String> = specifics
        .iter()
        .filter(|specific| specific.ends_with("_f08ts"))
        .map(|specific| symbol(specific))
        .collect();
    assert!(choice.len() > 200, "{}", choice.len());
    let mut tool = String::from("const char *reached;\n");
    // Arguments are descriptors of gfortran's for scalars of no size, whatever is wanted.
    let mut program = String::from(
        "#include <stdio.h>\n#include <string.h>\nextern const char *reached;\n\
         static long a[400] = {0, 0, 1};\nint main(void)\n{\n  int bad = 0;\n",
    );
    let arguments = ["a"; 14].join(", ");
    for name in &choice {
        tool.push_str(&format!("void {name}(void) {{ reached = \"{name}\"; }}\n"));
        let called = name.replace("_f08ts_", "_cdesc_");
        program.push_str(&format!(
            "  extern void {called}();\n  reached = \"nothing\";\n  {called}({arguments});\n  \
             if (strcmp(reached, \"{name}\")) bad++, printf(\"{called}: %s\\n\", reached);\n"
        ));
    }
    program.push_str("  return bad;\n}\n");
    let work = scratch("modules-reached");
    let library = ["-shared", "-fPIC", "-o", "libtool.so"];
    build(&work, "mpicc", "tool.c", &tool, &library);
    // The tool in front of the library.
    let linked = [
        "-std=gnu11",
        "-o",
        "all",
        "-L.",
        "-ltool",
        "-lmpifort",
        "-Wl,-rpath,.",
    ];
    build(&work, "mpicc", "all.c", &program, &linked);
    run(Command::new("./all").current_dir(&work));
}

/// Sends a section, an element and an array, with the kinds of counts, and says what it received.
const SENDS: &str = "program sends
  use mpi_f08
  implicit none
  type pair
    integer :: one, two
  end type
  type(pair) :: pairs(3)
  integer :: a(10), b(10), n
  type(MPI_Request) :: request
  a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  b = 0
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Irecv(b(10:2:-2), 5, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
  call MPI_Send(a(2:10:2), 5, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Isend(a(7), 1_MPI_COUNT_KIND, MPI_INTEGER, 0, 2, MPI_COMM_SELF, request)
  call MPI_Recv(b(1), 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Isend(a, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, request)
  call MPI_Recv(b(3), 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print '(a,10(1x,i0))', 'received', b
  ! A component is no array of whole elements; received after the call has returned.
  pairs = pair(0, 0)
  call MPI_Irecv(pairs(3:1:-1)%two, 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF, request)
  call MPI_Send(a(2:6:2), 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Isend(pairs%two, 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF, request)
  call MPI_Recv(b, 3, MPI_INTEGER, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print '(a,9(1x,i0))', 'received', pairs, b(1:3)
  call MPI_Finalize()
end program
";

const RECEIVED: [&str; 2] = [
    "received 7 10 1 8 0 6 0 4 0 2\n",
    "received 0 6 0 4 0 2 6 4 2\n",
];

fn build(work: &Path, wrapper: &str, source: &str, text: &str, arguments: &[&str]) {
    std::fs::write(work.join(source), text).unwrap();
    run(staged(wrapper)
        .current_dir(work)
        .args(["-O2", "-Wall", source])
        .args(arguments));
}

/// As the standard's example in 19.1.5 writes it: the tool has procedures of the specific names, and calls PMPI.
#[test]
fn a_tool_in_fortran_is_reached_by_programs_of_mpi_f08() {
    if !have_fortran() {
        return;
    }
    let procedure = |name: &str, buffer: &str, request: &str| {
        let comma = if request.is_empty() { "" } else { ", request" };
        format!(
            "subroutine MPI_{name}(buf, count, datatype, peer, tag, comm{comma}, ierror)\n  \
             use :: mpi_f08, my_noname => MPI_{name}\n  implicit none\n  \
             type(*), dimension(..){buffer} :: buf\n  {request}\n  \
             integer, intent(in) :: count, peer, tag\n  type(MPI_Datatype), intent(in) :: datatype\n  \
             type(MPI_Comm), intent(in) :: comm\n  integer, optional, intent(out) :: ierror\n  \
             print '(a,i0,1x,i0)', 'MPI_{name} ', rank(buf), count\n  \
             call P{}(buf, count, datatype, peer, tag, comm{comma}, ierror)\nend subroutine\n",
            format!("MPI_{name}")
                .replace("_f08ts", "")
                .replace("_c", "")
        )
    };
    let request = "type(MPI_Request), intent(out) :: request";
    // The interfaces of ours have TARGET too: gfortran would warn of a tool without.
    let lasting = ", asynchronous, target";
    let large = procedure("Isend_c_f08ts", &format!(", intent(in){lasting}"), request).replace(
        "count, peer, tag\n",
        "peer, tag\n  integer(MPI_COUNT_KIND), intent(in) :: count\n",
    );
    let tool = procedure("Send_f08ts", ", intent(in)", "")
        + &procedure("Isend_f08ts", &format!(", intent(in){lasting}"), request)
        + &procedure("Irecv_f08ts", lasting, request)
        + &large
        + "subroutine MPI_Comm_size_f08(comm, size, ierror)\n  use :: mpi_f08, my_noname => MPI_Comm_size_f08\n  \
           implicit none\n  type(MPI_Comm), intent(in) :: comm\n  integer, intent(out) :: size\n  \
           integer, optional, intent(out) :: ierror\n  call PMPI_Comm_size(comm, size, ierror)\n  \
           print '(a,i0)', 'MPI_Comm_size_f08 ', size\nend subroutine\n";
    let work = scratch("modules-tool");
    build(&work, "mpifort", "sends.f90", SENDS, &["-o", "sends"]);
    let tool_arguments = ["-shared", "-fPIC", "-o", "tool.so"];
    build(&work, "mpifort", "tool.f90", &tool, &tool_arguments);
    assert_eq!(
        run(&mut Command::new(work.join("sends"))),
        RECEIVED.concat()
    );
    let told = run(Command::new(work.join("sends")).env("LD_PRELOAD", work.join("tool.so")));
    let [first, second] = RECEIVED;
    let expected = format!(
        "MPI_Comm_size_f08 1\nMPI_Irecv_f08ts 1 5\nMPI_Send_f08ts 1 5\nMPI_Isend_c_f08ts 0 1\nMPI_Isend_f08ts 1 1\n{first}\
         MPI_Irecv_f08ts 1 3\nMPI_Send_f08ts 1 3\nMPI_Isend_f08ts 1 3\n{second}"
    );
    assert_eq!(told, expected);
    // Linked into the program, in front of the library.
    build(
        &work,
        "mpifort",
        "sends.f90",
        SENDS,
        &["tool.f90", "-o", "both"],
    );
    let told = run(&mut Command::new(work.join("both")));
    assert_eq!(told, expected);
}

/// A tool in C passes descriptors on without a look at them, so it serves every compiler.
#[test]
fn a_tool_in_c_is_reached_by_the_linker_names() {
    if !have_fortran() {
        return;
    }
    let tool = "#include <stdio.h>\n#define SEND const void *buf, int *count, int *type, int *dest, int *tag, int *comm\n\
        void pmpi_send_f08ts_(SEND, int *code);\n\
        void mpi_send_f08ts_(SEND, int *code)\n{\n  printf(\"send of %d\\n\", *count);\n  fflush(stdout);\n  \
        pmpi_send_f08ts_(buf, count, type, dest, tag, comm, code);\n}\n\
        void pmpi_wait_f08_(int *request, void *status, int *code);\n\
        void mpi_wait_f08_(int *request, void *status, int *code)\n{\n  printf(\"wait\\n\");\n  fflush(stdout);\n  \
        pmpi_wait_f08_(request, status, code);\n}\n";
    let work = scratch("modules-tool-c");
    build(&work, "mpifort", "sends.f90", SENDS, &["-o", "sends"]);
    let tool_arguments = ["-shared", "-fPIC", "-o", "tool.so"];
    build(&work, "mpicc", "tool.c", tool, &tool_arguments);
    let told = run(Command::new(work.join("sends")).env("LD_PRELOAD", work.join("tool.so")));
    let [first, second] = RECEIVED;
    assert_eq!(
        told,
        format!("send of 5\nwait\nwait\nwait\n{first}send of 3\nwait\nwait\n{second}")
    );
}
