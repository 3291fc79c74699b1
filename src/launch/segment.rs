//! Where the shared segment of a node comes from. Under our mpiexec it is inherited. Under another launcher the lowest
//! rank of the node makes it and hands it to the others: by SCM_RIGHTS over an abstract socket whose name went through
//! the key-value store, else by /proc/PID/fd, else as a file that is unlinked as soon as all have opened it.
//!
//! Invariant: nothing with a name is left in a file system when `of_node` returns.

use super::client::Client;
use super::environment::Ours;
use super::{SegmentPlan, no_segment};
use crate::error::{Class, Error, Result};
use crate::os::process::{identity, inherited, open_of};
use crate::os::{memory, monotonic_nanoseconds, threads};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind,
    connect, listen, recvmsg, sendmsg, socket_with,
};
use rustix::process::geteuid;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::time::Duration;

/// Makes the segment for so many ranks: a memfd, or where there is none an unlinked file in TMPDIR. Closed at exec.
///
/// Errors: out of memory, or neither is possible.
pub fn create(plan: &SegmentPlan<'_>, ranks: usize) -> io::Result<OwnedFd> {
    match memory::create("oxmpi", (plan.bytes)(ranks), false) {
        Ok(fd) => {
            (plan.initialise)(fd.as_fd(), ranks)?;
            Ok(fd)
        }
        Err(refused) => {
            let (path, file) = create_file(plan, ranks).map_err(|_| refused)?;
            std::fs::remove_file(path)?;
            Ok(file.into())
        }
    }
}

/// The segment our mpiexec made: inherited, or if a program between has closed it, from the supervisor.
pub fn of_mpiexec(ours: &Ours) -> Result<OwnedFd> {
    if identity(ours.segment).map(|(inode, _)| inode) == Some(ours.segment_inode)
        && let Some(fd) = inherited(ours.segment)
    {
        return Ok(fd);
    }
    open_of(ours.supervisor, ours.segment, ours.segment_inode).ok_or_else(|| {
        Error::new(
            Class::Other,
            format!(
                "rank {} cannot reach its job's shared memory: descriptor {} was closed between mpiexec and this \
                 program, and that of process {} cannot be opened (is this a child of a job that has ended? \
                 OXMPI_SINGLETON=1 runs it alone)",
                ours.rank, ours.segment, ours.supervisor,
            ),
        )
    })
}

/// A descriptor of mpiexec's, of which it has told number and inode: inherited, or if a program between has closed it, from the process that keeps it.
pub fn descriptor(given: &str, keeper: Option<i32>) -> Option<OwnedFd> {
    let (fd, inode) = given.split_once(' ')?;
    let (fd, inode) = (fd.parse().ok()?, inode.parse().ok()?);
    let own = identity(fd).is_some_and(|(it, _)| it == inode);
    let own = own.then(|| inherited(fd)).flatten();
    own.or_else(|| open_of(keeper?, fd, inode))
}

/// The memory for timelines.
pub fn of_timeline(given: &str, keeper: Option<i32>) -> Result<OwnedFd> {
    descriptor(given, keeper).ok_or_else(|| {
        Error::new(
            Class::Other,
            format!("the memory for the timeline ({given}) cannot be reached: a program between mpiexec and this one has closed it"),
        )
    })
}

/// The segment of this node under another launcher. Collective over the job.
pub fn of_node(
    client: &mut Client,
    (rank, size): (u32, u32),
    local_ranks: &[u32],
    plan: &SegmentPlan<'_>,
) -> Result<OwnedFd> {
    let maker = local_ranks[0];
    let ranks = local_ranks.len();
    if size == 1 {
        return create(plan, ranks).map_err(|error| no_segment(&error));
    }
    let mut mine = None;
    let mut listener = None;
    if rank == maker {
        mine = create(plan, ranks).ok();
        if ranks > 1 {
            let name = format!("oxmpi-{}-{}", std::process::id(), monotonic_nanoseconds());
            listener = listen_as(&name).ok();
            let card = mine.as_ref().map_or("none".into(), |fd| {
                let inode = identity(fd.as_raw_fd()).map_or(0, |(inode, _)| inode);
                let (pid, fd) = (std::process::id(), fd.as_raw_fd());
                format!("{name}:{pid}:{fd}:{inode}")
            });
            client.put(&format!("oxsegment-{maker}"), &card)?;
        }
    }
    client.barrier()?;
    if rank == maker {
        // This rank is in the second barrier already, which ends when all others have the segment or know that they
        // cannot get it: until then serve them.
        client.enter_barrier()?;
        if let (Some(listener), Some(segment)) = (&listener, &mine) {
            serve(listener, segment, client);
        }
        client.leave_barrier()?;
    } else {
        let card = client
            .get(&format!("oxsegment-{maker}"))?
            .unwrap_or_default();
        mine = fetch(&card);
        if mine.is_none() {
            client.put("oxsegment-failed", "1")?;
        }
        client.barrier()?;
    }
    let some_failed = client.get("oxsegment-failed")?.is_some();
    match mine {
        Some(segment) if !some_failed => Ok(segment),
        _ if !some_failed => create(plan, ranks).map_err(|error| no_segment(&error)),
        _ => by_file(client, rank, local_ranks, plan),
    }
}

