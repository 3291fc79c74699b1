//! Data that goes straight from the sender's buffer into the receiver's: tagged transfers, each of a size and under a tag that the
//! receiver has chosen, so nothing is matched but by that number.
//!
//! A transfer goes in pieces of at most what the provider takes, each an operation with a context of its own. Invariants: a transfer
//! is here until the provider has no piece of it any more, and only then its end is told or [`Net::abandon`] returns, so buffers
//! may be given away after either; a tag is used once. What a living peer was told where to send, or waits for, goes on in memory of this
//! end's own, if nobody here wants it any more: the peer's receive has to be complete, and a message that no buffer awaits holds up all that
//! follow it on a connection of `net` or `tcp`.

use super::contexts::Contexts;
use super::port::{Context, Registered, Run, Sent};
use super::{Arrived, NO_BUFFER, Net};
use crate::datatype::Buffer;
use crate::os::tell;
use crate::transport::wire::{self, Header};
use std::collections::BTreeMap;

/// The longest piece, whatever a provider takes: other messages to the peer wait behind one on the same connection.
const LONGEST: usize = 256 << 20;
/// The longest piece over TCP. The kernel copies data into buffers of its own and out of them, and these stay in the caches if the receiver
/// begins early (benches/RESULTS-hosts.md).
const LONGEST_OVER_TCP: usize = 512 << 10;
/// Pieces of a transfer that the provider has at a time.
const AHEAD: usize = 4;

/// Where the data of a transfer comes under which tags: what the receiver tells the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Of the first piece; the next ones have the next ones.
    pub tag: u64,
    /// Bytes of all pieces but the last.
    pub piece: u64,
}

/// A transfer of this end.
struct Transfer {
    process: u32,
    /// Where to; `None`: it comes in.
    to: Option<u64>,
    begin: *mut u8,
    bytes: usize,
    place: Place,
    /// Pieces that the provider was given, and that it has done with.
    begun: usize,
    done: usize,
    /// Nobody waits for it.
    is_abandoned: bool,
    /// [`Net::abandon`] waits until the provider has given all pieces back.
    is_awaited: bool,
    /// The peer has gone, and the provider does not give its pieces back: the buffer is the caller's all the same.
    is_left: bool,
    /// Pieces that the provider has given back without data.
    given_back: Vec<usize>,
    /// The rest of an abandoned one, which comes into memory of this end's own or leaves from there.
    rest: Option<Rest>,
    registered: Registered,
}

/// See [`Transfer::rest`].
struct Rest {
    /// The numbers of the pieces.
    numbers: Vec<usize>,
    /// Of the longest piece, and all come in there; or all that is sent.
    _memory: Box<[u8]>,
}

impl Transfer {
    fn pieces(&self) -> usize {
        match &self.rest {
            Some(rest) => rest.numbers.len(),
            None => self.bytes.div_ceil(self.place.piece as usize),
        }
    }

    /// The number of the piece that the provider is given next.
    fn next(&self) -> usize {
        match &self.rest {
            Some(rest) => rest.numbers[self.begun],
            None => self.begun,
        }
    }

    /// Whether pieces can be given to the provider.
    fn waits(&self) -> bool {
        !self.is_abandoned && self.begun < self.pieces() && self.begun - self.done < AHEAD
    }

    /// The bytes of a piece and its tag.
    fn run(&self, number: usize, context: *mut Context) -> Run {
        let piece = self.place.piece as usize;
        let begin = number * piece;
        Run {
            place: match (&self.rest, self.to) {
                (Some(_), None) => self.begin,
                _ => self.begin.wrapping_add(begin),
            },
            bytes: piece.min(self.bytes - begin),
            tag: self.place.tag.wrapping_add(number as u64),
            description: self.registered.description,
            context,
        }
    }
}

/// The transfers of an end.
pub(super) struct Straight {
    /// By the number of the request that waits for them.
    transfers: BTreeMap<u32, Transfer>,
    contexts: Contexts,
    /// In place of a request's number, of the next that no request waits for.
    next_number: u32,
    next_tag: u64,
    longest: usize,
    /// Bytes of those that have ended.
    pub bytes: u64,
}

impl Straight {
    /// Of an end with this word, whose provider takes so long messages, has so many bits for tags, and moves data by an adapter or by TCP.
    pub fn new(word: u32, longest: usize, tag_bits: u64, has_adapter: bool) -> Straight {
        Straight {
            transfers: BTreeMap::new(),
            contexts: Contexts::default(),
            next_number: u32::MAX,
            // Not zero at the start: what a process of an earlier job sends to this address is nobody's.
            next_tag: u64::from(word) << 32 & tag_bits >> 1,
            longest: longest.min(if has_adapter {
                LONGEST
            } else {
                LONGEST_OVER_TCP
            }),
            bytes: 0,
        }
    }

