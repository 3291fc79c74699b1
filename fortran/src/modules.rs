//! The interfaces of the modules mpi and mpi_f08. The modules have no code, only types, constants and
//! interfaces, so that any compiler can make them and every program calls the one library.
//!
//! Invariant: a specific procedure of mpi_f08 without choice buffers has the name of its symbol
//! (`mpi_comm_rank_f08_`); with choice buffers it is BIND(C), which makes the compiler pass descriptors. gfortran
//! passes a copy of a derived type's component to a procedure that is not BIND(C).

use crate::constants::{self, Constant};
use crate::model::{Argument, Form, Function, Intent, Width};

const HANDLES: [&str; 11] = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
];

fn integer(width: Width) -> &'static str {
    match width {
        Width::Default => "integer",
        Width::Address => "integer(kind=MPI_ADDRESS_KIND)",
        Width::Offset => "integer(kind=MPI_OFFSET_KIND)",
        Width::Count => "integer(kind=MPI_COUNT_KIND)",
    }
}

/// Lines of at most 132 columns.
fn wrapped(line: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in line.split_inclusive(", ") {
        if column + word.len() > 120 {
            text.push_str("&\n      ");
            column = 6;
        }
        text.push_str(word);
        column += word.len();
    }
    text + "\n"
}

/// Module mpi_f08_types: the types, and comparing handles.
pub fn types(constants: &[Constant]) -> String {
    let mut text = String::from(include_str!("../parts/types.f90"));
    let plain = |constant: &&Constant| constant.name.ends_with("_KIND");
    let kinds: String = constants
        .iter()
        .filter(plain)
        .map(|c| format!("  integer, parameter :: {} = {}\n", c.name, c.value))
        .collect();
    text = text.replace("  !KINDS\n", &kinds);
    let mut types = String::new();
    let mut operators = String::new();
    for handle in HANDLES {
        types.push_str(&format!(
            "  type, bind(C), public :: MPI_{handle}\n    integer :: MPI_VAL\n  end type\n"
        ));
    }
    for (operator, word) in [("==", "eq"), ("/=", "neq")] {
        operators.push_str(&format!("  interface operator({operator})\n"));
        for handle in HANDLES {
            let lower = handle.to_lowercase();
            let handle = format!("type(MPI_{handle})");
            for (name, a, b) in [
                (
                    format!("mpi_{lower}_{word}"),
                    handle.as_str(),
                    handle.as_str(),
                ),
                (format!("mpi_{lower}_f08_{word}_f"), &handle, "integer"),
                (format!("mpi_{lower}_f_{word}_f08"), "integer", &handle),
            ] {
                operators.push_str(&format!(
                    "    pure elemental logical function oxmpi_{name}(a, b)\n      import\n      \
                     {a}, intent(in) :: a\n      {b}, intent(in) :: b\n    end function\n"
                ));
            }
        }
        operators.push_str("  end interface\n");
    }
    text.replace("  !TYPES\n", &types)
        .replace("  !OPERATORS\n", &operators)
}

/// The C side of the operators, under our names and those in programs built long ago.
pub fn operators() -> String {
    let mut text = String::from("#include \"fortran.h\"\n\n#ifndef PROFILING\n");
    for (operator, word) in [("==", "eq"), ("!=", "neq")] {
        text.push_str(&format!(
            "\nstatic int handles_{word}(const int *a, const int *b)\n{{\n  return *a {operator} *b;\n}}\n"
        ));
        for handle in HANDLES.map(str::to_lowercase) {
            for name in [
                format!("mpi_{handle}_{word}"),
                format!("mpi_{handle}_f08_{word}_f"),
                format!("mpi_{handle}_f_{word}_f08"),
            ] {
                text.push_str(&format!(
                    "ALIAS(oxmpi_{name}_, handles_{word});\n\
                     ALIAS(__mpi_f08_types_MOD_{name}, handles_{word});\n"
                ));
            }
            text.push_str(&format!(
                "ALIAS(__mpi_constants_MOD_{handle}{word}, handles_{word});\n"
            ));
        }
    }
    text.push_str("#endif\n");
    text
}

