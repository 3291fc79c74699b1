//! `oxmpi-fortran SOURCE OUT`: writes the Fortran face of the library into the directory OUT, from the
//! entries in SOURCE (capi/src). The Makefile calls it, and compiles what it wrote; see docs/fortran.md.
//!
//! Invariant: what is written depends on the sources alone, and a file that is current is not touched.

mod constants;
mod descriptors;
mod model;
mod modules;
#[allow(dead_code)] // the C face uses all of it
#[path = "../../capi/build/scan.rs"]
mod scan;
mod specific;
mod table;
mod wrappers;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Procedures that programs pass as arguments.
fn predefined() -> Vec<String> {
    let mut names = Vec::new();
    for object in ["", "COMM_", "TYPE_", "WIN_"] {
        for function in ["DUP_FN", "NULL_COPY_FN", "NULL_DELETE_FN"] {
            names.push(format!("MPI_{object}{function}"));
        }
    }
    names.push("MPI_CONVERSION_FN_NULL".to_owned());
    names
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [source, out] = arguments.as_slice() else {
        return Err("usage: oxmpi-fortran SOURCE OUT".into());
    };
    let functions = model::functions(&scan::entries(source, scan::Abi::Mpich)?)?;
    check(&functions)?;
    let constants = constants::read(source)?;
    fs::create_dir_all(out)?;
    let write = |name: &str, text: String| write_if_changed(&out.join(name), &text);
    write("mpif.h", constants::mpif_h(&constants, &predefined()))?;
    write("wrappers.c", wrappers::generate(&functions))?;
    write("descriptors.c", descriptors::generate(&functions))?;
    write("operators.c", modules::operators())?;
    write("mpi_f08_types.f90", modules::types(&constants))?;
    write(
        "mpi.f90",
        modules::mpi(&functions, &constants, &predefined()),
    )?;
    write("mpi_f08.f90", modules::mpi_f08(&functions, &constants))?;
    // The extensions are in the modules themselves; programs name these two for them.
    for (module, of) in [("mpi_ext", "mpi"), ("mpi_ext_f08", "mpi_f08")] {
        let text = format!("module {module}\n  use {of}\nend module\n");
        write(&format!("{module}.f90"), text)?;
    }
    Ok(())
}

/// Every row of the tables names something that is there.
fn check(functions: &[model::Function]) -> Result<(), Box<dyn Error>> {
    let argument = |function: &str, name: &str| {
        functions.iter().any(|f| {
            (function.is_empty() || f.stem == function)
                && f.arguments.iter().any(|argument| argument.c_name == name)
        })
    };
    let function = |name: &&str| !functions.iter().any(|f| f.stem == *name);
    let mut missing: Vec<String> = [
        &table::EXTENSIONS[..],
        &table::NOT_IN_F08,
        &table::LARGE_NAMED,
        &table::NARROW,
        &table::BY_HAND,
        &table::ONE_ELEMENT,
    ]
    .into_iter()
    .flatten()
    .filter(|name| function(name))
    .map(|name| (*name).to_owned())
    .collect();
    let pairs = table::ABSENT.iter().chain(&table::FROM_ONE).copied();
    let renamed = table::RENAMED.iter().map(|row| (row.0, row.1));
    for (function, name) in pairs.chain(renamed) {
        if !argument(function, name) {
            missing.push(format!("{function}.{name}"));
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("table.rs names what no entry has: {}", missing.join(", ")).into())
    }
}

/// Leaves a current file untouched, so that nothing is compiled again because of its time.
fn write_if_changed(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    if !fs::read_to_string(path).is_ok_and(|present| present == text) {
        fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_fortran_side() {
        let entries = scan::entries(Path::new("../capi/src"), scan::Abi::Mpich).unwrap();
        let functions = model::functions(&entries).unwrap();
        check(&functions).unwrap();
        assert!(functions.len() > 600, "{}", functions.len());
    }
}
