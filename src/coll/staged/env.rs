//! What an operation needs besides its staging area and its arguments: the ranks that take part, and in tests a fixture.

use crate::coll::args::CollArgs;
use crate::coll::choose::plan::Plan;
use crate::coll::choose::report;
use crate::coll::context::{CollContext, WaitMode};
use crate::coll::differing;
use crate::comm::Comm;
use crate::engine::enter;
use crate::node::distance::Sight;
use crate::transport::collective::Area;
#[cfg(test)]
use crate::transport::collective::{Fixture, Form};

/// See the module.
#[derive(Clone, Copy)]
pub(super) enum Env<'a> {
    Coll(&'a CollContext<'a>),
    /// With the name of the function and, of a task, its tag: the context is made where it is needed, which is seldom.
    Comm(&'a Comm, &'static str, Option<i32>),
    /// There is no engine: the ranks take turns. With the name of the operation, and how this rank waits in it.
    #[cfg(test)]
    Fixture(&'a Fixture, &'static str, Form),
}

impl<'a> Env<'a> {
    /// The ranks that take part; tests have none.
    #[inline(always)]
    pub fn coll(self) -> CollContext<'a> {
        match self {
            Env::Coll(coll) => *coll,
            Env::Comm(comm, function, None) => CollContext::new(comm, function),
            Env::Comm(comm, function, Some(tag)) => CollContext::new(comm, function).task(tag),
            #[cfg(test)]
            Env::Fixture(..) => unreachable!("a fixture has no processes"),
        }
    }

    /// Whether a wait in a future blocks.
    pub fn blocks(self) -> bool {
        match self {
            Env::Coll(coll) => matches!(coll.wait, WaitMode::Block),
            Env::Comm(_, _, tag) => tag.is_none(),
            #[cfg(test)]
            Env::Fixture(_, _, form) => form == Form::Future,
        }
    }

    #[cfg(test)]
    pub fn function(self) -> &'static str {
        match self {
            Env::Coll(coll) => coll.function,
            Env::Comm(_, function, _) | Env::Fixture(_, function, _) => function,
        }
    }

    /// How far the caches of the farthest of so many ranks are from those of this one.
    pub fn farthest(self, ranks: usize) -> Sight {
        match self {
            #[cfg(test)]
            Env::Fixture(fixture, ..) => fixture.farthest(),
            _ => {
                let coll = self.coll();
                let processes = (0..ranks as i32).map(|rank| coll.process(rank));
                enter().transport().farthest(processes)
            }
        }
    }

    /// Notes that more or less data came than this rank wanted.
    #[cold]
    pub fn note_difference(self) {
        match self {
            #[cfg(test)]
            Env::Fixture(..) => {}
            _ => differing::note(self.coll().operation()),
        }
    }

    /// Notes how an operation was staged.
    #[cold]
    pub fn report(self, args: &CollArgs, plan: &Plan) {
        match self {
            #[cfg(test)]
            Env::Fixture(..) => {}
            _ => report::staged(&self.coll(), args, plan),
        }
    }

    /// Makes the large rings of an area; by one rank, before it publishes that.
    pub fn make_large(self, area: &Area) {
        match self {
            #[cfg(test)]
            Env::Fixture(fixture, ..) => fixture.make_large(),
            _ => enter().transport().node_memory().make_large_rings(area),
        }
    }

    /// Looks for them, after that. Whether there are some.
    pub fn open_large(self, area: &mut Area) -> bool {
        match self {
            #[cfg(test)]
            Env::Fixture(fixture, ..) => fixture.open_large(area),
            _ => enter().transport().node_memory().open_large_rings(area),
        }
    }
}
