//! Completion of requests: wait, test, free, cancel.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Wait(request: InOut<Request>, status: Out<Status>);

    fn MPI_Waitall(
        count: Int, array_of_requests: InOutArray<Request>, array_of_statuses: OutArray<Status>,
    );

    fn MPI_Waitany(
        count: Int, array_of_requests: InOutArray<Request>, indx: Out<Index>, status: Out<Status>,
    );

    fn MPI_Waitsome(
        incount: Int, array_of_requests: InOutArray<Request>, outcount: Out<Int>,
        array_of_indices: OutArray<Index>, array_of_statuses: OutArray<Status>,
    );

    fn MPI_Test(request: InOut<Request>, flag: Out<Logical>, status: Out<Status>);

    fn MPI_Testall(
        count: Int, array_of_requests: InOutArray<Request>, flag: Out<Logical>,
        array_of_statuses: OutArray<Status>,
    );

    fn MPI_Testany(
        count: Int, array_of_requests: InOutArray<Request>, indx: Out<Index>, flag: Out<Logical>,
        status: Out<Status>,
    );

    fn MPI_Testsome(
        incount: Int, array_of_requests: InOutArray<Request>, outcount: Out<Int>,
        array_of_indices: OutArray<Index>, array_of_statuses: OutArray<Status>,
    );

    fn MPI_Request_free(request: InOut<Request>);

    fn MPI_Request_get_status(request: Request, flag: Out<Logical>, status: Out<Status>);

    fn MPI_Request_get_status_all(
        count: Int, array_of_requests: Array<Request>, flag: Out<Logical>,
        array_of_statuses: OutArray<Status>,
    );

    fn MPI_Request_get_status_any(
        count: Int, array_of_requests: Array<Request>, indx: Out<Index>, flag: Out<Logical>,
        status: Out<Status>,
    );

    fn MPI_Request_get_status_some(
        incount: Int, array_of_requests: Array<Request>, outcount: Out<Int>,
        array_of_indices: OutArray<Index>, array_of_statuses: OutArray<Status>,
    );

    fn MPI_Cancel(request: InOut<Request>);
}
