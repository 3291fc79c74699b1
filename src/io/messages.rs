//! Rounds of ranks that share no memory: messages on a context of the file's own.
//!
//! The library's own threads enter no engine, so they leave their rounds to a task of the program's threads. Invariant: a file has one round
//! at a time, in the same order on all ranks, whoever makes it.

use super::workers;
use crate::coll::{CollContext, block_on, exchange_words_on};
use crate::comm::{self, Comm, Made, Maker};
use crate::context_id::{self, Creation};
use crate::engine::{aside, tasks, wake_own_threads};
use crate::errhandler::{Attached, ERRORS_RETURN};
use crate::error::Result;
use crate::lifetime::communicators;
use crate::sync::{AtomicU32, Ordering};
use parking_lot::Mutex;

/// Words that each rank brings to a round.
pub const WORDS: usize = 8;
pub type Words = [u64; WORDS];

/// What a round is asked for, and what has come of it.
type Question = (&'static str, Words);
type Answer = Result<Vec<Words>>;

/// A round that a thread of the library's wants, and then has.
#[derive(Default)]
struct Mail {
    /// [`EMPTY`], [`ASKED`], [`ANSWERED`].
    state: AtomicU32,
    question: Mutex<Option<Question>>,
    answer: Mutex<Option<Answer>>,
}

const EMPTY: u32 = 0;
const ASKED: u32 = 1;
const ANSWERED: u32 = 2;

/// See the module.
pub struct Messages {
    /// The file's own, which nobody else knows.
    comm: &'static Comm,
    mail: Mail,
}

impl Messages {
    /// Collective over the file's communicator.
    ///
    /// Errors: those of MPI_Comm_dup.
    pub fn new(parent: &Comm, function: &'static str) -> Result<Messages> {
        let coll = CollContext::new(parent, function);
        let id = block_on(context_id::allocate(&coll, Creation::whole(parent)))?;
        let parts = comm::Parts {
            context: id,
            receive_context: id,
            rank: parent.rank(),
            members: parent.members().clone(),
            remote: None,
            made: Made::of(Maker::FileOpen, parent),
        };
        let made = comm::add(parts, Attached::predefined(ERRORS_RETURN));
        let comm = made.inspect_err(|_| context_id::release(id))?;
        Ok(Messages {
            comm,
            mail: Mail::default(),
        })
    }

    /// What all ranks bring, by rank.
    ///
    /// Errors: a rank is lost.
    pub fn exchange(&self, function: &'static str, own: Words) -> Answer {
        if workers::is_worker() {
            return self.ask((function, own));
        }
        // With a number of its own, too: the other ranks may be in tasks.
        let coll = CollContext::new(self.comm, function).numbered(self.comm.next_operation());
        block_on(exchange_words_on(&coll, own))
    }

    /// Has a thread of the program's make a round.
    fn ask(&self, question: Question) -> Answer {
        let mail = &self.mail;
        *mail.question.lock() = Some(question);
        mail.state.store(ASKED, Ordering::Release);
        wake_own_threads();
        aside::until(|| (mail.state.load(Ordering::Acquire) == ANSWERED).then_some(()));
        mail.state.store(EMPTY, Ordering::Relaxed);
        let answer = mail.answer.lock().take();
        answer.expect("an answer is there when the state says so")
    }

    /// Waits, inside a task, until it `holds`, and makes the rounds that threads of the library's want meanwhile.
    pub async fn serve_until(&self, holds: impl Fn() -> bool) {
        let (mail, comm) = (&self.mail, self.comm);
        loop {
            let is_asked = || mail.state.load(Ordering::Acquire) == ASKED;
            tasks::condition(|| is_asked() || holds()).await;
            // Rounds of later operations are for their tasks: this one's end must not wait for them.
            if holds() {
                return;
            }
            // Tasks of several operations look: one of them finds it.
            let question = mail.question.lock().take();
            let Some((function, own)) = question else {
                tasks::condition(|| !is_asked() || holds()).await;
                continue;
            };
            let coll = CollContext::new(comm, function).task(comm.next_operation());
            comm.hold();
            let answer = exchange_words_on(&coll, own).await;
            comm.let_go();
            *mail.answer.lock() = Some(answer);
            mail.state.store(ANSWERED, Ordering::Release);
            wake_own_threads();
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        communicators::free(self.comm);
    }
}
