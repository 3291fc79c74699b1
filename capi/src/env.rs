//! Inquiry of the environment: versions, names, memory, time, chapter 9.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Alloc_mem(size: Aint, info: Info, baseptr: AddressOut);

    fn MPI_Free_mem(base: Memory);

    fn MPI_Get_library_version(version: TextOut, resultlen: Out<Int>);

    fn MPI_Get_processor_name(name: TextOut, resultlen: Out<Int>);

    fn MPI_Get_version(version: Out<Int>, subversion: Out<Int>);

    fn MPI_Pcontrol(level: Int);
}

entry! {
    fn MPI_Wtime() -> Double {
        Double(0.0)
    }
}

entry! {
    fn MPI_Wtick() -> Double {
        Double(0.0)
    }
}
