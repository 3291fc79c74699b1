//! Datatype constructors.

use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::datatype as core;
use oxmpi::error::Result;

/// A duplicate with the attributes that their copy callbacks give it.
fn duplicate(old: &'static core::Datatype) -> Result<&'static core::Datatype> {
    let new = core::duplicate(old)?;
    if let Err(error) = old.attributes.copy_to(old.handle, &new.attributes) {
        // What was copied is deleted again; the first error is the one to report.
        let _ = new.attributes.delete_all(new.handle);
        core::free(new)?;
        return Err(error);
    }
    Ok(new)
}

entry! {
    fn MPI_Type_dup(oldtype: Datatype, newtype: Out<Datatype>) {
        newtype.not_null()?;
        let old = decode::named_datatype("oldtype", oldtype)?;
        newtype.set(Datatype(duplicate(old)?.handle))
    }
}

entry! {
    /// Predefined types and duplicates of committed types are committed.
    fn MPI_Type_commit(datatype: InOut<Datatype>) {
        decode::datatype(datatype.read()?).map(drop)
    }
}

entry! {
    fn MPI_Type_free(datatype: InOut<Datatype>) {
        let object = decode::datatype(datatype.read()?)?;
        if !object.is_predefined() {
            object.attributes.delete_all(object.handle)?;
        }
        core::free(object)?;
        datatype.set(Datatype(core::NULL))
    }
}

stub! {
    fn MPI_Type_contiguous[_c](count: Count, oldtype: Datatype, newtype: Out<Datatype>);

    fn MPI_Type_create_darray[_c](
        size: Int, rank: Rank, ndims: Int, array_of_gsizes: Array<Count>,
        array_of_distribs: Array<Distribution>, array_of_dargs: Array<Int>,
        array_of_psizes: Array<Int>, order: Order, oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_create_hindexed[_c](
        count: Count, array_of_blocklengths: Array<Count>,
        array_of_displacements: Array<ByteDisplacement>, oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_create_hindexed_block[_c](
        count: Count, blocklength: Count, array_of_displacements: Array<ByteDisplacement>,
        oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_create_hvector[_c](
        count: Count, blocklength: Count, stride: ByteDisplacement, oldtype: Datatype,
        newtype: Out<Datatype>,
    );

    fn MPI_Type_create_indexed_block[_c](
        count: Count, blocklength: Count, array_of_displacements: Array<BlockDisplacement>,
        oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_create_resized[_c](
        oldtype: Datatype, lb: ByteDisplacement, extent: ByteDisplacement, newtype: Out<Datatype>,
    );

    fn MPI_Type_create_struct[_c](
        count: Count, array_of_blocklengths: Array<Count>,
        array_of_displacements: Array<ByteDisplacement>, array_of_types: Array<Datatype>,
        newtype: Out<Datatype>,
    );

    fn MPI_Type_create_subarray[_c](
        ndims: Int, array_of_sizes: Array<Count>, array_of_subsizes: Array<Count>,
        array_of_starts: Array<Count>, order: Order, oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_indexed[_c](
        count: Count, array_of_blocklengths: Array<Count>,
        array_of_displacements: Array<BlockDisplacement>, oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_vector[_c](
        count: Count, blocklength: Count, stride: Count, oldtype: Datatype, newtype: Out<Datatype>,
    );
}
