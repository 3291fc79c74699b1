//! Size, extent and name of a datatype, addresses, and counts in a status.

use crate::constants::*;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Class;
use oxmpi::fail;

entry! {
    AccessOnly fn MPI_Type_size[_c](datatype: Datatype, size: Out<Count>) {
        size.put_or_undefined(Some(decode::datatype(datatype)?.size))
    }
}

entry! {
    AccessOnly fn MPI_Type_get_extent[_c](
        datatype: Datatype, lb: Out<ByteDisplacement>, extent: Out<ByteDisplacement>,
    ) {
        let datatype = decode::datatype(datatype)?;
        lb.set(ByteDisplacement(datatype.lb))?;
        extent.set(ByteDisplacement(datatype.extent))
    }
}

entry! {
    AccessOnly fn MPI_Type_get_true_extent[_c](
        datatype: Datatype, true_lb: Out<ByteDisplacement>, true_extent: Out<ByteDisplacement>,
    ) {
        let datatype = decode::datatype(datatype)?;
        true_lb.set(ByteDisplacement(datatype.true_lb))?;
        true_extent.set(ByteDisplacement(datatype.true_extent))
    }
}

entry! {
    AccessOnly fn MPI_Type_get_name(datatype: Datatype, type_name: TextOut, resultlen: Out<Int>) {
        let name = match datatype.0 {
            MPI_DATATYPE_NULL => "MPI_DATATYPE_NULL".to_owned(),
            _ => decode::datatype(datatype)?.name(),
        };
        let length = type_name.write(&name, MPI_MAX_OBJECT_NAME as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    AccessOnly fn MPI_Type_set_name(datatype: Datatype, type_name: Text) {
        let datatype = decode::datatype(datatype)?;
        let mut name = decode::text("type_name", type_name)?;
        decode::shorten(&mut name, MPI_MAX_OBJECT_NAME as usize);
        datatype.set_name(&name);
        Ok(())
    }
}

entry! {
    None fn MPI_Type_match_size(typeclass: TypeClass, size: Int, datatype: Out<Datatype>) {
        let found = match (typeclass.0, size.0) {
            (MPI_TYPECLASS_REAL, 2) => MPI_REAL2,
            (MPI_TYPECLASS_REAL, 4) => MPI_REAL4,
            (MPI_TYPECLASS_REAL, 8) => MPI_REAL8,
            (MPI_TYPECLASS_REAL, 16) => MPI_REAL16,
            (MPI_TYPECLASS_INTEGER, 1) => MPI_INTEGER1,
            (MPI_TYPECLASS_INTEGER, 2) => MPI_INTEGER2,
            (MPI_TYPECLASS_INTEGER, 4) => MPI_INTEGER4,
            (MPI_TYPECLASS_INTEGER, 8) => MPI_INTEGER8,
            (MPI_TYPECLASS_INTEGER, 16) => MPI_INTEGER16,
            (MPI_TYPECLASS_COMPLEX, 4) => MPI_COMPLEX4,
            (MPI_TYPECLASS_COMPLEX, 8) => MPI_COMPLEX8,
            (MPI_TYPECLASS_COMPLEX, 16) => MPI_COMPLEX16,
            (MPI_TYPECLASS_COMPLEX, 32) => MPI_COMPLEX32,
            (MPI_TYPECLASS_REAL | MPI_TYPECLASS_INTEGER | MPI_TYPECLASS_COMPLEX, size) => {
                return fail!(Class::Arg, "size is {size}; no type of this class has that size");
            }
            (class, _) => return fail!(Class::Arg, "typeclass is {class}, which is none"),
        };
        datatype.set(Datatype(found))
    }
}

entry! {
    None fn MPI_Type_get_value_index(
        value_type: Datatype, index_type: Datatype, pair_type: Out<Datatype>,
    ) {
        decode::named_datatype("value_type", value_type)?;
        decode::named_datatype("index_type", index_type)?;
        let found = match (value_type.0, index_type.0) {
            (MPI_FLOAT, MPI_INT) => MPI_FLOAT_INT,
            (MPI_DOUBLE, MPI_INT) => MPI_DOUBLE_INT,
            (MPI_LONG, MPI_INT) => MPI_LONG_INT,
            (MPI_SHORT, MPI_INT) => MPI_SHORT_INT,
            (MPI_INT, MPI_INT) => MPI_2INT,
            (MPI_LONG_DOUBLE, MPI_INT) => MPI_LONG_DOUBLE_INT,
            (MPI_REAL, MPI_REAL) => MPI_2REAL,
            (MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) => MPI_2DOUBLE_PRECISION,
            (MPI_INTEGER, MPI_INTEGER) => MPI_2INTEGER,
            _ => MPI_DATATYPE_NULL,
        };
        pair_type.set(Datatype(found))
    }
}

entry! {
    AccessOnly fn MPI_Get_elements[_c](status: In<Status>, datatype: Datatype, count: Out<Count>) {
        let datatype = decode::datatype(datatype)?;
        count.put_or_undefined(status.read()?.0.get_elements(datatype))
    }
}

entry! {
    None fn MPI_Get_address(location: Address, address: Out<Aint>) {
        address.set(Aint(location.0 as i64))
    }
}

entry! {
    None fn MPI_Aint_add(base: Aint, disp: Aint) -> Aint {
        Aint(base.0.wrapping_add(disp.0))
    }
}

entry! {
    None fn MPI_Aint_diff(addr1: Aint, addr2: Aint) -> Aint {
        Aint(addr1.0.wrapping_sub(addr2.0))
    }
}
