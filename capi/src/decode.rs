//! Decoders: from the arguments of C to what the core takes, checked the same way everywhere, in
//! release builds too. The text of an error names the argument, its value and what was allowed.
//!
//! Invariant: the core gets only ranks, tags, counts and objects that exist.

use crate::addresses::IN_PLACE;
use crate::constants::of_program::MPI_MAX_STRINGTAG_LEN;
use crate::describe::spelled;
use crate::param::*;
use crate::pointers::{In, InOut, Out};
use crate::types::Strings;
use oxmpi::coll;
use oxmpi::comm::{self, Comm as CommObject};
use oxmpi::datatype::{self, Buffer, Datatype as DatatypeObject};
use oxmpi::error::{Class, Result};
use oxmpi::events::{self, Safety};
use oxmpi::io;
use oxmpi::process;
use oxmpi::pt2pt::{ANY_SOURCE, ANY_TAG, PROC_NULL, TAG_UB, signatures};
use oxmpi::rma::{self, Window};
use oxmpi::{datatype::Status as StatusWords, fail};
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Addresses above this one, as a signed number, are of memory: not NULL and none of [`crate::addresses`].
#[cfg(not(standard_abi))]
pub const NO_MEMORY: isize = 0;
#[cfg(standard_abi)]
pub const NO_MEMORY: isize = crate::addresses::BUFFER_AUTOMATIC as isize;

/// Fails unless MPI is running. Entries with `on` an object ask by themselves.
#[inline(always)]
pub fn running() -> Result<()> {
    if process::is_running_and_quiet() {
        return Ok(());
    }
    not_quiet()
}

/// Nothing of the call has been done yet: the place to tell of events.
#[cold]
#[inline(never)]
fn not_quiet() -> Result<()> {
    if !process::is_running() {
        return fail!(Class::Other, "{}", process::why_not_running());
    }
    if events::wait_to_be_delivered() {
        events::deliver(Safety::None);
    }
    Ok(())
}

#[inline(always)]
pub fn comm(handle: Comm) -> Result<&'static CommObject> {
    named_comm("comm", handle)
}

#[inline(always)]
pub fn named_comm(name: &'static str, handle: Comm) -> Result<&'static CommObject> {
    match comm::get(handle.0) {
        Some(comm) => Ok(comm),
        None => no_comm(name, handle),
    }
}

/// As [`comm`], also if it was revoked: for calls that are local, or that are for such a one.
#[inline(always)]
pub fn any_comm(handle: Comm) -> Result<&'static CommObject> {
    named_any_comm("comm", handle)
}

/// As [`named_comm`], also if it was revoked.
#[inline(always)]
pub fn named_any_comm(name: &'static str, handle: Comm) -> Result<&'static CommObject> {
    match comm::get(handle.0) {
        Some(comm) => Ok(comm),
        None => revoked_comm(name, handle),
    }
}

#[cold]
fn revoked_comm(name: &'static str, handle: Comm) -> Result<&'static CommObject> {
    match comm::find(handle.0) {
        Some(comm) => Ok(comm),
        None => no_comm(name, handle),
    }
}

#[inline(always)]
pub fn win(handle: Win) -> Result<&'static Window> {
    match rma::get(handle.0) {
        Some(window) => Ok(window),
        None => no_window(handle),
    }
}

impl File {
    /// The argument that stands for a file's handle: never an address of anything.
    pub fn of_handle(handle: c_int) -> File {
        File(handle as u32 as usize as *mut _)
    }

    /// The integer of MPI_File_toint.
    pub fn to_int(self) -> HandleInt {
        HandleInt(match cfg!(standard_abi) {
            true => self.to_c() as usize as c_int,
            false => io::handle_of(self.0 as usize),
        })
    }

    pub fn of_int(number: HandleInt) -> File {
        match cfg!(standard_abi) {
            true => File::of_c(number.0 as u32 as usize as *mut _),
            false => File::of_handle(number.0),
        }
    }

    /// The file, if it is open.
    pub fn find(self) -> Option<&'static io::File> {
        io::get(io::handle_of(self.0 as usize))
    }
}

#[inline(always)]
pub fn file(handle: File) -> Result<&'static io::File> {
    named_file("fh", handle)
}

