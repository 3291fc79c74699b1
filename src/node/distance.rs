//! How far apart the caches of two cores are.
//!
//! On bare metal /sys says which cores share a cache. A virtual machine's /sys may say anything, and its host moves virtual cores
//! while a job runs: there the answer is measured ([`super::prober`]).
//!
//! Invariant: the distance is that of two cores, so that all ranks that run on them get one answer.

use super::Node;
use crate::os::hardware;

/// What two cores have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheDistance {
    /// They are one core.
    SameCore,
    /// A cache, or nobody knows so far: ordinary stores are never very bad.
    Shared,
    /// Nothing. Lines cross over slowly, and stores that bypass the caches are the better ones.
    Far,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    pub distance: CacheDistance,
    /// A measurement is under way: the rank on the other core should ask, too.
    pub measures: bool,
}

impl Sight {
    pub const fn of(distance: CacheDistance) -> Sight {
        Sight {
            distance,
            measures: false,
        }
    }

    /// What nothing is known of.
    pub const UNKNOWN: Sight = Sight {
        distance: CacheDistance::Shared,
        measures: true,
    };

    /// Nobody else is there.
    pub const SAME_CORE: Sight = Sight::of(CacheDistance::SameCore);

    /// For data that crosses both distances.
    pub fn or_farther(self, other: Sight) -> Sight {
        Sight {
            distance: self.distance.max(other.distance),
            measures: self.measures | other.measures,
        }
    }
}

impl Node {
    /// How far apart the caches of two cores are: the one that this rank runs on, and that of another rank which it exchanges
    /// data with.
    pub fn distance(&self, mine: usize, theirs: usize) -> Sight {
        if mine != theirs
            && let Some(shared) = hardware::share_cache(mine, theirs)
        {
            return Sight::of(match shared {
                true => CacheDistance::Shared,
                false => CacheDistance::Far,
            });
        }
        self.shared.distances.sight(mine, theirs)
    }
}

/// An answer that is asked for again now and then.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    sight: Sight,
    /// How often it may be used until it is asked for again.
    left: u32,
}

/// Uses of an answer; while it is measured, less.
const USES: u32 = 16;
const USES_WHILE_MEASURED: u32 = 2;

impl Watch {
    pub const fn new() -> Watch {
        Watch {
            sight: Sight::UNKNOWN,
            left: 0,
        }
    }

    /// The answer, which `ask` gives when it is time. True once with each new one that is being measured: then the other rank should
    /// ask, too.
    #[inline]
    pub fn look(&mut self, ask: impl FnOnce() -> Sight) -> (CacheDistance, bool) {
        if self.left > 0 {
            self.left -= 1;
            return (self.sight.distance, false);
        }
        self.sight = ask();
        self.left = match self.sight.measures {
            true => USES_WHILE_MEASURED,
            false => USES,
        };
        (self.sight.distance, self.sight.measures)
    }

    /// The last answer.
    #[inline]
    pub fn last(&self) -> CacheDistance {
        self.sight.distance
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::CacheDistance::{Far, Shared};
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_watch_asks_now_and_then() {
        let mut watch = Watch::new();
        assert_eq!(watch.last(), Shared);
        let asked = Cell::new(0);
        let mut look = |sight| {
            watch.look(|| {
                asked.set(asked.get() + 1);
                sight
            })
        };
        assert_eq!(look(Sight::UNKNOWN), (Shared, true));
        assert_eq!(look(Sight::of(Far)), (Shared, false));
        for _ in 0..100 {
            look(Sight::of(Far));
        }
        assert_eq!(look(Sight::of(Far)), (Far, false));
        assert!((5..10).contains(&asked.get()));
    }
}
