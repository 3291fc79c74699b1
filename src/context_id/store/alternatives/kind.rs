//! The stores that a job can choose.

crate::choice! {
    /// The stores that a job can choose.
    pub enum Kind { Array = "array", Tree = "tree", Levels = "levels" }
}

/// All of them, for tests and comparisons.
pub const ALL: [Kind; 3] = [Kind::Array, Kind::Tree, Kind::Levels];
