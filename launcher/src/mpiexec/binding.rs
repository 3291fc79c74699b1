//! Which processors each rank may use.
//!
//! Default: the usable processors are divided evenly among the ranks, neighbours together. So each rank keeps its
//! caches, threads inside a rank (OpenMP, BLAS) find their share by the affinity mask, two jobs at once spread over the
//! whole machine instead of both sitting on its first cores, and one rank a core results only when the job fills the
//! machine. With more ranks than processors neighbours share one, on which they take turns by yielding, if they have a session in
//! common. Nothing is bound when there are one rank, a CPU quota that is smaller than the
//! mask (the processors are shared with others we cannot see), or more OpenMP threads than a share has processors; nor
//! while another job of this user is bound: of many small jobs side by side, all busy in rank 0, each would sit on the same processor.

use super::machine::{Machine, number_list};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind as bind_socket, connect, listen,
    socket_with,
};
use rustix::process::Uid;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The processors of each rank; `None`: not bound.
pub type Binding = Option<Vec<Vec<usize>>>;

/// What the default depends on besides the ranks.
#[derive(Clone, Copy)]
pub struct Situation {
    /// How many processors' worth of time this container has; `None` without a limit.
    pub quota: Option<f64>,
    /// OMP_NUM_THREADS, if it is set.
    pub threads: Option<usize>,
    /// Whether ranks that share a core are kept on it: they have a session in common, in which yielding works.
    pub crowd: bool,
}

/// That no other job of this user on this host is bound by default; it ends with the descriptor. Without one if other users have
/// taken all names: they cannot keep us from being bound.
pub type Claim = Option<OwnedFd>;

/// How many names are tried.
const NAMES: usize = 4;

/// `None` if another job of this user has the claim.
pub fn claim() -> Option<Claim> {
    claim_as(rustix::process::geteuid(), "oxmpi-binding")
}

/// Claims the first name that is not held by another user.
fn claim_as(user: Uid, base: &str) -> Option<Claim> {
    let addresses: Vec<SocketAddrUnix> = (0..NAMES)
        .map(|number| format!("{base}-{}-{number}", user.as_raw()))
        .filter_map(|name| SocketAddrUnix::new_abstract_name(name.as_bytes()).ok())
        .collect();
    for (number, address) in addresses.iter().enumerate() {
        match listen_at(address) {
            Ok(socket) => {
                // Another job may have got a later name while this one was not free.
                let later = &addresses[number + 1..];
                let taken = later.iter().any(|address| is_held_by(user, address, 1));
                return (!taken).then_some(Some(socket));
            }
            // The one that has it may not listen yet.
            Err(Errno::ADDRINUSE) if is_held_by(user, address, 10) => return None,
            Err(Errno::ADDRINUSE) => {}
            Err(_) => return None,
        }
    }
    Some(None)
}

fn stream() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

fn listen_at(address: &SocketAddrUnix) -> Result<OwnedFd, Errno> {
    let socket = stream()?;
    bind_socket(&socket, address)?;
    // Those who ask stay in the queue.
    listen(&socket, 4096)?;
    Ok(socket)
}

/// Whether a process of this user listens at an address. Tries `times` times, a millisecond apart, before it says no.
fn is_held_by(user: Uid, address: &SocketAddrUnix, times: u32) -> bool {
    for attempt in 0..times {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let Ok(socket) = stream() else {
            return true;
        };
        match connect(&socket, address) {
            Ok(()) => return socket_peercred(&socket).is_ok_and(|it| it.uid == user),
            // It has been asked very often.
            Err(Errno::AGAIN) => return true,
            Err(_) => {}
        }
    }
    false
}

