//! Published names: a file for each in a folder of the user.
//!
//! `OXMPI_NAME_DIRECTORY` names the folder, for jobs on several hosts one that they share; else it is in `XDG_RUNTIME_DIR` or the folder for temporary files.
//! So no server is needed, and jobs of all launchers meet. Invariant: a file is whole when it gets its name, and belongs to this user.

use crate::error::{Class, Error, Result, fail};
use crate::info::Info;
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

/// MPI_Publish_name.
///
/// Errors: MPI_ERR_SERVICE, the name is taken; MPI_ERR_OTHER, the folder cannot be written.
pub fn publish_name(service: &str, _info: &Info, port: &str) -> Result<()> {
    let folder = folder();
    let failed = |error: std::io::Error| failed(service, &folder, &error);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(failed)?;
    let file = file_of(service);
    let draft = folder.join(format!("draft-{}-{:p}", std::process::id(), &service));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut out| out.write_all(port.as_bytes()))
        // Fails if the name is there, which a rename would not.
        .and_then(|()| fs::hard_link(&draft, &file));
    let _ = fs::remove_file(&draft);
    match written {
        Ok(()) => {
            PUBLISHED.lock().push(service.to_owned());
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => fail!(
            Class::Service,
            "service_name \"{service}\" is published already"
        ),
        Err(error) => Err(failed(error)),
    }
}

/// MPI_Lookup_name: the port that was published.
///
/// Errors: MPI_ERR_NAME, none was.
pub fn lookup_name(service: &str, _info: &Info) -> Result<String> {
    let file = file_of(service);
    let own = fs::metadata(&file).is_ok_and(|found| found.uid() == geteuid().as_raw());
    match fs::read_to_string(&file) {
        Ok(port) if own => Ok(port),
        _ => fail!(Class::Name, "service_name \"{service}\" is not published"),
    }
}

/// MPI_Unpublish_name.
///
/// Errors: MPI_ERR_SERVICE, the name was not published.
pub fn unpublish_name(service: &str, _info: &Info, _port: &str) -> Result<()> {
    if fs::remove_file(file_of(service)).is_err() {
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