#[inline(always)]
pub fn named_file(name: &'static str, handle: File) -> Result<&'static io::File> {
    match handle.find() {
        Some(file) => Ok(file),
        None => no_file(name, handle),
    }
}

#[cold]
fn no_file<T>(name: &'static str, handle: File) -> Result<T> {
    if handle.0.is_null() {
        fail!(Class::File, "{name} is MPI_FILE_NULL; a file is needed")
    } else {
        fail!(
            Class::File,
            "{name} is {:p}, which is no open file, or one that was closed",
            handle.to_c()
        )
    }
}

#[cold]
fn no_window<T>(handle: Win) -> Result<T> {
    if handle.0 == rma::NULL {
        fail!(Class::Win, "win is MPI_WIN_NULL; a window is needed")
    } else {
        fail!(
            Class::Win,
            "win is {}, which is no window, or one that was freed",
            spelled(handle.0)
        )
    }
}

#[cold]
fn no_comm<T>(name: &'static str, handle: Comm) -> Result<T> {
    if handle.0 == comm::NULL {
        fail!(
            Class::Comm,
            "{name} is MPI_COMM_NULL; a communicator is needed"
        )
    } else if let Some(comm) = comm::find(handle.0) {
        fail!(
            Class::Revoked,
            "{name} is {}, which was revoked",
            comm.title()
        )
    } else {
        fail!(
            Class::Comm,
            "{name} is {}, which is no communicator, or one that was freed",
            spelled(handle.0)
        )
    }
}

/// A communicator that must not be an intercommunicator.
#[inline(always)]
pub fn intracomm(name: &'static str, handle: Comm) -> Result<&'static CommObject> {
    let comm = named_comm(name, handle)?;
    if comm.is_inter() {
        return no_intracomm(name, comm);
    }
    Ok(comm)
}

#[cold]
fn no_intracomm<T>(name: &'static str, comm: &CommObject) -> Result<T> {
    fail!(
        Class::Comm,
        "{name} is {}, an intercommunicator; an intracommunicator is needed",
        comm.title()
    )
}

/// A rank that is not negative and below `size`.
pub fn rank_below(name: &'static str, rank: Rank, size: c_int) -> Result<c_int> {
    if (rank.0 as u32) < size as u32 {
        return Ok(rank.0);
    }
    fail!(
        Class::Rank,
        "{name} is {}; allowed is 0 to {}",
        rank.to_c(),
        size - 1
    )
}

/// The text that tells creations without a communicator apart.
pub fn stringtag(tag: Text) -> Result<String> {
    const MOST: usize = MPI_MAX_STRINGTAG_LEN as usize;
    let tag = text("stringtag", tag)?;
    if tag.len() >= MOST {
        return fail!(
            Class::Arg,
            "stringtag has {} bytes; allowed are {}",
            tag.len(),
            MOST - 1
        );
    }
    Ok(tag)
}

/// The names of a buffer's three arguments.
#[derive(Clone, Copy)]
pub struct Names {
    pub buffer: &'static str,
    pub count: &'static str,
    pub datatype: &'static str,
    /// Whether MPI_DATATYPE_NULL is accepted with count 0. MPICH does so in the calls that give such names, and
    /// programs rely on it.
    pub null_type: bool,
}

impl Names {
    pub const fn or_null_type(self) -> Names {
        Names {
            null_type: true,
            ..self
        }
    }
}

pub const BUF: Names = Names {
    buffer: "buf",
    count: "count",
    datatype: "datatype",
    null_type: false,
};
pub const BUFFER: Names = Names {
    buffer: "buffer",
    ..BUF
};
pub const SEND: Names = Names {
    buffer: "sendbuf",
    count: "sendcount",
    datatype: "sendtype",
    null_type: false,
};
pub const RECV: Names = Names {
    buffer: "recvbuf",
    count: "recvcount",
    datatype: "recvtype",
    null_type: false,
};
/// Of a message.
pub const MESSAGE: Names = BUF.or_null_type();
/// Of a reduction.
pub const FROM: Names = Names {
    buffer: "sendbuf",
    ..BUF
};
pub const TO: Names = Names {
    buffer: "recvbuf",
    ..BUF
};

#[inline(always)]
pub fn datatype(handle: Datatype) -> Result<&'static DatatypeObject> {
    named_datatype("datatype", handle)
}

#[inline(always)]
pub fn named_datatype(name: &'static str, handle: Datatype) -> Result<&'static DatatypeObject> {
    match datatype::get(handle.0) {
        Some(datatype) => Ok(datatype),
        None => no_datatype(name, handle),
    }
}

#[cold]
fn no_datatype<T>(name: &'static str, handle: Datatype) -> Result<T> {
    if handle.0 == datatype::NULL {
        fail!(
            Class::Type,
            "{name} is MPI_DATATYPE_NULL; a datatype is needed"
        )
    } else {
        fail!(
            Class::Type,
            "{name} is {}, which is no datatype, or one that was freed",
            spelled(handle.0)
        )
    }
}

/// A datatype that data can be sent and received with.
#[inline(always)]
pub fn committed_datatype(name: &'static str, handle: Datatype) -> Result<&'static DatatypeObject> {
    let datatype = named_datatype(name, handle)?;
    if datatype.is_committed() {
        return Ok(datatype);
    }
    not_committed(name, datatype)
}

/// The datatype of `number` elements of a buffer: MPI_BYTE where there are none and MPI_DATATYPE_NULL is accepted.
pub fn datatype_of(names: Names, handle: Datatype, number: u64) -> Result<&'static DatatypeObject> {
    match datatype::get(handle.0) {
        Some(datatype) if datatype.is_committed() => Ok(datatype),
        Some(datatype) => not_committed(names.datatype, datatype),
        None if names.null_type => null_type(names.datatype, handle, number),
        None => no_datatype(names.datatype, handle),
    }
}

#[cold]
fn null_type(name: &'static str, handle: Datatype, number: u64) -> Result<&'static DatatypeObject> {
    match datatype::get(datatype::BYTE) {
        Some(bytes) if handle.0 == datatype::NULL && number == 0 => Ok(bytes),
        _ => no_datatype(name, handle),
    }
}

#[cold]
fn not_committed<T>(name: &'static str, datatype: &DatatypeObject) -> Result<T> {
    fail!(
        Class::Type,
        "{name} is {}, which was not committed (MPI_Type_commit)",
        datatype.title()
    )
}

#[inline(always)]
pub fn count(name: &'static str, count: Count) -> Result<u64> {
    if count.0 >= 0 {
        return Ok(count.0 as u64);
    }
    fail!(
        Class::Count,
        "{name} is {}; it must not be negative",
        count.0
    )
}

/// The length of an array of the caller's.
#[inline(always)]
pub fn length(name: &'static str, length: Int) -> Result<usize> {
    if length.0 >= 0 {
        return Ok(length.0 as usize);
    }
    fail!(
        Class::Arg,
        "{name} is {}; it must not be negative",
        length.0
    )
}

/// The number of requests in an array.
#[inline(always)]
pub fn requests(name: &'static str, length: Int) -> Result<usize> {
    count(name, Count(length.0.into())).map(|length| length as usize)
}

#[inline(always)]
pub fn send_buffer(
    names: Names,
    address: SendBuffer,
    number: Count,
    kind: Datatype,
) -> Result<Buffer> {
    buffer(names, address.0.cast_mut(), number, kind)
}

#[inline(always)]
pub fn recv_buffer(
    names: Names,
    address: RecvBuffer,
    number: Count,
    kind: Datatype,
) -> Result<Buffer> {
    let buffer = buffer(names, address.0, number, kind)?;
    if signatures::on() && buffer.contiguous().is_none() {
        no_overlap(names, kind, number)?;
    }
    Ok(buffer)
}

/// Nothing can be received into a byte twice; said where types are checked.
#[cold]
fn no_overlap(names: Names, kind: Datatype, number: Count) -> Result<()> {
    let layout = datatype_of(names, kind, number.0 as u64)?.layout();
    match layout.overlap(number.0 as u64) {
        None => Ok(()),
        Some(at) => fail!(
            Class::Type,
            "{} of {} would receive the byte at displacement {at} more than once",
            number.0,
            names.datatype
        ),
    }
}

#[inline(always)]
fn buffer(names: Names, address: *mut c_void, number: Count, kind: Datatype) -> Result<Buffer> {
    let number = count(names.count, number)?;
    match datatype::get(kind.0) {
        Some(kind) if kind.is_committed() => buffer_of(names, address, number, kind),
        _ => buffer_of_unusual(names, address, number, kind),
    }
}

/// A buffer without a datatype that is committed. Apart, so that the usual call keeps one datatype in its registers.
#[cold]
#[inline(never)]
fn buffer_of_unusual(
    names: Names,
    address: *mut c_void,
    number: u64,
    kind: Datatype,
) -> Result<Buffer> {
    let kind = datatype_of(names, kind, number)?;
    buffer_of(names, address, number, kind)
}

/// A buffer of a count and a datatype that are decoded: where two buffers share them.
#[inline(always)]
pub fn buffer_of(
    names: Names,
    address: *mut c_void,
    number: u64,
    kind: &'static DatatypeObject,
) -> Result<Buffer> {
    // MPI_BOTTOM is NULL: right only with the absolute addresses of a derived datatype.
    let nowhere = address.is_null() && number > 0 && kind.size > 0 && kind.is_predefined();
    if nowhere || address as usize == IN_PLACE {
        return no_buffer(names.buffer, address, number);
    }
    // SAFETY: the caller of the C function owns memory for so many elements there, and leaves it to
    // the operation until that is complete.
    Ok(unsafe { Buffer::new(address.cast(), number, kind) })
}

#[cold]
fn no_buffer<T>(name: &'static str, address: *mut c_void, number: u64) -> Result<T> {
    if address.is_null() {
        fail!(
            Class::Buffer,
            "{name} is NULL, but {number} elements are meant"
        )
    } else {
        fail!(
            Class::Buffer,
            "{name} is MPI_IN_PLACE, which is not allowed here"
        )
    }
}

/// A rank of `comm`, or MPI_PROC_NULL.
#[inline(always)]
pub fn dest(rank: Rank, comm: &CommObject) -> Result<c_int> {
    if (rank.0 as u32) < comm.peers() as u32 || rank.0 == PROC_NULL {
        return Ok(rank.0);
    }
    no_rank("dest", rank, comm, " or MPI_PROC_NULL")
}

/// A rank of `comm`, MPI_ANY_SOURCE or MPI_PROC_NULL.
#[inline(always)]
pub fn source(rank: Rank, comm: &CommObject) -> Result<c_int> {
    if (rank.0 as u32) < comm.peers() as u32 || rank.0 == ANY_SOURCE || rank.0 == PROC_NULL {
        return Ok(rank.0);
    }
    no_rank("source", rank, comm, ", MPI_ANY_SOURCE or MPI_PROC_NULL")
}

/// The root of a collective operation: a rank, or for intercommunicators also MPI_ROOT or MPI_PROC_NULL.
#[inline(always)]
pub fn root(rank: Root, comm: &CommObject) -> Result<c_int> {
    if (rank.0 as u32) < comm.peers() as u32 {
        return Ok(rank.0);
    }
    if comm.is_inter() && matches!(rank.0, coll::ROOT | coll::PROC_NULL) {
        return Ok(rank.0);
    }
    fail!(
        Class::Root,
        "root is {}; allowed is 0 to {}{}",
        rank.to_c(),
        comm.peers() - 1,
        if comm.is_inter() {
            ", MPI_ROOT or MPI_PROC_NULL"
        } else {
            ""
        }
    )
}

#[cold]
fn no_rank<T>(name: &'static str, rank: Rank, comm: &CommObject, others: &str) -> Result<T> {
    fail!(
        Class::Rank,
        "{name} is {}; allowed is 0 to {}{others}",
        rank.to_c(),
        comm.peers() - 1
    )
}

#[inline(always)]
pub fn tag(tag: Tag) -> Result<c_int> {
    if tag.0 >= 0 {
        return Ok(tag.0);
    }
    no_tag("tag", tag, "")
}

#[inline(always)]
pub fn recv_tag(tag: Tag) -> Result<c_int> {
    named_recv_tag("tag", tag)
}

#[inline(always)]
pub fn named_recv_tag(name: &'static str, tag: Tag) -> Result<c_int> {
    if tag.0 >= 0 || tag.0 == ANY_TAG {
        return Ok(tag.0);
    }
    no_tag(name, tag, " or MPI_ANY_TAG")
}

#[inline(always)]
pub fn named_tag(name: &'static str, tag: Tag) -> Result<c_int> {
    if tag.0 >= 0 {
        return Ok(tag.0);
    }
    no_tag(name, tag, "")
}

#[cold]
fn no_tag<T>(name: &'static str, tag: Tag, others: &str) -> Result<T> {
    fail!(
        Class::Tag,
        "{name} is {}; allowed is 0 to {TAG_UB}{others}",
        tag.to_c()
    )
}

/// A text of the caller's. Bytes that are no UTF-8 are replaced.
pub fn text(name: &'static str, text: Text) -> Result<String> {
    if text.0.is_null() {
        return fail!(Class::Arg, "{name} is NULL; a string is needed");
    }
    // SAFETY: the caller of the C function passes a zero-terminated string that lives as long as
    // the call.
    Ok(unsafe { CStr::from_ptr(text.0) }
        .to_string_lossy()
        .into_owned())
}

/// The name of a file, byte by byte as the caller has it.
pub fn path(name: &'static str, text: Text) -> Result<PathBuf> {
    if text.0.is_null() {
        return fail!(Class::Arg, "{name} is NULL; a string is needed");
    }
    // SAFETY: as above.
    let bytes = unsafe { CStr::from_ptr(text.0) }.to_bytes();
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// The words of `argc` and `argv`, either of which may be left out.
pub fn arguments(count: Int, words: TextArray) -> Result<Vec<String>> {
    if words.0.is_null() {
        return Ok(Vec::new());
    }
    let count = length("argc", count)?;
    let mut arguments = Vec::new();
    for index in 0..count {
        // SAFETY: the caller of the C function has `argc` strings there, or a null pointer earlier.
        let word = unsafe { words.0.add(index).read() };
        if word.is_null() {
            break;
        }
        arguments.push(text("argv", Text(word))?);
    }
    Ok(arguments)
}

/// The words of a list that ends with a null pointer; none for MPI_ARGV_NULL.
pub fn argument_list(name: &'static str, words: Strings) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    if words.is_null() {
        return Ok(arguments);
    }
    for index in 0.. {
        // SAFETY: the caller of the C function has strings there, a null pointer behind the last.
        let word = unsafe { words.add(index).read() };
        if word.is_null() {
            break;
        }
        arguments.push(text(name, Text(word))?);
    }
    Ok(arguments)
}

/// Writes a status to Fortran's array of five integers.
pub fn status_to_words(status: StatusWords, out: Out<Fint>) -> Result<()> {
    let words = [
        status.count_lo,
        status.count_hi_and_cancelled,
        status.source,
        status.tag,
        status.error,
    ];
    for (index, word) in words.into_iter().enumerate() {
        out.put(index, Fint(word))?;
    }
    Ok(())
}

/// Reads a status from Fortran's array of five integers.
pub fn status_of_words(words: In<Fint>) -> Result<StatusWords> {
    Ok(StatusWords {
        count_lo: words.get(0)?.0,
        count_hi_and_cancelled: words.get(1)?.0,
        source: words.get(2)?.0,
        tag: words.get(3)?.0,
        error: words.get(4)?.0,
    })
}

/// Makes MPI_Get_elements of this status return `number`.
pub fn set_elements(status: InOut<Status>, kind: Datatype, number: Count) -> Result<()> {
    let kind = datatype(kind)?;
    let number = count("count", number)?;
    let mut words = status.read()?;
    if words.0.set_elements(kind, number).is_none() {
        return fail!(
            Class::Count,
            "count is {number}; so many elements of {} bytes do not fit into a status",
            kind.size
        );
    }
    status.set(words)
}

/// Cuts a text so that it fits into `capacity` bytes with a zero, between two characters.
pub fn shorten(text: &mut String, capacity: usize) {
    let mut length = text.len().min(capacity.saturating_sub(1));
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
}