/// Gives each of `ranks` ranks its processors.
///
/// Errors: a wish that is not understood or cannot be fulfilled.
pub fn bind(
    wish: Option<&str>,
    ranks: usize,
    machine: &Machine,
    situation: &Situation,
) -> Result<Binding, String> {
    let processors: Vec<usize> = machine.processors.iter().map(|it| it.number).collect();
    let Some(wish) = wish else {
        return Ok(default(ranks, &processors, situation));
    };
    // Open MPI's qualifiers come after a colon too: core:overload-allowed.
    let (what, detail) = wish.split_once(':').unwrap_or((wish, ""));
    let width = match detail.parse::<usize>() {
        Ok(width) if width > 0 => width,
        _ if detail.is_empty() || detail.contains("overload") || what == "user" => 1,
        _ => return Err(format!("'{wish}': '{detail}' is not understood")),
    };
    let groups = match what {
        "none" => return Ok(None),
        "hwthread" | "hw-thread" | "pu" | "cpu" | "processor" => machine.groups(|it| it.number),
        "core" | "rr" => machine.groups(|it| (it.node, it.socket, it.core)),
        "socket" | "package" => machine.groups(|it| it.socket),
        "numa" | "numanode" => machine.groups(|it| it.node),
        "board" | "machine" | "node" => vec![processors.clone()],
        "user" => {
            let wanted = number_list(detail).filter(|list| !list.is_empty());
            let wanted = wanted.ok_or_else(|| format!("'{wish}' names no processors"))?;
            if let Some(other) = wanted.iter().find(|number| !processors.contains(number)) {
                return Err(format!("'{wish}': processor {other} may not be used here"));
            }
            wanted.into_iter().map(|number| vec![number]).collect()
        }
        _ => {
            return Err(format!(
                "'{wish}' is not understood; known are none, hwthread, core, socket, numa, board and user:LIST"
            ));
        }
    };
    let single = matches!(
        what,
        "core" | "rr" | "hwthread" | "hw-thread" | "pu" | "cpu" | "processor"
    );
    if single && ranks.saturating_mul(width) > groups.len() {
        // More than one rank a core: where they run is better left to the kernel. But a job that asks for cores and
        // fits on the processors of those cores gets these.
        let bound = what == "core" && width == 1 && ranks <= processors.len();
        return Ok(bound.then(|| processors.into_iter().map(|number| vec![number]).collect()));
    }
    let sets: Vec<Vec<usize>> = groups.chunks(width).map(<[_]>::concat).collect();
    Ok(Some(
        (0..ranks)
            .map(|rank| sets[rank % sets.len()].clone())
            .collect(),
    ))
}

