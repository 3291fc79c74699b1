//! Failed processes of a communicator: which there are, and what the program has acknowledged (`docs/failures.md`).

use crate::comm::give_group;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::group::Group as GroupObject;
use oxmpi::process::survival;
use std::sync::Arc;

/// The communicator, in a program that wants to go on when processes die.
pub fn comm_of_survivor(comm: Comm) -> Result<&'static CommObject> {
    let comm = decode::any_comm(comm)?;
    survival::survive();
    Ok(comm)
}

/// The group of the first `count` failed processes.
fn give_failed(comm: Comm, count: impl Fn(&CommObject) -> usize, group: Out<Group>) -> Result<()> {
    group.not_null()?;
    let object = comm_of_survivor(comm)?;
    let mut failed = object.failed();
    failed.truncate(count(object));
    give_group(comm, Arc::new(GroupObject::new(failed)), group)
}

entry! {
    UpdateRef fn MPIX_Comm_get_failed(comm: Comm, failedgrp: Out<Group>) on comm {
        give_failed(comm, |_| usize::MAX, failedgrp)
    }
}

entry! {
    AccessOnly fn MPIX_Comm_ack_failed(comm: Comm, num_to_ack: Int, num_acked: Out<Int>) on comm {
        num_acked.not_null()?;
        let comm = comm_of_survivor(comm)?;
        let Ok(count) = usize::try_from(num_to_ack.0) else {
            return fail!(Class::Arg, "num_to_ack is {}; it must not be negative", num_to_ack.0);
        };
        num_acked.set(Int(comm.acknowledge(count) as i32))
    }
}

entry! {
    AccessOnly fn MPIX_Comm_failure_ack(comm: Comm) on comm {
        comm_of_survivor(comm)?.acknowledge(usize::MAX);
        Ok(())
    }
}

entry! {
    UpdateRef fn MPIX_Comm_failure_get_acked(comm: Comm, failedgrp: Out<Group>) on comm {
        give_failed(comm, CommObject::acknowledged, failedgrp)
    }
}

entry! {
    AccessOnly fn MPIX_Comm_is_revoked(comm: Comm, flag: Out<Logical>) on comm {
        flag.not_null()?;
        flag.put_bool(comm_of_survivor(comm)?.is_found_revoked())
    }
}

entry! {
    /// Not collective, and all members learn of it.
    CommIo fn MPIX_Comm_revoke(comm: Comm) on comm {
        comm_of_survivor(comm)?.revoke();
        Ok(())
    }
}
