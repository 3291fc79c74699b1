//! The `int` codes that leave the library and the bounded store of their texts.
//!
//! A code is a class (bits 6..0), a code with a stored text (class, and a sequence number in bits
//! 29..7), or a number that the user added (bit 30, see `user`). Only the latest `TEXTS` texts are
//! kept: for an older code the class's own text is given.

use super::class::{Class, USER_BIT};
use super::user;
use parking_lot::Mutex;

/// MPI_MAX_ERROR_STRING, with the terminating zero.
pub const ERROR_STRING_MAXIMUM: usize = 512;
/// MPI_ERR_LASTCODE.
pub const LAST_CODE: i32 = 0x3fff_ffff;

const CLASS_BITS: u32 = 7;
const CLASS_MASK: i32 = (1 << CLASS_BITS) - 1;
/// Sequence numbers run from 1 to this and start again.
const SEQUENCE_MAXIMUM: u32 = (LAST_CODE >> CLASS_BITS) as u32;
const TEXTS: usize = 512;

struct Store {
    sequence: u32,
    texts: Vec<(i32, String)>,
}

static STORE: Mutex<Store> = Mutex::new(Store::new());

impl Store {
    const fn new() -> Store {
        Store {
            sequence: 0,
            texts: Vec::new(),
        }
    }

    fn put(&mut self, class: Class, text: &str) -> i32 {
        self.sequence = self.sequence % SEQUENCE_MAXIMUM + 1;
        let code = class.value() | (self.sequence << CLASS_BITS) as i32;
        let slot = self.sequence as usize % TEXTS;
        if self.texts.len() <= slot {
            self.texts.resize(slot + 1, (0, String::new()));
        }
        self.texts[slot] = (code, text.to_owned());
        code
    }

    fn find(&self, code: i32) -> Option<&str> {
        let sequence = (code >> CLASS_BITS) as usize;
        match self.texts.get(sequence % TEXTS) {
            Some((stored, text)) if *stored == code && sequence != 0 => Some(text),
            _ => None,
        }
    }
}

/// Keeps `text` and returns the code under which `string_of` finds it.
pub(super) fn store(class: Class, text: &str) -> i32 {
    STORE.lock().put(class, text)
}

/// The class of a code; `Class::Unknown` for a number that no call ever returned.
pub fn class_of(code: i32) -> Class {
    if code & USER_BIT != 0 {
        return user::class_of(code).unwrap_or(Class::Unknown);
    }
    let class = Class::from_value(code & CLASS_MASK);
    if code >= 0 && class.is_predefined() {
        class
    } else {
        Class::Unknown
    }
}

/// Whether `code` is one that this library or the user made, or could have made; also a number among the classes that means none, because
/// programs print the text of each.
pub fn is_code(code: i32) -> bool {
    if code & USER_BIT != 0 {
        user::class_of(code).is_some()
    } else {
        (0..=CLASS_MASK).contains(&code)
            || code >= 0 && Class::from_value(code & CLASS_MASK).is_predefined()
    }
}

/// What MPI_Error_string says: the stored text, the user's string, or the class's meaning.
/// `None` for a number that is no code. At most `ERROR_STRING_MAXIMUM - 1` bytes.
pub fn string_of(code: i32) -> Option<String> {
    if !is_code(code) {
        return None;
    }
    if code & USER_BIT != 0 {
        return user::string_of(code);
    }
    let stored = STORE.lock().find(code).map(shorten);
    Some(stored.unwrap_or_else(|| {
        let class = Class::from_value(code & CLASS_MASK);
        match class.is_predefined() {
            true => format!("{}: {}", class.name(), class.meaning()),
            false => format!("{code} is no error class of this library"),
        }
    }))
}

/// Cuts a text at a character boundary so that it fits into the caller's array.
fn shorten(text: &str) -> String {
    let mut end = text.len().min(ERROR_STRING_MAXIMUM - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_texts_are_forgotten_but_not_their_class() {
        let mut store = Store::new();
        let first = store.put(Class::Root, "root is 9");
        assert_eq!(store.find(0), None, "a class has no stored text");
        assert_eq!(store.find(first), Some("root is 9"));
        for number in 0..TEXTS {
            store.put(Class::Arg, &format!("argument {number}"));
        }
        assert_eq!(store.find(first), None);
        assert_eq!(class_of(first), Class::Root);
        assert_eq!(store.texts.len(), TEXTS);
    }

    #[test]
    fn every_class_is_its_own_code() {
        for value in (0..=53).chain(55..=81).chain(101..=107) {
            assert_eq!(class_of(value).value(), value);
            assert!(string_of(value).unwrap().starts_with("MPI"));
        }
        assert_eq!(class_of(54), Class::Unknown);
        assert_eq!(string_of(-1), None);
        assert_eq!(string_of(USER_BIT | 0xffff), None);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let code = store(Class::Other, &"é".repeat(400));
        let text = string_of(code).unwrap();
        assert_eq!(text.len(), 510);
    }
}
