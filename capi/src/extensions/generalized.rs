//! Generalized requests that the library polls, an extension of MPICH.

use crate::decode;
use crate::external::Generalized;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Class;
use oxmpi::fail;
use oxmpi::pt2pt::generalized;
use std::sync::{Mutex, PoisonError};

/// The functions of a class: query, free, cancel, poll.
type Functions = (
    GrequestQueryFunction,
    GrequestFreeFunction,
    GrequestCancelFunction,
    GrequestPollFunction,
);

/// The classes made; a handle is the position. They are never freed.
static CLASSES: Mutex<Vec<Functions>> = Mutex::new(Vec::new());

// The function that waits for several is not called: waiting calls poll, and make progress of all else meanwhile.

entry! {
    Allocate fn MPIX_Grequest_start(
        query_fn: GrequestQueryFunction, free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction, poll_fn: GrequestPollFunction,
        wait_fn: GrequestWaitFunction, extra_state: ExtraState, request: Out<Request>,
    ) {
        let _ = wait_fn;
        decode::running()?;
        request.not_null()?;
        let functions = Generalized::boxed(query_fn, free_fn, cancel_fn, poll_fn.0, extra_state)?;
        request.set(Request(generalized::start(functions)?))
    }
}

entry! {
    Allocate fn MPIX_Grequest_class_create(
        query_fn: GrequestQueryFunction, free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction, poll_fn: GrequestPollFunction,
        wait_fn: GrequestWaitFunction, greq_class: Out<GrequestClass>,
    ) {
        let _ = wait_fn;
        greq_class.not_null()?;
        let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
        classes.push((query_fn, free_fn, cancel_fn, poll_fn));
        greq_class.set(GrequestClass(classes.len() as i32))
    }
}

entry! {
    Allocate fn MPIX_Grequest_class_allocate(
        greq_class: GrequestClass, extra_state: ExtraState, request: Out<Request>,
    ) {
        decode::running()?;
        request.not_null()?;
        let class = CLASSES.lock().unwrap_or_else(PoisonError::into_inner).get((greq_class.0 as usize).wrapping_sub(1)).copied();
        let Some((query, free, cancel, poll)) = class else {
            return fail!(
                Class::Arg,
                "greq_class is {:#x}, which MPIX_Grequest_class_create has not made",
                greq_class.0
            );
        };
        let functions = Generalized::boxed(query, free, cancel, poll.0, extra_state)?;
        request.set(Request(generalized::start(functions)?))
    }
}
