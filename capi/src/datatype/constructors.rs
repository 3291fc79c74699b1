//! Datatype constructors.

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::datatype::create::array::{Grid, Order as DimensionOrder, dimensions};
use oxmpi::datatype::create::{Displacements, Lengths};
use oxmpi::datatype::{self as core, Numbers, create};
use oxmpi::error::{Class, Result, memory};
use oxmpi::fail;

type Object = &'static core::Datatype;

/// Gives the new type's handle to the program; there is a pointer for it, as `oldtype` has seen.
#[inline(always)]
pub fn give(newtype: Out<Datatype>, made: Result<Object>) -> Result<()> {
    newtype.set(Datatype(made?.handle))?;
    oxmpi::lifetime::collector::at_creation();
    Ok(())
}

/// The old type, once the new one has a pointer.
#[inline(always)]
pub fn oldtype(newtype: Out<Datatype>, oldtype: Datatype) -> Result<Object> {
    newtype.not_null()?;
    decode::named_datatype("oldtype", oldtype)
}

/// The length of the caller's arrays.
pub fn length(name: &'static str, number: Count) -> Result<usize> {
    decode::count(name, number).map(|number| number as usize)
}

/// MPI_Type_create_struct and its old form.
pub fn structure(
    large: bool,
    lengths: Numbers<'_>,
    displacements: &[i64],
    type_of: impl Fn(usize) -> Result<Datatype>,
) -> Result<Object> {
    let types = (0..lengths.len()).map(|index| {
        let handle = type_of(index)?;
        match core::get(handle.0) {
            Some(object) => Ok(object),
            None => fail!(
                Class::Type,
                "array_of_types[{index}] is {:#010x}, which is no datatype, or one that was freed",
                handle.0
            ),
        }
    });
    let mut all = memory::room(lengths.len(), "types")?;
    for object in types {
        all.push(object?);
    }
    create::structure(large, lengths, displacements, all)
}

/// A duplicate with the attributes that their copy callbacks give it.
fn duplicate(old: Object) -> Result<Object> {
    let new = create::dup(old)?;
    if let Err(error) = old.attributes.copy_to(old.handle, &new.attributes) {
        // What was copied is deleted again; the first error is the one to report.
        let _ = new.attributes.delete_all(new.handle);
        oxmpi::lifetime::datatypes::free(new.handle)?;
        return Err(error);
    }
    Ok(new)
}

entry! {
    Allocate fn MPI_Type_dup(oldtype: Datatype, newtype: Out<Datatype>) {
        let old = self::oldtype(newtype, oldtype)?;
        give(newtype, duplicate(old))
    }
}

entry! {
    AccessOnly fn MPI_Type_commit(datatype: InOut<Datatype>) {
        decode::datatype(datatype.read()?)?.commit();
        Ok(())
    }
}

entry! {
    UpdateRef fn MPI_Type_free(datatype: InOut<Datatype>) {
        let object = decode::datatype(datatype.read()?)?;
        if !object.is_predefined() {
            object.attributes.delete_all(object.handle)?;
        }
        oxmpi::lifetime::datatypes::free(object.handle)?;
        datatype.set(Datatype(core::NULL))
    }
}

entry! {
    Allocate fn MPI_Type_contiguous[_c](count: Count, oldtype: Datatype, newtype: Out<Datatype>) {
        let old = self::oldtype(newtype, oldtype)?;
        give(newtype, create::contiguous(newtype.is_large(), count.0, old))
    }
}