fn default(ranks: usize, processors: &[usize], situation: &Situation) -> Binding {
    let count = processors.len();
    let share = count / ranks.max(1);
    let limited = situation.quota.is_some_and(|quota| quota < count as f64);
    let least = usize::from(situation.crowd);
    let share = share.max(least);
    let overloaded = situation.threads.is_some_and(|threads| threads > share);
    if ranks < 2 || count == 0 || share == 0 || limited || overloaded {
        return None;
    }
    let part = |rank: usize| {
        let (first, end) = (rank * count / ranks, (rank + 1) * count / ranks);
        processors[first..end.max(first + least)].to_vec()
    };
    Some((0..ranks).map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::super::machine::Processor;
    use super::*;

    const FREE: Situation = Situation {
        quota: None,
        threads: None,
        crowd: false,
    };

    /// Two sockets of two cores with two threads each; thread 2 of core N is processor N + 4.
    fn machine() -> Machine {
        let mut processors: Vec<Processor> = (0..8)
            .map(|number| Processor {
                node: number as u32 % 4 / 2,
                socket: number as u32 % 4 / 2,
                core: number as u32 % 4,
                number,
            })
            .collect();
        processors.sort_unstable();
        Machine { processors }
    }

    #[test]
    fn the_default_is_an_even_share() {
        let bind = |ranks| bind(None, ranks, &machine(), &FREE).unwrap();
        assert_eq!(bind(1), None);
        assert_eq!(bind(2).unwrap(), [vec![0, 4, 1, 5], vec![2, 6, 3, 7]]);
        assert_eq!(bind(4).unwrap()[1], [1, 5]);
        assert_eq!(bind(3).unwrap().concat().len(), 8);
        assert_eq!(bind(8).unwrap()[1], [4]);
        assert_eq!(bind(9), None);
    }

    #[test]
    fn the_default_leaves_others_alone() {
        let quota = Situation {
            quota: Some(4.0),
            ..FREE
        };
        assert_eq!(bind(None, 2, &machine(), &quota), Ok(None));
        let threads = Situation {
            threads: Some(5),
            ..FREE
        };
        assert_eq!(bind(None, 2, &machine(), &threads), Ok(None));
    }

    #[test]
    fn more_ranks_than_processors_are_bound_where_that_is_wanted() {
        let crowd = Situation {
            crowd: true,
            ..FREE
        };
        let bind = |ranks, situation| bind(None, ranks, &machine(), &situation).unwrap();
        assert_eq!(bind(9, crowd).unwrap()[..3], [[0], [0], [4]]);
        assert_eq!(bind(17, crowd).unwrap().concat().len(), 17);
        assert_eq!(bind(3, crowd), bind(3, FREE));
        let threads = |threads| Situation {
            threads: Some(threads),
            crowd: true,
            ..FREE
        };
        assert_eq!(bind(9, threads(1)), bind(9, crowd));
        assert_eq!(bind(9, threads(2)), None);
        let quota = Situation {
            quota: Some(4.0),
            crowd: true,
            ..FREE
        };
        assert_eq!(bind(9, quota), None);
    }

    #[test]
    fn wishes_are_fulfilled_or_refused() {
        let bind = |wish, ranks| bind(Some(wish), ranks, &machine(), &FREE);
        assert_eq!(bind("core", 2).unwrap().unwrap(), [[0, 4], [1, 5]]);
        assert_eq!(bind("core:2", 2).unwrap().unwrap()[1], [2, 6, 3, 7]);
        assert_eq!(bind("core", 5).unwrap().unwrap()[1], [4]);
        assert_eq!(bind("core", 9), Ok(None));
        assert_eq!(bind("core:18446744073709551615", 2), Ok(None));
        assert_eq!(bind("socket", 3).unwrap().unwrap()[2], [0, 4, 1, 5]);
        assert_eq!(bind("numa", 2).unwrap().unwrap()[1], [2, 6, 3, 7]);
        assert_eq!(bind("user:7,3", 3).unwrap().unwrap(), [[7], [3], [7]]);
        assert_eq!(bind("none", 2), Ok(None));
        assert_eq!(
            bind("core:overload-allowed", 2).unwrap().unwrap()[0],
            [0, 4]
        );
        for wish in ["nonsense", "user:", "user:99", "core:x"] {
            assert!(bind(wish, 2).is_err(), "{wish}");
        }
    }

    /// What `attempt` gives in the end. A name outlives its descriptor here: tests beside this one start
    /// processes, and each has a copy of all descriptors between fork and exec.
    fn when_free<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
        for _ in 0..30_000 {
            if let Some(result) = attempt() {
                return result;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the name is not free after 30 s");
    }

    #[test]
    fn one_job_of_a_user_has_the_claim() {
        let user = rustix::process::geteuid();
        let base = format!("oxmpi-test-{}", std::process::id());
        let first = claim_as(user, &base).unwrap();
        assert!(first.is_some());
        assert!(claim_as(user, &base).is_none());
        drop(first);
        let again = when_free(|| claim_as(user, &base));
        assert!(again.is_some());
    }

    #[test]
    fn names_of_others_are_passed_over() {
        let user = rustix::process::geteuid();
        let base = format!("oxmpi-other-{}", std::process::id());
        let address = |number: usize| {
            let name = format!("{base}-{}-{number}", user.as_raw());
            SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()
        };
        // One that does not listen, and so cannot be asked.
        let silent = stream().unwrap();
        bind_socket(&silent, &address(0)).unwrap();
        let second = claim_as(user, &base).unwrap();
        assert!(second.is_some() && is_held_by(user, &address(1), 1));
        assert!(claim_as(user, &base).is_none());
        // Seen by another user.
        let other = Uid::from_raw(user.as_raw() + 1);
        assert!(!is_held_by(other, &address(1), 1));
        // The first name is free again, but the second is still held.
        drop(silent);
        assert!(claim_as(user, &base).is_none());
        // All names are taken.
        drop(second);
        let others: Vec<OwnedFd> = (0..NAMES)
            .map(|number| {
                let socket = stream().unwrap();
                when_free(|| bind_socket(&socket, &address(number)).ok());
                socket
            })
            .collect();
        assert!(claim_as(user, &base).unwrap().is_none());
        drop(others);
    }
}
