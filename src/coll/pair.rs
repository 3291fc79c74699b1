//! Reductions of two ranks: vectors cross each other in pieces, and each is reduced as it comes in, where the result belongs.
//! α + bβ + bγ, the two overlapping; nothing is copied, unless in place or with holes.

use super::call::Operands;
use super::choose::PIECE;
use super::packed::{Packed, scratch};
use super::team::Team;
use crate::datatype::Buffer;
use crate::error::Result;

/// Sends `out`, if there is something, and makes `into` of `own` and what the other rank sends, if there is an `into`.
pub async fn exchange(
    team: &Team<'_>,
    out: Option<Buffer>,
    own: Buffer,
    into: Option<Buffer>,
    with: &Operands,
) {
    let peer = 1 - team.rank();
    let mut leaving = Packed::of(out.unwrap_or(Buffer::empty()), true);
    let out = leaving.bytes();
    let sends =
        pieces(out.len(), with).map(|(at, bytes)| team.begin_send(out.slice(at, bytes), peer));
    let Some(into) = into else {
        return team.finish_all(sends.collect()).await;
    };
    let mut own = Packed::of(own, true);
    let own = own.bytes();
    let commutes = with.op.is_commutative();
    let direct = commutes && into.is_apart_from(&own) && into.is_apart_from(&out);
    let mut aside = if direct {
        Box::default()
    } else {
        scratch(own.len())
    };
    let landing = match direct {
        true => into,
        false => Buffer::of_copy(&mut aside),
    };
    let receives = pieces(own.len(), with).map(|(at, bytes)| {
        let receive = team.begin_recv(landing.slice(at, bytes), peer);
        (at, bytes, receive)
    });
    let receives: Vec<_> = receives.collect();
    let sends: Vec<_> = sends.collect();
    // The result is made of `left op right` in `right`: for the second rank its own data is the right one.
    let mut right = match !commutes && team.rank() == 1 {
        true => super::packed::packed_copy(&own),
        false => Box::default(),
    };
    for (at, bytes, receive) in receives {
        team.finish(receive).await;
        let (mine, theirs) = (own.slice(at, bytes), landing.slice(at, bytes));
        team.note(if right.is_empty() {
            mine.with_bytes(|left| theirs.fill_from(bytes, |right| apply(with, left, right)))
        } else {
            theirs.with_bytes(|left| apply(with, left, &mut right[at..at + bytes]))
        });
    }
    team.finish_all(sends).await;
    if !right.is_empty() {
        into.write(0, &right);
    } else if !direct {
        into.write(0, &aside);
    }
}

fn apply(with: &Operands, left: &[u8], right: &mut [u8]) -> Result<()> {
    let count = right.len() as u64 / with.datatype.size.max(1);
    with.op.apply(left, right, count, with.datatype)
}

/// Position and length of the pieces of so many bytes, in whole elements: few of them, but two at least for the copies to overlap.
fn pieces(bytes: usize, with: &Operands) -> impl Iterator<Item = (usize, usize)> {
    let unit = (with.datatype.size as usize).max(1);
    let piece = (2 * PIECE).max(bytes / 8).div_ceil(unit) * unit;
    (0..bytes.div_ceil(piece)).map(move |at| (at * piece, piece.min(bytes - at * piece)))
}
