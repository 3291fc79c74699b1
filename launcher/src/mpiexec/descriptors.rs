//! How many descriptors mpiexec holds for each rank, and with what it does without where a limit (ulimit -n) allows fewer.
//!
//! The supervisor raises its own limit as far as it may; ranks get back the one that mpiexec was started with.

use super::input::Source;
use super::plan::Plan;
use super::request::Label;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Descriptors for starting a rank and for reading /proc.
const SPARE: usize = 8;

/// What each rank has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// A socket for PMI-1, a pipe for its output, one for its error output.
    All,
    /// The ranks share one socket: enough for programs of oxmpi, which only abort there; others are refused.
    OneSocket,
    /// Besides, error output is mpiexec's own and not forwarded.
    OutputOnly,
}

/// What a job needs for its streams.
#[derive(Clone, Copy, Debug, Default)]
struct Streams {
    inputs: usize,
    outputs: usize,
    errors: usize,
    /// Error output must be forwarded: it is labelled or copied.
    treated: bool,
}

pub struct Descriptors {
    pub supply: Supply,
    /// The limit that ranks get back, where it was raised.
    pub before: Option<Rlimit>,
}

impl Descriptors {
    /// Raises the limit, and chooses what there is enough for.
    ///
    /// Errors: not even the least fits.
    pub fn arrange(plan: &Plan, inputs: &[Source], direct: bool) -> io::Result<Descriptors> {
        let ranks = plan.here().count();
        let streams = Streams::of(plan, inputs, direct);
        // The first leader of a session is among them.
        let spare = SPARE + plan.most_leaders().saturating_sub(1);
        let wanted = streams.needed(Supply::All, ranks) + spare;
        let before = getrlimit(Resource::Nofile);
        let open = |below: u64| match std::fs::read_dir("/proc/self/fd") {
            Ok(entries) => {
                let names = entries
                    .flatten()
                    .filter_map(|it| it.file_name().into_string().ok());
                let numbers = names.filter_map(|name| name.parse().ok());
                // One of them is the folder itself.
                numbers
                    .filter(|number: &u64| *number < below)
                    .count()
                    .saturating_sub(1)
            }
            Err(_) => 32,
        };
        let Some(current) = before.current else {
            return Ok(Descriptors {
                supply: Supply::All,
                before: None,
            });
        };
        let target = (wanted + open(u64::MAX)) as u64;
        let raised = before.maximum.map_or(target, |maximum| maximum.min(target));
        let raise = raised > current;
        if raise {
            let limit = Rlimit {
                current: Some(raised),
                maximum: before.maximum,
            };
            setrlimit(Resource::Nofile, limit)?;
        }
        let limit = current.max(raised);
        let room = (limit as usize).saturating_sub(open(limit) + spare);
        match streams.choose(ranks, room) {
            Some(supply) => Ok(Descriptors {
                supply,
                before: raise.then_some(before),
            }),
            None => Err(io::Error::other(format!(
                "{ranks} ranks need {} open files more than there are, and the limit of {limit} (ulimit -n) leaves {room}",
                streams.needed(streams.least(), ranks)
            ))),
        }
    }

    /// What the user may want to know.
    pub fn explanation(&self) -> Option<&'static str> {
        match self.supply {
            Supply::All => None,
            Supply::OneSocket => Some(
                "few open files are allowed (ulimit -n): programs of another MPICH than oxmpi cannot be served",
            ),
            Supply::OutputOnly => Some(
                "few open files are allowed (ulimit -n): programs of another MPICH than oxmpi cannot be served, and error output is \
                 not kept apart by lines",
            ),
        }
    }
}

impl Streams {
    fn of(plan: &Plan, inputs: &[Source], direct: bool) -> Streams {
        let request = &plan.request;
        let mut streams = Streams {
            inputs: inputs.iter().filter(|it| **it == Source::Pipe).count(),
            treated: request.label != Label::None || request.timestamps,
            ..Streams::default()
        };
        for rank in plan.here().filter(|_| !direct) {
            let copies = rank.copies.each_ref().map(|it| usize::from(it.is_some()));
            if rank.output_file.is_none() {
                streams.outputs += 1 + copies[0];
            }
            if rank.error_file.is_none() && !request.merge_error {
                streams.errors += 1 + copies[1];
                streams.treated |= copies[1] > 0;
            }
        }
        streams
    }

    fn needed(&self, supply: Supply, ranks: usize) -> usize {
        let (sockets, errors) = match supply {
            Supply::All => (ranks, self.errors),
            Supply::OneSocket => (2, self.errors),
            Supply::OutputOnly => (2, 0),
        };
        sockets + self.inputs + self.outputs + errors
    }

    fn least(&self) -> Supply {
        match self.treated {
            true => Supply::OneSocket,
            false => Supply::OutputOnly,
        }
    }

    fn choose(&self, ranks: usize, room: usize) -> Option<Supply> {
        [Supply::All, Supply::OneSocket, self.least()]
            .into_iter()
            .find(|supply| self.needed(*supply, ranks) <= room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_has_an_order() {
        let mut streams = Streams {
            inputs: 0,
            outputs: 10,
            errors: 10,
            treated: false,
        };
        assert_eq!(streams.choose(10, 30), Some(Supply::All));
        assert_eq!(streams.choose(10, 29), Some(Supply::OneSocket));
        assert_eq!(streams.choose(10, 21), Some(Supply::OutputOnly));
        assert_eq!(streams.choose(10, 11), None);
        streams.treated = true;
        assert_eq!(streams.choose(10, 21), None);
    }
}
