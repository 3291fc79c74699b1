//! The C functions behind the procedures of mpi_f08 that have choice buffers: these come as descriptors.
//! A contiguous buffer is handed on by its address. A section is described by a datatype where the
//! function takes one block of one type; else it is copied, until the function has done its work; else
//! (memory that stays, persistent requests) it is refused.
//!
//! Invariant: whatever the section, the call does what it would do with a contiguous copy of it.

use crate::model::{Argument, Form, Function, Intent, Width};
use crate::wrappers::{Piece, c_integer, parameters, piece};
use crate::{specific, table};

/// What is done with a section that is not contiguous.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Policy {
    /// Only the address of its first element matters.
    Address,
    /// A datatype describes it; the numbers are those of the count and of the datatype argument.
    Typed(usize, usize),
    /// A datatype with the stride as its extent, for a section of one dimension.
    Element(usize),
    Copied,
    /// The call uses one element of the datatype.
    First(usize),
    Refused,
}

fn policy(function: &Function, position: usize) -> Policy {
    let arguments = &function.arguments;
    let buffer = &arguments[position];
    if buffer.form == Form::Location || function.stem.ends_with("_end") {
        return Policy::Address;
    }
    if buffer.form == Form::Memory || arguments.iter().any(|a| a.c_name == "partitions") {
        return Policy::Refused;
    }
    let otherwise = if function.may_copy() {
        Policy::Copied
    } else {
        Policy::Refused
    };
    let after = |wanted: &dyn Fn(&Argument) -> bool| {
        (position + 1..arguments.len()).find(|at| wanted(&arguments[*at]))
    };
    let is_count = |argument: &Argument| {
        matches!(argument.form, Form::Number(Width::Default | Width::Count))
            && (argument.c_name.ends_with("count") || argument.c_name.ends_with("counts"))
    };
    let is_type = |argument: &Argument| argument.form == Form::Handle("Datatype".to_owned());
    if table::ONE_ELEMENT.contains(&function.stem.as_str()) {
        return after(&is_type).map_or(otherwise, Policy::First);
    }
    let next_buffer = after(&|argument| argument.form == Form::Buffer).unwrap_or(usize::MAX);
    let (Some(count), Some(datatype)) = (after(&is_count), after(&is_type)) else {
        return otherwise;
    };
    // A type that the next buffer shares would have to describe both.
    let own =
        datatype < next_buffer && (position == 0 || arguments[position - 1].form != Form::Buffer);
    if !own || arguments[datatype].array {
        return otherwise;
    }
    if !arguments[count].array && !block_for_each(function, &buffer.c_name) {
        return Policy::Typed(count, datatype);
    }
    if function.outlasts_call() {
        Policy::Element(datatype)
    } else {
        Policy::Copied
    }
}

fn block_for_each(function: &Function, buffer: &str) -> bool {
    let name = function.stem.to_lowercase();
    let name = name.trim_start_matches("mpi_");
    let name = name.strip_suffix("_init").unwrap_or(name);
    table::BLOCK_FOR_EACH.iter().any(|(stem, which)| {
        let same = [
            (*stem).to_owned(),
            format!("i{stem}"),
            format!("neighbor_{stem}"),
            format!("ineighbor_{stem}"),
        ];
        same.iter().any(|same| same == name) && (which.is_empty() || *which == buffer)
    })
}

pub fn generate(functions: &[Function]) -> String {
    let mut text = String::from("#include \"section.h\"\n");
    let chosen = functions
        .iter()
        .filter(|function| function.has_choice() && function.in_f08() && !function.by_hand());
    for function in chosen {
        text.push('\n');
        text.push_str(&wrapper(function));
    }
    text
}