/// Module mpi.
pub fn mpi(functions: &[Function], constants: &[Constant], predefined: &[String]) -> String {
    let kind = |constant: &&Constant| !constant.name.ends_with("_KIND");
    let others: Vec<Constant> = constants.iter().filter(kind).cloned().collect();
    let mut text = String::from(include_str!("../parts/mpi.f90")).replace(
        "  !CONSTANTS\n",
        &(constants::parameters(&others) + constants::COMMONS),
    );
    let externals: String = predefined
        .iter()
        .map(|name| format!("  external {name}\n"))
        .collect();
    text = text.replace("  !EXTERNALS\n", &externals);
    let mut interfaces = String::new();
    for prefix in ["", "P"] {
        for function in functions.iter().filter(|function| !function.large) {
            let name = format!("{prefix}{}", function.name);
            let pointer = |argument: &Argument| argument.form == Form::Pointer;
            let generic = function.arguments.iter().any(pointer) && !function.by_hand();
            // A generic name is resolved by rank, which rules out an element where an array is wanted
            // (`req(1)`, legal by sequence association): only what has two specific procedures gets one.
            let head = if generic {
                format!(" {name}")
            } else {
                String::new()
            };
            interfaces.push_str(&format!("  interface{head}\n"));
            interfaces.push_str(&procedure_of_mpi(function, &name, false));
            if generic {
                interfaces.push_str(&procedure_of_mpi(function, &format!("{name}_cptr"), true));
            }
            interfaces.push_str("  end interface\n");
        }
    }
    text.replace("  !INTERFACES\n", &interfaces)
}

/// What a declaration says beside the type.
struct Attributes {
    array: &'static str,
    intent: &'static str,
    /// Of what may be a constant that stands for something else: it has no intent but that of reading.
    open: &'static str,
}

impl Attributes {
    fn of(function: &Function, argument: &Argument) -> Attributes {
        let intent = match argument.intent {
            // MPI_Cancel marks the request, which stays what it is.
            _ if function.stem == "MPI_Cancel" => ", intent(in)",
            Intent::In => ", intent(in)",
            Intent::Out => ", intent(out)",
            Intent::InOut => ", intent(inout)",
        };
        Attributes {
            array: if argument.array { "(*)" } else { "" },
            intent,
            open: match argument.intent {
                Intent::In => intent,
                _ => "",
            },
        }
    }
}

fn procedure_of_mpi(function: &Function, name: &str, c_pointers: bool) -> String {
    let mut lines = Vec::new();
    for argument in function.present() {
        let name = &argument.name;
        let Attributes {
            array,
            intent,
            open,
        } = Attributes::of(function, argument);
        lines.push(match &argument.form {
            Form::Number(width) => format!("{}{intent} :: {name}{array}", integer(*width)),
            Form::Handle(_) | Form::File => format!("integer{intent} :: {name}{array}"),
            Form::Logical => format!("logical{intent} :: {name}{array}"),
            Form::Double => format!("double precision{intent} :: {name}"),
            Form::Status if f08_status(function, argument) => {
                format!("type(MPI_Status){intent} :: {name}")
            }
            Form::Status if argument.array => {
                format!("integer{open} :: {name}(MPI_STATUS_SIZE,*)")
            }
            Form::Status | Form::Words => format!("integer{open} :: {name}(MPI_STATUS_SIZE)"),
            Form::ErrorCodes | Form::Weights => format!("integer{open} :: {name}(*)"),
            Form::Text | Form::TextOut => format!("character(len=*){intent} :: {name}"),
            Form::Texts => format!("character(len=*), intent(in) :: {name}(*)"),
            Form::TextLists => format!("character(len=*), intent(in) :: {name}(count,*)"),
            Form::Buffer | Form::Memory | Form::Location => choice(function, argument),
            Form::Pointer if function.by_hand() => choice(function, argument),
            Form::Pointer if c_pointers => format!("type(c_ptr){intent} :: {name}"),
            Form::Pointer => format!("integer(kind=MPI_ADDRESS_KIND){intent} :: {name}"),
            Form::ExtraState | Form::Attribute => {
                let narrow = crate::table::NARROW.contains(&function.stem.as_str());
                let width = if narrow {
                    Width::Default
                } else {
                    Width::Address
                };
                let kept = kept_state(argument);
                format!("{}{intent}{kept} :: {name}", integer(width))
            }
            Form::Function(_) => format!("external {name}"),
            Form::Range => format!("integer, intent(in) :: {name}(3,*)"),
        });
    }
    if function.has_ierror() {
        lines.push("integer, intent(out) :: ierror".to_owned());
    }
    procedure(function, name, "", &lines)
}

