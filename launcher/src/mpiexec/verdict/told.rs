//! What keepers tell the root for the verdict, and what the root remembers meanwhile.

use super::family::{Family, Job};
use super::proof::Seen;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::time::Instant;

/// How a sweep is made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ask {
    /// Whether ranks matter although others of their host may move.
    pub part: bool,
    /// Whether all ranks are to look again when they were read.
    pub looks: bool,
}

/// What a rank that is stuck waits for.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToldRank {
    pub(super) job: u64,
    /// In its job, until the root has made its number in the family of it.
    pub(super) rank: u32,
    /// Other jobs, by their numbers on its page.
    pub(super) jobs: Vec<u64>,
    pub(super) activity: u64,
    /// A debugger has it, which may do anything.
    pub(super) is_traced: bool,
    pub(super) waits: Vec<ToldWait>,
}

/// What was proved.
#[derive(Clone)]
pub struct Proved {
    pub(super) family: Family,
    /// Whom it is about.
    pub(super) set: Vec<bool>,
    pub(super) all: Vec<Seen>,
    pub(super) is_part: bool,
}

impl Proved {
    /// The activity of those it is about: the state that is said once.
    pub(super) fn state(&self) -> Vec<Option<u64>> {
        let all = self.set.iter().zip(&self.all);
        let activity = all.map(|(is_in, seen)| match seen {
            Seen::Passive(passive) if *is_in => Some(passive.activity),
            _ => None,
        });
        activity.collect()
    }
}

/// A wait of a thread, as `words.rs` makes it of a page and reads it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToldWait {
    pub(super) function: String,
    pub(super) words: Vec<u32>,
    pub(super) name: String,
    pub(super) messages: Vec<(i32, i32, u32, u32)>,
    pub(super) place: String,
}

/// A question that not all keepers and jobs have answered.
pub struct Asked {
    pub(super) number: u32,
    pub(super) until: Instant,
    /// How many have still to answer.
    pub(super) left: u32,
    pub(super) answers: Answers,
}

impl Asked {
    /// Takes an answer, if `add` finds that it is one to this question; whether it was the last one.
    pub(super) fn is_last(&mut self, add: impl FnOnce(&mut Answers) -> bool) -> bool {
        if !add(&mut self.answers) {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }
}

pub enum Answers {
    /// What was seen of the ranks of this job, and of the jobs that it has spawned.
    Sweep(Vec<(u32, Seen)>, Vec<Job>),
    /// What was proved, where it is for this mpiexec to say.
    Waits(Option<Proved>, Vec<ToldRank>),
}

/// What the mpiexec of a spawned job answers to that of its parents.
#[derive(Debug, Serialize, Deserialize)]
pub enum OfJobs {
    Swept(Vec<Job>),
    Waits(Vec<ToldRank>),
}

impl OfJobs {
    /// As one word.
    pub fn word(&self) -> String {
        let bytes = postcard::to_allocvec(self).unwrap_or_default();
        let mut word = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            let _ = write!(word, "{byte:02x}");
        }
        word
    }

    /// `None`: nonsense.
    pub fn of_word(word: &str) -> Option<OfJobs> {
        let digits = word.as_bytes().chunks_exact(2);
        let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.map(byte).collect();
        postcard::from_bytes(&bytes?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_being_words() {
        let answer = OfJobs::Swept(vec![Job::unknown()]);
        let again = OfJobs::of_word(&answer.word());
        assert_eq!(format!("{again:?}"), format!("{:?}", Some(answer)));
        assert!(OfJobs::of_word("zz").is_none() && OfJobs::of_word("").is_none());
    }
}
