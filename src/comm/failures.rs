//! What a program knows of failed processes of a communicator: which, and how many of these it has acknowledged.
//!
//! Invariant: the failed processes of a communicator are always told in one order, in which new ones come last, so that a count says
//! which are acknowledged; that count never falls.

use super::Comm;
use crate::engine::liveness;
use crate::engine::{self, failures};
use crate::sync::Ordering;

impl Comm {
    /// The processes known to have failed, of both groups of an intercommunicator, in the order of detection: process numbers.
    pub fn failed(&self) -> Vec<u32> {
        liveness::look();
        self.known_failed()
    }

    /// As [`Comm::failed`], without a look at processes of which nobody tells.
    fn known_failed(&self) -> Vec<u32> {
        let mut failed = failures::known();
        failed.retain(|process| self.processes().any(|member| member == *process));
        failed
    }

    /// Acknowledges the first `count` of [`Comm::failed`]; never fewer than before. Returns how many are.
    pub fn acknowledge(&self, count: usize) -> usize {
        let count = count.min(self.known_failed().len()) as u32;
        let before = self.acknowledged.fetch_max(count, Ordering::Relaxed);
        before.max(count) as usize
    }

    /// How many of [`Comm::failed`] are acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::Relaxed) as usize
    }

    /// Whether this process knows that it was revoked, or that one of its processes has failed. Then members may have given up operations,
    /// whose messages still come.
    pub fn has_failed(&self) -> bool {
        let mut processes = self.processes();
        self.is_revoked()
            || liveness::any_death() && processes.any(engine::has_died)
            || failures::any() && !self.known_failed().is_empty()
    }

    /// The first failed process that is not acknowledged, among those that messages come from.
    pub fn unacknowledged(&self) -> Option<u32> {
        failures::look();
        match failures::any() {
            true => self.find_unacknowledged(),
            false => None,
        }
    }

    #[cold]
    fn find_unacknowledged(&self) -> Option<u32> {
        let failed = self.known_failed();
        let mut new = failed.into_iter().skip(self.acknowledged());
        let is_peer = |process: u32| (0..self.peers()).any(|rank| self.process(rank) == process);
        new.find(|process| is_peer(*process))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Made, Maker, Members, Parts};
    use super::*;
    use crate::engine::losses;
    use crate::group::Group;
    use std::sync::Arc;

    fn comm(members: [u32; 3], remote: Option<[u32; 2]>) -> Comm {
        let parts = Parts {
            context: 4000,
            receive_context: 4000,
            engines: 1,
            rank: 0,
            members: Members::Of(Arc::new(Group::new(members))),
            remote: remote.map(|numbers| Members::Of(Arc::new(Group::new(numbers)))),
            made: Made::without_parent(Maker::Dup),
        };
        Comm::new(0, parts, "")
    }

    // Numbers that no other test of this process has: the list is that of the process.
    #[test]
    fn failures_are_told_in_the_order_of_detection_and_acknowledged_by_their_number() {
        let one = comm([7001, 7003, 7005], None);
        let other = comm([7005, 7002, 7000], None);
        let inter = comm([7000, 7002, 7004], Some([7005, 7001]));
        assert!(one.known_failed().is_empty());
        assert_eq!((one.acknowledge(9), one.unacknowledged()), (0, None));
        for process in [7005, 7001, 7002] {
            losses::explain(process);
        }
        assert_eq!(one.known_failed(), [7005, 7001]);
        assert_eq!(other.known_failed(), [7005, 7002]);
        assert_eq!(inter.known_failed(), [7005, 7001, 7002]);
        assert_eq!(one.unacknowledged(), Some(7005));
        assert_eq!(one.acknowledge(1), 1);
        assert_eq!(one.unacknowledged(), Some(7001));
        // Never fewer than before, never more than there are.
        assert_eq!((one.acknowledge(0), one.acknowledged()), (1, 1));
        assert_eq!((one.acknowledge(9), one.unacknowledged()), (2, None));
        assert_eq!(other.acknowledged(), 0);
        losses::explain(7003);
        assert_eq!((one.acknowledged(), one.unacknowledged()), (2, Some(7003)));
    }

    #[test]
    fn messages_of_an_intercommunicator_come_from_the_remote_group() {
        let inter = comm([7010, 7012, 7014], Some([7015, 7011]));
        losses::explain(7012);
        assert_eq!(inter.known_failed(), [7012]);
        assert_eq!(inter.unacknowledged(), None);
        losses::explain(7011);
        assert_eq!(inter.unacknowledged(), Some(7011));
        assert_eq!(inter.acknowledge(1), 1);
        assert_eq!(inter.unacknowledged(), Some(7011));
        assert_eq!((inter.acknowledge(2), inter.unacknowledged()), (2, None));
    }
}
