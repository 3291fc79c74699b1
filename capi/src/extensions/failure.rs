//! Failure mitigation extensions.

use crate::param::*;
use crate::pointers::*;

stub! {
    AccessOnly fn MPIX_Comm_failure_ack(comm: Comm) on comm;

    AccessOnly fn MPIX_Comm_failure_get_acked(comm: Comm, failedgrp: Out<Group>) on comm;

    AccessOnly fn MPIX_Comm_get_failed(comm: Comm, failedgrp: Out<Group>) on comm;

    CommIo fn MPIX_Comm_revoke(comm: Comm) on comm;
}
