//! The table that says what every rank is doing: made when a rank dies, at a timeout, and on SIGUSR1.

use std::fmt::Write;
use std::time::Duration;

/// What is known of one rank.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub pid: i32,
    /// running, not in MPI yet, finalized, killed by ..., exit code N, ...
    pub state: String,
    /// What it waits in, if it does.
    pub wait: Option<Wait>,
    /// Posted receives, unexpected messages, unfinished sends; `None` if unknown.
    pub queues: Option<(u32, u32, u32)>,
}

#[derive(Clone, Debug)]
pub struct Wait {
    pub function: String,
    /// `None`: from anyone, or from all.
    pub peer: Option<i32>,
    pub tag: Option<i32>,
    pub communicator: String,
    pub time: Duration,
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

/// The table as text, a line a rank, columns aligned.
pub fn render(rows: &[Row]) -> String {
    let cells: Vec<[String; 11]> = rows
        .iter()
        .enumerate()
        .map(|(rank, row)| cells_of(rank, row))
        .collect();
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
    let any = |number: Option<i32>| number.map_or("any".to_owned(), |number| number.to_string());
    let none = || "-".to_owned();
    let (function, peer, tag, communicator, time) = match &row.wait {
        Some(wait) => (
            wait.function.clone(),
            any(wait.peer),
            any(wait.tag),
            wait.communicator.clone(),
            duration(wait.time),
        ),
        None => (none(), none(), none(), none(), none()),
    };
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
                    peer: Some(1),
                    tag: None,
                    communicator: "MPI_COMM_WORLD".into(),
                    time: Duration::from_millis(12_340),
                }),
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
}
