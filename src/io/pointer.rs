//! The shared file pointer: a word in memory, or, for ranks on several nodes, what all of them know and a small file beside the file.
//!
//! ```text
//! all calls of all ranks     each rank keeps the value that they have agreed on, and the number of such agreements
//! calls of one rank          change the small file under a lock of the kernel: number of the agreement, value
//! ```
//!
//! What stands in the file with an older number than a rank has is out of date; so the file is made by the first access of one rank alone,
//! and programs with only collective accesses never have one. Why a file: the others may be calling nothing of MPI, and a lock of the kernel
//! is what all hosts of a common file system have. Invariant: the value is the file's if any rank may have changed it since the last
//! agreement, which the ranks tell each other in the next one.

use super::errors::failure;
use crate::error::{Class, Result, fail};
use crate::os::file::{self as os, File as Descriptor, How};
use crate::sync::{AtomicI64, Ordering};
use parking_lot::Mutex;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// In etypes of the view.
#[derive(Clone, Copy)]
pub enum Pointer<'a> {
    Word(&'a AtomicI64),
    Apart(&'a Apart),
}

impl Pointer<'_> {
    /// Moves it by what `next(value)` says: what that found, and the new value.
    ///
    /// Errors: those of `next`; then it stays. What the system says of the small file.
    pub fn advance<R>(self, mut next: impl FnMut(i64) -> Result<(R, i64)>) -> Result<R> {
        let word = match self {
            Pointer::Word(word) => word,
            Pointer::Apart(apart) => return apart.change(next),
        };
        let mut from = word.load(Ordering::Relaxed);
        loop {
            let (found, to) = next(from)?;
            match word.compare_exchange_weak(from, to, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(found),
                Err(now) => from = now,
            }
        }
    }

    /// Where this rank has seen it last, without the small file.
    pub fn own_view(self) -> i64 {
        match self {
            Pointer::Word(word) => word.load(Ordering::Relaxed),
            Pointer::Apart(apart) => apart.agreed(),
        }
    }

    /// Errors: what the system says of the small file.
    pub fn load(self) -> Result<i64> {
        match self {
            Pointer::Word(word) => Ok(word.load(Ordering::Relaxed)),
            Pointer::Apart(apart) => apart.load(),
        }
    }
}

/// That of ranks on several nodes.
pub struct Apart {
    rank: i32,
    /// The small file; `None`: the ranks cannot agree on one.
    path: OnceLock<Option<PathBuf>>,
    /// Threads take turns, which the kernel's locks do not keep apart.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    small: Option<Descriptor>,
    /// Agreements so far, and the value of the last one.
    agreed: Record,
    /// Whether this rank has changed the small file since.
    is_changed: bool,
}

/// What stands in the small file. Behind it is a byte for each rank, which is not 0 if the rank has left after a loss.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Record {
    number: u64,
    value: i64,
}

const BYTES: usize = 16;

/// Small files that there may be now.
static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the small files of files that are open: the program ends.
pub fn remove_all() {
    let paths = PATHS
        .try_lock()
        .map(|mut paths| std::mem::take(&mut *paths));
    for path in paths.into_iter().flatten() {
        let _ = os::unlink(&path);
    }
}

/// A number that no other file has.
pub fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// What all ranks have to call alike to find one small file: the file's path without links. Also a hash of it.
pub fn whole_path(path: &Path) -> (PathBuf, u64) {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let bytes = whole.as_os_str().as_bytes();
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    (whole, hash)
}

/// `.name.shfp.number` in the folder of a file, with no longer a name than file systems take.
fn beside(whole: &Path, number: u64) -> PathBuf {
    const LONGEST: usize = 200;
    let name = whole.file_name().unwrap_or_default().as_bytes();
    let mut small = b".".to_vec();
    small.extend_from_slice(&name[..name.len().min(LONGEST)]);
    small.extend_from_slice(format!(".shfp.{number:016x}").as_bytes());
    whole.with_file_name(std::ffi::OsString::from_vec(small))
}

impl Record {
    fn of(bytes: &[u8; BYTES]) -> Record {
        let word = |at: usize| bytes[at..at + 8].try_into().unwrap_or_default();
        Record {
            number: u64::from_ne_bytes(word(0)),
            value: i64::from_ne_bytes(word(8)),
        }
    }

    fn bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.number.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.value.to_ne_bytes());
        bytes
    }

    /// That which counts: an empty file has the number 0, as has a file that nobody has agreed on anything for.
    fn or_newer(self, found: Option<Record>) -> Record {
        found
            .filter(|found| found.number >= self.number)
            .unwrap_or(self)
    }
}

