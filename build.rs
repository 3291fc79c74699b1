//! Records the compiler's version for `MPI_Get_library_version` and `mpichversion`.
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "rustc (unknown version)".into());
    println!("cargo:rustc-env=BUILT_BY_RUSTC={}", version.trim());
    println!("cargo:rerun-if-changed=build.rs");
}
