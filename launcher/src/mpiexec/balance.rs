//! Whether ranks that are kept on a core which they share are better off where the kernel wants them. They are where they work
//! unequally: two that compute share a core while that of others, which wait, is idle; or a program outside the job holds a core. Then
//! all may use all processors, from then on: a job whose ranks work equally gets nothing from being bound but that yields stay short.
//!
//! Only ranks that were bound by default are freed. Invariant: what a program has bound itself to is not changed.

use super::descendants;
use super::plan::Plan;
use super::process_times::{is_ready, ticks_of};
use super::rank::Rank;
use super::state::{Balance, Look};
use super::supervisor::Supervisor;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// Between two looks, for so many ranks; of each, files of /proc are read.
const PERIOD: Duration = Duration::from_secs(1);
const RANKS: usize = 64;
/// So many looks in a row must find it.
const LOOKS: u32 = 2;
/// Parts of a period, in percent: a rank works; a core is full; a core is idle; nothing.
const WORKS: u64 = 20;
const FULL: u64 = 80;
const IDLE: u64 = 40;
const NOTHING: u64 = 3;

/// What became of a core in a period, in percent of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Core {
    /// Each rank's time.
    ranks: Vec<u64>,
    idle: u64,
    /// A rank was ready to run at its end; only looked at where that matters.
    wanted: bool,
}

impl Core {
    fn is_crowded(&self) -> bool {
        let working = self.ranks.iter().filter(|part| **part >= WORKS).count();
        working > 1 && self.ranks.iter().sum::<u64>() >= FULL
    }

    /// Whether others have all of it.
    fn is_taken(&self) -> bool {
        self.ranks.iter().sum::<u64>() <= NOTHING && self.idle <= NOTHING
    }
}

fn is_unequal(cores: &[Core]) -> bool {
    let crowded = cores.iter().any(Core::is_crowded);
    crowded && cores.iter().any(|core| core.idle >= IDLE)
        || cores.iter().any(|core| core.wanted && core.is_taken())
}

impl Balance {
    /// `None`: nothing is to be watched.
    pub fn new(plan: &Plan, now: Instant) -> Option<Balance> {
        plan.crowd.as_ref()?;
        let period = PERIOD * plan.here().count().div_ceil(RANKS) as u32;
        Some(Balance {
            period,
            next: now + period,
            last: Look::default(),
            found: 0,
        })
    }
}

impl Supervisor<'_> {
    /// Looks when it is time; when the next look is due.
    pub(super) fn tend_balance(&mut self, now: Instant) -> Option<Instant> {
        let mut balance = self.balance.take()?;
        if now >= balance.next {
            balance.next = now + balance.period;
            let look = self.look_at_cores(now);
            let unequal = is_unequal(&self.cores_between(&balance.last, &look));
            balance.last = look;
            balance.found = if unequal { balance.found + 1 } else { 0 };
            if balance.found >= LOOKS {
                self.free_ranks();
                return None;
            }
        }
        let next = balance.next;
        self.balance = Some(balance);
        Some(next)
    }

    fn look_at_cores(&self, now: Instant) -> Look {
        let time = |rank: &Rank| match rank.is_running() && rank.elsewhere.is_none() {
            true => ticks_of(rank.mpi_pid(&self.segment)).unwrap_or(0),
            false => 0,
        };
        Look {
            at: Some(now),
            of_ranks: self.ranks.iter().map(time).collect(),
            idle: idle_ticks(&fs::read_to_string("/proc/stat").unwrap_or_default()),
        }
    }

    fn cores_between(&self, before: &Look, after: &Look) -> Vec<Core> {
        let (Some(from), Some(to)) = (before.at, after.at) else {
            return Vec::new();
        };
        let ticks = rustix::param::clock_ticks_per_second() as f64 * (to - from).as_secs_f64();
        let part = |from: u64, to: u64| (to.saturating_sub(from) as f64 * 100.0 / ticks) as u64;
        let mut cores: BTreeMap<usize, Core> = BTreeMap::new();
        for (number, rank) in self.ranks.iter().enumerate() {
            if let [processor] = self.plan.ranks[number].processors[..]
                && rank.elsewhere.is_none()
            {
                let core = cores.entry(processor).or_default();
                core.ranks
                    .push(part(before.of_ranks[number], after.of_ranks[number]));
            }
        }
        for (processor, core) in &mut cores {
            let idle = |look: &Look| look.idle.get(processor).copied().unwrap_or(0);
            core.idle = part(idle(before), idle(after));
            if core.is_taken() {
                let ranks = self.ranks.iter().filter(|it| it.is_running());
                let mut here = ranks.filter(|it| {
                    let bound = &self.plan.ranks[it.number].processors;
                    it.elsewhere.is_none() && bound[..] == [*processor]
                });
                core.wanted = here.any(|rank| is_ready(rank.mpi_pid(&self.segment)));
            }
        }
        cores.into_values().collect()
    }

    /// Lets the ranks, and what they have started, run on all processors of the job.
    fn free_ranks(&self) {
        let Some(processors) = &self.plan.crowd else {
            return;
        };
        let all = set_of(processors);
        let here = self.ranks.iter().filter(|it| it.elsewhere.is_none());
        for rank in here.filter(|rank| rank.is_running()) {
            let bound = set_of(&self.plan.ranks[rank.number].processors);
            let below = descendants::below(rank.pid);
            for thread in below.into_iter().chain([rank.pid]).flat_map(threads) {
                if sched_getaffinity(Some(thread)) == Ok(bound) {
                    let _ = sched_setaffinity(Some(thread), &all);
                }
            }
        }
    }
}

