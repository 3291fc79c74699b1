//! Messages that are not sent because their sender has lost a process that it needs the data of.
//!
//! A rank that gives up a collective operation still owes others messages. It sends `FAILED` packets in their place, in order with its
//! messages, so that each receive of theirs ends with an error that names the lost process, and never with wrong data.

use super::dispatch::Outgoing;
use super::matching::Key;
use super::packets::{self, Failed, Payload, Rts};
use super::progress::Handled;
use super::receive::key_of;
use super::requests::{Index, NOT_POSTED};
use super::send::Envelope;
use super::unexpected::status;
use super::{Engine, losses};
use crate::group::names;
use crate::transport::{Header, Packet, Route};

impl Engine {
    /// Sends word that a message will not come.
    #[cold]
    pub fn send_failed(&mut self, envelope: &Envelope, failed: Failed) {
        let process = envelope.process as usize;
        let key = Key {
            context: envelope.context,
            source: envelope.source,
            tag: envelope.tag,
        };
        if self.peers.route(process) == Route::Own {
            match self.posted.take(key) {
                Some(index) => self.fail_receive(index, key, failed),
                None => self.store_failed(key, process, failed),
            }
            return;
        }
        self.send_in_order(process, Outgoing::Failed { key, failed });
    }

    pub(super) fn dispatch_failed(
        &mut self,
        process: usize,
        key: Key,
        failed: Failed,
    ) -> Result<(), Outgoing> {
        let header = Header {
            context: key.context,
            tag: key.tag,
            source: key.source,
            ..self.header(packets::FAILED, 0, Failed::BYTES)
        };
        match self.push_payload(process, &header, &failed) {
            true => Ok(()),
            false => Err(Outgoing::Failed { key, failed }),
        }
    }

    /// A message will not come.
    #[cold]
    pub(super) fn on_failed(
        &mut self,
        packet: &Packet,
        failed: Failed,
        may_defer: bool,
    ) -> Handled {
        let key = key_of(packet);
        let is_process = !losses::is_no_process(failed.process);
        let failed = match is_process && names::is_foreign(packet.process) {
            // Numbers of the other job.
            true => Failed {
                process: losses::SOMEBODY,
                ..failed
            },
            false => failed,
        };
        if let Some(index) = self.posted.take(key) {
            self.fail_receive(index, key, failed);
            return Handled::Matched;
        }
        if may_defer {
            return Handled::Deferred;
        }
        self.store_failed(key, packet.process as usize, failed);
        Handled::Unexpected
    }

    fn store_failed(&mut self, key: Key, process: usize, failed: Failed) {
        let message = self.store(key, process, 0, &Rts::default(), Vec::new(), None);
        if let Some(message) = self.messages.get(message) {
            message.failed = Some(failed);
        }
    }

    fn fail_receive(&mut self, index: Index, key: Key, failed: Failed) {
        let request = self.requests.at(index);
        request.status = status(key, 0);
        request.posted = NOT_POSTED;
        request.error = Some(losses::told(failed));
        self.complete(index);
    }
}
