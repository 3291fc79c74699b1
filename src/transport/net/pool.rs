//! The memory that a port works with: buffers for what comes in, and for what leaves and is more than an inject.
//!
//! It is taken once and never given back: a provider may write to a posted buffer until the process ends.

use super::port::{Context, LARGEST, Port, Sent};
use std::ffi::c_void;

/// Buffers for what comes in.
pub const RECEIVING: usize = 4;
/// Bytes of each of those.
pub const RECEIVE_BYTES: usize = 512 << 10;
/// Buffers for what leaves, at most.
const SENDING: usize = 64;

/// A buffer, and what its memory is called if it is registered.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub begin: *mut u8,
    pub description: *mut c_void,
}

/// See the module.
pub struct Pool {
    contexts: *mut Context,
    receiving: [Place; RECEIVING],
    /// Those that were made so far.
    sending: Vec<Place>,
    /// The process that what is in each of them is meant for.
    to: Vec<u32>,
    free: Vec<usize>,
}

// SAFETY: the memory belongs to the pool's owner alone, and to the provider.
unsafe impl Send for Pool {}

fn leaked(bytes: usize, port: &mut dyn Port) -> Result<Place, String> {
    let begin = Box::leak(vec![0u8; bytes].into_boxed_slice()).as_mut_ptr();
    // It stays registered.
    let description = port.register(begin, bytes)?.description;
    Ok(Place { begin, description })
}

impl Pool {
    /// With the buffers for what comes in, and one for what leaves.
    ///
    /// Errors: they cannot be registered.
    pub fn new(port: &mut dyn Port) -> Result<Pool, String> {
        let contexts = (0..RECEIVING + SENDING).map(|_| Context::default());
        let contexts: Vec<Context> = contexts.collect();
        let none = Place {
            begin: std::ptr::null_mut(),
            description: std::ptr::null_mut(),
        };
        let mut receiving = [none; RECEIVING];
        for place in &mut receiving {
            *place = leaked(RECEIVE_BYTES, port)?;
        }
        Ok(Pool {
            contexts: Box::leak(contexts.into_boxed_slice()).as_mut_ptr(),
            receiving,
            // With one that is there sends go on, however little room there is later.
            sending: vec![leaked(LARGEST, port)?],
            to: vec![0],
            free: vec![0],
        })
    }

    fn context(&self, index: usize) -> *mut Context {
        debug_assert!(index < RECEIVING + SENDING);
        self.contexts.wrapping_add(index)
    }

    fn index(&self, context: *mut Context) -> Option<usize> {
        let bytes = (context as usize).checked_sub(self.contexts as usize)?;
        let index = bytes / size_of::<Context>();
        (index < RECEIVING + SENDING).then_some(index)
    }

    /// A receive buffer and its context.
    pub fn receiving(&self, index: usize) -> (Place, *mut Context) {
        (self.receiving[index], self.context(index))
    }

    /// Has other memory for a receive buffer: the provider may still write to the old one. False: there is none.
    pub fn renew(&mut self, index: usize, port: &mut dyn Port) -> bool {
        let place = leaked(RECEIVE_BYTES, port);
        place.is_ok_and(|place| {
            self.receiving[index] = place;
            true
        })
    }

    /// Where a place is in this receive buffer: at most [`RECEIVE_BYTES`], or it is elsewhere.
    #[inline]
    pub fn offset(&self, index: usize, place: *const u8) -> usize {
        let begin = self.receiving[index].begin.addr();
        place.addr().wrapping_sub(begin)
    }

    /// Which receive buffer has this context.
    pub fn receiver_of(&self, context: *mut Context) -> Option<usize> {
        self.index(context).filter(|index| *index < RECEIVING)
    }

    /// Which send buffer has this context.
    pub fn sender_of(&self, context: *mut Context) -> Option<usize> {
        self.index(context)?.checked_sub(RECEIVING)
    }

