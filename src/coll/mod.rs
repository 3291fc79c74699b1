//! Collective operations, written plainly over messages: the few that the first programs need.
//!
//! Every rank of the communicator calls the same operations in the same order, so one tag is enough: messages of one
//! pair on one context do not overtake each other.

mod lane;

use crate::comm::Comm;
use crate::datatype::Buffer;
use crate::error::Result;
pub use lane::{Lane, now};

/// Combines `left op right` into `right`; both hold the same number of packed bytes of whole elements.
pub type Combine<'a> = &'a (dyn Fn(&mut [u8], &mut [u8]) -> Result<()> + Sync);

/// MPI_Barrier.
pub fn barrier(comm: &Comm) -> Result<()> {
    barrier_of(comm, "MPI_Barrier")
}

/// A barrier in the name of another function.
pub fn barrier_of(comm: &Comm, function: &'static str) -> Result<()> {
    let own = Lane::new(comm, function);
    now(async {
        barrier_on(&own).await?;
        if !comm.is_inter() {
            return Ok(());
        }
        // All of this side are there; when the other side is too, its leader says so.
        if own.rank() == 0 {
            let (out, into) = (Buffer::empty(), Buffer::empty());
            Lane::across(comm, function)
                .exchange(out, 0, into, 0)
                .await?;
        }
        bcast_on(&own, Buffer::empty(), 0).await
    })
}

/// Dissemination: ceil(log2 n) rounds.
pub async fn barrier_on(lane: &Lane<'_>) -> Result<()> {
    let (rank, size) = (lane.rank(), lane.size());
    let mut distance = 1;
    while distance < size {
        lane.exchange(
            Buffer::empty(),
            (rank + distance) % size,
            Buffer::empty(),
            (rank + size - distance) % size,
        )
        .await?;
        distance *= 2;
    }
    Ok(())
}

/// MPI_Bcast.
pub fn bcast(buffer: Buffer, root: i32, comm: &Comm) -> Result<()> {
    now(bcast_on(&Lane::new(comm, "MPI_Bcast"), buffer, root))
}

/// Binomial tree: ceil(log2 n) steps.
pub async fn bcast_on(lane: &Lane<'_>, buffer: Buffer, root: i32) -> Result<()> {
    let size = lane.size();
    let relative = (lane.rank() - root + size) % size;
    let mut mask = 1;
    while mask < size {
        if relative & mask != 0 {
            lane.recv(buffer, (relative - mask + root) % size).await?;
            break;
        }
        mask <<= 1;
    }
    mask >>= 1;
    while mask > 0 {
        if relative + mask < size {
            lane.send(buffer, (relative + mask + root) % size).await?;
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
            Some(own) => now(lane.send(own, root)),
            None => Ok(()),
        };
    }
    for rank in 0..lane.size() {
        if rank != root {
            now(lane.recv(place(rank), rank))?;
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
        now(lane.exchange(
            place(out),
            (rank + 1) % size,
            place(into),
            (rank + size - 1) % size,
        ))?;
    }
    Ok(())
}

/// Allgather of a few bytes: ceil(log2 n) rounds (Bruck). `all` has a part of `bytes` bytes for each rank; this rank's
/// is filled.
pub async fn allgather_on(lane: &Lane<'_>, all: &mut Box<[u8]>, bytes: usize) -> Result<()> {
    let (rank, size) = (lane.rank() as usize, lane.size() as usize);
    // Part i of the working copy belongs to rank + i.
    let mut parts = vec![0; all.len()].into_boxed_slice();
    parts[..bytes].copy_from_slice(&all[rank * bytes..(rank + 1) * bytes]);
    let mut known = 1;
    while known < size {
        let more = known.min(size - known);
        let mut out = parts[..more * bytes].to_vec().into_boxed_slice();
        let mut into = vec![0; more * bytes].into_boxed_slice();
        lane.exchange(
            Buffer::of_copy(&mut out),
            ((rank + size - known) % size) as i32,
            Buffer::of_copy(&mut into),
            ((rank + known) % size) as i32,
        )
        .await?;
        parts[known * bytes..(known + more) * bytes].copy_from_slice(&into);
        known += more;
    }
    let split = (size - rank) * bytes;
    all[rank * bytes..].copy_from_slice(&parts[..split]);
    all[..rank * bytes].copy_from_slice(&parts[split..]);
    Ok(())
}

/// MPI_Allreduce over packed bytes: `data` holds this rank's contribution and then the result, the same on all ranks.
pub fn allreduce(data: &mut Box<[u8]>, combine: Combine<'_>, comm: &Comm) -> Result<()> {
    now(allreduce_on(
        &Lane::new(comm, "MPI_Allreduce"),
        data,
        combine,
    ))
}

/// A binomial reduction in rank order (right for operations that do not commute) and a broadcast.
pub async fn allreduce_on(
    lane: &Lane<'_>,
    data: &mut Box<[u8]>,
    combine: Combine<'_>,
) -> Result<()> {
    let (rank, size) = (lane.rank(), lane.size());
    let mut other = vec![0u8; data.len()].into_boxed_slice();
    let mut mask = 1;
    while mask < size {
        if rank & mask != 0 {
            lane.send(Buffer::of_copy(data), rank - mask).await?;
            break;
        }
        if rank + mask < size {
            lane.recv(Buffer::of_copy(&mut other), rank + mask).await?;
            combine(data, &mut other)?;
            std::mem::swap(data, &mut other);
        }
        mask <<= 1;
    }
    bcast_on(lane, Buffer::of_copy(data), 0).await
}
