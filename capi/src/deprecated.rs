//! Deprecated functions, chapter 16.

use crate::callback::AttributeFunctions;
use crate::param::*;
use crate::pointers::*;
use crate::{attr, decode};
use oxmpi::attr::{self as core, Target};
use oxmpi::error::Result;

entry! {
    UpdateList fn MPI_Attr_delete(comm: Comm, keyval: Keyval) on comm {
        let comm = decode::any_comm(comm)?;
        core::delete(&comm.attributes, Target::Comm, comm.handle, keyval.0)
    }
}

entry! {
    ReadList fn MPI_Attr_get(
        comm: Comm, keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on comm {
        let comm = decode::any_comm(comm)?;
        attr::give(keyval, || attr::of_comm(comm, keyval.0), attribute_val, flag)
    }
}

entry! {
    UpdateList fn MPI_Attr_put(comm: Comm, keyval: Keyval, attribute_val: AttributeValue) on comm {
        let comm = decode::any_comm(comm)?;
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
    AccessOnly fn MPI_Type_size_x(datatype: Datatype, size: Out<LargeCount>) {
        put_large(size, decode::datatype(datatype)?.size as i64)
    }
}
