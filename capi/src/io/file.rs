//! Files: opening, sizes, hints, views.

use crate::constants::MPI_MAX_DATAREP_STRING;
use crate::decode;
use crate::error_return::FILES;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{Class, Result};
use oxmpi::io::{self, Types, Wish};
use oxmpi::{fail, group, info};

entry! {
    Collective fn MPI_File_close(fh: InOut<File>) on fh {
        let handle = fh.read()?;
        let closed = io::close(decode::file(handle)?, "MPI_File_close");
        // Also after what unlink and close say.
        if handle.find().is_none() {
            fh.set(File::of_handle(0))?;
        }
        closed
    }
}

entry! {
    Own fn MPI_File_delete(filename: Text, info: Info) on MPI_FILE_NULL {
        info::hints(info.0)?;
        io::delete(decode::path("filename", filename)?)
    }
}

entry! {
    AccessOnly fn MPI_File_get_amode(fh: File, amode: Out<AccessMode>) on fh {
        amode.set(AccessMode(decode::file(fh)?.amode()))
    }
}

entry! {
    AccessOnly fn MPI_File_get_atomicity(fh: File, flag: Out<Logical>) on fh {
        flag.put_bool(decode::file(fh)?.is_atomic())
    }
}

entry! {
    UpdateRef fn MPI_File_get_group(fh: File, group: Out<Group>) on fh {
        group.not_null()?;
        let members = decode::file(fh)?.group();
        group.set(Group(group::create(members)?))
    }
}

entry! {
    /// The hints in use.
    Allocate fn MPI_File_get_info(fh: File, info_used: Out<Info>) on fh {
        info_used.not_null()?;
        let hints = decode::file(fh)?.get_info();
        info_used.set(Info(info::create(hints)?))
    }
}

entry! {
    CommIo fn MPI_File_get_size(fh: File, size: Out<Offset>) on fh {
        size.set(Offset(decode::file(fh)?.bytes()? as i64))
    }
}

entry! {
    AccessOnly fn MPI_File_get_type_extent[_c](
        fh: File, datatype: Datatype, extent: Out<ByteDisplacement>,
    ) on fh {
        let bytes = decode::file(fh)?.type_extent(decode::datatype(datatype)?)?;
        extent.set(ByteDisplacement(bytes))
    }
}

entry! {
    UpdateRef fn MPI_File_get_view(
        fh: File, disp: Out<Offset>, etype: Out<Datatype>, filetype: Out<Datatype>,
        datarep: TextOut,
    ) on fh {
        let file = decode::file(fh)?;
        disp.not_null()?;
        etype.not_null()?;
        filetype.not_null()?;
        let (displacement, elements, shown, name) = file.get_view()?;
        datarep.write(&name, MPI_MAX_DATAREP_STRING as usize)?;
        disp.set(Offset(displacement))?;
        etype.set(Datatype(elements))?;
        filetype.set(Datatype(shown))
    }
}

/// What the program asks for, which all ranks are told of if it is wrong.
fn wish(filename: Text, amode: AccessMode, hints: Info, fh: Out<File>) -> Result<Wish> {
    fh.not_null()?;
    Ok(Wish {
        path: decode::path("filename", filename)?,
        amode: amode.0,
        hints: info::hints(hints.0)?,
    })
}

entry! {
    Collective fn MPI_File_open(
        comm: Comm, filename: Text, amode: AccessMode, info: Info, fh: Out<File>,
    ) on MPI_FILE_NULL {
        let comm = decode::intracomm("comm", comm)?;
        let wish = wish(filename, amode, info, fh);
        let file = io::open(comm, "MPI_File_open", wish, FILES.copy())?;
        fh.set(File::of_handle(file.handle))
    }
}

entry! {
    Collective fn MPI_File_preallocate(fh: File, size: Offset) on fh {
        decode::file(fh)?.preallocate("MPI_File_preallocate", size.0)
    }
}

entry! {
    Collective fn MPI_File_set_atomicity(fh: File, flag: Logical) on fh {
        decode::file(fh)?.set_atomicity("MPI_File_set_atomicity", flag.0 != 0)
    }
}

entry! {
    UpdateList fn MPI_File_set_info(fh: File, info: Info) on fh {
        decode::file(fh)?.set_info(&info::hints(info.0)?)
    }
}

entry! {
    Collective fn MPI_File_set_size(fh: File, size: Offset) on fh {
        decode::file(fh)?.set_size("MPI_File_set_size", size.0)
    }
}

/// Types that a view can be made of.
fn types(etype: Datatype, filetype: Datatype) -> Result<Types> {
    Ok(Types {
        etype: decode::committed_datatype("etype", etype)?,
        filetype: decode::committed_datatype("filetype", filetype)?,
    })
}

pub(super) fn representation(datarep: Text) -> Result<String> {
    let name = decode::text("datarep", datarep)?;
    match name.len() < MPI_MAX_DATAREP_STRING as usize {
        true => Ok(name),
        false => fail!(
            Class::Arg,
            "datarep has {} bytes; allowed are {}",
            name.len(),
            MPI_MAX_DATAREP_STRING - 1
        ),
    }
}

entry! {
    Collective fn MPI_File_set_view(
        fh: File, disp: ViewOffset, etype: Datatype, filetype: Datatype, datarep: Text, info: Info,
    ) on fh {
        let file = decode::file(fh)?;
        file.set_view(
            "MPI_File_set_view", disp.0, types(etype, filetype), representation(datarep),
            info::hints(info.0),
        )
    }
}

entry! {
    Collective fn MPI_File_sync(fh: File) on fh {
        decode::file(fh)?.sync("MPI_File_sync")
    }
}