fn wrapper(function: &Function) -> String {
    let mut pieces: Vec<Piece> = function
        .arguments
        .iter()
        .map(|argument| piece(function, argument, true))
        .collect();
    let mut parts = Vec::new();
    for (position, argument) in function.arguments.iter().enumerate() {
        if !argument.is_choice() {
            continue;
        }
        let name = &argument.c_name;
        pieces[position].parameter = format!("const struct descriptor *{name}");
        pieces[position].passed = format!("f08_address({name})");
        match policy(function, position) {
            Policy::Address => {}
            policy => parts.push((position, policy)),
        }
    }
    let lower = function.lower();
    let looked_at: Vec<usize> = parts.iter().map(|part| part.0).collect();
    let specific = specific::wrapper(function, &looked_at);
    let direct = specific::direct(function, &pieces);
    let parameters = parameters(function, &pieces);
    let (tool, has_tool) = specific::to_tool(function, &parameters);
    if parts.is_empty() {
        return format!(
            "{specific}{tool}\nvoid FN({lower}_cdesc_)({parameters})\n{{\n{has_tool}{direct}}}\n"
        );
    }
    let whole = specific::joined(function, &looked_at, "whole");
    let passed_on = specific::passed_on(function, |_| None);
    let before: String = pieces.iter().map(|piece| piece.before.as_str()).collect();
    let after: String = pieces.iter().map(|piece| piece.after.as_str()).collect();
    let sections = with_sections(function, &mut pieces, &parts);
    format!(
        "APART void sections_{lower}({parameters})\n{{\n{before}  int code;\n{sections}{after}  \
         if (ierror) *ierror = code;\n}}\n{specific}{tool}\n\
         void FN({lower}_cdesc_)({parameters})\n{{\n{has_tool}  if (LIKELY({whole})) {{\n{direct}  return;\n  }}\n  \
         sections_{lower}({passed_on});\n}}\n"
    )
}

/// The path on which at least one buffer is a section.
fn with_sections(function: &Function, pieces: &mut [Piece], parts: &[(usize, Policy)]) -> String {
    let (owner, handle) = owner(function);
    let count_type = c_integer(if function.large {
        Width::Count
    } else {
        Width::Default
    });
    let call = allowed(function);
    let mut begin = String::new();
    let mut end = String::new();
    let mut kept = Vec::new();
    for (position, policy) in parts {
        let argument = &function.arguments[*position];
        let name = &argument.c_name;
        let writes = i32::from(argument.intent != Intent::In);
        let how = match policy {
            Policy::Typed(count, datatype) => {
                let arguments = &function.arguments;
                let how = format!(
                    "part_typed(&{name}_part, {name}, *{}, *{}, {writes}, {call})",
                    arguments[*count].c_name, arguments[*datatype].c_name
                );
                pieces[*count].passed = format!("({count_type}){name}_part.count");
                pieces[*datatype].passed = format!("{name}_part.type");
                how
            }
            Policy::Element(datatype) => {
                let how = format!(
                    "part_element(&{name}_part, {name}, *{}, {writes}, {call})",
                    function.arguments[*datatype].c_name
                );
                pieces[*datatype].passed = format!("{name}_part.type");
                how
            }
            Policy::First(datatype) => format!(
                "part_first(&{name}_part, {name}, *{})",
                function.arguments[*datatype].c_name
            ),
            Policy::Copied => {
                let (count, datatype) = shared_count(function);
                format!("part_copied(&{name}_part, {name}, {count}, {datatype}, {writes})")
            }
            Policy::Address | Policy::Refused => {
                format!("part_whole(&{name}_part, {name})")
            }
        };
        let how = match policy {
            Policy::Element(datatype) if root_alone(function, name) => {
                let datatype = &function.arguments[*datatype].c_name;
                format!(
                    "at_root(*root, {handle}) ? {how} : part_unused(&{name}_part, {name}, *{datatype})"
                )
            }
            Policy::Copied if root_alone(function, name) => format!(
                "at_root(*root, {handle}) ? {how} : part_unused(&{name}_part, {name}, MPI_DATATYPE_NULL)"
            ),
            _ => how,
        };
        pieces[*position].passed = format!("{name}_part.address");
        begin.push_str(&format!(
            "    struct part {name}_part = {{.function = \"{}\", .name = \"{}\", .owner = {owner}, .handle = {handle}}};\n    \
             if (code == MPI_SUCCESS) code = {how};\n",
            function.stem, argument.name
        ));
        end.push_str(&format!("    part_done(&{name}_part);\n"));
        kept.push(format!("&{name}_part"));
    }
    let passed: Vec<&str> = pieces.iter().map(|piece| piece.passed.as_str()).collect();
    let call = format!("CALL({})({})", function.name, passed.join(", "));
    let keep = if function.completes_once() {
        let parts = kept.join(", ");
        let count = kept.len();
        format!(
            "    if (code == MPI_SUCCESS)\n      \
             code = parts_keep((struct part *const[]){{{parts}}}, {count}, request);\n"
        )
    } else {
        String::new()
    };
    format!(
        "    code = MPI_SUCCESS;\n{begin}    if (code == MPI_SUCCESS) code = {call};\n{keep}{end}"
    )
}

