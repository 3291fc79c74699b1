//! Files, chapter 14.

mod access;
mod datarep;
mod explicit;
mod file;
mod individual;
mod shared;

use crate::constants::{MPI_SEEK_CUR, MPI_SEEK_END, MPI_SEEK_SET};
use crate::param::Whence;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::io::Whence as From;

fn whence(whence: Whence) -> Result<From> {
    match whence.0 {
        MPI_SEEK_SET => Ok(From::Start),
        MPI_SEEK_CUR => Ok(From::Current),
        MPI_SEEK_END => Ok(From::End),
        other => fail!(
            Class::Arg,
            "whence is {other}; allowed are MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END"
        ),
    }
}
