//! Removed functions, chapter 17: old programs still call them. The standard ABI has none of them.

use crate::datatype::constructors;
use crate::param::*;
use crate::pointers::*;
use crate::{decode, errhandler};
use oxmpi::datatype::create::{self, Displacements, Lengths};

entry! {
    None fn MPI_Address(location: Memory, address: Out<Aint>) {
        address.set(Aint(location.0 as i64))
    }
}

entry! {
    Allocate fn MPI_Errhandler_create(
        comm_errhandler_fn: CommErrhandlerFunction, errhandler: Out<Errhandler>,
    ) {
        errhandler::create_for_comm(comm_errhandler_fn, errhandler)
    }
}

entry! {
    UpdateRef fn MPI_Errhandler_get(comm: Comm, errhandler: Out<Errhandler>) on comm {
        errhandler::get_of_comm(decode::any_comm(comm)?, errhandler)
    }
}

entry! {
    UpdateRef fn MPI_Errhandler_set(comm: Comm, errhandler: Errhandler) on comm {
        errhandler::set_on_comm(decode::any_comm(comm)?, errhandler)
    }
}

entry! {
    AccessOnly fn MPI_Type_extent(datatype: Datatype, extent: Out<Aint>) {
        extent.set(Aint(decode::datatype(datatype)?.extent))
    }
}

entry! {
    AccessOnly fn MPI_Type_lb(datatype: Datatype, displacement: Out<Aint>) {
        displacement.set(Aint(decode::datatype(datatype)?.lb))
    }
}

entry! {
    AccessOnly fn MPI_Type_ub(datatype: Datatype, displacement: Out<Aint>) {
        let datatype = decode::datatype(datatype)?;
        displacement.set(Aint(datatype.lb + datatype.extent))
    }
}

entry! {
    Allocate fn MPI_Type_hindexed(
        count: Int, array_of_blocklengths: LooseArray<Int>,
        array_of_displacements: LooseArray<Aint>, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = constructors::oldtype(newtype, oldtype)?;
        let blocks = constructors::length("count", Count(count.0.into()))?;
        let lengths = array_of_blocklengths.numbers(blocks)?;
        let displacements = array_of_displacements.addresses(blocks)?;
        let (lengths, displacements) = (Lengths::Each(lengths), Displacements::Bytes(displacements));
        constructors::give(newtype, create::indexed(false, lengths, displacements, old))
    }
}

entry! {
    Allocate fn MPI_Type_hvector(
        count: Int, blocklength: Int, stride: Aint, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = constructors::oldtype(newtype, oldtype)?;
        let (count, blocklength) = (count.0.into(), blocklength.0.into());
        constructors::give(newtype, create::hvector(false, count, blocklength, stride.0, old))
    }
}

entry! {
    Allocate fn MPI_Type_struct(
        count: Int, array_of_blocklengths: LooseArray<Int>,
        array_of_displacements: LooseArray<Aint>, array_of_types: LooseArray<Datatype>,
        newtype: Out<Datatype>,
    ) {
        newtype.not_null()?;
        let blocks = constructors::length("count", Count(count.0.into()))?;
        let lengths = array_of_blocklengths.numbers(blocks)?;
        let displacements = array_of_displacements.addresses(blocks)?;
        let type_of = |index| array_of_types.get(index);
        let made = constructors::structure(false, lengths, displacements, type_of);
        constructors::give(newtype, made)
    }
}
