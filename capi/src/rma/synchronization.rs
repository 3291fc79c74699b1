//! Synchronization of one-sided communication.

use crate::param::*;
use crate::pointers::*;

stub! {
    CommIo fn MPI_Win_complete(win: Win) on win;

    Collective fn MPI_Win_fence(assert: Assertion, win: Win) on win;

    CommIo fn MPI_Win_flush(rank: Rank, win: Win) on win;

    CommIo fn MPI_Win_flush_all(win: Win) on win;

    CommIo fn MPI_Win_flush_local(rank: Rank, win: Win) on win;

    CommIo fn MPI_Win_flush_local_all(win: Win) on win;

    CommIo fn MPI_Win_lock(lock_type: LockType, rank: Rank, assert: Assertion, win: Win) on win;

    CommIo fn MPI_Win_lock_all(assert: Assertion, win: Win) on win;

    CommIo fn MPI_Win_post(group: Group, assert: Assertion, win: Win) on win;

    CommIo fn MPI_Win_start(group: Group, assert: Assertion, win: Win) on win;

    CommIo fn MPI_Win_sync(win: Win) on win;

    CommIo fn MPI_Win_test(win: Win, flag: Out<Logical>) on win;

    CommIo fn MPI_Win_unlock(rank: Rank, win: Win) on win;

    CommIo fn MPI_Win_unlock_all(win: Win) on win;

    CommIo fn MPI_Win_wait(win: Win) on win;
}
