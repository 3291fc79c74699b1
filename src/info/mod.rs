//! Info objects: ordered lists of key and value (MPI 5.0, chapter 10).
//!
//! Invariant: keys are unique, have 1 to `KEY_MAXIMUM` bytes, and keep the order in which they were
//! set first, so that MPI_Info_get_nthkey walks them all.

pub mod kinds;

use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, builtin, null};
use crate::os::cancellation::uncancelled;
use parking_lot::Mutex;
use std::sync::Arc;

/// MPI_MAX_INFO_KEY: bytes of a key, the terminating zero not counted.
pub const KEY_MAXIMUM: usize = 255;
/// MPI_MAX_INFO_VAL: bytes of a value, the terminating zero not counted.
pub const VALUE_MAXIMUM: usize = 1024;
/// MPI_INFO_NULL.
pub const NULL: i32 = null(ObjectType::Info);
/// MPI_INFO_ENV.
pub const ENVIRONMENT: i32 = builtin(ObjectType::Info, ENVIRONMENT_INDEX);

const ENVIRONMENT_INDEX: u32 = 1;

/// Keys and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    entries: Vec<(String, String)>,
}

impl Info {
    pub const fn new() -> Info {
        Info {
            entries: Vec::new(),
        }
    }

    /// Sets or replaces a value. MPI_ERR_INFO_KEY or MPI_ERR_INFO_VALUE if one is too long.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        check_key(key)?;
        if value.len() > VALUE_MAXIMUM {
            let length = value.len();
            return fail!(
                Class::InfoValue,
                "value has {length} bytes; allowed are {VALUE_MAXIMUM}"
            );
        }
        match self.entries.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = value.to_owned(),
            None => self.entries.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// The value of a key, `None` when it is not set. MPI_ERR_INFO_KEY if it cannot be a key.
    pub fn get(&self, key: &str) -> Result<Option<&str>> {
        check_key(key)?;
        let entry = self.entries.iter().find(|entry| entry.0 == key);
        Ok(entry.map(|entry| entry.1.as_str()))
    }

