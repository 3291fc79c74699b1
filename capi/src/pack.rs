//! Packing and unpacking: the packed form is the elements one after the other, without holes.

use crate::decode::{self, Names};
use crate::param::*;
use crate::place::*;
use oxmpi::error::{Class, Result};
use oxmpi::fail;

const PACK: Names = Names {
    buffer: "inbuf",
    count: "incount",
    ..decode::BUF
};
const UNPACK: Names = Names {
    buffer: "outbuf",
    count: "outcount",
    ..decode::BUF
};

/// Where the next `length` bytes of a packed buffer are.
fn window(
    base: *mut u8,
    size: Count,
    position: InOut<BlockDisplacement>,
    length: usize,
    name: &str,
) -> Result<*mut u8> {
    let at = position.read()?.0;
    let fits = at >= 0 && size.0 - at >= length as i64;
    if !fits {
        return fail!(
            Class::Arg,
            "position is {at} and {name} is {}, but {length} bytes more are needed",
            size.0
        );
    }
    if length == 0 {
        return Ok(std::ptr::NonNull::dangling().as_ptr());
    }
    if base.is_null() {
        return fail!(Class::Buffer, "the packed buffer is NULL");
    }
    Ok(base.wrapping_add(at as usize))
}

fn advance(position: InOut<BlockDisplacement>, length: usize) -> Result<()> {
    position.set(BlockDisplacement(position.read()?.0 + length as i64))
}

entry! {
    fn MPI_Pack[_c](
        inbuf: SendBuffer, incount: Count, datatype: Datatype, outbuf: RecvBuffer, outsize: Count,
        position: InOut<BlockDisplacement>, comm: Comm,
    ) on comm {
        decode::comm(comm)?;
        let from = decode::send_buffer(PACK, inbuf, incount, datatype)?;
        let to = window(outbuf.0.cast(), outsize, position, from.len(), "outsize")?;
        // SAFETY: `window` saw that so many bytes are left in the caller's buffer.
        from.read(0, unsafe { std::slice::from_raw_parts_mut(to, from.len()) });
        advance(position, from.len())
    }
}

entry! {
    fn MPI_Unpack[_c](
        inbuf: SendBuffer, insize: Count, position: InOut<BlockDisplacement>, outbuf: RecvBuffer,
        outcount: Count, datatype: Datatype, comm: Comm,
    ) on comm {
        decode::comm(comm)?;
        let to = decode::recv_buffer(UNPACK, outbuf, outcount, datatype)?;
        let from = window(inbuf.0.cast_mut().cast(), insize, position, to.len(), "insize")?;
        // SAFETY: `window` saw that so many bytes are left in the caller's buffer.
        to.write(0, unsafe { std::slice::from_raw_parts(from, to.len()) });
        advance(position, to.len())
    }
}

entry! {
    fn MPI_Pack_size[_c](incount: Count, datatype: Datatype, comm: Comm, size: Out<Count>) on comm {
        decode::comm(comm)?;
        let elements = decode::count("incount", incount)?;
        let bytes = elements.checked_mul(decode::datatype(datatype)?.size);
        match bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
            Some(bytes) => size.set(Count(bytes)),
            None => fail!(Class::Count, "incount is {elements}, too many to be packed"),
        }
    }
}

stub! {
    fn MPI_Pack_external[_c](
        datarep: Text, inbuf: SendBuffer, incount: Count, datatype: Datatype, outbuf: RecvBuffer,
        outsize: ByteDisplacement, position: InOut<ByteDisplacement>,
    );

    fn MPI_Pack_external_size[_c](
        datarep: Text, incount: Count, datatype: Datatype, size: Out<ByteDisplacement>,
    );

    fn MPI_Unpack_external[_c](
        datarep: Text, inbuf: SendBuffer, insize: ByteDisplacement,
        position: InOut<ByteDisplacement>, outbuf: RecvBuffer, outcount: Count, datatype: Datatype,
    );
}
