//! The constants of `capi/src/constants/` as Fortran has them, and mpif.h.
//!
//! Invariant: mpif.h is at once valid in fixed and in free form: nothing beyond column 72, nothing
//! before column 7, no continuation lines.

use crate::scan::{columns, invocations, squeeze};
use proc_macro2::{TokenStream, TokenTree};
use std::error::Error;
use std::fs;
use std::path::Path;

#[derive(Clone)]
pub struct Constant {
    pub name: String,
    /// `Comm` for a constant of type MPI_Comm; none for plain integers.
    pub handle: Option<String>,
    pub value: i64,
    pub offset: bool,
}

/// Not for Fortran: MPICH's own marks, the tool interface, positions in a status.
const LEFT_OUT: [&str; 9] = [
    "MPICH",
    "MPIIMPL",
    "MPIR_",
    "ROMIO",
    "MPI_T_",
    "MPI_F_",
    "QMPI",
    "MPIX_STREAM",
    "MPIX_GPU",
];

/// Only Fortran has these. A status is an array there, counted from one.
const OWN: [(&str, i64); 10] = [
    ("MPI_STATUS_SIZE", 5),
    ("MPI_SOURCE", 3),
    ("MPI_TAG", 4),
    ("MPI_ERROR", 5),
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
    ("MPI_FILE_NULL", 0),
    ("MPI_ERR_LASTCODE", 0x3fff_ffff),
];

pub fn read(source: &Path) -> Result<Vec<Constant>, Box<dyn Error>> {
    let plain = |(name, value): (&str, i64)| Constant {
        name: name.to_owned(),
        handle: (name == "MPI_FILE_NULL").then(|| "File".to_owned()),
        value,
        offset: false,
    };
    let mut constants: Vec<Constant> = OWN.into_iter().map(plain).collect();
    for file in ["mod", "objects", "arguments", "enumerations"] {
        let path = source.join(format!("constants/{file}.rs"));
        let tokens: TokenStream = fs::read_to_string(&path)?.parse()?;
        for group in invocations(tokens.clone(), "constants") {
            let tokens: Vec<TokenTree> = group.into_iter().collect();
            for row in tokens.split(|token| is(token, ';')) {
                let Some(equals) = row.iter().position(|token| is(token, '=')) else {
                    continue;
                };
                let kind = squeeze(&row[2..equals]);
                constant(
                    &row[0].to_string(),
                    &kind,
                    columns(&row[equals + 1..]).0,
                    &mut constants,
                )?;
            }
        }
        for group in invocations(tokens, "enumerations") {
            for token in group {
                let TokenTree::Group(body) = token else {
                    continue;
                };
                let body: Vec<TokenTree> = body.stream().into_iter().collect();
                for row in body.split(|token| is(token, ',')) {
                    if row.len() > 2 {
                        constant(
                            &row[0].to_string(),
                            "c_int",
                            columns(&row[2..]).0,
                            &mut constants,
                        )?;
                    }
                }
            }
        }
    }
    Ok(constants)
}

fn constant(
    name: &str,
    kind: &str,
    value: &[TokenTree],
    constants: &mut Vec<Constant>,
) -> Result<(), Box<dyn Error>> {
    let left_out = LEFT_OUT.iter().any(|prefix| name.starts_with(prefix))
        || constants.iter().any(|there| there.name == name);
    if left_out {
        return Ok(());
    }
    let text = squeeze(value).replace('_', "");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.as_str()),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16)?,
        None => digits.parse()?,
    };
    let offset = kind == "MPI_Offset";
    // A handle above 2^31 is a negative integer.
    let value = if offset {
        sign * value
    } else {
        i64::from((sign * value) as i32)
    };
    constants.push(Constant {
        value: value + correction(name),
        name: name.to_owned(),
        handle: kind
            .strip_prefix("MPI_")
            .filter(|_| !offset)
            .map(str::to_owned),
        offset,
    });
    Ok(())
}

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// Fortran texts have no zero at their end; and by another number for the key of a predefined
/// attribute the library knows that a value is wanted, not an address.
fn correction(name: &str) -> i64 {
    const KEYS: [&str; 13] = [
        "MPIX_FT",
        "MPI_APPNUM",
        "MPI_HOST",
        "MPI_IO",
        "MPI_LASTUSEDCODE",
        "MPI_TAG_UB",
        "MPI_UNIVERSE_SIZE",
        "MPI_WIN_BASE",
        "MPI_WIN_CREATE_FLAVOR",
        "MPI_WIN_DISP_UNIT",
        "MPI_WIN_MODEL",
        "MPI_WIN_SIZE",
        "MPI_WTIME_IS_GLOBAL",
    ];
    if KEYS.contains(&name) {
        1
    } else if name.starts_with("MPI_MAX_") && name != "MPI_MAXLOC" {
        -1
    } else {
        0
    }
}

