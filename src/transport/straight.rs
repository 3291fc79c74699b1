//! Data that goes straight from the sender's buffer into the receiver's, where a transport can do that: what the engine asks for.
//!
//! The receiver of an announced message says where its data comes ([`Transport::land`]), the sender sends it there, and each side is told the end by a packet
//! of its own transport ([`super::wire::LEFT`], [`super::wire::LANDED`]). Invariant: a buffer is used until that packet, or until
//! [`Transport::abandon`] returns.

pub use super::net::{Place, Traffic};
pub use super::wire::{LANDED, LEFT};

use super::{Route, Transport, no_transport};
use crate::datatype::Buffer;

impl Transport {
    /// Messages to a peer of more bytes than that go straight, if their data lies in one piece.
    #[inline]
    pub fn straight_border(&self, to: Route) -> usize {
        match (to, &self.net) {
            (Route::Net(_), Some(net)) => net.border(),
            #[cfg(test)]
            (Route::Loopback(_), _) => self
                .loopback
                .as_ref()
                .map_or(usize::MAX, |end| end.border()),
            _ => usize::MAX,
        }
    }

    /// What this process can send in a piece, for [`Self::land`].
    pub fn longest_piece(&self) -> u64 {
        self.net
            .as_ref()
            .map_or(u64::MAX, |net| net.longest_piece() as u64)
    }

    /// Takes the first `bytes` of a message straight into a buffer that lies in one piece. Returns what its sender needs, which can send
    /// so much in a piece. `None`: it has to come another way.
    pub fn land(
        &mut self,
        from: Route,
        token: u32,
        buffer: &Buffer,
        bytes: usize,
        longest: u64,
    ) -> Option<Place> {
        match from {
            Route::Net(process) => self.remote().land(process, token, buffer, bytes, longest),
            #[cfg(test)]
            Route::Loopback(_) => Some(self.looped().land(token, *buffer, bytes)),
            _ => no_transport(),
        }
    }

    /// Sends the first `bytes` of a message straight to where the peer wants them.
    pub fn send_straight(
        &mut self,
        to: Route,
        token: u32,
        buffer: &Buffer,
        bytes: usize,
        place: Place,
    ) {
        match to {
            Route::Net(process) => {
                let net = self.remote();
                net.send_straight(process, token, buffer, bytes, place);
            }
            #[cfg(test)]
            Route::Loopback(process) => self
                .looped()
                .send_straight(process, token, *buffer, bytes, place),
            _ => no_transport(),
        }
    }

    /// Ends the transfer with this token, if there is one, which is returned: its buffer is not used any more, and its end is not told. What
    /// a living peer has yet to get of it leaves from a copy.
    #[cold]
    pub fn abandon(&mut self, token: u32) -> bool {
        let is_there = self.net.as_mut().is_some_and(|net| net.abandon(token));
        #[cfg(test)]
        let is_there = is_there | self.loopback.as_mut().is_some_and(|net| net.abandon(token));
        is_there
    }

    /// What went over the fabric.
    pub fn traffic(&self) -> Traffic {
        self.net
            .as_ref()
            .map_or_else(Traffic::default, |net| net.traffic())
    }
}
