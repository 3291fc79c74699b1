//! Which rank is on which of several hosts. See docs/hosts.md.

use super::hosts::Listed;
use serde::{Deserialize, Serialize};

/// How ranks are dealt to hosts, and numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// One by one to the hosts in turn, instead of filling each.
    pub map_by_node: bool,
    /// Numbered across the hosts in turn, wherever they are.
    pub rank_by_node: bool,
}

/// The host (an index) of each rank. More ranks than slots go round once more.
pub fn place(hosts: &[Listed], ranks: usize, order: Order) -> Vec<usize> {
    let slots: Vec<usize> = hosts.iter().map(|it| it.room() as usize).collect();
    let mut placed = Vec::with_capacity(ranks);
    while placed.len() < ranks && slots.iter().any(|count| *count > 0) {
        match order.map_by_node {
            false => {
                let filled = slots.iter().enumerate();
                placed.extend(filled.flat_map(|(host, count)| vec![host; *count]));
            }
            true => {
                let most = slots.iter().max().copied().unwrap_or(0);
                let rounds = (0..most).flat_map(|round| {
                    let room = slots.iter().enumerate();
                    room.filter_map(move |(host, count)| (*count > round).then_some(host))
                });
                placed.extend(rounds);
            }
        }
    }
    placed.truncate(ranks);
    match order.rank_by_node {
        false => placed,
        true => by_turns(&placed, hosts.len()),
    }
}

/// As many ranks of each host, numbered across the hosts.
fn by_turns(placed: &[usize], hosts: usize) -> Vec<usize> {
    let mut left = vec![0; hosts];
    placed.iter().for_each(|host| left[*host] += 1);
    let mut turns = Vec::with_capacity(placed.len());
    while turns.len() < placed.len() {
        for (host, left) in left.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
            *left -= 1;
            turns.push(host);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(slots: &[u32]) -> Vec<Listed> {
        let listed = slots.iter().map(|count| Listed {
            name: "x".into(),
            slots: Some(*count),
            bare: 0,
            here: false,
        });
        listed.collect()
    }

    #[test]
    fn ranks_fill_slots_or_are_dealt() {
        let by = |map_by_node, rank_by_node| Order {
            map_by_node,
            rank_by_node,
        };
        let slots = hosts(&[2, 1]);
        assert_eq!(place(&slots, 3, by(false, false)), [0, 0, 1]);
        assert_eq!(place(&slots, 5, by(false, false)), [0, 0, 1, 0, 0]);
        assert_eq!(place(&slots, 3, by(true, false)), [0, 1, 0]);
        assert_eq!(place(&slots, 3, by(false, true)), [0, 1, 0]);
        assert_eq!(place(&hosts(&[3, 3]), 4, by(false, false)), [0, 0, 0, 1]);
        assert_eq!(place(&hosts(&[3, 3]), 4, by(true, false)), [0, 1, 0, 1]);
        assert_eq!(place(&hosts(&[3, 3]), 4, by(false, true)), [0, 1, 0, 0]);
    }
}