impl Apart {
    pub fn new(rank: i32) -> Apart {
        Apart {
            rank,
            path: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Says where the small file is to be: beside the file with this path, which is the same on all ranks if `is_same`.
    pub fn put_beside(&self, whole: &Path, number: u64, is_same: bool) {
        let path = is_same.then(|| beside(whole, number));
        PATHS.lock().extend(path.clone());
        let _ = self.path.set(path);
    }

    fn has_path(&self) -> bool {
        matches!(self.path.get(), Some(Some(_)))
    }

    fn path(&self) -> Result<&Path> {
        match self.path.get() {
            Some(Some(path)) => Ok(path),
            _ => fail!(
                Class::UnsupportedOperation,
                "ranks on several hosts have no shared file pointer if they open the file by different paths"
            ),
        }
    }

    fn unless<T>(&self, what: &str, done: io::Result<T>) -> Result<T> {
        done.map_err(|why| {
            let path = self.path.get().cloned().flatten().unwrap_or_default();
            failure(what, &path, self.rank, &why).context(
                "the shared file pointer of ranks on several hosts is in a file of its own",
            )
        })
    }

    /// Does something with the small file, which has the lock of it. `None`: there is none, and none is made.
    fn with_small<R>(
        &self,
        state: &mut State,
        makes: bool,
        work: impl FnOnce(&mut State, &Descriptor) -> Result<R>,
    ) -> Result<Option<R>> {
        let path = self.path()?;
        let small = match state.small.take() {
            Some(small) => small,
            None => {
                let how = How {
                    reads: true,
                    writes: true,
                    creates: makes,
                    exclusive: false,
                    permissions: 0o600,
                };
                match Descriptor::open(path, &how) {
                    Err(why) if !makes && why.raw_os_error() == Some(libc::ENOENT) => {
                        return Ok(None);
                    }
                    opened => self.unless("open", opened)?,
                }
            }
        };
        let locked = self.unless("the lock", small.lock(0, 1, true));
        let done = locked.and_then(|()| {
            let done = work(state, &small);
            let unlocked = self.unless("unlocking", small.unlock(0, 1));
            done.and_then(|done| unlocked.map(|()| done))
        });
        state.small = Some(small);
        done.map(Some)
    }

    fn read(&self, small: &Descriptor) -> Result<Option<Record>> {
        let mut bytes = [0; BYTES];
        // SAFETY: memory of this function's.
        let (done, result) = unsafe { small.read_at(bytes.as_mut_ptr(), BYTES, 0) };
        self.unless("pread", result)?;
        Ok((done == BYTES).then(|| Record::of(&bytes)))
    }

    fn write(&self, small: &Descriptor, record: Record) -> Result<()> {
        let bytes = record.bytes();
        // SAFETY: as above.
        let (_, result) = unsafe { small.write_at(bytes.as_ptr(), BYTES, 0) };
        self.unless("pwrite", result)
    }

    fn change<R>(&self, mut next: impl FnMut(i64) -> Result<(R, i64)>) -> Result<R> {
        let mut state = self.state.lock();
        let done = self.with_small(&mut state, true, |state, small| {
            let record = state.agreed.or_newer(self.read(small)?);
            let (found, value) = next(record.value)?;
            self.write(small, Record { value, ..record })?;
            state.is_changed = true;
            Ok(found)
        })?;
        match done {
            Some(found) => Ok(found),
            None => fail!(Class::Intern, "the shared file pointer has no file"),
        }
    }

    fn load(&self) -> Result<i64> {
        let mut state = self.state.lock();
        let agreed = state.agreed;
        if !self.has_path() {
            return Ok(agreed.value);
        }
        let found = self.with_small(&mut state, false, |_, small| self.read(small))?;
        Ok(agreed.or_newer(found.flatten()).value)
    }

    /// Whether the small file may be newer than what was agreed on: what this rank tells in an agreement. `meanwhile`: another thread may be
    /// about to change it.
    pub fn may_be_changed(&self, meanwhile: bool) -> bool {
        self.has_path() && (meanwhile || self.state.lock().is_changed)
    }

    /// What the ranks have agreed on last.
    pub fn agreed(&self) -> i64 {
        self.state.lock().agreed.value
    }

    /// All ranks have agreed on a value.
    pub fn agree(&self, value: i64) {
        let mut state = self.state.lock();
        let number = state.agreed.number + 1;
        state.agreed = Record { number, value };
        state.is_changed = false;
    }

    /// Moves it for all ranks, of which some may have changed the small file; each one says so by [`Apart::agree`] then. Returns where it was.
    ///
    /// Errors: what the system says of the small file.
    pub fn add_for_all(&self, etypes: i64) -> Result<i64> {
        let mut state = self.state.lock();
        let done = self.with_small(&mut state, true, |state, small| {
            let from = state.agreed.or_newer(self.read(small)?).value;
            let next = Record {
                number: state.agreed.number + 1,
                value: from.saturating_add(etypes),
            };
            self.write(small, next)?;
            Ok(from)
        })?;
        Ok(done.unwrap_or(0))
    }

    /// Closes the small file. Returns whether it was open here.
    pub fn close(&self) -> bool {
        self.state.lock().small.take().is_some()
    }

    /// This rank uses the small file no more, and does not know whether others do, of whom some have died: it notes that it has left, and removes
    /// the file if all have. Where there is none, nobody has used it.
    pub fn leave(&self, ranks: usize, has_died: impl Fn(usize) -> bool) {
        let mut state = self.state.lock();
        let left = self.with_small(&mut state, false, |_, small| {
            let mut has_left = vec![0u8; ranks];
            let own = BYTES as u64 + self.rank as u64;
            // SAFETY: memory of this function's.
            let (_, written) = unsafe { small.write_at([1u8].as_ptr(), 1, own) };
            self.unless("pwrite", written)?;
            // SAFETY: as above; what is not there yet stays 0.
            let (_, read) = unsafe { small.read_at(has_left.as_mut_ptr(), ranks, BYTES as u64) };
            self.unless("pread", read)?;
            let mut all = has_left.iter().enumerate();
            Ok(all.all(|(rank, left)| *left != 0 || has_died(rank)))
        });
        state.small = None;
        // If it cannot be written, those that come later cannot see whether this one has left.
        if let Ok(Some(true)) = left {
            self.remove();
        }
    }

    /// Removes the small file.
    pub fn remove(&self) {
        if let Some(Some(path)) = self.path.get() {
            let _ = os::unlink(path);
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(Some(path)) = self.path.get() {
            PATHS.lock().retain(|known| known != path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_agreed_on_later_counts() {
        let record = |number, value| Record { number, value };
        let agreed = record(3, 70);
        assert_eq!(agreed.or_newer(None), agreed);
        assert_eq!(agreed.or_newer(Some(record(2, 90))), agreed);
        assert_eq!(agreed.or_newer(Some(record(3, 80))), record(3, 80));
        assert_eq!(agreed.or_newer(Some(record(4, 10))), record(4, 10));
        assert_eq!(Record::of(&record(5, -1).bytes()), record(5, -1));
    }

    #[test]
    fn a_long_name_is_cut() {
        let whole = PathBuf::from(format!("/tmp/{}", "x".repeat(255)));
        let small = beside(&whole, 0x12);
        assert_eq!(small.parent(), whole.parent());
        let name = small.file_name().unwrap().len();
        assert!(name < 255, "{name}");
        assert!(small.to_string_lossy().ends_with(".shfp.0000000000000012"));
    }

    /// Two ranks in one process: each has its own descriptor, so the kernel's locks keep them apart.
    #[test]
    fn ranks_move_it_together() {
        let whole = std::env::temp_dir().join(format!("oxmpi-pointer-{}", std::process::id()));
        let ranks = [Apart::new(0), Apart::new(1)];
        ranks
            .iter()
            .for_each(|rank| rank.put_beside(&whole, 7, true));
        let step = |rank: &Apart| Pointer::Apart(rank).advance(|from| Ok((from, from + 10)));
        // Nobody has changed it: there is no file.
        ranks.iter().for_each(|rank| rank.agree(100));
        assert!(!beside(&whole, 7).exists());
        assert_eq!(Pointer::Apart(&ranks[0]).load().unwrap(), 100);
        assert!(!beside(&whole, 7).exists());
        assert_eq!(step(&ranks[0]).unwrap(), 100);
        assert_eq!(step(&ranks[1]).unwrap(), 110);
        assert_eq!(Pointer::Apart(&ranks[0]).load().unwrap(), 120);
        assert!(ranks[0].may_be_changed(false));
        assert_eq!(ranks[0].add_for_all(5).unwrap(), 120);
        ranks.iter().for_each(|rank| rank.agree(125));
        assert!(!ranks[1].may_be_changed(false));
        assert_eq!(step(&ranks[1]).unwrap(), 125);
        // Agreed on without the file, which is out of date then.
        ranks.iter().for_each(|rank| rank.agree(0));
        assert_eq!(Pointer::Apart(&ranks[1]).load().unwrap(), 0);
        assert_eq!(step(&ranks[0]).unwrap(), 0);
        assert!(ranks.iter().all(Apart::close));
        ranks[0].remove();
        assert!(!beside(&whole, 7).exists());
        let elsewhere = Apart::new(0);
        elsewhere.put_beside(&whole, 8, false);
        assert!(step(&elsewhere).is_err());
    }

    #[test]
    fn after_a_death_the_last_one_to_leave_removes_it() {
        let whole = std::env::temp_dir().join(format!("oxmpi-leave-{}", std::process::id()));
        let ranks = [0, 1, 2, 3].map(Apart::new);
        ranks
            .iter()
            .for_each(|rank| rank.put_beside(&whole, 9, true));
        let small = beside(&whole, 9);
        let step = |rank: usize| {
            Pointer::Apart(&ranks[rank])
                .advance(|from| Ok((from, from + 10)))
                .unwrap()
        };
        let leave = |rank: usize, dead: &[usize]| ranks[rank].leave(4, |it| dead.contains(&it));
        // Nobody has used it yet: none is made.
        leave(3, &[1]);
        assert!(!small.exists());
        assert_eq!((step(1), step(3), step(0)), (0, 10, 20));
        leave(3, &[1]);
        leave(0, &[1]);
        assert_eq!(step(2), 30, "it goes on where the others have left it");
        leave(2, &[1]);
        assert!(!small.exists());
    }
}
