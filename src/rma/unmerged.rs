//! Stands in for what other branches bring.
use super::access::Region;
use super::window::{Way, Window};
use crate::error::Result;

impl Window {
    pub fn find_region(&self, _: usize, address: usize, _: u64) -> Result<Region> {
        Ok(Region { way: Way::Direct, address, key: address as u64 })
    }
}