/// What the function allows to be done with a section of one type, in the words of section.h.
fn allowed(function: &Function) -> String {
    let operates = function.arguments.iter().any(|a| a.c_name == "op");
    let converts = function.arguments.iter().any(|a| a.form == Form::File);
    let words = [
        (function.may_copy(), "MAY_COPY"),
        (operates, "OPERATES"),
        (converts, "CONVERTS"),
    ];
    let words: Vec<&str> = (words.iter())
        .filter(|(given, _)| *given)
        .map(|(_, word)| *word)
        .collect();
    match words.as_slice() {
        [] => "0".to_owned(),
        words => words.join(" | "),
    }
}

/// Whose error handler the function has: the object that it is about.
fn owner(function: &Function) -> (&'static str, String) {
    let kinds = [
        ("OF_WIN", Form::Handle("Win".to_owned())),
        ("OF_FILE", Form::File),
        ("OF_COMM", Form::Handle("Comm".to_owned())),
        ("OF_SESSION", Form::Handle("Session".to_owned())),
    ];
    let given = |form: &Form| {
        let mut arguments = function.arguments.iter();
        arguments.find(|a| a.form == *form && a.intent == Intent::In)
    };
    let mut owners = kinds.iter();
    let found = owners.find_map(|(owner, form)| Some((*owner, given(form)?)));
    found.map_or(
        ("OF_COMM", "MPI_COMM_SELF".to_owned()),
        |(owner, argument)| (owner, format!("*{}", argument.c_name)),
    )
}

/// The count and the datatype of a function that has one of each, of all its buffers.
fn shared_count(function: &Function) -> (String, String) {
    let has = |name: &str| {
        let mut arguments = function.arguments.iter();
        arguments.any(|argument| argument.c_name == name && !argument.array)
    };
    if has("count") && has("datatype") {
        ("*count".to_owned(), "*datatype".to_owned())
    } else {
        ("0".to_owned(), "MPI_DATATYPE_NULL".to_owned())
    }
}

/// Does only the root look at the buffer?
fn root_alone(function: &Function, buffer: &str) -> bool {
    let rooted = function.arguments.iter().any(|a| a.c_name == "root");
    let name = function.stem.to_lowercase();
    let own = if name.contains("scatter") {
        "sendbuf"
    } else {
        "recvbuf"
    };
    rooted && buffer == own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model, scan};
    use std::path::Path;

    fn policies(name: &str) -> Vec<Policy> {
        let entries = scan::entries(Path::new("../capi/src"), scan::Abi::Mpich).unwrap();
        let functions = model::functions(&entries).unwrap();
        let function = functions.iter().find(|f| f.name == name).unwrap();
        (0..function.arguments.len())
            .filter(|at| function.arguments[*at].is_choice())
            .map(|at| policy(function, at))
            .collect()
    }

    #[test]
    fn sections_are_treated_as_the_function_needs() {
        use Policy::{Address, Copied, Element, First, Refused, Typed};
        assert_eq!(policies("MPI_Isend"), [Typed(1, 2)]);
        assert_eq!(policies("MPI_Sendrecv"), [Typed(1, 2), Typed(6, 7)]);
        assert_eq!(policies("MPI_Allreduce"), [Copied, Copied]);
        assert_eq!(policies("MPI_Iallreduce"), [Copied, Copied]);
        assert_eq!(policies("MPI_Ireduce_scatter"), [Copied, Copied]);
        assert_eq!(policies("MPI_Allreduce_init"), [Refused, Refused]);
        assert_eq!(policies("MPI_Raccumulate"), [Typed(1, 2)]);
        assert_eq!(policies("MPI_Ibcast"), [Typed(1, 2)]);
        assert_eq!(policies("MPI_Gather"), [Typed(1, 2), Copied]);
        assert_eq!(policies("MPI_Igather"), [Typed(1, 2), Element(5)]);
        assert_eq!(policies("MPI_Igatherv"), [Typed(1, 2), Element(6)]);
        assert_eq!(policies("MPI_Pack"), [Typed(1, 2), Copied]);
        assert_eq!(policies("MPI_Unpack"), [Copied, Typed(4, 5)]);
        assert_eq!(policies("MPI_Put"), [Typed(1, 2)]);
        assert_eq!(policies("MPI_Fetch_and_op"), [First(2), First(2)]);
        assert_eq!(policies("MPI_Compare_and_swap"), [First(3); 3]);
        assert_eq!(policies("MPI_Win_create"), [Refused]);
        assert_eq!(policies("MPI_Get_address"), [Address]);
        assert_eq!(policies("MPI_File_read_at"), [Typed(3, 4)]);
        assert_eq!(policies("MPI_File_read_all_end"), [Address]);
        assert_eq!(policies("MPI_Psend_init"), [Refused]);
    }
}