/// The segment of this node, made by the first of its ranks that comes, which hands it out as long as it runs. Waits for no rank
/// that has not come: the name of the socket follows from that of the job.
///
/// One rank alone has the name, too: a process that it starts has its environment, and sees in the segment that the place is taken.
pub fn of_first(job: &str, local_ranks: &[u32], plan: &SegmentPlan<'_>) -> Result<OwnedFd> {
    let ranks = local_ranks.len();
    let mut hasher = DefaultHasher::new();
    (job, local_ranks[0], geteuid().as_raw()).hash(&mut hasher);
    let name = format!("oxmpi-{:016x}", hasher.finish());
    let deadline = monotonic_nanoseconds() + LONGEST_HANDOVER;
    loop {
        let failure = match listen_as(&name) {
            Ok(listener) => {
                let segment = create(plan, ranks).map_err(|error| no_segment(&error))?;
                let copy = segment.try_clone();
                copy.and_then(|copy| keep_serving(listener, copy))
                    .map_err(|error| no_segment(&error))?;
                return Ok(segment);
            }
            // Another rank has the name: it may not listen yet, or just have ended.
            Err(_) => match receive_from(&name) {
                Ok(Some(segment)) => return Ok(segment),
                Ok(None) => "another user has its name".to_owned(),
                Err(error) => error.to_string(),
            },
        };
        if monotonic_nanoseconds() > deadline {
            return Err(Error::new(
                Class::Other,
                format!(
                    "the first rank of this node does not hand over the shared memory by the socket @{name}: {failure}"
                ),
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

const LONGEST_HANDOVER: u64 = 30_000_000_000;

/// Serves in a thread until the process ends.
fn keep_serving(listener: OwnedFd, segment: OwnedFd) -> io::Result<()> {
    let serve = move || {
        loop {
            match accept_with(&listener, SocketFlags::CLOEXEC) {
                Ok(peer) => hand_over(&peer, &segment),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                // Too many files are open, perhaps: the ones who ask try again.
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    };
    threads::start("oxmpi-segment", 64 << 10, serve).map(|_| ())
}

/// To a process of this user only.
fn hand_over(peer: &OwnedFd, segment: &OwnedFd) {
    if socket_peercred(peer).is_ok_and(|peer| peer.uid == geteuid()) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let sent = [segment.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&sent));
        let byte = [IoSlice::new(b"s")];
        let _ = sendmsg(peer, &byte, &mut control, SendFlags::NOSIGNAL);
    }
}

fn listen_as(name: &str) -> io::Result<OwnedFd> {
    let socket = stream_socket()?;
    bind(
        &socket,
        &SocketAddrUnix::new_abstract_name(name.as_bytes())?,
    )?;
    listen(&socket, 128)?;
    Ok(socket)
}

fn stream_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        flags,
        None,
    )?)
}

/// Hands the segment to whoever of the same user connects, until the launcher says something.
fn serve(listener: &OwnedFd, segment: &OwnedFd, client: &Client) {
    loop {
        let mut waiting = [
            PollFd::new(listener, PollFlags::IN),
            PollFd::new(client, PollFlags::IN),
        ];
        let ready = poll(&mut waiting, None);
        if ready.is_err_and(|error| error != rustix::io::Errno::INTR) {
            return;
        }
        if waiting[0].revents().contains(PollFlags::IN) {
            if let Ok(peer) = accept_with(listener, SocketFlags::CLOEXEC) {
                hand_over(&peer, segment);
            }
        } else if !waiting[1].revents().is_empty() {
            return;
        }
    }
}

/// Gets the segment that a card describes: NAME:PID:FD:INODE.
fn fetch(card: &str) -> Option<OwnedFd> {
    let fields: Vec<&str> = card.split(':').collect();
    let [name, pid, fd, inode] = fields[..] else {
        return None;
    };
    let inode: u64 = inode.parse().ok()?;
    let sent = receive_from(name).ok().flatten();
    let good = |segment: &OwnedFd| identity(segment.as_raw_fd()).map(|(it, _)| it) == Some(inode);
    sent.filter(good)
        .or_else(|| open_of(pid.parse().ok()?, fd.parse().ok()?, inode))
}

fn receive_from(name: &str) -> io::Result<Option<OwnedFd>> {
    let socket = stream_socket()?;
    connect(
        &socket,
        &SocketAddrUnix::new_abstract_name(name.as_bytes())?,
    )?;
    if socket_peercred(&socket)?.uid != geteuid() {
        return Ok(None);
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0u8];
    let mut into = [IoSliceMut::new(&mut byte)];
    recvmsg(&socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    }))
}

