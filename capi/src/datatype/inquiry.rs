//! Size, extent, name, envelope and contents of a datatype.

use crate::constants::*;
use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::error::{Class, Result};
use oxmpi::fail;

entry! {
    fn MPI_Type_size[_c](datatype: Datatype, size: Out<Count>) {
        size.put_or_undefined(Some(decode::datatype(datatype)?.size))
    }
}

entry! {
    fn MPI_Type_get_extent[_c](
        datatype: Datatype, lb: Out<ByteDisplacement>, extent: Out<ByteDisplacement>,
    ) {
        let datatype = decode::datatype(datatype)?;
        lb.set(ByteDisplacement(datatype.lb))?;
        extent.set(ByteDisplacement(datatype.extent))
    }
}

entry! {
    fn MPI_Type_get_true_extent[_c](
        datatype: Datatype, true_lb: Out<ByteDisplacement>, true_extent: Out<ByteDisplacement>,
    ) {
        let datatype = decode::datatype(datatype)?;
        true_lb.set(ByteDisplacement(datatype.true_lb))?;
        true_extent.set(ByteDisplacement(datatype.true_extent))
    }
}

entry! {
    fn MPI_Type_get_name(datatype: Datatype, type_name: TextOut, resultlen: Out<Int>) {
        let name = match datatype.0 {
            MPI_DATATYPE_NULL => "MPI_DATATYPE_NULL".to_owned(),
            _ => decode::datatype(datatype)?.name(),
        };
        let length = type_name.write(&name, MPI_MAX_OBJECT_NAME as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    fn MPI_Type_set_name(datatype: Datatype, type_name: Text) {
        let datatype = decode::datatype(datatype)?;
        let mut name = decode::text("type_name", type_name)?;
        decode::shorten(&mut name, MPI_MAX_OBJECT_NAME as usize);
        datatype.set_name(&name);
        Ok(())
    }
}

/// How many datatypes a type is made of, and how. There are only predefined types and their
/// duplicates yet, so nothing is made of numbers or addresses.
fn envelope(datatype: Datatype) -> Result<(bool, Combiner)> {
    let made_from = decode::datatype(datatype)?.duplicate_of;
    Ok(match made_from {
        Some(_) => (true, Combiner(MPI_COMBINER_DUP)),
        None => (false, Combiner(MPI_COMBINER_NAMED)),
    })
}

entry! {
    fn MPI_Type_get_envelope(
        datatype: Datatype, num_integers: Out<Int>, num_addresses: Out<Int>,
        num_datatypes: Out<Int>, combiner: Out<Combiner>,
    ) {
        let (one_datatype, how) = envelope(datatype)?;
        num_integers.set(Int(0))?;
        num_addresses.set(Int(0))?;
        num_datatypes.set(Int(one_datatype.into()))?;
        combiner.set(how)
    }
}

entry! {
    fn MPI_Type_get_envelope_c(
        datatype: Datatype, num_integers: Out<LargeCount>, num_addresses: Out<LargeCount>,
        num_large_counts: Out<LargeCount>, num_datatypes: Out<LargeCount>, combiner: Out<Combiner>,
    ) {
        let (one_datatype, how) = envelope(datatype)?;
        for place in [num_integers, num_addresses, num_large_counts] {
            place.set(LargeCount(0))?;
        }
        num_datatypes.set(LargeCount(one_datatype.into()))?;
        combiner.set(how)
    }
}

/// Writes the datatype that a duplicate was made from: a predefined one as it is, else a new handle.
fn contents(datatype: Datatype, room: i64, place: OutArray<Datatype>) -> Result<()> {
    let object = decode::datatype(datatype)?;
    let Some(old) = object.duplicate_of else {
        return fail!(
            Class::Type,
            "datatype is {}, which is made of nothing",
            object.name()
        );
    };
    if room < 1 {
        return fail!(
            Class::Arg,
            "max_datatypes is {room}; the datatype is made of 1"
        );
    }
    let handle = match old.is_predefined() {
        true => old.handle,
        false => oxmpi::datatype::duplicate(old)?.handle,
    };
    place.put(0, Datatype(handle))
}

entry! {
    fn MPI_Type_get_contents(
        datatype: Datatype, max_integers: Int, max_addresses: Int, max_datatypes: Int,
        array_of_integers: OutArray<Int>, array_of_addresses: OutArray<Aint>,
        array_of_datatypes: OutArray<Datatype>,
    ) {
        let _ = (max_integers, max_addresses, array_of_integers, array_of_addresses);
        contents(datatype, max_datatypes.0.into(), array_of_datatypes)
    }
}

entry! {
    fn MPI_Type_get_contents_c(
        datatype: Datatype, max_integers: LargeCount, max_addresses: LargeCount,
        max_large_counts: LargeCount, max_datatypes: LargeCount, array_of_integers: OutArray<Int>,
        array_of_addresses: OutArray<Aint>, array_of_large_counts: OutArray<LargeCount>,
        array_of_datatypes: OutArray<Datatype>,
    ) {
        let _ = (max_integers, max_addresses, max_large_counts);
        let _ = (array_of_integers, array_of_addresses, array_of_large_counts);
        contents(datatype, max_datatypes.0, array_of_datatypes)
    }
}

entry! {
    fn MPI_Type_match_size(typeclass: TypeClass, size: Int, datatype: Out<Datatype>) {
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
    fn MPI_Type_get_value_index(
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
    fn MPI_Get_elements[_c](status: In<Status>, datatype: Datatype, count: Out<Count>) {
        let datatype = decode::datatype(datatype)?;
        count.put_or_undefined(status.read()?.0.get_elements(datatype))
    }
}

entry! {
    fn MPI_Get_address(location: Address, address: Out<Aint>) {
        address.set(Aint(location.0 as i64))
    }
}

stub! {
    fn MPI_Type_create_f90_complex(p: Int, r: Int, newtype: Out<Datatype>);

    fn MPI_Type_create_f90_integer(r: Int, newtype: Out<Datatype>);

    fn MPI_Type_create_f90_real(p: Int, r: Int, newtype: Out<Datatype>);
}

entry! {
    fn MPI_Aint_add(base: Aint, disp: Aint) -> Aint {
        Aint(base.0.wrapping_add(disp.0))
    }
}

entry! {
    fn MPI_Aint_diff(addr1: Aint, addr2: Aint) -> Aint {
        Aint(addr1.0.wrapping_sub(addr2.0))
    }
}
