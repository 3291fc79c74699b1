//! What the record layer needs of a port: an endpoint that sends messages, takes them in buffers for several, and moves data straight between
//! buffers of the program.
//!
//! Operations are asynchronous: each has a [`Context`], by which its completion names it. A port is used by one thread at a time.

use smallvec::SmallVec;
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;

/// Bytes of the longest message: a record and the payload of the largest packet. A longer message of the engine goes in several packets.
pub const LARGEST: usize = (64 << 10) + 96;

/// Memory that a port uses for one operation, and the name of that.
#[repr(C)]
#[derive(Debug)]
pub struct Context([*mut c_void; 8]);

impl Default for Context {
    fn default() -> Context {
        Context([null_mut(); 8])
    }
}

/// What came of an attempt to begin an operation.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    Done,
    /// No room now, or the connection is being made.
    Later,
    Failed(String),
}

/// The end of an operation.
#[derive(Debug)]
pub enum Completion {
    /// A transmission is complete; its place is free.
    Sent(*mut Context),
    /// A message has come into the buffer posted with this context; the buffer is the port's no more if it says `released`.
    Received {
        context: *mut Context,
        data: *const u8,
        length: usize,
        released: bool,
    },
    /// An operation failed.
    Failed { context: *mut Context, text: String },
}

/// What one [`Port::poll`] finds.
pub type Completions = SmallVec<[Completion; 16]>;

/// A registration of memory; nothing where none is needed.
#[derive(Debug)]
pub struct Registered {
    /// The port's own name for it.
    pub region: *mut c_void,
    /// What operations on this memory name.
    pub description: *mut c_void,
}

impl Registered {
    /// None is needed.
    pub fn none() -> Registered {
        Registered {
            region: null_mut(),
            description: null_mut(),
        }
    }
}

/// A run of bytes that a port reads or writes, and what names its operation.
#[derive(Clone, Copy)]
pub struct Run {
    pub place: *mut u8,
    pub bytes: usize,
    pub tag: u64,
    /// Of the memory, if it is registered.
    pub description: *mut c_void,
    pub context: *mut Context,
}

/// See the module.
///
/// # Safety
/// A completion that says [`Completion::Received`] names bytes that lie in the buffer of its context and that the port writes no more. A context is
/// the port's until its completion, and named by one completion, or by several until one says that its buffer is released.
pub unsafe trait Port: Send {
    /// Another port of the same provider and interface, with objects of its own: another thread may use it at the same time.
    ///
    /// Errors: what the provider says.
    fn another(&self) -> Result<Box<dyn Port>, String>;
    /// Library, version, provider, interface, and why.
    fn description(&self) -> &str;
    fn provider(&self) -> &str;
    /// Whether only processes of this machine reach it.
    fn is_on_loopback(&self) -> bool;
    /// Whether an adapter moves the data, and not the processor by TCP.
    fn has_adapter(&self) -> bool;
    /// Whether messages of a peer complete in the order of their sends.
    fn completes_in_order(&self) -> bool;
    /// Whether memory has to be registered before the port uses it.
    fn wants_registration(&self) -> bool;
    /// Messages of up to so many bytes go by [`Port::inject`].
    fn inject_bytes(&self) -> usize;
    /// The longest run.
    fn longest(&self) -> usize;
    /// The bits that a tag may have.
    fn tag_bits(&self) -> u64;

    /// The address that others reach this port by.
    ///
    /// Errors: the provider does not know it.
    fn address(&self) -> Result<Vec<u8>, String>;
    /// Learns a peer's address. Returns the number that operations name it by.
    ///
    /// Errors: the provider does not take it.
    fn insert(&mut self, address: &[u8]) -> Result<u64, String>;
    /// Forgets a peer's address, and the connection with it.
    fn remove(&mut self, address: u64);

    /// Registers memory for sending and receiving, if the port wants that.
    ///
    /// Errors: there is no room for it (RLIMIT_MEMLOCK); the text says how much it was.
    fn register(&mut self, begin: *mut u8, bytes: usize) -> Result<Registered, String>;
    /// Gives a registration back. No operation uses the memory any more.
    fn unregister(&mut self, registered: Registered);

    /// Sends a message of at most [`Port::inject_bytes`], which is copied. No completion tells of it, unless it fails.
    fn inject(&mut self, to: u64, message: &[u8]) -> Sent;
    /// Sends a message out of memory with this description.
    ///
    /// # Safety
    /// Message and context stay, and the message unchanged, until the completion with this context was read.
    unsafe fn send(
        &mut self,
        to: u64,
        message: *const u8,
        bytes: usize,
        description: *mut c_void,
        context: *mut Context,
    ) -> Sent;
    /// Gives the port a buffer for several messages. It is released when [`LARGEST`] bytes do not fit into it any more.
    ///
    /// # Safety
    /// Buffer and context stay, and nobody writes the buffer, until a completion with this context has said that it is released.
    unsafe fn post(
        &mut self,
        buffer: *mut u8,
        bytes: usize,
        description: *mut c_void,
        context: *mut Context,
    ) -> Sent;
    /// Sends bytes to the peer that has posted a buffer under their tag.
    ///
    /// # Safety
    /// Bytes and context stay, and the bytes unchanged, until the completion with this context was read.
    unsafe fn send_tagged(&mut self, to: u64, run: &Run) -> Sent;
    /// Posts a buffer for the bytes that come under a tag.
    ///
    /// # Safety
    /// Buffer and context stay, and nobody else uses the buffer, until the completion with this context was read.
    unsafe fn receive_tagged(&mut self, run: &Run) -> Sent;
    /// Wants an operation to end early. Its completion comes all the same, or the provider cannot end it.
    fn cancel(&mut self, context: *mut Context);

    /// Makes progress. Appends what is complete; if that is nothing, there may be a [`Port::failure`].
    fn poll(&mut self, complete: &mut Completions);
    /// Why the last [`Port::poll`] has found nothing, if an operation has failed.
    fn failure(&mut self) -> Option<Completion>;

    /// The descriptor that is readable when something may be complete, if there is one.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
    /// Whether a thread may sleep until the descriptor is readable; if not, there is something to poll for.
    fn may_sleep(&mut self) -> bool;

    /// Registrations that are there.
    #[cfg(test)]
    fn open_registrations(&self) -> u64;
    /// Registers nothing any more.
    #[cfg(test)]
    fn refuse_registration(&mut self);
    /// Breaks all connections, if the port can do that itself.
    #[cfg(test)]
    fn cut(&mut self) -> bool {
        false
    }
}
