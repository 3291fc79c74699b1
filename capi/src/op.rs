//! Reduction operations.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Op_commutative(op: Op, commute: Out<Logical>);

    fn MPI_Op_create[_c](user_fn: UserFunction, commute: Logical, op: Out<Op>);

    fn MPI_Op_free(op: InOut<Op>);
}
