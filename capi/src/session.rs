//! Sessions.

use crate::constants::MPI_MAX_PSET_NAME_LEN;
use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::error::{Class, Result};
use oxmpi::process::session::{self as core, PROCESS_SETS};
use oxmpi::{fail, group, info as infos, process};

/// Processes of a process set. How many there are in the job is known when it was joined.
fn size_of_set(name: &str) -> Result<u32> {
    match name {
        "mpi://SELF" => Ok(1),
        "mpi://WORLD" => {
            decode::running()?;
            Ok(process::job().map_or(1, |job| job.size))
        }
        _ => fail!(
            Class::Arg,
            "pset_name is {name:?}; the process sets are {}",
            PROCESS_SETS.join(" and ")
        ),
    }
}

entry! {
    Other fn MPI_Session_init(info: Info, errhandler: Errhandler, session: Out<Session>) {
        session.not_null()?;
        session.set(Session(core::open(infos::hints(info.0)?, errhandler.0)?))
    }
}

entry! {
    Other fn MPI_Session_finalize(session: InOut<Session>) on session {
        core::close(session.read()?.0)?;
        session.set(Session(core::NULL))
    }
}

entry! {
    Allocate fn MPI_Session_get_info(session: Session, info_used: Out<Info>) on session {
        let session = core::get(session.0)?;
        info_used.set(Info(infos::create(session.info.clone())?))
    }
}

entry! {
    AccessOnly fn MPI_Session_get_num_psets(session: Session, info: Info, npset_names: Out<Int>) on session {
        core::get(session.0)?;
        infos::hints(info.0)?;
        npset_names.set(Int(PROCESS_SETS.len() as i32))
    }
}

entry! {
    AccessOnly fn MPI_Session_get_nth_pset(
        session: Session, info: Info, n: Index, pset_len: InOut<Int>, pset_name: TextOut,
    ) on session {
        core::get(session.0)?;
        infos::hints(info.0)?;
        let Some(name) = usize::try_from(n.0).ok().and_then(|n| PROCESS_SETS.get(n)) else {
            return fail!(Class::Arg, "n is {}; allowed is 0 to {}", n.0, PROCESS_SETS.len() - 1);
        };
        let capacity = pset_len.read()?.0.clamp(0, MPI_MAX_PSET_NAME_LEN);
        if capacity > 0 {
            pset_name.write(name, capacity as usize)?;
        }
        pset_len.set(Int(name.len() as i32 + 1))
    }
}

entry! {
    Allocate fn MPI_Session_get_pset_info(session: Session, pset_name: Text, info: Out<Info>) on session {
        core::get(session.0)?;
        let size = size_of_set(&decode::text("pset_name", pset_name)?)?;
        let mut entries = infos::Info::new();
        entries.set("mpi_size", &size.to_string())?;
        info.set(Info(infos::create(entries)?))
    }
}

entry! {
    Allocate fn MPI_Group_from_session_pset(
        session: Session, pset_name: Text, newgroup: Out<Group>,
    ) on session {
        core::get(session.0)?;
        let name = decode::text("pset_name", pset_name)?;
        let size = size_of_set(&name)?;
        decode::running()?;
        let first = match name == PROCESS_SETS[0] {
            true => 0,
            false => process::job().map_or(0, |job| job.rank),
        };
        newgroup.set(Group(group::create(group::Group::range(first, size).into())?))
    }
}
