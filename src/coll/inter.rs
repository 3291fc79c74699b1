//! Collective operations on intercommunicators: within a group, across between the leaders or all, within again.
//!
//! Invariant: messages across have a context of their own, so they meet no message within.

use super::args::{CollArgs, Operands, PROC_NULL, ROOT};
use super::context::CollContext;
use super::packed::cut;
use super::team::Team;
use super::{args, bcast, dispatch, scatter};
use crate::comm::Comm;
use crate::datatype::{Buffer, Parts, Scratch};
use crate::error::{Class, Result, fail};

/// The two groups: `local` is the team of the local group; the ranks of `remote` are those of the remote group, and its own
/// rank is the local one.
struct Groups<'a> {
    local: &'a Team<'a>,
    remote: &'a Team<'a>,
}

/// Runs a call; `coll` is the context of the local group.
pub async fn run(comm: &Comm, coll: CollContext<'_>, call: &CollArgs) -> Result<()> {
    let remote = CollContext {
        tag: coll.tag,
        wait: coll.wait,
        ..CollContext::to_remote(comm, coll.function)
    };
    let local = Team::over(coll, comm.nodes());
    let remote = Team::on(remote).together_with(&local);
    let groups = Groups {
        local: &local,
        remote: &remote,
    };
    groups.run(call).await;
    let remote = remote.result();
    local.result().and(remote)
}

impl Groups<'_> {
    /// Remote ranks.
    fn others(&self) -> usize {
        self.remote.size()
    }

    fn leads(&self) -> bool {
        self.local.rank() == 0
    }

    async fn run(&self, call: &CollArgs) {
        match call {
            CollArgs::Barrier => self.barrier().await,
            CollArgs::Bcast { buffer, root } => self.bcast(*buffer, *root).await,
            CollArgs::Gather {
                own, parts, root, ..
            } => match *root {
                PROC_NULL => {}
                ROOT => {
                    if let Some(parts) = parts {
                        self.receive_all(parts).await;
                    }
                }
                root => {
                    let own = own.unwrap_or(Buffer::empty());
                    self.send_remote(own, root as usize).await;
                }
            },
            CollArgs::Scatter {
                parts, into, root, ..
            } => match *root {
                PROC_NULL => {}
                ROOT => {
                    if let Some(parts) = parts {
                        self.send_all(parts).await;
                    }
                }
                root => {
                    let into = into.unwrap_or(Buffer::empty());
                    if !into.is_empty() {
                        self.remote.recv(into, root as usize).await;
                    }
                }
            },
            CollArgs::Allgather { own, parts } => {
                let own = own.unwrap_or(Buffer::empty());
                let out = Parts::Each(vec![own; self.others()].into());
                self.exchange_all(&out, parts).await;
            }
            CollArgs::Alltoall { out, into } => {
                if let Some(out) = out {
                    self.exchange_all(out, into).await;
                }
            }
            CollArgs::Reduce {
                own,
                into,
                with,
                root,
            } => match *root {
                PROC_NULL => {}
                ROOT if !into.is_empty() => self.remote.recv(*into, 0).await,
                ROOT => {}
                root => {
                    let result = self.result_of(own);
                    self.reduce(own, &result.buffer(), with).await;
                    if self.leads() {
                        self.send_remote(result.buffer(), root as usize).await;
                    }
                }
            },
            CollArgs::Allreduce { own, into, with } => {
                self.swap_reduced(own, into, with).await;
                if !into.is_empty() {
                    bcast::binomial(self.local, *into, 0).await;
                }
            }
            CollArgs::ReduceScatter {
                own,
                into,
                counts,
                with,
            } => {
                // All of the other side's vector is scattered over this side.
                let theirs = self.result_of(own);
                let whole = theirs.buffer();
                self.swap_reduced(own, &whole, with).await;
                let blocks = args::blocks(counts, with.datatype);
                let parts = self.leads().then(|| cut(&whole, &blocks));
                scatter::linear(self.local, parts.as_ref(), Some(*into), 0).await;
            }
            CollArgs::Scan { .. } | CollArgs::Neighbors { .. } => {
                self.local.note(fail!(
                    Class::Comm,
                    "this operation is not defined on intercommunicators"
                ));
            }
        }
    }

    /// No rank leaves before all of both groups are there.
    async fn barrier(&self) {
        dispatch::run_barrier(self.local).await;
        if self.leads() {
            let (out, into) = (Buffer::empty(), Buffer::empty());
            self.remote.exchange(out, 0, into, 0).await;
        }
        bcast::binomial(self.local, Buffer::empty(), 0).await;
    }

    async fn bcast(&self, buffer: Buffer, root: i32) {
        match root {
            PROC_NULL => {}
            ROOT => self.send_remote(buffer, 0).await,
            root => {
                if self.leads() && !buffer.is_empty() {
                    self.remote.recv(buffer, root as usize).await;
                }
                dispatch::run_bcast(self.local, buffer, 0).await;
            }
        }
    }

    async fn send_remote(&self, buffer: Buffer, to: usize) {
        if !buffer.is_empty() {
            self.remote.send(buffer, to).await;
        }
    }

    async fn receive_all(&self, parts: &Parts) {
        let pending = (0..self.others()).filter(|from| parts.len(*from) > 0);
        let pending = pending.map(|from| self.remote.begin_recv(parts.of(from), from));
        self.remote.finish_all(pending.collect()).await;
    }

    async fn send_all(&self, parts: &Parts) {
        let pending = (0..self.others()).filter(|to| parts.len(*to) > 0);
        let pending = pending.map(|to| self.remote.begin_send(parts.of(to), to));
        self.remote.finish_all(pending.collect()).await;
    }

    /// Everybody with everybody of the other side.
    async fn exchange_all(&self, out: &Parts, into: &Parts) {
        let receives = (0..self.others()).filter(|from| into.len(*from) > 0);
        let receives = receives.map(|from| self.remote.begin_recv(into.of(from), from));
        let receives = receives.collect();
        self.send_all(out).await;
        self.remote.finish_all(receives).await;
    }

    /// Memory for a reduced vector, which only the leader needs.
    fn result_of(&self, own: &Buffer) -> Scratch {
        Scratch::new(if self.leads() { own.len() } else { 0 })
    }

    /// Of this side, to the leader.
    async fn reduce(&self, own: &Buffer, result: &Buffer, with: &Operands) {
        let fold = with.fold();
        dispatch::run_reduce(self.local, (own, result, &with.reduction(&fold)), 0).await;
    }

    /// The leader has the other side's reduction in `theirs` afterwards.
    async fn swap_reduced(&self, own: &Buffer, theirs: &Buffer, with: &Operands) {
        let result = self.result_of(own);
        self.reduce(own, &result.buffer(), with).await;
        if self.leads() {
            let remote = self.remote;
            remote.exchange_data(result.buffer(), 0, *theirs, 0).await;
        }
    }
}
