//! Names of processes that hold in every job.
//!
//! Process numbers are this process's own: those of its MPI_COMM_WORLD are ranks, those from there on are given to processes of other
//! jobs when they are met. What is sent to others, or must come out the same on them, uses names. Invariant: a number keeps its name as
//! long as the process runs, and no two numbers have one name.

use crate::sync::{AtomicBool, Ordering};
use parking_lot::RwLock;
use std::sync::OnceLock;

/// A job, and a rank in its MPI_COMM_WORLD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    pub job: u64,
    pub rank: u32,
}

/// Other jobs that a status page can name at a time.
pub const JOBS: usize = 4;
/// Of [`on_page`]: it is of another job.
const OTHER: u32 = 1 << 31;
/// Bits of a rank there.
const RANK_BITS: u32 = 24;

/// The job of this process, and how many processes it has.
static OWN: OnceLock<(u64, u32)> = OnceLock::new();
/// By number, from the job's last on.
static FOREIGN: RwLock<Vec<Name>> = RwLock::new(Vec::new());
/// Other jobs that status pages name, by their numbers there; 0: none.
static ON_PAGE: RwLock<[u64; JOBS]> = RwLock::new([0; JOBS]);
static HAS_FOREIGN: AtomicBool = AtomicBool::new(false);

/// Says which job this process is of, once.
pub fn set_own(job: u64, size: u32) {
    let _ = OWN.set((job, size));
}

fn own() -> (u64, u32) {
    // Before a job is joined every number is a rank.
    OWN.get().copied().unwrap_or((0, u32::MAX))
}

/// The job of this process.
pub fn own_job() -> u64 {
    own().0
}

/// The first number of a process of another job.
pub fn first_foreign() -> u32 {
    own().1
}

/// Whether a number is that of a process of another job.
#[inline]
pub fn is_foreign(number: u32) -> bool {
    has_foreign() && number >= first_foreign()
}

/// Whether processes of other jobs have ever been met.
#[inline]
pub fn has_foreign() -> bool {
    HAS_FOREIGN.load(Ordering::Relaxed)
}

/// The name of a process that has a number.
pub fn of(number: u32) -> Name {
    let (job, size) = own();
    match number.checked_sub(size) {
        None => Name { job, rank: number },
        Some(foreign) => FOREIGN.read()[foreign as usize],
    }
}

/// The number of a process, if it has one.
pub fn number_of(name: Name) -> Option<u32> {
    let (job, size) = own();
    if name.job == job {
        return (name.rank < size).then_some(name.rank);
    }
    let place = FOREIGN.read().iter().position(|known| *known == name)?;
    Some(size + place as u32)
}

/// The number of a process, which gets one if it has none.
pub fn number_or_new(name: Name) -> u32 {
    if let Some(number) = number_of(name) {
        return number;
    }
    let mut foreign = FOREIGN.write();
    let place = foreign.iter().position(|known| *known == name);
    let place = place.unwrap_or_else(|| {
        foreign.push(name);
        foreign.len() - 1
    });
    HAS_FOREIGN.store(true, Ordering::Relaxed);
    first_foreign() + place as u32
}

/// The jobs that the status page names from now on.
pub fn set_on_page(jobs: [u64; JOBS]) {
    *ON_PAGE.write() = jobs;
}

/// The process of a number as the status page has it: a rank, or the number of another job there and a rank. `None`: it cannot be named.
pub fn on_page(number: u32) -> Option<u32> {
    if !is_foreign(number) {
        return Some(number);
    }
    let Name { job, rank } = of(number);
    let place = ON_PAGE.read().iter().position(|known| *known == job)?;
    (rank < 1 << RANK_BITS).then_some(OTHER | (place as u32) << RANK_BITS | rank)
}

/// What [`on_page`] has made: the number of the other job, if it is one, and the rank.
pub fn of_page(word: u32) -> (Option<usize>, u32) {
    match word & OTHER {
        0 => (None, word),
        _ => {
            let place = (word & !OTHER) >> RANK_BITS;
            (Some(place as usize), word & ((1 << RANK_BITS) - 1))
        }
    }
}

impl Name {
    /// Words of [`Name::to_words`].
    pub const WORDS: usize = 3;

    pub fn to_words(self) -> [u32; Name::WORDS] {
        [self.job as u32, (self.job >> 32) as u32, self.rank]
    }

    /// The first words, as [`Name::to_words`] makes them.
    pub fn of_words(words: &[u32]) -> Name {
        Name {
            job: u64::from(words[0]) | u64::from(words[1]) << 32,
            rank: words[2],
        }
    }
}

/// Numbers as words for other processes.
pub fn to_words(numbers: impl IntoIterator<Item = u32>) -> impl Iterator<Item = u32> {
    numbers.into_iter().flat_map(|number| of(number).to_words())
}

/// The numbers of processes that another one has named; the name of one that has none here.
pub fn of_words(words: &[u32]) -> Result<Vec<u32>, Name> {
    let names = words.chunks_exact(Name::WORDS).map(Name::of_words);
    names.map(|name| number_of(name).ok_or(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_bring_a_name_back() {
        let name = Name {
            job: 0x1234_5678_9abc_def0,
            rank: 7,
        };
        assert_eq!(Name::of_words(&name.to_words()), name);
        let numbers: Vec<u32> = to_words([3, 5]).collect();
        assert_eq!(of_words(&numbers), Ok(vec![3, 5]));
    }
}
