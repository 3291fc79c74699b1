//! The command line, understood: what to run, as the user said it, nothing resolved yet.
//!
//! Invariant: every program of a `Request` has a command.

use super::layout::Order;
use super::sessions::Sessions;
use super::words;
use oxmpi::process::survival::Survive;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

pub use super::rank_list::StandardInput;
pub use super::tools::Tool;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pass {
    All,
    Nothing,
    List(Vec<String>),
    AllBut(Vec<String>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Label {
    #[default]
    None,
    Rank,
    Tag,
    Pattern(String),
}

pub use oxmpi::launch::MOST_RANKS;

/// Where Open MPI's -output-filename puts copies of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFolder {
    pub path: String,
    /// Output goes to mpiexec's own too.
    pub copy: bool,
    /// The number of the job is part of the path.
    pub job: bool,
}

impl OutputFolder {
    pub fn parse(text: &str) -> Result<OutputFolder, String> {
        let mut parts = text.split(':');
        let path = parts.next().unwrap_or_default().to_owned();
        if path.is_empty() {
            return Err(format!("'{text}' names no folder"));
        }
        let (mut copy, mut job) = (true, true);
        for part in parts {
            match part.to_ascii_lowercase().as_str() {
                "nocopy" => copy = false,
                "nojobid" => job = false,
                "copy" | "jobid" => {}
                _ => return Err(format!("'{part}' is neither nocopy nor nojobid")),
            }
        }
        Ok(OutputFolder { path, copy, job })
    }
}

/// One of the programs between colons.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Program {
    pub ranks: Option<u32>,
    pub set: Vec<(String, String)>,
    pub pass: Option<Pass>,
    pub folder: Option<String>,
    pub command: Vec<OsString>,
    /// Hosts of its own, in place of the job's.
    pub hosts: Vec<String>,
    pub host_file: Option<String>,
}

/// What MPI_UNIVERSE_SIZE says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Universe {
    /// What the hosts have room for.
    #[default]
    System,
    Of(u32),
    /// The attribute stays unset, as with MPICH.
    Infinite,
}

impl Universe {
    /// Turns `System` into what the hosts have `room` for.
    pub fn settle(&mut self, room: u32) {
        if *self == Universe::System {
            *self = Universe::Of(room);
        }
    }

    /// The size for a job of `ranks`.
    pub fn size(self, ranks: u32) -> Option<u32> {
        match self {
            Universe::System => Some(ranks),
            Universe::Of(size) => Some(size),
            Universe::Infinite => None,
        }
    }
}

/// All that was asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Request {
    pub programs: Vec<Program>,
    pub set: Vec<(String, String)>,
    pub also_pass: Vec<String>,
    pub pass: Option<Pass>,
    pub folder: Option<String>,
    pub path: Option<String>,
    pub universe: Universe,
    /// As `-pset` has them.
    pub process_sets: Vec<String>,
    pub hosts: Vec<String>,
    pub host_file: Option<String>,
    pub order: Order,
    /// No ranks on this host.
    pub no_local: bool,
    /// How keepers on other hosts are started, and by which program.
    pub launcher: Option<String>,
    pub launcher_path: Option<String>,
    pub fan_out: Option<u32>,
    /// Seconds without a sign of life after which another host is taken for lost.
    pub host_timeout: Option<f64>,
    pub ranks_per_host: Option<u32>,
    pub ranks_per_socket: Option<u32>,
    pub no_oversubscribe: bool,
    /// The processors that may be used; `None`: all.
    pub processors: Option<Vec<usize>>,
    pub cores_per_rank: Option<u32>,
    /// Where cores are counted, hardware threads are meant.
    pub hardware_threads: bool,
    pub rank_file: Option<String>,
    pub bind_to: Option<String>,
    pub sessions: Option<Sessions>,
    pub report_bindings: bool,
    pub label: Label,
    /// Each line begins with the time.
    pub timestamps: bool,
    pub output_file: Option<String>,
    pub error_file: Option<String>,
    pub output_folder: Option<OutputFolder>,
    /// Error output goes where output goes.
    pub merge_error: bool,
    pub input: StandardInput,
    pub timeout: Option<f64>,
    /// At the timeout.
    pub stack_traces: bool,
    /// What is done about a job that is stuck.
    pub deadlock: Option<Deadlock>,
    /// Each rank in a debugger, and this process before them.
    pub gdb: bool,
    #[serde(skip)]
    pub tools: Vec<Tool>,
    pub report_pid: Option<String>,
    /// Where the timeline goes.
    pub timeline: Option<String>,
    /// What each host writes of it at most, bytes.
    pub timeline_limit: Option<u64>,
    pub do_not_launch: bool,
    pub print_protocols: bool,
    /// Options that change nothing, with the reason.
    pub without_effect: Vec<String>,
    pub print_rank_map: bool,
    pub print_exit_codes: bool,
    pub keep_going: bool,
    /// Whether the program goes on when a rank dies: by an option, or what has been settled.
    #[serde(skip)]
    pub survive: Option<Survive>,
    pub verbose: bool,
}

/// What is done about a job that is stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deadlock {
    /// It is said.
    #[default]
    Report,
    /// It is said, and the job ends.
    Abort,
    /// Nobody looks.
    Off,
}

impl Deadlock {
    /// Errors: none of them.
    pub fn parse(text: &str) -> Result<Deadlock, String> {
        match text {
            "report" => Ok(Deadlock::Report),
            "abort" => Ok(Deadlock::Abort),
            "off" => Ok(Deadlock::Off),
            _ => Err(format!("'{text}' is not report, abort or off")),
        }
    }
}

/// What the command line wants.
#[derive(Debug)]
pub enum Answer {
    Run(Box<Request>),
    Help,
    Version,
    Info,
    Doctor,
    /// What follows the option.
    Top(Vec<String>),
}

/// Reads a file as text.
pub type Read<'a> = &'a dyn Fn(&str) -> std::io::Result<String>;

/// How many configuration files one command may name, themselves included if they name each other.
const MOST_CONFIG_FILES: usize = 64;

/// The state while parsing; the options of the table set its fields.
pub struct Parsing<'a> {
    pub request: Request,
    pub program: Program,
    /// Sections from a configuration file, not parsed yet.
    pub(super) from_file: Vec<Vec<OsString>>,
    pub(super) config_files: usize,
    pub(super) read: Read<'a>,
}

impl Parsing<'_> {
    /// The folder that -wdir sets: of all programs if it comes first in the command line of several, as in MPICH; a
    /// program's own one wins.
    pub fn folder(&mut self) -> &mut Option<String> {
        &mut self.program.folder
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Result<String, String> {
        (self.read)(path).map_err(|error| format!("cannot read {path}: {error}"))
    }

    /// Reads a file of program lines; `#` begins a comment, quotes work as in a shell.
    pub fn config_file(&mut self, path: &str) -> Result<(), String> {
        self.config_files += 1;
        if self.config_files > MOST_CONFIG_FILES {
            return Err(format!(
                "{path} is one of more than {MOST_CONFIG_FILES} configuration files: does one name itself?"
            ));
        }
        let text = self.text(path)?;
        for (number, line) in words::logical_lines(&text) {
            let words = words::split(&line).map_err(|error| format!("{path}:{number}: {error}"))?;
            let sections = words.split(|word| word == ":");
            self.from_file.extend(
                sections
                    .filter(|section| !section.is_empty())
                    .map(|section| section.iter().map(OsString::from).collect()),
            );
        }
        Ok(())
    }
}
