//! The table that says what every rank is doing: made when a rank dies, at a timeout, and on SIGUSR1.

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
    pub peer: String,
    pub tag: String,
    pub communicator: String,
}

const HEADINGS: [&str; 10] = [
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
    let cells: Vec<[String; 11]> = ranks.map(|rank| cells_of(rank, &rows[rank])).collect();
    let headings: Vec<&str> = HEADINGS.into_iter().chain(["sending"]).collect();
    let widths: Vec<usize> = (0..headings.len())
        .map(|column| {
            let cells = cells.iter().map(|row| row[column].chars().count());
            cells.chain([headings[column].len()]).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    let mut line = |cells: &[&str]| {
        let mut line = String::from(" ");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, " {cell:width$} ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(&headings);
    for row in &cells {
        let row: Vec<&str> = row.iter().map(String::as_str).collect();
        line(&row);
    }
    text
}

fn cells_of(rank: usize, row: &Row) -> [String; 11] {
    let none = || "-".to_owned();
    let (function, peer, tag, communicator) = match &row.wait {
        Some(wait) => (
            match wait.further_threads {
                0 => wait.function.clone(),
                further => format!("{} +{further}", wait.function),
            },
            wait.peer.clone(),
            wait.tag.clone(),
            wait.communicator.clone(),
        ),
        None => (none(), none(), none(), none()),
    };
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

    #[test]
    fn columns_are_aligned() {
        let rows = [
            Row {
                pid: 100,
                state: "in MPI".into(),
                wait: Some(Wait {
                    function: "MPI_Recv".into(),
                    further_threads: 0,
                    peer: "1".into(),
                    tag: "any".into(),
                    communicator: "MPI_COMM_WORLD".into(),
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
            peer: "all".into(),
            tag: "-".into(),
            communicator: "-".into(),
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
