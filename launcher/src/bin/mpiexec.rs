//! The program mpiexec; see `mpiexec/mod.rs`.

fn main() {
    oxmpi_launcher::mpiexec::main()
}