fn set_of(processors: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for processor in processors.iter().filter(|it| **it < CpuSet::MAX_CPU) {
        set.set(*processor);
    }
    set
}

fn threads(pid: i32) -> Vec<Pid> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let names = entries.into_iter().flatten().flatten();
    let numbers = names.filter_map(|it| it.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

/// How long each processor had nothing to do, from /proc/stat.
fn idle_ticks(stat: &str) -> BTreeMap<usize, u64> {
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let processor = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        Some((processor, numbers.get(3)? + numbers.get(4)?))
    };
    stat.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(ranks: &[u64], idle: u64) -> Core {
        Core {
            ranks: ranks.to_vec(),
            idle,
            wanted: true,
        }
    }

    #[test]
    fn ranks_that_work_equally_stay_where_they_are() {
        assert!(!is_unequal(&[]));
        assert!(!is_unequal(&[core(&[50, 50], 0), core(&[50, 50], 0)]));
        // All wait.
        assert!(!is_unequal(&[core(&[2, 1], 96), core(&[2, 2], 95)]));
        // One works, and would not be faster elsewhere.
        assert!(!is_unequal(&[core(&[97, 2], 0), core(&[1, 2], 96)]));
        // Another program has one of the cores for half of the time.
        assert!(!is_unequal(&[core(&[50, 50], 0), core(&[25, 24], 0)]));
    }

    #[test]
    fn ranks_that_work_beside_an_idle_core_are_freed() {
        assert!(is_unequal(&[core(&[50, 49], 0), core(&[1, 2], 96)]));
        assert!(is_unequal(&[core(&[1], 99), core(&[40, 30, 29], 0)]));
    }

    #[test]
    fn ranks_whose_core_is_withheld_are_freed() {
        assert!(is_unequal(&[core(&[0, 1], 0), core(&[2, 2], 96)]));
        let nobody = Core {
            wanted: false,
            ..core(&[0, 1], 0)
        };
        assert!(!is_unequal(&[nobody, core(&[2, 2], 96)]));
    }

    #[test]
    fn idle_time_is_read() {
        let stat = "cpu  9 9 9 99 9 0\ncpu0 1 2 3 40 5 0 0 0 0 0\ncpu12 1 2 3 60 7\nintr 1 2\n";
        assert_eq!(idle_ticks(stat), BTreeMap::from([(0, 45), (12, 67)]));
    }
}
