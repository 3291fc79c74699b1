//! Packing and unpacking.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Pack[_c](
        inbuf: SendBuffer, incount: Count, datatype: Datatype, outbuf: RecvBuffer, outsize: Count,
        position: InOut<BlockDisplacement>, comm: Comm,
    ) on comm;

    fn MPI_Pack_external[_c](
        datarep: Text, inbuf: SendBuffer, incount: Count, datatype: Datatype, outbuf: RecvBuffer,
        outsize: ByteDisplacement, position: InOut<ByteDisplacement>,
    );

    fn MPI_Pack_external_size[_c](
        datarep: Text, incount: Count, datatype: Datatype, size: Out<ByteDisplacement>,
    );

    fn MPI_Pack_size[_c](incount: Count, datatype: Datatype, comm: Comm, size: Out<Count>) on comm;

    fn MPI_Unpack[_c](
        inbuf: SendBuffer, insize: Count, position: InOut<BlockDisplacement>, outbuf: RecvBuffer,
        outcount: Count, datatype: Datatype, comm: Comm,
    ) on comm;

    fn MPI_Unpack_external[_c](
        datarep: Text, inbuf: SendBuffer, insize: ByteDisplacement,
        position: InOut<ByteDisplacement>, outbuf: RecvBuffer, outcount: Count, datatype: Datatype,
    );
}
