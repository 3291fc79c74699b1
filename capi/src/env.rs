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
    /// Seconds since some moment in the past, the same for all processes of a node.
    fn MPI_Wtime() -> Double {
        Double(oxmpi::os::monotonic_nanoseconds() as f64 * 1e-9)
    }
}

entry! {
    fn MPI_Wtick() -> Double {
        Double(oxmpi::os::clock_resolution())
    }
}
