//! Memory allocation kinds (MPI 5.0, section 12.4.3): which memory programs may give to the library.

/// The key of the kinds that a program asks for, and of the supported ones that it gets.
pub const KEY: &str = "mpi_memory_alloc_kinds";
/// The key of a program's promise to use these kinds only.
pub const PROMISE: &str = "mpi_assert_memory_alloc_kinds";
/// What MPI allocates, and what the system's own functions do.
pub const ALWAYS: &str = "mpi,system";

const OF_MPI: [&str; 3] = ["alloc_mem", "win_allocate", "win_allocate_shared"];

/// Whether memory of a kind, such as `mpi:alloc_mem`, is supported.
fn is_supported(kind: &str) -> bool {
    let mut words = kind.split(':');
    match words.next() {
        Some("system") => words.next().is_none(),
        Some("mpi") => words.all(|word| OF_MPI.contains(&word)),
        _ => false,
    }
}

/// Whether all kinds of a list are supported.
pub fn are_supported(list: &str) -> bool {
    list.split(',').map(str::trim).all(is_supported)
}

/// The supported kinds of a list that a program asks for, behind those that are always there.
pub fn supported(asked: Option<&str>) -> String {
    let mut kinds: Vec<&str> = ALWAYS.split(',').collect();
    for kind in asked.unwrap_or_default().split(',').map(str::trim) {
        if is_supported(kind) && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_supported_kinds_are_told() {
        assert_eq!(supported(None), ALWAYS);
        assert_eq!(supported(Some("")), ALWAYS);
        assert_eq!(supported(Some("cuda:device,system,rocm")), ALWAYS);
        let asked = "mpi:alloc_mem:win_allocate, system:host,mpi:else,mpi";
        assert_eq!(
            supported(Some(asked)),
            "mpi,system,mpi:alloc_mem:win_allocate"
        );
        assert!(are_supported("system,mpi:win_allocate_shared"));
        assert!(!are_supported("system,cuda"));
    }
}
