//! Performance variables.

use super::{check_out, get, offer, offer_text, put};
use crate::constants::*;
use crate::data::PVAR_ALL_HANDLES;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::context_id;
use oxmpi::error::Result;
use oxmpi::tool;
use oxmpi::tool::performance::{self, Change, Variable};

entry! {
    ReadList fn MPI_T_pvar_get_num(num_pvar: Out<Int>) {
        tool::check()?;
        num_pvar.set(Int(Variable::ALL.len() as i32))
    }
}

entry! {
    ReadList fn MPI_T_pvar_get_index(name: Text, var_class: TVariableClass, pvar_index: Out<Int>) {
        tool::check()?;
        pvar_index.not_null()?;
        let index = performance::index_of(&decode::text("name", name)?, var_class.0)?;
        pvar_index.set(Int(index as i32))
    }
}

entry! {
    /// What is continuous can only be read; counters begin at zero in each handle.
    ReadList fn MPI_T_pvar_get_info(
        pvar_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TVerbosity>,
        var_class: Out<TVariableClass>, datatype: Out<Datatype>, enumtype: Out<TEnum>, desc: TextOut,
        desc_len: InOut<Int>, bind: Out<TBinding>, readonly: Out<Logical>,
        continuous: Out<Logical>, atomic: Out<Logical>,
    ) {
        tool::check()?;
        let variable = performance::variable(pvar_index.0)?;
        offer_text(name, name_len, variable.name())?;
        offer_text(desc, desc_len, variable.text())?;
        offer(verbosity, TVerbosity(MPI_T_VERBOSITY_USER_BASIC))?;
        offer(var_class, TVariableClass(variable.shows() as i32))?;
        let element = if variable.is_mask() { MPI_UNSIGNED } else { MPI_UNSIGNED_LONG };
        offer(datatype, Datatype(element))?;
        offer(enumtype, TEnum(std::ptr::null_mut()))?;
        offer(bind, TBinding(MPI_T_BIND_NO_OBJECT))?;
        let only_read = Logical(variable.is_continuous().into());
        offer(readonly, only_read)?;
        offer(continuous, only_read)?;
        offer(atomic, Logical((!variable.is_continuous()).into()))
    }
}

entry! {
    Own fn MPI_T_pvar_session_create(session: Out<TPvarSession>) {
        tool::check()?;
        session.not_null()?;
        session.set(TPvarSession(performance::create_session()? as _))
    }
}

entry! {
    Own fn MPI_T_pvar_session_free(session: InOut<TPvarSession>) {
        tool::check()?;
        performance::free_session(session.read()?.0 as usize)?;
        session.set(TPvarSession(std::ptr::null_mut()))
    }
}

entry! {
    Own fn MPI_T_pvar_handle_alloc(
        session: TPvarSession, pvar_index: Int, obj_handle: TObject, handle: Out<TPvarHandle>,
        count: Out<Int>,
    ) {
        tool::check()?;
        let _ = obj_handle; // none is bound to an object
        handle.not_null()?;
        count.not_null()?;
        let (number, variable) = performance::open(session.0 as usize, pvar_index.0)?;
        handle.set(TPvarHandle(number as _))?;
        count.set(Int(variable.count() as i32))
    }
}

entry! {
    Own fn MPI_T_pvar_handle_free(session: TPvarSession, handle: InOut<TPvarHandle>) {
        tool::check()?;
        performance::close(session.0 as usize, handle.read()?.0 as usize)?;
        handle.set(TPvarHandle(std::ptr::null_mut()))
    }
}

/// MPI_T_PVAR_ALL_HANDLES is every handle of the session that can be changed.
fn change(session: TPvarSession, handle: TPvarHandle, change: Change) -> Result<()> {
    let number = handle.0 as usize;
    let all = PVAR_ALL_HANDLES.0 as usize;
    performance::change(
        session.0 as usize,
        (number != all).then_some(number),
        change,
    )
}

entry! {
    Own fn MPI_T_pvar_start(session: TPvarSession, handle: TPvarHandle) {
        tool::check()?;
        change(session, handle, Change::Start)
    }
}

entry! {
    Own fn MPI_T_pvar_stop(session: TPvarSession, handle: TPvarHandle) {
        tool::check()?;
        change(session, handle, Change::Stop)
    }
}

fn read(session: TPvarSession, handle: TPvarHandle, buf: TBuffer) -> Result<()> {
    let (variable, value) = performance::read(session.0 as usize, handle.0 as usize)?;
    if variable.is_mask() {
        put(buf, &context_id::mask_words())
    } else {
        put(buf, &[value])
    }
}

entry! {
    Own fn MPI_T_pvar_read(session: TPvarSession, handle: TPvarHandle, buf: TBuffer) {
        tool::check()?;
        read(session, handle, buf)
    }
}

entry! {
    Own fn MPI_T_pvar_readreset(session: TPvarSession, handle: TPvarHandle, buf: TBuffer) {
        tool::check()?;
        check_out(buf.0)?;
        // What can be reset is a number.
        put(buf, &[performance::read_and_reset(session.0 as usize, handle.0 as usize)?])
    }
}

entry! {
    Own fn MPI_T_pvar_reset(session: TPvarSession, handle: TPvarHandle) {
        tool::check()?;
        change(session, handle, Change::Reset)
    }
}

entry! {
    Own fn MPI_T_pvar_write(session: TPvarSession, handle: TPvarHandle, buf: SendBuffer) {
        tool::check()?;
        let value = get::<u64>(buf)?;
        performance::change(session.0 as usize, Some(handle.0 as usize), Change::Write(value))
    }
}
