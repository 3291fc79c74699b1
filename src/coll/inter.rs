//! Collective operations on intercommunicators: within a group, across between the leaders or all, within again.
//!
//! Invariant: messages across have a context of their own, so they meet no message within.

use super::call::{Call, NOBODY, Operands, ROOT};
use super::context::CollContext;
use super::packed::{contents, room};
use super::team::Team;
use super::{bcast, call, scatter};
use crate::comm::Comm;
use crate::datatype::{Buffer, Parts};
use crate::error::{Class, Result, fail};

/// The two sides: `inside` is over the local group; the ranks of `across` are the remote ones, and its own rank is the local
/// one.
struct Sides<'a> {
    inside: Team<'a>,
    across: Team<'a>,
}

/// Runs a call; `coll` is the context of the local group.
pub async fn run(comm: &Comm, coll: CollContext<'_>, call: &Call) -> Result<()> {
    let across = CollContext {
        tag: coll.tag,
        wait: coll.wait,
        ..CollContext::to_remote(comm, coll.function)
    };
    let sides = Sides {
        inside: Team::over(coll, comm.nodes()),
        across: Team::on(across),
    };
    sides.run(call).await;
    sides.inside.result().and(sides.across.result())
}

impl Sides<'_> {
    /// Remote ranks.
    fn others(&self) -> usize {
        self.across.size()
    }

    fn leads(&self) -> bool {
        self.inside.rank() == 0
    }

    async fn run(&self, call: &Call) {
        match call {
            Call::Barrier => self.barrier().await,
            Call::Bcast { buffer, root } => self.bcast(*buffer, *root).await,
            Call::Gather {
                own, parts, root, ..
            } => match *root {
                NOBODY => {}
                ROOT => {
                    if let Some(parts) = parts {
                        self.receive_all(parts).await;
                    }
                }
                root => {
                    let own = own.unwrap_or(Buffer::empty());
                    self.send_across(own, root as usize).await;
                }
            },
            Call::Scatter {
                parts, into, root, ..
            } => match *root {
                NOBODY => {}
                ROOT => {
                    if let Some(parts) = parts {
                        self.send_all(parts).await;
                    }
                }
                root => {
                    let into = into.unwrap_or(Buffer::empty());
                    if !into.is_empty() {
                        self.across.recv(into, root as usize).await;
                    }
                }
            },
            Call::Allgather { own, parts } => {
                let own = own.unwrap_or(Buffer::empty());
                let out = Parts::Each(vec![own; self.others()].into());
                self.exchange_all(&out, parts).await;
            }
            Call::Alltoall { out, into } => {
                if let Some(out) = out {
                    self.exchange_all(out, into).await;
                }
            }
            Call::Reduce {
                own,
                into,
                with,
                root,
            } => match *root {
                NOBODY => {}
                ROOT if !into.is_empty() => self.across.recv(*into, 0).await,
                ROOT => {}
                root => {
                    let combine = with.combine();
                    let mut data = contents(own);
                    let how = &with.reduction(&combine);
                    call::run_reduce(&self.inside, &mut data, how, 0).await;
                    if self.leads() {
                        let result = Buffer::of_copy(&mut data);
                        self.send_across(result, root as usize).await;
                    }
                }
            },
            Call::Allreduce { own, into, with } => {
                let mut data = contents(own);
                let mut theirs = room(into.len());
                self.swap_reduced(&mut data, &mut theirs, with).await;
                if !theirs.is_empty() {
                    bcast::binomial(&self.inside, Buffer::of_copy(&mut theirs), 0).await;
                }
                into.write(0, &theirs);
            }
            Call::ReduceScatter {
                own,
                into,
                counts,
                with,
            } => {
                // All of the other side's vector is scattered over this side.
                let mut data = contents(own);
                let mut theirs = room(data.len());
                self.swap_reduced(&mut data, &mut theirs, with).await;
                let blocks = call::blocks(counts, with.datatype);
                let whole = Buffer::of_copy(&mut theirs);
                let place =
                    |rank: usize| whole.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
                let parts = Parts::Each((0..counts.len()).map(place).collect());
                let parts = self.leads().then_some(&parts);
                scatter::linear(&self.inside, parts, Some(*into), 0).await;
            }
            Call::Scan { .. } | Call::Neighbors { .. } => {
                self.inside.note(fail!(
                    Class::Comm,
                    "this operation is not defined on intercommunicators"
                ));
            }
        }
    }

    /// Nobody leaves before all of both sides are there.
    async fn barrier(&self) {
        call::run_barrier(&self.inside).await;
        if self.leads() {
            let (out, into) = (Buffer::empty(), Buffer::empty());
            self.across.exchange(out, 0, into, 0).await;
        }
        bcast::binomial(&self.inside, Buffer::empty(), 0).await;
    }

    async fn bcast(&self, buffer: Buffer, root: i32) {
        match root {
            NOBODY => {}
            ROOT => self.send_across(buffer, 0).await,
            root => {
                if self.leads() && !buffer.is_empty() {
                    self.across.recv(buffer, root as usize).await;
                }
                call::run_bcast(&self.inside, buffer, 0).await;
            }
        }
    }

    async fn send_across(&self, buffer: Buffer, to: usize) {
        if !buffer.is_empty() {
            self.across.send(buffer, to).await;
        }
    }

    async fn receive_all(&self, parts: &Parts) {
        let pending = (0..self.others()).filter(|from| parts.len(*from) > 0);
        let pending = pending.map(|from| self.across.begin_recv(parts.of(from), from));
        self.across.finish_all(pending.collect()).await;
    }

    async fn send_all(&self, parts: &Parts) {
        let pending = (0..self.others()).filter(|to| parts.len(*to) > 0);
        let pending = pending.map(|to| self.across.begin_send(parts.of(to), to));
        self.across.finish_all(pending.collect()).await;
    }

    /// Everybody with everybody of the other side.
    async fn exchange_all(&self, out: &Parts, into: &Parts) {
        let receives = (0..self.others()).filter(|from| into.len(*from) > 0);
        let receives = receives.map(|from| self.across.begin_recv(into.of(from), from));
        let receives = receives.collect();
        self.send_all(out).await;
        self.across.finish_all(receives).await;
    }

    /// The leader has the other side's reduction in `theirs` afterwards.
    async fn swap_reduced(&self, data: &mut Box<[u8]>, theirs: &mut Box<[u8]>, with: &Operands) {
        let combine = with.combine();
        call::run_reduce(&self.inside, data, &with.reduction(&combine), 0).await;
        if !self.leads() {
            return;
        }
        let (out, into) = (Buffer::of_copy(data), Buffer::of_copy(theirs));
        let receive = (!into.is_empty()).then(|| self.across.begin_recv(into, 0));
        self.send_across(out, 0).await;
        if let Some(receive) = receive {
            self.across.finish(receive).await;
        }
    }
}
