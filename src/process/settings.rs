//! All settings of the library in one list, for those who show them (mpiexec, docs/variables.md, MPI_T), and those that
//! belong to the life of the process.
//!
//! Invariant: every [`Variable`] of the library is in [`all`], so none works that nobody can find.

use super::ThreadLevel;
use super::survival::SURVIVE;
use crate::coll::check::CHECK_COLLECTIVES;
use crate::connections::far::Compared;
use crate::error::{Class, Error, Result};
use crate::os::made;
use crate::pt2pt::signatures::CHECK_SIGNATURES;
use crate::queue::shape;
use crate::transport::shm::endpoint::Endpoint;
use crate::transport::shm::layout;
use crate::transport::{net, ofi};
use crate::variables::check::CHECK;
use crate::variables::pretend::PRETEND;
use crate::variables::show::SHOW;
use crate::variables::{self, Listed, Variable};
use crate::{
    choice, coll, context_id, datatype, dynamic, engine, errhandler, events, io, launch, lifetime,
    rma,
};

choice! {
    /// A level of thread support, by MPICH's and Intel's words.
    pub enum Level {
        Single = "MPI_THREAD_SINGLE" | "SINGLE",
        Funneled = "MPI_THREAD_FUNNELED" | "FUNNELED",
        Serialized = "MPI_THREAD_SERIALIZED" | "SERIALIZED",
        Multiple = "MPI_THREAD_MULTIPLE" | "MULTIPLE",
    }
}

impl From<Level> for ThreadLevel {
    fn from(level: Level) -> ThreadLevel {
        match level {
            Level::Single => ThreadLevel::Single,
            Level::Funneled => ThreadLevel::Funneled,
            Level::Serialized => ThreadLevel::Serialized,
            Level::Multiple => ThreadLevel::Multiple,
        }
    }
}

/// What MPI_Init asks for.
pub static THREAD_LEVEL: Variable<Level> = Variable::new(
    "THREAD_LEVEL",
    Level::Single,
    "The level of thread support that MPI_Init gives.",
)
.with_aliases(&[
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL",
    "I_MPI_THREAD_LEVEL_DEFAULT",
]);

pub static SUPPRESS_ABORT_MESSAGE: Variable<bool> = Variable::new(
    "SUPPRESS_ABORT_MESSAGE",
    false,
    "The rank that calls MPI_Abort does not say so (mpiexec still does).",
)
.with_aliases(&["MPIR_CVAR_SUPPRESS_ABORT_MESSAGE"]);

choice! {
    /// What MPI_Get_library_version begins with.
    pub enum LibraryVersion { Mpich = "mpich", Plain = "plain" }
}

pub static LIBRARY_VERSION: Variable<LibraryVersion> = Variable::new(
    "LIBRARY_VERSION",
    LibraryVersion::Mpich,
    "What MPI_Get_library_version says: mpich begins with the line of MPICH whose ABI this is, so that programs that accept \
     known libraries only run, and names oxmpi in the next lines; plain names oxmpi only.",
);

choice! {
    /// The error handler that MPI_COMM_WORLD and MPI_COMM_SELF begin with.
    pub enum InitialErrhandler {
        Fatal = "mpi_errors_are_fatal",
        Abort = "mpi_errors_abort",
        Return = "mpi_errors_return",
    }
}

/// As the info key `mpi_initial_errhandler` of MPI_Comm_spawn says.
pub static INITIAL_ERRHANDLER: Variable<InitialErrhandler> = Variable::new(
    "INITIAL_ERRHANDLER",
    InitialErrhandler::Fatal,
    "The error handler that MPI_COMM_WORLD and MPI_COMM_SELF begin with.",
);

impl InitialErrhandler {
    /// The handle of the predefined error handler.
    pub fn handle(self) -> i32 {
        match self {
            InitialErrhandler::Fatal => errhandler::ERRORS_ARE_FATAL,
            InitialErrhandler::Abort => errhandler::ERRORS_ABORT,
            InitialErrhandler::Return => errhandler::ERRORS_RETURN,
        }
    }
}

