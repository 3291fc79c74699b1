//! The end of communicators: the handle dies at once, the id and the object when nothing uses them any more.
//!
//! Invariant: an id is given back only when no request of this process can meet a message with it (see the collector).

use super::collector::{self, Freed, When};
use crate::comm::{self, Comm};
use crate::connections;
use crate::engine::epochs::GracePeriod;
use crate::engine::matching::{ANY_SOURCE, ANY_TAG};
use crate::engine::waits::{Kind, Wait, Whom};
use crate::engine::{self, wait};
use crate::events::Event;
use crate::group::names;
use crate::references;

/// MPI_Comm_free, after its attributes are gone.
pub fn free(comm: &Comm) {
    end(comm, When::Soon, false);
}

/// As [`free`], inside of a task, which may be inside of a call.
pub fn free_in_task(comm: &Comm) {
    end(comm, When::Later, true);
}

/// `disconnects`: processes of other jobs are not connected by it any more.
fn end(comm: &Comm, when: When, disconnects: bool) {
    let freed = Freed {
        handle: comm.handle,
        born: comm.born,
        grace: GracePeriod::of_communicator(comm.born),
    };
    if !comm::retire(comm.handle) {
        return;
    }
    comm.tell(Event::CommunicatorFreed);
    comm.leave_staging();
    if references::are_counted()
        && let Some(references) = references::of_communicator(comm.handle)
    {
        references.give();
    }
    let foreign = foreign_of(comm);
    collector::add(freed, when);
    if !foreign.is_empty() {
        connections::release(foreign.iter().copied(), disconnects);
    }
}

/// The processes of other jobs in a communicator.
fn foreign_of(comm: &Comm) -> Vec<u32> {
    match comm.has_foreign() {
        true => comm
            .processes()
            .filter(|it| names::is_foreign(*it))
            .collect(),
        false => Vec::new(),
    }
}

/// MPI_Comm_disconnect: as free, once all that was begun on the communicator is done.
pub fn disconnect(comm: &Comm) {
    let handle = comm.handle;
    let engines = engine::in_use();
    let what = &|named: bool| comm.wait(Kind::Finalize, ANY_SOURCE, ANY_TAG, named);
    let reason = wait::Reason {
        function: "MPI_Comm_disconnect",
        what,
    };
    wait::until_in(engines, &reason, |cursor| {
        let pends = |request: &crate::engine::requests::Request| {
            request.owner == handle && request.is_active()
        };
        let mut done = comm.is_idle();
        for number in engine::numbers(engines) {
            let engine = cursor.at(number);
            if engine.checks_liveness() {
                engine.give_up_sends();
            }
            done = done && !engine.requests().in_use().any(pends);
        }
        done.then_some(())
    });
    let foreign = foreign_of(comm);
    end(comm, When::Soon, true);
    if !foreign.is_empty() {
        let what = &|_: bool| Wait::of(Kind::Finalize, Whom::of(foreign.iter().copied()));
        wait::until(&wait::Reason { what, ..reason }, |engine| {
            connections::have_parted(engine, &foreign).then_some(())
        });
        connections::end_unused();
    }
}