/// MPI_Status_f2f08 and MPI_Status_f082f have both kinds of statuses.
fn f08_status(function: &Function, argument: &Argument) -> bool {
    function.stem.starts_with("MPI_Status_f") && argument.form == Form::Status
}

/// Whether the address of a choice argument is of use after the call. gfortran takes it for granted that it
/// is not, whatever ASYNCHRONOUS says, unless the argument is a TARGET.
fn stays(function: &Function, argument: &Argument) -> bool {
    argument.form != Form::Buffer || function.outlasts_call() || function.stem.ends_with("_end")
}

/// Callbacks get the program's own variable, later.
fn kept_state(argument: &Argument) -> &'static str {
    match argument.form {
        Form::ExtraState => ", target",
        _ => "",
    }
}

/// Any type and any rank, by its address.
fn choice(function: &Function, argument: &Argument) -> String {
    let name = &argument.name;
    let kept = if stays(function, argument) {
        ", target"
    } else {
        ""
    };
    let intent = if argument.intent == Intent::In {
        ", intent(in)"
    } else {
        ""
    };
    format!(
        "type(*), dimension(*){intent}{kept} :: {name}\n\
         !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n\
         !DIR$ IGNORE_TKR {name}"
    )
}

fn procedure(function: &Function, name: &str, binding: &str, lines: &[String]) -> String {
    let mut names: Vec<&str> = function
        .present()
        .map(|argument| argument.name.as_str())
        .collect();
    if function.has_ierror() {
        names.push("ierror");
    }
    let kind = match &function.result {
        None => "subroutine",
        Some(Form::Double) => "double precision function",
        Some(_) => "integer(kind=MPI_ADDRESS_KIND) function",
    };
    let head = format!("    {kind} {name}({}){binding}", names.join(", "));
    let mut text = wrapped(&head) + "      import\n";
    for line in lines.iter().flat_map(|line| line.lines()) {
        let indent = if line.starts_with('!') { "" } else { "      " };
        text.push_str(&format!("{indent}{line}\n"));
    }
    let end = kind.rsplit(' ').next().unwrap_or(kind);
    text.push_str(&format!("    end {end}\n"));
    text
}

/// Modules mpi_f08_callbacks and mpi_f08.
pub fn mpi_f08(functions: &[Function], constants: &[Constant]) -> String {
    let mut text = String::from(include_str!("../parts/mpi_f08.f90"));
    let mut values = String::new();
    for Constant {
        name,
        handle,
        value,
        offset,
    } in constants
    {
        if name.ends_with("_KIND") {
            continue;
        }
        values.push_str(&match handle {
            Some(handle) => format!(
                "  type(MPI_{handle}), parameter, public :: {name} = MPI_{handle}({value})\n"
            ),
            None => {
                let kind = if *offset {
                    "integer(kind=MPI_OFFSET_KIND)"
                } else {
                    "integer"
                };
                format!("  {kind}, parameter, public :: {name} = {value}\n")
            }
        });
    }
    text = text.replace("  !CONSTANTS\n", &values);
    let mut interfaces = String::new();
    for prefix in ["", "P"] {
        let mut done = Vec::new();
        for function in functions.iter().filter(|function| function.in_f08()) {
            let generic = function.generic();
            if done.contains(&generic) {
                continue;
            }
            done.push(generic);
            interfaces.push_str(&format!("  interface {prefix}{generic}\n"));
            let faces = (functions.iter())
                .filter(|face| face.generic() == generic)
                .filter(|face| face.name == function.name || differ(face, function));
            interfaces.extend(faces.map(|face| procedure_of_f08(face, prefix)));
            interfaces.push_str("  end interface\n");
        }
    }
    text.replace("  !INTERFACES\n", &interfaces)
}

