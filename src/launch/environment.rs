//! Reads from the environment who started this process. No side effects but looking at descriptors.
//!
//! Invariant: several ranks that cannot find each other are an error here, never several jobs of one.

use super::map::NodeMap;
use crate::error::{Class, Error, Result};
use crate::os::process::identity;

/// Variables by which our mpiexec tells a rank its number.
pub mod names {
    pub const RANK: &str = "OXMPI_RANK";
    pub const SIZE: &str = "OXMPI_SIZE";
    /// Number of the segment's descriptor, and its inode, because programs between may close or reuse numbers.
    pub const SEGMENT: &str = "OXMPI_SEGMENT";
    pub const SEGMENT_INODE: &str = "OXMPI_SEGMENT_INODE";
    /// Process id of the supervisor, which holds the segment under the same number.
    pub const KEEPER: &str = "OXMPI_KEEPER";
    /// Inode of the socket that PMI_FD names, to tell it from the one of a launcher inside the job.
    pub const PMI_INODE: &str = "OXMPI_PMI_INODE";
    pub const APPNUM: &str = "OXMPI_APPNUM";
    pub const UNIVERSE_SIZE: &str = "OXMPI_UNIVERSE_SIZE";
    /// Process sets, one in a line.
    pub const PROCESS_SETS: &str = "OXMPI_PROCESS_SETS";
    /// The names of the hosts and the nodes of the ranks, if there are several: see `NodeMap`.
    pub const HOSTS: &str = "OXMPI_HOSTS";
    pub const MAPPING: &str = "OXMPI_MAPPING";
    /// What tells the job from all others, 16 hexadecimal digits.
    pub const JOB: &str = "OXMPI_JOB";
    /// The kinds of memory that the job was started for, as the user said.
    pub const MEMORY_KINDS: &str = "OXMPI_MEMORY_ALLOC_KINDS";
    /// The port of the processes that have spawned the job.
    pub const PARENT: &str = "OXMPI_PARENT";
    /// Number and inode of the descriptor that the rank writes its timeline to.
    pub const TIMELINE: &str = "OXMPI_TIMELINE";
    /// Number and inode of a pipe that ends when a debugger lets the ranks go.
    pub const DEBUG_GATE: &str = "OXMPI_DEBUG_GATE";
    /// All of them.
    pub const OWN: &[&str] = &[
        TIMELINE,
        DEBUG_GATE,
        JOB,
        MEMORY_KINDS,
        PARENT,
        RANK,
        SIZE,
        SEGMENT,
        SEGMENT_INODE,
        KEEPER,
        PMI_INODE,
        APPNUM,
        UNIVERSE_SIZE,
        PROCESS_SETS,
        HOSTS,
        MAPPING,
    ];
    pub const PMI_FD: &str = "PMI_FD";
    pub const PMI_RANK: &str = "PMI_RANK";
    pub const PMI_SIZE: &str = "PMI_SIZE";
    pub const PMI_PORT: &str = "PMI_PORT";
    pub const PMI_ID: &str = "PMI_ID";
    pub const PMIX_NAMESPACE: &str = "PMIX_NAMESPACE";
}

