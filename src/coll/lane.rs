//! Messages between members of a communicator on its collective context, which no user's receive can match.

use crate::comm::{COLLECTIVE, Comm};
use crate::datatype::Buffer;
use crate::engine::enter;
use crate::engine::matching::Key;
use crate::engine::requests::{Index, Mode, Phase};
use crate::engine::send::Envelope;
use crate::engine::wait::{Reason, until};
use crate::error::Result;

/// The collective side of a communicator, for one operation.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    comm: &'a Comm,
    function: &'static str,
    context: u32,
}

const TAG: i32 = 0;

impl<'a> Lane<'a> {
    /// For the operation `function` on `comm`.
    pub fn new(comm: &'a Comm, function: &'static str) -> Self {
        Self {
            comm,
            function,
            context: comm.context() + COLLECTIVE,
        }
    }

    pub fn rank(&self) -> i32 {
        self.comm.rank()
    }

    pub fn size(&self) -> i32 {
        self.comm.size()
    }

    fn finish(&self, index: Index, peer: i32) -> Result<()> {
        let reason = Reason {
            function: self.function,
            peer,
            tag: TAG,
            context: self.context,
        };
        until(&reason, |engine| {
            let request = engine.requests().at(index);
            if request.phase != Phase::Complete {
                return None;
            }
            let error = request.error.take();
            engine.requests().release(index);
            Some(error.map_or(Ok(()), Err))
        })
    }

    fn envelope(&self, dest: i32) -> Envelope {
        Envelope {
            world: self.comm.world(dest),
            context: self.context,
            source: self.comm.rank(),
            tag: TAG,
            peer: dest,
            communicator: self.comm.handle,
        }
    }

    fn key(&self, source: i32) -> Key {
        Key {
            context: self.context,
            source,
            tag: TAG,
        }
    }

    pub fn send(&self, buffer: Buffer, dest: i32) -> Result<()> {
        let envelope = self.envelope(dest);
        let mut engine = enter();
        if engine.send_short(&envelope, &buffer) {
            return Ok(());
        }
        let index = engine.send(Mode::Standard, &envelope, buffer);
        drop(engine);
        self.finish(index, dest)
    }

    pub fn recv(&self, buffer: Buffer, source: i32) -> Result<()> {
        let index = enter().receive(self.key(source), source, self.comm.handle, buffer);
        self.finish(index, source)
    }

    /// Receives from `source` while sending to `dest`.
    pub fn exchange(&self, out: Buffer, dest: i32, into: Buffer, source: i32) -> Result<()> {
        let index = enter().receive(self.key(source), source, self.comm.handle, into);
        self.send(out, dest)?;
        self.finish(index, source)
    }
}
