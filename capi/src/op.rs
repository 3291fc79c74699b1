//! Reduction operations.

use crate::callback::ReductionFunction;
use crate::param::*;
use crate::place::*;
use oxmpi::error::Class;
use oxmpi::{fail, op as core};

entry! {
    fn MPI_Op_commutative(op: Op, commute: Out<Logical>) {
        commute.put_bool(core::get(op.0)?.is_commutative())
    }
}

entry! {
    fn MPI_Op_create[_c](user_fn: UserFunction, commute: Logical, op: Out<Op>) {
        op.not_null()?;
        let function = match user_fn {
            UserFunction::Small(Some(function)) => {
                ReductionFunction::Small(function, Default::default())
            }
            UserFunction::Large(Some(function)) => ReductionFunction::Large(function),
            _ => return fail!(Class::Arg, "user_fn is NULL; a function is needed"),
        };
        op.set(Op(core::create(Box::new(function), commute.0 != 0)?))
    }
}

entry! {
    fn MPI_Op_free(op: InOut<Op>) {
        core::free(op.read()?.0)?;
        op.set(Op(core::NULL))
    }
}
