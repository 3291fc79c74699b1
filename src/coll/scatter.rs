//! MPI_Scatter and MPI_Scatterv.
//!
//! `parts` is what the root has for all; `None` elsewhere. `into` is where this rank wants its part; `None` at the root in
//! place.

use super::args::part_bytes;
use super::bcast;
use super::team::{Team, copy_own};
use crate::datatype::{Buffer, Parts, Scratch};

/// The root sends to all at once: (n - 1) α + (n - 1) bβ at the root.
pub async fn linear(team: &Team<'_>, parts: Option<&Parts>, into: Option<Buffer>, root: usize) {
    let Some(parts) = parts else {
        let into = into.unwrap_or(Buffer::empty());
        if !into.is_empty() {
            team.recv(into, root).await;
        }
        return;
    };
    let others = (0..team.size()).filter(|rank| *rank != root && parts.len(*rank) > 0);
    let pending = others
        .map(|rank| team.begin_send(parts.of(rank), rank))
        .collect();
    if let Some(into) = into {
        copy_own(team, &parts.of(root), &into);
    }
    team.finish_all(pending).await;
}

/// Binomial tree, of equal parts: ceil(log2 n) α + (n - 1) bβ.
/// Thakur, Rabenseifner, Gropp, 2005.
pub async fn binomial(team: &Team<'_>, parts: Option<&Parts>, into: Option<Buffer>, root: usize) {
    let (size, relative) = (team.size(), team.before(root));
    let each = part_bytes(into, parts, root);
    if each == 0 {
        return;
    }
    let below = match relative {
        0 => size,
        _ => (1 << relative.trailing_zeros()).min(size - relative),
    };
    let subtree = Scratch::new(below * each);
    let all = subtree.buffer();
    if let Some(parts) = parts {
        for relative in 0..size {
            let part = parts.of((relative + root) % size);
            part.copy_to(&all.slice(relative * each, each), each);
        }
    }
    let blocks = |first, number| all.slice((first - relative) * each, number * each);
    bcast::down(team, root, blocks).await;
    if let Some(into) = into {
        copy_own(team, &all.slice(0, each), &into);
    }
}