/// Settings that belong together.
pub struct Chapter {
    pub name: &'static str,
    pub text: &'static str,
    pub variables: &'static [&'static dyn Listed],
}

static FABRIC: &[&dyn Listed] = &[&ofi::FABRIC, &ofi::rma::FABRIC_RMA, &net::STRAIGHT_BYTES];

static CHECKING: &[&dyn Listed] = &[&CHECK, &CHECK_SIGNATURES];

static OWN: &[&dyn Listed] = &[
    &THREAD_LEVEL,
    &SUPPRESS_ABORT_MESSAGE,
    &LIBRARY_VERSION,
    &INITIAL_ERRHANDLER,
    &SURVIVE,
    &SHOW,
    &PRETEND,
];

/// Every setting of the library, by chapters.
pub fn chapters() -> [Chapter; 16] {
    [
        (
            "collectives",
            "Algorithms of collective operations.",
            coll::choose::VARIABLES,
        ),
        (
            "context_ids",
            "Context ids of communicators.",
            context_id::VARIABLES,
        ),
        (
            "datatypes",
            "Derived datatypes and packing.",
            datatype::pack::VARIABLES,
        ),
        (
            "lifetimes",
            "When freed communicators and datatypes are given back.",
            lifetime::VARIABLES,
        ),
        ("dynamic", "Processes of other jobs.", dynamic::VARIABLES),
        (
            "protocols",
            "How messages travel.",
            engine::dispatch::VARIABLES,
        ),
        (
            "memory",
            "Memory that the ranks of a node share.",
            layout::VARIABLES,
        ),
        (
            "windows",
            "How windows reach memory.",
            rma::share::VARIABLES,
        ),
        ("fabric", "What carries messages between nodes.", FABRIC),
        (
            "waiting",
            "How ranks wait for messages.",
            engine::wait::VARIABLES,
        ),
        (
            "threads",
            "How threads share the library.",
            engine::mapping::VARIABLES,
        ),
        (
            "errors",
            "What is done about errors.",
            errhandler::VARIABLES,
        ),
        ("process", "The life of a process in MPI.", OWN),
        (
            "launch",
            "How processes find each other.",
            launch::VARIABLES,
        ),
        ("checking", "Looking for mistakes of programs.", CHECKING),
        ("tools", "What tools are told.", events::VARIABLES),
    ]
    .map(|(name, text, variables)| Chapter {
        name,
        text,
        variables,
    })
}

/// Every setting of the library.
pub fn all() -> Vec<&'static dyn Listed> {
    let all = chapters().into_iter();
    all.flat_map(|chapter| chapter.variables.iter().copied())
        .collect()
}

/// The settings that must be equal on all ranks.
fn common() -> Vec<&'static dyn Listed> {
    let all = all().into_iter();
    all.filter(|variable| variable.is_same_on_all()).collect()
}

/// What ranks compare: the layout of windows, and the values of variables.
fn compared(layout: u64, variables: &[&dyn Listed]) -> Vec<u64> {
    let values = variables.iter().map(|variable| variable.bits());
    std::iter::once(layout).chain(values).collect()
}

/// A hash of what ranks compare and of the names of the variables.
fn hash(variables: &[&dyn Listed], compared: &[u64]) -> u64 {
    let names = variables.iter().map(|variable| variable.name());
    let hash = names.fold(shape::START, |hash, name| {
        shape::bytes(hash, name.as_bytes())
    });
    shape::combine(&[&[hash], compared].concat())
}

/// The layout of what windows and files have in the node's heap, and the version, for what goes between hosts.
fn build() -> u64 {
    let version = shape::bytes(shape::START, env!("CARGO_PKG_VERSION").as_bytes());
    shape::combine(&[rma::SHAPE, io::SHAPE, version])
}

/// A hash of what must be equal on all ranks, and the values as a text without blanks, for ranks of other hosts.
pub(super) fn told() -> (u64, String) {
    let common = common();
    let compared = compared(build(), &common);
    let values: Vec<String> = compared.iter().map(|value| format!("{value:x}")).collect();
    (hash(&common, &compared), values.join(","))
}

