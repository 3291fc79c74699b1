//! Ranks that have ended with exit code 0 and have left something of MPI open: a warning for all of them, at the end of the job.

use super::rank::Stage;

/// What is known of them.
#[derive(Default)]
pub struct LeftOpen {
    sessions: Left,
    /// Of ranks whose MPI_Finalize has failed.
    world: Left,
}

#[derive(Default)]
struct Left {
    ranks: usize,
    /// The name of the first.
    first: String,
}

impl LeftOpen {
    pub fn add(&mut self, stage: Stage, name: String) {
        let left = match stage {
            Stage::InSessions(_) => &mut self.sessions,
            _ => &mut self.world,
        };
        left.ranks += 1;
        if left.ranks == 1 {
            left.first = name;
        }
    }

    /// A line for each kind that there is.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let kinds = [
            (&self.sessions, "without MPI_Session_finalize of a session"),
            (&self.world, "after MPI_Finalize had failed"),
        ];
        let there = kinds.into_iter().filter(|(left, _)| left.ranks > 0);
        there.map(|(left, how)| match (left.ranks, &left.first) {
            (1, first) => format!("warning: {first} ended {how}"),
            (ranks, first) => format!("warning: {ranks} ranks ended {how}, {first} as the first"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_line() {
        let mut left = LeftOpen::default();
        assert_eq!(left.warnings().count(), 0);
        left.add(Stage::InSessions(2), "rank 3".into());
        let session = "warning: rank 3 ended without MPI_Session_finalize of a session";
        assert_eq!(left.warnings().collect::<Vec<_>>(), [session]);
        left.add(Stage::Failed, "rank 1".into());
        left.add(Stage::InSessions(1), "rank 0".into());
        assert_eq!(
            left.warnings().collect::<Vec<_>>(),
            [
                "warning: 2 ranks ended without MPI_Session_finalize of a session, rank 3 as the first",
                "warning: rank 1 ended after MPI_Finalize had failed",
            ]
        );
    }
}
