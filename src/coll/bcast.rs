//! MPI_Bcast.

use super::packed::Packed;
use super::ring;
use super::team::Team;
use crate::datatype::{Buffer, Parts};

/// Binomial tree: ceil(log2 n) (α + bβ).
pub async fn binomial(team: &Team<'_>, buffer: Buffer, root: usize) {
    down(team, root, |_, _| buffer).await;
}

/// Down a binomial tree: `blocks(first, number)` is the data of so many ranks, counted from the root on, that goes to the first of them.
pub async fn down(team: &Team<'_>, root: usize, blocks: impl Fn(usize, usize) -> Buffer) {
    let (size, relative) = (team.size(), team.before(root));
    let rank = |relative: usize| (relative + root) % size;
    let mut mask = 1;
    while mask < size {
        if relative & mask != 0 {
            let mine = blocks(relative, mask.min(size - relative));
            team.recv(mine, rank(relative - mask)).await;
            break;
        }
        mask <<= 1;
    }
    mask >>= 1;
    while mask > 0 {
        if relative + mask < size {
            let theirs = blocks(relative + mask, mask.min(size - relative - mask));
            team.send(theirs, rank(relative + mask)).await;
        }
        mask >>= 1;
    }
}

/// The root sends to all, all at once: (n - 1) messages, but no other rank waits for one between.
pub async fn linear(team: &Team<'_>, buffer: Buffer, root: usize) {
    if team.rank() != root {
        return team.recv(buffer, root).await;
    }
    let others = (0..team.size()).filter(|rank| *rank != root);
    let pending = others.map(|rank| team.begin_send(buffer, rank)).collect();
    team.finish_all(pending).await;
}

/// Scatter over a binomial tree, then an allgather in a ring: (log2 n + n - 1) α + 2 (n - 1) / n bβ.
/// Van de Geijn et al.; Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005.
pub async fn scatter_allgather(team: &Team<'_>, buffer: Buffer, root: usize) {
    let (size, relative) = (team.size(), team.before(root));
    let packed = Packed::of(buffer, relative == 0);
    let all = packed.bytes();
    let each = all.len().div_ceil(size);
    let blocks = |first: usize, number: usize| {
        let from = (first * each).min(all.len());
        all.slice(from, ((first + number) * each).min(all.len()) - from)
    };
    down(team, root, blocks).await;
    let parts = (0..size).map(|rank| blocks((rank + size - root) % size, 1));
    ring::allgather(team, &Parts::Each(parts.collect())).await;
    packed.unpack(relative != 0);
}

/// A chain that hands on pieces of s bytes: (n - 2 + b / s) (α + sβ); each rank is woken by one other only.
pub async fn chain(team: &Team<'_>, buffer: Buffer, root: usize, piece: usize) {
    let (size, relative) = (team.size(), team.before(root));
    let packed = Packed::of(buffer, relative == 0);
    let all = packed.bytes();
    let pieces = all.len().div_ceil(piece);
    let blocks = |at: usize| all.slice(at * piece, piece.min(all.len() - at * piece));
    let begin = |at: usize| team.begin_recv(blocks(at), team.before(1));
    let mut receiving = (relative > 0 && pieces > 0).then(|| begin(0));
    let mut sending = None;
    for at in 0..pieces {
        if let Some(receive) = receiving.take() {
            let next = (at + 1 < pieces).then(|| begin(at + 1));
            team.finish(receive).await;
            receiving = next;
        }
        if relative + 1 < size {
            let send = team.begin_send(blocks(at), team.after(1));
            if let Some(before) = sending.replace(send) {
                team.finish(before).await;
            }
        }
    }
    if let Some(last) = sending {
        team.finish(last).await;
    }
    packed.unpack(relative != 0);
}
