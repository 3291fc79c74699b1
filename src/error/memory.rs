//! Memory whose size the program chooses, or a peer: a lack of it is MPI_ERR_NO_MEM, where the allocator would end the process.

use super::{Class, Error, Exhausted, Result};

/// Requests below this size, bytes, are not tried beforehand by [`check`].
const SMALL: usize = 64 << 10;

#[cold]
#[inline(never)]
fn lack(bytes: usize, what: &str) -> Error {
    let text = format!("there is no memory for {what} of {bytes} bytes");
    Error::new(Class::NoMem, text)
}

/// An empty vector with room for so many; `what` they are, for the error.
///
/// Errors: MPI_ERR_NO_MEM.
#[inline]
pub fn room<T>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut all = Vec::new();
    match all.try_reserve_exact(count) {
        Ok(()) => Ok(all),
        Err(_) => Err(lack(count.saturating_mul(size_of::<T>()), what)),
    }
}

/// A vector of `count` copies of a value.
///
/// Errors: MPI_ERR_NO_MEM.
#[inline]
pub fn filled<T: Clone>(count: usize, value: T, what: &str) -> Result<Vec<T>> {
    let mut all = room(count, what)?;
    all.resize(count, value);
    Ok(all)
}

/// What an iterator gives, which says how much that is.
///
/// Errors: MPI_ERR_NO_MEM.
pub fn collected<T>(items: impl ExactSizeIterator<Item = T>, what: &str) -> Result<Vec<T>> {
    let mut all = room(items.len(), what)?;
    all.extend(items);
    Ok(all)
}

/// Whether there is memory for so many bytes, of which code that cannot fail is about to allocate the parts.
///
/// Errors: MPI_ERR_NO_MEM.
#[inline]
pub fn check(bytes: usize, what: &str) -> Result<()> {
    match bytes < SMALL {
        true => Ok(()),
        false => room::<u8>(bytes, what).map(drop),
    }
}

/// As memory that is there, or the end of the job, in the middle of what cannot be undone.
#[inline]
pub fn or_end<T>(memory: Result<T>) -> T {
    memory.unwrap_or_else(|error| std::panic::panic_any(Exhausted(error.text())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_is_an_error_that_says_how_much() {
        let most = isize::MAX as usize;
        let error = room::<u64>(most / 8, "blocks").unwrap_err();
        assert_eq!(error.class(), Class::NoMem);
        let text = error.text();
        assert!(
            text.contains(&format!("blocks of {} bytes", most / 8 * 8)),
            "{text}"
        );
        assert_eq!(filled(most, 0u8, "text").unwrap_err().class(), Class::NoMem);
        assert_eq!(check(most, "text").unwrap_err().class(), Class::NoMem);
        assert_eq!(
            room::<u64>(usize::MAX, "text").unwrap_err().class(),
            Class::NoMem
        );
        assert_eq!(filled(3, 7u8, "text").unwrap(), [7; 3]);
        assert_eq!(collected([1, 2].into_iter(), "text").unwrap(), [1, 2]);
        assert!(check(1 << 20, "text").is_ok());
    }
}
