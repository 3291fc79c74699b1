//! Agreement in spite of failures, and communicators of those who live (`docs/agreement.md`).

use crate::comm::{give, give_group};
use crate::extensions::failure::comm_of_survivor;
use crate::param::*;
use crate::pointers::*;
use oxmpi::agree::{self, Agreed, Marked, Turn};
use oxmpi::coll::block_on;
use oxmpi::comm::{self as communicator, Comm as CommObject};
use oxmpi::constructors::shrink;
use oxmpi::error::Result;
use oxmpi::group::Group as Members;
use std::sync::Arc;

/// A result that a task writes: the program keeps it until the request is complete.
struct Later<T>(T);

// SAFETY: a pointer of the program's, which it does not use until the request is complete; one task writes there.
unsafe impl<T> Send for Later<T> {}

impl<T: Copy> Later<T> {
    fn get(&self) -> T {
        self.0
    }
}

/// The failures that this process has acknowledged.
fn acknowledged(comm: &CommObject) -> Vec<u32> {
    match comm.acknowledged() {
        0 => Vec::new(),
        count => comm.failed().into_iter().take(count).collect(),
    }
}

/// The flag of a process with a wrong argument, which takes part so that no other one waits, changes nothing.
fn flag_of(flag: &InOut<Int>) -> Result<u32> {
    flag.read().map(|flag| flag.0 as u32)
}

/// What each process gets, also with the error that one took no part.
fn tell(agreed: &Agreed, flag: InOut<Int>) -> Result<()> {
    flag.set(Int(agreed.flag as i32))?;
    agreed.verdict()
}

entry! {
    Collective fn MPIX_Comm_agree(comm: Comm, flag: InOut<Int>) on comm {
        let comm = comm_of_survivor(comm)?;
        let own = flag_of(&flag);
        let turn = Turn::next(comm, "MPIX_Comm_agree")?;
        let acknowledged = acknowledged(comm);
        let acknowledged = turn.marked(|process| acknowledged.contains(&process));
        let agreed = block_on(turn.agree(*own.as_ref().unwrap_or(&u32::MAX), &acknowledged));
        own?;
        tell(&agreed, flag)
    }
}

entry! {
    Collective fn MPIX_Comm_iagree(comm: Comm, flag: InOut<Int>, request: Out<Request>) on comm {
        let comm = comm_of_survivor(comm)?;
        let own = flag_of(&flag);
        let turn = Turn::next(comm, "MPIX_Comm_iagree")?.in_task();
        let acknowledged = acknowledged(comm);
        let acknowledged = turn.marked(|process| acknowledged.contains(&process));
        let (bits, place) = (*own.as_ref().unwrap_or(&u32::MAX), Later(flag));
        let is_right = own.is_ok() && request.not_null().is_ok();
        let pending = agree::begin(comm, async move {
            let agreed = turn.agree(bits, &acknowledged).await;
            match is_right {
                true => tell(&agreed, place.get()),
                false => Ok(()),
            }
        })?;
        start(pending, own.map(|_| ()), request)
    }
}

/// The failures that this process knows of.
fn known(comm: &CommObject, turn: &Turn) -> Marked {
    let known = comm.failed();
    turn.marked(|process| known.contains(&process))
}

/// The group of those who took no part, or whose failure one who did knew of.
fn give_agreed(comm: &CommObject, agreed: &Agreed, failedgrp: Out<Group>) -> Result<()> {
    let has_failed =
        |process: &u32| agreed.absent.contains(process) || agreed.marked.contains(process);
    let remote = comm.remote().map(|remote| remote.group().members());
    let members = comm.members().group().members().into_iter();
    let failed = members.chain(remote.unwrap_or_default()).filter(has_failed);
    give_group(
        Comm(comm.handle),
        Arc::new(failed.collect::<Members>()),
        failedgrp,
    )
}

entry! {
    Collective fn MPIX_Comm_agree_failed(comm: Comm, failedgrp: Out<Group>) on comm {
        let comm = comm_of_survivor(comm)?;
        let turn = Turn::next(comm, "MPIX_Comm_agree_failed")?;
        let agreed = block_on(turn.agree(u32::MAX, &known(comm, &turn)));
        failedgrp.not_null()?;
        give_agreed(comm, &agreed, failedgrp)
    }
}

entry! {
    Collective fn MPIX_Comm_iagree_failed(comm: Comm, failedgrp: Out<Group>, request: Out<Request>) on comm {
        let comm = comm_of_survivor(comm)?;
        let turn = Turn::next(comm, "MPIX_Comm_iagree_failed")?.in_task();
        let right = failedgrp.not_null().and_then(|()| request.not_null());
        let (known, place, is_right) = (known(comm, &turn), Later(failedgrp), right.is_ok());
        let pending = agree::begin(comm, async move {
            let agreed = turn.agree(u32::MAX, &known).await;
            match is_right {
                true => give_agreed(comm, &agreed, place.get()),
                false => Ok(()),
            }
        })?;
        start(pending, right, request)
    }
}

/// Gives the request out, or the error of a wrong argument; then it ends by itself.
fn start(pending: i32, right: Result<()>, request: Out<Request>) -> Result<()> {
    let right = right.and_then(|()| request.not_null());
    if right.is_err() {
        oxmpi::pt2pt::complete::abandon(pending);
    }
    right?;
    request.set(Request(pending))
}

fn give_shrunken(from: i32, newcomm: Out<Comm>, new: Result<&'static CommObject>) -> Result<()> {
    match new {
        Ok(new) => give(from, newcomm, Some(new)),
        Err(error) => {
            if newcomm.not_null().is_ok() {
                newcomm.set(Comm(communicator::NULL))?;
            }
            Err(error)
        }
    }
}

entry! {
    Collective fn MPIX_Comm_shrink(comm: Comm, newcomm: Out<Comm>) on comm {
        let comm = comm_of_survivor(comm)?;
        let turn = Turn::next(comm, "MPIX_Comm_shrink")?;
        let new = block_on(shrink::shrink(turn, newcomm.not_null()));
        give_shrunken(comm.handle, newcomm, new)
    }
}

entry! {
    Collective fn MPIX_Comm_ishrink(comm: Comm, newcomm: Out<Comm>, request: Out<Request>) on comm {
        let comm = comm_of_survivor(comm)?;
        let turn = Turn::next(comm, "MPIX_Comm_ishrink")?.in_task();
        let right = newcomm.not_null().and_then(|()| request.not_null());
        let (handle, place) = (comm.handle, Later(newcomm));
        let is_wrong = right.as_ref().err().map(|error| error.class());
        let pending = agree::begin(comm, async move {
            let wrong = is_wrong.map_or(Ok(()), |class| oxmpi::fail!(class, "a wrong argument"));
            let new = shrink::shrink(turn, wrong).await;
            give_shrunken(handle, place.get(), new)
        })?;
        start(pending, right, request)
    }
}