/// Whether a compiler can tell two faces apart: addresses and counts are of one kind.
fn differ(a: &Function, b: &Function) -> bool {
    let narrow = |form: &Form| *form == Form::Number(Width::Default);
    a.arguments.len() != b.arguments.len()
        || (a.arguments.iter())
            .zip(&b.arguments)
            .any(|(a, b)| narrow(&a.form) != narrow(&b.form))
}

fn procedure_of_f08(function: &Function, prefix: &str) -> String {
    let lasting = function.outlasts_call();
    let mut lines = Vec::new();
    for argument in function.present() {
        let name = &argument.name;
        let Attributes {
            array,
            intent,
            open,
        } = Attributes::of(function, argument);
        lines.push(match &argument.form {
            Form::Number(width) => {
                let later = if argument.array && lasting {
                    ", asynchronous"
                } else {
                    ""
                };
                format!("{}{intent}{later} :: {name}{array}", integer(*width))
            }
            Form::Handle(handle) => {
                let later = if lasting
                    && (argument.array && argument.intent == Intent::In || name == "newcomm")
                {
                    ", asynchronous"
                } else {
                    ""
                };
                format!("type(MPI_{handle}){intent}{later} :: {name}{array}")
            }
            Form::File => format!("type(MPI_File){intent} :: {name}"),
            Form::Logical => format!("logical{intent} :: {name}{array}"),
            Form::Double => format!("double precision{intent} :: {name}"),
            Form::Status if f08_status(function, argument) => {
                format!("type(MPI_Status){intent} :: {name}")
            }
            Form::Status if argument.intent == Intent::InOut => {
                format!("type(MPI_Status){intent} :: {name}")
            }
            Form::Status => format!("type(MPI_Status){open} :: {name}{array}"),
            Form::Words => format!("integer{intent} :: {name}(MPI_STATUS_SIZE)"),
            Form::ErrorCodes | Form::Weights => format!("integer{open} :: {name}(*)"),
            Form::Text | Form::TextOut => format!("character(len=*){intent} :: {name}"),
            Form::Texts => format!("character(len=*), intent(in) :: {name}(*)"),
            Form::TextLists => format!("character(len=*), intent(in) :: {name}(count,*)"),
            Form::Buffer | Form::Memory | Form::Location => {
                let kept = if stays(function, argument) {
                    ", asynchronous, target"
                } else {
                    ""
                };
                format!("type(*), dimension(..){open}{kept} :: {name}")
            }
            Form::Pointer => format!("type(c_ptr){intent} :: {name}"),
            Form::ExtraState | Form::Attribute => {
                let kept = kept_state(argument);
                format!("integer(kind=MPI_ADDRESS_KIND){intent}{kept} :: {name}")
            }
            Form::Function(interface) => format!("procedure({interface}) :: {name}"),
            Form::Range => format!("integer, intent(in) :: {name}(3,*)"),
        });
    }
    if function.has_ierror() {
        lines.push("integer, optional, intent(out) :: ierror".to_owned());
    }
    let (name, binding) = if function.has_choice() {
        let name = format!("{prefix}{}_f08ts", function.name);
        let symbol = format!("{prefix}{}_cdesc_", function.name).to_lowercase();
        (name, format!(" &\n        bind(C, name=\"{symbol}\")"))
    } else {
        (format!("{prefix}{}_f08", function.name), String::new())
    };
    procedure(function, &name, &binding, &lines)
}
