//! What the members of a group tell each other at a meeting, and the two groups.

use super::codec::{Coded, decode, encode};
use super::conversation::Conversation;
use crate::coll::{CollContext, allgather_on, allreduce_on, block_on};
use crate::constructors::{InterContext, share};
use crate::error::{Class, Error, Result};

/// Bytes have come that mean nothing.
pub fn nonsense(class: Class) -> Error {
    Error::new(class, "the other group sends nonsense")
}

/// Gives all members what the root has, or its error. Only the root brings something.
pub fn tell_all<T: Coded>(
    own: &CollContext<'_>,
    root: i32,
    at_root: Option<Result<T>>,
) -> Result<T> {
    let mut bytes = at_root.as_ref().map(encode).unwrap_or_default().into();
    block_on(share(own, &mut bytes, root))?;
    let told = || decode(&bytes).unwrap_or_else(|| Err(nonsense(Class::Port)));
    at_root.unwrap_or_else(told)
}

/// The way between two groups that meet.
pub struct Way<'a> {
    pub own: &'a CollContext<'a>,
    pub root: i32,
    /// With the other root, over the connection that it has; nothing is said there if the leaders have met.
    pub conversation: Conversation,
    pub leaders: Option<&'a InterContext<'a>>,
}

impl Way<'_> {
    /// Gives the other group what this one's root has, and all members what the other's root has.
    pub fn swap<T: Coded + Send + 'static>(&mut self, mine: &T) -> Result<T> {
        if let Some(leaders) = self.leaders {
            let theirs = block_on(leaders.swap_any(self.own, encode(mine).into()))?;
            return decode(&theirs).ok_or_else(|| nonsense(Class::Other));
        }
        let at_root = (self.own.rank() == self.root).then(|| {
            let mine = encode(mine);
            self.conversation.step(move |socket| match socket {
                Some(socket) => decode(&socket.swap(&mine)?).ok_or_else(|| nonsense(Class::Port)),
                None => Err(nonsense(Class::Port)),
            })
        });
        tell_all(self.own, self.root, at_root)
    }
}

/// What all members have to say, by rank. `longest`: a value that takes as many bytes as any of them may; `None`: they agree on a length first.
pub fn gather<T: Coded>(coll: &CollContext<'_>, own: &T, longest: Option<&T>) -> Result<Vec<T>> {
    let own = encode(own);
    let longest = match longest {
        Some(longest) => encode(longest).len(),
        None => {
            let mut longest = Box::from((own.len() as u32).to_le_bytes());
            block_on(allreduce_on(coll, &mut longest, &|left, right| {
                let larger = word(left).max(word(right));
                right.copy_from_slice(&larger.to_le_bytes());
                Ok(())
            }))?;
            word(&longest) as usize
        }
    };
    let (rank, size) = (coll.rank() as usize, coll.size() as usize);
    let mut all = vec![0; size * longest].into_boxed_slice();
    all[rank * longest..][..own.len()].copy_from_slice(&own);
    block_on(allgather_on(coll, &mut all, longest))?;
    let each = all.chunks_exact(longest);
    // Behind a shorter one there are zeros.
    let each = each.map(|mut bytes| T::read(&mut bytes));
    let each = each.collect::<Option<_>>();
    each.ok_or_else(|| nonsense(Class::Port))
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}
