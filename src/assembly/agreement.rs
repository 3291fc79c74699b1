//! Agreement on an error: a collective call that fails on one rank fails on all, with an error of one class, so nobody waits for a rank
//! that has left.

use crate::coll::exchange_words;
use crate::comm::Comm;
use crate::error::{Class, Result, class_of, fail};

/// The class of a rank's error, as a word for the others; 0: it has none.
pub fn word_of<T>(own: &Result<T>) -> u64 {
    own.as_ref()
        .err()
        .map_or(0, |error| error.class().value() as u64)
}

/// The first error of all ranks, of one class on all; a rank's own error of that class keeps its text. `words` are [`word_of`] each rank,
/// `describe` gives the text of another rank's error.
pub fn first_error<T>(
    own: Result<T>,
    words: impl IntoIterator<Item = u64>,
    describe: impl Fn(usize, Class) -> String,
) -> Result<T> {
    let own_word = word_of(&own);
    match words.into_iter().zip(0..).find(|(word, _)| *word != 0) {
        Some((word, rank)) if word != own_word => {
            let class = class_of(word as i32);
            fail!(class, "{}", describe(rank, class))
        }
        _ => own,
    }
}

/// The text of another rank's error, for [`first_error`], where its class says all.
pub fn has_failed(rank: usize, of: &str, class: Class) -> String {
    format!("rank {rank} of {of} has failed: {}", class.meaning())
}

/// What each rank of a communicator brings, if none has failed: `words`, the first of which is left for the error.
///
/// Errors: the first rank's; a rank is lost.
pub fn agree_on<T, const N: usize>(
    comm: &Comm,
    function: &'static str,
    own: Result<T>,
    mut words: [u64; N],
    describe: impl Fn(usize, Class) -> String,
) -> Result<(T, Vec<[u64; N]>)> {
    words[0] = word_of(&own);
    let all = exchange_words(comm, function, words)?;
    let own = first_error(own, all.iter().map(|words| words[0]), describe)?;
    Ok((own, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn the_first_error_is_all_ranks_error() {
        let of = |own: Result<()>, classes: &[Option<Class>]| {
            let word = |class: &Option<Class>| class.map_or(0, |class| class.value() as u64);
            first_error(own, classes.iter().map(word), |rank, class| {
                has_failed(rank, "file", class)
            })
        };
        let own = |class| Err(Error::new(class, "own text"));
        let (io, space) = (Some(Class::Io), Some(Class::NoSpace));
        assert!(of(Ok(()), &[None, None]).is_ok());
        let error = of(Ok(()), &[None, io, space]).unwrap_err();
        assert_eq!(error.class(), Class::Io);
        assert!(error.text().contains("rank 1 of file"), "{error:?}");
        let error = of(own(Class::NoSpace), &[None, io, space]).unwrap_err();
        assert_eq!(error.class(), Class::Io);
        let error = of(own(Class::Io), &[None, io, io]).unwrap_err();
        assert_eq!(error.text(), "own text");
    }
}
