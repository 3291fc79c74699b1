//! What an access does, and where.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Read,
    Write,
}

/// Which offset an access begins at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// An offset of the view, in etypes.
    At(i64),
    /// The individual file pointer.
    Individual,
    /// The shared one.
    Shared,
}
