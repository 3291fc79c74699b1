//! Opening, closing and deleting files.
//!
//! Invariant: either all ranks have the file, or all get an error of one class and no descriptor is left.

use super::agree::{NOTHING, Values, same};
use super::amode;
use super::board::{Board, Reserved};
use super::collective::{Frames, Tiling};
use super::errors::failure;
use super::file::{self, File};
use super::hints;
use super::operations::Operations;
use super::pointer::{self, Pointer};
use super::view::View;
use crate::assembly::{self, NameOf, agree_on, has_failed};
use crate::comm::Comm;
use crate::engine::{self, waits::Object};
use crate::errhandler::Attached;
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::os::file::{self as os, File as Descriptor, How, Nature};
use crate::sync::{AtomicBool, AtomicI64};
use parking_lot::{Mutex, RwLock};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a rank asks for.
pub struct Wish {
    pub path: PathBuf,
    pub amode: i32,
    pub hints: Info,
}

/// File systems that programs name in front of a file's name; the kernel knows by itself.
const PREFIXES: [&[u8]; 9] = [
    b"ufs:",
    b"nfs:",
    b"testfs:",
    b"xfs:",
    b"lustre:",
    b"gpfs:",
    b"panfs:",
    b"pvfs2:",
    b"panasas:",
];

/// The name without what says which file system it is on.
///
/// Errors: MPI_ERR_BAD_FILE for an empty one.
fn without_prefix(path: PathBuf) -> Result<PathBuf> {
    let bytes = path.into_os_string().into_vec();
    let prefix = PREFIXES.iter().find(|prefix| bytes.starts_with(prefix));
    let rest = &bytes[prefix.map_or(0, |prefix| prefix.len())..];
    if rest.is_empty() {
        return fail!(Class::BadFile, "filename is empty");
    }
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(rest)))
}

fn checked(wish: Result<Wish>) -> Result<Wish> {
    let wish = wish?;
    amode::check(wish.amode)?;
    Ok(Wish {
        path: without_prefix(wish.path)?,
        ..wish
    })
}

/// Opens the file here, and looks what it is.
fn open_one(wish: &Wish, board: &Board, is_first: bool) -> Result<(Descriptor, Values)> {
    let rank = board.assembly.rank() as i32;
    let only_writes = wish.amode & amode::WRONLY != 0;
    let mut how = How {
        // Mappings for writing need a descriptor that can be read, too.
        reads: true,
        writes: wish.amode & amode::RDONLY == 0,
        creates: is_first && wish.amode & amode::CREATE != 0,
        exclusive: is_first && wish.amode & amode::EXCL != 0,
        permissions: hints::permissions_of(&wish.hints),
    };
    let failed = |what, why: &std::io::Error| failure(what, &wish.path, rank, why);
    let mut descriptor = Descriptor::open(&wish.path, &how);
    let is_refused = |why: &std::io::Error| why.raw_os_error() == Some(libc::EACCES);
    if only_writes && descriptor.as_ref().is_err_and(is_refused) {
        how.reads = false;
        descriptor = Descriptor::open(&wish.path, &how);
    }
    let is_missing = |why: &std::io::Error| why.raw_os_error() == Some(libc::ENOENT);
    let was_made = wish.amode & amode::CREATE != 0 && !is_first && board.spans_nodes();
    if was_made && descriptor.as_ref().is_err_and(is_missing) {
        os::look_into_folder_of(&wish.path);
        descriptor = Descriptor::open(&wish.path, &how);
    }
    let descriptor = match descriptor {
        Err(why) if was_made && is_missing(&why) => {
            return Err(failed("open", &why).context(
                "rank 0 has the file open, and it is not there on another host: all hosts have to share its file system",
            ));
        }
        descriptor => descriptor.map_err(|why| failed("open", &why))?,
    };
    if board.spans_nodes() {
        descriptor.refuse_windows();
    }
    let facts = descriptor.facts().map_err(|why| failed("fstat", &why))?;
    match facts.nature {
        Nature::Regular => {}
        Nature::Device => descriptor
            .wait_for_device()
            .map_err(|why| failed("fcntl", &why))?,
        Nature::Directory | Nature::Stream => {
            return fail!(
                Class::BadFile,
                "filename is {:?}, a directory, FIFO or socket and no file with positions",
                wish.path
            );
        }
    }
    let mut values = NOTHING;
    (values[0], values[1], values[2]) = (facts.device, facts.inode, facts.size);
    Ok((descriptor, values))
}

