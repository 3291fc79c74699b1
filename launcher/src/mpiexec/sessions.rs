//! Which ranks have a session in common.
//!
//! Linux divides a busy core among sessions first (autogroup). In one session for all, the ranks get what one program of another
//! user gets; with a session each, a rank that yields has nobody to yield to. So ranks that share a core
//! have a session in common. A rank that shares no core has a session of its own.

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
/// share these, and have one session if they are more: yields help only within a session, and such ranks may meet on any of these processors.
pub fn arrange(how: Sessions, ranks: &[&[usize]]) -> Vec<Option<u32>> {
    let mut sessions = vec![None; ranks.len()];
    match how {
        Sessions::Rank => {}
        Sessions::One if ranks.len() < 2 => {}
        Sessions::One => sessions.fill(Some(0)),
        Sessions::Core => {
            let crowds = shares(ranks)
                .into_iter()
                .filter(|(cores, members)| members.len() > *cores);
            for (number, (_, members)) in (0..).zip(crowds) {
                for rank in members {
                    sessions[rank] = Some(number);
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
    fn ranks_that_share_cores_and_are_not_bound_have_one_session() {
        let sessions = arrange(Sessions::Core, &[&[3, 5][..]; 5]);
        assert_eq!(sessions, [Some(0); 5]);
        let two: [&[usize]; 6] = [&[1, 2], &[3], &[1, 2], &[3], &[1, 2], &[4]];
        let expected = [Some(0), Some(1), Some(0), Some(1), Some(0), None];
        assert_eq!(arrange(Sessions::Core, &two), expected);
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
