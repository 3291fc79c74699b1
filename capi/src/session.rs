//! Sessions.

use crate::constants::of_program::MPI_MAX_PSET_NAME_LEN;
use crate::decode;
use crate::other_library;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Class;
use oxmpi::events::{self, Safety};
use oxmpi::process::session::{self as core};
use oxmpi::process::sets;
use oxmpi::pt2pt::origin;
use oxmpi::{fail, group, info as infos};

entry! {
    Other fn MPI_Session_init(info: Info, errhandler: Errhandler, session: Out<Session>) on errhandler {
        session.not_null()?;
        let hints = infos::hints(info.0)?;
        other_library::begin()?;
        session.set(Session(core::open(hints, errhandler.0)?))
    }
}

entry! {
    Other fn MPI_Session_finalize(session: InOut<Session>) on session {
        core::close(session.read()?.0)?;
        events::deliver(Safety::None);
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
        npset_names.set(Int(sets::names_of_own().count() as i32))
    }
}

entry! {
    AccessOnly fn MPI_Session_get_nth_pset(
        session: Session, info: Info, n: Index, pset_len: InOut<Int>, pset_name: TextOut,
    ) on session {
        core::get(session.0)?;
        infos::hints(info.0)?;
        let Some(name) = usize::try_from(n.0).ok().and_then(|n| sets::names_of_own().nth(n)) else {
            let last = sets::names_of_own().count() - 1;
            return fail!(Class::Arg, "n is {}; allowed is 0 to {last}", n.0);
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
        let size = sets::find(&decode::text("pset_name", pset_name)?)?.size();
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
        newgroup.not_null()?;
        let set = sets::find(&decode::text("pset_name", pset_name)?)?;
        let handle = group::create(set)?;
        origin::set(handle, session.0);
        newgroup.set(Group(handle))
    }
}