/// MPI_File_open: collective over an intracommunicator. `handler` is what the file's error handler is.
///
/// Errors: MPI_ERR_AMODE, MPI_ERR_NOT_SAME for different modes or files, MPI_ERR_NO_MEM, what open says; on all ranks if on one.
pub fn open(
    comm: &Comm,
    function: &'static str,
    wish: Result<Wish>,
    handler: Attached,
) -> Result<&'static File> {
    let brought = checked(wish).and_then(|wish| Ok((wish, Reserved::new(comm)?)));
    let words = match &brought {
        Ok((wish, reserved)) => {
            let birth = assembly::new_birth(comm);
            [0, wish.amode as u64, reserved.offset(), birth]
        }
        Err(_) => [0; 4],
    };
    let ((wish, mut reserved), all) = agree_on(comm, function, brought, words, |rank, class| {
        has_failed(rank, &comm.title(), class)
    })?;
    same("amode", all.iter().map(|words| words[1] as i64))?;
    let about = (Object::File(all[0][3]), file::name_of as NameOf);
    let board = Board::new(comm, function, all[0][2], about, &mut reserved)?;
    // From now on the last rank to leave the board gives it back.
    reserved.keep();
    let mut opening = Opening {
        file: File {
            handle: 0,
            // Whatever the working directory is when it is closed.
            delete_on_close: (wish.amode & amode::DELETE_ON_CLOSE != 0)
                .then(|| std::path::absolute(&wish.path).unwrap_or_else(|_| wish.path.clone())),
            path: wish.path.clone(),
            amode: wish.amode,
            descriptor: None,
            identity: (0, 0),
            board,
            view: RwLock::new(Arc::new(View::of_bytes()?)),
            position: AtomicI64::new(0),
            errhandler: handler,
            info: Mutex::new(hints::of(&wish.hints, comm.nodes().is_some())?),
            atomic: AtomicBool::new(false),
            locks_writes: false,
            turn: Mutex::new(()),
            ranges: OnceLock::new(),
            has_long_runs: AtomicBool::new(true),
            tiling: Mutex::new(Tiling::Unknown),
            frames: Mutex::new(Frames::Untried),
            split: Mutex::new(None),
            operations: Operations::default(),
        },
    };
    opening.agree(function, &wish)?;
    let Opening { file } = opening;
    let file = file::add(|handle| File { handle, ..file })?;
    file.board.assembly.tell_name(file.handle);
    Ok(file)
}

/// A file that is being opened.
struct Opening {
    file: File,
}

impl Opening {
    /// All ranks open the file; where it may have to be made, the lowest one first, which alone may do that.
    fn agree(&mut self, function: &'static str, wish: &Wish) -> Result<()> {
        let rank = self.file.rank();
        let mut own = Ok(());
        let mut values = NOTHING;
        let mut made = false;
        if wish.amode & amode::CREATE != 0 {
            if rank == 0 {
                own = self.keep(open_one(wish, &self.file.board, true), &mut values);
            }
            made = rank == 0 && own.is_ok() && wish.amode & amode::EXCL != 0;
            self.round(function, own, values)?;
            own = Ok(());
        }
        if self.file.descriptor.is_none() {
            own = self.keep(open_one(wish, &self.file.board, false), &mut values);
        }
        let spans_nodes = self.file.board.spans_nodes();
        let mut whole = PathBuf::new();
        if spans_nodes && own.is_ok() {
            (whole, values[3]) = pointer::whole_path(&wish.path);
            values[4] = pointer::random();
        }
        let agreed = self.round(function, own, values).and_then(|all| {
            // Each host numbers its devices itself.
            let is_other = |(rank, values): (usize, &Values)| {
                let neighbour = &all[self.file.board.first_on_node_of(rank)];
                values[0] != neighbour[0] || values[1] != all[0][1]
            };
            match all.iter().enumerate().position(is_other) {
                None => Ok(all),
                Some(rank) => fail!(
                    Class::NotSame,
                    "filename is {:?}: ranks 0 and {rank} have opened different files",
                    wish.path
                ),
            }
        });
        if agreed.is_err() && made {
            let _ = os::unlink(&wish.path);
        }
        let all = agreed?;
        let (values, own) = (all[0], all[self.file.board.assembly.rank()]);
        self.file.identity = (own[0], own[1]);
        if let Pointer::Apart(apart) = self.file.board.pointer() {
            let is_same = all.iter().all(|values| values[3] == all[0][3]);
            apart.put_beside(&whole, values[4], is_same);
        }
        self.file.locks_writes = spans_nodes && self.file.descriptor()?.is_on_nfs();
        if wish.amode & amode::APPEND != 0 {
            let end = values[2] as i64;
            self.file.position = AtomicI64::new(end);
            self.file.put_pointer(end);
            // Nobody counts with the shared pointer before.
            self.round(function, Ok(()), NOTHING)?;
        }
        Ok(())
    }

