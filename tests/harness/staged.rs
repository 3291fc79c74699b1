//! The staged prefix: its launcher, and a program compiled by its mpicc.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Paths of mpiexec and of the program, which is compiled from `c-tests/SOURCE` into `target/FOLDER/`. `OXMPI_STAGE` names another prefix
/// than `target/stage`.
///
/// Errors: what did not work, with the compiler's words.
pub fn compile(source: &str, folder: &str) -> Result<(PathBuf, PathBuf), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let prefix =
        std::env::var_os("OXMPI_STAGE").map_or_else(|| root.join("target/stage"), PathBuf::from);
    let prefix = std::path::absolute(&prefix).map_err(|error| error.to_string())?;
    let build = root.join("target").join(folder);
    std::fs::create_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))?;
    let program = build.join("program");
    let mut command = Command::new(prefix.join("bin/mpicc"));
    command
        .args([
            "-std=gnu11",
            "-g",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
            "-I",
        ])
        .arg(root.join("c-tests/common"))
        .arg("-o")
        .arg(&program)
        .arg(root.join("c-tests").join(source));
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("does not compile: {command:?}\n{text}"));
    }
    Ok((prefix.join("bin/mpiexec"), program))
}