/// What processes of other jobs compare. In words: the build, and settings that are not as by default. How a job's own processes are spread
/// over nodes is no matter of the others, and the cores that a node has are.
pub(super) fn compared_by_other_jobs() -> Compared {
    let of_the_job = [ofi::FABRIC.name(), PRETEND.name()];
    let others = common().into_iter().filter(|variable| {
        variable.value() != variable.default() && !of_the_job.contains(&variable.name())
    });
    let mut words: Vec<String> = others
        .map(|variable| format!("{}={}", variable.name(), variable.value()))
        .collect();
    if PRETEND.get().cores > 0 {
        words.push(format!("{}=cores={}", PRETEND.name(), PRETEND.get().cores));
    }
    let build = build();
    words.push(format!("build {build:x}"));
    Compared {
        hash: told().0,
        words: words.join(" "),
    }
}

/// What is wrong between this rank and one of another host whose hash is another, by the text of its values.
pub(super) fn difference_from(own: u32, (rank, told): (u32, &str)) -> String {
    let common = common();
    let compared = compared(build(), &common);
    let values = told.split(',').map(|value| u64::from_str_radix(value, 16));
    // Nonsense is another build.
    let values: Vec<u64> = values.map(|value| value.unwrap_or_default()).collect();
    let own = (own as usize, compared.as_slice());
    difference(&common, own, (rank as usize, &values))
}

/// Compares the settings that must be equal on all ranks with those of the rank that joined first: ranks with different ones
/// would choose different algorithms, and wait for each other for ever. Also the layout of windows and files, which the segment's does not cover.
/// `ranks`: those of the segment, this one at `seat`. Ranks of other hosts are compared with at the first message ([`told`]).
///
/// Errors: MPI_ERR_OTHER with the ranks, and with variables and values or that the builds differ.
pub(super) fn compare(endpoint: &Endpoint, ranks: &[u32], seat: usize) -> Result<()> {
    let common = common();
    let compared = compared(build(), &common);
    let told = endpoint.compare_settings(hash(&common, &compared), &compared);
    told.map_err(|other| {
        let rank = |seat: usize| ranks.get(seat).map_or(seat, |rank| *rank as usize);
        let own = (rank(seat), compared.as_slice());
        Error::new(
            Class::Other,
            difference(&common, own, (rank(other.rank), &other.values)),
        )
    })
}

/// What differs between two ranks, the lower one first.
fn difference(variables: &[&dyn Listed], own: (usize, &[u64]), other: (usize, &[u64])) -> String {
    let (low, high) = if own.0 < other.0 {
        (own, other)
    } else {
        (other, own)
    };
    if low.1.first() != high.1.first() {
        return format!(
            "ranks {} and {} have different builds of oxmpi: libmpi must be of one installation",
            low.0, high.0
        );
    }
    let differ = variables.iter().zip(low.1.iter().zip(high.1).skip(1));
    let parts: Vec<String> = differ
        .filter(|(_, (one, two))| one != two)
        .map(|(variable, (one, two))| {
            format!(
                "{} is {} on rank {} and {} on rank {}",
                variable.name(),
                variable.shown(*one),
                low.0,
                variable.shown(*two),
                high.0
            )
        })
        .collect();
    if parts.is_empty() {
        // Values that were overwritten, or variables of another build.
        return format!("the settings of ranks {} and {} differ", low.0, high.0);
    }
    format!("{}; it must be the same on all ranks", parts.join(", "))
}

/// What `OXMPI_CHECK` asks for is asked for by the variables of the checks, too.
fn ask_for_checks() {
    let check = CHECK.get();
    if check.leaks {
        made::begin();
    }
    let asked = [
        (check.collectives, &CHECK_COLLECTIVES),
        (check.signatures, &CHECK_SIGNATURES),
    ];
    for (_, variable) in asked.into_iter().filter(|(is_asked, _)| *is_asked) {
        // After the first MPI_Init nothing changes any more.
        let _ = variable.set_bits(1);
    }
}

