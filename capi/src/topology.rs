//! Process topologies, chapter 8.

use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::info;
use oxmpi::os::hardware;

entry! {
    fn MPI_Dims_create(nnodes: Int, ndims: Int, dims: InOutArray<Int>) {
        let number = decode::length("ndims", ndims)?;
        let given = dims.elements(number)?;
        let mut sides: Vec<i32> = given.into_iter().map(|side| side.0).collect();
        oxmpi::constructors::dims::dims(nnodes.0, &mut sides)?;
        for (index, side) in sides.into_iter().enumerate() {
            dims.put(index, Int(side))?;
        }
        Ok(())
    }
}

stub! {
    fn MPI_Cart_coords(comm: Comm, rank: Rank, maxdims: Int, coords: OutArray<Int>) on comm;

    fn MPI_Cart_create(
        comm_old: Comm, ndims: Int, dims: Array<Int>, periods: Array<Logical>, reorder: Logical,
        comm_cart: Out<Comm>,
    ) on comm_old;

    fn MPI_Cart_get(
        comm: Comm, maxdims: Int, dims: OutArray<Int>, periods: OutArray<Logical>,
        coords: OutArray<Int>,
    ) on comm;

    fn MPI_Cart_map(
        comm: Comm, ndims: Int, dims: Array<Int>, periods: Array<Logical>, newrank: Out<Rank>,
    ) on comm;

    fn MPI_Cart_rank(comm: Comm, coords: Array<Int>, rank: Out<Rank>) on comm;

    fn MPI_Cart_shift(
        comm: Comm, direction: Index, disp: Int, rank_source: Out<Rank>, rank_dest: Out<Rank>,
    ) on comm;

    fn MPI_Cart_sub(comm: Comm, remain_dims: Array<Logical>, newcomm: Out<Comm>) on comm;

    fn MPI_Cartdim_get(comm: Comm, ndims: Out<Int>) on comm;

    fn MPI_Dist_graph_create(
        comm_old: Comm, n: Int, sources: Array<Rank>, degrees: Array<Int>,
        destinations: Array<Rank>, weights: Array<Weight>, info: Info, reorder: Logical,
        comm_dist_graph: Out<Comm>,
    ) on comm_old;

    fn MPI_Dist_graph_create_adjacent(
        comm_old: Comm, indegree: Int, sources: Array<Rank>, sourceweights: Array<Weight>,
        outdegree: Int, destinations: Array<Rank>, destweights: Array<Weight>, info: Info,
        reorder: Logical, comm_dist_graph: Out<Comm>,
    ) on comm_old;

    fn MPI_Dist_graph_neighbors(
        comm: Comm, maxindegree: Int, sources: OutArray<Rank>, sourceweights: OutArray<Weight>,
        maxoutdegree: Int, destinations: OutArray<Rank>, destweights: OutArray<Weight>,
    ) on comm;

    fn MPI_Dist_graph_neighbors_count(
        comm: Comm, indegree: Out<Int>, outdegree: Out<Int>, weighted: Out<Logical>,
    ) on comm;

    fn MPI_Graph_create(
        comm_old: Comm, nnodes: Int, indx: Array<Index>, edges: Array<Int>, reorder: Logical,
        comm_graph: Out<Comm>,
    ) on comm_old;

    fn MPI_Graph_get(
        comm: Comm, maxindex: Int, maxedges: Int, indx: OutArray<Index>, edges: OutArray<Int>,
    ) on comm;

    fn MPI_Graph_map(
        comm: Comm, nnodes: Int, indx: Array<Index>, edges: Array<Int>, newrank: Out<Int>,
    ) on comm;

    fn MPI_Graph_neighbors(
        comm: Comm, rank: Rank, maxneighbors: Int, neighbors: OutArray<Rank>,
    ) on comm;

    fn MPI_Graph_neighbors_count(comm: Comm, rank: Rank, nneighbors: Out<Int>) on comm;

    fn MPI_Graphdims_get(comm: Comm, nnodes: Out<Int>, nedges: Out<Int>) on comm;
}

entry! {
    /// No communicator has a topology yet.
    fn MPI_Topo_test(comm: Comm, status: Out<TopologyType>) on comm {
        decode::comm(comm)?;
        status.set(TopologyType(crate::constants::MPI_UNDEFINED))
    }
}

entry! {
    /// The kinds of resources, and of each whether the calling process is confined to one.
    fn MPI_Get_hw_resource_info(hw_info: Out<Info>) {
        hw_info.not_null()?;
        let mut entries = info::Info::new();
        for kind in hardware::Kind::ALL {
            let confined = hardware::confined_to(kind).is_some();
            entries.set(&format!("hwloc://{}", kind.name()), &confined.to_string())?;
        }
        hw_info.set(Info(info::create(entries)?))
    }
}
