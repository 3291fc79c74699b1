//! The interface of a strategy, and what strategies have in common.

use crate::context_id::space::Space;

/// What one process does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// These words are to be combined with the other members'.
    Offer(Vec<u32>),
    /// Another allocation of this process goes first. All members have begun this one, so nobody waits for who waits.
    Wait,
}

/// What the combined offers led to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The next offer.
    Again,
    /// These prefixes are taken, on all members.
    Agreed(Vec<u32>),
    /// No id can be found on all members, which all know; nothing is taken.
    Exhausted,
}

/// The interface of a strategy.
pub trait Steps {
    fn offer(&mut self, space: &mut Space) -> Turn;
    fn settle(&mut self, space: &mut Space, combined: &[u32]) -> Outcome;
    /// Gives back what is offered or taken, because nothing follows.
    fn abandon(&mut self, space: &mut Space);
}

/// All bits: "yes" where offers are combined by common bits.
pub const YES: u32 = u32::MAX;

/// How many ids are wanted, a power of two, as a word of which common bits stay: the fewest wins.
pub fn wanted(count: usize) -> u32 {
    count as u32 - 1
}

/// The other way.
pub fn least(combined: u32) -> usize {
    combined as usize + 1
}

/// Takes prefixes that all members have offered: nothing else can have taken them meanwhile.
pub fn take(space: &mut Space, found: Vec<u32>) -> Outcome {
    for prefix in &found {
        let free = space.take(*prefix);
        debug_assert!(free, "prefix {prefix} was taken behind the owner's back");
    }
    Outcome::Agreed(found)
}