/// The last way: a file that all open and the maker unlinks.
fn by_file(
    client: &mut Client,
    rank: u32,
    local_ranks: &[u32],
    plan: &SegmentPlan<'_>,
) -> Result<OwnedFd> {
    let maker = local_ranks[0];
    let key = format!("oxfile-{maker}");
    let mut made = None;
    if rank == maker {
        made = create_file(plan, local_ranks.len()).ok();
        let path = made.as_ref().map(|(path, _)| path.as_str());
        client.put(&key, path.unwrap_or("none"))?;
    }
    client.barrier()?;
    let opened = match &made {
        Some((_, file)) => file.try_clone().ok(),
        None => client.get(&key)?.and_then(|path| open_file(&path)),
    };
    client.barrier()?;
    if let Some((path, _)) = &made {
        let _ = std::fs::remove_file(path);
    }
    opened.map(OwnedFd::from).ok_or_else(|| {
        Error::new(
            Class::Other,
            "the ranks of this node find no way to share memory: not by a socket, not by /proc/PID/fd, and not by a \
             file in TMPDIR (do they run in separate containers?)",
        )
    })
}

fn create_file(plan: &SegmentPlan<'_>, ranks: usize) -> io::Result<(String, File)> {
    let name = format!("oxmpi-{}-{}", std::process::id(), monotonic_nanoseconds());
    let path = std::env::temp_dir()
        .join(name)
        .to_string_lossy()
        .into_owned();
    if path.contains([' ', '\n']) {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let bytes = (plan.bytes)(ranks);
    memory::check_limit(bytes)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    let ready = file
        .set_len(bytes)
        .and_then(|()| (plan.initialise)(file.as_fd(), ranks));
    if let Err(error) = ready {
        let _ = std::fs::remove_file(&path);
        return Err(error);
    }
    Ok((path, file))
}

/// The folder may be one where everybody writes: what is there must be a file of this user, and no link to one.
fn open_file(path: &str) -> Option<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)
        .ok()?;
    let found = file.metadata().ok()?;
    (found.is_file() && found.uid() == geteuid().as_raw()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: SegmentPlan<'static> = SegmentPlan {
        bytes: &|ranks| 4096 * ranks as u64,
        initialise: &|_, _| Ok(()),
    };

    #[test]
    fn a_descriptor_crosses_the_socket_and_proc() {
        let segment = create(&PLAN, 2).unwrap();
        let (inode, _) = identity(segment.as_raw_fd()).unwrap();
        let name = format!("oxmpi-test-{}-{}", std::process::id(), inode);
        let listener = listen_as(&name).unwrap();
        let (pid, fd) = (std::process::id() as i32, segment.as_raw_fd());
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let client = Client::silent(OwnedFd::from(ours));
        let server = std::thread::spawn({
            let segment = segment.try_clone().unwrap();
            move || serve(&listener, &segment, &client)
        });
        let got = fetch(&format!("{name}:1:0:{inode}")).expect("by the socket");
        assert_eq!(identity(got.as_raw_fd()).unwrap().0, inode);
        drop(theirs);
        server.join().unwrap();
        assert!(open_of(pid, fd, inode).is_some());
        assert!(open_of(pid, fd, inode + 1).is_none());
        assert!(fetch("").is_none() && fetch("a:b:c:d").is_none());
    }

    #[test]
    fn the_first_rank_makes_the_segment_and_waits_for_nobody() {
        let job = format!("test-{}", std::process::id());
        let inode = |fd: &OwnedFd| identity(fd.as_raw_fd()).unwrap().0;
        let first = of_first(&job, &[2, 3], &PLAN).unwrap();
        let second = of_first(&job, &[2, 3], &PLAN).unwrap();
        assert_eq!(inode(&first), inode(&second));
        let other = of_first(&format!("{job}-other"), &[2, 3], &PLAN).unwrap();
        assert_ne!(inode(&first), inode(&other));
        let alone = of_first(&job, &[5], &PLAN).unwrap();
        assert_ne!(inode(&first), inode(&alone));
        // A program that a rank starts takes itself for that rank.
        let its_child = of_first(&job, &[5], &PLAN).unwrap();
        assert_eq!(inode(&alone), inode(&its_child));
    }

    #[test]
    fn the_file_is_only_there_until_it_is_unlinked() {
        let (path, file) = create_file(&PLAN, 3).unwrap();
        let opened = open_file(&path).unwrap();
        assert_eq!(opened.metadata().unwrap().len(), 3 * 4096);
        let link = format!("{path}-link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(open_file(&link).is_none(), "somebody else may have made it");
        std::fs::remove_file(&link).unwrap();
        std::fs::remove_file(&path).unwrap();
        drop(file);
        assert!(open_file(&path).is_none());
    }
}
