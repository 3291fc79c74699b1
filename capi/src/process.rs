//! Initialization and finalization, chapter 11.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Abort(comm: Comm, errorcode: ErrorCode) on comm;

    fn MPI_Finalize();

    fn MPI_Finalized(flag: Out<Logical>);

    fn MPI_Init(argc: InOut<Int>, argv: InOut<TextArray>);

    fn MPI_Init_thread(
        argc: InOut<Int>, argv: InOut<TextArray>, required: ThreadLevel, provided: Out<ThreadLevel>,
    );

    fn MPI_Initialized(flag: Out<Logical>);

    fn MPI_Is_thread_main(flag: Out<Logical>);

    fn MPI_Query_thread(provided: Out<ThreadLevel>);
}
