//! The kinds of split collective operations, and one that is active.

use super::access::{Direction, Place};
use super::operations::Outcome;
use crate::error::{Class, Result, fail};
use std::sync::Arc;

/// Which pair of functions it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    pub direction: Direction,
    pub place: Form,
}

/// The three forms of split operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    At,
    All,
    Ordered,
}

/// An active one.
pub struct Begun {
    pub kind: Kind,
    /// The program's buffer; `None` if nothing is in it.
    pub address: Option<usize>,
    pub outcome: Arc<Outcome>,
}

impl Begun {
    /// Whether the buffer at the end is that of the beginning.
    ///
    /// Errors: MPI_ERR_BUFFER.
    pub fn check(&self, address: usize) -> Result<()> {
        match self.address {
            Some(begun) if begun != address => fail!(
                Class::Buffer,
                "buf is {address:#x}; {}_begin was called with {begun:#x}",
                self.kind.name()
            ),
            _ => Ok(()),
        }
    }
}

impl Kind {
    pub fn of(direction: Direction, place: Place) -> Kind {
        let place = match place {
            Place::At(_) => Form::At,
            Place::Individual => Form::All,
            Place::Shared => Form::Ordered,
        };
        Kind { direction, place }
    }

    /// What its functions are called, without `_begin` and `_end`.
    pub fn name(self) -> &'static str {
        match (self.direction, self.place) {
            (Direction::Read, Form::At) => "MPI_File_read_at_all",
            (Direction::Read, Form::All) => "MPI_File_read_all",
            (Direction::Read, Form::Ordered) => "MPI_File_read_ordered",
            (Direction::Write, Form::At) => "MPI_File_write_at_all",
            (Direction::Write, Form::All) => "MPI_File_write_all",
            (Direction::Write, Form::Ordered) => "MPI_File_write_ordered",
        }
    }
}
