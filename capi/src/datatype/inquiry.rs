//! Size, extent, name, envelope and contents of a datatype.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Type_get_contents(
        datatype: Datatype, max_integers: Int, max_addresses: Int, max_datatypes: Int,
        array_of_integers: OutArray<Int>, array_of_addresses: OutArray<Aint>,
        array_of_datatypes: OutArray<Datatype>,
    );

    fn MPI_Type_get_contents_c(
        datatype: Datatype, max_integers: LargeCount, max_addresses: LargeCount,
        max_large_counts: LargeCount, max_datatypes: LargeCount, array_of_integers: OutArray<Int>,
        array_of_addresses: OutArray<Aint>, array_of_large_counts: OutArray<LargeCount>,
        array_of_datatypes: OutArray<Datatype>,
    );

    fn MPI_Type_get_envelope(
        datatype: Datatype, num_integers: Out<Int>, num_addresses: Out<Int>,
        num_datatypes: Out<Int>, combiner: Out<Combiner>,
    );

    fn MPI_Type_get_envelope_c(
        datatype: Datatype, num_integers: Out<LargeCount>, num_addresses: Out<LargeCount>,
        num_large_counts: Out<LargeCount>, num_datatypes: Out<LargeCount>, combiner: Out<Combiner>,
    );

    fn MPI_Type_get_extent[_c](
        datatype: Datatype, lb: Out<ByteDisplacement>, extent: Out<ByteDisplacement>,
    );

    fn MPI_Type_get_name(datatype: Datatype, type_name: TextOut, resultlen: Out<Int>);

    fn MPI_Type_get_true_extent[_c](
        datatype: Datatype, true_lb: Out<ByteDisplacement>, true_extent: Out<ByteDisplacement>,
    );

    fn MPI_Type_get_value_index(
        value_type: Datatype, index_type: Datatype, pair_type: Out<Datatype>,
    );

    fn MPI_Type_match_size(typeclass: TypeClass, size: Int, datatype: Out<Datatype>);

    fn MPI_Type_set_name(datatype: Datatype, type_name: Text);

    fn MPI_Type_size[_c](datatype: Datatype, size: Out<Count>);

    fn MPI_Type_create_f90_complex(p: Int, r: Int, newtype: Out<Datatype>);

    fn MPI_Type_create_f90_integer(r: Int, newtype: Out<Datatype>);

    fn MPI_Type_create_f90_real(p: Int, r: Int, newtype: Out<Datatype>);

    fn MPI_Get_elements[_c](status: In<Status>, datatype: Datatype, count: Out<Count>);

    fn MPI_Get_address(location: Address, address: Out<Aint>);
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
