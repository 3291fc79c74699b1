//! Memory that processes of one node share and give back, unlike the segment's: a memfd each.
//!
//! Whoever makes a region tells others its [`RegionName`], in a message; they open it as the segment is opened that was lost on the way to a
//! rank: by the maker's descriptor in /proc. Invariant: the memory lives as long as one of its [`Region`]s, in whatever process; the
//! maker's must live until all have opened it.

use crate::os::memory::{self, Mapping};
use crate::os::process::identity;
use std::fs::OpenOptions;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// A mapped region.
pub struct Region {
    fd: OwnedFd,
    map: Mapping,
}

/// How others find a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionName {
    /// The maker's process id and its descriptor.
    pid: i32,
    fd: i32,
    inode: u64,
    bytes: u64,
}

impl RegionName {
    /// Its size in a message.
    pub const BYTES: usize = 24;

    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0u8; Self::BYTES];
        out[..4].copy_from_slice(&self.pid.to_ne_bytes());
        out[4..8].copy_from_slice(&self.fd.to_ne_bytes());
        out[8..16].copy_from_slice(&self.inode.to_ne_bytes());
        out[16..].copy_from_slice(&self.bytes.to_ne_bytes());
        out
    }

    pub fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let half = |at: usize| {
            i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        Self {
            pid: half(0),
            fd: half(4),
            inode: word(8),
            bytes: word(16),
        }
    }
}

impl Region {
    /// Makes a region of zeros, all of it allocated.
    ///
    /// Errors: out of memory or of descriptors.
    pub fn make(bytes: usize) -> Result<Region> {
        let fd = memory::create("oxmpi-region", bytes as u64, false)?;
        memory::allocate(fd.as_fd(), 0, bytes as u64)?;
        let map = Mapping::of(fd.as_fd())?;
        Ok(Region { fd, map })
    }

    /// How other processes of this node find it.
    ///
    /// Errors: the descriptor is not what it was.
    pub fn name(&self) -> Result<RegionName> {
        let fd = self.fd.as_raw_fd();
        let gone = || Error::new(ErrorKind::NotFound, "the region's descriptor was closed");
        let (inode, _) = identity(fd).ok_or_else(gone)?;
        Ok(RegionName {
            pid: std::process::id() as i32,
            fd,
            inode,
            bytes: self.bytes() as u64,
        })
    }

    /// Opens a region of another process of this node.
    ///
    /// Errors: it is not there any more, or the kernel does not let this process have it.
    pub fn open(name: &RegionName) -> Result<Region> {
        let path = format!("/proc/{}/fd/{}", name.pid, name.fd);
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let found = file.metadata()?;
        if (found.ino(), found.len()) != (name.inode, name.bytes) {
            return Err(Error::new(
                ErrorKind::NotFound,
                "the region was given back before it was opened",
            ));
        }
        let fd = OwnedFd::from(file);
        let map = Mapping::of(fd.as_fd())?;
        Ok(Region { fd, map })
    }

    /// Where it is in this process; others have it elsewhere.
    pub fn base(&self) -> *mut u8 {
        self.map.base()
    }

    pub fn bytes(&self) -> usize {
        self.map.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_mapped(inode: u64) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let inode = inode.to_string();
        maps.lines()
            .filter(|line| line.contains("oxmpi-region"))
            .any(|line| line.split_whitespace().nth(4) == Some(&inode))
    }

    #[test]
    fn what_one_stores_the_other_sees_and_the_last_gives_the_memory_back() {
        let one = Region::make(100_000).unwrap();
        let name = RegionName::decode(&one.name().unwrap().encode());
        assert_eq!(name, one.name().unwrap());
        let other = Region::open(&name).unwrap();
        assert_eq!(other.bytes(), 100_000);
        assert_ne!(one.base(), other.base());
        // SAFETY: inside of both mappings, and only this thread has them.
        #[allow(unsafe_code)]
        let seen = unsafe {
            one.base().add(99_999).write(7);
            other.base().add(99_999).read_volatile()
        };
        assert_eq!(seen, 7);
        drop(one);
        assert!(is_mapped(name.inode));
        assert!(Region::open(&name).is_err());
        drop(other);
        assert!(!is_mapped(name.inode));
    }
}
