//! What the receiver of a partitioned message does: it posts a receive for each part that the plan names.
//!
//! Invariant: no part is posted before the plan has come.

use super::*;

/// The receiver's side.
impl Partitioned {
    pub(super) fn has_plan(&self) -> bool {
        let mut state = self.state.lock();
        let Side::Receiver { expected, plan, .. } = &mut state.side else {
            return true;
        };
        let Some((index, words)) = expected else {
            return true;
        };
        let mut engine = enter();
        if !is_complete(&mut engine, *index) {
            return false;
        }
        engine.requests().release(*index);
        *plan = Some(Plan::decode(words));
        *expected = None;
        true
    }

    /// Whether what is missing never comes, because the sender's process has ended; then nothing more is received.
    pub(super) fn has_lost_sender(&self) -> bool {
        let mut state = self.state.lock();
        if state.lost.is_some() {
            return true;
        }
        if !tasks::before_sleep() && !tasks::checks_liveness() {
            return false;
        }
        let mut engine = enter();
        let Some(process) = engine.ended_sender(self.comm, self.peer) else {
            return false;
        };
        state.lost = Some(process);
        let Side::Receiver {
            expected, parts, ..
        } = &mut state.side
        else {
            return true;
        };
        let plan = expected.take().map(|(index, _)| index);
        let parts = parts.drain(..).filter_map(|part| match part {
            Incoming::Pending(index, _) => Some(index),
            Incoming::Arrived => None,
        });
        for index in plan.into_iter().chain(parts) {
            if !is_complete(&mut engine, index) {
                engine.end_lost(index, process);
            }
            engine.requests().release(index);
        }
        true
    }

    /// Posts a receive for each of the sender's parts.
    pub(super) fn post(&self) {
        let mut state = self.state.lock();
        if state.lost.is_some() {
            return;
        }
        let Side::Receiver {
            plan: Some(plan),
            parts,
            ..
        } = &mut state.side
        else {
            return;
        };
        let (bytes, room) = (plan.bytes as usize, self.whole.len());
        let mut engine = enter();
        parts.extend((0..plan.parts as usize).map(|part| {
            let from = part.saturating_mul(bytes).min(room);
            let here = bytes.min(room - from);
            let key = Key {
                context: self.context,
                source: PARTS + self.peer,
                tag: plan.tag(part),
            };
            let mut receive =
                |buffer| engine.receive_for_library(key, self.peer, self.comm, buffer);
            match self.whole.cut(from, here) {
                Some(buffer) => Incoming::Pending(receive(buffer), None),
                None => {
                    let mut copy = vec![0; here].into_boxed_slice();
                    let index = receive(Buffer::of_copy(&mut copy));
                    Incoming::Pending(index, Some((copy, from)))
                }
            }
        }));
    }

    pub(super) fn is_received(&self) -> bool {
        let mut state = self.state.lock();
        let Side::Receiver { parts, arrived, .. } = &mut state.side else {
            return true;
        };
        let mut engine = enter();
        while let Some(part) = parts.get_mut(*arrived) {
            if let Incoming::Pending(index, copy) = part {
                if !is_complete(&mut engine, *index) {
                    return false;
                }
                if let Some((copy, at)) = copy {
                    self.whole.write(*at, copy);
                }
                engine.requests().release(*index);
                *part = Incoming::Arrived;
            }
            *arrived += 1;
        }
        true
    }

    /// What there is to say at the end.
    pub(super) fn outcome(&self) -> (Status, Option<Error>) {
        let state = self.state.lock();
        if let Some(process) = state.lost {
            let error = losses::error(&enter(), process);
            return (Status::new(self.peer, self.tag, 0), Some(error));
        }
        let Side::Receiver {
            plan: Some(plan), ..
        } = &state.side
        else {
            return (Status::empty(), None);
        };
        let (sent, room) = (
            u64::from(plan.parts).saturating_mul(plan.bytes),
            self.whole.len() as u64,
        );
        let status = Status::new(self.peer, self.tag, sent.min(room));
        let error = (sent > room).then(|| {
            Error::new(
                Class::Truncate,
                format!(
                    "{} partitions of {} bytes were sent by rank {} with tag {}; the {} of the receiver have {room} together",
                    plan.parts, plan.bytes, self.peer, self.tag, self.partitions
                ),
            )
        });
        (status, error)
    }

    pub(super) fn has_arrived(&self, partition: i32, active: bool) -> Result<bool> {
        self.check("partition", partition)?;
        let mut state = self.state.lock();
        if let (Some(process), true) = (state.lost, active) {
            return Err(losses::error(&enter(), process));
        }
        let Side::Receiver { plan, parts, .. } = &mut state.side else {
            return fail!(
                Class::Request,
                "request is of a partitioned send; partitions of a receive arrive"
            );
        };
        if !active || self.peer == PROC_NULL {
            return Ok(true);
        }
        let Some(plan) = plan else {
            return Ok(false);
        };
        let each = self.whole.len() / self.partitions;
        let mut engine = enter();
        for at in plan.parts_of(partition as usize, self.partitions, each) {
            match parts.get_mut(at) {
                Some(Incoming::Arrived) => {}
                Some(Incoming::Pending(index, copy)) if is_complete(&mut engine, *index) => {
                    // Now, not at the end of all: the program may look at it.
                    if let Some((copy, at)) = copy {
                        self.whole.write(*at, copy);
                    }
                    engine.requests().release(*index);
                    parts[at] = Incoming::Arrived;
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
