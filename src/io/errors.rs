//! Errors of the system as errors of MPI.

use super::convert::Unconverted;
use crate::error::{Class, Error};
use std::io::ErrorKind;
use std::path::Path;

/// The class of an errno.
pub fn class(errno: i32) -> Class {
    match errno {
        libc::ENOENT => Class::NoSuchFile,
        libc::EEXIST => Class::FileExists,
        libc::EACCES | libc::EPERM => Class::Access,
        libc::EROFS => Class::ReadOnly,
        libc::ENOSPC => Class::NoSpace,
        libc::EDQUOT => Class::Quota,
        libc::ETXTBSY | libc::EBUSY => Class::FileInUse,
        libc::ENAMETOOLONG | libc::ENOTDIR | libc::EISDIR | libc::ELOOP | libc::ESPIPE => {
            Class::BadFile
        }
        libc::EFAULT => Class::Buffer,
        libc::ENOMEM => Class::NoMem,
        libc::EOPNOTSUPP | libc::ENOSYS => Class::UnsupportedOperation,
        _ => Class::Io,
    }
}

/// `what` (a function of the C library) has failed for a file on a rank of the file's.
#[cold]
pub fn failure(what: &str, path: &Path, rank: i32, why: &std::io::Error) -> Error {
    if let Some(error) = Unconverted::error(why) {
        return error;
    }
    let text = format!("{what} of file {path:?} failed on rank {rank}: {why}");
    let class = match why.kind() {
        ErrorKind::OutOfMemory => Class::NoMem,
        _ => class(why.raw_os_error().unwrap_or(libc::EIO)),
    };
    Error::new(class, text)
}
