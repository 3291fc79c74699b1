//! Collective operations, written plainly over messages: the few that the first programs need.
//!
//! Every rank of the communicator calls the same operations in the same order, so one tag is enough: messages of one
//! pair on one context do not overtake each other.

mod lane;

use crate::comm::Comm;
use crate::datatype::Buffer;
use crate::error::Result;
use lane::Lane;

/// Combines `left op right` into `right`; both hold the same number of packed bytes of whole elements.
pub type Combine<'a> = &'a dyn Fn(&mut [u8], &mut [u8]) -> Result<()>;

/// MPI_Barrier. Dissemination: ceil(log2 n) rounds.
pub fn barrier(comm: &Comm) -> Result<()> {
    barrier_of(comm, "MPI_Barrier")
}

/// A barrier in the name of another function.
pub fn barrier_of(comm: &Comm, function: &'static str) -> Result<()> {
    let lane = Lane::new(comm, function);
    let (rank, size) = (lane.rank(), lane.size());
    let mut distance = 1;
    while distance < size {
        lane.exchange(
            Buffer::empty(),
            (rank + distance) % size,
            Buffer::empty(),
            (rank + size - distance) % size,
        )?;
        distance *= 2;
    }
    Ok(())
}

/// MPI_Bcast. Binomial tree: ceil(log2 n) steps.
pub fn bcast(buffer: Buffer, root: i32, comm: &Comm) -> Result<()> {
    bcast_on(&Lane::new(comm, "MPI_Bcast"), buffer, root)
}

fn bcast_on(lane: &Lane<'_>, buffer: Buffer, root: i32) -> Result<()> {
    let size = lane.size();
    let relative = (lane.rank() - root + size) % size;
    let mut mask = 1;
    while mask < size {
        if relative & mask != 0 {
            lane.recv(buffer, (relative - mask + root) % size)?;
            break;
        }
        mask <<= 1;
    }
    mask >>= 1;
    while mask > 0 {
        if relative + mask < size {
            lane.send(buffer, (relative + mask + root) % size)?;
        }
        mask >>= 1;
    }
    Ok(())
}

/// MPI_Gather: `place(rank)` is where the root wants a rank's data (its own is there already or comes by `own`).
pub fn gather(
    own: Option<Buffer>,
    place: &dyn Fn(i32) -> Buffer,
    root: i32,
    comm: &Comm,
) -> Result<()> {
    let lane = Lane::new(comm, "MPI_Gather");
    if lane.rank() != root {
        return match own {
            Some(own) => lane.send(own, root),
            None => Ok(()),
        };
    }
    for rank in 0..lane.size() {
        if rank != root {
            lane.recv(place(rank), rank)?;
        } else if let Some(own) = own {
            let into = place(rank);
            own.copy_to(&into, own.len().min(into.len()));
        }
    }
    Ok(())
}

/// MPI_Allgather. Ring: n - 1 steps. `place(rank)` is where a rank's data goes; `own` as in [`gather`].
pub fn allgather(own: Option<Buffer>, place: &dyn Fn(i32) -> Buffer, comm: &Comm) -> Result<()> {
    let lane = Lane::new(comm, "MPI_Allgather");
    let (rank, size) = (lane.rank(), lane.size());
    if let Some(own) = own {
        let into = place(rank);
        own.copy_to(&into, own.len().min(into.len()));
    }
    for step in 0..size - 1 {
        let (out, into) = ((rank - step + size) % size, (rank - step - 1 + size) % size);
        lane.exchange(
            place(out),
            (rank + 1) % size,
            place(into),
            (rank + size - 1) % size,
        )?;
    }
    Ok(())
}

/// MPI_Allreduce over packed bytes: `data` holds this rank's contribution and then the result, the same on all ranks.
///
/// A binomial reduction in rank order (right for operations that do not commute) and a broadcast.
pub fn allreduce(data: &mut Box<[u8]>, combine: Combine<'_>, comm: &Comm) -> Result<()> {
    allreduce_of(data, combine, comm, "MPI_Allreduce")
}

/// As [`allreduce`], in the name of another function.
pub fn allreduce_of(
    data: &mut Box<[u8]>,
    combine: Combine<'_>,
    comm: &Comm,
    function: &'static str,
) -> Result<()> {
    let lane = Lane::new(comm, function);
    let (rank, size) = (lane.rank(), lane.size());
    let mut other = vec![0u8; data.len()].into_boxed_slice();
    let mut mask = 1;
    while mask < size {
        if rank & mask != 0 {
            lane.send(Buffer::of_copy(data), rank - mask)?;
            break;
        }
        if rank + mask < size {
            lane.recv(Buffer::of_copy(&mut other), rank + mask)?;
            combine(data, &mut other)?;
            std::mem::swap(data, &mut other);
        }
        mask <<= 1;
    }
    bcast_on(&lane, Buffer::of_copy(data), 0)
}