    /// MPI_ERR_INFO_NOKEY when the key is not set.
    pub fn delete(&mut self, key: &str) -> Result<()> {
        check_key(key)?;
        match self.entries.iter().position(|entry| entry.0 == key) {
            Some(position) => {
                self.entries.remove(position);
                Ok(())
            }
            None => fail!(Class::InfoNokey, "key is \"{key}\", which is not set"),
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The key at a position from 0 on.
    pub fn key(&self, position: i32) -> Result<&str> {
        let entry = usize::try_from(position).ok();
        match entry.and_then(|position| self.entries.get(position)) {
            Some(entry) => Ok(&entry.0),
            None => {
                let length = self.entries.len();
                fail!(Class::Arg, "n is {position}; the info has {length} keys")
            }
        }
    }

    /// All entries in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter();
        entries.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

fn check_key(key: &str) -> Result<()> {
    match key.len() {
        0 => fail!(Class::InfoKey, "key is empty"),
        length if length > KEY_MAXIMUM => fail!(
            Class::InfoKey,
            "key has {length} bytes; allowed are {KEY_MAXIMUM}"
        ),
        _ => Ok(()),
    }
}

static INFOS: SharedTable<Mutex<Info>> = SharedTable::new(ObjectType::Info);

/// A new info object with this content.
pub fn create(info: Info) -> Result<i32> {
    INFOS.insert(Arc::new(Mutex::new(info)))
}

/// The object of a handle. MPI_ERR_INFO for MPI_INFO_NULL and what is no info.
pub fn get(handle: i32) -> Result<Arc<Mutex<Info>>> {
    match INFOS.get(handle) {
        Some(info) => Ok(info),
        None if handle == ENVIRONMENT => {
            let arguments: Vec<String> = std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            Ok(Arc::new(Mutex::new(of_start(&arguments))))
        }
        None if handle == NULL => fail!(Class::Info, "info is MPI_INFO_NULL"),
        None => fail!(Class::Info, "info is {handle:#x}, which is no info object"),
    }
}

/// As `get`, for calls that change the object: MPI_INFO_ENV is not to be changed.
pub fn get_changeable(handle: i32) -> Result<Arc<Mutex<Info>>> {
    if handle == ENVIRONMENT {
        return fail!(
            Class::Info,
            "info is MPI_INFO_ENV, which cannot be changed or freed"
        );
    }
    get(handle)
}

/// A copy of an argument's content, MPI_INFO_NULL being allowed and empty.
pub fn hints(handle: i32) -> Result<Info> {
    if handle == NULL {
        return Ok(Info::new());
    }
    Ok(get(handle)?.lock().clone())
}

pub fn free(handle: i32) -> Result<()> {
    get_changeable(handle)?;
    INFOS.remove(handle);
    Ok(())
}

/// What MPI_INFO_ENV and MPI_Info_create_env say of a process started with these words. Texts that
/// are too long are left out.
pub fn of_start(arguments: &[String]) -> Info {
    let mut info = Info::new();
    let directory = std::env::current_dir().ok();
    let directory = directory.and_then(|path| path.to_str().map(str::to_owned));
    let words = arguments.get(1..).unwrap_or_default().join(" ");
    for (key, value) in [
        ("command", arguments.first().map_or("", String::as_str)),
        ("argv", &words),
        ("host", &host()),
        ("arch", std::env::consts::ARCH),
        ("wdir", directory.as_deref().unwrap_or_default()),
    ] {
        if !value.is_empty() && value.len() <= VALUE_MAXIMUM {
            info.entries.push((key.to_owned(), value.to_owned()));
        }
    }
    info
}

/// The name of this machine.
pub fn host() -> String {
    let host = uncancelled(|| std::fs::read_to_string("/proc/sys/kernel/hostname"));
    let host = host.unwrap_or_default();
    host.trim().to_owned()
}

/// Fills MPI_INFO_ENV; done once, when the process knows how it was started.
pub fn set_environment(info: Info) {
    match INFOS.get(ENVIRONMENT) {
        Some(environment) => *environment.lock() = info,
        None => {
            INFOS.insert_builtin(ENVIRONMENT_INDEX, Arc::new(Mutex::new(info)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let mut info = Info::new();
        info.set("b", "1").unwrap();
        info.set("a", "2").unwrap();
        info.set("b", "3").unwrap();
        let entries: Vec<_> = info.entries().collect();
        assert_eq!(entries, [("b", "3"), ("a", "2")]);
        info.delete("b").unwrap();
        assert_eq!(info.key(0).unwrap(), "a");
        assert_eq!(info.key(1).unwrap_err().class(), Class::Arg);
        assert_eq!(info.key(-1).unwrap_err().class(), Class::Arg);
        assert_eq!(info.get("b").unwrap(), None);
        assert_eq!(info.delete("b").unwrap_err().class(), Class::InfoNokey);
    }

    #[test]
    fn lengths() {
        let mut info = Info::new();
        let longest = "k".repeat(KEY_MAXIMUM);
        info.set(&longest, &"v".repeat(VALUE_MAXIMUM)).unwrap();
        let key = info.set(&(longest + "k"), "");
        assert_eq!(key.unwrap_err().class(), Class::InfoKey);
        let value = info.set("k", &"v".repeat(VALUE_MAXIMUM + 1));
        assert_eq!(value.unwrap_err().class(), Class::InfoValue);
        assert_eq!(info.set("", "v").unwrap_err().class(), Class::InfoKey);
        assert_eq!(info.get("").unwrap_err().class(), Class::InfoKey);
        info.set("empty", "").unwrap();
        assert_eq!(info.get("empty").unwrap(), Some(""));
    }

    #[test]
    fn handles() {
        let handle = create(Info::new()).unwrap();
        get(handle).unwrap().lock().set("key", "value").unwrap();
        assert_eq!(hints(handle).unwrap().get("key").unwrap(), Some("value"));
        free(handle).unwrap();
        assert_eq!(free(handle).unwrap_err().class(), Class::Info);
        assert_eq!(get(NULL).unwrap_err().class(), Class::Info);
        assert!(hints(NULL).unwrap().is_empty());
    }

    #[test]
    fn the_environment_cannot_be_changed() {
        let mut environment = Info::new();
        environment.set("command", "a.out").unwrap();
        set_environment(environment.clone());
        set_environment(environment);
        assert_eq!(get(ENVIRONMENT).unwrap().lock().len(), 1);
        assert!(get_changeable(ENVIRONMENT).is_err());
        assert!(free(ENVIRONMENT).is_err());
    }
}
