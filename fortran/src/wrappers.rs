//! The C functions that Fortran calls by `mpi_send_` and its other names: all of mpif.h and of the
//! module mpi, and those of mpi_f08 that have no choice buffer, because a handle of mpi_f08 is an
//! integer in memory and an absent ierror a null pointer.
//!
//! Invariant: each calls its C twin, `MPI_Send` or, as `pmpi_send_`, `PMPI_Send`, and nothing else of
//! the library; the text is compiled twice, with and without PROFILING (`runtime/fortran.h`).

use crate::model::{Argument, Form, Function, Intent, Width};

/// What one argument adds to a wrapper.
#[derive(Default)]
pub struct Piece {
    pub parameter: String,
    /// The hidden length of a CHARACTER argument.
    pub length: Option<String>,
    pub before: String,
    pub passed: String,
    pub after: String,
}

pub fn c_integer(width: Width) -> &'static str {
    match width {
        Width::Default => "int",
        Width::Address => "MPI_Aint",
        Width::Offset => "MPI_Offset",
        Width::Count => "MPI_Count",
    }
}

/// `described`: CHARACTER and choice arguments come as descriptors.
pub fn piece(function: &Function, argument: &Argument, described: bool) -> Piece {
    let name = &argument.c_name;
    if argument.absent {
        return Piece {
            passed: "0".to_owned(),
            ..Piece::default()
        };
    }
    let reading = argument.intent == Intent::In;
    let plain = |c_type: &str, passed: String| {
        let constant = if reading { "const " } else { "" };
        Piece {
            parameter: format!("{constant}{c_type} *{name}"),
            passed,
            ..Piece::default()
        }
    };
    let value_or_place = |c_type: &str| {
        let by_value = reading && !argument.array;
        plain(c_type, format!("{}{name}", if by_value { "*" } else { "" }))
    };
    match &argument.form {
        Form::Number(width) if argument.from_one => from_one(name, argument.array, *width),
        Form::Number(width) => value_or_place(c_integer(*width)),
        Form::Handle(_) | Form::Logical => value_or_place("int"),
        Form::Double => value_or_place("double"),
        Form::File => file(argument),
        Form::Status if argument.array => plain("MPI_Status", format!("statuses_of({name})")),
        Form::Status if function.stem.starts_with("MPI_Status_f") => {
            plain("MPI_F08_status", name.clone())
        }
        Form::Status => plain("MPI_Status", format!("status_of({name})")),
        Form::Words => plain("MPI_Fint", name.clone()),
        Form::ErrorCodes => plain("int", format!("error_codes_of({name})")),
        Form::Weights => plain("int", format!("weights_of({name})")),
        Form::Text => text(function, name, described),
        Form::TextOut => text_out(name),
        Form::Buffer | Form::Memory | Form::Location => {
            let constant = if reading { "const " } else { "" };
            Piece {
                parameter: format!("{constant}void *{name}"),
                passed: format!("place({name})"),
                ..Piece::default()
            }
        }
        Form::Pointer => Piece {
            parameter: format!("void *{name}"),
            passed: name.clone(),
            ..Piece::default()
        },
        Form::Function(interface) => Piece {
            parameter: format!("{interface} *{name}"),
            passed: name.clone(),
            ..Piece::default()
        },
        Form::Range => Piece {
            parameter: format!("int (*{name})[3]"),
            passed: name.clone(),
            ..Piece::default()
        },
        // Only functions written by hand have these.
        Form::Texts | Form::TextLists | Form::ExtraState | Form::Attribute => {
            unreachable!("{} has {name}", function.name)
        }
    }
}

fn from_one(name: &str, array: bool, width: Width) -> Piece {
    let c_type = c_integer(width);
    let parameter = format!("{c_type} *{name}");
    if array {
        return Piece {
            parameter,
            before: "  *outcount = MPI_UNDEFINED;\n".to_owned(),
            passed: name.to_owned(),
            after: format!("  for (int i = 0; i < *outcount; i++) {name}[i]++;\n"),
            ..Piece::default()
        };
    }
    Piece {
        parameter,
        before: format!("  *{name} = MPI_UNDEFINED;\n"),
        passed: name.to_owned(),
        after: format!("  if (*{name} != MPI_UNDEFINED) ++*{name};\n"),
        ..Piece::default()
    }
}

