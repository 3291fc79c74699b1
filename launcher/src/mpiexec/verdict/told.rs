//! What keepers tell the root for the verdict, and what the root remembers meanwhile.

use super::proof::Seen;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What a rank that is stuck waits for.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToldRank {
    pub(super) rank: u32,
    pub(super) activity: u64,
    /// A debugger has it, which may do anything.
    pub(super) is_traced: bool,
    pub(super) waits: Vec<ToldWait>,
}

/// What was proved.
#[derive(Clone)]
pub struct Proved {
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
    pub(super) rank: u32,
    pub(super) function: String,
    pub(super) words: Vec<u32>,
    pub(super) name: String,
    pub(super) messages: Vec<(i32, i32, u32, u32)>,
    pub(super) place: String,
}

/// A question that not all keepers have answered.
pub struct Asked {
    pub(super) number: u32,
    pub(super) until: Instant,
    /// How many keepers have still to answer.
    pub(super) left: u32,
    pub(super) answers: Answers,
}

impl Asked {
    /// Takes an answer to the question of a number, if `add` finds that it is one to this question; whether it was the last one.
    pub(super) fn is_last(&mut self, number: u32, add: impl FnOnce(&mut Answers) -> bool) -> bool {
        if self.number != number || !add(&mut self.answers) {
            return false;
        }
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }
}

pub enum Answers {
    Sweep(Vec<(u32, Seen)>),
    Waits(Proved, Vec<ToldRank>),
}
