//! Why the dynamic loader could not start a program: the libraries that it does not find, and where they are. Looked up only
//! after a rank has ended with the loader's exit code.

use super::plan::{ProgramPlan, find_program};
use super::{elf, foreign};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// With which the dynamic loader ends a program whose libraries it does not find. Shells end with it too, where they do not find
/// a program.
pub const LOADER_CODE: i32 = 127;

/// What to say about a program that cannot be loaded; `None` if its libraries are all there. Its arguments are looked at too: the
/// program may be a shell or a tool that starts another one.
pub fn explain(program: &ProgramPlan) -> Option<String> {
    let own = [(program.shown.clone(), program.executable.clone())];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = program.arguments.iter().filter_map(|word| {
        let found = find_program(word, program.folder.as_deref(), &path).ok()?;
        Some((word.to_string_lossy().into_owned(), found))
    });
    own.into_iter().chain(others).find_map(|(shown, file)| {
        let missing = missing_libraries(&file, program)?;
        Some(format!(
            "{shown} {}",
            text(&missing, own_libraries().as_deref(), program)
        ))
    })
}

/// The libraries that the loader does not find, directly or indirectly needed; `None` if there are none.
fn missing_libraries(file: &Path, program: &ProgramPlan) -> Option<Vec<String>> {
    let opened = File::open(file).ok()?;
    let loader = elf::read(&|at, bytes| opened.read_at(bytes, at).unwrap_or(0))?.loader?;
    // Another loader than glibc's might run the program instead.
    if !["/ld-linux", "/ld64"]
        .iter()
        .any(|name| loader.contains(name))
    {
        return None;
    }
    let mut list = Command::new(loader);
    list.arg(file)
        .env_clear()
        .envs(&program.variables)
        // As ldd does; --list stops at the first one.
        .env("LD_TRACE_LOADED_OBJECTS", "1");
    if let Some(folder) = &program.folder {
        list.current_dir(folder);
    }
    let listed = list.stdin(Stdio::null()).output().ok()?;
    let missing = not_found(&String::from_utf8_lossy(&listed.stdout));
    (!missing.is_empty()).then_some(missing)
}

/// From lines such as `libmpi.so.12 => not found`.
fn not_found(listed: &str) -> Vec<String> {
    let mut missing: Vec<String> = listed
        .lines()
        .filter_map(|line| line.trim().strip_suffix("=> not found"))
        .map(|name| name.trim().to_owned())
        .collect();
    missing.dedup();
    missing
}

/// The folder of the libraries that belong to this mpiexec.
fn own_libraries() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.parent()?.join("lib"))
}

fn text(missing: &[String], folder: Option<&Path>, program: &ProgramPlan) -> String {
    if let Some(complaint) = missing.iter().find_map(|name| foreign::complaint(name)) {
        return complaint;
    }
    let names = missing.join(", ");
    let not_found = format!("cannot be loaded: the dynamic loader does not find {names}");
    let has_one = |folder: &&Path| missing.iter().any(|name| folder.join(name).exists());
    match folder.filter(has_one) {
        Some(folder) => {
            let before = program.variables.get(OsStr::new("LD_LIBRARY_PATH"));
            let mut value = OsString::from(folder);
            if before.is_some_and(|before| !before.is_empty()) {
                value.push(":$LD_LIBRARY_PATH");
            }
            let value = value.to_string_lossy();
            format!("{not_found}; set LD_LIBRARY_PATH={value} (or -genv LD_LIBRARY_PATH ...)")
        }
        None => format!("{not_found}; install it, or add its folder to LD_LIBRARY_PATH"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_is_understood() {
        let listed = "\tlinux-vdso.so.1 (0x1)\n\tlibmpi.so.12 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n";
        assert_eq!(not_found(listed), ["libmpi.so.12"]);
    }
}
