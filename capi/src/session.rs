//! Sessions.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Session_finalize(session: InOut<Session>) on session;

    fn MPI_Session_get_info(session: Session, info_used: Out<Info>) on session;

    fn MPI_Session_get_nth_pset(
        session: Session, info: Info, n: Index, pset_len: InOut<Int>, pset_name: TextOut,
    ) on session;

    fn MPI_Session_get_num_psets(session: Session, info: Info, npset_names: Out<Int>) on session;

    fn MPI_Session_get_pset_info(session: Session, pset_name: Text, info: Out<Info>) on session;

    fn MPI_Session_init(info: Info, errhandler: Errhandler, session: Out<Session>);

    fn MPI_Group_from_session_pset(
        session: Session, pset_name: Text, newgroup: Out<Group>,
    ) on session;
}
