//! The table that says what every rank is doing: made when a rank dies, at a timeout, and on SIGUSR1.

use oxmpi::transport::waits::{self, Kind, Object};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// What is known of one rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    pub pid: i32,
    /// running, not in MPI yet, finalized, killed by ..., exit code N, ...
    pub state: String,
    /// What it waits in, if it does.
    pub wait: Option<Wait>,
    /// How long it has waited; of one that does not, how long ago its last wait was.
    pub time: Option<Duration>,
    /// Posted receives, unexpected messages, unfinished sends; `None` if unknown.
    pub queues: Option<(u32, u32, u32)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wait {
    pub function: String,
    /// Threads of the rank that wait too.
    pub further_threads: u32,
    #[serde(with = "in_words")]
    pub what: waits::Wait,
}

/// A wait between the processes of mpiexec, which are of one build.
mod in_words {
    use super::waits::Wait;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(wait: &Wait, to: S) -> Result<S::Ok, S::Error> {
        (wait.to_words(), &wait.name).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Wait, D::Error> {
        let (words, name) = Deserialize::deserialize(from)?;
        Ok(Wait::of_words(&words, name))
    }
}

/// Peer and tag for people, and what the communicator, window or file is called.
fn shown(wait: &waits::Wait) -> [String; 3] {
    let number = |number: i32, any: &str| match number {
        0.. => number.to_string(),
        _ => any.to_owned(),
    };
    let none = || "-".to_owned();
    let (peer, tag) = match (wait.kind, wait.object) {
        (_, Object::Window(_)) => (number(wait.peer, "all"), none()),
        (Kind::Collective, _) => ("all".to_owned(), none()),
        (Kind::Finalize, _) | (_, Object::None | Object::File(_)) => (none(), none()),
        (_, Object::Communicator(_)) => (number(wait.peer, "any"), number(wait.tag, "any")),
    };
    let unnamed = || match wait.object {
        Object::None => none(),
        Object::Window(_) => "a window".to_owned(),
        Object::File(_) => "a file".to_owned(),
        // The two low bits say what the library does with it.
        Object::Communicator(_) => format!("no name, context {}", wait.context & !3),
    };
    let name = match wait.name.is_empty() {
        true => unnamed(),
        false => wait.name.replace(char::is_control, "?"),
    };
    [peer, tag, name]
}

const HEADINGS: [&str; 11] = [
    "rank",
    "pid",
    "state",
    "waits in",
    "peer",
    "tag",
    "communicator",
    "for",
    "posted",
    "unexpected",
    "sending",
];

/// Lines of a table that nobody asked for.
const SHORT: usize = 32;

/// The table as text, a line a rank, columns aligned.
pub fn render(rows: &[Row]) -> String {
    render_some(rows, 0..rows.len())
}

/// The table of a job that may have many ranks: those that do not wait for others come first, they may be why others do.
pub fn render_short(rows: &[Row]) -> String {
    if rows.len() <= SHORT {
        return render(rows);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|rank| rows[*rank].wait.is_some());
    let rest = order.split_off(SHORT);
    order.sort_unstable();
    let mut what: BTreeMap<&str, usize> = BTreeMap::new();
    for rank in &rest {
        let row = &rows[*rank];
        let doing = row.wait.as_ref().map_or(&row.state, |wait| &wait.function);
        *what.entry(doing).or_default() += 1;
    }
    let what: Vec<String> = what
        .iter()
        .map(|(doing, count)| format!("{count} {doing}"))
        .collect();
    let text = render_some(rows, order.into_iter());
    let (count, what) = (rest.len(), what.join(", "));
    format!("{text}  and {count} more ranks: {what}\n")
}

fn render_some(rows: &[Row], ranks: impl Iterator<Item = usize>) -> String {
    let mut table = vec![HEADINGS.map(str::to_owned).to_vec()];
    table.extend(ranks.map(|rank| cells_of(rank, &rows[rank]).to_vec()));
    let lines = aligned(&table);
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// The characters of each column of a table, whose rows have as many cells as the first one.
pub(super) fn widths(table: &[Vec<String>]) -> Vec<usize> {
    let width = |at: usize| table.iter().map(|row| row[at].chars().count()).max();
    (0..table[0].len())
        .map(|at| width(at).unwrap_or(0))
        .collect()
}

/// The lines of a table, columns aligned.
pub(super) fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let widths = widths(table);
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        line.trim_end().to_owned()
    };
    table.iter().map(line).collect()
}