/// Reads all settings and, on rank 0, says what is wrong with them, and shows them if that is wanted.
pub(super) fn read(rank: u32) {
    ask_for_checks();
    let all = all();
    let shown = variables::describe(&all);
    let mistakes = variables::take_mistakes();
    if rank != 0 {
        return;
    }
    let mut text: String = mistakes
        .iter()
        .map(|mistake| format!("oxmpi: {mistake}\n"))
        .collect();
    if SHOW.get().variables {
        text.push_str(&shown);
    }
    if !text.is_empty() {
        eprint!("{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_texts_are_sentences() {
        let all = all();
        let mut names = BTreeSet::new();
        for variable in &all {
            let own = variable.name();
            for name in std::iter::once(own.as_str()).chain(variable.aliases().iter().copied()) {
                assert!(names.insert(name.to_owned()), "{name} twice");
            }
            assert!(variable.text().ends_with('.'), "{own}");
        }
    }

    #[test]
    fn what_differs_is_named_lower_rank_first() {
        static COLOUR: Variable<bool> = Variable::new("COLOUR", false, "It.");
        static LIMIT: Variable<u64> = Variable::new("LIMIT", 1, "It.");
        let both: [&dyn Listed; 2] = [&COLOUR, &LIMIT];
        assert_ne!(hash(&both, &[3, 0, 7]), hash(&both, &[3, 0, 8]));
        assert_ne!(hash(&both, &[3, 0, 7]), hash(&both, &[4, 0, 7]));
        assert_ne!(hash(&both[..1], &[3, 1]), hash(&both[1..], &[3, 1]));
        let one = "OXMPI_LIMIT is 7 on rank 2 and 8 on rank 5; it must be the same on all ranks";
        assert_eq!(difference(&both, (5, &[3, 1, 8]), (2, &[3, 1, 7])), one);
        let two = difference(&both, (0, &[3, 0, 8]), (1, &[3, 1, 7]));
        assert!(
            two.starts_with("OXMPI_COLOUR is false on rank 0 and true on rank 1, OXMPI_LIMIT is")
        );
        let builds = difference(&both, (4, &[9, 0, 8]), (1, &[3, 1, 7]));
        assert!(builds.starts_with("ranks 1 and 4 have different builds of oxmpi: libmpi"));
    }

    #[test]
    fn ranks_compare_the_layout_of_windows_before_settings() {
        let common = common();
        let values = compared(build(), &common);
        assert_eq!(values[0], build());
        assert_eq!(values.len(), common.len() + 1);
        assert_ne!(
            hash(&common, &values),
            hash(&common, &compared(!build(), &common))
        );
    }

    #[test]
    fn all_that_must_be_equal_can_be_compared() {
        let names: Vec<String> = common().iter().map(|variable| variable.name()).collect();
        assert!(names.len() < crate::transport::shm::settings::MOST);
        for name in [
            "ALLREDUCE",
            "SCAN",
            "REPRODUCIBLE",
            "STAGING",
            "CHECK_SIGNATURES",
            "CONTEXT_EAGER_WORDS",
        ] {
            assert!(names.contains(&format!("OXMPI_{name}")), "{name}");
        }
    }

    /// Whether a line of source declares a variable: by itself, or as a row of the table of routes (`choose::routes`).
    fn declares(line: &str) -> bool {
        let is_begin = line.starts_with("static ") || line.starts_with("pub");
        let is_route = line.contains(" = \"") && line.contains("\", \"MPI_");
        is_begin && line.contains(": Variable<") || is_route && line.ends_with("\";")
    }

    /// A variable that is declared and not listed works, but nobody is told.
    #[test]
    fn every_declaration_is_listed() {
        let mut declared = 0;
        let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name().is_some_and(|name| name != "variables.rs") {
                    let source = std::fs::read_to_string(&path).unwrap();
                    declared += source.lines().filter(|line| declares(line)).count();
                }
            }
        }
        // Five are compiled with the feature only.
        let left_out = if cfg!(feature = "papers") { 0 } else { 5 };
        assert_eq!(all().len() + left_out, declared);
    }
}