    fn keep(&mut self, opened: Result<(Descriptor, Values)>, values: &mut Values) -> Result<()> {
        let (descriptor, found) = opened?;
        self.file.descriptor = Some(descriptor);
        *values = found;
        Ok(())
    }

    fn round(
        &self,
        function: &'static str,
        own: Result<()>,
        values: Values,
    ) -> Result<Vec<Values>> {
        self.file.agree_on(function, own, values)
    }
}

/// MPI_File_close: collective. The file is gone here whatever the result says.
///
/// Errors: MPI_ERR_OTHER while a split operation is active (then it is not closed); what unlink and close say.
pub fn close(file: &'static File, function: &'static str) -> Result<()> {
    file.check_no_split()?;
    file.settle_all(function);
    let close = || {
        let closed = file.descriptor()?.close();
        closed.map_err(|why| file.failure("close", &why))
    };
    let (mut result, mut closed) = (Ok(()), Ok(()));
    let spans_nodes = file.board.spans_nodes();
    if spans_nodes {
        // Before anybody removes it: only now a client of NFS may hand over the last data.
        closed = close();
        end_pointer(file, function);
    }
    if let Some(path) = &file.delete_on_close {
        let mut own = Ok(());
        result = file.agree(function, Ok(()));
        if file.rank() == 0 && result.is_ok() {
            own = match os::unlink(path) {
                // It is gone, as was wanted.
                Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(()),
                done => done.map_err(|why| file.failure("unlink", &why)),
            };
        }
        result = result.and_then(|()| file.agree(function, own));
    }
    if !spans_nodes {
        closed = close();
    }
    file::remove(file.handle);
    result.and(closed)
}

/// The small file that has the shared file pointer of several nodes is gone, if there was one, when rank 0 returns; or, if a rank is lost, when
/// the last of the others does. A lost rank is no error: nothing is waited for that it has to do.
fn end_pointer(file: &File, function: &'static str) {
    let Pointer::Apart(apart) = file.board.pointer() else {
        return;
    };
    let was_open = apart.close();
    let mut values = NOTHING;
    values[0] = was_open.into();
    let assembly = &file.board.assembly;
    let process = |rank: usize| assembly.members().process(rank as i32);
    match file.agree_on(function, Ok(()), values) {
        // All have come, so nobody uses it. Rank 0 may have died since.
        Ok(all) => {
            if all.iter().any(|values| values[0] != 0)
                && (file.rank() == 0 || engine::has_died(process(0)))
            {
                apart.remove();
            }
        }
        // Others may be in front of this call, and use it.
        Err(error) => apart.leave(assembly.ranks(), |rank| {
            let process = process(rank);
            error.lost() == Some(process) || engine::has_died(process)
        }),
    }
}

/// MPI_File_delete. A file that is open stays until it is closed everywhere, without its name.
///
/// Errors: what unlink says.
pub fn delete(path: PathBuf) -> Result<()> {
    let path = without_prefix(path)?;
    os::unlink(&path).map_err(|why| {
        let text = format!("unlink of file {path:?} failed: {why}");
        let errno = why.raw_os_error().unwrap_or(libc::EIO);
        let class = match errno {
            // What unlink says of a directory.
            libc::EPERM if Path::new(&path).is_dir() => Class::BadFile,
            _ => super::errors::class(errno),
        };
        crate::error::Error::new(class, text)
    })
}
