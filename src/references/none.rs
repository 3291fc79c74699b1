//! What `counting.rs` offers, where nothing is counted.

/// References that are not counted.
pub struct References;

impl References {
    pub const fn of_program() -> References {
        References
    }

    pub fn take(&self) {}

    /// False: none is known to be the last.
    pub fn give(&self) -> bool {
        false
    }

    pub fn are_gone(&self) -> bool {
        true
    }
}

/// Whether requests count what they use.
pub const fn are_counted() -> bool {
    false
}

/// Whether references to this are counted; for schemes that count.
pub const fn are_counted_of(_is_predefined: bool) -> bool {
    false
}

pub const fn has_fallen() -> bool {
    false
}

/// A new communicator has this handle.
pub fn begin_communicator(_handle: i32) {}

/// The counted references to the object that an operation is on: none.
pub const fn of_object(_owner: i32) -> Option<&'static References> {
    None
}

/// The counted references to a communicator: none.
pub const fn of_communicator(_communicator: i32) -> Option<&'static References> {
    None
}
