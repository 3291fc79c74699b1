//! What all ranks of a file tell each other in a collective call, with their errors ([`crate::assembly`]).

use super::file::File;
use crate::assembly::{WORDS, Words, first_error, has_failed, word_of};
use crate::error::{Class, Result, fail};
use oxmpi_macros::both;

/// What a rank adds to its class.
pub type Values = [u64; WORDS - 1];

pub const NOTHING: Values = [0; WORDS - 1];

fn words(own: &Result<()>, values: Values) -> Words {
    std::array::from_fn(|at| match at {
        0 => word_of(own),
        _ => values[at - 1],
    })
}

/// Steps of all ranks together at a file: they block, or a task takes them further.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a, const BLOCK: bool> {
    pub file: &'a File,
    pub function: &'static str,
}

impl Steps<'_, true> {
    fn exchange(&self, own: Words) -> Result<Vec<Words>> {
        self.file.board.assembly.exchange(self.function, own)
    }
}

impl Steps<'_, false> {
    async fn exchange(&self, own: Words) -> Result<Vec<Words>> {
        let board = &self.file.board;
        board.assembly.exchange_in_task(self.function, own).await
    }
}

#[both]
impl Steps<'_, BLOCK> {
    /// What all ranks bring, if none has failed.
    ///
    /// Errors: the first rank's; MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) async fn agree_on(&self, own: Result<()>, values: Values) -> Result<Vec<Values>> {
        let (values, agreed) = self.agree_all_the_same(own, values).await?;
        agreed.map(|()| values)
    }

    /// What all ranks bring, and the first rank's error.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) async fn agree_all_the_same(
        &self,
        own: Result<()>,
        values: Values,
    ) -> Result<(Vec<Values>, Result<()>)> {
        let (errors, values) = self.bring(&own, values).await?;
        let describe = |rank, class| has_failed(rank, &self.file.title(), class);
        Ok((values, first_error(own, errors, describe)))
    }

    /// What all ranks bring, and [`word_of`] their errors.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) async fn bring(
        &self,
        own: &Result<()>,
        values: Values,
    ) -> Result<(Vec<u64>, Vec<Values>)> {
        let all = self.exchange(words(own, values)).await;
        let all = all.map_err(|error| error.context(self.file.title()))?;
        let values = |words: &Words| std::array::from_fn(|at| words[at + 1]);
        Ok((
            all.iter().map(|words| words[0]).collect(),
            all.iter().map(values).collect(),
        ))
    }
}

impl File {
    pub(super) fn blocking(&self, function: &'static str) -> Steps<'_, true> {
        Steps {
            file: self,
            function,
        }
    }

    /// What all ranks bring, if none has failed.
    ///
    /// Errors: the first rank's; MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) fn agree_on(
        &self,
        function: &'static str,
        own: Result<()>,
        values: Values,
    ) -> Result<Vec<Values>> {
        let (values, agreed) = self.agree_all_the_same(function, own, values)?;
        agreed.map(|()| values)
    }

    /// What all ranks bring, and the first rank's error.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) fn agree_all_the_same(
        &self,
        function: &'static str,
        own: Result<()>,
        values: Values,
    ) -> Result<(Vec<Values>, Result<()>)> {
        self.settle(function);
        self.blocking(function).agree_all_the_same(own, values)
    }

    /// As [`File::agree_on`], without values.
    pub(super) fn agree(&self, function: &'static str, own: Result<()>) -> Result<()> {
        self.agree_on(function, own, NOTHING).map(|_| ())
    }

    /// As [`File::agree_on`]; the first value has to be the same on all ranks.
    ///
    /// Errors: MPI_ERR_NOT_SAME.
    pub(super) fn agree_same(
        &self,
        function: &'static str,
        argument: &str,
        own: Result<u64>,
    ) -> Result<()> {
        let value = own.as_ref().copied().unwrap_or(0);
        let mut values = NOTHING;
        values[0] = value;
        let all = self.agree_on(function, own.map(|_| ()), values)?;
        same(argument, all.iter().map(|values| values[0] as i64))
    }
}

/// Fails if ranks have different values.
///
/// Errors: MPI_ERR_NOT_SAME.
pub(super) fn same(argument: &str, mut values: impl Iterator<Item = i64>) -> Result<()> {
    let Some(first) = values.next() else {
        return Ok(());
    };
    match values.zip(1..).find(|(value, _)| *value != first) {
        None => Ok(()),
        Some((value, rank)) => fail!(
            Class::NotSame,
            "{argument} is {first} on rank 0 and {value} on rank {rank}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values() {
        assert!(same("size", [4, 4, 4].into_iter()).is_ok());
        let error = same("size", [4, 4, -5].into_iter()).unwrap_err();
        assert_eq!(error.class(), Class::NotSame);
        assert!(error.text().contains("-5 on rank 2"), "{error:?}");
    }
}
