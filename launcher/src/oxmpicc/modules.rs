//! Fortran modules: installed as sources in `lib/oxmpi/modules`, compiled for a compiler into a folder of its name there.

use super::{Prefix, compiler_name};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this compiler, or of one of its family.
pub fn directory(prefix: &Prefix, compiler: &str) -> Option<PathBuf> {
    let name = compiler_name(compiler);
    let family = family(&name).to_owned();
    [name, family]
        .map(|name| prefix.library.join("oxmpi/modules").join(name))
        .into_iter()
        .find(|directory| directory.is_dir())
}

/// `gfortran` for `gfortran-12`.
pub fn family(name: &str) -> &str {
    name.split(['-', '.']).next().unwrap_or_default()
}

/// Where nobody has compiled them yet, as after the installation of a wheel, and a file uses one: compiles them, or
/// says why not. The compiler then has its say.
pub fn make_at_first_use(name: &str, prefix: &Prefix, compiler: &str, arguments: &[OsString]) {
    let sources = prefix.library.join("oxmpi/modules");
    if directory(prefix, compiler).is_some()
        || !sources.join("mpi.f90").is_file()
        || !arguments.iter().any(uses_module)
    {
        return;
    }
    eprintln!("{name}: compiling the modules mpi and mpi_f08 for {compiler}, this once");
    let gfortran = family(&compiler_name(compiler)) == "gfortran";
    let quiet: Vec<OsString> = gfortran
        .then(|| "-Wno-c-binding-type".into())
        .into_iter()
        .collect();
    if let Err(text) = make(prefix, compiler, &quiet) {
        eprintln!("{name}: {text}");
    }
}

/// Whether the argument is a file of Fortran with a line `use mpi`.
fn uses_module(argument: &OsString) -> bool {
    let path = Path::new(argument);
    let fortran = (path.extension().and_then(|ending| ending.to_str()))
        .is_some_and(|ending| ending.to_ascii_lowercase().starts_with('f'));
    fortran
        && std::fs::read(path).is_ok_and(|text| {
            let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
            (text.lines()).any(|line| line.trim_start().starts_with("use") && line.contains("mpi"))
        })
}

/// Compiles the installed sources of the modules, as they lie in `lib/oxmpi/modules`, into a
/// directory named after the compiler beside them, where later calls find them.
pub fn make(prefix: &Prefix, compiler: &str, flags: &[OsString]) -> Result<(), String> {
    let sources = prefix.library.join("oxmpi/modules");
    let directory = sources.join(compiler_name(compiler));
    // Made apart: nobody may find half a module, or one of two.
    let apart = sources.join(format!("new-{}", std::process::id()));
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(&apart).map_err(failed)?;
    let result = compile(&sources, &apart, compiler, flags);
    // A folder that is there already, and not empty, gets the files one by one.
    if result.is_ok() && std::fs::rename(&apart, &directory).is_err() {
        for file in std::fs::read_dir(&apart).map_err(failed)?.flatten() {
            let name = file.file_name();
            std::fs::rename(file.path(), directory.join(name)).map_err(failed)?;
        }
    }
    let _ = std::fs::remove_dir_all(&apart);
    result
}

/// Every compiler leaves its module files where it runs; the objects have nothing in them.
fn compile(
    sources: &Path,
    directory: &Path,
    compiler: &str,
    flags: &[OsString],
) -> Result<(), String> {
    for module in ["mpi_f08_types", "mpi", "mpi_f08", "mpi_ext", "mpi_ext_f08"] {
        let mut words = compiler.split_whitespace();
        let status = Command::new(words.next().unwrap_or_default())
            .args(words)
            .args(flags)
            .arg("-c")
            .arg(sources.join(format!("{module}.f90")))
            .current_dir(directory)
            .status();
        let _ = std::fs::remove_file(directory.join(format!("{module}.o")));
        match status {
            Ok(status) if status.success() => {}
            Ok(_) => return Err(format!("{compiler} does not compile the module {module}")),
            Err(error) => return Err(format!("cannot run {compiler}: {error}")),
        }
    }
    Ok(())
}
