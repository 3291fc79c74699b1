//! Windows: creation, memory, groups, hints, names.

use crate::constants::{MPI_MAX_OBJECT_NAME, MPI_WIN_NULL};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use crate::types::MPI_Aint;
use oxmpi::error::Result;
use oxmpi::rma::create::{self, Wish};
use oxmpi::rma::{Flavor, NULL, Window};
use oxmpi::{group, info};
use std::ffi::c_void;

/// Makes a window; `base` is what the program gives.
fn make(
    function: &'static str,
    (flavor, base): (Flavor, Memory),
    (size, unit): (Aint, DisplacementUnit),
    hints: Info,
    comm: Comm,
    win: Out<Win>,
) -> Result<&'static Window> {
    win.not_null()?;
    let comm = decode::intracomm("comm", comm)?;
    let wish = Wish {
        flavor,
        base: base.0 as usize,
        bytes: size.0,
        unit: unit.0,
        hints: info::hints(hints.0)?,
    };
    let window = create::create(comm, function, &wish)?;
    win.set(Win(window.handle))?;
    Ok(window)
}

const NO_MEMORY: Memory = Memory(std::ptr::null_mut());

entry! {
    Collective fn MPI_Win_allocate[_c](
        size: Aint, disp_unit: DisplacementUnit, info: Info, comm: Comm, baseptr: AddressOut,
        win: Out<Win>,
    ) on comm {
        baseptr.not_null()?;
        let flavor = (Flavor::Allocate, NO_MEMORY);
        let window = make("MPI_Win_allocate", flavor, (size, disp_unit), info, comm, win)?;
        baseptr.write(window.facts.base as *mut c_void)
    }
}

entry! {
    Collective fn MPI_Win_allocate_shared[_c](
        size: Aint, disp_unit: DisplacementUnit, info: Info, comm: Comm, baseptr: AddressOut,
        win: Out<Win>,
    ) on comm {
        baseptr.not_null()?;
        let flavor = (Flavor::Shared, NO_MEMORY);
        let window = make("MPI_Win_allocate_shared", flavor, (size, disp_unit), info, comm, win)?;
        baseptr.write(window.facts.base as *mut c_void)
    }
}

entry! {
    CommIo fn MPI_Win_attach(win: Win, base: Memory, size: Aint) on win {
        decode::win(win)?.attach(base.0 as usize, size.0)
    }
}

entry! {
    Collective fn MPI_Win_create[_c](
        base: Memory, size: Aint, disp_unit: DisplacementUnit, info: Info, comm: Comm,
        win: Out<Win>,
    ) on comm {
        let flavor = (Flavor::Create, base);
        make("MPI_Win_create", flavor, (size, disp_unit), info, comm, win).map(|_| ())
    }
}

entry! {
    Collective fn MPI_Win_create_dynamic(info: Info, comm: Comm, win: Out<Win>) on comm {
        let (flavor, size) = ((Flavor::Dynamic, NO_MEMORY), (Aint(0), DisplacementUnit(1)));
        make("MPI_Win_create_dynamic", flavor, size, info, comm, win).map(|_| ())
    }
}

entry! {
    CommIo fn MPI_Win_detach(win: Win, base: Address) on win {
        decode::win(win)?.detach(base.0 as usize)
    }
}

entry! {
    Collective fn MPI_Win_free(win: InOut<Win>) on win {
        let window = decode::win(win.read()?)?;
        create::check_free(window)?;
        window.attributes.delete_all(window.handle)?;
        create::free(window)?;
        win.set(Win(NULL))
    }
}

entry! {
    UpdateRef fn MPI_Win_get_group(win: Win, group: Out<Group>) on win {
        group.not_null()?;
        let members = decode::win(win)?.assembly.members().group();
        group.set(Group(group::create(members)?))
    }
}

entry! {
    /// The hints in use.
    Allocate fn MPI_Win_get_info(win: Win, info_used: Out<Info>) on win {
        info_used.not_null()?;
        let hints = decode::win(win)?.get_info()?;
        info_used.set(Info(info::create(hints)?))
    }
}

entry! {
    AccessOnly fn MPI_Win_get_name(win: Win, win_name: TextOut, resultlen: Out<Int>) on win {
        let name = match win.0 {
            MPI_WIN_NULL => "MPI_WIN_NULL".to_owned(),
            _ => decode::win(win)?.name(),
        };
        let length = win_name.write(&name, MPI_MAX_OBJECT_NAME as usize)?;
        resultlen.set(Int(length as i32))
    }
}

entry! {
    UpdateList fn MPI_Win_set_info(win: Win, info: Info) on win {
        decode::win(win)?.set_info(&info::hints(info.0)?)
    }
}

entry! {
    AccessOnly fn MPI_Win_set_name(win: Win, win_name: Text) on win {
        let window = decode::win(win)?;
        let mut name = decode::text("win_name", win_name)?;
        decode::shorten(&mut name, MPI_MAX_OBJECT_NAME as usize);
        window.set_name(&name);
        Ok(())
    }
}

entry! {
    AccessOnly fn MPI_Win_shared_query[_c](
        win: Win, rank: Rank, size: Out<Aint>, disp_unit: Out<DisplacementUnit>,
        baseptr: AddressOut,
    ) on win {
        let found = decode::win(win)?.shared_query(rank.0)?;
        size.set(Aint(found.bytes as MPI_Aint))?;
        disp_unit.set(DisplacementUnit(found.unit as i64))?;
        baseptr.write(found.base as *mut c_void)
    }
}
