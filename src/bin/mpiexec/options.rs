//! The table of options, from which parsing, help and suggestions are made. An option may be written with one dash or
//! two, as MPICH's and Open MPI's users do, and `--name=value` means `--name value`.
//!
//! Invariant: an option not in the table is an error, never ignored; one that is accepted without effect says so here.

use super::request::{Label, Parsing, Pass, StandardInput};
use super::words;

/// How many arguments an option takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    None,
    One(&'static str),
    /// `NAME VALUE`, or one argument `NAME=VALUE`.
    Variable,
    Two(&'static str),
}

type Set = fn(&mut Parsing, &[String]) -> Result<(), String>;

pub struct Choice {
    /// Without dashes; the first one is shown first.
    pub names: &'static [&'static str],
    pub takes: Takes,
    /// Empty: accepted for the sake of other launchers' users, without effect on one machine, and not in the help.
    pub help: &'static str,
    pub set: Set,
}

const fn choice(
    names: &'static [&'static str],
    takes: Takes,
    help: &'static str,
    set: Set,
) -> Choice {
    Choice {
        names,
        takes,
        help,
        set,
    }
}

const fn without_effect(names: &'static [&'static str], takes: Takes) -> Choice {
    choice(names, takes, "", |_, _| Ok(()))
}

/// Headings and the options below them.
pub const SECTIONS: &[(&str, &[Choice])] = &[
    ("What to run", WHAT),
    ("Process sets", SETS),
    ("Environment", ENVIRONMENT),
    ("Where", WHERE),
    ("Input and output", STREAMS),
    ("Watching", WATCHING),
    ("Accepted without effect", SILENT),
];

use Takes::{None as No, One, Two, Variable};

