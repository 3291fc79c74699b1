//! Barriers, rounds and parcels of ranks that share no memory: messages on a context of the assembly's own.
//!
//! The library's own threads enter no engine, so they leave theirs to a task of the program's threads. Invariant: an assembly has one
//! barrier, round or exchange of parcels at a time, in the same order on all ranks, whoever makes it.

use crate::coll::{CollContext, barrier_on, block_on, exchange_on, exchange_words_on};
use crate::comm::{self, Comm, Made, Maker};
use crate::context_id::{self, Creation};
use crate::engine::{aside, losses, tasks, wake_own_threads};
use crate::errhandler::{Attached, ERRORS_RETURN};
use crate::error::Result;
use crate::lifetime::communicators;
use crate::sync::{AtomicU32, Ordering};
use parking_lot::Mutex;

/// Words that each rank brings to a round.
pub const WORDS: usize = 8;
pub type Words = [u64; WORDS];

/// Bytes for a rank, or room for those from it.
pub type Parcel = (usize, Box<[u8]>);

/// What is to be done.
enum Question {
    /// All ranks tell all.
    Round(Words),
    /// Out and in.
    Parcels(Vec<Parcel>, Vec<Parcel>),
}

/// What has come of it: the words of a round, or the parcels that came in.
type Answer = Result<(Vec<Words>, Vec<Parcel>)>;

/// What a thread of the library's wants, and then has.
#[derive(Default)]
struct Mail {
    /// [`EMPTY`], [`ASKED`], [`TAKEN`], [`ANSWERED`].
    state: AtomicU32,
    question: Mutex<Option<(&'static str, Question)>>,
    answer: Mutex<Option<Answer>>,
}

const EMPTY: u32 = 0;
const ASKED: u32 = 1;
/// By a task.
const TAKEN: u32 = 2;
const ANSWERED: u32 = 3;

/// The tag of parcels: not all ranks take part, so they have no number. Rounds begin at 1.
const PARCELS: i32 = 0;

/// See the module.
pub struct Messages {
    /// The assembly's own, which nobody else knows.
    comm: &'static Comm,
    mail: Mail,
}

impl Messages {
    /// Collective over the communicator of the ranks.
    ///
    /// Errors: those of MPI_Comm_dup.
    pub fn new(parent: &Comm, maker: Maker, function: &'static str) -> Result<Messages> {
        let coll = CollContext::new(parent, function);
        let id = block_on(context_id::allocate(&coll, Creation::whole(parent)));
        let id = id.map_err(|error| {
            // What a rank is told that did not wait for the lost one itself.
            let processes = (0..parent.size()).map(|rank| parent.process(rank));
            let mut lost = processes.filter(|process| losses::loss(*process).is_some());
            lost.next().map_or(error, losses::explain)
        })?;
        let parts = comm::Parts {
            context: id.context,
            receive_context: id.context,
            engines: id.engines,
            rank: parent.rank(),
            members: parent.members().clone(),
            remote: None,
            made: Made::of(maker, parent),
        };
        let made = comm::add(parts, Attached::predefined(ERRORS_RETURN));
        let comm = made.inspect_err(|_| context_id::release(id.context))?;
        Ok(Messages {
            comm,
            mail: Mail::default(),
        })
    }

    /// What waits for these messages are shown by.
    pub fn set_name(&self, name: &str) {
        self.comm.set_name(name);
    }

    /// Waits until all ranks have come, none in a task.
    ///
    /// Errors: a rank is lost.
    pub fn barrier(&self, function: &'static str) -> Result<()> {
        block_on(barrier_on(&CollContext::new(self.comm, function)))
    }

    /// What all ranks bring, by rank.
    ///
    /// Errors: a rank is lost.
    pub fn exchange(&self, function: &'static str, own: Words) -> Result<Vec<Words>> {
        let done = self.have_done(function, Question::Round(own));
        done.map(|(words, _)| words)
    }

    /// As [`Messages::exchange`], inside a task.
    ///
    /// Errors: a rank is lost.
    pub async fn exchange_in_task(&self, function: &'static str, own: Words) -> Result<Vec<Words>> {
        let coll = CollContext::new(self.comm, function).task(self.comm.next_operation());
        self.comm.hold();
        let all = exchange_words_on(&coll, own).await;
        self.comm.let_go();
        all
    }

    /// Sends parcels, and fills those that come in.
    ///
    /// Errors: a rank is lost.
    pub fn exchange_parcels(
        &self,
        function: &'static str,
        out: Vec<Parcel>,
        into: Vec<Parcel>,
    ) -> Result<Vec<Parcel>> {
        if out.is_empty() && into.is_empty() {
            return Ok(into);
        }
        let done = self.have_done(function, Question::Parcels(out, into));
        done.map(|(_, parcels)| parcels)
    }

    fn have_done(&self, function: &'static str, question: Question) -> Answer {
        if aside::is_here() {
            return self.ask(function, question);
        }
        // With a tag as in a task: the other ranks may be in one.
        let coll = CollContext::new(self.comm, function).numbered(self.tag_of(&question));
        block_on(make(&coll, question))
    }

    fn tag_of(&self, question: &Question) -> i32 {
        match question {
            Question::Round(_) => self.comm.next_operation(),
            Question::Parcels(..) => PARCELS,
        }
    }

    /// Has a thread of the program's do it.
    fn ask(&self, function: &'static str, question: Question) -> Answer {
        let mail = &self.mail;
        *mail.question.lock() = Some((function, question));
        mail.state.store(ASKED, Ordering::Release);
        wake_own_threads();
        aside::until(|| (mail.state.load(Ordering::Acquire) == ANSWERED).then_some(()));
        mail.state.store(EMPTY, Ordering::Relaxed);
        let answer = mail.answer.lock().take();
        answer.expect("an answer is there when the state says so")
    }

    /// Waits, inside a task, until it `holds`, and does what threads of the library's want meanwhile.
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
            let taken =
                mail.state
                    .compare_exchange(ASKED, TAKEN, Ordering::Acquire, Ordering::Relaxed);
            let question = taken.ok().and_then(|_| mail.question.lock().take());
            let Some((function, question)) = question else {
                continue;
            };
            let coll = CollContext::new(comm, function).task(self.tag_of(&question));
            comm.hold();
            let answer = make(&coll, question).await;
            comm.let_go();
            *mail.answer.lock() = Some(answer);
            mail.state.store(ANSWERED, Ordering::Release);
            wake_own_threads();
        }
    }
}

async fn make(coll: &CollContext<'_>, question: Question) -> Answer {
    match question {
        Question::Round(own) => Ok((exchange_words_on(coll, own).await?, Vec::new())),
        Question::Parcels(mut out, mut into) => {
            exchange_on(coll, &mut out, &mut into).await?;
            Ok((Vec::new(), into))
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        communicators::free(self.comm);
    }
}
