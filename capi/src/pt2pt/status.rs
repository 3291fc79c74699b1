//! What a status says.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Status_get_error(status: In<Status>, error: Out<ErrorCode>);

    fn MPI_Status_get_source(status: In<Status>, source: Out<Rank>);

    fn MPI_Status_get_tag(status: In<Status>, tag: Out<Tag>);

    fn MPI_Status_set_error(status: InOut<Status>, error: ErrorCode);

    fn MPI_Status_set_source(status: InOut<Status>, source: Rank);

    fn MPI_Status_set_tag(status: InOut<Status>, tag: Tag);

    fn MPI_Get_count[_c](status: In<Status>, datatype: Datatype, count: Out<Count>);

    fn MPI_Test_cancelled(status: In<Status>, flag: Out<Logical>);
}
