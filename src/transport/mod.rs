//! Ways to move bytes between processes. Knows no communicators and no matching.

pub mod shm;