    /// The number of a transfer that no request waits for.
    fn next_number(&mut self) -> u32 {
        self.next_number -= 1;
        self.next_number + 1
    }

    /// Bytes of a piece.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Those that somebody waits for, here or at the peer.
    fn awaited(&self) -> impl Iterator<Item = &Transfer> {
        let all = self.transfers.values();
        all.filter(|it| !it.is_left && (it.rest.is_none() || it.to.is_some()))
    }

    /// Whether nobody waits for any.
    pub fn is_empty(&self) -> bool {
        self.awaited().next().is_none()
    }

    /// Whether the provider has nothing to do for any, also not for those that nobody waits for.
    pub fn is_settled(&self) -> bool {
        self.transfers.values().all(|it| it.is_left)
    }

    /// Whether somebody waits for one to or from a process.
    pub fn is_with(&self, process: u32) -> bool {
        self.awaited().any(|it| it.process == process)
    }

    /// Whether a piece waits for room.
    pub fn waits(&self) -> bool {
        self.transfers.values().any(Transfer::waits)
    }

    /// As if the provider kept a piece of a transfer for ever.
    #[cfg(test)]
    pub fn keep_a_piece(&mut self, token: u32) {
        self.transfers.get_mut(&token).unwrap().begun += 1;
    }

    #[cfg(test)]
    pub fn transfers_in_all(&self) -> usize {
        self.transfers.len()
    }

    #[cfg(test)]
    pub fn set_longest(&mut self, longest: usize) {
        self.longest = longest;
    }
}

impl Net {
    /// Takes data from a peer straight into a buffer, of which the sender has to be told what this returns. The end is a packet
    /// [`wire::LANDED`] with this token. `longest`: what the sender can send in a piece. `None`: the provider cannot have the buffer.
    pub fn land(
        &mut self,
        from: u32,
        token: u32,
        buffer: &Buffer,
        bytes: usize,
        longest: u64,
    ) -> Option<Place> {
        let straight = &mut self.straight;
        let place = Place {
            tag: straight.next_tag,
            piece: longest.clamp(1, straight.longest as u64),
        };
        let pieces = bytes.div_ceil(place.piece as usize) as u64;
        straight.next_tag = straight.next_tag.wrapping_add(pieces);
        self.begin(from, None, token, buffer, bytes, place).ok()?;
        Some(place)
    }

    /// Sends data straight out of a buffer to where the peer wants it. The end is a packet [`wire::LEFT`] with this token. If the provider
    /// cannot have the buffer the peer is lost, which waits for the data.
    pub fn send_straight(
        &mut self,
        to: u32,
        token: u32,
        buffer: &Buffer,
        bytes: usize,
        place: Place,
    ) {
        // It has answered, so its address is known or asked for.
        let address = self
            .peer(to)
            .contact
            .map_or(u64::MAX, |(address, _)| address);
        if let Err(text) = self.begin(to, Some(address), token, buffer, bytes, place) {
            self.lose(to, &text);
        }
    }

    /// Errors: the buffer cannot be registered.
    fn begin(
        &mut self,
        process: u32,
        to: Option<u64>,
        token: u32,
        buffer: &Buffer,
        bytes: usize,
        place: Place,
    ) -> Result<(), String> {
        assert!(bytes > 0 && place.piece > 0, "a transfer of nothing");
        assert!(bytes <= buffer.len());
        let Some(begin) = buffer.contiguous() else {
            unreachable!("a buffer with holes for a transfer of one run of bytes")
        };
        let registered = self.port.register(begin, bytes)?;
        let transfer = Transfer {
            process,
            to,
            begin,
            bytes,
            place,
            begun: 0,
            done: 0,
            is_abandoned: false,
            is_awaited: false,
            is_left: false,
            given_back: Vec::new(),
            rest: None,
            registered,
        };
        let before = self.straight.transfers.insert(token, transfer);
        assert!(before.is_none(), "request {token} has a transfer already");
        self.peer(process).met = true;
        self.go_on(token);
        self.pace.expect();
        Ok(())
    }

