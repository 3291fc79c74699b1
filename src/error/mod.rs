//! Errors: classes with the numbers of the C ABI, the error value that travels inside the library by
//! `?`, and its translation into an `int` at the edge.
//!
//! Invariant: the class of every code that leaves the library can be told from the code alone
//! (`class_of`), also when its text has been pushed out of the bounded store.

mod class;
mod codes;
pub mod memory;
mod user;

pub use class::Class;
pub use codes::{ERROR_STRING_MAXIMUM, LAST_CODE, class_of, is_code, string_of};
pub use user::{
    add_class, add_code, add_string, last_used_code, remove_class, remove_code, remove_string,
};

pub use crate::fail;

/// What a function of the library returns. One pointer wide for `Result<()>`.
pub type Result<T> = std::result::Result<T, Error>;

/// An error on its way to the error return: a class and the reason in words. One pointer wide, so that a
/// `Result` is cheap where nothing fails.
pub struct Error(Box<Inner>);

struct Inner {
    class: Class,
    /// Empty when the class says it all (MPI_ERR_IN_STATUS, MPI_ERR_PENDING) or a user code does.
    text: String,
    /// A code that a user's callback returned and that must reach the caller unchanged; else 0.
    code: i32,
    /// Handle of the object (communicator, window, file, session) whose error handler is to be called, where the call does not
    /// name one (completion of requests); else 0.
    owner: i32,
    /// The error handler has been called already.
    handled: bool,
    /// The process whose loss is the reason.
    lost: Option<u32>,
}

const _: () = assert!(size_of::<Result<()>>() == size_of::<usize>());

/// The panic of something that there cannot be more of, in the middle of what cannot be undone: the job ends, and the text says
/// whose fault that may be.
#[derive(Debug)]
pub struct Exhausted(pub String);

/// The panic of something outside the library that a job cannot go on with, such as a broken network: the text says what.
#[derive(Debug)]
pub struct Outside(pub String);

impl Error {
    #[cold]
    pub fn new(class: Class, text: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            class,
            text: text.into(),
            code: 0,
            owner: 0,
            handled: false,
            lost: None,
        }))
    }

    /// An error whose code is the bare class, without a stored text: programs compare
    /// MPI_ERR_IN_STATUS and MPI_ERR_PENDING directly.
    #[cold]
    pub fn bare(class: Class) -> Error {
        Error::new(class, "")
    }

    /// The error a user's callback reported by its return value; the code is kept unchanged.
    #[cold]
    pub fn from_code(code: i32) -> Error {
        let mut error = Error::new(class_of(code), "");
        error.0.code = code;
        error
    }

    pub fn class(&self) -> Class {
        self.0.class
    }

    /// The reason in words: the text given, or what MPI_Error_string says of the code or class.
    pub fn text(&self) -> String {
        if !self.0.text.is_empty() {
            self.0.text.clone()
        } else if self.0.code != 0 {
            string_of(self.0.code).unwrap_or_default()
        } else {
            string_of(self.0.class.value()).unwrap_or_default()
        }
    }

    /// Says that its code is to be the class and nothing more: programs compare it. The text is for handlers that end the job.
    #[cold]
    pub fn without_code(mut self) -> Error {
        self.0.code = self.0.class.value();
        self
    }

    /// Says by a handle whose error handler is to be called, where the call does not name an object.
    #[cold]
    pub fn on(mut self, owner: i32) -> Error {
        self.0.owner = owner;
        self
    }

    /// The handle set by [`Error::on`], or 0.
    pub fn owner(&self) -> i32 {
        self.0.owner
    }

    /// Says which process of the job was lost.
    #[cold]
    pub fn of_loss(mut self, process: u32) -> Error {
        self.0.lost = Some(process);
        self
    }

    /// The lost process, as set by [`Error::of_loss`].
    pub fn lost(&self) -> Option<u32> {
        self.0.lost
    }

    /// Says that an error handler was called for it: the edge has only to return the code.
    #[cold]
    pub fn after_handler(mut self) -> Error {
        self.0.handled = true;
        self
    }

    /// Whether [`Error::after_handler`] was said.
    pub fn is_handled(&self) -> bool {
        self.0.handled
    }

    /// Puts words before the reason, as the edge does with the function's name and arguments.
    #[cold]
    pub fn context(mut self, before: impl std::fmt::Display) -> Error {
        if self.0.code == 0 && !self.0.text.is_empty() {
            self.0.text = format!("{before}: {}", self.0.text);
        }
        self
    }

    /// Changes the reason in words, at the edge, where numbers of the core become those that the program knows.
    #[cold]
    pub fn with_text(mut self, change: impl FnOnce(&str) -> String) -> Error {
        self.0.text = change(&self.0.text);
        self
    }

    /// The `int` that a C caller gets: the class in the low seven bits and, above, a number under
    /// which the text is kept for MPI_Error_string.
    #[cold]
    pub fn code(&self) -> i32 {
        if self.0.code != 0 {
            self.0.code
        } else if self.0.text.is_empty() || self.0.class.is_user() {
            self.0.class.value()
        } else {
            codes::store(self.0.class, &self.0.text)
        }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.0.class.name(), self.text())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl std::error::Error for Error {}

/// `return Err(...)` in expression form: `fail!(Class::Tag, "tag is {tag}; allowed 0..={max}")`
/// evaluates to `Err(Error)`; write `return fail!(...)` where it is not the last expression.
#[macro_export]
macro_rules! fail {
    ($class:expr, $($text:tt)+) => {
        Err($crate::error::Error::new($class, format!($($text)+)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_class_and_text_through_the_code() {
        let result: Result<()> = fail!(Class::Tag, "tag is {}; allowed 0..=7", -5);
        let code = result.unwrap_err().context("MPI_Send").code();
        assert_eq!(class_of(code), Class::Tag);
        assert_eq!(code & 0x7f, 4);
        assert_eq!(
            string_of(code).unwrap(),
            "MPI_Send: tag is -5; allowed 0..=7"
        );
    }

    #[test]
    fn bare_errors_are_their_class() {
        let told = Error::new(Class::InStatus, "request 3").without_code();
        assert_eq!((told.code(), told.text().as_str()), (17, "request 3"));
        assert_eq!(Error::bare(Class::InStatus).code(), 17);
        assert!(
            Error::bare(Class::Pending)
                .text()
                .contains("MPI_ERR_PENDING")
        );
    }

    #[test]
    fn a_users_code_comes_through_unchanged() {
        let class = add_class().unwrap();
        let code = add_code(class).unwrap();
        let error = Error::from_code(code).context("MPI_Comm_dup");
        assert_eq!(error.code(), code);
        assert_eq!(error.class().value(), class);
    }
}
