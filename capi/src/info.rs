//! Info objects.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Info_create(info: Out<Info>);

    fn MPI_Info_create_env(argc: Int, argv: TextArray, info: Out<Info>);

    fn MPI_Info_delete(info: Info, key: Text);

    fn MPI_Info_dup(info: Info, newinfo: Out<Info>);

    fn MPI_Info_free(info: InOut<Info>);

    fn MPI_Info_get_nkeys(info: Info, nkeys: Out<Int>);

    fn MPI_Info_get_nthkey(info: Info, n: Int, key: TextOut);

    fn MPI_Info_get_string(
        info: Info, key: Text, buflen: InOut<Int>, value: TextOut, flag: Out<Logical>,
    );

    fn MPI_Info_set(info: Info, key: Text, value: Text);
}
