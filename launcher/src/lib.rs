//! mpiexec and the compiler wrappers. They are a library so that fuzz targets (`fuzz/`) can call the parsers; each program in
//! `bin/` only calls `main` of its module.

#[cfg(test)]
mod manual;
pub mod mpiexec;
pub mod oxmpicc;
