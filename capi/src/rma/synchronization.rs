//! Synchronization of one-sided communication.

use crate::constants::{MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::group;
use oxmpi::rma::epoch::{self, LockType as Kind};

#[inline(always)]
fn kind(lock_type: LockType) -> Result<Kind> {
    match lock_type.0 {
        MPI_LOCK_EXCLUSIVE => Ok(Kind::Exclusive),
        MPI_LOCK_SHARED => Ok(Kind::Shared),
        other => fail!(
            Class::Locktype,
            "lock_type is {other}; allowed is MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED"
        ),
    }
}

entry! {
    CommIo fn MPI_Win_complete(win: Win) on win {
        epoch::complete(decode::win(win)?)
    }
}

entry! {
    Collective fn MPI_Win_fence(assert: Assertion, win: Win) on win {
        epoch::fence(decode::win(win)?, assert.0)
    }
}

entry! {
    CommIo fn MPI_Win_flush(rank: Rank, win: Win) on win {
        let window = decode::win(win)?;
        epoch::flush(window, window.target("rank", rank.0)?)
    }
}

entry! {
    CommIo fn MPI_Win_flush_all(win: Win) on win {
        epoch::flush_all(decode::win(win)?)
    }
}

entry! {
    CommIo fn MPI_Win_flush_local(rank: Rank, win: Win) on win {
        let window = decode::win(win)?;
        epoch::flush_local(window, window.target("rank", rank.0)?)
    }
}

entry! {
    CommIo fn MPI_Win_flush_local_all(win: Win) on win {
        epoch::flush_local_all(decode::win(win)?)
    }
}

entry! {
    CommIo fn MPI_Win_lock(lock_type: LockType, rank: Rank, assert: Assertion, win: Win) on win {
        let window = decode::win(win)?;
        epoch::lock(window, kind(lock_type)?, window.target("rank", rank.0)?, assert.0)
    }
}

entry! {
    CommIo fn MPI_Win_lock_all(assert: Assertion, win: Win) on win {
        epoch::lock_all(decode::win(win)?, assert.0)
    }
}

entry! {
    CommIo fn MPI_Win_post(group: Group, assert: Assertion, win: Win) on win {
        epoch::post(decode::win(win)?, &*group::get(group.0)?, assert.0)
    }
}

entry! {
    CommIo fn MPI_Win_start(group: Group, assert: Assertion, win: Win) on win {
        epoch::start(decode::win(win)?, &*group::get(group.0)?, assert.0)
    }
}

entry! {
    CommIo fn MPI_Win_sync(win: Win) on win {
        epoch::sync(decode::win(win)?);
        Ok(())
    }
}

entry! {
    CommIo fn MPI_Win_test(win: Win, flag: Out<Logical>) on win {
        flag.not_null()?;
        flag.set(Logical(epoch::test(decode::win(win)?)?.into()))
    }
}

entry! {
    CommIo fn MPI_Win_unlock(rank: Rank, win: Win) on win {
        let window = decode::win(win)?;
        epoch::unlock(window, window.target("rank", rank.0)?)
    }
}

entry! {
    CommIo fn MPI_Win_unlock_all(win: Win) on win {
        epoch::unlock_all(decode::win(win)?)
    }
}

entry! {
    CommIo fn MPI_Win_wait(win: Win) on win {
        epoch::wait(decode::win(win)?)
    }
}