/// The lines that declare the special constants, the same in mpif.h and in the module mpi.
pub const COMMONS: &str = "      INTEGER MPI_BOTTOM, MPI_IN_PLACE
      INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      INTEGER MPI_ERRCODES_IGNORE(1)
      INTEGER MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      INTEGER MPI_BUFFER_AUTOMATIC
      CHARACTER*1 MPI_ARGVS_NULL(1,1), MPI_ARGV_NULL(1)
      COMMON /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE
      COMMON /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE
      COMMON /MPIPRIVC/ MPI_ARGVS_NULL, MPI_ARGV_NULL
      COMMON /MPIFCMB5/ MPI_UNWEIGHTED
      COMMON /MPIFCMB9/ MPI_WEIGHTS_EMPTY
      COMMON /OXMPIBLK/ MPI_BUFFER_AUTOMATIC
      SAVE /MPIPRIV1/, /MPIPRIV2/, /MPIPRIVC/
      SAVE /MPIFCMB5/, /MPIFCMB9/, /OXMPIBLK/
      LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING
      PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING=.FALSE.)
      LOGICAL MPI_SUBARRAYS_SUPPORTED
      PARAMETER (MPI_SUBARRAYS_SUPPORTED=.FALSE.)
";

/// In this form a constant is the same in mpif.h and in the module mpi.
pub fn parameters(constants: &[Constant]) -> String {
    let mut text = String::new();
    for Constant {
        name,
        value,
        offset,
        ..
    } in constants
    {
        let kind = if *offset {
            "INTEGER(KIND=8)"
        } else {
            "INTEGER"
        };
        text.push_str(&format!(
            "      {kind} {name}\n      PARAMETER ({name}={value})\n"
        ));
    }
    text
}

pub fn mpif_h(constants: &[Constant], externals: &[String]) -> String {
    let mut text = String::from("!     Made by oxmpi from the entries of its C face\n");
    text.push_str(&parameters(constants));
    text.push_str(COMMONS);
    for name in externals {
        text.push_str(&format!("      EXTERNAL {name}\n"));
    }
    // With -fdefault-real-8 gfortran makes DOUBLE PRECISION 16 bytes, which C does not return.
    text.push_str("      REAL*8 MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK\n");
    text.push_str("      EXTERNAL MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK\n");
    text.push_str("      INTEGER(KIND=8) MPI_AINT_ADD, MPI_AINT_DIFF\n");
    text.push_str("      INTEGER(KIND=8) PMPI_AINT_ADD, PMPI_AINT_DIFF\n");
    text.push_str("      EXTERNAL MPI_AINT_ADD, MPI_AINT_DIFF\n");
    text.push_str("      EXTERNAL PMPI_AINT_ADD, PMPI_AINT_DIFF\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpif_h_fits_both_forms() {
        let constants = read(Path::new("../capi/src")).unwrap();
        let text = mpif_h(&constants, &["MPI_WIN_NULL_DELETE_FN".to_owned()]);
        for line in text.lines() {
            assert!(line.len() <= 72, "{line}");
            assert!(
                line.starts_with("      ") || line.starts_with('!'),
                "{line}"
            );
        }
    }

    #[test]
    fn values_are_those_of_fortran() {
        let constants = read(Path::new("../capi/src")).unwrap();
        let value = |name: &str| constants.iter().find(|c| c.name == name).unwrap().value;
        assert_eq!(value("MPI_TAG_UB"), 1681915906);
        assert_eq!(value("MPI_MAX_ERROR_STRING"), 511);
        assert_eq!(value("MPI_FLOAT_INT"), -1946157056);
        assert_eq!(value("MPI_ANY_SOURCE"), -2);
        assert_eq!(value("MPI_MAX"), 1476395009);
    }
}
