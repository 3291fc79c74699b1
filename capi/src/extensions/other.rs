//! Other extensions.

use crate::decode;
use crate::error_return;
use crate::param::*;
use crate::pointers::*;
use crate::types::*;
use oxmpi::datatype::Buffer;
use oxmpi::engine::buffers_in_use;
use oxmpi::engine::epochs::InCallback;
use oxmpi::errhandler::{self as errhandlers, Callback, Target};
use oxmpi::error::{Class, Result};
use oxmpi::pt2pt::get_status;
use oxmpi::{fail, info as infos};
use std::ffi::{c_int, c_void};

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
        let is_complete = matches!(get_status::get_status(request.0), Ok(Some(_)));
        if is_complete {
            buffers_in_use::forget_complete(request.0);
        }
        Logical(is_complete.into())
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

/// The program's function with a state, of one kind of object; the state is given back with the handler.
struct StatefulHandler<F> {
    function: F,
    destructor: Option<MPIX_Destructor_function>,
    state: usize,
    call: unsafe fn(&F, usize, c_int, *mut c_void),
}

impl<F: Send + Sync> Callback for StatefulHandler<F> {
    fn call(&self, object: usize, code: i32) -> i32 {
        let _running = InCallback::begin();
        // SAFETY: `call` is for this prototype; the program keeps function and state as long as the handler is in use.
        unsafe { (self.call)(&self.function, object, code, self.state as *mut c_void) }
        code
    }

    fn set_proxy(&self, _proxy: usize) {}
}

impl<F> Drop for StatefulHandler<F> {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor {
            // SAFETY: the program passed the function for this state; nobody uses it any more.
            unsafe { destructor(self.state as *mut c_void) }
        }
    }
}

/// Makes a handler; `call` calls its function, whose first argument is of another type for each target.
fn create<F: Send + Sync + 'static>(
    target: Target,
    function: Option<F>,
    call: unsafe fn(&F, usize, c_int, *mut c_void),
    (destructor_fn, extra_state): (DestructorFunction, ExtraState),
    errhandler: Out<Errhandler>,
) -> Result<()> {
    errhandler.not_null()?;
    let Some(function) = function else {
        return fail!(Class::Arg, "the function of the error handler is NULL");
    };
    let handler = StatefulHandler {
        function,
        destructor: destructor_fn.0,
        state: extra_state.0 as usize,
        call,
    };
    errhandler.set(Errhandler(errhandlers::create(target, Box::new(handler))?))
}

/// Calls a handler's function for an object of its type.
macro_rules! caller {
    ($function:ty, $object:ty) => {{
        unsafe fn call(with: &$function, object: usize, code: c_int, state: *mut c_void) {
            // SAFETY: the caller's.
            unsafe { with(object as $object, code, state) }
        }
        call
    }};
}

entry! {
    Allocate fn MPIX_Comm_create_errhandler_x(
        comm_errhandler_fn_x: CommErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    ) {
        create(Target::Comm, comm_errhandler_fn_x.0, caller!(MPIX_Comm_errhandler_function_x, MPI_Comm), (destructor_fn, extra_state), errhandler)
    }
}

entry! {
    Allocate fn MPIX_Session_create_errhandler_x(
        comm_errhandler_fn_x: SessionErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    ) {
        create(Target::Session, comm_errhandler_fn_x.0, caller!(MPIX_Session_errhandler_function_x, MPI_Session), (destructor_fn, extra_state), errhandler)
    }
}

entry! {
    Allocate fn MPIX_Win_create_errhandler_x(
        comm_errhandler_fn_x: WinErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    ) {
        create(Target::Win, comm_errhandler_fn_x.0, caller!(MPIX_Win_errhandler_function_x, MPI_Win), (destructor_fn, extra_state), errhandler)
    }
}

entry! {
    Allocate fn MPIX_File_create_errhandler_x(
        comm_errhandler_fn_x: FileErrhandlerFunctionX, destructor_fn: DestructorFunction,
        extra_state: ExtraState, errhandler: Out<Errhandler>,
    ) {
        create(Target::File, comm_errhandler_fn_x.0, caller!(MPIX_File_errhandler_function_x, MPI_File), (destructor_fn, extra_state), errhandler)
    }
}

entry! {
    /// The bytes in two digits each.
    UpdateList fn MPIX_Info_set_hex(info: Info, key: Text, value: SendBuffer, value_size: Int) {
        let object = infos::get_changeable(info.0)?;
        let key = decode::text("key", key)?;
        let length = decode::length("value_size", value_size)?;
        if value.0.is_null() && length > 0 {
            return error_return::null("value");
        }
        let mut text = String::with_capacity(2 * length);
        for at in 0..length {
            // SAFETY: the caller of the C function has so many bytes there.
            let byte = unsafe { value.0.cast::<u8>().add(at).read() };
            text.push_str(&format!("{byte:02x}"));
        }
        object.lock().set(&key, &text)
    }
}

/// Visits the pieces of memory of one element (displacement, bytes), until `visit` says false.
fn pieces(datatype: Datatype, mut visit: impl FnMut(usize, usize) -> bool) -> Result<()> {
    let kind = decode::datatype(datatype)?;
    // SAFETY: only addresses are computed from it, relative to MPI_BOTTOM.
    let whole = unsafe { Buffer::new(std::ptr::null_mut(), 1, kind) };
    whole.runs(0, whole.len(), |address, bytes| {
        visit(address as usize, bytes)
    });
    Ok(())
}

entry! {
    AccessOnly fn MPIX_Type_iov_len(
        datatype: Datatype, max_iov_bytes: LargeCount, iov_len: Out<LargeCount>,
        actual_iov_bytes: Out<LargeCount>,
    ) {
        // Negative: all.
        let most = u64::try_from(max_iov_bytes.0).unwrap_or(u64::MAX);
        let (mut count, mut sum) = (0, 0u64);
        pieces(datatype, |_, bytes| {
            let fits = sum + bytes as u64 <= most;
            if fits {
                count += 1;
                sum += bytes as u64;
            }
            fits
        })?;
        iov_len.set(LargeCount(count))?;
        if actual_iov_bytes.is_null() {
            return Ok(());
        }
        actual_iov_bytes.set(LargeCount(sum as i64))
    }
}

entry! {
    AccessOnly fn MPIX_Type_iov(
        datatype: Datatype, iov_offset: LargeCount, iov: Out<Iov>, max_iov_len: LargeCount,
        actual_iov_len: Out<LargeCount>,
    ) {
        let first = decode::count("iov_offset", Count(iov_offset.0))?;
        let most = decode::count("max_iov_len", Count(max_iov_len.0))?;
        actual_iov_len.not_null()?;
        let (mut at, mut written, mut result) = (0, 0, Ok(()));
        pieces(datatype, |displacement, bytes| {
            if at >= first && written < most {
                let piece = MPIX_Iov { iov_base: displacement as *mut c_void, iov_len: bytes as MPI_Aint };
                result = iov.put(written as usize, Iov(piece));
                written += 1;
            }
            at += 1;
            written < most && result.is_ok()
        })?;
        result?;
        actual_iov_len.set(LargeCount(written as i64))
    }
}
