//! Generalized requests and the statuses they fill: external interfaces, chapter 13.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Grequest_complete(request: Request);

    fn MPI_Grequest_start(
        query_fn: GrequestQueryFunction, free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction, extra_state: ExtraState, request: Out<Request>,
    );

    fn MPI_Status_set_cancelled(status: InOut<Status>, flag: Logical);

    fn MPI_Status_set_elements[_c](status: InOut<Status>, datatype: Datatype, count: Count);
}
