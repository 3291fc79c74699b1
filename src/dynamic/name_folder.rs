//! The folder of published names, a file for each.
//!
//! The usual folder may be in a place where everybody writes (`/tmp`), so nothing is read or written there by a path: the folder is opened, looked at, and its
//! files are reached through it. Invariants: a file is whole when it gets its name; files of other users, and what is behind symbolic links, count for nothing.

use crate::error::{Class, Error, Result, fail};
use crate::os::addresses;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Bytes of a file: a port and a process.
const LARGEST: u64 = 64 << 10;
/// Times that it is made anew: each is one more chance that no other process removes it at just this moment.
const ATTEMPTS: usize = 1000;

/// Where it is.
pub struct Place {
    path: PathBuf,
    /// The user has named it, and may share it with others.
    is_named: bool,
}

/// It, opened.
pub struct Folder(OwnedFd);

fn set(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

impl Place {
    /// The one of this process.
    pub fn own() -> Place {
        if let Some(path) = set("OXMPI_NAME_DIRECTORY") {
            return Place {
                path,
                is_named: true,
            };
        }
        let path = match set("XDG_RUNTIME_DIR").filter(|folder| folder.is_dir()) {
            Some(folder) => folder.join("oxmpi-names"),
            None => std::env::temp_dir().join(format!("oxmpi-names-{}", geteuid().as_raw())),
        };
        Place {
            path,
            is_named: false,
        }
    }

    /// Opens it. `None`: it is not there.
    ///
    /// Errors: MPI_ERR_ACCESS, somebody else may have made it, or may write it; MPI_ERR_OTHER, it cannot be opened.
    pub fn open(&self) -> Result<Option<Folder>> {
        let mut flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !self.is_named);
        let folder = match rustix::fs::open(&self.path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => return self.refuse(self.what_it_is()),
            Err(error) => return Err(self.failed(error.into())),
        };
        let found = rustix::fs::fstat(&folder).map_err(|error| self.failed(error.into()))?;
        match self.doubt(&found) {
            Some(why) => self.refuse(&why),
            None => Ok(Some(Folder(folder))),
        }
    }

    /// Makes it where it is not there, and does something in it. It is made again, and all of that done again, if another process has removed it
    /// meanwhile ([`Self::remove_if_empty`]), which it cannot as soon as a file is in it.
    ///
    /// Errors: as [`Self::open`], and MPI_ERR_ACCESS or MPI_ERR_OTHER for an error of `action`.
    pub fn with<T>(&self, mut action: impl FnMut(&Folder) -> io::Result<T>) -> Result<T> {
        let gone = || io::Error::from(ErrorKind::NotFound);
        let mut last = gone();
        for _ in 0..ATTEMPTS {
            let made = DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.path);
            let done = match self.open()? {
                Some(folder) => action(&folder),
                // Removed just after it was made, or found.
                None => Err(made.err().unwrap_or_else(gone)),
            };
            match done {
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) =>
                {
                    last = error;
                }
                done => return done.map_err(|error| self.failed(error)),
            }
        }
        Err(self.failed(last))
    }

    /// The last name takes the folder with it, unless the user has named it.
    pub fn remove_if_empty(&self) {
        if !self.is_named {
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Why names there are not to be trusted.
    fn doubt(&self, found: &Stat) -> Option<String> {
        let mode = found.st_mode & 0o7777;
        let (others, sticky) = (mode & 0o022, mode & 0o1000);
        if self.is_named {
            // The group may be the user's project; what everybody writes, everybody can rename.
            return (mode & 0o002 != 0 && sticky == 0)
                .then(|| format!("everybody may rename files there (mode {mode:o})"));
        }
        if found.st_uid != geteuid().as_raw() {
            return Some(format!("it belongs to the user {}", found.st_uid));
        }
        (others != 0).then(|| format!("others may write it (mode {mode:o})"))
    }

    fn what_it_is(&self) -> &'static str {
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.is_symlink() => "it is a symbolic link",
            _ => "it is no folder",
        }
    }

    fn refuse<T>(&self, why: &str) -> Result<T> {
        fail!(
            Class::Access,
            "the folder of published names, {}, is not used: {why}; remove it, or name another one by OXMPI_NAME_DIRECTORY",
            self.path.display()
        )
    }

    fn failed(&self, error: io::Error) -> Error {
        let class = match error.kind() {
            ErrorKind::PermissionDenied => Class::Access,
            _ => Class::Other,
        };
        let path = self.path.display();
        let text = format!("the folder of published names, {path}, cannot be used: {error}");
        Error::new(class, text)
    }
}

