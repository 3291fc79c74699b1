//! The conversation of a call with those outside of its group: one thread does what blocks in the kernel, step after step, while the call makes
//! progress.
//!
//! Invariant: the thread is there from the first step until the end of the call, enters no engine, and has the connection to the other root.

use super::port::Socket;
use crate::engine::wait::{self, Reason};
use crate::engine::waits::{Kind, Wait, Whom};
use crate::engine::wake_own_threads;
use crate::error::{Class, Error, Result};
use crate::os::threads;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

const STACK_BYTES: usize = 256 << 10;

/// What the thread does; it finds and leaves the connection.
type Step = Box<dyn FnOnce(&mut Option<Socket>) + Send>;

/// See the module.
pub struct Conversation {
    /// The MPI function.
    function: &'static str,
    thread: Option<(Sender<Step>, JoinHandle<()>)>,
}

impl Conversation {
    pub fn new(function: &'static str) -> Conversation {
        Conversation {
            function,
            thread: None,
        }
    }

    /// Has the thread do something, and waits for it.
    ///
    /// Errors: of `work`; MPI_ERR_NO_MEM if no thread is to be had.
    pub fn step<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Option<Socket>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = channel();
        let step: Step = Box::new(move |socket| {
            let _ = tell.send(work(socket));
            wake_own_threads();
        });
        // A thread that has ended drops the step, and with it what is to tell.
        let _ = self.thread()?.send(step);
        let what = &|_: bool| Wait::of(Kind::Connection, Whom::Outside);
        let function = self.function;
        wait::until(&Reason { function, what }, |_| match told.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Error::new(
                Class::Intern,
                "the thread of the conversation has ended",
            ))),
        })
    }

    fn thread(&mut self) -> Result<&Sender<Step>> {
        let (steps, _) = match self.thread.take() {
            Some(thread) => self.thread.insert(thread),
            None => {
                let (steps, work) = channel();
                let converse = move || converse(&work);
                let thread = threads::start("oxmpi-connect", STACK_BYTES, converse);
                let thread = thread.map_err(|error| {
                    let text = "no thread can be started to wait for a connection";
                    Error::new(Class::NoMem, format!("{text}: {error}"))
                })?;
                self.thread.insert((steps, thread))
            }
        };
        Ok(steps)
    }
}

fn converse(steps: &Receiver<Step>) {
    let mut socket = None;
    steps.iter().for_each(|step| step(&mut socket));
}

impl Drop for Conversation {
    /// The thread has nothing left to do but to close the connection; then its stack is given back.
    fn drop(&mut self) {
        if let Some((steps, thread)) = self.thread.take() {
            drop(steps);
            let _ = thread.join();
        }
    }
}
