//! Tells the ranks of each host how those of other hosts have ended.
//!
//! A rank writes into its own page that it is in MPI_Finalize or has exited, and its keeper that it was killed. Ranks of other hosts cannot
//! see that page. Its keeper tells the root, the root all keepers, and each keeper writes it into its host's segment and
//! wakes the ranks that sleep.

use super::frames::Frame;
use crate::mpiexec::state::Ends;
use crate::mpiexec::supervisor::Supervisor;
use oxmpi::transport::life::End;
use std::time::{Duration, Instant};

/// As long as nobody has died only what stays so for as long is told, but deaths: a job that ends as it should sends nothing of all its ranks' ends.
const SETTLED: Duration = Duration::from_secs(3);

impl Ends {
    /// A rank of a host that is lost.
    pub fn add_lost(&mut self, rank: usize) {
        self.lost.push((rank as u32, End::LOST));
    }
}

impl Supervisor<'_> {
    /// Tells the other hosts of ends of ranks here: deaths, and that a rank wants to survive them, at once, all else when it has lasted for
    /// [`SETTLED`]. After a death everything is told at once: one that could not be in the barrier of MPI_Finalize with the dead has left, and
    /// others wait for it there.
    pub(crate) fn tell_ends(&mut self, now: Instant) {
        let settled = match self.ends.has_death {
            true => Duration::ZERO,
            false => SETTLED,
        };
        let mut news = std::mem::take(&mut self.ends.lost);
        for (index, rank) in self.ranks.iter().enumerate() {
            if rank.elsewhere.is_some() {
                continue;
            }
            let end = self.segment.rank(rank.seat).status.known_end();
            let known = self.ends.known.entry(index).or_insert((0, now, true));
            let is_wish = End::wants_to_survive(end) && !End::wants_to_survive(known.0);
            if known.0 != end {
                *known = (end, now, false);
            }
            let is_due = End::is_death(end) || is_wish || now >= known.1 + settled;
            if !known.2 && is_due {
                known.2 = true;
                news.push((rank.world as u32, end));
            }
        }
        if news.is_empty() {
            return;
        }
        match self.is_keeper() {
            true => self.report(&Frame::Ends(news)),
            false => self.spread_ends(news),
        }
    }

    /// At the root: all keepers shall know.
    pub(crate) fn spread_ends(&mut self, news: Vec<(u32, u32)>) {
        self.keep_ends(&news);
        if let Some(tree) = &mut self.tree {
            tree.broadcast(&Frame::Ends(news));
        }
    }

    /// Lets the ranks here see it.
    pub(crate) fn keep_ends(&mut self, news: &[(u32, u32)]) {
        let ends = self.segment.ends().unwrap_or_default();
        for (rank, known) in news {
            if let Some(end) = ends.get(*rank as usize) {
                end.tell(*known);
            }
        }
        if news.iter().any(|(_, known)| End::is_death(*known)) {
            self.ends.has_death = true;
            self.segment.tell_of_deaths();
        }
    }
}
