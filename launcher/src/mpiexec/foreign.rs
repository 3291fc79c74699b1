//! Recognises programs of another MPI. They would not find their job under this launcher: each rank would believe to
//! be alone.
//!
//! Invariant: any bytes can be looked at; what is not understood is not foreign.

use super::elf;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The other MPI that a library belongs to.
fn other_mpi(library: &str) -> Option<&'static str> {
    let major = library.strip_prefix("libmpi.so.")?.split('.').next()?;
    // MPICH, Intel MPI, MVAPICH and oxmpi share 12.
    match major {
        "12" => None,
        "0" | "1" | "20" | "40" | "80" => Some("Open MPI"),
        _ => Some("another MPI"),
    }
}

/// What to say about a program that was linked to another MPI; `None` if it was not.
pub fn linked(program: &Path) -> Option<String> {
    let file = File::open(program).ok()?;
    let elf = elf::read(&|at, bytes| file.read_at(bytes, at).unwrap_or(0))?;
    elf.needed.iter().find_map(|it| complaint(it))
}

/// As [`linked`], about a running process.
pub fn mapped(pid: i32) -> Option<String> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    maps.lines()
        .filter_map(|line| line.rsplit_once('/'))
        .find_map(|(_, library)| complaint(library))
}

/// What to say about a program that needs this library, if it is of another MPI.
pub fn complaint(library: &str) -> Option<String> {
    let other = other_mpi(library)?;
    Some(format!(
        "was built for {other} ({library}), whose ranks cannot find each other under this mpiexec: compile it again with \
         oxmpi's mpicc, mpicxx or mpifort, or start it with the launcher of {other}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_apart() {
        assert_eq!(other_mpi("libmpi.so.40"), Some("Open MPI"));
        assert_eq!(other_mpi("libmpi.so.40.30.4"), Some("Open MPI"));
        assert_eq!(other_mpi("libmpi.so.12.2.2"), None);
        assert_eq!(other_mpi("libmpich.so.12"), None);
        assert_eq!(other_mpi("libmpi_cxx.so.40"), None);
        assert_eq!(mapped(std::process::id() as i32), None);
        assert_eq!(linked(&std::env::current_exe().unwrap()), None);
    }
}
