//! Groups.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Group_compare(group1: Group, group2: Group, result: Out<Comparison>);

    fn MPI_Group_difference(group1: Group, group2: Group, newgroup: Out<Group>);

    fn MPI_Group_excl(group: Group, n: Int, ranks: Array<Rank>, newgroup: Out<Group>);

    fn MPI_Group_free(group: InOut<Group>);

    fn MPI_Group_incl(group: Group, n: Int, ranks: Array<Rank>, newgroup: Out<Group>);

    fn MPI_Group_intersection(group1: Group, group2: Group, newgroup: Out<Group>);

    fn MPI_Group_range_excl(group: Group, n: Int, ranges: LooseArray<Range>, newgroup: Out<Group>);

    fn MPI_Group_range_incl(group: Group, n: Int, ranges: LooseArray<Range>, newgroup: Out<Group>);

    fn MPI_Group_rank(group: Group, rank: Out<Rank>);

    fn MPI_Group_size(group: Group, size: Out<Int>);

    fn MPI_Group_translate_ranks(
        group1: Group, n: Int, ranks1: Array<Rank>, group2: Group, ranks2: OutArray<Rank>,
    );

    fn MPI_Group_union(group1: Group, group2: Group, newgroup: Out<Group>);
}
