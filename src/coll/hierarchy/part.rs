//! What a level of an operation on several nodes is: an operation of its own, on some of the ranks.
//!
//! The module that chooses algorithms runs it. It names the algorithms of several nodes, so these are given the function that does.

use crate::coll::reduction::Vectors;
use crate::coll::team::Team;
use crate::datatype::{Buffer, Parts};
use std::future::Future;
use std::pin::Pin;

/// The steps of an operation.
pub type Steps<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Runs an operation on a part of the ranks, by whatever algorithm is best for them.
pub type Run = for<'a> fn(&'a Team<'a>, Part<'a>) -> Steps<'a>;

/// See the module; the fields are the arguments of the functions in [`super`].
#[derive(Clone, Copy)]
pub enum Part<'a> {
    Barrier,
    Bcast(Buffer, usize),
    /// Equal parts.
    Gather(Option<Buffer>, Option<&'a Parts>, usize),
    /// Equal parts.
    Scatter(Option<&'a Parts>, Option<Buffer>, usize),
    /// Each rank's own part is in its place.
    Allgather(&'a Parts),
    Reduce(Vectors<'a>, usize),
    Allreduce(Vectors<'a>),
    ReduceScatter(Vectors<'a>, &'a [usize]),
    /// The last field: whether it is exclusive.
    Scan(Vectors<'a>, bool),
}
