//! Messages whose data goes straight from the sender's buffer into the receiver's: the RTS says that it can, the receiver answers at the
//! match with a `PLACE`, and the transport tells both sides when the data has left and has come.
//!
//! A receiver whose buffer has holes, or is of no bytes, answers with a CTS, and the data goes in packets. Invariant: a request is complete only when its transport uses
//! the buffer no more, also one that ends because its peer is lost ([`crate::transport::Transport::abandon`]).

use super::Engine;
use super::dispatch::Outgoing;
use super::packets::{Placed, Rts};
use super::requests::{Index, Phase};

impl Engine {
    /// Has the data of a matched message come into the receive's buffer, and tells the sender where. False: the transport cannot do it now.
    pub(super) fn give_place(
        &mut self,
        index: Index,
        process: usize,
        wanted: usize,
        rts: &Rts,
    ) -> bool {
        let route = self.peers.route(process);
        let request = self.requests.at(index);
        request.total = wanted;
        let buffer = request.buffer;
        let landed = self
            .transport
            .land(route, index, &buffer, wanted, rts.address);
        let Some(place) = landed else {
            return false;
        };
        let placed = Placed {
            sender: rts.token,
            wanted: wanted as u64,
            place,
        };
        self.send_answer(process, Outgoing::Place(placed));
        true
    }

    /// The receiver has matched one of our messages, and waits for its data.
    pub(super) fn on_place(&mut self, process: usize, placed: Placed) {
        let wanted = placed.wanted as usize;
        let index = self.take_answer(process, 0, placed.sender);
        let request = self.requests.at(index);
        assert!(
            0 < wanted && wanted <= request.total,
            "process {process} wants {wanted} bytes of a message of {}",
            request.total
        );
        request.set_wanted(placed.wanted);
        let buffer = request.buffer;
        let route = self.peers.route(process);
        self.transport
            .send_straight(route, index, &buffer, wanted, placed.place);
    }

    /// The data of a send has left.
    pub(super) fn on_left(&mut self, index: Index) {
        let request = self.requests.at(index);
        debug_assert!(request.phase == Phase::Active && request.goes_straight());
        request.moved = request.wanted();
        self.finish_send(index);
    }

    /// The data of a receive has come.
    pub(super) fn on_landed(&mut self, index: Index) {
        let request = self.requests.at(index);
        debug_assert_eq!(request.phase, Phase::Active);
        request.moved = request.total;
        self.finish_if_all_is_here(index);
    }
}
