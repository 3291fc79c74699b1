//! The procedures of mpi_f08 with choice buffers under the names that the standard gives them (19.1.5):
//! `MPI_Send_f08ts`, for the linker `mpi_send_f08ts_`. They are no BIND(C), so they take the compiler's own
//! descriptors. Programs compiled with Debian's MPICH call them; ours call the BIND(C) function
//! (`descriptors.rs`), and that calls a profiling tool's `mpi_send_f08ts_` if there is one.
//!
//! Invariant: arrays that are one piece go on to C; all others become descriptors of BIND(C), for the
//! function that knows sections.

use crate::model::{Argument, Form, Function};
use crate::wrappers::{Piece, parameters, piece};

/// `looked_at` says by positions which buffers have to be one piece for C.
pub fn wrapper(function: &Function, looked_at: &[usize]) -> String {
    let mut pieces: Vec<Piece> = function
        .arguments
        .iter()
        .map(|argument| piece(function, argument, false))
        .collect();
    let mut sections = String::new();
    for (position, argument) in function.arguments.iter().enumerate() {
        let name = &argument.c_name;
        if argument.is_choice() {
            pieces[position].parameter = format!("const union native *{name}");
            pieces[position].passed = format!("f08_place({name}->of_bind_c.base_addr)");
            sections.push_str(&format!(
                "  struct descriptor {name}_d;\n  from_native(&{name}_d, {name});\n"
            ));
        } else if argument.form == Form::Text {
            sections.push_str(&format!(
                "  struct descriptor {name}_d = {{.base_addr = (char *){name}, .elem_len = {name}_length}};\n"
            ));
        }
    }
    let lower = function.lower();
    let mut body = direct(function, &pieces);
    if !looked_at.is_empty() {
        let whole = joined(function, looked_at, "native_whole");
        let passed_on = passed_on(function, |argument| {
            (argument.is_choice() || argument.form == Form::Text)
                .then(|| format!("&{}_d", argument.c_name))
        });
        body = format!(
            "  if (LIKELY({whole})) {{\n{body}  return;\n  }}\n{sections}  sections_{lower}({passed_on});\n"
        );
    }
    let stem = function.stem.to_lowercase();
    let short = stem.trim_start_matches("mpi");
    let names = if function.large {
        "LARGE_F08TS_NAMES"
    } else {
        "F08TS_NAMES"
    };
    format!(
        "\nvoid FN({lower}_f08ts_)({})\n{{\n{body}}}\n{names}({stem}, {short})\n",
        parameters(function, &pieces),
    )
}

/// The call of a tool's procedure by the BIND(C) function: a function apart, and a question at the beginning.
pub fn to_tool(function: &Function, parameters: &str) -> (String, String) {
    let lower = function.lower();
    let choice: Vec<&Argument> = (function.arguments.iter())
        .filter(|argument| argument.is_choice())
        .collect();
    let natives: Vec<String> = (choice.iter())
        .map(|argument| format!("{}_n", argument.c_name))
        .collect();
    let mut passed = passed_on(function, |argument| {
        let name = &argument.c_name;
        if argument.is_choice() {
            Some(format!("for_tool(&{name}_n, {name})"))
        } else {
            (argument.form == Form::Text).then(|| format!("{name}->base_addr"))
        }
    });
    for argument in &function.arguments {
        if argument.form == Form::Text {
            passed.push_str(&format!(", {}->elem_len", argument.c_name));
        }
    }
    let apart = format!(
        "\nAPART void tool_{lower}({parameters})\n{{\n  union native {};\n  FN({lower}_f08ts_)({passed});\n}}\n",
        natives.join(", ")
    );
    let question = format!(
        "  if (HAS_TOOL({lower}_f08ts_)) {{\n    tool_{lower}({});\n    return;\n  }}\n",
        passed_on(function, |_| None)
    );
    (apart, question)
}

/// The call of C, and what belongs to it.
pub fn direct(function: &Function, pieces: &[Piece]) -> String {
    let all = |part: fn(&Piece) -> &str| -> Vec<&str> { pieces.iter().map(part).collect() };
    format!(
        "{}  int code = CALL({})({});\n{}  if (ierror) *ierror = code;\n",
        all(|piece| &piece.before).concat(),
        function.name,
        all(|piece| &piece.passed).join(", "),
        all(|piece| &piece.after).concat(),
    )
}

/// That each of these buffers is what `question` asks.
pub fn joined(function: &Function, positions: &[usize], question: &str) -> String {
    let asked: Vec<String> = positions
        .iter()
        .map(|at| format!("{question}({})", function.arguments[*at].c_name))
        .collect();
    asked.join(" && ")
}

/// The parameters of a wrapper as arguments of another, but those for which `instead` has something else.
pub fn passed_on(function: &Function, instead: impl Fn(&Argument) -> Option<String>) -> String {
    let mut passed: Vec<String> = function
        .present()
        .map(|argument| instead(argument).unwrap_or_else(|| argument.c_name.clone()))
        .collect();
    if function.has_ierror() {
        passed.push("ierror".to_owned());
    }
    passed.join(", ")
}
