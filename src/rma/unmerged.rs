//! Stands in for what other branches bring: delete at the merge.

use super::window::Way;

/// `access::Region`.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub way: Way,
    pub address: usize,
    pub key: u64,
}
