//! Error classes, codes and strings.

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{self as core, Class, ERROR_STRING_MAXIMUM};
use oxmpi::fail;

entry! {
    None fn MPI_Error_class(errorcode: ErrorCode, errorclass: Out<ErrorClass>) {
        if !core::is_code(errorcode.0) {
            return no_code(errorcode);
        }
        errorclass.set(ErrorClass(core::class_of(errorcode.0).value()))
    }
}

entry! {
    ReadList fn MPI_Error_string(errorcode: ErrorCode, string: TextOut, resultlen: Out<Int>) {
        let Some(text) = core::string_of(errorcode.0) else {
            return no_code(errorcode);
        };
        let length = string.write(&text, ERROR_STRING_MAXIMUM)?;
        resultlen.set(Int(length as i32))
    }
}

#[cold]
fn no_code(code: ErrorCode) -> core::Result<()> {
    fail!(
        Class::Arg,
        "errorcode is {}, which is no error code",
        code.to_c()
    )
}

entry! {
    UpdateList fn MPI_Add_error_class(errorclass: Out<ErrorClass>) {
        errorclass.not_null()?;
        errorclass.set(ErrorClass(core::add_class()?))
    }
}

entry! {
    UpdateList fn MPI_Add_error_code(errorclass: ErrorClass, errorcode: Out<ErrorCode>) {
        errorcode.not_null()?;
        errorcode.set(ErrorCode(core::add_code(errorclass.0)?))
    }
}

entry! {
    UpdateList fn MPI_Add_error_string(errorcode: ErrorCode, string: Text) {
        core::add_string(errorcode.0, &decode::text("string", string)?)
    }
}

entry! {
    UpdateList fn MPI_Remove_error_class(errorclass: ErrorClass) {
        core::remove_class(errorclass.0)
    }
}

entry! {
    UpdateList fn MPI_Remove_error_code(errorcode: ErrorCode) {
        core::remove_code(errorcode.0)
    }
}

entry! {
    UpdateList fn MPI_Remove_error_string(errorcode: ErrorCode) {
        core::remove_string(errorcode.0)
    }
}
