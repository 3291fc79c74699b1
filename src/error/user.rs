//! Error classes, codes and strings that a program adds (MPI_Add_error_class and its family).
//!
//! Invariant: classes and codes come from one counter above MPI_ERR_LASTCODE and are never given out
//! twice, so that a removed one cannot be taken for a newer one.

use super::class::{Class, USER_BIT};
use super::codes::{ERROR_STRING_MAXIMUM, LAST_CODE};
use super::{Result, fail};
use parking_lot::Mutex;
use std::collections::BTreeMap;

struct Entry {
    /// Equal to the entry's own number when it is a class.
    class: i32,
    text: String,
}

struct Added {
    next: i32,
    entries: BTreeMap<i32, Entry>,
}

static ADDED: Mutex<Added> = Mutex::new(Added {
    next: USER_BIT,
    entries: BTreeMap::new(),
});

fn add(class: Option<i32>) -> Result<i32> {
    let mut added = ADDED.lock();
    let number = added.next;
    let Some(next) = number.checked_add(1) else {
        return fail!(Class::NoMem, "all user error codes have been given out");
    };
    added.next = next;
    let entry = Entry {
        class: class.unwrap_or(number),
        text: String::new(),
    };
    added.entries.insert(number, entry);
    Ok(number)
}

/// MPI_Add_error_class: a new class, its string empty.
pub fn add_class() -> Result<i32> {
    add(None)
}

/// MPI_Add_error_code: a new code of a class, predefined or added.
pub fn add_code(class: i32) -> Result<i32> {
    let known = Class::from_value(class).is_predefined() || is_added_class(class);
    if !known {
        return fail!(Class::Arg, "errorclass is {class}, which is no error class");
    }
    add(Some(class))
}

/// MPI_Add_error_string: sets the string of an added class or code; an empty one clears it.
pub fn add_string(code: i32, text: &str) -> Result<()> {
    if text.len() >= ERROR_STRING_MAXIMUM {
        let length = text.len();
        return fail!(
            Class::Arg,
            "string has {length} bytes; allowed are {}",
            ERROR_STRING_MAXIMUM - 1
        );
    }
    match ADDED.lock().entries.get_mut(&code) {
        Some(entry) => {
            entry.text = text.to_owned();
            Ok(())
        }
        None => not_added("errorcode", code),
    }
}

/// MPI_Remove_error_class: no code of the class may be left, and its string must have been removed.
pub fn remove_class(class: i32) -> Result<()> {
    let mut added = ADDED.lock();
    match added.entries.get(&class) {
        Some(entry) if entry.class == class => has_no_string("errorclass", class, entry)?,
        _ => return not_added("errorclass", class),
    }
    let codes = added.entries.iter();
    let mut codes = codes.filter(|(number, entry)| **number != class && entry.class == class);
    if let Some((code, _)) = codes.next() {
        return fail!(
            Class::Other,
            "errorclass {class} still has the error code {code}"
        );
    }
    added.entries.remove(&class);
    Ok(())
}

/// MPI_Remove_error_code: its string must have been removed.
pub fn remove_code(code: i32) -> Result<()> {
    let mut added = ADDED.lock();
    match added.entries.get(&code) {
        Some(entry) if entry.class != code => {
            has_no_string("errorcode", code, entry)?;
            added.entries.remove(&code);
            Ok(())
        }
        _ => not_added("errorcode", code),
    }
}

fn has_no_string(argument: &str, value: i32, entry: &Entry) -> Result<()> {
    if entry.text.is_empty() {
        return Ok(());
    }
    fail!(
        Class::Other,
        "{argument} {value} still has the string \"{}\"",
        entry.text
    )
}

/// MPI_Remove_error_string: the string of an added class or code becomes empty again.
pub fn remove_string(code: i32) -> Result<()> {
    match ADDED.lock().entries.get_mut(&code) {
        Some(entry) => {
            entry.text.clear();
            Ok(())
        }
        None => not_added("errorcode", code),
    }
}

/// The value of the attribute MPI_LASTUSEDCODE: the highest class or code that is in use.
pub fn last_used_code() -> i32 {
    let added = ADDED.lock();
    added
        .entries
        .keys()
        .next_back()
        .copied()
        .unwrap_or(LAST_CODE)
}

pub(super) fn class_of(code: i32) -> Option<Class> {
    let added = ADDED.lock();
    let entry = added.entries.get(&code)?;
    Some(Class::from_value(entry.class))
}

pub(super) fn string_of(code: i32) -> Option<String> {
    let added = ADDED.lock();
    Some(added.entries.get(&code)?.text.clone())
}

fn is_added_class(class: i32) -> bool {
    class_of(class).is_some_and(|found| found.value() == class)
}

fn not_added<T>(argument: &str, value: i32) -> Result<T> {
    fail!(
        Class::Arg,
        "{argument} is {value}, which no MPI_Add_error_class or MPI_Add_error_code returned"
    )
}

#[cfg(test)]
mod tests {
    use super::super::{class_of, string_of};
    use super::*;

    #[test]
    fn classes_codes_and_strings() {
        let class = add_class().unwrap();
        assert!(class > LAST_CODE);
        let code = add_code(class).unwrap();
        assert!(last_used_code() >= code);
        assert_eq!(class_of(code).value(), class);
        assert_eq!(string_of(code).unwrap(), "");
        add_string(code, "the mesh is torn").unwrap();
        assert_eq!(string_of(code).unwrap(), "the mesh is torn");
        assert_eq!(remove_code(code).unwrap_err().class(), Class::Other);
        remove_string(code).unwrap();
        assert_eq!(string_of(code).unwrap(), "");

        assert_eq!(remove_class(class).unwrap_err().class(), Class::Other);
        assert!(remove_code(class).is_err());
        remove_code(code).unwrap();
        remove_class(class).unwrap();
        assert_eq!(class_of(code), Class::Unknown);
        assert!(remove_class(class).is_err());
    }

    #[test]
    fn codes_of_predefined_classes() {
        let code = add_code(Class::Io.value()).unwrap();
        assert_eq!(class_of(code), Class::Io);
        remove_code(code).unwrap();
        assert!(add_code(54).is_err());
        assert!(add_code(-3).is_err());
        assert!(add_string(Class::Io.value(), "not mine").is_err());
    }
}
