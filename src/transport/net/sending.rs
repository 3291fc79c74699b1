//! Packets and records that leave, and the first look for a peer's address.

use super::card::Card;
use super::port::Sent;
use super::record::{self, Record};
use super::{ASK_AGAIN, Net, Peer, credit};
use crate::error::Outside;
use crate::os::monotonic_nanoseconds;
use crate::transport::wire::Header;

impl Net {
    /// Sends a packet. False: no room now.
    #[inline]
    pub fn push(&mut self, to: u32, header: &Header, fill: impl FnMut(usize, &mut [u8])) -> bool {
        let pushed = self.transmit(to, header, fill);
        if pushed {
            self.pace.expect();
        }
        pushed
    }

    /// Hands a message to the provider: a packet of the engine's, or a record of the transport's own, which needs no credit and is not held
    /// back. The peer is looked up once.
    pub(super) fn transmit(
        &mut self,
        to: u32,
        header: &Header,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        /// No provider injects more than this at once that is worth it.
        const SMALL: usize = 128;
        let is_packet = !record::is_own(header.kind);
        let bytes = Record::BYTES + header.length as usize;
        let in_order = self.completes_in_order;
        let Self { peers, port, .. } = self;
        let peer = peers.of(to, Peer::default);
        // What the peer has taken when it has the record, if that is kept. One of the transport's own is not counted: the peer has it when it
        // has taken a packet behind it.
        let is_last = header.kind == record::LOST;
        let kept = (in_order && peer.first.keeps() && !is_last).then(|| {
            peer.credit.count().wrapping_add(match is_packet {
                true => credit::charge(bytes),
                false => 1,
            })
        });
        let may = peer.broken.is_none()
            && !peer.lost
            && (peer.passes || !peer.held)
            && peer.credit.has_room(bytes);
        if is_packet && !may {
            return false;
        }
        let Some((address, word)) = peer.contact else {
            return self.find(to) && self.transmit(to, header, fill);
        };
        let sign = peer.terms.map_or(header.process, |terms| terms.sign());
        let record = Record {
            header: Header {
                process: sign,
                ..*header
            },
            word: peer.order.word(word),
            taken: match header.kind {
                // The peer keeps what it has sent until it is told.
                record::AGAIN => 0,
                _ => peer.credit.untold(),
            },
        };
        // The loss of an injected message does not tell whose it was; a question is there to tell that, and in the first contact all may be lost.
        let may_inject = header.kind != record::ASK && kept.is_none() && !is_last;
        let sent = if may_inject && bytes <= port.inject_bytes().min(SMALL) {
            let mut message = [0u8; SMALL];
            record.encode(&mut message);
            fill(0, &mut message[Record::BYTES..bytes]);
            port.inject(address, &message[..bytes])
        } else {
            let write = |message: &mut [u8]| {
                record.encode(message);
                fill(0, &mut message[Record::BYTES..]);
            };
            let Some((sent, message)) = self.pool.send(&mut **port, (to, address), bytes, write)
            else {
                return false;
            };
            if let (Some(taken), Sent::Done) = (kept, &sent) {
                peer.first.keep(message, taken);
            }
            sent
        };
        match sent {
            Sent::Done => {
                self.traffic.records += 1;
                if record::is_counted(header.kind) {
                    self.page.waits.count_sent_to(to);
                }
                peer.order.sent();
                peer.refused.end();
                if is_packet {
                    self.traffic.copied += u64::from(header.length);
                    peer.credit.sent(bytes);
                    peer.met = true;
                    // Whoever goes on is here again.
                    peer.said_goodbye = false;
                    peer.heard_goodbye = false;
                }
                true
            }
            Sent::Later => {
                self.is_refused(to);
                false
            }
            Sent::Failed(text) => {
                self.fails_to_send(to, text);
                false
            }
        }
    }

    /// Finds a peer's address. False: it has not told it yet.
    #[cold]
    pub(super) fn find(&mut self, process: u32) -> bool {
        let now = monotonic_nanoseconds();
        if process as usize >= self.table.size() {
            return false;
        }
        let peer = self.peer(process);
        if now - peer.asked < ASK_AGAIN {
            return false;
        }
        peer.asked = now;
        let text = match self.directory.card(process) {
            Ok(Some(text)) => text,
            Ok(None) => return false,
            Err(text) => {
                self.lose(process, &text);
                return false;
            }
        };
        let card = match Card::of(&text) {
            Some(card) => card,
            None => self.fail(
                process,
                &format!("it has told \"{text}\", as another build of oxmpi does"),
            ),
        };
        if card.settings != self.settings {
            match self.directory.difference(process) {
                Some(text) => end(text),
                None => return false,
            }
        }
        if card.provider != self.port.provider() {
            self.fail(process, &format!("its provider is {}", card.provider));
        }
        let address = match self.engine.checked_sub(1) {
            None => Some(&card.address),
            Some(further) => card.further.get(further),
        };
        let address = match address {
            Some(address) => self.port.insert(address),
            None => Err(format!("it has no port for engine {}", self.engine)),
        };
        match address {
            Ok(address) => {
                self.peer(process).contact = Some((address, card.word));
                true
            }
            Err(text) => {
                self.lose(process, &text);
                false
            }
        }
    }

    /// Ends the job: a process is of another build, or has other settings.
    #[cold]
    fn fail(&self, process: u32, text: &str) -> ! {
        end(format!(
            "no messages can be sent to rank {process} on {} by {}: {text}",
            self.directory.host(process),
            self.port.description()
        ))
    }
}

/// Ends the job: messages are or will be missing.
#[cold]
fn end(text: String) -> ! {
    std::panic::panic_any(Outside(text))
}
