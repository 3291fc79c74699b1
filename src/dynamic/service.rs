//! Published names: a file for each in a folder of the user ([`super::name_folder`]), and where the launcher keeps names for other hosts, there too.
//!
//! `OXMPI_NAME_DIRECTORY` names the folder, for jobs on several hosts one that they share; else it is in `XDG_RUNTIME_DIR` or the folder for temporary files.
//! So no server is needed, and jobs of all launchers meet. A file says which process has published the name: what a process of this host has left that ended
//! without a word counts for nothing.

use super::job;
use super::name_folder::{Folder, Place};
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::os::process::Birth;
use crate::os::{addresses, made};
use parking_lot::Mutex;
use std::path::PathBuf;

/// Bytes of the longest service name; port names have this limit, too.
const LONGEST: usize = 255;

/// What it is called in a list of what is left.
const PUBLISHED_NAME: &str = "published name";

/// Names that this process has published and not taken back.
static PUBLISHED: Mutex<Vec<String>> = Mutex::new(Vec::new());

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
        name.truncate(180);
        name.push_str(&format!("__{:016x}", addresses::hash(service)));
    }
    name.into()
}

/// Checks the length of a service name.
///
/// Errors: of class `class`.
fn check(service: &str, class: Class) -> Result<()> {
    match service.len() {
        0 => fail!(
            class,
            "service_name is empty; a name has 1 to {LONGEST} bytes"
        ),
        1..=LONGEST => Ok(()),
        bytes => {
            let begin: String = service.chars().take(40).collect();
            fail!(
                class,
                "service_name begins with \"{begin}\" and has {bytes} bytes; a name has 1 to {LONGEST}"
            )
        }
    }
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
    fn of(folder: &Folder, service: &str) -> Option<Published> {
        Published::decode(&folder.read(&file_of(service))?)
    }
}

/// Writes the file of a name; whether it was not there.
///
/// Errors: MPI_ERR_ACCESS or MPI_ERR_OTHER, the folder cannot be used.
fn write(service: &str, port: &str) -> Result<bool> {
    let file = file_of(service);
    let published = Published {
        port: port.to_owned(),
        host: addresses::host(""),
        birth: Birth::own(),
    };
    let text = published.encode();
    Place::own().with(|folder| {
        if Published::of(folder, service).is_some_and(|found| found.is_left_behind()) {
            folder.remove(&file);
        }
        folder.write(&file, &text)
    })
}

/// Removes the file of a name; whether it was there.
///
/// Errors: as those of [`Place::open`].
fn remove(service: &str) -> Result<bool> {
    let folder = Place::own().open()?;
    Ok(folder.is_some_and(|folder| folder.remove(&file_of(service))))
}

fn is_taken<T>(service: &str) -> Result<T> {
    fail!(
        Class::Service,
        "service_name \"{service}\" is published already"
    )
}

/// MPI_Publish_name.
///
/// Errors: MPI_ERR_SERVICE, the name is taken, empty or too long; MPI_ERR_ACCESS, the folder is not to be trusted or may not be written,
/// MPI_ERR_OTHER, it cannot be written for another reason, both if the launcher keeps no names.
pub fn publish_name(service: &str, _info: &Info, port: &str) -> Result<()> {
    check(service, Class::Service)?;
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
        let _ = remove(service);
        return is_taken(service);
    }
    match written {
        Err(error) if !kept => fail!(
            error.class(),
            "service_name \"{service}\" cannot be published: {}",
            error.text()
        ),
        _ => {
            PUBLISHED.lock().push(service.to_owned());
            made::note_named(PUBLISHED_NAME, service.to_owned());
            Ok(())
        }
    }
}

/// MPI_Lookup_name: the port that was published.
///
/// Errors: MPI_ERR_NAME, none was, or the name is empty or too long; MPI_ERR_ACCESS, the folder is not to be trusted.
pub fn lookup_name(service: &str, _info: &Info) -> Result<String> {
    check(service, Class::Name)?;
    let folder = Place::own().open();
    let here = folder.as_ref().ok().and_then(Option::as_ref);
    let here = here.and_then(|folder| Published::of(folder, service));
    let here = here.filter(|found| !found.is_left_behind());
    let port = here.map(|found| found.port);
    match port.or_else(|| job().ok()?.lookup(service)) {
        Some(port) => Ok(port),
        None => {
            folder?;
            fail!(Class::Name, "service_name \"{service}\" is not published")
        }
    }
}

/// MPI_Unpublish_name.
///
/// Errors: MPI_ERR_SERVICE, the name was not published, or is empty or too long; MPI_ERR_ACCESS, the folder is not to be trusted.
pub fn unpublish_name(service: &str, _info: &Info, _port: &str) -> Result<()> {
    check(service, Class::Service)?;
    let here = remove(service);
    let job = job()?;
    // Some launchers take back what they have not.
    let there = job.lookup(service).is_some() && job.unpublish(service);
    if !there && !here? {
        return fail!(
            Class::Service,
            "service_name \"{service}\" is not published"
        );
    }
    PUBLISHED.lock().retain(|published| published != service);
    made::forget_named(PUBLISHED_NAME, service);
    Place::own().remove_if_empty();
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
