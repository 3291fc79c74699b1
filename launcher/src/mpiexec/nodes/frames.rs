//! What keepers tell each other.

use super::handout::Start;
use crate::mpiexec::rank::{Life, Stage};
use crate::mpiexec::table::Row;
use crate::mpiexec::top::sample::Sample;
use crate::mpiexec::verdict::proof::{Exchanged, Seen};
use crate::mpiexec::verdict::told::{Ask, ToldRank};
use serde::{Deserialize, Serialize};

/// Bytes of a stream that may be on their way without having been taken.
pub const WINDOW: usize = 64 * 1024;

#[derive(Debug, Serialize, Deserialize)]
pub enum Frame {
    // From the root down.
    Start(Box<Start>),
    /// For a rank's standard input; no bytes: its end.
    Input {
        rank: u32,
        bytes: Vec<u8>,
    },
    OutputTaken {
        rank: u32,
        error: bool,
        bytes: u32,
    },
    /// A line of PMI-1 for a rank.
    Answer {
        rank: u32,
        line: String,
    },
    /// For all ranks; SIGKILL ends all else that they have started too.
    Signal {
        number: i32,
    },
    TableWanted,
    /// What is known of the ends of ranks, see `Page::known_end`; also up to the root.
    Ends(Vec<(u32, u32)>),
    StacksWanted,
    /// A sweep over the ranks, see `verdict`.
    SweepWanted {
        number: u32,
        ask: Ask,
    },
    /// What the ranks wait for.
    WaitsWanted {
        number: u32,
    },
    /// What ranks do, for those who watch and ask again after so long.
    SamplesWanted {
        number: u32,
        milliseconds: u32,
    },
    /// All ranks of the job have ended.
    End,

    // Up to the root.
    /// A keeper has connected.
    Ready,
    /// Ranks and their processes.
    Started {
        processes: Vec<(u32, i32)>,
    },
    /// A rank could not be started, or nothing could.
    Failed {
        rank: Option<u32>,
        why: String,
    },
    /// What a rank wrote; no bytes: the end.
    Output {
        rank: u32,
        error: bool,
        bytes: Vec<u8>,
    },
    /// Of the rank's input; the most possible if it takes no more.
    InputTaken {
        rank: u32,
        bytes: u32,
    },
    /// A line of PMI-1 from a rank.
    Line {
        rank: u32,
        line: String,
    },
    Stage {
        rank: u32,
        pid: i32,
        stage: Stage,
    },
    Ended {
        rank: u32,
        life: Life,
        stage: Stage,
        /// What it had sent and handled, if that is known.
        exchanged: Option<Exchanged>,
    },
    /// A process has ended that the job cannot go on without; a text has said which.
    Missed {
        code: i32,
    },
    Table(Vec<(u32, Row)>),
    /// What a sweep has found.
    Swept {
        number: u32,
        ranks: Vec<(u32, Seen)>,
    },
    Waits {
        number: u32,
        ranks: Vec<ToldRank>,
    },
    Samples {
        number: u32,
        samples: Vec<Sample>,
    },
    /// For standard error, as it is.
    Text(String),
    /// The host of this place cannot be reached any more.
    Lost {
        why: String,
    },
    /// Nothing of the job is left on the host.
    Done,
}

impl Frame {
    /// Errors: a path that is not UTF-8.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        postcard::to_allocvec(self).map_err(|error| error.to_string())
    }

    /// `None`: nonsense.
    pub fn decode(bytes: &[u8]) -> Option<Frame> {
        postcard::from_bytes(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_being_bytes() {
        let frame = Frame::Output {
            rank: 70_000,
            error: true,
            bytes: vec![0, 255, 10],
        };
        let bytes = frame.encode().unwrap();
        let again = Frame::decode(&bytes).unwrap();
        assert_eq!(format!("{again:?}"), format!("{frame:?}"));
        assert!(Frame::decode(&bytes[..2]).is_none());
        assert!(Frame::decode(&[255; 9]).is_none());
    }
}
