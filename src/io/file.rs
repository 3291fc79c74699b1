//! The file object and its lookup.
//!
//! A C program holds the handle of the table as a pointer, which is never followed, Fortran as an integer.

use super::access::Direction;
use super::amode;
use super::board::Board;
use super::collective::{Frames, Tiling};
use super::kind::Begun;
use super::operations::Operations;
use super::ranges::Ranges;
use super::view::View;
use crate::engine::published;
use crate::engine::waits::{Kind, Whom};
use crate::errhandler::Attached;
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, Table};
use crate::info::Info;
use crate::os::file::File as Descriptor;
use crate::sync::{AtomicBool, AtomicI64, Ordering};
use crate::transport::name::NAME_BYTES;
use parking_lot::{Mutex, RwLock};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

static TABLE: Table<File> = Table::new(ObjectType::File);

/// An open file.
pub struct File {
    pub handle: i32,
    pub(super) path: PathBuf,
    /// Absolute path to remove at the close, under MPI_MODE_DELETE_ON_CLOSE.
    pub(super) delete_on_close: Option<PathBuf>,
    pub(super) amode: i32,
    /// `None` when it is closed.
    pub(super) descriptor: Option<Descriptor>,
    pub(super) board: Board,
    pub(super) view: RwLock<Arc<View>>,
    /// The individual file pointer, in etypes of the view.
    pub(super) position: AtomicI64,
    pub errhandler: Attached,
    pub(super) info: Mutex<Info>,
    /// Whether accesses are atomic.
    pub(super) atomic: AtomicBool,
    /// Device and inode.
    pub(super) identity: (u64, u64),
    /// Whether each write has to lock its range: other hosts may write to the file, and theirs is a file system on which only that keeps
    /// neighbouring bytes apart.
    pub(super) locks_writes: bool,
    /// Threads of this process in atomic accesses, where the kernel's locks are used, which do not keep them apart.
    pub(super) turn: Mutex<()>,
    /// Where accesses lock their ranges in atomic mode, once that was asked for.
    pub(super) ranges: OnceLock<Ranges>,
    /// Whether the runs of all ranks' views are so long that no collective access gains by going together.
    pub(super) has_long_runs: AtomicBool,
    pub(super) tiling: Mutex<Tiling>,
    /// The rings of frames, made by the first collective access that goes together.
    pub(super) frames: Mutex<Frames>,
    /// The split collective operation that has begun.
    pub(super) split: Mutex<Option<Begun>>,
    /// Operations that continue after the calls that began them.
    pub(super) operations: Operations,
}

impl File {
    pub fn amode(&self) -> i32 {
        self.amode
    }

    pub(super) fn rank(&self) -> i32 {
        self.board.assembly.rank() as i32
    }

    pub(super) fn descriptor(&self) -> Result<&Descriptor> {
        match &self.descriptor {
            Some(descriptor) => Ok(descriptor),
            None => fail!(Class::File, "{} is closed", self.title()),
        }
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.view.read().clone()
    }

    pub fn is_atomic(&self) -> bool {
        self.atomic.load(Ordering::Relaxed)
    }

    /// The members' group.
    pub fn group(&self) -> Arc<crate::group::Group> {
        self.board.assembly.members().group()
    }

    /// What messages call it.
    pub fn title(&self) -> String {
        format!("file {:?}", self.path)
    }

    /// Fails if the file was not opened for this.
    ///
    /// Errors: MPI_ERR_ACCESS, MPI_ERR_READ_ONLY.
    pub(super) fn check_direction(&self, direction: Direction) -> Result<()> {
        match direction {
            Direction::Read if self.amode & amode::WRONLY != 0 => fail!(
                Class::Access,
                "fh is {}, which was opened with MPI_MODE_WRONLY and cannot be read",
                self.title()
            ),
            Direction::Write if self.amode & amode::RDONLY != 0 => self.read_only(),
            _ => Ok(()),
        }
    }

    #[cold]
    pub(super) fn read_only<T>(&self) -> Result<T> {
        fail!(
            Class::ReadOnly,
            "fh is {}, which was opened with MPI_MODE_RDONLY and cannot be changed",
            self.title()
        )
    }

    /// Fails for a file opened with MPI_MODE_SEQUENTIAL, which has only the shared pointer.
    ///
    /// Errors: MPI_ERR_UNSUPPORTED_OPERATION.
    pub(super) fn check_not_sequential(&self) -> Result<()> {
        if self.amode & amode::SEQUENTIAL == 0 {
            return Ok(());
        }
        fail!(
            Class::UnsupportedOperation,
            "fh is {}, which was opened with MPI_MODE_SEQUENTIAL: only the shared file pointer can be used",
            self.title()
        )
    }

    #[cold]
    pub(super) fn failure(&self, what: &str, why: &std::io::Error) -> crate::error::Error {
        super::errors::failure(what, &self.path, self.rank(), why)
    }
}

/// The file of a handle; `None` for MPI_FILE_NULL (0) and what is no open file.
#[inline]
pub fn get(handle: i32) -> Option<&'static File> {
    TABLE.get(handle)
}

/// The handle that a pointer of a C program stands for; 0 for what cannot be one.
#[inline]
pub fn handle_of(pointer: usize) -> i32 {
    u32::try_from(pointer).map_or(0, |handle| handle as i32)
}

pub(super) fn add(make: impl FnOnce(i32) -> File) -> Result<&'static File> {
    published::describe_files_by(|handle, named| {
        let assembly = &get(handle)?.board.assembly;
        Some(assembly.wait(Kind::FileAccess, Whom::Any, named))
    });
    TABLE.insert_with(make)
}

/// Ends a file's handle.
pub(super) fn remove(handle: i32) {
    // SAFETY: MPI_File_close is the last call of the program that names the file.
    unsafe { TABLE.reclaim(handle) };
}

/// How status pages name a file: by its path, of which the end is left if it is long.
pub(super) fn name_of(handle: i32) -> Option<String> {
    let path = get(handle)?.path.to_string_lossy().into_owned();
    Some(shortened(path))
}

fn shortened(path: String) -> String {
    const LEFT_OUT: &str = "...";
    if path.len() <= NAME_BYTES {
        return path;
    }
    let begin = path.len() - (NAME_BYTES - LEFT_OUT.len());
    let begin = (begin..path.len()).find(|at| path.is_char_boundary(*at));
    format!("{LEFT_OUT}{}", &path[begin.unwrap_or(path.len())..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_path_is_shown() {
        assert_eq!(shortened("/tmp/x".to_owned()), "/tmp/x");
        let long = format!("/tmp/{}/\u{e4}\u{e4}/checkpoint", "long".repeat(20));
        let short = shortened(long);
        assert!(short.len() <= NAME_BYTES && short.len() > NAME_BYTES - 2);
        assert!(short.starts_with("...") && short.ends_with("/checkpoint"));
    }
}
