# Datasets written by all ranks through h5py's driver "mpio", and read by others, together and each for itself.
import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
name = sys.argv[1]
ROWS, COLUMNS = 4 * ranks + 3, 50


def expected(shape, seed):
    return (np.arange(np.prod(shape), dtype="i8") * 2654435761 + seed).reshape(shape)


def rows_of(which):
    return slice(ROWS * which // ranks, ROWS * (which + 1) // ranks)


assert h5py.get_config().mpi
grid = expected((ROWS, COLUMNS), 1)
with h5py.File(name, "w", driver="mpio", comm=comm) as file:
    file.attrs["ranks"] = ranks
    whole = file.create_dataset("rows", grid.shape, dtype="i8")
    chunked = file.create_dataset("group/columns", grid.shape, dtype="i8", chunks=(3, 7))
    reals = file.create_dataset("reals", (ranks, 1000), dtype="f8")
    whole[rows_of(rank)] = grid[rows_of(rank)]
    with chunked.collective:
        chunked[:, rank::ranks] = grid[:, rank::ranks]
    reals[rank] = np.linspace(rank, rank + 1, 1000)
    file.flush()
    comm.Barrier()
    other = (rank + 1) % ranks
    with whole.collective:
        assert (whole[:, other::ranks] == grid[:, other::ranks]).all()
    assert (chunked[rows_of(other)] == grid[rows_of(other)]).all()
    assert (reals[other] == np.linspace(other, other + 1, 1000)).all()

with h5py.File(name, "r+", driver="mpio", comm=comm) as file:
    file.atomic = True
    assert file.atomic and file.attrs["ranks"] == ranks
    assert (file["rows"][...] == grid).all()
    with file["group/columns"].collective:
        file["group/columns"][rows_of(rank)] = grid[rows_of(rank)] + 7

comm.Barrier()
if rank == 0:  # without MPI
    with h5py.File(name, "r") as file:
        assert (file["rows"][...] == grid).all()
        assert (file["group/columns"][...] == grid + 7).all()
        assert file["reals"].shape == (ranks, 1000)
comm.Barrier()
if rank == 0:
    print(f"{ranks} ranks, all elements are right")
