//! What a run is, from its seed: ranks, threads, rounds, and variables of the library.
//! Invariant: the same seed and family give the same setting on every machine.

use std::fmt::Write;

/// Kinds of runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Family {
    /// The library as it is delivered.
    Defaults,
    /// Some of its variables at random.
    Variables,
    /// MPI_THREAD_MULTIPLE with several threads, some variables.
    Threads,
    /// Ranks stopped, continued and moved between cores; some variables, threads.
    Disturbed,
}

pub const FAMILIES: [Family; 4] = [
    Family::Defaults,
    Family::Variables,
    Family::Threads,
    Family::Disturbed,
];

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Family::Defaults => "defaults",
            Family::Variables => "variables",
            Family::Threads => "threads",
            Family::Disturbed => "disturbed",
        }
    }
}

/// Variables that change what the library does, with values that are worth trying.
const VARIABLES: &[(&str, &[&str])] = &[
    ("OXMPI_EAGER_BYTES", &["0", "1k", "16k", "40000", "1m"]),
    ("OXMPI_SINGLE_COPY", &["no", "always"]),
    ("OXMPI_SINGLE_COPY_BYTES", &["1", "16k", "1m"]),
    ("OXMPI_SEGMENT_BYTES", &["1", "300k", "1m", "8m"]),
    ("OXMPI_SPINS", &["1", "100"]),
    ("OXMPI_SPINS_OVERSUBSCRIBED", &["1", "250"]),
    ("OXMPI_SLEEP_AFTER", &["0", "10", "100000"]),
    ("OXMPI_ENGINES", &["1", "2", "3", "16"]),
    ("OXMPI_PRETEND", &["nodes=2", "nodes=3"]),
    ("OXMPI_STAGING", &["no"]),
    ("OXMPI_CHECK_COLLECTIVES", &["yes"]),
    ("OXMPI_CHECK_SIGNATURES", &["yes"]),
    ("OXMPI_CONTEXT_EAGER_WORDS", &["0", "1", "256"]),
    ("OXMPI_KERNELS", &["avx512", "avx2", "plain"]),
    ("OXMPI_REPRODUCIBLE", &["yes"]),
    (
        "OXMPI_BARRIER",
        &["staged", "nodes", "dissemination", "central"],
    ),
    (
        "OXMPI_BCAST",
        &[
            "staged",
            "nodes",
            "binomial",
            "linear",
            "scatter_allgather",
            "chain",
        ],
    ),
    ("OXMPI_GATHER", &["staged", "nodes", "linear", "binomial"]),
    ("OXMPI_SCATTER", &["staged", "nodes", "linear", "binomial"]),
    (
        "OXMPI_ALLGATHER",
        &[
            "staged",
            "nodes",
            "ring",
            "bruck",
            "recursive_doubling",
            "gather_broadcast",
            "linear",
        ],
    ),
    (
        "OXMPI_ALLTOALL",
        &["staged", "nodes", "linear", "pairwise", "bruck"],
    ),
    (
        "OXMPI_REDUCE",
        &[
            "staged",
            "nodes",
            "binomial",
            "linear",
            "chain",
            "scatter_gather",
        ],
    ),
    (
        "OXMPI_ALLREDUCE",
        &[
            "staged",
            "nodes",
            "recursive_doubling",
            "halving_doubling",
            "ring",
            "tree",
            "linear",
        ],
    ),
    (
        "OXMPI_REDUCE_SCATTER",
        &["staged", "nodes", "ring", "linear", "reduce_then_scatter"],
    ),
    ("OXMPI_SCAN", &["staged", "nodes", "linear", "doubling"]),
];

/// A seeded generator (splitmix64), the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// 0 to limit - 1.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// One run.
pub struct Setting {
    pub seed: u64,
    pub ranks: usize,
    pub lanes: usize,
    pub rounds: usize,
    pub disturbed: bool,
    pub environment: Vec<(&'static str, &'static str)>,
}

impl Setting {
    pub fn new(family: Family, seed: u64, without: &[String]) -> Setting {
        let mut random = Random::new(seed.wrapping_mul(8) + family as u64);
        let ranks = match random.below(8) {
            0 => 1,
            1 | 2 => 2,
            3 => 3 + random.below(2),
            4 | 5 => 2 + random.below(4),
            6 => 5 + random.below(4),
            _ => 9 + random.below(8),
        };
        let threaded =
            family == Family::Threads || family == Family::Disturbed && random.below(3) == 0;
        let lanes = if threaded { 2 + random.below(3) } else { 1 };
        let variables = match family {
            Family::Defaults => 0,
            Family::Variables => 1 + random.below(6),
            Family::Threads | Family::Disturbed => random.below(4),
        };
        let mut environment: Vec<(&str, &str)> = Vec::new();
        for _ in 0..variables {
            let (name, values) = VARIABLES[random.below(VARIABLES.len())];
            let value = values[random.below(values.len())];
            let known = environment.iter().any(|(other, _)| *other == name);
            if !known && !without.iter().any(|other| other == name) {
                environment.push((name, value));
            }
        }
        Setting {
            seed: random.next() % 1_000_000,
            ranks,
            lanes,
            rounds: 4 + 60 / (ranks * lanes),
            disturbed: family == Family::Disturbed,
            environment,
        }
    }

    /// The words of the variables, as a shell takes them.
    pub fn variables(&self) -> String {
        self.environment
            .iter()
            .fold(String::new(), |mut text, (name, value)| {
                let _ = write!(text, "{name}={value} ");
                text
            })
    }
}
