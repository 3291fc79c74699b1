//! What the ranks of a window or a file do together; `docs/architecture.md`.

mod agreement;

pub use agreement::{agree_on, first_error, has_failed, word_of};
