//! Which ranks have a session in common.
//!
//! Linux divides a busy core among sessions first (autogroup). In one session for all, the ranks get what one program of another
//! user gets; with a session each, a rank that yields has nobody to yield to. So there are as many sessions as cores, if more ranks
//! than these share them, and neighbours are together. A rank that shares no core has a session of its own.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sessions {
    /// One of its own for each rank.
    Rank,
    /// One for each core, if ranks share cores.
    #[default]
    Core,
    /// One for all ranks of a host.
    One,
}

impl Sessions {
    pub fn parse(text: &str) -> Result<Sessions, String> {
        match text.to_ascii_lowercase().as_str() {
            "rank" => Ok(Sessions::Rank),
            "core" => Ok(Sessions::Core),
            "one" => Ok(Sessions::One),
            _ => Err(format!(
                "'{text}' is not understood; known are core, rank and one"
            )),
        }
    }
}

/// The session of each rank of a host, given the processors that it may use; `None`: one of its own. Ranks with equal processors
/// share these.
pub fn arrange(how: Sessions, ranks: &[&[usize]]) -> Vec<Option<u32>> {
    let mut sessions = vec![None; ranks.len()];
    match how {
        Sessions::Rank => {}
        Sessions::One if ranks.len() < 2 => {}
        Sessions::One => sessions.fill(Some(0)),
        Sessions::Core => {
            let mut next = 0;
            for (cores, members) in shares(ranks) {
                let count = members.len();
                if count > cores {
                    for (position, rank) in members.into_iter().enumerate() {
                        sessions[rank] = Some((next + position * cores / count) as u32);
                    }
                    next += cores;
                }
            }
        }
    }
    sessions
}

/// The sets of processors in the order in which they appear: how many there are in each, and its ranks.
fn shares(ranks: &[&[usize]]) -> Vec<(usize, Vec<usize>)> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|rank| ranks[*rank]);
    let equal = order.chunk_by(|one, other| ranks[*one] == ranks[*other]);
    let of = |them: &[usize]| (ranks[them[0]].len(), them.to_vec());
    let mut shares: Vec<_> = equal.map(of).collect();
    shares.sort_by_key(|(_, them)| them[0]);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_session_where_ranks_share_cores() {
        let sessions = arrange(Sessions::Core, &[&[3, 5][..]; 5]);
        assert_eq!(sessions, [0, 0, 0, 1, 1].map(Some));
    }

    #[test]
    fn a_rank_with_a_core_has_a_session() {
        assert_eq!(arrange(Sessions::Core, &[&[0, 1][..]; 2]), [None; 2]);
        assert_eq!(arrange(Sessions::Core, &[&[0], &[1], &[2]]), [None; 3]);
        assert_eq!(arrange(Sessions::Core, &[&[7]]), [None]);
        assert!(arrange(Sessions::Core, &[]).is_empty());
    }

    #[test]
    fn ranks_that_are_bound_share_what_they_are_bound_to() {
        let bound: [&[usize]; 6] = [&[1], &[0], &[1], &[2, 3], &[0], &[2, 3]];
        let expected = [Some(0), Some(1), Some(0), None, Some(1), None];
        assert_eq!(arrange(Sessions::Core, &bound), expected);
    }

    #[test]
    fn other_ways_can_be_chosen() {
        let ranks = [&[0][..]; 3];
        assert_eq!(arrange(Sessions::Rank, &ranks), [None; 3]);
        assert_eq!(arrange(Sessions::One, &ranks), [Some(0); 3]);
        assert_eq!(arrange(Sessions::One, &ranks[..1]), [None]);
        assert_eq!(Sessions::parse("Core"), Ok(Sessions::Core));
        assert!(
            Sessions::parse("node")
                .unwrap_err()
                .contains("core, rank and one")
        );
    }
}
