//! Sizes, synchronization, atomicity, hints, views: what changes a file for all its ranks.

use super::agree::{NOTHING, same};
use super::amode;
use super::collective::{LONG, Tiling};
use super::file::File;
use super::hints;
use super::view::{Types, View};
use crate::datatype::Datatype;
use crate::error::{Class, Result, fail};
use crate::info::{Info, kinds};
use crate::os::file::File as Descriptor;
use crate::sync::Ordering;
use std::sync::Arc;

/// MPI_DISPLACEMENT_CURRENT.
pub const DISPLACEMENT_CURRENT: i64 = -54_278_278;
/// Bytes of zeros that are written at once.
const ZEROS: usize = 64 << 10;

impl File {
    /// MPI_File_get_size.
    pub fn bytes(&self) -> Result<u64> {
        if self.is_atomic() {
            self.look_again();
        }
        let facts = self.descriptor()?.facts();
        facts
            .map(|facts| facts.size)
            .map_err(|why| self.failure("fstat", &why))
    }

    /// What other hosts have told the file system is what this one sees from here on.
    fn look_again(&self) {
        if let (true, Ok(descriptor)) = (self.board.spans_nodes(), self.descriptor()) {
            descriptor.forget_cached(self.amode & amode::RDONLY == 0);
        }
    }

    /// Has the kernel hand over what ranks of this node have written, once a node.
    fn flush(&self) -> Result<()> {
        let rank = self.board.assembly.rank();
        if self.board.first_on_node_of(rank) != rank {
            return Ok(());
        }
        let done = self.descriptor()?.sync();
        done.map_err(|why| self.failure("fsync", &why))
    }

    fn check_size(&self, size: i64) -> Result<u64> {
        if size < 0 {
            return fail!(Class::Arg, "size is {size}; it must not be negative");
        }
        if self.amode & amode::RDONLY != 0 {
            return self.read_only();
        }
        self.check_not_sequential()?;
        Ok(size as u64)
    }

    /// What the lowest rank does for all, after they have agreed on a size.
    fn resize(
        &self,
        function: &'static str,
        size: i64,
        what: &str,
        change: impl FnOnce(&Descriptor, u64) -> std::io::Result<()>,
    ) -> Result<()> {
        let mut checked = self.check_no_split().and_then(|()| self.check_size(size));
        if self.board.spans_nodes() {
            // What a host has not handed over yet would come behind the new end, or be missing from what one of them takes for the old one.
            checked = checked.and_then(|size| self.flush().map(|()| size));
        }
        self.agree_same(function, "size", checked)?;
        let mut own = Ok(());
        if self.rank() == 0 {
            self.look_again();
            own = change(self.descriptor()?, size as u64).map_err(|why| self.failure(what, &why));
        }
        let agreed = self.agree(function, own);
        self.look_again();
        agreed
    }

    /// MPI_File_set_size.
    ///
    /// Errors: MPI_ERR_ARG, MPI_ERR_NOT_SAME, MPI_ERR_READ_ONLY, MPI_ERR_UNSUPPORTED_OPERATION, what ftruncate says.
    pub fn set_size(&self, function: &'static str, size: i64) -> Result<()> {
        self.resize(function, size, "ftruncate", Descriptor::set_size)
    }

    /// MPI_File_preallocate. Where the file system cannot, zeros are written behind the file's end.
    ///
    /// Errors: as for [`File::set_size`].
    pub fn preallocate(&self, function: &'static str, size: i64) -> Result<()> {
        self.resize(function, size, "fallocate", |descriptor, bytes| {
            if bytes == 0 {
                return Ok(());
            }
            match descriptor.allocate(bytes) {
                Err(why) if matches!(why.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
                    write_zeros(descriptor, bytes)
                }
                done => done,
            }
        })
    }

    /// MPI_File_sync: what all ranks have written is on the storage. One rank of each node tells the kernel, which has the data of all of
    /// them; then each one sees what the others have written.
    ///
    /// Errors: what fsync says.
    pub fn sync(&self, function: &'static str) -> Result<()> {
        // All that was begun is to be in the file.
        self.settle_all(function);
        self.agree(function, self.check_no_split())?;
        let agreed = self.agree(function, self.flush());
        self.look_again();
        agreed
    }

    /// MPI_File_set_atomicity.
    ///
    /// Errors: MPI_ERR_NOT_SAME, MPI_ERR_NO_MEM.
    pub fn set_atomicity(&self, function: &'static str, atomic: bool) -> Result<()> {
        let mut own = self.check_no_split();
        if atomic {
            own = own.and_then(|()| self.prepare_atomic());
        }
        let own = own.map(|()| atomic.into());
        self.agree_same(function, "flag", own)?;
        self.atomic.store(atomic, Ordering::Relaxed);
        Ok(())
    }

    /// The hints in use.
    pub fn get_info(&self) -> Info {
        let mut info = self.info.lock().clone();
        // Both are short enough.
        let _ = info.set(kinds::KEY, kinds::ALWAYS);
        info
    }

