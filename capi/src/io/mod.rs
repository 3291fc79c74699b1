//! Files, chapter 14.

mod datarep;
mod decode;
mod explicit;
mod file;
mod individual;
mod shared;

use crate::constants::{MPI_SEEK_CUR, MPI_SEEK_END, MPI_SEEK_SET};
use crate::param::{Status, Whence};
use crate::pointers::Out;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::io::{Direction, Whence as From};
use oxmpi::pt2pt::complete::Completion;

const READ: Direction = Direction::Read;
const WRITE: Direction = Direction::Write;

/// Writes the status of a collective access, of which NULL was told to all ranks as an error.
fn give(status: Out<Status>, done: Completion) -> Result<()> {
    match status.is_null() {
        true => done.into_result(),
        false => status.finish(done),
    }
}

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
