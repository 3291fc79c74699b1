//! The tool interface: start, control variables, enumerations.

use super::{get, offer, offer_text, put, type_of};
use crate::constants::*;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use crate::process::level;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::tool::{self, control};
use oxmpi::variables::Kind;

entry! {
    /// All of it is behind locks, so every level is given.
    Other fn MPI_T_init_thread(required: ThreadLevel, provided: Out<ThreadLevel>) {
        level(required)?;
        provided.not_null()?;
        tool::init();
        provided.set(required)
    }
}

entry! {
    Other fn MPI_T_finalize() {
        tool::finalize()
    }
}

entry! {
    ReadList fn MPI_T_cvar_get_num(num_cvar: Out<Int>) {
        tool::check()?;
        num_cvar.set(Int(control::count() as i32))
    }
}

entry! {
    ReadList fn MPI_T_cvar_get_index(name: Text, cvar_index: Out<Int>) {
        tool::check()?;
        cvar_index.not_null()?;
        cvar_index.set(Int(control::index_of(&decode::text("name", name)?)? as i32))
    }
}

/// The enumeration of a control variable, by its index; zero is MPI_T_ENUM_NULL.
fn enumeration(index: i32, kind: Kind) -> TEnum {
    let number = match kind {
        Kind::Word(_) => index as usize + 1,
        Kind::Number | Kind::Real => 0,
    };
    TEnum(number as _)
}

entry! {
    /// Values can be set until they are used, in MPI_Init at the latest.
    ReadList fn MPI_T_cvar_get_info(
        cvar_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TVerbosity>,
        datatype: Out<Datatype>, enumtype: Out<TEnum>, desc: TextOut, desc_len: InOut<Int>,
        bind: Out<TBinding>, scope: Out<TScope>,
    ) {
        tool::check()?;
        let variable = control::variable(cvar_index.0)?;
        offer_text(name, name_len, &variable.name())?;
        offer_text(desc, desc_len, &variable.full_text())?;
        offer(verbosity, TVerbosity(MPI_T_VERBOSITY_USER_BASIC))?;
        offer(datatype, Datatype(type_of(variable.kind())))?;
        offer(enumtype, enumeration(cvar_index.0, variable.kind()))?;
        offer(bind, TBinding(MPI_T_BIND_NO_OBJECT))?;
        let changeable = match (control::may_be_written(cvar_index.0)?, variable.is_same_on_all()) {
            (false, _) => MPI_T_SCOPE_CONSTANT,
            (true, true) => MPI_T_SCOPE_ALL_EQ,
            (true, false) => MPI_T_SCOPE_LOCAL,
        };
        offer(scope, TScope(changeable))
    }
}

entry! {
    Own fn MPI_T_cvar_handle_alloc(
        cvar_index: Int, obj_handle: TObject, handle: Out<TCvarHandle>, count: Out<Int>,
    ) {
        tool::check()?;
        let _ = obj_handle; // none is bound to an object
        handle.not_null()?;
        count.not_null()?;
        handle.set(TCvarHandle(control::open(cvar_index.0)? as _))?;
        count.set(Int(1))
    }
}

entry! {
    Own fn MPI_T_cvar_handle_free(handle: InOut<TCvarHandle>) {
        tool::check()?;
        control::close(handle.read()?.0 as usize)?;
        handle.set(TCvarHandle(std::ptr::null_mut()))
    }
}

entry! {
    Own fn MPI_T_cvar_read(handle: TCvarHandle, buf: TBuffer) {
        tool::check()?;
        let variable = control::of(handle.0 as usize)?;
        let bits = variable.bits();
        match variable.kind() {
            Kind::Word(_) => put(buf, &[bits as i32]),
            Kind::Number | Kind::Real => put(buf, &[bits]),
        }
    }
}

entry! {
    Own fn MPI_T_cvar_write(handle: TCvarHandle, buf: SendBuffer) {
        tool::check()?;
        let variable = control::of(handle.0 as usize)?;
        let bits = match variable.kind() {
            // A negative one is no word's position.
            Kind::Word(_) => get::<i32>(buf)? as u64,
            Kind::Number | Kind::Real => get::<u64>(buf)?,
        };
        variable.set_bits(bits)
    }
}

/// The words of an enumeration, and the name of the variable that has it.
fn words(enumtype: TEnum) -> Result<(String, &'static [&'static str])> {
    tool::check()?;
    let index = (enumtype.0 as usize).wrapping_sub(1);
    match control::words(index) {
        Some(words) => Ok((control::variable(index as i32)?.name(), words)),
        None => fail!(
            Class::TInvalidHandle,
            "enumtype is {:#x}, which is no enumeration of a control variable",
            enumtype.0 as usize
        ),
    }
}

entry! {
    ReadList fn MPI_T_enum_get_info(enumtype: TEnum, num: Out<Int>, name: TextOut, name_len: InOut<Int>) {
        tool::check()?;
        let (variable, words) = words(enumtype)?;
        offer_text(name, name_len, &variable)?;
        offer(num, Int(words.len() as i32))
    }
}

entry! {
    ReadList fn MPI_T_enum_get_item(
        enumtype: TEnum, indx: Int, value: Out<Int>, name: TextOut, name_len: InOut<Int>,
    ) {
        tool::check()?;
        let (_, words) = words(enumtype)?;
        let Some(word) = usize::try_from(indx.0).ok().and_then(|at| words.get(at)) else {
            return fail!(
                Class::TInvalidItem,
                "index is {}; allowed is 0 to {}",
                indx.0,
                words.len() - 1
            );
        };
        offer_text(name, name_len, word)?;
        offer(value, Int(indx.0))
    }
}
