//! MPI_Status: the standard's three numbers in front, the core's words of the count behind them.

use super::{errors, numbers};
use crate::types::MPI_Status;
use oxmpi::datatype::Status;

#[inline(always)]
pub fn inside(given: MPI_Status) -> Status {
    Status {
        count_lo: given.internal[0],
        count_hi_and_cancelled: given.internal[1],
        source: numbers::rank::inside(given.source),
        tag: numbers::tag::inside(given.tag),
        error: errors::inside(given.error),
    }
}

#[inline(always)]
pub fn of_program(status: Status) -> MPI_Status {
    MPI_Status {
        source: numbers::rank::of_program(status.source),
        tag: numbers::tag::of_program(status.tag),
        error: errors::of_program(status.error),
        internal: [status.count_lo, status.count_hi_and_cancelled, 0, 0, 0],
    }
}
