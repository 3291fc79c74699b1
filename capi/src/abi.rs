//! The standard ABI: integers for handles, versions, chapter 20.

use crate::constants::*;
use crate::error_return;
use crate::param::*;
use crate::pointers::*;
use crate::types::integers::MPI_Datatype;
use oxmpi::datatype as datatypes;
use oxmpi::error::{Class, Result};
use oxmpi::{fail, info as infos};

/// The types that Fortran's information tells the sizes of, and those it tells whether they exist.
const SIZES: [(&str, MPI_Datatype); 4] = [
    ("mpi_logical_size", MPI_LOGICAL),
    ("mpi_integer_size", MPI_INTEGER),
    ("mpi_real_size", MPI_REAL),
    ("mpi_double_precision_size", MPI_DOUBLE_PRECISION),
];
const SUPPORTED: [(&str, MPI_Datatype); 19] = [
    ("mpi_logical1_supported", MPI_LOGICAL1),
    ("mpi_logical2_supported", MPI_LOGICAL2),
    ("mpi_logical4_supported", MPI_LOGICAL4),
    ("mpi_logical8_supported", MPI_LOGICAL8),
    ("mpi_logical16_supported", MPI_LOGICAL16),
    ("mpi_integer1_supported", MPI_INTEGER1),
    ("mpi_integer2_supported", MPI_INTEGER2),
    ("mpi_integer4_supported", MPI_INTEGER4),
    ("mpi_integer8_supported", MPI_INTEGER8),
    ("mpi_integer16_supported", MPI_INTEGER16),
    ("mpi_real2_supported", MPI_REAL2),
    ("mpi_real4_supported", MPI_REAL4),
    ("mpi_real8_supported", MPI_REAL8),
    ("mpi_real16_supported", MPI_REAL16),
    ("mpi_complex4_supported", MPI_COMPLEX4),
    ("mpi_complex8_supported", MPI_COMPLEX8),
    ("mpi_complex16_supported", MPI_COMPLEX16),
    ("mpi_complex32_supported", MPI_COMPLEX32),
    ("mpi_double_complex_supported", MPI_DOUBLE_COMPLEX),
];

/// Bytes of a predefined type; 0 if there is no such type.
fn size(datatype: MPI_Datatype) -> u64 {
    datatypes::get(datatype).map_or(0, |datatype| datatype.size)
}

/// What this library knows about Fortran.
fn of_fortran() -> impl Iterator<Item = (&'static str, String)> {
    let sizes = SIZES
        .iter()
        .map(|(key, datatype)| (*key, size(*datatype).to_string()));
    let supported = SUPPORTED.iter();
    sizes.chain(supported.map(|(key, datatype)| (*key, (size(*datatype) != 0).to_string())))
}

entry! {
    None fn MPI_Abi_get_info(info: Out<Info>) {
        info.not_null()?;
        let mut entries = infos::Info::new();
        for (key, datatype) in
            [("mpi_aint_size", MPI_AINT), ("mpi_count_size", MPI_COUNT), ("mpi_offset_size", MPI_OFFSET)]
        {
            entries.set(key, &size(datatype).to_string())?;
        }
        info.set(Info(infos::create(entries)?))
    }
}

entry! {
    None fn MPI_Abi_get_fortran_info(info: Out<Info>) {
        info.not_null()?;
        let mut entries = infos::Info::new();
        for (key, value) in of_fortran() {
            entries.set(key, &value)?;
        }
        info.set(Info(infos::create(entries)?))
    }
}

