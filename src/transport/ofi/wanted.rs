//! What a provider wants to be told of memory that its network card uses.

use super::bindings::{FI_MR_ENDPOINT, FI_MR_LOCAL};

/// How a provider wants memory to be registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Memory has to be registered.
    pub local: bool,
    /// A registration is bound to the endpoint.
    pub by_endpoint: bool,
}

impl Wanted {
    pub fn of(mr_mode: i32) -> Wanted {
        Wanted {
            local: mr_mode as u32 & FI_MR_LOCAL != 0,
            by_endpoint: mr_mode as u32 & FI_MR_ENDPOINT != 0,
        }
    }
}
