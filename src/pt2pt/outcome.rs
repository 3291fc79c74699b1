//! What a completed operation leaves, and what the completing functions know of handles.

use crate::datatype::Status;
use crate::engine::requests;
use crate::engine::{has_threads, in_use};
use crate::error::{Class, Error, Result, fail};

/// One completed operation. The status is good also when it failed: a message too long says who sent it.
#[derive(Debug)]
pub struct Completion {
    pub status: Status,
    pub error: Option<Error>,
}

impl Completion {
    #[inline(always)]
    pub(super) fn of(status: Status) -> Self {
        Self {
            status,
            error: None,
        }
    }

    #[cold]
    pub fn failed(error: Error) -> Self {
        Self {
            status: Status::empty(),
            error: Some(error),
        }
    }

    /// The error, if there is one.
    #[inline(always)]
    pub fn into_result(self) -> Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}

pub(super) fn unknown<T>(handle: i32) -> Result<T> {
    fail!(
        Class::Request,
        "request is {:#010x}, which is not a request (or was completed or freed before)",
        handle
    )
}

/// The engines of some requests, a set of bits that is not empty.
#[inline]
pub(super) fn engines_of(handles: &[i32]) -> u32 {
    if !has_threads() {
        return 1;
    }
    let mut engines = 0;
    for handle in handles {
        if let Some(index) = requests::index_of(*handle) {
            engines |= 1 << requests::engine_of(index);
        }
    }
    // A handle of an engine that is not in use is no request.
    match engines & in_use() {
        0 => 1,
        engines => engines,
    }
}
