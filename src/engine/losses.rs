//! The errors of operations that cannot complete because of a process: their class and their text.
//!
//! Whether a process is lost is asked elsewhere ([`super::liveness`], `transport/deaths.rs`). Invariant: no other module chooses the class of
//! such an error.

use super::packets::Failed;
use super::{Engine, failures, table};
use crate::error::{Class, Error};
use crate::events::{self, Event};
use crate::group::names;
use crate::transport::{Loss, State};

/// In place of a lost process that the other has another number for. `u32::MAX` says of communicators and teams that nobody is lost.
pub const SOMEBODY: u32 = u32::MAX - 1;

/// In place of a lost process: none is, but collective operations of a communicator have ended because its ranks had called different ones.
pub const DIFFERENT: u32 = u32::MAX - 2;

/// In place of a lost process: none is, but the communicator was revoked.
pub const REVOKED: u32 = u32::MAX - 3;

/// Whether a number stands for no process.
pub(super) fn is_no_process(process: u32) -> bool {
    matches!(process, DIFFERENT | REVOKED)
}

/// Why an operation cannot complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing more is to be expected from a process that the operation waits for; the reason, if this process knows one.
    Lost(Option<Loss>),
    /// A process has failed that might have sent what a receive waits for, which can still match another message.
    MightSend,
    /// A process has died with a lock, or in the middle of a change, and the operation needs what it had.
    Holder,
    /// A process of another job that this one is about to meet.
    Meeting,
    /// A process took no part in an agreement, and not all had acknowledged that.
    Absent,
    /// Nobody is lost: the ranks have called different operations.
    Different,
    /// Nobody is lost: the communicator was revoked.
    Revoked,
}

/// The class of an operation's error.
fn class_of(cause: Cause) -> Class {
    match cause {
        // It lives, or may live: no failure that a program could go on without.
        Cause::Lost(Some(Loss::Finalizing | Loss::Unreachable)) | Cause::Different => Class::Other,
        Cause::Lost(_) | Cause::Holder | Cause::Absent => Class::ProcFailed,
        Cause::MightSend => Class::ProcFailedPending,
        Cause::Meeting => Class::Port,
        Cause::Revoked => Class::Revoked,
    }
}

/// An error with a text of its own.
#[cold]
pub fn error_of(cause: Cause, text: impl Into<String>) -> Error {
    Error::new(class_of(cause), text)
}

/// Why nothing more is to be expected from a process, if so; on any thread, and of [`SOMEBODY`].
pub fn loss(process: u32) -> Option<Loss> {
    match process {
        SOMEBODY => Some(Loss::Exited),
        _ => table()?.of(process).loss_by_look(),
    }
}

/// The error of a wait for a lost rank.
#[cold]
pub fn error(engine: &Engine, process: u32) -> Error {
    let loss = match process {
        DIFFERENT | REVOKED => None,
        SOMEBODY => loss(process),
        _ => engine.peer(process).loss(),
    };
    raise(process);
    explained(loss, process)
}

/// The error of a wait for a receive from any source, which stays active.
#[cold]
pub fn pending(process: u32) -> Error {
    let why = explain(process).text();
    let text =
        format!("{why}, and might have sent what this receive waits for; the receive stays active");
    error_of(Cause::MightSend, text).of_loss(process)
}

/// As [`error`], on any thread, and no tool is told.
#[cold]
pub fn explain(process: u32) -> Error {
    explained(loss_of(process), process)
}

/// The error of an agreement in which a process took no part.
#[cold]
pub fn absent(process: u32) -> Error {
    raise(process);
    let text = format!(
        "{}, and not all had acknowledged that",
        explain(process).text()
    );
    error_of(Cause::Absent, text).of_loss(process)
}

/// The error of a call on a communicator that was revoked.
#[cold]
pub fn revoked() -> Error {
    explain(REVOKED)
}

/// The error of a wait for a message whose sender has lost a process.
#[cold]
pub(super) fn told(failed: Failed) -> Error {
    raise(failed.process);
    explained(failed.loss, failed.process)
}

/// What others are told of a lost process.
pub fn failed(process: u32) -> Failed {
    Failed {
        process: number_for_others(process),
        loss: loss_of(process),
    }
}

/// The number by which others are told of a lost process.
pub fn number_for_others(process: u32) -> u32 {
    match process {
        DIFFERENT | REVOKED => process,
        _ if names::is_foreign(process) => SOMEBODY,
        _ => process,
    }
}

/// What others are told of an error where there is room for one word: 0, or one more than the number of the lost process. `strangers`: some of
/// them are of another job, whose numbers are others.
pub fn in_a_word(error: &Error, strangers: bool) -> u32 {
    let number = error.lost().map(|process| match is_no_process(process) {
        false if strangers => SOMEBODY,
        _ => number_for_others(process),
    });
    number.map_or(0, |process| process + 1)
}