entry! {
    /// Fortran's side is fixed, so only what is true can be set.
    None fn MPI_Abi_set_fortran_info(info: Info) {
        let given = infos::get(info.0)?.lock().clone();
        for (key, value) in of_fortran() {
            match given.get(key)? {
                Some(other) if other != value => {
                    return fail!(Class::Abi, "info has {key}={other}, but it is {value} in this library");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A LOGICAL of so many bytes as C finds it.
fn logical(bytes: usize, value: bool) -> [u8; 16] {
    let mut bits = [0; 16];
    let number = u128::from(value).to_ne_bytes();
    let first = if cfg!(target_endian = "big") {
        16 - bytes
    } else {
        0
    };
    bits[..bytes].copy_from_slice(&number[first..first + bytes]);
    bits
}

fn logical_size(size: Int) -> Result<usize> {
    match size.0 {
        1 | 2 | 4 | 8 | 16 => Ok(size.0 as usize),
        other => fail!(
            Class::Arg,
            "logical_size is {other}; allowed is 1, 2, 4, 8 or 16"
        ),
    }
}

entry! {
    None fn MPI_Abi_get_fortran_booleans(
        logical_size: Int, logical_true: LogicalBits, logical_false: LogicalBits,
        is_set: Out<Logical>,
    ) {
        let bytes = self::logical_size(logical_size)?;
        is_set.not_null()?;
        for (name, target, value) in [("logical_true", logical_true, true), ("logical_false", logical_false, false)] {
            if target.0.is_null() {
                return error_return::null(name);
            }
            let bits = logical(bytes, value);
            // SAFETY: the caller of the C function has a LOGICAL of this size there.
            unsafe { std::ptr::copy_nonoverlapping(bits.as_ptr(), target.0.cast(), bytes) }
        }
        is_set.put_bool(true)
    }
}

entry! {
    /// As MPI_Abi_set_fortran_info.
    None fn MPI_Abi_set_fortran_booleans(
        logical_size: Int, logical_true: LogicalBits, logical_false: LogicalBits,
    ) {
        let bytes = self::logical_size(logical_size)?;
        for (name, target, value) in [("logical_true", logical_true, true), ("logical_false", logical_false, false)] {
            if target.0.is_null() {
                return error_return::null(name);
            }
            let mut given = [0; 16];
            // SAFETY: as in MPI_Abi_get_fortran_booleans.
            unsafe { std::ptr::copy_nonoverlapping(target.0.cast(), given.as_mut_ptr(), bytes) }
            if given != logical(bytes, value) {
                return fail!(Class::Abi, "{name} has other bits than .TRUE. (1) and .FALSE. (0) have in this library");
            }
        }
        Ok(())
    }
}

entry! {
    /// MPICH's ABI is none of the standard's; mpi4py asks before MPI_Init.
    None fn MPI_Abi_get_version(abi_major: Out<Int>, abi_minor: Out<Int>) {
        let (major, minor) = if cfg!(standard_abi) { (1, 0) } else { (-1, -1) };
        abi_major.set(Int(major))?;
        abi_minor.set(Int(minor))
    }
}

// The integer of a handle is the handle.

entry! {
    None fn MPI_Comm_toint(comm: Comm) -> HandleInt {
        comm.to_int()
    }
}

entry! {
    None fn MPI_Comm_fromint(comm: HandleInt) -> Comm {
        Comm::of_int(comm)
    }
}

entry! {
    None fn MPI_Errhandler_toint(errhandler: Errhandler) -> HandleInt {
        errhandler.to_int()
    }
}

entry! {
    None fn MPI_Errhandler_fromint(errhandler: HandleInt) -> Errhandler {
        Errhandler::of_int(errhandler)
    }
}

entry! {
    None fn MPI_Group_toint(group: Group) -> HandleInt {
        group.to_int()
    }
}

entry! {
    None fn MPI_Group_fromint(group: HandleInt) -> Group {
        Group::of_int(group)
    }
}

entry! {
    None fn MPI_Info_toint(info: Info) -> HandleInt {
        info.to_int()
    }
}

entry! {
    None fn MPI_Info_fromint(info: HandleInt) -> Info {
        Info::of_int(info)
    }
}

entry! {
    None fn MPI_Message_toint(message: Message) -> HandleInt {
        message.to_int()
    }
}

entry! {
    None fn MPI_Message_fromint(message: HandleInt) -> Message {
        Message::of_int(message)
    }
}

entry! {
    None fn MPI_Op_toint(op: Op) -> HandleInt {
        op.to_int()
    }
}

entry! {
    None fn MPI_Op_fromint(op: HandleInt) -> Op {
        Op::of_int(op)
    }
}

entry! {
    None fn MPI_Request_toint(request: Request) -> HandleInt {
        request.to_int()
    }
}

entry! {
    None fn MPI_Request_fromint(request: HandleInt) -> Request {
        Request::of_int(request)
    }
}

entry! {
    None fn MPI_Session_toint(session: Session) -> HandleInt {
        session.to_int()
    }
}

entry! {
    None fn MPI_Session_fromint(session: HandleInt) -> Session {
        Session::of_int(session)
    }
}

entry! {
    None fn MPI_Type_toint(datatype: Datatype) -> HandleInt {
        datatype.to_int()
    }
}

entry! {
    None fn MPI_Type_fromint(datatype: HandleInt) -> Datatype {
        Datatype::of_int(datatype)
    }
}

entry! {
    None fn MPI_Win_toint(win: Win) -> HandleInt {
        win.to_int()
    }
}

entry! {
    None fn MPI_Win_fromint(win: HandleInt) -> Win {
        Win::of_int(win)
    }
}

entry! {
    /// As MPI_File_c2f.
    None fn MPI_File_toint(file: File) -> HandleInt {
        file.to_int()
    }
}

entry! {
    None fn MPI_File_fromint(file: HandleInt) -> File {
        File::of_int(file)
    }
}
