//! The table of processes that the supervisor tells the front process for debuggers: once, when each rank is in MPI_Init, or some seconds after
//! the start.

use super::mpir::END;
use super::rank::Rank;
use super::supervisor::Supervisor;
use oxmpi::sync::Ordering;
use std::io::Write;
use std::time::{Duration, Instant};

/// So long after the start ranks count that have not come to MPI_Init, by the process that was started.
const LONGEST: Duration = Duration::from_secs(5);
const PERIOD: Duration = Duration::from_millis(20);

impl Supervisor<'_> {
    /// Tells the table once. Returns when to try again.
    pub(super) fn tend_debuggers(&mut self, now: Instant) -> Option<Instant> {
        let tells = !self.is_keeper() && !self.plan.is_spawned() && self.plan.singleton.is_none();
        if self.table_told || !tells {
            return None;
        }
        let page_of = |rank: &Rank| &self.segment.rank(rank.seat).status;
        let is_there = |rank: &Rank| {
            let here = rank.elsewhere.is_none();
            !rank.is_running()
                || here && page_of(rank).pid.load(Ordering::Relaxed) != 0
                || !here && rank.pid != 0
        };
        if !self.ranks.iter().all(is_there) && now < self.begin + LONGEST {
            return Some(now + PERIOD);
        }
        self.table_told = true;
        let mut table = String::new();
        for rank in &self.ranks {
            let pid = rank.mpi_pid(&self.segment);
            let program = &self.plan.programs[self.plan.ranks[rank.number].program];
            let own = std::fs::read_link(format!("/proc/{pid}/exe"));
            let executable = match own {
                Ok(path) if rank.elsewhere.is_none() => path,
                _ => program.executable.clone(),
            };
            let executable = executable.to_string_lossy().replace(['\n', '\t'], "?");
            let host = self.plan.host_of(rank.number);
            table += &format!("{pid}\t{host}\t{executable}\n");
        }
        table += END;
        table.push('\n');
        // The other end is always read, unless it is stopped.
        let _ = self.front.set_nonblocking(false);
        let _ = self.front.set_write_timeout(Some(Duration::from_secs(1)));
        let _ = self.front.write_all(table.as_bytes());
        let _ = self.front.set_nonblocking(true);
        None
    }
}
