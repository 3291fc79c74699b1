//! Compiles what debuggers look for in mpiexec, with its types.

fn main() {
    println!("cargo::rerun-if-changed=debugger/mpir.c");
    cc::Build::new()
        .file("debugger/mpir.c")
        .debug(true)
        .opt_level(1)
        .warnings(true)
        .extra_warnings(true)
        .compile("oxmpi_mpir");
}
