//! Access modes.

use crate::error::{Class, Result, fail};

pub const CREATE: i32 = 1;
pub const RDONLY: i32 = 2;
pub const WRONLY: i32 = 4;
pub const RDWR: i32 = 8;
pub const DELETE_ON_CLOSE: i32 = 16;
pub const UNIQUE_OPEN: i32 = 32;
pub const EXCL: i32 = 64;
pub const APPEND: i32 = 128;
pub const SEQUENTIAL: i32 = 256;

const ALL: i32 = 511;

/// Fails for what the standard does not allow together.
///
/// Errors: MPI_ERR_AMODE.
pub fn check(amode: i32) -> Result<()> {
    if amode & !ALL != 0 {
        return fail!(
            Class::Amode,
            "amode is {amode}, which has bits that are no access mode"
        );
    }
    if (amode & (RDONLY | WRONLY | RDWR)).count_ones() != 1 {
        return fail!(
            Class::Amode,
            "amode is {amode}; exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR is needed"
        );
    }
    if amode & RDONLY != 0 && amode & (CREATE | EXCL) != 0 {
        return fail!(
            Class::Amode,
            "amode is {amode}; MPI_MODE_RDONLY goes neither with MPI_MODE_CREATE nor with MPI_MODE_EXCL"
        );
    }
    if amode & RDWR != 0 && amode & SEQUENTIAL != 0 {
        return fail!(
            Class::Amode,
            "amode is {amode}; MPI_MODE_RDWR does not go with MPI_MODE_SEQUENTIAL"
        );
    }
    Ok(())
}
