//! Published names: a file for each in a folder of the user, and where the launcher keeps names for other hosts, there too.
//!
//! `OXMPI_NAME_DIRECTORY` names the folder, for jobs on several hosts one that they share; else it is in `XDG_RUNTIME_DIR` or the folder for temporary files.
//! So no server is needed, and jobs of all launchers meet. Invariant: a file is whole when it gets its name, and belongs to this user.
//! It says which process has published the name: what a process of this host has left that ended without a word counts for nothing.

use super::job;
use crate::error::{Class, Error, Result, fail};
use crate::info::Info;
use crate::os::addresses;
use crate::os::process::Birth;
use parking_lot::Mutex;
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Names that this process has published and not taken back.
static PUBLISHED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn set(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The folder, which may not be there yet.
fn folder() -> PathBuf {
    if let Some(named) = set("OXMPI_NAME_DIRECTORY") {
        return named;
    }
    match set("XDG_RUNTIME_DIR").filter(|folder| folder.is_dir()) {
        Some(folder) => folder.join("oxmpi-names"),
        None => std::env::temp_dir().join(format!("oxmpi-names-{}", geteuid().as_raw())),
    }
}

/// A file name for any text.
fn file_of(service: &str) -> PathBuf {
    let mut name = String::from("name-");
    for byte in service.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => name.push(char::from(byte)),
            _ => name.push_str(&format!("_{byte:02x}")),
        }
    }
    // Longer ones are told apart by a hash.
    if name.len() > 200 {
        let hash = service
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        name.truncate(180);
        name.push_str(&format!("__{hash:016x}"));
    }
    folder().join(name)
}

fn failed(service: &str, folder: &Path, error: &std::io::Error) -> Error {
    Error::new(
        Class::Other,
        format!(
            "service_name \"{service}\" cannot be published in the folder {}: {error}",
            folder.display()
        ),
    )
}

/// The content of a file.
struct Published {
    port: String,
    /// [`addresses::host`], and the process there.
    host: u64,
    birth: Birth,
}

impl Published {
    fn encode(&self) -> String {
        let Published { port, host, birth } = self;
        format!("{port}\n{host:x} {} {}\n", birth.pid, birth.ticks)
    }

    fn decode(text: &str) -> Option<Published> {
        let (port, owner) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let mut words = owner.split(' ');
        Some(Published {
            port: port.to_owned(),
            host: u64::from_str_radix(words.next()?, 16).ok()?,
            birth: Birth {
                pid: words.next()?.parse().ok()?,
                ticks: words.next()?.parse().ok()?,
            },
        })
    }

    /// Nobody has taken it back, and nobody will.
    fn is_left_behind(&self) -> bool {
        self.host == addresses::host("") && self.birth.is_over()
    }

    /// Of a name; `None` if there is none, or another user's.
    fn of(file: &Path) -> Option<Published> {
        let own = fs::metadata(file).is_ok_and(|found| found.uid() == geteuid().as_raw());
        let text = fs::read_to_string(file).ok().filter(|_| own)?;
        Published::decode(&text)
    }
}

/// Writes the file of a name; whether it was not there.
fn write(service: &str, port: &str) -> std::io::Result<bool> {
    let folder = folder();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    let file = file_of(service);
    if Published::of(&file).is_some_and(|found| found.is_left_behind()) {
        let _ = fs::remove_file(&file);
    }
    let published = Published {
        port: port.to_owned(),
        host: addresses::host(""),
        birth: Birth::own(),
    };
    let draft = folder.join(format!("draft-{}-{:p}", std::process::id(), &service));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut out| out.write_all(published.encode().as_bytes()))
        // Fails if the name is there, which a rename would not.
        .and_then(|()| fs::hard_link(&draft, &file));
    let _ = fs::remove_file(&draft);
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_taken<T>(service: &str) -> Result<T> {
    fail!(
        Class::Service,
        "service_name \"{service}\" is published already"
    )
}

/// MPI_Publish_name.
///
/// Errors: MPI_ERR_SERVICE, the name is taken; MPI_ERR_OTHER, the folder cannot be written, and the launcher keeps no names.
pub fn publish_name(service: &str, _info: &Info, port: &str) -> Result<()> {
    let job = job()?;
    if job.lookup(service).is_some() {
        return is_taken(service);
    }
    let written = write(service, port);
    if let Ok(false) = written {
        return is_taken(service);
    }
    let kept = job.publish(service, port);
    if !kept && job.lookup(service).is_some_and(|other| other != port) {
        // Another host's process was faster.
        let _ = fs::remove_file(file_of(service));
        return is_taken(service);
    }
    match written {
        Err(error) if !kept => Err(failed(service, &folder(), &error)),
        _ => {
            PUBLISHED.lock().push(service.to_owned());
            Ok(())
        }
    }
}

/// MPI_Lookup_name: the port that was published.
///
/// Errors: MPI_ERR_NAME, none was.
pub fn lookup_name(service: &str, _info: &Info) -> Result<String> {
    let here = Published::of(&file_of(service)).filter(|found| !found.is_left_behind());
    let port = here.map(|found| found.port);
    match port.or_else(|| job().ok()?.lookup(service)) {
        Some(port) => Ok(port),
        None => fail!(Class::Name, "service_name \"{service}\" is not published"),
    }
}

/// MPI_Unpublish_name.
///
/// Errors: MPI_ERR_SERVICE, the name was not published.
pub fn unpublish_name(service: &str, _info: &Info, _port: &str) -> Result<()> {
    let here = fs::remove_file(file_of(service)).is_ok();
    let job = job()?;
    // Some launchers take back what they have not.
    let there = job.lookup(service).is_some() && job.unpublish(service);
    if !here && !there {
        return fail!(
            Class::Service,
            "service_name \"{service}\" is not published"
        );
    }
    PUBLISHED.lock().retain(|published| published != service);
    // The last one takes the folder with it.
    if set("OXMPI_NAME_DIRECTORY").is_none() {
        let _ = fs::remove_dir(folder());
    }
    Ok(())
}

/// Takes back what the program has left, at its end.
pub fn unpublish_all() {
    let left = std::mem::take(&mut *PUBLISHED.lock());
    for service in left {
        let _ = unpublish_name(&service, &Info::new(), "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_who_has_published_the_name() {
        let mut published = Published {
            port: "any text\nof two lines".to_owned(),
            host: addresses::host(""),
            birth: Birth::own(),
        };
        let back = |it: &Published| Published::decode(&it.encode()).unwrap();
        assert_eq!(back(&published).port, published.port);
        assert!(!back(&published).is_left_behind());
        published.birth.ticks += 1;
        assert!(back(&published).is_left_behind());
        published.host ^= 1;
        assert!(!back(&published).is_left_behind());
        assert!(Published::decode("oxmpi:1").is_none());
    }
}