pub(super) fn cells_of(rank: usize, row: &Row) -> [String; 11] {
    let none = || "-".to_owned();
    let function = match &row.wait {
        None => none(),
        Some(wait) if wait.further_threads == 0 => wait.function.clone(),
        Some(wait) => format!("{} +{}", wait.function, wait.further_threads),
    };
    let wait = row.wait.as_ref().map(|wait| shown(&wait.what));
    let [peer, tag, communicator] = wait.unwrap_or_else(|| [none(), none(), none()]);
    let time = row.time.map_or_else(none, duration);
    let (posted, unexpected, sending) = match row.queues {
        Some((a, b, c)) => (a.to_string(), b.to_string(), c.to_string()),
        None => (none(), none(), none()),
    };
    [
        rank.to_string(),
        row.pid.to_string(),
        row.state.clone(),
        function,
        peer,
        tag,
        communicator,
        time,
        posted,
        unexpected,
        sending,
    ]
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A signal's number with its name.
pub fn signal_name(signal: i32) -> String {
    let (name, meaning) = match signal {
        1 => ("SIGHUP", "hangup"),
        2 => ("SIGINT", "interrupt"),
        3 => ("SIGQUIT", "quit"),
        4 => ("SIGILL", "illegal instruction"),
        5 => ("SIGTRAP", "trace trap"),
        6 => ("SIGABRT", "aborted"),
        7 => ("SIGBUS", "bus error"),
        8 => ("SIGFPE", "arithmetic error"),
        9 => ("SIGKILL", "killed"),
        10 => ("SIGUSR1", "user signal 1"),
        11 => ("SIGSEGV", "segmentation fault"),
        12 => ("SIGUSR2", "user signal 2"),
        13 => ("SIGPIPE", "broken pipe"),
        14 => ("SIGALRM", "alarm"),
        15 => ("SIGTERM", "terminated"),
        24 => ("SIGXCPU", "CPU time limit"),
        25 => ("SIGXFSZ", "file size limit"),
        31 => ("SIGSYS", "forbidden system call"),
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name}, {meaning})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi::transport::waits::Whom;

    #[test]
    fn what_a_rank_waits_for_is_shown_by_its_kind() {
        let wait = |kind, object| waits::Wait {
            object,
            peer: 3,
            tag: 7,
            context: 126,
            ..waits::Wait::of(kind, Whom::of([3]))
        };
        let (comm, window) = (Object::Communicator(124), Object::Window(1));
        let all = [
            (
                wait(Kind::Receive, comm),
                ["3", "7", "no name, context 124"],
            ),
            (
                wait(Kind::Collective, comm),
                ["all", "-", "no name, context 124"],
            ),
            (wait(Kind::Lock, window), ["3", "-", "a window"]),
            (
                wait(Kind::FileMeeting, Object::File(1)),
                ["-", "-", "a file"],
            ),
            (
                waits::Wait::of(Kind::Connection, Whom::Outside),
                ["-", "-", "-"],
            ),
        ];
        for (wait, cells) in all {
            assert_eq!(shown(&wait), cells, "{wait:?}");
        }
        let any = waits::Wait {
            peer: -2,
            tag: -1,
            name: "two\nlines".into(),
            ..wait(Kind::Probe, comm)
        };
        assert_eq!(shown(&any), ["any", "any", "two?lines"]);
        let fence = waits::Wait {
            peer: -2,
            ..wait(Kind::Fence, window)
        };
        assert_eq!(shown(&fence)[0], "all");
    }

    #[test]
    fn a_row_comes_from_another_host_as_it_was() {
        let row = Row {
            wait: Some(Wait {
                function: "MPI_Recv".into(),
                further_threads: 1,
                what: waits::Wait {
                    object: Object::Communicator(5 << 33),
                    name: "grid".into(),
                    ..waits::Wait::of(Kind::Receive, Whom::of([70_000, 2]))
                },
            }),
            ..Row::default()
        };
        let bytes = postcard::to_allocvec(&row).unwrap();
        let back: Row = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(back.wait.unwrap().what, row.wait.unwrap().what);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [
            Row {
                pid: 100,
                state: "in MPI".into(),
                wait: Some(Wait {
                    function: "MPI_Recv".into(),
                    further_threads: 0,
                    what: waits::Wait {
                        object: Object::Communicator(0),
                        peer: 1,
                        name: "MPI_COMM_WORLD".into(),
                        ..waits::Wait::of(Kind::Receive, Whom::of([1]))
                    },
                }),
                time: Some(Duration::from_millis(12_340)),
                queues: Some((1, 0, 0)),
            },
            Row {
                pid: 99999,
                state: "ended, code 0".into(),
                ..Row::default()
            },
        ];
        let text = render(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].find("waits in"), lines[1].find("MPI_Recv"));
        assert!(lines[1].contains("12.3 s") && lines[1].contains(" any "));
        assert!(!text.contains(" \n"));
        assert_eq!(duration(Duration::from_secs(3700)), "1 h 1 min");
        assert!(signal_name(11).contains("SIGSEGV"));
    }

    #[test]
    fn of_many_ranks_those_are_shown_that_do_not_wait() {
        let wait = Wait {
            function: "MPI_Barrier".into(),
            further_threads: 2,
            what: waits::Wait::of(Kind::Collective, Whom::Any),
        };
        let row = |rank| Row {
            state: if rank == 99 { "computing" } else { "in MPI" }.into(),
            wait: (rank != 99).then(|| wait.clone()),
            ..Row::default()
        };
        let rows: Vec<Row> = (0..100).map(row).collect();
        let text = render_short(&rows);
        assert_eq!(text.lines().count(), 1 + SHORT + 1);
        assert!(text.contains("  99 ") && text.contains("computing"));
        assert!(text.contains("MPI_Barrier +2"));
        assert!(text.ends_with("and 68 more ranks: 68 MPI_Barrier\n"));
        assert_eq!(render(&rows).lines().count(), 1 + 100);
        assert_eq!(render_short(&rows[..3]), render(&rows[..3]));
    }
}