    /// Writes a message of so many bytes, at most [`LARGEST`], into a free send buffer and hands it to the provider, for a process with this
    /// address. What came of it, and the message; `None`: there is no free buffer now. If it was taken, its completion has to be told
    /// by [`Self::give`].
    #[inline]
    pub fn send(
        &mut self,
        port: &mut dyn Port,
        (to, address): (u32, u64),
        bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Option<(Sent, &[u8])> {
        assert!(bytes <= LARGEST, "a packet of {bytes} bytes");
        let index = self.take(port)?;
        let (Place { begin, description }, context) = self.sending(index);
        // SAFETY: the buffer has `LARGEST` bytes, and is this function's until it is given to the provider.
        let message = unsafe { std::slice::from_raw_parts_mut(begin, bytes) };
        write(message);
        // SAFETY: neither is written to before the completion gives the buffer back.
        let sent = unsafe { port.send(address, begin, bytes, description, context) };
        self.to[index] = to;
        if !matches!(sent, Sent::Done) {
            self.give(index);
        }
        Some((sent, message))
    }

    /// A free send buffer, if there is one, or one more can be registered. It is given back by [`Self::give`].
    fn take(&mut self, port: &mut dyn Port) -> Option<usize> {
        if let Some(index) = self.free.pop() {
            return Some(index);
        }
        let index = self.sending.len();
        if index == SENDING {
            return None;
        }
        // Without room for one more, those that are there come back.
        let place = leaked(LARGEST, port).ok()?;
        self.sending.push(place);
        self.to.push(0);
        Some(index)
    }

    /// The provider has given a send buffer back. The process that it was sent to.
    pub fn give(&mut self, index: usize) -> u32 {
        debug_assert!(!self.free.contains(&index));
        self.free.push(index);
        self.to[index]
    }

    /// Buffers that the provider has.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        self.sending.len() - self.free.len()
    }

    /// Whether no message is under way.
    pub fn is_idle(&self) -> bool {
        self.free.len() == self.to.len()
    }

    /// The processes that messages are under way to, one for each message.
    pub fn under_way(&self) -> impl Iterator<Item = u32> + '_ {
        let taken = self.to.iter().enumerate();
        let taken = taken.filter(|(index, _)| !self.free.contains(index));
        taken.map(|(_, to)| *to)
    }

    /// A send buffer that was taken, and its context.
    fn sending(&self, index: usize) -> (Place, *mut Context) {
        (self.sending[index], self.context(RECEIVING + index))
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Medium;
    use super::*;

    fn port(room: usize) -> Box<dyn Port> {
        Medium::new(true, true).port(room)
    }

    #[test]
    fn no_room_for_more_buffers_is_no_buffer_now() {
        for too_little in [
            RECEIVING * RECEIVE_BYTES - 1,
            RECEIVING * RECEIVE_BYTES + LARGEST - 1,
        ] {
            assert!(Pool::new(&mut *port(too_little)).is_err());
        }
        let mut port = port(RECEIVING * RECEIVE_BYTES + 2 * LARGEST);
        let mut pool = Pool::new(&mut *port).unwrap();
        let taken: Vec<usize> = (0..2).map(|_| pool.take(&mut *port).unwrap()).collect();
        assert_eq!(pool.take(&mut *port), None);
        for index in taken {
            let (place, _) = pool.sending(index);
            assert_eq!(place.begin.cast(), place.description);
            pool.give(index);
        }
        assert!(pool.take(&mut *port).is_some());
    }

    #[test]
    fn buffers_are_found_by_their_contexts_and_used_again() {
        let mut port = port(usize::MAX);
        let mut pool = Pool::new(&mut *port).unwrap();
        for index in 0..RECEIVING {
            let (_, context) = pool.receiving(index);
            assert_eq!(pool.receiver_of(context), Some(index));
            assert_eq!(pool.sender_of(context), None);
        }
        let taken: Vec<usize> = (0..SENDING)
            .map(|_| pool.take(&mut *port).unwrap())
            .collect();
        assert_eq!((pool.take(&mut *port), pool.in_use()), (None, SENDING));
        for index in taken {
            let (buffer, context) = pool.sending(index);
            assert!(!buffer.begin.is_null());
            assert_eq!(pool.sender_of(context), Some(index));
            assert_eq!(pool.receiver_of(context), None);
            pool.give(index);
        }
        assert_eq!((pool.in_use(), pool.take(&mut *port).is_some()), (0, true));
        assert_eq!(pool.sender_of(std::ptr::null_mut()), None);
        assert_eq!(pool.sender_of(usize::MAX as *mut Context), None);
    }
}
