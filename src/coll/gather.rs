//! MPI_Gather and MPI_Gatherv.
//!
//! `own` is this rank's part; `None` at the root in place. `parts` is where the root wants all; `None` elsewhere.

use super::args::part_bytes;
use super::team::{Team, copy_own};
use crate::datatype::{Buffer, Parts, Scratch};

/// The root receives from all at once: (n - 1) α + (n - 1) bβ at the root, no other rank waits for anything.
pub async fn linear(team: &Team<'_>, own: Option<Buffer>, parts: Option<&Parts>, root: usize) {
    let Some(parts) = parts else {
        let own = own.unwrap_or(Buffer::empty());
        if !own.is_empty() {
            team.send(own, root).await;
        }
        return;
    };
    let others = (0..team.size()).filter(|rank| *rank != root && parts.len(*rank) > 0);
    let pending = others
        .map(|rank| team.begin_recv(parts.of(rank), rank))
        .collect();
    if let Some(own) = own {
        copy_own(team, &own, &parts.of(root));
    }
    team.finish_all(pending).await;
}

/// Binomial tree, of equal parts: ceil(log2 n) α + (n - 1) bβ.
/// Thakur, Rabenseifner, Gropp, 2005.
pub async fn binomial(team: &Team<'_>, own: Option<Buffer>, parts: Option<&Parts>, root: usize) {
    let (size, relative) = (team.size(), team.before(root));
    let each = part_bytes(own, parts, root);
    if each == 0 {
        return;
    }
    // The parts of `relative`, `relative + 1` and so on.
    let below = match relative {
        0 => size,
        _ => (1 << relative.trailing_zeros()).min(size - relative),
    };
    let subtree = Scratch::new(below * each);
    let all = subtree.buffer();
    if let Some(own) = &own {
        own.copy_to(&all.slice(0, each), own.len().min(each));
    }
    let mut mask = 1;
    while mask < size && relative & mask == 0 {
        if relative + mask < size {
            let bytes = mask.min(size - relative - mask) * each;
            let child = (relative + mask + root) % size;
            team.recv(all.slice(mask * each, bytes), child).await;
        }
        mask <<= 1;
    }
    if relative > 0 {
        team.send(all, (relative - mask + root) % size).await;
    } else if let Some(parts) = parts {
        for relative in usize::from(own.is_none())..size {
            let part = all.slice(relative * each, each);
            copy_own(team, &part, &parts.of((relative + root) % size));
        }
    }
}
