//! Makes `include/mpi.h`, `include/mpi.symbols`, both again for the standard ABI in `include/standard`, and the count of what is written from the entries
//! in `src/`, and gives the library its name. The files in `include/` are committed; this script
//! rewrites them whenever they are not current, and CI fails if that changes anything.

#[path = "build/constants.rs"]
mod constants;
#[path = "build/header.rs"]
mod header;
#[path = "build/scan.rs"]
mod scan;
#[path = "build/support.rs"]
mod support;
#[path = "build/threads.rs"]
mod threads;

use scan::Abi;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rustc-check-cfg=cfg(standard_abi)");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi.so.12");
    // A call inside the library never goes through a symbol that a tool may have interposed.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
    for path in ["build.rs", "build", "src", "header", "../include"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-env-changed=OXMPI_WRITE_SUPPORT");

    let source = Path::new("src");
    let entries = scan::entries(source, Abi::Mpich)?;
    let types = scan::types(source)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);

    for (abi, directory) in [
        (Abi::Mpich, "../include"),
        (Abi::Standard, "../include/standard"),
    ] {
        let entries = scan::entries(source, abi)?;
        let constants = constants::read(source, abi)?;
        let header = header::generate(&entries, &types, &constants, abi, &out)?;
        write_if_changed(&Path::new(directory).join("mpi.h"), &header)?;
        let symbols = header::symbols(&entries, &scan::other_symbols(source, abi)?);
        write_if_changed(&Path::new(directory).join("mpi.symbols"), &symbols)?;
    }

    // Not at each build: every body that somebody writes changes it.
    if env::var_os("OXMPI_WRITE_SUPPORT").is_some() {
        write_if_changed(Path::new("../docs/support.md"), &support::page(&entries))?;
        write_if_changed(Path::new("../docs/threads.md"), &threads::page(&entries)?)?;
    }
    Ok(())
}

/// Leaves a current file untouched, so that nothing is rebuilt because of its time.
fn write_if_changed(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    match fs::write(path, text) {
        Err(error) if error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        result => result.map_err(Into::into),
    }
}