/// A rank's number and job, given by our mpiexec.
#[derive(Debug, PartialEq, Eq)]
pub struct Ours {
    pub rank: u32,
    pub size: u32,
    pub segment: i32,
    pub segment_inode: u64,
    pub supervisor: i32,
    pub pmi_fd: Option<i32>,
    pub appnum: Option<i32>,
    pub universe_size: Option<i32>,
    pub nodes: NodeMap,
    /// What tells the job from all others.
    pub job: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Started {
    Ours(Ours),
    /// A PMI-1 server at the other end of an inherited socket.
    Inherited {
        fd: i32,
        rank: u32,
        size: u32,
    },
    /// A PMI-1 server to connect to.
    Port {
        address: String,
        id: String,
    },
    /// A PMIx server, whose job has this name.
    Pmix {
        namespace: String,
    },
    Alone,
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Decides how this process was started.
///
/// Errors: one of several ranks of a launcher that we cannot talk to, or values that make no sense.
pub fn detect(get: Lookup<'_>) -> Result<Started> {
    if get(names::RANK).is_some() && !inner_launcher(get) {
        return ours(get).map(Started::Ours);
    }
    if let Some(namespace) = get(names::PMIX_NAMESPACE) {
        return Ok(Started::Pmix { namespace });
    }
    if let Some(fd) = get(names::PMI_FD) {
        let fd = parse(names::PMI_FD, &fd)?;
        let rank = required(get, names::PMI_RANK)?;
        let size = required(get, names::PMI_SIZE)?;
        check_rank(rank, size)?;
        return Ok(Started::Inherited { fd, rank, size });
    }
    if let Some(address) = get(names::PMI_PORT) {
        let id = get(names::PMI_ID).or_else(|| get(names::PMI_RANK));
        let id = id.unwrap_or_else(|| "0".into());
        return Ok(Started::Port { address, id });
    }
    match foreign(get) {
        Some(reason) => Err(Error::new(Class::Other, reason)),
        None => Ok(Started::Alone),
    }
}

fn ours(get: Lookup<'_>) -> Result<Ours> {
    let rank = required(get, names::RANK)?;
    let size = required(get, names::SIZE)?;
    check_rank(rank, size)?;
    let optional = |name: &str| get(name).and_then(|value| value.parse().ok());
    Ok(Ours {
        rank,
        size,
        segment: required(get, names::SEGMENT)?,
        segment_inode: required(get, names::SEGMENT_INODE)?,
        supervisor: required(get, names::KEEPER)?,
        pmi_fd: optional(names::PMI_FD).filter(|fd| pmi_is(get, *fd)),
        appnum: optional(names::APPNUM),
        universe_size: optional(names::UNIVERSE_SIZE),
        nodes: node_map(get, size)?,
        job: get(names::JOB)
            .and_then(|job| u64::from_str_radix(&job, 16).ok())
            .unwrap_or_default(),
    })
}

/// What mpiexec said about nodes; nothing if there is only one.
fn node_map(get: Lookup<'_>, size: u32) -> Result<NodeMap> {
    let Some(mapping) = get(names::MAPPING) else {
        return Ok(NodeMap::of_one(size));
    };
    let hosts = get(names::HOSTS).unwrap_or_default();
    NodeMap::parse(&mapping, &hosts, size).ok_or_else(|| {
        Error::new(
            Class::Other,
            format!(
                "{}={mapping} with {}={hosts} is no node map of {size} ranks",
                names::MAPPING,
                names::HOSTS
            ),
        )
    })
}

/// Whether another launcher was run inside our job, so that our variables are those of its parent.
fn inner_launcher(get: Lookup<'_>) -> bool {
    if get(names::PMI_PORT).is_some() || get(names::PMIX_NAMESPACE).is_some() {
        return true;
    }
    let differs =
        |theirs: &str, ours: &str| get(theirs).is_some_and(|theirs| Some(theirs) != get(ours));
    if differs(names::PMI_RANK, names::RANK) || differs(names::PMI_SIZE, names::SIZE) {
        return true;
    }
    let fd = get(names::PMI_FD).and_then(|fd| fd.parse().ok());
    fd.is_some_and(|fd| identity(fd).is_some_and(|(_, socket)| socket) && !pmi_is(get, fd))
}

/// Whether the descriptor is the socket our mpiexec made.
fn pmi_is(get: Lookup<'_>, fd: i32) -> bool {
    let made = get(names::PMI_INODE).and_then(|inode| inode.parse().ok());
    made.is_some() && identity(fd).map(|(inode, _)| inode) == made
}

/// Why this process is one of several that we cannot join, if it is.
fn foreign(get: Lookup<'_>) -> Option<String> {
    let several = |name: &str| {
        get(name)
            .and_then(|value| value.parse::<u32>().ok())
            .filter(|size| *size > 1)
    };
    let advice =
        "start it with oxmpi's mpiexec, or set OXMPI_SINGLETON=1 to run each process alone";
    if let Some(size) = several("OMPI_COMM_WORLD_SIZE") {
        return Some(format!(
            "this program uses oxmpi but was started as one of {size} by Open MPI's launcher, \
             which cannot be joined without PMIX_NAMESPACE: {advice}"
        ));
    }
    if get("SLURM_STEP_ID").is_some()
        && let Some(size) = several("SLURM_STEP_NUM_TASKS").or(several("SLURM_NTASKS"))
    {
        return Some(format!(
            "this program was started as one of {size} by srun without a process manager it could ask (srun --mpi=none): \
             use srun --mpi=pmix or --mpi=pmi2, or {advice}"
        ));
    }
    several(names::PMI_SIZE).map(|size| {
        format!(
            "PMI_SIZE={size} is in the environment but neither PMI_FD nor PMI_PORT, so the other ranks cannot be \
             found: {advice}"
        )
    })
}

fn check_rank(rank: u32, size: u32) -> Result<()> {
    if rank < size && size <= i32::MAX as u32 {
        return Ok(());
    }
    Err(Error::new(
        Class::Other,
        format!("the launcher's environment says rank {rank} of {size}"),
    ))
}

fn required<T: std::str::FromStr>(get: Lookup<'_>, name: &str) -> Result<T> {
    match get(name) {
        Some(value) => parse(name, &value),
        None => Err(Error::new(
            Class::Other,
            format!("the launcher's environment is incomplete: {name} is missing"),
        )),
    }
}

fn parse<T: std::str::FromStr>(name: &str, value: &str) -> Result<T> {
    value.trim().parse().map_err(|_| {
        Error::new(
            Class::Other,
            format!("the launcher's environment says {name}={value}, which is not a number that can be used"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Result<Started> {
        let pairs: Vec<(String, String)> = text
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        detect(&|name| {
            let found = pairs.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        })
    }

    const OURS: &str = "OXMPI_RANK=1 OXMPI_SIZE=2 OXMPI_SEGMENT=700 OXMPI_SEGMENT_INODE=5 OXMPI_KEEPER=9 \
                        OXMPI_PMI_INODE=6 PMI_RANK=1 PMI_SIZE=2 PMI_FD=701 ";

    #[test]
    fn every_launcher_is_told_apart() {
        assert_eq!(given("").unwrap(), Started::Alone);
        assert!(matches!(given(OURS).unwrap(), Started::Ours(_)));
        assert_eq!(
            given("PMI_FD=6 PMI_RANK=3 PMI_SIZE=4").unwrap(),
            Started::Inherited {
                fd: 6,
                rank: 3,
                size: 4
            }
        );
        assert!(matches!(
            given("PMI_PORT=h:1 PMI_ID=2").unwrap(),
            Started::Port { .. }
        ));
        let pmix =
            |text| matches!(given(text).unwrap(), Started::Pmix { namespace } if namespace == "x");
        assert!(pmix("PMIX_NAMESPACE=x PMIX_RANK=0 SLURM_PROCID=0"));
        assert!(pmix("OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=x PMI_FD=6"));
        // A launcher inside a rank of ours wins.
        let inner = given("OXMPI_RANK=0 OXMPI_SIZE=1 PMI_FD=6 PMI_RANK=3 PMI_SIZE=4");
        assert!(matches!(inner.unwrap(), Started::Inherited { .. }));
        let inner = given(&format!("{OURS} PMI_PORT=h:1")).unwrap();
        assert!(matches!(inner, Started::Inherited { .. }));
    }

    #[test]
    fn several_that_cannot_be_joined_are_an_error() {
        for text in [
            "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0",
            "SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4",
            "PMI_RANK=0 PMI_SIZE=2",
        ] {
            let error = given(text).unwrap_err();
            assert!(error.text().contains("OXMPI_SINGLETON"), "{error}");
        }
        // One task of its own, or a batch script that runs a program directly, is no such case.
        for text in [
            "SLURM_NTASKS=4 SLURM_PROCID=0",
            "SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1",
            "OMPI_COMM_WORLD_SIZE=1",
        ] {
            assert_eq!(given(text).unwrap(), Started::Alone, "{text}");
        }
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_variable() {
        for (text, name) in [
            ("PMI_FD=x PMI_RANK=0 PMI_SIZE=1", "PMI_FD"),
            ("PMI_FD=6 PMI_SIZE=1", "PMI_RANK"),
            ("PMI_FD=6 PMI_RANK=-1 PMI_SIZE=1", "PMI_RANK"),
            ("PMI_FD=6 PMI_RANK=1 PMI_SIZE=1", "rank 1 of 1"),
            ("OXMPI_RANK=0", "OXMPI_SIZE"),
            ("OXMPI_RANK=0 OXMPI_SIZE=1", "OXMPI_SEGMENT"),
            ("OXMPI_RANK=0 OXMPI_SIZE=99999999999", "OXMPI_SIZE"),
        ] {
            assert!(given(text).unwrap_err().text().contains(name), "{text}");
        }
    }
}