fn file(argument: &Argument) -> Piece {
    let name = &argument.c_name;
    if argument.intent == Intent::In {
        return Piece {
            parameter: format!("const MPI_Fint *{name}"),
            passed: format!("PMPI_File_f2c(*{name})"),
            ..Piece::default()
        };
    }
    let start = if argument.intent == Intent::Out {
        "MPI_FILE_NULL".to_owned()
    } else {
        format!("PMPI_File_f2c(*{name})")
    };
    Piece {
        parameter: format!("MPI_Fint *{name}"),
        before: format!("  MPI_File {name}_c = {start};\n"),
        passed: format!("&{name}_c"),
        after: format!("  if (code == MPI_SUCCESS) *{name} = PMPI_File_c2f({name}_c);\n"),
        ..Piece::default()
    }
}

fn text(function: &Function, name: &str, described: bool) -> Piece {
    // The standard strips leading blanks from keys and values of infos only.
    let strip = i32::from(function.chapter == "info");
    let (parameter, length, value) = if described {
        let parameter = format!("const struct descriptor *{name}");
        let value = format!("{name}->base_addr, {name}->elem_len");
        (parameter, None, value)
    } else {
        let parameter = format!("const char *{name}");
        let length = Some(format!("size_t {name}_length"));
        (parameter, length, format!("{name}, {name}_length"))
    };
    Piece {
        parameter,
        length,
        before: format!(
            "  char {name}_short[SHORT_TEXT];\n  \
             char *{name}_c = text_in({name}_short, {value}, {strip});\n"
        ),
        passed: format!("{name}_c"),
        after: format!("  text_done({name}_c, {name}_short);\n"),
    }
}

fn text_out(name: &str) -> Piece {
    Piece {
        parameter: format!("char *{name}"),
        length: Some(format!("size_t {name}_length")),
        before: format!("  char {name}_c[LONGEST_TEXT];\n  {name}_c[0] = 0;\n"),
        passed: format!("{name}_c"),
        after: format!("  if (code == MPI_SUCCESS) text_out({name}, {name}_length, {name}_c);\n"),
    }
}

/// Everything that has no descriptor in it.
pub fn generate(functions: &[Function]) -> String {
    let mut text = String::from("#include \"fortran.h\"\n");
    for function in functions.iter().filter(|function| !function.by_hand()) {
        if function.large && function.has_choice() {
            continue;
        }
        text.push('\n');
        text.push_str(&wrapper(function));
    }
    text
}

pub fn parameters(function: &Function, pieces: &[Piece]) -> String {
    let mut parameters: Vec<String> = pieces
        .iter()
        .map(|piece| piece.parameter.clone())
        .filter(|parameter| !parameter.is_empty())
        .collect();
    if function.has_ierror() {
        parameters.push("int *ierror".to_owned());
    }
    parameters.extend(pieces.iter().filter_map(|piece| piece.length.clone()));
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    parameters.join(", ")
}

fn wrapper(function: &Function) -> String {
    let pieces: Vec<Piece> = function
        .arguments
        .iter()
        .map(|argument| piece(function, argument, false))
        .collect();
    let parameters = parameters(function, &pieces);
    let passed: Vec<&str> = pieces.iter().map(|piece| piece.passed.as_str()).collect();
    let passed = passed.join(", ");
    let lower = function.lower();
    let name = if function.large {
        format!("{lower}_f08_")
    } else {
        format!("{lower}_")
    };
    let call = format!("CALL({})({passed})", function.name);
    let (result, body) = match &function.result {
        Some(Form::Double) => ("double", format!("  return {call};\n")),
        Some(_) => ("MPI_Aint", format!("  return {call};\n")),
        None => {
            let before: String = pieces.iter().map(|piece| piece.before.as_str()).collect();
            let after: String = pieces.iter().map(|piece| piece.after.as_str()).collect();
            let body =
                format!("{before}  int code = {call};\n{after}  if (ierror) *ierror = code;\n");
            ("void", body)
        }
    };
    format!(
        "{result} FN({name})({parameters})\n{{\n{body}}}\n{}",
        aliases(function)
    )
}

/// The other names of a function that has just been defined.
pub fn aliases(function: &Function) -> String {
    let stem = function.stem.to_lowercase();
    if function.large {
        return format!("LARGE_NAMES({stem}, {})\n", short(&stem));
    }
    let mut text = format!("NAMES({stem}, {})\n", function.stem.to_uppercase());
    if (function.arguments.iter()).any(|argument| argument.form == Form::Pointer) {
        text.push_str(&format!("ALIAS(FN({stem}_cptr_), FN({stem}_));\n"));
    }
    if function.in_f08() && !function.has_choice() && !function.by_hand() {
        text.push_str(&format!("F08_NAMES({stem}, {})\n", short(&stem)));
    }
    text
}

/// `mpi_send` is `_send` in the names that begin with `pmpir`.
fn short(lower: &str) -> &str {
    lower.strip_prefix("mpi").unwrap_or(lower)
}
