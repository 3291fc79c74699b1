//! The end of datatypes: the handle dies at once, and so does the type if nothing can be using it; else the collector has it.
//!
//! Invariant: a type goes at once only below MPI_THREAD_MULTIPLE, where this call is the only one, and when nothing pends.

use super::collector::{self, Freed, When};
use crate::datatype::{self, Datatype};
use crate::engine::epochs::{self, GracePeriod};
use crate::engine::{self, roots};
use crate::error::Result;
use std::cell::RefCell;
use std::collections::VecDeque;

/// One call makes at most two types of the library's own, and so may one in a callback inside of it.
const OWN: usize = 4;

/// MPI_Type_free, after the attributes are gone. By the handle: a reference would have to stay good until the end.
pub fn free(handle: i32) -> Result<()> {
    let Some(born) = datatype::may_be_freed(handle)? else {
        return Ok(());
    };
    let alone = !engine::is_multiple() && !epochs::in_callback() && roots::number() == 0;
    if alone && collector::gives_back() && datatype::remove(handle, collector::unnamed) {
        return Ok(());
    }
    let grace = GracePeriod::of_datatype(born);
    datatype::retire(handle);
    collector::add(
        Freed {
            handle,
            born,
            grace,
        },
        When::Enough,
    );
    Ok(())
}

/// Ends one [`datatype::keep`].
pub fn let_go(datatype: &'static Datatype) {
    let handle = datatype.handle;
    if datatype::let_go(datatype) {
        collector::unnamed(handle);
    }
}

/// The last types that the library made for calls of one thread.
struct Own(VecDeque<(i32, u64)>);

thread_local! {
    static LAST: RefCell<Own> = const { RefCell::new(Own(VecDeque::new())) };
}

/// As [`free`], of a type that the library made for the call in progress on this thread, which will use it yet.
pub fn free_when_used(datatype: &'static Datatype) {
    let (handle, born) = (datatype.handle, datatype.born());
    datatype::retire(handle);
    // A thread that runs its last destructors has no place for them any more: those few stay.
    let _ = LAST.try_with(|last| {
        let mut last = last.borrow_mut();
        last.0.push_back((handle, born));
        while last.0.len() > OWN
            && let Some(own) = last.0.pop_front()
        {
            give(own);
        }
    });
}

impl Drop for Own {
    fn drop(&mut self) {
        self.0.drain(..).for_each(give);
    }
}

/// In no call any more, but maybe in a request.
fn give((handle, born): (i32, u64)) {
    let freed = Freed {
        handle,
        born,
        grace: GracePeriod::none(),
    };
    collector::add(freed, When::Enough);
}
