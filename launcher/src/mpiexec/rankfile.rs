//! Open MPI's rank files: which processors each rank gets.
//!
//! `rank 0=HOST slot=0-2,4` names cores by their number among all, `slot=1:0-2` those of a socket; `*` is all of them. What is
//! between two `;` is a place of its own: `slot=0:0;1:0`. With hardware threads counted, numbers are theirs.

use super::machine::{Machine, number_list};
use super::request::MOST_RANKS;
use super::{hosts, words};

/// The processors of the ranks that are named; empty for others.
///
/// Errors: a line that makes no sense, another host, a core that is not there or may not be used.
pub fn read(path: &str, machine: &Machine, threads: bool) -> Result<Vec<Vec<usize>>, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the rank file {path}: {error}"))?;
    let mut placements: Vec<Vec<usize>> = Vec::new();
    for (number, line) in words::logical_lines(&text) {
        let at = |error: String| format!("{path}:{number}: {error}");
        let (rank, placement) = entry(&line, machine, threads).map_err(at)?;
        if placements.len() <= rank {
            placements.resize(rank + 1, Vec::new());
        }
        if !placements[rank].is_empty() {
            return Err(at(format!("rank {rank} has a line already")));
        }
        placements[rank] = placement;
    }
    match placements.is_empty() {
        true => Err(format!("{path} names no rank")),
        false => Ok(placements),
    }
}

/// A line: the rank and its processors.
pub fn entry(line: &str, machine: &Machine, threads: bool) -> Result<(usize, Vec<usize>), String> {
    let (rank, host, slots) = parts(line)?;
    // +n0 is the first host of the job.
    if host != "+n0" {
        hosts::slots(&[host.to_owned()], None)?;
    }
    Ok((rank, placement(slots, machine, threads)?))
}

/// The rank, host and slots of a line.
pub fn parts(line: &str) -> Result<(usize, &str, &str), String> {
    let wrong = || format!("'{}' is not rank N=HOST slot=CORES", line.trim());
    let text = line.split('#').next().unwrap_or_default();
    let rest = text.trim().strip_prefix("rank").ok_or_else(wrong)?;
    let (rank, rest) = rest.split_once('=').ok_or_else(wrong)?;
    // The last one: a host may be named slot1.
    let (host, slots) = rest.rsplit_once("slot").ok_or_else(wrong)?;
    let slots = slots.trim_start().strip_prefix('=').ok_or_else(wrong)?;
    match rank.trim().parse::<usize>() {
        Ok(rank) if rank < MOST_RANKS as usize => Ok((rank, host.trim(), slots)),
        _ => Err(wrong()),
    }
}

/// The processors of `CORES;SOCKET:CORES`, each once.
pub fn placement(slots: &str, machine: &Machine, threads: bool) -> Result<Vec<usize>, String> {
    let mut placement = Vec::new();
    for part in slots.split(';') {
        placement.extend(cores(part.trim(), machine, threads)?);
    }
    placement.sort_unstable();
    placement.dedup();
    Ok(placement)
}

/// The processors of `CORES` or `SOCKET:CORES`.
fn cores(text: &str, machine: &Machine, threads: bool) -> Result<Vec<usize>, String> {
    let (socket, list) = match text.split_once(':') {
        Some((socket, list)) => (Some(socket), list),
        None => (None, text),
    };
    let within = match socket.map(str::parse::<usize>) {
        None => machine.clone(),
        Some(number) => {
            let sockets = machine.groups(|it| it.socket);
            let number = number.map_err(|_| format!("'{text}' is not SOCKET:CORES"))?;
            let members = sockets.get(number).ok_or_else(|| {
                format!("there is no socket {number}: there are {}", sockets.len())
            })?;
            machine.only(members)
        }
    };
    let groups = match threads {
        true => within.groups(|it| it.number),
        false => within.groups(|it| (it.node, it.socket, it.core)),
    };
    if list == "*" {
        return Ok(groups.concat());
    }
    let wanted = number_list(list).filter(|list| !list.is_empty());
    let wanted = wanted.ok_or_else(|| format!("'{text}' is no list of cores"))?;
    let mut processors = Vec::new();
    for core in wanted {
        let group = groups.get(core);
        let group =
            group.ok_or_else(|| format!("there is no core {core}: there are {}", groups.len()))?;
        processors.extend(group);
    }
    Ok(processors)
}

#[cfg(test)]
mod tests {
    use super::super::machine::Processor;
    use super::*;

    /// Two sockets of two cores with two threads each; thread 2 of core N is processor N + 4.
    fn machine() -> Machine {
        let mut processors: Vec<Processor> = (0..8)
            .map(|number| Processor {
                node: 0,
                socket: number as u32 % 4 / 2,
                core: number as u32 % 4,
                number,
            })
            .collect();
        processors.sort_unstable();
        Machine { processors }
    }

    fn placement(line: &str, threads: bool) -> Result<(usize, Vec<usize>), String> {
        entry(line, &machine(), threads)
    }

    #[test]
    fn lines_of_rank_files() {
        assert_eq!(
            placement("rank 0=localhost slot=1", false),
            Ok((0, vec![1, 5]))
        );
        assert_eq!(placement("rank 3=+n0 slot=1:0", false), Ok((3, vec![2, 6])));
        assert_eq!(
            placement("rank  1 = localhost  slot = 0:0;1:1 # c", false),
            Ok((1, vec![0, 3, 4, 7]))
        );
        assert_eq!(
            placement("rank 0=localhost slot=0-1", true),
            Ok((0, vec![0, 4]))
        );
        assert_eq!(
            placement("rank 0=localhost slot=1:*", false),
            Ok((0, vec![2, 3, 6, 7]))
        );
        assert_eq!(parts("rank 2=slot1 slot=0"), Ok((2, "slot1", "0")));
        for wrong in [
            "rank 0",
            "0=localhost slot=1",
            "rank x=localhost slot=1",
            "rank 0=192.0.2.1 slot=1",
            "rank 0=localhost slot=9",
            "rank 0=localhost slot=2:0",
            "rank 0=localhost slot=",
            "rank 99999=localhost slot=1",
        ] {
            assert!(placement(wrong, false).is_err(), "{wrong}");
        }
    }
}