/// The error of a rank that was told [`in_a_word`] of another one's; `None`: no process is lost.
pub fn of_a_word(word: u32) -> Option<Error> {
    word.checked_sub(1).map(explain)
}

fn loss_of(process: u32) -> Option<Loss> {
    match process {
        DIFFERENT | REVOKED => None,
        _ => loss(process),
    }
}

fn raise(process: u32) {
    if !is_no_process(process) {
        events::raise(Event::PeerLost, || [process.into(), 0, 0, 0, 0]);
    }
}

/// Whether a process has left MPI_Finalize since it was found in there.
fn has_finalized(process: u32) -> bool {
    let known = table().filter(|table| table.has(process));
    known.is_some_and(|table| table.of(process).state() == State::Finalized)
}

fn explained(loss: Option<Loss>, process: u32) -> Error {
    if process == REVOKED {
        return error_of(Cause::Revoked, "the communicator was revoked").of_loss(process);
    }
    // A process that has left in good order has not failed, whatever became of it afterwards.
    let is_over = loss == Some(Loss::Finalizing) || process != DIFFERENT && has_finalized(process);
    if process == DIFFERENT {
        let text = "the ranks have called different collective operations, or with different amounts of data";
        return error_of(Cause::Different, text).of_loss(process);
    }
    let why = match loss {
        Some(Loss::NeverStarted) => "has ended without calling MPI_Init",
        Some(Loss::Exited) => "has ended",
        // Not to this one, which was told: the news of a death on another host is on its way.
        None if !is_over => "has ended, or is lost to another rank",
        Some(Loss::Unreachable) => "cannot be reached any more: the connection to it has broken",
        Some(Loss::Finalizing) | None => {
            "is in MPI_Finalize and takes no part in this; the ranks have called different functions, or named different groups, \
             ranks or tags"
        }
    };
    let who = match names::is_foreign(process) {
        _ if process == SOMEBODY => "a process of another job".to_owned(),
        false => format!("rank {process} of MPI_COMM_WORLD"),
        true => format!("rank {} of another job", names::of(process).rank),
    };
    let cause = match is_over {
        true => Cause::Lost(Some(Loss::Finalizing)),
        false => Cause::Lost(loss),
    };
    if class_of(cause) == Class::ProcFailed && process != SOMEBODY {
        failures::note(process);
    }
    error_of(cause, format!("{who} {why}")).of_loss(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_class() {
        let losses = [
            Loss::Finalizing,
            Loss::NeverStarted,
            Loss::Exited,
            Loss::Unreachable,
        ];
        for loss in losses.map(Some).into_iter().chain([None]) {
            let error = explained(loss, 3);
            let class = match loss {
                Some(Loss::Finalizing | Loss::Unreachable) => Class::Other,
                _ => Class::ProcFailed,
            };
            assert_eq!((error.class(), error.lost()), (class, Some(3)));
            let text = error.text();
            assert!(text.contains("rank 3 of MPI_COMM_WORLD"), "{loss:?}");
            assert!(class == Class::Other || failures::known().contains(&3));
        }
        for (process, class) in [
            (DIFFERENT, Class::Other),
            (SOMEBODY, Class::ProcFailed),
            (REVOKED, Class::Revoked),
        ] {
            let error = explain(process);
            assert_eq!((error.class(), error.lost()), (class, Some(process)));
            assert!(!failures::known().contains(&process));
        }
        let class = |cause| error_of(cause, "a text").class();
        assert_eq!(class(Cause::Holder), Class::ProcFailed);
        assert_eq!(class(Cause::MightSend), Class::ProcFailedPending);
        assert_eq!(class(Cause::Meeting), Class::Port);
        let error = absent(3);
        assert_eq!((error.class(), error.lost()), (Class::ProcFailed, Some(3)));
    }

    #[test]
    fn what_is_told_of_a_loss_gives_the_error_that_the_loser_has() {
        assert!(of_a_word(in_a_word(&Error::new(Class::Arg, "no loss"), false)).is_none());
        let known = of_a_word(in_a_word(&explain(3), true));
        assert_eq!(known.expect("a loss").lost(), Some(SOMEBODY));
        for process in [SOMEBODY, DIFFERENT, REVOKED] {
            let (own, other) = (explain(process), told(failed(process)));
            assert_eq!((own.class(), own.text()), (other.class(), other.text()));
            let told = of_a_word(in_a_word(&own, true)).expect("a loss");
            assert_eq!((own.text(), own.lost()), (told.text(), told.lost()));
        }
    }
}
