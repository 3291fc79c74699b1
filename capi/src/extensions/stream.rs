//! Streams, threadcomms, enqueued operations and asynchronous tasks of MPICH.

use crate::param::*;
use crate::pointers::*;

stub! {
    Collective fn MPIX_Allreduce_enqueue[_c](
        sendbuf: SendBuffer, recvbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
        comm: Comm,
    ) on comm;

    Own fn MPIX_Async_spawn(
        async_thing: AsyncThing, poll_fn: AsyncPollFunction, extra_state: ExtraState,
        stream: Stream,
    );

    Own fn MPIX_Async_start(poll_fn: AsyncPollFunction, extra_state: ExtraState, stream: Stream);

    AccessOnly fn MPIX_Comm_get_stream(comm: Comm, idx: Int, stream: Out<Stream>) on comm;

    AccessOnly fn MPIX_Comm_test_threadcomm(comm: Comm, flag: InOut<Logical>) on comm;

    CommIo fn MPIX_Irecv_enqueue[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    CommIo fn MPIX_Isend_enqueue[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        request: Out<Request>,
    ) on comm;

    CommIo fn MPIX_Recv_enqueue[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        status: Out<Status>,
    ) on comm;

    CommIo fn MPIX_Send_enqueue[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
    ) on comm;

    Own fn MPIX_Start_progress_thread(stream: Stream);

    Own fn MPIX_Stop_progress_thread(stream: Stream);

    Collective fn MPIX_Stream_comm_create(comm: Comm, stream: Stream, newcomm: Out<Comm>) on comm;

    Collective fn MPIX_Stream_comm_create_multiplex(
        comm: Comm, count: Int, array_of_streams: LooseArray<Stream>, newcomm: Out<Comm>,
    ) on comm;

    Allocate fn MPIX_Stream_create(info: Info, stream: Out<Stream>);

    UpdateRef fn MPIX_Stream_free(stream: InOut<Stream>);

    CommIo fn MPIX_Stream_irecv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        source_stream_index: Int, dest_stream_index: Int, request: Out<Request>,
    ) on comm;

    CommIo fn MPIX_Stream_isend[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        source_stream_index: Int, dest_stream_index: Int, request: Out<Request>,
    ) on comm;

    CommIo fn MPIX_Stream_progress(stream: Stream);

    CommIo fn MPIX_Stream_recv[_c](
        buf: RecvBuffer, count: Count, datatype: Datatype, source: Rank, tag: Tag, comm: Comm,
        source_stream_index: Int, dest_stream_index: Int, status: Out<Status>,
    ) on comm;

    CommIo fn MPIX_Stream_send[_c](
        buf: SendBuffer, count: Count, datatype: Datatype, dest: Rank, tag: Tag, comm: Comm,
        source_stream_index: Int, dest_stream_index: Int,
    ) on comm;

    Collective fn MPIX_Threadcomm_finish(threadcomm: Comm) on threadcomm;

    Collective fn MPIX_Threadcomm_free(threadcomm: InOut<Comm>) on threadcomm;

    Collective fn MPIX_Threadcomm_init(comm: Comm, num_threads: Int, newthreadcomm: Out<Comm>) on comm;

    Collective fn MPIX_Threadcomm_start(threadcomm: Comm) on threadcomm;

    CommIo fn MPIX_Wait_enqueue(request: InOut<Request>, status: Out<Status>);

    CommIo fn MPIX_Waitall_enqueue(
        count: Int, array_of_requests: InOutArray<Request>, array_of_statuses: OutArray<Status>,
    );
}