    pub fn set_info(&self, hints: &Info) -> Result<()> {
        hints::change(&mut self.info.lock(), hints)
    }

    /// MPI_File_set_view.
    ///
    /// Errors: MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_CONVERSION; MPI_ERR_NOT_SAME if extents of etypes or representations differ.
    pub fn set_view(
        &self,
        function: &'static str,
        displacement: i64,
        types: Result<Types>,
        datarep: Result<String>,
        hints: Result<Info>,
    ) -> Result<()> {
        let is_current = displacement == DISPLACEMENT_CURRENT;
        let checked = self.checked_view(displacement, types, datarep, hints);
        let mut values = NOTHING;
        let (own, new) = match checked {
            Ok((view, hints)) => {
                values[0] = view.etype_extent as u64;
                values[1] = view.datarep.bytes().fold(0, |hash: u64, byte| {
                    hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
                });
                values[2] = view.has_runs_of(LONG).into();
                (Ok(()), Some((view, hints)))
            }
            Err(error) => (Err(error), None),
        };
        // A rank that has moved it sees that.
        let seen = self.pointer_seen();
        values[3] = *seen.as_ref().unwrap_or(&0) as u64;
        let own = own.and(seen.map(|_| ()));
        let all = self.agree_on(function, own, values)?;
        same(
            "the extent of etype",
            all.iter().map(|values| values[0] as i64),
        )?;
        same(
            "the hash of datarep",
            all.iter().map(|values| values[1] as i64),
        )?;
        if let Some((mut view, hints)) = new {
            if is_current {
                // It only grows in a sequential file, and each rank has seen what it has moved itself.
                let most = all.iter().map(|values| values[3]).max().unwrap_or(0);
                view.displacement = self.place_of_shared(most);
            }
            hints::change(&mut self.info.lock(), &hints)?;
            *self.view.write() = Arc::new(view);
        }
        let long = all.iter().all(|values| values[2] != 0);
        self.has_long_runs.store(long, Ordering::Relaxed);
        *self.tiling.lock() = Tiling::Unknown;
        self.position.store(0, Ordering::Relaxed);
        if all.iter().all(|values| values[3] == 0) {
            return Ok(());
        }
        self.put_pointer(0);
        self.agree(function, Ok(()))
    }

    /// The byte of the file that a shared pointer stands at, in the view that there is.
    fn place_of_shared(&self, etypes: u64) -> i64 {
        let view = self.view();
        view.place(etypes.saturating_mul(view.unit))
    }

    fn checked_view(
        &self,
        displacement: i64,
        types: Result<Types>,
        datarep: Result<String>,
        hints: Result<Info>,
    ) -> Result<(View, Info)> {
        self.check_no_split()?;
        let (types, datarep, hints) = (types?, datarep?, hints?);
        let sequential = self.amode & amode::SEQUENTIAL != 0;
        let displacement = match displacement {
            // As far as this rank can know; see above.
            DISPLACEMENT_CURRENT if sequential => self.place_of_shared(self.pointer_seen()? as u64),
            DISPLACEMENT_CURRENT => {
                return fail!(
                    Class::Arg,
                    "disp is MPI_DISPLACEMENT_CURRENT, which needs a file opened with MPI_MODE_SEQUENTIAL"
                );
            }
            _ if sequential => {
                return fail!(
                    Class::Arg,
                    "disp is {displacement}; a file opened with MPI_MODE_SEQUENTIAL needs MPI_DISPLACEMENT_CURRENT"
                );
            }
            bytes => bytes,
        };
        let writes = self.amode & amode::RDONLY == 0;
        let view = View::new(displacement, types, &datarep, writes)?;
        Ok((view, hints))
    }

    /// MPI_File_get_type_extent.
    ///
    /// Errors: MPI_ERR_CONVERSION.
    pub fn type_extent(&self, datatype: &'static Datatype) -> Result<i64> {
        self.view().extent(datatype)
    }

    /// MPI_File_get_view: displacement, handles of etype and filetype for the program, representation.
    pub fn get_view(&self) -> Result<(i64, i32, i32, String)> {
        let view = self.view();
        let (etype, filetype) = view.give()?;
        Ok((view.displacement, etype, filetype, view.datarep.clone()))
    }
}

/// Makes a file as long as it is to be, without touching what it has.
fn write_zeros(descriptor: &Descriptor, bytes: u64) -> std::io::Result<()> {
    let zeros = vec![0u8; ZEROS];
    let mut at = descriptor.facts()?.size;
    // Told at once: to write until the file system is full would take away what others need.
    if bytes.saturating_sub(at) > descriptor.space() {
        return Err(std::io::Error::from_raw_os_error(libc::ENOSPC));
    }
    while at < bytes {
        let length = (bytes - at).min(ZEROS as u64) as usize;
        // SAFETY: memory of this function's.
        let (done, result) = unsafe { descriptor.write_at(zeros.as_ptr(), length, at) };
        result?;
        at += done as u64;
    }
    Ok(())
}
