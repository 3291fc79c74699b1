//! Other extensions.

use crate::param::*;
use crate::place::*;
use oxmpi::error::Class;
use oxmpi::fail;
use oxmpi::pt2pt::complete;

// No memory but that of the processor is known here.

entry! {
    None fn MPIX_Query_cuda_support() -> Logical {
        Logical(0)
    }
}

entry! {
    None fn MPIX_Query_hip_support() -> Logical {
        Logical(0)
    }
}

entry! {
    None fn MPIX_Query_ze_support() -> Logical {
        Logical(0)
    }
}

entry! {
    None fn MPIX_GPU_query_support(gpu_type: Int, is_supported: Out<Logical>) {
        if !(0..=2).contains(&gpu_type.0) {
            return fail!(
                Class::Arg,
                "gpu_type is {}; allowed are MPIX_GPU_SUPPORT_CUDA, _ZE and _HIP",
                gpu_type.0
            );
        }
        is_supported.put_bool(false)
    }
}

entry! {
    CommIo fn MPIX_Request_is_complete(request: Request) -> Logical {
        Logical(matches!(complete::get_status(request.0), Ok(Some(_))).into())
    }
}

entry! {
    /// There are no asynchronous tasks yet, so nobody has a valid one to ask.
    None fn MPIX_Async_get_state(async_thing: AsyncThing) -> ExtraState {
        let _ = async_thing;
        ExtraState(std::ptr::null_mut())
    }
}

// The names that MPI_Remove_error_* had before they were in the standard.

entry! {
    UpdateList fn MPIX_Delete_error_class(errorclass: ErrorClass) {
        oxmpi::error::remove_class(errorclass.0)
    }
}

entry! {
    UpdateList fn MPIX_Delete_error_code(errorcode: ErrorCode) {
        oxmpi::error::remove_code(errorcode.0)
    }
}

entry! {
    UpdateList fn MPIX_Delete_error_string(errorcode: ErrorCode) {
        oxmpi::error::remove_string(errorcode.0)
    }
}

stub! {
    Allocate fn MPIX_Comm_create_errhandler_x(
        comm_errhandler_fn_x: CommErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    );

    Allocate fn MPIX_File_create_errhandler_x(
        comm_errhandler_fn_x: FileErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    );

    UpdateList fn MPIX_Info_set_hex(info: Info, key: Text, value: SendBuffer, value_size: Int);

    Allocate fn MPIX_Session_create_errhandler_x(
        comm_errhandler_fn_x: SessionErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    );

    AccessOnly fn MPIX_Type_iov(
        datatype: Datatype, iov_offset: LargeCount, iov: Out<Iov>, max_iov_len: LargeCount,
        actual_iov_len: Out<LargeCount>,
    );

    AccessOnly fn MPIX_Type_iov_len(
        datatype: Datatype, max_iov_bytes: LargeCount, iov_len: Out<LargeCount>,
        actual_iov_bytes: Out<LargeCount>,
    );

    Allocate fn MPIX_Win_create_errhandler_x(
        comm_errhandler_fn_x: WinErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    );
}