    /// Gives the provider as many pieces of a transfer as it takes.
    fn go_on(&mut self, token: u32) {
        let Self {
            straight,
            port,
            peers,
            ..
        } = self;
        let Some(transfer) = straight.transfers.get_mut(&token) else {
            return;
        };
        let is_broken = peers
            .get(transfer.process)
            .is_some_and(|peer| peer.broken.is_some() || peer.lost || peer.gone_since.is_some());
        while transfer.waits() && !is_broken {
            let number = transfer.next();
            let run = transfer.run(number, std::ptr::null_mut());
            let (_, context) = straight.contexts.take(token, number);
            let run = Run { context, ..run };
            // SAFETY: whoever made the buffer has promised that its bytes are the operation's until that ends, which it does not before the
            // end of the transfer; that is told, and contexts are used again, when the completion of each piece was read.
            let given = unsafe {
                match transfer.to {
                    Some(address) => port.send_tagged(address, &run),
                    None => port.receive_tagged(&run),
                }
            };
            if given == Sent::Done {
                transfer.begun += 1;
                continue;
            }
            straight.contexts.give(context);
            if let Sent::Failed(text) = given {
                let process = transfer.process;
                self.breaks(process, text);
            }
            return;
        }
    }

    /// Goes on with all transfers that wait for room.
    #[cold]
    pub(super) fn go_on_with_all(&mut self) {
        let waiting = self.straight.transfers.iter();
        let waiting = waiting.filter(|(_, transfer)| transfer.waits());
        let waiting: Vec<u32> = waiting.map(|(token, _)| *token).collect();
        waiting.into_iter().for_each(|token| self.go_on(token));
    }

    /// The provider has done with a piece; `came`: so many bytes, if it came in; `failed`: why it is missing. False: the context is of none.
    pub(super) fn piece_ended(
        &mut self,
        context: *mut Context,
        came: Option<usize>,
        failed: Option<String>,
    ) -> bool {
        let Some((token, number)) = self.straight.contexts.give(context) else {
            return false;
        };
        let Some(transfer) = self.straight.transfers.get_mut(&token) else {
            return true;
        };
        transfer.done += 1;
        let (process, is_abandoned) = (transfer.process, transfer.is_abandoned);
        let (is_in, is_rest) = (transfer.to.is_none(), transfer.rest.is_some());
        let bytes = transfer.run(number, std::ptr::null_mut()).bytes;
        let is_idle = transfer.begun == transfer.done;
        let is_over = is_idle && transfer.begun == transfer.pieces();
        let is_awaited = transfer.is_awaited;
        let is_short = came.filter(|came| *came != bytes && !is_abandoned);
        let short = |came| format!("{came} bytes of data came where {bytes} were agreed");
        let failed = failed.or_else(|| is_short.map(short));
        if failed.is_some() {
            transfer.given_back.push(number);
            transfer.is_abandoned = true;
        } else {
            let passed = &mut self.peer(process).passed;
            match is_in {
                true => passed.came = passed.came.wrapping_add(1),
                false => passed.left = passed.left.wrapping_add(1),
            }
        }
        if failed.is_some() || is_abandoned {
            if is_idle && !is_awaited {
                self.end_transfer(token);
            }
            if let Some(text) = failed
                && !is_abandoned
            {
                self.breaks(process, text);
            }
            return true;
        }
        if !is_over {
            self.go_on(token);
            return true;
        }
        if is_rest {
            self.end_transfer(token);
            return true;
        }
        self.straight.bytes += self.end_transfer(token) as u64;
        self.arrived.push_back(Arrived {
            buffer: NO_BUFFER,
            data: std::ptr::null(),
            header: Header {
                kind: if is_in { wire::LANDED } else { wire::LEFT },
                context: token,
                process,
                ..Header::default()
            },
        });
        true
    }

    /// The provider has no piece of a transfer any more. Its bytes.
    fn end_transfer(&mut self, token: u32) -> usize {
        let Some(transfer) = self.straight.transfers.remove(&token) else {
            return 0;
        };
        self.port.unregister(transfer.registered);
        transfer.bytes
    }

