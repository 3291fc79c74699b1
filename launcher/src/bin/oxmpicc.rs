//! The program behind mpicc, mpicxx and mpifort; see `oxmpicc.rs` of the library.

fn main() -> std::process::ExitCode {
    oxmpi_launcher::oxmpicc::main()
}