impl Folder {
    /// Writes a file; whether it was not there.
    ///
    /// Errors: that of the first call that failed; NotFound, the folder itself has been removed.
    pub fn write(&self, name: &Path, text: &str) -> io::Result<bool> {
        let draft = format!("draft-{:032x}", addresses::random());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut out = File::from(rustix::fs::openat(&self.0, &draft, flags, mode)?);
        let written = out.write_all(text.as_bytes());
        // Fails if the name is there, which a rename would not.
        let linked =
            written.map(|()| rustix::fs::linkat(&self.0, &draft, &self.0, name, AtFlags::empty()));
        let _ = rustix::fs::unlinkat(&self.0, &draft, AtFlags::empty());
        match linked? {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The text of a file of this user. `None`: there is none.
    pub fn read(&self, name: &Path) -> Option<String> {
        // A pipe that somebody has put there would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty()).ok()?;
        let found = rustix::fs::fstat(&file).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !is_file || found.st_uid != geteuid().as_raw() {
            return None;
        }
        let mut text = String::new();
        let read = File::from(file).take(LARGEST).read_to_string(&mut text);
        read.is_ok().then_some(text)
    }

    /// Whether it was there, and is not any more.
    pub fn remove(&self, name: &Path) -> bool {
        rustix::fs::unlinkat(&self.0, name, AtFlags::empty()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder of this test alone, removed at the end.
    struct Here(PathBuf);

    impl Here {
        fn new() -> Here {
            let name = format!("oxmpi-name-folder-{:032x}", addresses::random());
            let path = std::env::temp_dir().join(name);
            DirBuilder::new().mode(0o700).create(&path).unwrap();
            Here(path)
        }

        fn place(&self, is_named: bool) -> Place {
            let path = self.0.join("names");
            Place { path, is_named }
        }
    }

    impl Drop for Here {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn refusal(place: &Place) -> String {
        let error = place.open().err().unwrap();
        assert_eq!(error.class(), Class::Access, "{error}");
        assert!(
            error.text().contains(&*place.path.to_string_lossy()),
            "{error}"
        );
        assert!(place.with(|_| Ok(())).is_err());
        error.text().to_owned()
    }

    #[test]
    fn a_folder_that_others_may_write_is_not_used() {
        let here = Here::new();
        let (usual, named) = (here.place(false), here.place(true));
        assert!(usual.open().unwrap().is_none());
        usual.with(|_| Ok(())).unwrap();
        let set_mode = |mode| {
            fs::set_permissions(&usual.path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (mode, is_usual, is_named) in [
            (0o700, true, true),
            (0o755, true, true),
            (0o770, false, true),
            (0o777, false, false),
            (0o1777, false, true),
        ] {
            set_mode(mode);
            assert_eq!(usual.open().is_ok(), is_usual, "{mode:o}");
            assert_eq!(named.open().is_ok(), is_named, "{mode:o}");
        }
        let text = refusal(&usual);
        assert!(text.contains("1777"), "{text}");
    }

    #[test]
    fn a_link_or_a_file_is_no_folder() {
        let here = Here::new();
        let place = here.place(false);
        symlink("/", &place.path).unwrap();
        let text = refusal(&place);
        assert!(text.contains("symbolic link"), "{text}");
        assert!(here.place(true).open().is_ok(), "it was named");
        fs::remove_file(&place.path).unwrap();
        fs::write(&place.path, "").unwrap();
        let text = refusal(&place);
        assert!(text.contains("no folder"), "{text}");
    }

    #[test]
    fn what_is_behind_a_link_is_no_name() {
        let here = Here::new();
        let place = here.place(false);
        place.with(|_| Ok(())).unwrap();
        let folder = place.open().unwrap().unwrap();
        let [name, link] = ["name-a", "name-b"].map(Path::new);
        assert!(folder.write(name, "one").unwrap());
        assert!(!folder.write(name, "two").unwrap());
        assert_eq!(folder.read(name).as_deref(), Some("one"));
        symlink("name-a", place.path.join(link)).unwrap();
        assert_eq!(folder.read(link), None);
        assert!(!folder.write(link, "three").unwrap());
        assert_eq!(
            fs::read_dir(&place.path).unwrap().count(),
            2,
            "no draft is left"
        );
        assert!(folder.remove(name) && !folder.remove(name) && folder.remove(link));
        place.remove_if_empty();
        assert!(place.open().unwrap().is_none());
    }

    /// Processes that publish and take back names of their own, each the last one of the folder now and then.
    #[test]
    fn a_folder_that_others_remove_is_made_again() {
        let here = Here::new();
        let place = &here.place(false);
        std::thread::scope(|threads| {
            for number in 0..3 {
                threads.spawn(move || {
                    let name = format!("name-{number}");
                    for round in 0..2000 {
                        let written = place.with(|folder| folder.write(name.as_ref(), "text"));
                        assert!(written.unwrap(), "round {round}");
                        let folder = place.open().unwrap().expect("a file is in it");
                        assert!(folder.remove(name.as_ref()));
                        place.remove_if_empty();
                    }
                });
            }
        });
        assert!(place.open().unwrap().is_none());
    }
}
