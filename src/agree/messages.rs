//! Agreement by messages: sending and waiting for one member of [`Flood`].
//!
//! Each member sends to each other one, so its time grows with their number, and twice as many messages are sent as are needed while nobody dies.

use super::flood::{Flood, Message};
use crate::coll::CollContext;
use crate::comm::{Comm, Members};
use crate::datatype::Buffer;
use crate::engine::tasks;

/// Both groups of a communicator in an order that all members have in common, and the tag of one agreement.
#[derive(Clone)]
pub struct Circle {
    pub comm: &'static Comm,
    pub members: Members,
    pub own_first: bool,
    pub function: &'static str,
    pub tag: i32,
    pub in_task: bool,
}

impl Circle {
    fn coll(&self, in_task: bool) -> CollContext<'_> {
        let (comm, function) = (self.comm, self.function);
        let coll = match comm.is_inter() {
            true => CollContext::over_both_groups(comm, &self.members, self.own_first, function),
            false => CollContext::within(comm, &self.members, comm.rank(), self.tag, function),
        };
        let coll = coll.of_living();
        match in_task {
            true => coll.task(self.tag),
            false => coll.numbered(self.tag),
        }
    }

    fn size(&self) -> usize {
        self.members.size() as usize
    }

    /// Sends to all others who are not lost, and keeps what is sent until it has left.
    async fn tell(&self, coll: &CollContext<'_>, flood: &Flood) {
        let mut data = flood.message().encoded();
        let send = |to: usize| coll.begin_send(Buffer::of_copy(&mut data), to as i32);
        let sends: Vec<_> = flood.others().into_iter().map(send).collect();
        for send in sends {
            // To somebody who is lost; whoever waits for that one finds out.
            let _ = coll.finish(send).await;
        }
    }

    /// What a member sends; `None`: it is lost.
    async fn hear(&self, coll: &CollContext<'_>, from: usize) -> Option<Message> {
        let mut data = vec![0; Message::bytes(self.size())].into_boxed_slice();
        let heard = coll.recv(Buffer::of_copy(&mut data), from as i32).await;
        heard.ok().map(|()| Message::decoded(&data, self.size()))
    }

    /// Agrees. What is still to come of other members is taken by a task.
    pub async fn agree(self, mut flood: Flood) -> Flood {
        let coll = self.coll(self.in_task);
        loop {
            self.tell(&coll, &flood).await;
            for from in flood.senders() {
                let heard = self.hear(&coll, from).await;
                flood.hear(from, heard);
                if flood.message().is_decision {
                    break;
                }
            }
            if flood.ends_round() {
                break;
            }
        }
        self.tell(&coll, &flood).await;
        self.clone().drain(flood.clone());
        flood
    }

    /// Takes further messages up to the decision of each member, so that none is left when the communicator is freed.
    fn drain(self, mut flood: Flood) {
        self.comm.hold();
        tasks::spawn(async move {
            let coll = self.coll(true);
            while let Some(from) = flood.senders().first().copied() {
                let heard = self.hear(&coll, from).await;
                flood.hear(from, heard);
            }
            self.comm.let_go();
        });
    }
}
