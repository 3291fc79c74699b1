//! How much of a file a buffer is, where the file's bytes are not those of memory.

use super::datarep::{Datarep, Registered, item};
use crate::datatype::{self, Buffer, Datatype, Signature, leaf_of, scaled};
use crate::error::{Class, Result, fail};
use parking_lot::Mutex;
use std::sync::Arc;

/// A datatype of buffers for a registered representation: one element, counted in entries of its type map.
pub struct Entries {
    handle: i32,
    born: u64,
    pub memory: Signature,
    pub file: Signature,
}

/// How the data of a view is converted.
pub struct Conversion {
    by: Datarep,
    /// That of the last buffer.
    last: Mutex<Option<Arc<Entries>>>,
}

/// The datatype of a buffer and the number of its elements.
pub fn elements(buffer: &Buffer) -> Result<(&'static Datatype, u64)> {
    // A buffer has no datatype if the view was set after it was made, by another thread: its data are bytes.
    let datatype = buffer
        .datatype()
        .or_else(|| datatype::get(datatype::BYTE))
        .filter(|datatype| datatype.size > 0);
    match datatype {
        Some(datatype) => Ok((datatype, buffer.len() as u64 / datatype.size)),
        None => fail!(Class::Intern, "a buffer has data of a type without any"),
    }
}

impl Conversion {
    pub fn new(by: Datarep) -> Conversion {
        Conversion {
            by,
            last: Mutex::new(None),
        }
    }

    pub fn by(&self) -> Datarep {
        self.by
    }

    /// Bytes of the file that a buffer takes.
    ///
    /// Errors: MPI_ERR_CONVERSION; MPI_ERR_ARG, more than 2^63 - 1.
    pub fn length(&self, buffer: &Buffer) -> Result<u64> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let (datatype, count) = elements(buffer)?;
        let one = match self.by {
            Datarep::Native => datatype.size,
            Datarep::External => datatype.layout().signature.external_size,
            Datarep::Registered(by) => self.entries(by, datatype)?.file.size,
        };
        match one.checked_mul(count) {
            Some(bytes) if bytes <= i64::MAX as u64 => Ok(bytes),
            _ => fail!(
                Class::Arg,
                "{count} elements of {}, of {one} bytes each in the file, are more than 2^63 - 1 bytes",
                datatype.title()
            ),
        }
    }

    pub fn entries(
        &self,
        by: &'static Registered,
        datatype: &'static Datatype,
    ) -> Result<Arc<Entries>> {
        let (handle, born) = (datatype.handle, datatype.born());
        let last = self.last.lock().clone();
        if let Some(last) = last
            && (last.handle, last.born) == (handle, born)
        {
            return Ok(last);
        }
        let memory = scaled(datatype, &mut |leaf| {
            leaf_of(leaf.size, item(leaf.size as u32))
        })?;
        let made = Arc::new(Entries {
            handle,
            born,
            memory: memory.signature,
            file: Datarep::Registered(by).layout(datatype)?.signature,
        });
        *self.last.lock() = Some(made.clone());
        Ok(made)
    }
}
