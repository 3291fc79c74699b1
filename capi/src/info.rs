//! Info objects.

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{Class, Result};
use oxmpi::{fail, info as core};

fn key_of(key: Text) -> Result<String> {
    if key.0.is_null() {
        return fail!(Class::InfoKey, "key is NULL; a string is needed");
    }
    decode::text("key", key)
}

entry! {
    Allocate fn MPI_Info_create(info: Out<Info>) {
        info.not_null()?;
        info.set(Info(core::create(core::Info::new())?))
    }
}

entry! {
    Allocate fn MPI_Info_create_env(argc: Int, argv: TextArray, info: Out<Info>) {
        info.not_null()?;
        let arguments = decode::arguments(argc, argv)?;
        info.set(Info(core::create(core::of_start(&arguments))?))
    }
}

entry! {
    UpdateList fn MPI_Info_delete(info: Info, key: Text) {
        let key = key_of(key)?;
        core::get_changeable(info.0)?.lock().delete(&key)
    }
}

entry! {
    Allocate fn MPI_Info_dup(info: Info, newinfo: Out<Info>) {
        newinfo.not_null()?;
        let copy = core::get(info.0)?.lock().clone();
        newinfo.set(Info(core::create(copy)?))
    }
}

entry! {
    UpdateRef fn MPI_Info_free(info: InOut<Info>) {
        core::free(info.read()?.0)?;
        info.set(Info(core::NULL))
    }
}

entry! {
    ReadList fn MPI_Info_get_nkeys(info: Info, nkeys: Out<Int>) {
        nkeys.set(Int(core::get(info.0)?.lock().len() as i32))
    }
}

entry! {
    ReadList fn MPI_Info_get_nthkey(info: Info, n: Int, key: TextOut) {
        let info = core::get(info.0)?;
        // MPI_MAX_INFO_KEY counts the zero at the end, although MPI_Info_set takes a key of so many characters, as MPICH's does.
        key.write(info.lock().key(n.0)?, core::KEY_MAXIMUM)?;
        Ok(())
    }
}

entry! {
    ReadList fn MPI_Info_get_string(
        info: Info, key: Text, buflen: InOut<Int>, value: TextOut, flag: Out<Logical>,
    ) {
        let key = key_of(key)?;
        let capacity = decode::length("buflen", buflen.read()?)?;
        let info = core::get(info.0)?;
        let info = info.lock();
        let Some(text) = info.get(&key)? else {
            return flag.put_bool(false);
        };
        if capacity > 0 {
            value.write(text, capacity)?;
        }
        buflen.set(Int(text.len() as i32 + 1))?;
        flag.put_bool(true)
    }
}

entry! {
    UpdateList fn MPI_Info_set(info: Info, key: Text, value: Text) {
        let key = key_of(key)?;
        let value = decode::text("value", value)?;
        core::get_changeable(info.0)?.lock().set(&key, &value)
    }
}

entry! {
    /// Deprecated: `value` has room for `valuelen` bytes and a zero; a longer one is cut.
    ReadList fn MPI_Info_get(info: Info, key: Text, valuelen: Int, value: TextOut, flag: Out<Logical>) {
        let key = key_of(key)?;
        if valuelen.0 < 0 {
            return fail!(Class::Arg, "valuelen is {}; it must not be negative", valuelen.0);
        }
        let info = core::get(info.0)?;
        let info = info.lock();
        let Some(text) = info.get(&key)? else {
            return flag.put_bool(false);
        };
        value.write(text, valuelen.0 as usize + 1)?;
        flag.put_bool(true)
    }
}

entry! {
    /// Deprecated.
    ReadList fn MPI_Info_get_valuelen(info: Info, key: Text, valuelen: Out<Int>, flag: Out<Logical>) {
        let key = key_of(key)?;
        let info = core::get(info.0)?;
        let info = info.lock();
        let Some(text) = info.get(&key)? else {
            return flag.put_bool(false);
        };
        valuelen.set(Int(text.len() as i32))?;
        flag.put_bool(true)
    }
}
