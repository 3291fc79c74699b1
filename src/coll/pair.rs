//! Reductions of two ranks: vectors cross each other in pieces, and each is reduced as it comes in, where the result belongs.
//! α + bβ + bγ, the two overlapping. Invariant: where both ranks reduce the same elements, both do so in the order of the ranks, for all must
//! get identical results (MPI 5.0, 6.9.6).

use super::choose::PIECE;
use super::reduction::{Reduction, Vectors};
use super::team::Team;
use crate::datatype::{Buffer, Scratch};

/// Sends `out`, if there is something, and makes `into` of `own` and what the other rank sends, if there is an `into`. They may
/// be the same or overlap.
pub async fn exchange(team: &Team<'_>, out: &Buffer, (own, into, how): Vectors<'_>) {
    let peer = 1 - team.rank();
    let sends = || {
        let pieces = pieces(out.len(), how);
        pieces.map(|(at, bytes)| team.begin_send(out.slice(at, bytes), peer))
    };
    if into.is_empty() {
        return team.finish_all(sends().collect()).await;
    }
    let is_left = team.rank() == 0;
    let apart = into.is_apart_from(own) && into.is_apart_from(out);
    let any_order = how.commutes && !out.is_at(own);
    // Where the operand that comes is reduced in its own place, that is the result's.
    let directly = apart && (is_left || any_order);
    // What overlaps otherwise may be written only after all has left.
    let aside = !apart && !own.is_at(into);
    let scratch = Scratch::new(match (directly, aside) {
        (true, _) => 0,
        (_, false) => own.len(),
        (_, true) => 2 * own.len(),
    });
    let landing = match directly {
        true => *into,
        false => scratch.buffer().slice(0, own.len()),
    };
    let target = match aside {
        true => scratch.buffer().slice(own.len(), own.len()),
        false => *into,
    };
    let receives = pieces(own.len(), how).map(|(at, bytes)| {
        let receive = team.begin_recv(landing.slice(at, bytes), peer);
        (at, bytes, receive)
    });
    let receives: Vec<_> = receives.collect();
    let mut sends = sends();
    let mut pending: Vec<_> = sends.by_ref().collect();
    if !apart {
        pending.reverse();
    }
    for (at, bytes, receive) in receives {
        team.finish(receive).await;
        if !apart && let Some(send) = pending.pop() {
            team.finish(send).await;
        }
        let of = |buffer: &Buffer| buffer.slice(at, bytes);
        let (mine, theirs, into) = (of(own), of(&landing), of(&target));
        let (left, right) = match is_left || directly {
            true => (mine, theirs),
            false => (theirs, mine),
        };
        match any_order {
            true => how.combine(team, &left, &right, &into),
            false => how.combine_in_order(team, &left, &right, &into),
        }
    }
    team.finish_all(pending).await;
    if aside {
        target.copy_to(into, into.len());
    }
}

/// Position and length of the pieces of so many bytes, in whole elements: few of them, but two at least for the copies to overlap.
fn pieces(bytes: usize, how: &Reduction<'_>) -> impl Iterator<Item = (usize, usize)> {
    let unit = how.unit.max(1);
    let piece = (2 * PIECE).max(bytes / 8).div_ceil(unit) * unit;
    (0..bytes.div_ceil(piece)).map(move |at| (at * piece, piece.min(bytes - at * piece)))
}