entry! {
    Allocate fn MPI_Type_vector[_c](
        count: Count, blocklength: Count, stride: Count, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let large = newtype.is_large();
        give(newtype, create::vector(large, count.0, blocklength.0, stride.0, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_hvector[_c](
        count: Count, blocklength: Count, stride: ByteDisplacement, oldtype: Datatype,
        newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let large = newtype.is_large();
        give(newtype, create::hvector(large, count.0, blocklength.0, stride.0, old))
    }
}

entry! {
    Allocate fn MPI_Type_indexed[_c](
        count: Count, array_of_blocklengths: Array<Count>,
        array_of_displacements: Array<BlockDisplacement>, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let blocks = length("count", count)?;
        let lengths = array_of_blocklengths.numbers(blocks)?;
        let displacements = array_of_displacements.numbers(blocks)?;
        let displacements = Displacements::Elements(displacements);
        give(newtype, create::indexed(newtype.is_large(), Lengths::Each(lengths), displacements, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_hindexed[_c](
        count: Count, array_of_blocklengths: Array<Count>,
        array_of_displacements: Array<ByteDisplacement>, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let blocks = length("count", count)?;
        let lengths = array_of_blocklengths.numbers(blocks)?;
        let displacements = array_of_displacements.addresses(blocks)?;
        let displacements = Displacements::Bytes(displacements);
        give(newtype, create::indexed(newtype.is_large(), Lengths::Each(lengths), displacements, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_indexed_block[_c](
        count: Count, blocklength: Count, array_of_displacements: Array<BlockDisplacement>,
        oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let displacements = array_of_displacements.numbers(length("count", count)?)?;
        let (length, displacements) = (Lengths::All(blocklength.0), Displacements::Elements(displacements));
        give(newtype, create::indexed(newtype.is_large(), length, displacements, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_hindexed_block[_c](
        count: Count, blocklength: Count, array_of_displacements: Array<ByteDisplacement>,
        oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let displacements = array_of_displacements.addresses(length("count", count)?)?;
        let (length, displacements) = (Lengths::All(blocklength.0), Displacements::Bytes(displacements));
        give(newtype, create::indexed(newtype.is_large(), length, displacements, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_struct[_c](
        count: Count, array_of_blocklengths: Array<Count>,
        array_of_displacements: Array<ByteDisplacement>, array_of_types: Array<Datatype>,
        newtype: Out<Datatype>,
    ) {
        newtype.not_null()?;
        let blocks = length("count", count)?;
        let lengths = array_of_blocklengths.numbers(blocks)?;
        let displacements = array_of_displacements.addresses(blocks)?;
        let type_of = |index| array_of_types.get(index);
        give(newtype, structure(newtype.is_large(), lengths, displacements, type_of))
    }
}

entry! {
    Allocate fn MPI_Type_create_resized[_c](
        oldtype: Datatype, lb: ByteDisplacement, extent: ByteDisplacement, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        give(newtype, create::resized(newtype.is_large(), lb.0, extent.0, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_subarray[_c](
        ndims: Int, array_of_sizes: Array<Count>, array_of_subsizes: Array<Count>,
        array_of_starts: Array<Count>, order: Order, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let number = dimensions(ndims.0)?;
        let order = DimensionOrder::of(order.0)?;
        let sizes = array_of_sizes.numbers(number)?;
        let subsizes = array_of_subsizes.numbers(number)?;
        let starts = array_of_starts.numbers(number)?;
        let large = newtype.is_large();
        give(newtype, create::array::subarray(large, sizes, subsizes, starts, order, old))
    }
}

entry! {
    Allocate fn MPI_Type_create_darray[_c](
        size: Int, rank: Int, ndims: Int, array_of_gsizes: Array<Count>,
        array_of_distribs: Array<Distribution>, array_of_dargs: Array<DistributionArgument>,
        array_of_psizes: Array<Int>, order: Order, oldtype: Datatype, newtype: Out<Datatype>,
    ) {
        let old = self::oldtype(newtype, oldtype)?;
        let number = dimensions(ndims.0)?;
        let grid = Grid {
            size: size.0,
            rank: rank.0,
            sizes: array_of_gsizes.numbers(number)?,
            distributions: &array_of_distribs.integers(number)?,
            arguments: &array_of_dargs.integers(number)?,
            processes: array_of_psizes.integers(number)?,
            order: DimensionOrder::of(order.0)?,
        };
        give(newtype, create::array::darray(newtype.is_large(), &grid, old))
    }
}

entry! {
    UpdateRef fn MPI_Type_create_f90_complex(p: Int, r: Int, newtype: Out<Datatype>) {
        newtype.not_null()?;
        give(newtype, create::fortran::complex(p.0, r.0))
    }
}

entry! {
    UpdateRef fn MPI_Type_create_f90_integer(r: Int, newtype: Out<Datatype>) {
        newtype.not_null()?;
        give(newtype, create::fortran::integer(r.0))
    }
}

entry! {
    UpdateRef fn MPI_Type_create_f90_real(p: Int, r: Int, newtype: Out<Datatype>) {
        newtype.not_null()?;
        give(newtype, create::fortran::real(p.0, r.0))
    }
}
