//! What the sender of a partitioned message does: a partition that is ready becomes a message of its own.
//!
//! Invariant: a partition leaves once for each start.

use super::*;

/// The sender's side.
impl Partitioned {
    pub(super) fn ready(
        self: Arc<Self>,
        index: Index,
        name: &str,
        partitions: impl Iterator<Item = i32> + Clone,
    ) -> Result<()> {
        for partition in partitions.clone() {
            self.check(name, partition)?;
        }
        let mut state = self.state.lock();
        let active = state.active;
        // A thread that takes a revocation in marks the request, and says so here after that: a start between the two has ended at once.
        let is_of_revoked = || enter().requests().at(index).is_of_revoked();
        if state.lost == Some(REVOKED) || !active && is_of_revoked() {
            return Err(losses::revoked());
        }
        let Side::Sender {
            plan,
            ready,
            left,
            pending,
        } = &mut state.side
        else {
            return fail!(
                Class::Request,
                "request is of a partitioned receive; partitions of a send are marked as ready"
            );
        };
        if self.peer == PROC_NULL {
            return Ok(());
        }
        if !active {
            return fail!(
                Class::Request,
                "request is of a partitioned send that is not active (MPI_Start)"
            );
        }
        for (marked, at) in partitions.clone().enumerate() {
            if std::mem::replace(&mut ready[at as usize], true) {
                for at in partitions.take(marked) {
                    ready[at as usize] = false;
                }
                return fail!(
                    Class::Arg,
                    "{name} is {at}, which was marked as ready before"
                );
            }
        }
        let bytes = plan.bytes as usize;
        for partition in partitions.map(|partition| partition as usize) {
            *left -= 1;
            let Some(buffer) = self.whole.cut(partition * bytes, bytes) else {
                return fail!(Class::Intern, "a partition has a part of an element");
            };
            let envelope = self.envelope(PARTS, plan.tag(partition));
            let mut engine = enter();
            if engine.send_short(&envelope, &buffer) {
                continue;
            }
            let part = engine.send(Mode::Standard, &envelope, buffer);
            if is_complete(&mut engine, part) {
                engine.requests().release(part);
            } else {
                pending.push(part);
            }
        }
        let all = *left == 0;
        drop(state);
        if all {
            self.end_if_sent(index);
        }
        Ok(())
    }

    pub(super) fn check(&self, name: &str, partition: i32) -> Result<()> {
        if (partition as u32 as usize) < self.partitions {
            return Ok(());
        }
        match self.partitions {
            0 => fail!(
                Class::Arg,
                "{name} is {partition}; the request has no partitions"
            ),
            partitions => fail!(
                Class::Arg,
                "{name} is {partition}; allowed is 0 to {}",
                partitions - 1
            ),
        }
    }

    /// Ends the operation when all parts are ready and sent, now or later.
    pub(super) fn end_if_sent(self: Arc<Self>, index: Index) {
        if !self.is_ready() {
            return;
        }
        tasks::spawn(async move {
            tasks::condition(|| self.is_sent()).await;
            let lost = {
                let mut state = self.state.lock();
                state.active = false;
                state.lost
            };
            let mut engine = enter();
            let error = lost.map(|process| losses::error(&engine, process));
            engine.end_task(index, error);
        });
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state.lock().side, Side::Sender { left: 0, .. })
    }

    pub(super) fn is_sent(&self) -> bool {
        let mut state = self.state.lock();
        let State { side, lost, .. } = &mut *state;
        let Side::Sender { pending, .. } = side else {
            return true;
        };
        let mut engine = enter();
        while let Some(part) = pending.last() {
            if !is_complete(&mut engine, *part) {
                return false;
            }
            let error = engine.requests().at(*part).error.take();
            *lost = lost.or(error.and_then(|error| error.lost()));
            engine.requests().release(*part);
            pending.pop();
        }
        true
    }
}
