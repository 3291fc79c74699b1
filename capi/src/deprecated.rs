//! Deprecated and removed functions, chapters 16 and 17: old programs still call them.

use crate::callback::AttributeFunctions;
use crate::datatype::constructors;
use crate::param::*;
use crate::pointers::*;
use crate::{attr, decode, errhandler};
use oxmpi::attr::{self as core, Target};
use oxmpi::datatype::create::{self, Displacements, Lengths};
use oxmpi::error::Result;

entry! {
    None fn MPI_Address(location: Memory, address: Out<Aint>) {
        address.set(Aint(location.0 as i64))
    }
}

entry! {
    UpdateList fn MPI_Attr_delete(comm: Comm, keyval: Keyval) on comm {
        let comm = decode::comm(comm)?;
        core::delete(&comm.attributes, Target::Comm, comm.handle, keyval.0)
    }
}

entry! {
    ReadList fn MPI_Attr_get(
        comm: Comm, keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on comm {
        let comm = decode::comm(comm)?;
        attr::give(|| attr::of_comm(comm, keyval.0), attribute_val, flag)
    }
}

entry! {
    UpdateList fn MPI_Attr_put(comm: Comm, keyval: Keyval, attribute_val: AttributeValue) on comm {
        let comm = decode::comm(comm)?;
        attr::set(&comm.attributes, Target::Comm, comm.handle, keyval, attribute_val)
    }
}

entry! {
    Allocate fn MPI_Keyval_create(
        copy_fn: CopyFunction, delete_fn: DeleteFunction, keyval: Out<Keyval>,
        extra_state: ExtraState,
    ) {
        keyval.not_null()?;
        let functions = AttributeFunctions::boxed(copy_fn.0, delete_fn.0, extra_state.0);
        keyval.set(Keyval(core::create(Target::Comm, functions)?))
    }
}

entry! {
    UpdateRef fn MPI_Keyval_free(keyval: InOut<Keyval>) {
        attr::free_key(Target::Comm, keyval)
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
        errhandler::get_of_comm(decode::comm(comm)?, errhandler)
    }
}

entry! {
    UpdateRef fn MPI_Errhandler_set(comm: Comm, errhandler: Errhandler) on comm {
        errhandler::set_on_comm(decode::comm(comm)?, errhandler)
    }
}

/// A number of the 64-bit functions that the standard made for MPI 3 and replaced by `_c`.
fn put_large(out: Out<LargeCount>, value: i64) -> Result<()> {
    out.set(LargeCount(value))
}

entry! {
    AccessOnly fn MPI_Get_elements_x(status: In<Status>, datatype: Datatype, count: Out<LargeCount>) {
        let datatype = decode::datatype(datatype)?;
        let elements = status.read()?.0.get_elements(datatype);
        let undefined = crate::constants::MPI_UNDEFINED.into();
        put_large(count, elements.map_or(undefined, |elements| elements as i64))
    }
}

entry! {
    AccessOnly fn MPI_Status_set_elements_x(status: InOut<Status>, datatype: Datatype, count: LargeCount) {
        decode::set_elements(status, datatype, Count(count.0))
    }
}

entry! {
    AccessOnly fn MPI_Type_extent(datatype: Datatype, extent: Out<Aint>) {
        extent.set(Aint(decode::datatype(datatype)?.extent))
    }
}

entry! {
    AccessOnly fn MPI_Type_get_extent_x(datatype: Datatype, lb: Out<LargeCount>, extent: Out<LargeCount>) {
        let datatype = decode::datatype(datatype)?;
        put_large(lb, datatype.lb)?;
        put_large(extent, datatype.extent)
    }
}

entry! {
    AccessOnly fn MPI_Type_get_true_extent_x(
        datatype: Datatype, true_lb: Out<LargeCount>, true_extent: Out<LargeCount>,
    ) {
        let datatype = decode::datatype(datatype)?;
        put_large(true_lb, datatype.true_lb)?;
        put_large(true_extent, datatype.true_extent)
    }
}

entry! {
    AccessOnly fn MPI_Type_lb(datatype: Datatype, displacement: Out<Aint>) {
        displacement.set(Aint(decode::datatype(datatype)?.lb))
    }
}

entry! {
    AccessOnly fn MPI_Type_size_x(datatype: Datatype, size: Out<LargeCount>) {
        put_large(size, decode::datatype(datatype)?.size as i64)
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
