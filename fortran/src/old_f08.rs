//! Choice buffers for mpi_f08 programs that were compiled with Debian's MPICH: its modules are no
//! BIND(C), so such a program passes gfortran's own descriptor to `mpi_send_f08ts_`. This makes
//! ours of it and calls the function that new programs call.
//!
//! Invariant: nothing is done here but that.

use crate::model::{Form, Function};
use crate::wrappers::{Piece, parameters};

/// `pieces` are those of the new function.
pub fn wrapper(function: &Function, pieces: &[Piece]) -> String {
    let mut old = Vec::new();
    let mut before = String::new();
    let mut passed = Vec::new();
    for (argument, piece) in function.arguments.iter().zip(pieces) {
        let name = &argument.c_name;
        let (parameter, length) = if argument.is_choice() {
            before.push_str(&format!(
                "  struct descriptor {name}_d;\n  from_gfortran(&{name}_d, {name});\n"
            ));
            (format!("const struct gfortran_descriptor *{name}"), None)
        } else if argument.form == Form::Text {
            before.push_str(&format!(
                "  struct descriptor {name}_d = {{.base_addr = (char *){name}, .elem_len = {name}_length}};\n"
            ));
            let length = Some(format!("size_t {name}_length"));
            (format!("const char *{name}"), length)
        } else {
            (piece.parameter.clone(), None)
        };
        let described = argument.is_choice() || argument.form == Form::Text;
        passed.push(if described {
            format!("&{name}_d")
        } else {
            name.clone()
        });
        old.push(Piece {
            parameter,
            length,
            ..Piece::default()
        });
    }
    if function.has_ierror() {
        passed.push("ierror".to_owned());
    }
    let stem = function.stem.to_lowercase();
    let short = stem.trim_start_matches("mpi");
    let large = if function.large { "large_" } else { "" };
    format!(
        "\nvoid OLD_F08({stem}_f08ts_{large}, {short}_f08ts_{large})({})\n{{\n{before}  \
         FN({}_cdesc_)({});\n}}\n",
        parameters(function, &old),
        function.lower(),
        passed.join(", ")
    )
}
