//! Recognises programs of another MPI. They would not find their job under this launcher: each rank would believe to
//! be alone.
//!
//! Invariant: any bytes can be looked at; what is not understood is not foreign.

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
    let libraries = needed_libraries(&|at, bytes| file.read_at(bytes, at).unwrap_or(0))?;
    libraries.iter().find_map(|it| complaint(it))
}

/// The same about a running process.
pub fn mapped(pid: i32) -> Option<String> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    maps.lines()
        .filter_map(|line| line.rsplit_once('/'))
        .find_map(|(_, library)| complaint(library))
}

fn complaint(library: &str) -> Option<String> {
    let other = other_mpi(library)?;
    Some(format!(
        "uses {other} ({library}), whose ranks cannot find each other under this mpiexec: start it with the launcher \
         of {other}, or link it to libmpi.so.12"
    ))
}

/// The DT_NEEDED entries of a 64-bit little-endian ELF file; `None` if it is none. `read` fills bytes from an offset on
/// and says how many there are.
pub fn needed_libraries(read: &dyn Fn(u64, &mut [u8]) -> usize) -> Option<Vec<String>> {
    const DYNAMIC: u64 = 2;
    const LOAD: u64 = 1;
    const NEEDED: u64 = 1;
    const STRING_TABLE: u64 = 5;
    let number = |at: u64, bytes: usize| -> Option<u64> {
        let mut value = [0u8; 8];
        (read(at, &mut value[..bytes]) == bytes).then(|| u64::from_le_bytes(value))
    };
    // 64 bits, little-endian.
    if number(0, 6)? != u64::from_le_bytes(*b"\x7fELF\x02\x01\0\0") {
        return None;
    }
    let (table, entry, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let header = |index: u64| table.checked_add(index.checked_mul(entry)?);
    let mut loads = Vec::new();
    let mut dynamic = None;
    for index in 0..count {
        let at = header(index)?;
        let field = |offset: u64| number(at.checked_add(offset)?, 8);
        match number(at, 4)? {
            LOAD => loads.push((field(16)?, field(8)?, field(32)?)),
            DYNAMIC => dynamic = Some((field(8)?, field(32)?)),
            _ => {}
        }
    }
    let (start, bytes) = dynamic?;
    let mut names = Vec::new();
    let mut strings = None;
    for index in 0..(bytes / 16).min(4096) {
        let at = start.checked_add(index * 16)?;
        match number(at, 8)? {
            0 => break,
            NEEDED => names.push(number(at.checked_add(8)?, 8)?),
            STRING_TABLE => strings = Some(number(at.checked_add(8)?, 8)?),
            _ => {}
        }
    }
    let address = strings?;
    let (virtual_start, offset, _) = loads
        .into_iter()
        .find(|(start, _, length)| *start <= address && address - start < *length)?;
    let strings = offset.checked_add(address - virtual_start)?;
    names
        .into_iter()
        .map(|name| {
            let mut bytes = [0u8; 256];
            let count = read(strings.checked_add(name)?, &mut bytes);
            let end = bytes[..count].iter().position(|byte| *byte == 0)?;
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bytes(file: &[u8]) -> Option<Vec<String>> {
        needed_libraries(&|at, bytes| {
            let rest = usize::try_from(at).ok().and_then(|at| file.get(at..));
            let rest = rest.unwrap_or_default();
            let count = rest.len().min(bytes.len());
            bytes[..count].copy_from_slice(&rest[..count]);
            count
        })
    }

    #[test]
    fn the_libraries_of_this_test_are_read() {
        let file = fs::read(std::env::current_exe().unwrap()).unwrap();
        let libraries = of_bytes(&file).unwrap();
        assert!(
            libraries.iter().any(|it| it.starts_with("libc.so")),
            "{libraries:?}"
        );
        assert_eq!(linked(&std::env::current_exe().unwrap()), None);
        // Damaged files are no reason to fall over.
        for cut in [0, 4, 6, 40, 63, 64, 100, 1000, file.len() / 2] {
            let _ = of_bytes(&file[..cut]);
        }
        let mut damaged = file[..4096.min(file.len())].to_vec();
        for at in 24..damaged.len() {
            damaged[at] = 0xff;
            let _ = of_bytes(&damaged);
        }
    }

    #[test]
    fn libraries_are_told_apart() {
        assert_eq!(other_mpi("libmpi.so.40"), Some("Open MPI"));
        assert_eq!(other_mpi("libmpi.so.40.30.4"), Some("Open MPI"));
        assert_eq!(other_mpi("libmpi.so.12.2.2"), None);
        assert_eq!(other_mpi("libmpich.so.12"), None);
        assert_eq!(other_mpi("libmpi_cxx.so.40"), None);
        assert_eq!(mapped(std::process::id() as i32), None);
    }
}
