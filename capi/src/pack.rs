//! Packing and unpacking: the packed form is the elements one after the other, without holes.

use crate::decode::{self, Names};
use crate::param::*;
use crate::pointers::*;
use oxmpi::datatype::{Signature, external};
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

/// Where the next `length` bytes of a packed buffer of `size` bytes are.
fn window(
    base: (&str, *mut u8),
    size: (&str, i64),
    position: i64,
    length: usize,
) -> Result<*mut u8> {
    let left = size.1.checked_sub(position).filter(|_| position >= 0);
    if !left.is_some_and(|left| left >= 0 && left as u64 >= length as u64) {
        return fail!(
            Class::Arg,
            "position is {position} and {} is {}, but {length} bytes more are needed",
            size.0,
            size.1
        );
    }
    if length == 0 {
        return Ok(std::ptr::NonNull::dangling().as_ptr());
    }
    if base.1.is_null() {
        return fail!(Class::Buffer, "{} is NULL", base.0);
    }
    Ok(base.1.wrapping_add(position as usize))
}

entry! {
    AccessOnly fn MPI_Pack[_c](
        inbuf: SendBuffer, incount: Count, datatype: Datatype, outbuf: RecvBuffer, outsize: Count,
        position: InOut<BlockDisplacement>, comm: Comm,
    ) on comm {
        decode::any_comm(comm)?;
        let from = decode::send_buffer(PACK, inbuf, incount, datatype)?;
        let at = position.read()?.0;
        let to = window(("outbuf", outbuf.0.cast()), ("outsize", outsize.0), at, from.len())?;
        // SAFETY: `window` saw that so many bytes are left in the caller's buffer.
        from.pack(unsafe { std::slice::from_raw_parts_mut(to, from.len()) });
        position.set(BlockDisplacement(at + from.len() as i64))
    }
}

entry! {
    AccessOnly fn MPI_Unpack[_c](
        inbuf: SendBuffer, insize: Count, position: InOut<BlockDisplacement>, outbuf: RecvBuffer,
        outcount: Count, datatype: Datatype, comm: Comm,
    ) on comm {
        decode::any_comm(comm)?;
        let to = decode::recv_buffer(UNPACK, outbuf, outcount, datatype)?;
        let at = position.read()?.0;
        let inbuf = ("inbuf", inbuf.0.cast_mut().cast());
        let from = window(inbuf, ("insize", insize.0), at, to.len())?;
        // SAFETY: `window` saw that so many bytes are left in the caller's buffer.
        to.unpack(unsafe { std::slice::from_raw_parts(from, to.len()) });
        position.set(BlockDisplacement(at + to.len() as i64))
    }
}

entry! {
    AccessOnly fn MPI_Pack_size[_c](incount: Count, datatype: Datatype, comm: Comm, size: Out<Count>) on comm {
        decode::any_comm(comm)?;
        let elements = decode::count("incount", incount)?;
        let bytes = elements.checked_mul(decode::datatype(datatype)?.size);
        size.put_or_undefined(bytes)
    }
}

/// Fails unless the representation is the only one that these functions know.
fn external32(datarep: Text) -> Result<()> {
    match decode::text("datarep", datarep)?.as_str() {
        "external32" => Ok(()),
        other => fail!(
            Class::Arg,
            "datarep is \"{other}\"; allowed is \"external32\""
        ),
    }
}

/// The basic types of so many elements.
fn signature(name: &'static str, number: Count, kind: Datatype) -> Result<Signature> {
    let number = decode::count(name, number)?;
    let kind = decode::datatype(kind)?;
    if kind
        .size
        .checked_mul(number)
        .is_none_or(|bytes| bytes > i64::MAX as u64)
    {
        return fail!(
            Class::Count,
            "{name} is {number}, too many elements to be packed"
        );
    }
    Ok(kind.layout().signature.repeated(number))
}

entry! {
    AccessOnly fn MPI_Pack_external[_c](
        datarep: Text, inbuf: SendBuffer, incount: Count, datatype: Datatype, outbuf: RecvBuffer,
        outsize: ByteDisplacement, position: InOut<ByteDisplacement>,
    ) {
        external32(datarep)?;
        let from = decode::send_buffer(PACK, inbuf, incount, datatype)?;
        let signature = signature("incount", incount, datatype)?;
        let (at, length) = (position.read()?.0, signature.external_size as usize);
        let to = window(("outbuf", outbuf.0.cast()), ("outsize", outsize.0), at, length)?;
        // SAFETY: `window` saw that so many bytes are left in the caller's buffer.
        let to = unsafe { std::slice::from_raw_parts_mut(to, length) };
        external::pack(&external::Part::whole(&from, &signature), to);
        position.set(ByteDisplacement(at + length as i64))
    }
}

entry! {
    AccessOnly fn MPI_Unpack_external[_c](
        datarep: Text, inbuf: SendBuffer, insize: ByteDisplacement,
        position: InOut<ByteDisplacement>, outbuf: RecvBuffer, outcount: Count, datatype: Datatype,
    ) {
        external32(datarep)?;
        let to = decode::recv_buffer(UNPACK, outbuf, outcount, datatype)?;
        let signature = signature("outcount", outcount, datatype)?;
        let (at, length) = (position.read()?.0, signature.external_size as usize);
        let inbuf = ("inbuf", inbuf.0.cast_mut().cast());
        let from = window(inbuf, ("insize", insize.0), at, length)?;
        // SAFETY: `window` saw that so many bytes are left in the caller's buffer.
        let from = unsafe { std::slice::from_raw_parts(from, length) };
        external::unpack(from, &external::Part::whole(&to, &signature));
        position.set(ByteDisplacement(at + length as i64))
    }
}

entry! {
    AccessOnly fn MPI_Pack_external_size[_c](
        datarep: Text, incount: Count, datatype: Datatype, size: Out<ByteDisplacement>,
    ) {
        external32(datarep)?;
        let signature = signature("incount", incount, datatype)?;
        size.set(ByteDisplacement(signature.external_size as i64))
    }
}
