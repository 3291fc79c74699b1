//! Control variables: the settings of docs/variables.md, by their index in that list.
//!
//! Invariant: a value changes only before it is first used, which is in MPI_Init at the latest.

use super::{at, check, next_number};
use crate::error::{Class, Result, fail};
use crate::process::settings;
use crate::variables::{Kind, Listed};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// The variable of each handle.
static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

pub fn count() -> usize {
    settings::all().len()
}

/// The variable with an index.
pub fn variable(index: i32) -> Result<&'static dyn Listed> {
    check()?;
    at(&settings::all(), "cvar_index", index)
}

/// Whether a variable may be written, as tools are told: what was said of it first, as the standard wants.
pub fn may_be_written(index: i32) -> Result<bool> {
    static SAID: Mutex<BTreeMap<i32, bool>> = Mutex::new(BTreeMap::new());
    let variable = variable(index)?;
    let mut said = SAID.lock();
    Ok(*said.entry(index).or_insert_with(|| !variable.is_fixed()))
}

/// The index of a variable, by its own name or one that other libraries have for it.
pub fn index_of(name: &str) -> Result<usize> {
    check()?;
    let called =
        |variable: &&dyn Listed| variable.name() == name || variable.aliases().contains(&name);
    match settings::all().iter().position(called) {
        Some(index) => Ok(index),
        None => fail!(Class::TInvalidName, "no control variable is called {name}"),
    }
}

/// A handle for a variable.
pub fn open(index: i32) -> Result<usize> {
    variable(index)?;
    let handle = next_number();
    HANDLES.lock().insert(handle, index as usize);
    Ok(handle)
}

pub fn close(handle: usize) -> Result<()> {
    of(handle)?;
    HANDLES.lock().remove(&handle);
    Ok(())
}

/// The variable of a handle.
pub fn of(handle: usize) -> Result<&'static dyn Listed> {
    check()?;
    let index = HANDLES.lock().get(&handle).copied();
    match index.and_then(|index| settings::all().get(index).copied()) {
        Some(variable) => Ok(variable),
        None => fail!(
            Class::TInvalidHandle,
            "handle is {handle:#x}, which is no handle of a control variable, or one that was freed"
        ),
    }
}

pub(super) fn end() {
    HANDLES.lock().clear();
}

/// The words of a variable that has some, which is an enumeration of MPI_T.
pub fn words(index: usize) -> Option<&'static [&'static str]> {
    match settings::all().get(index)?.kind() {
        Kind::Word(words) => Some(words),
        Kind::Number | Kind::Real => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_live_until_they_are_freed() {
        super::super::init();
        let index = index_of("OXMPI_BCAST").unwrap();
        assert_eq!(
            index_of("MPIR_CVAR_CTXID_EAGER_SIZE").unwrap(),
            index_of("OXMPI_CONTEXT_EAGER_WORDS").unwrap()
        );
        assert_eq!(words(index).unwrap()[0], "auto");
        let handle = open(index as i32).unwrap();
        assert!(of(handle).unwrap().is_same_on_all());
        close(handle).unwrap();
        let gone = close(handle).unwrap_err();
        assert_eq!(gone.class(), Class::TInvalidHandle);
        let none = open(count() as i32).unwrap_err();
        assert_eq!(none.class(), Class::TInvalidIndex);
    }
}
