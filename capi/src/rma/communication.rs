//! One-sided communication.

use crate::param::*;
use crate::pointers::*;

stub! {
    CommIo fn MPI_Accumulate[_c](
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, op: Op, win: Win,
    ) on win;

    CommIo fn MPI_Compare_and_swap(
        origin_addr: SendBuffer, compare_addr: SendBuffer, result_addr: RecvBuffer,
        datatype: Datatype, target_rank: Rank, target_disp: Aint, win: Win,
    ) on win;

    CommIo fn MPI_Fetch_and_op(
        origin_addr: SendBuffer, result_addr: RecvBuffer, datatype: Datatype, target_rank: Rank,
        target_disp: Aint, op: Op, win: Win,
    ) on win;

    CommIo fn MPI_Get[_c](
        origin_addr: RecvBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, win: Win,
    ) on win;

    CommIo fn MPI_Get_accumulate[_c](
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype,
        result_addr: RecvBuffer, result_count: Count, result_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, op: Op, win: Win,
    ) on win;

    CommIo fn MPI_Put[_c](
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, win: Win,
    ) on win;

    CommIo fn MPI_Raccumulate[_c](
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, op: Op, win: Win,
        request: Out<Request>,
    ) on win;

    CommIo fn MPI_Rget[_c](
        origin_addr: RecvBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, win: Win,
        request: Out<Request>,
    ) on win;

    CommIo fn MPI_Rget_accumulate[_c](
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype,
        result_addr: RecvBuffer, result_count: Count, result_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, op: Op, win: Win,
        request: Out<Request>,
    ) on win;

    CommIo fn MPI_Rput[_c](
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, win: Win,
        request: Out<Request>,
    ) on win;
}