const WHAT: &[Choice] = &[
    choice(
        &["n", "np", "c"],
        One("N"),
        "number of ranks (1)",
        |parsing, given| {
            parsing.program.ranks = Some(positive(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["wdir", "wd"],
        One("FOLDER"),
        "working folder of the ranks",
        |parsing, given| {
            *parsing.folder() = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["path"],
        One("FOLDERS"),
        "where to look for the programs, before PATH",
        |parsing, given| {
            parsing.request.path = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["configfile"],
        One("FILE"),
        "take options and programs from a file, one program a line",
        |parsing, given| parsing.config_file(&given[0]),
    ),
    choice(
        &["usize"],
        One("N"),
        "universe size: a number, SYSTEM or INFINITE",
        |parsing, given| {
            parsing.request.universe_size = match given[0].to_ascii_uppercase().as_str() {
                "SYSTEM" | "INFINITE" => None,
                _ => Some(positive(&given[0])?),
            };
            Ok(())
        },
    ),
];

const SETS: &[Choice] = &[choice(
    &["pset"],
    One("NAME=RANKS"),
    "a process set for MPI's sessions: ranks such as 0-3,6 or 0-6:2 or all; may be repeated",
    |parsing, given| {
        parsing.request.process_sets.push(given[0].clone());
        Ok(())
    },
)];

const ENVIRONMENT: &[Choice] = &[
    choice(
        &["genv"],
        Variable,
        "set a variable for all programs",
        |parsing, given| {
            let pair = pair(given)?;
            parsing.request.set.push(pair);
            Ok(())
        },
    ),
    choice(
        &["env"],
        Variable,
        "set a variable for this program",
        |parsing, given| {
            let pair = pair(given)?;
            parsing.program.set.push(pair);
            Ok(())
        },
    ),
    choice(
        &["x"],
        One("NAME[=VALUE]"),
        "pass or set a variable (Open MPI's way)",
        |parsing, given| {
            let value = given[0].split_once('=');
            match value {
                Some((name, value)) => parsing.request.set.push((name.into(), value.into())),
                // Everything is passed anyhow, unless another option says otherwise.
                None => parsing.request.also_pass.push(given[0].clone()),
            }
            Ok(())
        },
    ),
    choice(
        &["genvlist"],
        One("A,B,.."),
        "pass only these variables",
        |parsing, given| {
            parsing.request.pass = Some(Pass::List(list(&given[0])));
            Ok(())
        },
    ),
    choice(
        &["envlist"],
        One("A,B,.."),
        "the same for this program",
        |parsing, given| {
            parsing.program.pass = Some(Pass::List(list(&given[0])));
            Ok(())
        },
    ),
    choice(
        &["genvall"],
        No,
        "pass the whole environment (default)",
        |parsing, _| {
            parsing.request.pass = Some(Pass::All);
            Ok(())
        },
    ),
    choice(
        &["envall"],
        No,
        "the same for this program",
        |parsing, _| {
            parsing.program.pass = Some(Pass::All);
            Ok(())
        },
    ),
    choice(&["genvnone"], No, "pass no variable", |parsing, _| {
        parsing.request.pass = Some(Pass::Nothing);
        Ok(())
    }),
    choice(
        &["envnone"],
        No,
        "the same for this program",
        |parsing, _| {
            parsing.program.pass = Some(Pass::Nothing);
            Ok(())
        },
    ),
];

const WHERE: &[Choice] = &[
    choice(
        &["hosts", "host", "H"],
        One("A[:N],B,.."),
        "hosts and their slots; this host only, for now",
        |parsing, given| {
            parsing.request.hosts.extend(list(&given[0]));
            Ok(())
        },
    ),
    choice(
        &["f", "hostfile", "machinefile", "machine"],
        One("FILE"),
        "file of hosts: a line is HOST, HOST:N or HOST slots=N",
        |parsing, given| {
            parsing.request.host_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["ppn", "N", "npernode", "perhost"],
        One("N"),
        "ranks a host; the number of ranks if -n is not given",
        |parsing, given| {
            parsing.request.ranks_per_host = Some(positive(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["bind-to", "binding"],
        One("WHAT"),
        "core[:N], hwthread[:N], socket, numa, none, user:0,1,.. (an equal share of the cores each; none if \
         there are more ranks than cores)",
        |parsing, given| {
            parsing.request.bind_to = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["report-bindings"],
        No,
        "print the cores of each rank",
        |parsing, _| {
            parsing.request.report_bindings = true;
            Ok(())
        },
    ),
    choice(
        &["oversubscribe"],
        No,
        "more ranks than cores: always allowed; binds nothing then",
        |_, _| Ok(()),
    ),
    choice(&["allow-run-as-root"], No, "never needed", |_, _| Ok(())),
];

const STREAMS: &[Choice] = &[
    choice(
        &["l", "prepend-rank"],
        No,
        "begin each line of output with its rank",
        |parsing, _| {
            parsing.request.label = Label::Rank;
            Ok(())
        },
    ),
    choice(
        &["tag-output"],
        No,
        "the same as Open MPI writes it",
        |parsing, _| {
            parsing.request.label = Label::Tag;
            Ok(())
        },
    ),
    choice(
        &["prepend-pattern"],
        One("TEXT"),
        "begin each line with a text: %r rank, %n ranks, %h host, %p process id of mpiexec, %% percent",
        |parsing, given| {
            parsing.request.label = Label::Pattern(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["outfile-pattern", "outfile"],
        One("TEXT"),
        "write a rank's output to a file",
        |parsing, given| {
            parsing.request.output_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["errfile-pattern", "errfile"],
        One("TEXT"),
        "the same for its error output",
        |parsing, given| {
            parsing.request.error_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["s", "stdin"],
        One("WHO"),
        "who reads standard input: 0, 1,3-5, all, none (0)",
        |parsing, given| {
            parsing.request.input = StandardInput::parse(&given[0])?;
            Ok(())
        },
    ),
];

const WATCHING: &[Choice] = &[
    choice(
        &["timeout"],
        One("SECONDS"),
        "end the job then, and say what each rank was waiting for (exit code 124)",
        |parsing, given| {
            parsing.request.timeout = Some(seconds(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["print-rank-map", "display-map"],
        No,
        "print which ranks run where",
        |parsing, _| {
            parsing.request.print_rank_map = true;
            Ok(())
        },
    ),
    choice(
        &["print-all-exitcodes"],
        No,
        "print the exit code of each rank",
        |parsing, _| {
            parsing.request.print_exit_codes = true;
            Ok(())
        },
    ),
    choice(
        &["disable-auto-cleanup"],
        No,
        "let the others go on when a rank dies",
        |parsing, _| {
            parsing.request.keep_going = true;
            Ok(())
        },
    ),
    choice(&["v", "verbose"], No, "say what is done", |parsing, _| {
        parsing.request.verbose = true;
        Ok(())
    }),
];

/// What matters on clusters, or is said in other ways here. The value, if any, is not looked at.
const SILENT: &[Choice] = &[
    without_effect(
        &[
            "launcher",
            "bootstrap",
            "launcher-exec",
            "bootstrap-exec",
            "rmk",
            "iface",
            "demux",
            "topolib",
        ],
        One("X"),
    ),
    without_effect(
        &[
            "membind",
            "nameserver",
            "localhost",
            "gpus-per-proc",
            "prefix",
        ],
        One("X"),
    ),
    without_effect(&["map-by", "rank-by", "order-nodes", "display"], One("X")),
    without_effect(
        &[
            "enable-x",
            "disable-x",
            "disable-hostname-propagation",
            "pmi-port",
            "profile",
            "q",
            "quiet",
        ],
        No,
    ),
    without_effect(&["mca", "prtemca", "pmixmca", "gmca"], Two("NAME VALUE")),
];

/// The option of this name, without dashes.
pub fn find(name: &str) -> Option<&'static Choice> {
    all().find(|choice| choice.names.contains(&name))
}

/// Every option.
pub fn all() -> impl Iterator<Item = &'static Choice> {
    SECTIONS.iter().flat_map(|(_, choices)| choices.iter())
}

/// Names that end the parsing with an answer; see `request::Answer`.
pub const ANSWERS: &[&str] = &["help", "h", "?", "version", "V", "info"];

/// The known name that an unknown one most likely means.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let names = all().flat_map(|choice| choice.names.iter());
    words::nearest(name, names.chain(ANSWERS).copied())
}

fn positive(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number) if (1..=i32::MAX as u32).contains(&number) => Ok(number),
        _ => Err(format!("'{text}' is not a positive number")),
    }
}

/// A time limit in seconds; 0 and -1 mean none.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= -1.0 => Ok(number),
        _ => Err(format!("'{text}' is not a number of seconds")),
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn pair(given: &[String]) -> Result<(String, String), String> {
    let (name, value) = match given {
        [both] => both.split_once('=').unwrap_or((both, "")),
        [name, value, ..] => (name.as_str(), value.as_str()),
        [] => ("", ""),
    };
    if name.is_empty() {
        return Err("a variable needs a name".into());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_two_things() {
        let mut names: Vec<&str> = all().flat_map(|choice| choice.names).copied().collect();
        names.extend(ANSWERS);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn near_misses_are_suggested() {
        assert_eq!(suggestion("bindto"), Some("bind-to"));
        assert_eq!(suggestion("timeuot"), Some("timeout"));
        assert_eq!(suggestion("zzzzzz"), None);
        assert_eq!(suggestion("porl"), None);
    }
}
