//! Generalized requests and the statuses they fill: external interfaces, chapter 13.

use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::error::Class;
use oxmpi::fail;

entry! {
    None fn MPI_Status_set_cancelled(status: InOut<Status>, flag: Logical) {
        let mut words = status.read()?;
        words.0.set_cancelled(flag.0 != 0);
        status.set(words)
    }
}

entry! {
    AccessOnly fn MPI_Status_set_elements[_c](status: InOut<Status>, datatype: Datatype, count: Count) {
        let elements = decode::count("count", count)?;
        let datatype = decode::datatype(datatype)?;
        let mut words = status.read()?;
        if words.0.set_elements(datatype, elements).is_none() {
            return fail!(Class::Count, "count is {elements}, too much for a status");
        }
        status.set(words)
    }
}

stub! {
    CommIo fn MPI_Grequest_complete(request: Request);

    Allocate fn MPI_Grequest_start(
        query_fn: GrequestQueryFunction, free_fn: GrequestFreeFunction,
        cancel_fn: GrequestCancelFunction, extra_state: ExtraState, request: Out<Request>,
    );
}
