//! The memory that a port works with: buffers for what comes in, and for what leaves and is more than an inject.
//!
//! It is taken once and never given back: a provider may write to a posted buffer until the process ends.

use super::bindings::fi_context2;
use super::record::Record;

/// Bytes of payload of one message; a longer one is announced and goes in several.
pub const LONGEST_PAYLOAD: usize = (64 << 10) + 64;
/// The longest message on the wire.
pub const LARGEST: usize = Record::BYTES + LONGEST_PAYLOAD;
/// Buffers for what comes in.
pub const RECEIVING: usize = 4;
/// Bytes of each of those.
pub const RECEIVE_BYTES: usize = 512 << 10;
/// Buffers for what leaves, at most.
const SENDING: usize = 64;

/// See the module.
pub struct Pool {
    contexts: *mut fi_context2,
    receiving: [*mut u8; RECEIVING],
    /// Those that were made so far.
    sending: Vec<*mut u8>,
    free: Vec<usize>,
}

// SAFETY: the memory belongs to the pool's owner alone, and to the provider.
unsafe impl Send for Pool {}

fn leaked(bytes: usize) -> *mut u8 {
    Box::leak(vec![0u8; bytes].into_boxed_slice()).as_mut_ptr()
}

impl Pool {
    pub fn new() -> Pool {
        let context = || fi_context2 {
            internal: [std::ptr::null_mut(); 8],
        };
        let contexts: Vec<fi_context2> = (0..RECEIVING + SENDING).map(|_| context()).collect();
        Pool {
            contexts: Box::leak(contexts.into_boxed_slice()).as_mut_ptr(),
            receiving: std::array::from_fn(|_| leaked(RECEIVE_BYTES)),
            sending: Vec::new(),
            free: Vec::new(),
        }
    }

    fn context(&self, index: usize) -> *mut fi_context2 {
        debug_assert!(index < RECEIVING + SENDING);
        self.contexts.wrapping_add(index)
    }

    fn index(&self, context: *mut fi_context2) -> Option<usize> {
        let bytes = (context as usize).checked_sub(self.contexts as usize)?;
        let index = bytes / size_of::<fi_context2>();
        (index < RECEIVING + SENDING).then_some(index)
    }

    /// A receive buffer and its context.
    pub fn receiving(&self, index: usize) -> (*mut u8, *mut fi_context2) {
        (self.receiving[index], self.context(index))
    }

    /// Which receive buffer has this context.
    pub fn receiver_of(&self, context: *mut fi_context2) -> Option<usize> {
        self.index(context).filter(|index| *index < RECEIVING)
    }

    /// Which send buffer has this context.
    pub fn sender_of(&self, context: *mut fi_context2) -> Option<usize> {
        self.index(context)?.checked_sub(RECEIVING)
    }

    /// A free send buffer, if there is one. It is given back by [`Self::give`].
    pub fn take(&mut self) -> Option<usize> {
        if let Some(index) = self.free.pop() {
            return Some(index);
        }
        let index = self.sending.len();
        if index == SENDING {
            return None;
        }
        self.sending.push(leaked(LARGEST));
        Some(index)
    }

    pub fn give(&mut self, index: usize) {
        debug_assert!(!self.free.contains(&index));
        self.free.push(index);
    }

    /// Buffers that the provider has.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        self.sending.len() - self.free.len()
    }

    /// Whether the provider has this send buffer.
    pub fn is_in_use(&self, index: usize) -> bool {
        index < self.sending.len() && !self.free.contains(&index)
    }

    /// A send buffer that was taken, and its context.
    pub fn sending(&self, index: usize) -> (*mut u8, *mut fi_context2) {
        (self.sending[index], self.context(RECEIVING + index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_found_by_their_contexts_and_used_again() {
        let mut pool = Pool::new();
        for index in 0..RECEIVING {
            let (_, context) = pool.receiving(index);
            assert_eq!(pool.receiver_of(context), Some(index));
            assert_eq!(pool.sender_of(context), None);
        }
        let taken: Vec<usize> = (0..SENDING).map(|_| pool.take().unwrap()).collect();
        assert_eq!((pool.take(), pool.in_use()), (None, SENDING));
        for index in taken {
            let (buffer, context) = pool.sending(index);
            assert!(!buffer.is_null());
            assert_eq!(pool.sender_of(context), Some(index));
            assert_eq!(pool.receiver_of(context), None);
            pool.give(index);
        }
        assert_eq!((pool.in_use(), pool.take().is_some()), (0, true));
        assert_eq!(pool.sender_of(std::ptr::null_mut()), None);
        assert_eq!(pool.sender_of(usize::MAX as *mut fi_context2), None);
    }
}
