//! Generalized requests and the statuses they fill: external interfaces, chapter 13.

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use crate::types::{
    MPI_Grequest_cancel_function, MPI_Grequest_free_function, MPI_Grequest_query_function,
    MPIX_Grequest_poll_function,
};
use oxmpi::datatype::Status as StatusWords;
use oxmpi::engine::epochs::InCallback;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::pt2pt::generalized::{self, Functions};
use oxmpi::sync::{AtomicBool, Ordering};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

entry! {
    None fn MPI_Status_set_cancelled(status: InOut<Status>, flag: Logical) {
        let mut words = status.read()?;
        words.0.set_cancelled(flag.0 != 0);
        status.set(words)
    }
}

entry! {
    AccessOnly fn MPI_Status_set_elements[_c](status: InOut<Status>, datatype: Datatype, count: Count) {
        let elements = decode::count("count", count)?;
        let datatype = decode::datatype(datatype)?;
        let mut words = status.read()?;
        if words.0.set_elements(datatype, elements).is_none() {
            return fail!(Class::Count, "count is {elements}, too much for a status");
        }
        status.set(words)
    }
}

/// The program's functions, C's or Fortran's.
pub struct Generalized {
    query: MPI_Grequest_query_function,
    free: MPI_Grequest_free_function,
    cancel: MPI_Grequest_cancel_function,
    poll: Option<MPIX_Grequest_poll_function>,
    state: usize,
    is_fortran: AtomicBool,
}

/// query (&extra_state, status, &code)
type FortranQuery = unsafe extern "C" fn(*mut c_void, *mut StatusWords, *mut c_int);
/// free (&extra_state, &code)
type FortranFree = unsafe extern "C" fn(*mut c_void, *mut c_int);
/// cancel (&extra_state, &complete, &code)
type FortranCancel = unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_int);

impl Generalized {
    /// The functions of a request that is to be made; none may be absent.
    pub fn boxed(
        query_fn: GrequestQueryFunction,
        free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction,
        poll_fn: Option<MPIX_Grequest_poll_function>,
        extra_state: ExtraState,
    ) -> Result<Arc<dyn Functions>> {
        let (Some(query), Some(free), Some(cancel)) = (query_fn.0, free_fn.0, cancel_fn.0) else {
            let name = match (query_fn.0, free_fn.0) {
                (None, _) => "query_fn",
                (_, None) => "free_fn",
                _ => "cancel_fn",
            };
            return fail!(Class::Arg, "{name} is NULL");
        };
        Ok(Arc::new(Generalized {
            query,
            free,
            cancel,
            poll: poll_fn,
            state: extra_state.0 as usize,
            is_fortran: AtomicBool::new(false),
        }))
    }

    fn is_fortran(&self) -> bool {
        self.is_fortran.load(Ordering::Relaxed)
    }
}

impl Functions for Generalized {
    fn query(&self, words: &mut StatusWords) -> c_int {
        let _running = InCallback::begin();
        let (state, mut code) = (self.state as *mut c_void, 0);
        if self.is_fortran() {
            // SAFETY: the wrapper of Fortran said that the function has Fortran's prototype.
            unsafe {
                let query =
                    std::mem::transmute::<MPI_Grequest_query_function, FortranQuery>(self.query);
                query(state, words, &mut code);
            }
            return code;
        }
        let mut status = Status(*words).to_c();
        // SAFETY: the program passed the function for this state, and keeps it as long as the request lives.
        let code = unsafe { (self.query)(state, &mut status) };
        *words = Status::of_c(status).0;
        ErrorCode::of_c(code).0
    }

    fn free(&self) -> c_int {
        let _running = InCallback::begin();
        let (state, mut code) = (self.state as *mut c_void, 0);
        if self.is_fortran() {
            // SAFETY: as in `query`.
            unsafe {
                let free =
                    std::mem::transmute::<MPI_Grequest_free_function, FortranFree>(self.free);
                free(state, &mut code);
            }
            return code;
        }
        // SAFETY: as in `query`.
        ErrorCode::of_c(unsafe { (self.free)(state) }).0
    }

    fn cancel(&self, complete: bool) -> c_int {
        let _running = InCallback::begin();
        let (state, mut code, mut complete) = (self.state as *mut c_void, 0, complete.into());
        if self.is_fortran() {
            // SAFETY: as in `query`.
            unsafe {
                let cancel =
                    std::mem::transmute::<MPI_Grequest_cancel_function, FortranCancel>(self.cancel);
                cancel(state, &mut complete, &mut code);
            }
            return code;
        }
        // SAFETY: as in `query`.
        ErrorCode::of_c(unsafe { (self.cancel)(state, complete) }).0
    }

    fn poll(&self) -> c_int {
        let _running = InCallback::begin();
        let mut status = Status(StatusWords::empty()).to_c();
        self.poll.map_or(0, |poll| {
            // SAFETY: as in `query`; MPICH's extension has no Fortran side.
            unsafe { poll(self.state as *mut c_void, &mut status) }
        })
    }

    fn has_poll(&self) -> bool {
        self.poll.is_some()
    }

    fn become_fortran(&self) {
        self.is_fortran.store(true, Ordering::Relaxed);
    }
}

entry! {
    Allocate fn MPI_Grequest_start(
        query_fn: GrequestQueryFunction, free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction, extra_state: ExtraState, request: Out<Request>,
    ) {
        decode::running()?;
        request.not_null()?;
        let functions = Generalized::boxed(query_fn, free_fn, cancel_fn, None, extra_state)?;
        request.set(Request(generalized::start(functions)?))
    }
}

entry! {
    CommIo fn MPI_Grequest_complete(request: Request) {
        decode::running()?;
        generalized::complete(request.0)
    }
}
