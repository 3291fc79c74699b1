//! Requests of operations that are complete when they begin.

use crate::datatype::Buffer;
use crate::engine::enter;
use crate::engine::requests::{self, Kind, Phase, Request};
use crate::error::Result;
use crate::pt2pt::complete::Completion;

/// The handle of a request that is complete with this status.
///
/// Errors: that of the operation; then there is no request.
pub fn completed(done: Completion) -> Result<i32> {
    if let Some(error) = done.error {
        return Err(error);
    }
    let request = Request {
        phase: Phase::Complete,
        status: done.status,
        ..Request::new(Kind::General, Buffer::empty(), 0, u32::MAX, 0)
    };
    Ok(requests::handle_of(enter().requests().insert(request)))
}