    /// Ends a transfer of which nobody here wants to know any more, if there is one with this token, which is returned. On return its buffer is
    /// the caller's; what a living peer has yet to get leaves from a copy. A provider that does not give it back is waited for as long as the peer
    /// is there, and some seconds more.
    #[cold]
    pub fn abandon(&mut self, token: u32) -> bool {
        let is_its =
            |arrived: &Arrived| arrived.buffer == NO_BUFFER && arrived.header.context == token;
        let before = self.arrived.len();
        self.arrived.retain(|arrived| !is_its(arrived));
        let Some(transfer) = self.straight.transfers.get_mut(&token) else {
            return self.arrived.len() < before;
        };
        transfer.is_abandoned = true;
        transfer.is_awaited = true;
        let process = transfer.process;
        let contexts: Vec<_> = self.straight.contexts.of(token).collect();
        for context in contexts {
            self.port.cancel(context);
        }
        let is_there = |transfer: &Transfer| transfer.begun > transfer.done;
        while self.straight.transfers.get(&token).is_some_and(is_there) {
            self.look();
            if self.is_gone(process) && self.keeps_for_long(process) {
                self.leave(token);
                return true;
            }
        }
        self.take_rest(token);
        true
    }

    /// Leaves a transfer to the provider, which does not give its pieces back.
    #[cold]
    fn leave(&mut self, token: u32) {
        let Some(transfer) = self.straight.transfers.remove(&token) else {
            return;
        };
        if transfer.to.is_none() {
            tell(&format!(
                "oxmpi: rank {}: the buffer of {} bytes of a receive that has failed may still be written to: {} does not give it back, \
                 although {} is lost\n",
                self.table.me(),
                transfer.bytes,
                self.port.description(),
                self.name(transfer.process),
            ));
        }
        let left = Transfer {
            is_awaited: false,
            is_left: true,
            ..transfer
        };
        let number = self.straight.next_number();
        self.straight.contexts.rename(token, number);
        self.straight.transfers.insert(number, left);
    }

    /// Ends a transfer that the provider has no piece of, and lets what a living peer has yet to send or to get come in elsewhere or leave from
    /// a copy.
    fn take_rest(&mut self, token: u32) {
        let Some(transfer) = self.straight.transfers.remove(&token) else {
            return;
        };
        let is_gone = self.table.of(transfer.process).has_gone();
        let is_wanted = transfer.rest.is_none() && !is_gone;
        let later = transfer.begun..transfer.pieces();
        self.port.unregister(transfer.registered);
        let mut numbers = transfer.given_back;
        numbers.extend(later);
        if !is_wanted || numbers.is_empty() {
            return;
        }
        let mut memory: Box<[u8]> = match transfer.to {
            None => vec![0; transfer.bytes.min(transfer.place.piece as usize)].into(),
            // SAFETY: the buffer has so many bytes, and is the transfer's until this returns.
            Some(_) => unsafe { std::slice::from_raw_parts(transfer.begin, transfer.bytes) }.into(),
        };
        let begin = memory.as_mut_ptr();
        let registered = match self.port.register(begin, memory.len()) {
            Ok(registered) => registered,
            Err(text) => return self.lose(transfer.process, &text),
        };
        let token = self.straight.next_number();
        let rest = Transfer {
            begin,
            begun: 0,
            done: 0,
            is_abandoned: false,
            is_awaited: false,
            given_back: Vec::new(),
            rest: Some(Rest {
                numbers,
                _memory: memory,
            }),
            registered,
            ..transfer
        };
        self.straight.transfers.insert(token, rest);
        self.go_on(token);
    }

    /// Ends all transfers with processes that have left or died.
    #[cold]
    pub(super) fn abandon_lost(&mut self) {
        let table = self.table.clone();
        let lost = self.straight.transfers.iter();
        let lost = lost.filter(|(_, transfer)| table.of(transfer.process).has_gone());
        let lost: Vec<u32> = lost.map(|(token, _)| *token).collect();
        for token in lost {
            self.abandon(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_transfer_once() {
        for (bytes, piece) in [
            (1, 1),
            (10, 3),
            (9, 3),
            (5 << 30, 1 << 30),
            ((5 << 30) + 1, 1 << 30),
        ] {
            let transfer = Transfer {
                process: 0,
                to: None,
                begin: std::ptr::without_provenance_mut(4096),
                bytes,
                place: Place { tag: 7, piece },
                begun: 0,
                done: 0,
                is_abandoned: false,
                is_awaited: false,
                is_left: false,
                given_back: Vec::new(),
                rest: None,
                registered: Registered::none(),
            };
            let mut at = 4096;
            for number in 0..transfer.pieces() {
                let run = transfer.run(number, std::ptr::null_mut());
                assert_eq!((run.place.addr(), run.tag), (at, 7 + number as u64));
                assert!((1..=piece as usize).contains(&run.bytes));
                at += run.bytes;
            }
            assert_eq!(at, 4096 + bytes);
        }
    }
}
