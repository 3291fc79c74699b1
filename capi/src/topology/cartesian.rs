//! Grids: MPI_Cart_create and all that asks about them.

use super::{give, ints, kept, other_topology, room};
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm::Comm as CommObject;
use oxmpi::constructors::with_topology as constructors;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::pt2pt::PROC_NULL;
use oxmpi::topology::{Cartesian, Topology};
use std::ffi::c_int;

fn cartesian(comm: &CommObject) -> Result<&Cartesian> {
    match comm.topology().map(|topology| &**topology) {
        Some(Topology::Cartesian(grid)) => Ok(grid),
        _ => other_topology(comm, "a Cartesian one"),
    }
}

fn truths(array: Array<Logical>, length: usize) -> Result<Vec<bool>> {
    let elements = array.elements(length)?;
    Ok(elements.into_iter().map(|truth| truth.0 != 0).collect())
}

fn grid_of(
    ndims: Int,
    dims: Array<Int>,
    periods: Array<Logical>,
    comm: &CommObject,
) -> Result<Cartesian> {
    let number = decode::length("ndims", ndims)?;
    let sides = ints!(dims, number)?;
    Cartesian::new(sides, truths(periods, number)?, comm.size())
}

entry! {
    Own fn MPI_Cart_create(
        comm_old: Comm, ndims: Int, dims: Array<Int>, periods: Array<Logical>, reorder: Logical,
        comm_cart: Out<Comm>,
    ) on comm_old {
        let comm = decode::intracomm("comm_old", comm_old)?;
        let grid = comm_cart.not_null().and_then(|()| grid_of(ndims, dims, periods, comm));
        give(comm.handle, comm_cart, constructors::cart_create(comm, grid, reorder.0 != 0)?)
    }
}

entry! {
    Own fn MPI_Cart_sub(comm: Comm, remain_dims: Array<Logical>, newcomm: Out<Comm>) on comm {
        let comm = decode::comm(comm)?;
        let grid = cartesian(comm)?;
        let keep = newcomm.not_null().and_then(|()| truths(remain_dims, grid.dimensions()));
        give(comm.handle, newcomm, constructors::cart_sub(comm, grid, keep)?)
    }
}

entry! {
    AccessOnly fn MPI_Cartdim_get(comm: Comm, ndims: Out<Int>) on comm {
        ndims.set(Int(cartesian(decode::any_comm(comm)?)?.dimensions() as c_int))
    }
}

entry! {
    /// Fills as many places as there are.
    AccessOnly fn MPI_Cart_get(
        comm: Comm, maxdims: Int, dims: OutArray<Int>, periods: OutArray<Logical>,
        coords: OutArray<Int>,
    ) on comm {
        let comm = decode::any_comm(comm)?;
        let grid = cartesian(comm)?;
        room("maxdims", maxdims, grid.dimensions())?;
        let here = grid.coordinates(comm.rank());
        for (index, coordinate) in here.into_iter().enumerate() {
            dims.put(index, Int(grid.sides()[index]))?;
            periods.put(index, Logical(grid.periodic()[index].into()))?;
            coords.put(index, Int(coordinate))?;
        }
        Ok(())
    }
}

entry! {
    AccessOnly fn MPI_Cart_rank(comm: Comm, coords: Array<Int>, rank: Out<Rank>) on comm {
        let grid = cartesian(decode::any_comm(comm)?)?;
        rank.set(Rank(grid.rank_at(&ints!(coords, grid.dimensions())?)?))
    }
}

entry! {
    AccessOnly fn MPI_Cart_coords(comm: Comm, rank: Rank, maxdims: Int, coords: OutArray<Int>) on comm {
        let comm = decode::any_comm(comm)?;
        let grid = cartesian(comm)?;
        let rank = decode::rank_below("rank", rank, comm.size())?;
        room("maxdims", maxdims, grid.dimensions())?;
        for (index, coordinate) in grid.coordinates(rank).into_iter().enumerate() {
            coords.put(index, Int(coordinate))?;
        }
        Ok(())
    }
}

entry! {
    AccessOnly fn MPI_Cart_shift(
        comm: Comm, direction: Index, disp: Int, rank_source: Out<Rank>, rank_dest: Out<Rank>,
    ) on comm {
        let comm = decode::any_comm(comm)?;
        let grid = cartesian(comm)?;
        rank_source.not_null()?;
        rank_dest.not_null()?;
        let dimension = match usize::try_from(direction.0) {
            Ok(dimension) if dimension < grid.dimensions() => dimension,
            _ => return fail!(
                Class::Dims,
                "direction is {}; the grid has {} dimensions",
                direction.0,
                grid.dimensions()
            ),
        };
        let at = |displacement: i64| {
            let found = grid.at_distance(comm.rank(), dimension, displacement);
            Rank(found.unwrap_or(PROC_NULL))
        };
        rank_source.set(at(-i64::from(disp.0)))?;
        rank_dest.set(at(disp.0.into()))
    }
}

entry! {
    /// The ranks as they are; MPI_Cart_create may know better, because all processes talk there.
    AccessOnly fn MPI_Cart_map(
        comm: Comm, ndims: Int, dims: Array<Int>, periods: Array<Logical>, newrank: Out<Rank>,
    ) on comm {
        let comm = decode::intracomm("comm", comm)?;
        let grid = grid_of(ndims, dims, periods, comm)?;
        newrank.set(Rank(kept(comm, grid.size())))
    }
}
