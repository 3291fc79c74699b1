//! `mpiexec -top PID`: what the ranks of a running job do, again and again. Reads the pages of the segment, which the supervisor
//! of the job has open, so neither it nor the ranks notice.
//!
//! Invariant: nothing is written to the segment.

use super::rank::Rank;
use super::table::{self, Row};
use super::{balance, descendants};
use oxmpi::launch::names;
use oxmpi::os::memory::Mapping;
use oxmpi::os::process::open_of;
use oxmpi::sync::Ordering;
use oxmpi::transport::counters::{self, Sum};
use oxmpi::transport::layout::Segment;
use rustix::termios::{isatty, tcgetwinsize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// Looks at a rank in a period, for the share of time in which it waits; of all ranks together at most so many.
const LOOKS: usize = 20;
const ALL_LOOKS: usize = 1280;
/// Looks at many ranks must not be a load themselves.
const FEWEST_LOOKS: usize = 4;
/// A rank that waits less than this is the one that others wait for, if they wait more than that.
const LATE: u32 = 25;
const WAITING: u32 = 50;

const HEADINGS: [&str; 17] = [
    "rank",
    "pid",
    "state",
    "waits %",
    "cpu %",
    "messages/s",
    "MB/s",
    "unexpected/s",
    "waits in",
    "peer",
    "tag",
    "communicator",
    "for",
    "posted",
    "unexpected",
    "sending",
    "",
];

/// Where a terminal is too narrow for all columns, these go, the first one first.
const LEAST_WANTED: [&str; 11] = [
    "pid",
    "sending",
    "posted",
    "unexpected",
    "communicator",
    "tag",
    "unexpected/s",
    "cpu %",
    "for",
    "MB/s",
    "messages/s",
];

/// What a process's environment says of its place.
struct Place {
    pid: i32,
    rank: usize,
    size: usize,
    seat: usize,
    seats: usize,
    segment: (i32, u64),
    keeper: i32,
}

struct Line {
    row: Row,
    rank: usize,
    /// Looks at which it waited, of a hundred.
    waits: u32,
    /// Of one processor.
    busy: u32,
    /// What it has sent and met since the last time; `None`: its memory cannot be read.
    counted: Option<Rates>,
}

/// In a second.
#[derive(Clone, Copy)]
struct Rates {
    messages: f64,
    /// 10^6, of messages that are announced.
    megabytes: f64,
    unexpected: f64,
}

impl Rates {
    fn of(before: Option<Sum>, now: Option<Sum>, seconds: f64) -> Option<Rates> {
        let (before, now) = (before?, now?);
        let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / seconds;
        Some(Rates {
            messages: rate(before.messages, now.messages),
            megabytes: rate(before.bytes, now.bytes) / 1e6,
            unexpected: rate(before.unexpected, now.unexpected),
        })
    }
}

/// Three digits, in thousands and millions.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        1e9.. => (value / 1e9, "G"),
        1e6.. => (value / 1e6, "M"),
        1e3.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    match value < 10.0 && value > 0.0 {
        true => format!("{value:.1}{unit}"),
        false => format!("{value:.0}{unit}"),
    }
}

/// Shows the job until it ends; the exit code.
pub fn run(words: &[String]) -> Result<i32, String> {
    let (pid, period) = match words {
        [pid] => (pid, 1.0),
        [pid, period] => (pid, period.parse().unwrap_or(0.0)),
        _ => return Err("-top takes the process id of an mpiexec, and perhaps seconds".into()),
    };
    if !(0.05..=3600.0).contains(&period) {
        return Err("-top: the period is from 0.05 to 3600 seconds".into());
    }
    let root: i32 = pid
        .parse()
        .ok()
        .filter(|pid| *pid > 0)
        .ok_or(format!("-top: '{pid}' is no process id"))?;
    let places = places(root);
    let Some(first) = places.first() else {
        return Err(format!(
            "-top: no rank of oxmpi runs below process {root} on this host (mpiexec -report-pid tells its number)"
        ));
    };
    let segment = open_of(first.keeper, first.segment.0, first.segment.1);
    let map = segment.and_then(|segment| Mapping::of(segment.as_fd()).ok());
    let map = map.ok_or("-top: the job's shared memory cannot be opened: is it another user's?")?;
    let seats = first.seats;
    let segment = Segment::open(&map, seats).map_err(|error| format!("-top: {error}"))?;
    let ranks: Vec<Rank> = places.iter().map(rank_of).collect();
    let (size, period) = (first.size, Duration::from_secs_f64(period));
    let mut busy = times(&ranks, &segment);
    let mut counted = counts(&ranks, &segment);
    loop {
        let begin = Instant::now();
        let looks = (ALL_LOOKS / ranks.len()).clamp(FEWEST_LOOKS, LOOKS);
        let mut waits = vec![0; ranks.len()];
        let mut rows = Vec::new();
        for look in 1..=looks {
            rows = ranks.iter().map(|rank| rank.row(&segment)).collect();
            for (count, row) in waits.iter_mut().zip(&rows) {
                *count += u32::from(row.wait.is_some());
            }
            let until = period.mul_f64(look as f64 / looks as f64);
            thread::sleep(until.saturating_sub(begin.elapsed()));
        }
        let now = times(&ranks, &segment);
        let counted_now = counts(&ranks, &segment);
        let spent = begin.elapsed().as_secs_f64();
        let hundredths = rustix::param::clock_ticks_per_second() as f64 * spent / 100.0;
        let lines = rows.into_iter().zip(&ranks).enumerate();
        let lines: Vec<Line> = lines
            .map(|(at, (row, rank))| Line {
                row,
                rank: rank.world,
                waits: waits[at] * 100 / looks as u32,
                busy: (now[at].saturating_sub(busy[at]) as f64 / hundredths) as u32,
                counted: Rates::of(counted[at], counted_now[at], spent),
            })
            .collect();
        (busy, counted) = (now, counted_now);
        if !fs::exists(format!("/proc/{}", first.keeper)).unwrap_or(false) {
            return Ok(0);
        }
        show(lines, size);
    }
}

/// Used processor time.
fn times(ranks: &[Rank], segment: &Segment<'_>) -> Vec<u64> {
    let time = |rank: &Rank| balance::ticks_of(rank.mpi_pid(segment)).unwrap_or(0);
    ranks.iter().map(time).collect()
}

/// What they have counted.
fn counts(ranks: &[Rank], segment: &Segment<'_>) -> Vec<Option<Sum>> {
    let count = |rank: &Rank| {
        let page = &segment.rank(rank.seat).status;
        match page.counters.load(Ordering::Acquire) {
            0 => None,
            table => counters::read(rank.mpi_pid(segment), table),
        }
    };
    ranks.iter().map(count).collect()
}

/// The ranks of this host of the job whose mpiexec this is, or one of its processes.
fn places(root: i32) -> Vec<Place> {
    let mut processes = descendants::below(root);
    processes.push(root);
    let found: Vec<Place> = processes.iter().filter_map(|pid| place(*pid)).collect();
    // Jobs that ranks have spawned are below them.
    let mut keepers: BTreeMap<i32, usize> = BTreeMap::new();
    for place in &found {
        keepers
            .entry(place.keeper)
            .or_insert_with(|| descendants::below(place.keeper).len());
    }
    let keeper = keepers.into_iter().max_by_key(|(_, below)| *below);
    let keeper = keeper.map(|(keeper, _)| keeper);
    let mut ranks: BTreeMap<usize, Place> = BTreeMap::new();
    for place in found {
        if Some(place.keeper) == keeper && place.seat < place.seats {
            // Of a script and the program it runs, the first one: the page knows the other.
            ranks.entry(place.rank).or_insert(place);
        }
    }
    ranks.into_values().collect()
}

fn place(pid: i32) -> Option<Place> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variables: BTreeMap<&[u8], &[u8]> = environment
        .split(|byte| *byte == 0)
        .filter_map(|word| {
            let at = word.iter().position(|byte| *byte == b'=')?;
            Some((&word[..at], &word[at + 1..]))
        })
        .collect();
    let number = |name: &str| -> Option<u64> {
        let value = variables.get(name.as_bytes())?;
        str::from_utf8(value).ok()?.parse().ok()
    };
    Some(Place {
        pid,
        rank: number(names::RANK)? as usize,
        size: number(names::SIZE)? as usize,
        seat: number("MPI_LOCALRANKID")? as usize,
        seats: number("MPI_LOCALNRANKS")? as usize,
        segment: (
            number(names::SEGMENT)? as i32,
            number(names::SEGMENT_INODE)?,
        ),
        keeper: number(names::KEEPER)? as i32,
    })
}

fn rank_of(place: &Place) -> Rank {
    Rank::running(place.rank, place.rank, place.seat, place.pid)
}

fn show(lines: Vec<Line>, size: usize) {
    let out = std::io::stdout();
    let terminal = isatty(&out);
    let (width, height) = match tcgetwinsize(&out) {
        Ok(window) if terminal && window.ws_col > 0 => {
            (window.ws_col as usize, window.ws_row as usize)
        }
        _ => (usize::MAX, usize::MAX),
    };
    let text = render(lines, size, (width, height));
    let text = match terminal {
        // From the top of the screen, each line to its end.
        true => format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n")),
        false => text + "\n",
    };
    let mut out = out.lock();
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        // Nobody reads it any more.
        std::process::exit(0);
    }
}

/// The ranks that wait least come first: others wait for them.
fn render(mut lines: Vec<Line>, size: usize, (width, height): (usize, usize)) -> String {
    let here = lines.len();
    let waiting = lines.iter().filter(|line| line.waits >= WAITING).count();
    lines.sort_by_key(|line| (line.waits, line.rank));
    let mut text = format!("{size} ranks, {waiting} of them waiting");
    if here < size {
        let _ = write!(text, "; {} on other hosts, not shown", size - here);
    }
    text.push('\n');
    // Two lines of headings, one that may say how many are left.
    let room = height.saturating_sub(3).max(1);
    let mut table: Vec<Vec<String>> = vec![HEADINGS.map(str::to_owned).to_vec()];
    for line in lines.iter().take(room) {
        let mut cells = table::cells_of(line.rank, &line.row).to_vec();
        cells.insert(3, line.waits.to_string());
        cells.insert(4, line.busy.to_string());
        let rates = line
            .counted
            .map(|it| [it.messages, it.megabytes, it.unexpected]);
        for at in 0..3 {
            let text = rates.map_or_else(|| "-".to_owned(), |rates| short(rates[at]));
            cells.insert(5 + at, text);
        }
        let late = line.waits < LATE && waiting > 0 && line.row.state != "after MPI_Finalize";
        cells.push(if late { "<- others wait" } else { "" }.to_owned());
        table.push(cells);
    }
    let mut widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| {
            let cells = table.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    for least in LEAST_WANTED {
        if widths.iter().map(|width| width + 2).sum::<usize>() <= width.saturating_add(2) {
            break;
        }
        if let Some(at) = table[0].iter().position(|heading| heading == least) {
            table.iter_mut().for_each(|row| drop(row.remove(at)));
            widths.remove(at);
        }
    }
    for row in &table {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.extend(line.trim_end().chars().take(width));
        text.push('\n');
    }
    if here > room {
        let _ = writeln!(text, "and {} more, which wait longer", here - room);
    }
    // A terminal would scroll behind its last line.
    if height != usize::MAX {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rank: usize, waits: u32) -> Line {
        Line {
            row: Row {
                pid: 100,
                state: "computing".into(),
                ..Row::default()
            },
            rank,
            waits,
            busy: 99,
            counted: Rates::of(
                Some(Sum::default()),
                Some(Sum {
                    messages: 2_500_000,
                    bytes: 500_000_000,
                    unexpected: 0,
                }),
                1.0,
            ),
        }
    }

    #[test]
    fn the_rank_that_others_wait_for_comes_first() {
        let lines = (0..4).map(|rank| line(rank, if rank == 2 { 0 } else { 90 }));
        let text = render(lines.collect(), 6, (usize::MAX, usize::MAX));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "6 ranks, 3 of them waiting; 2 on other hosts, not shown"
        );
        assert!(lines[2].starts_with("2 ") && lines[2].ends_with("<- others wait"));
        assert!(lines[3].starts_with("0 ") && !lines[3].contains("<-"));
    }

    #[test]
    fn rates_are_short_and_a_narrow_terminal_has_the_most_wanted() {
        assert_eq!(
            [0.0, 0.25, 7.0, 999.0, 12_345.0, 2.5e6, 3e10].map(short),
            ["0", "0.2", "7.0", "999", "12k", "2.5M", "30G"]
        );
        let lines = || (0..2).map(|rank| line(rank, 50)).collect();
        let wide = render(lines(), 2, (300, 24));
        for text in ["messages/s", "2.5M", "500", "communicator", "pid"] {
            assert!(wide.contains(text), "{text}: {wide}");
        }
        let narrow = render(lines(), 2, (60, 24));
        for text in ["messages/s", "waits %", "state"] {
            assert!(narrow.contains(text), "{text}: {narrow}");
        }
        assert!(!narrow.contains("pid") && !narrow.contains("communicator"));
    }

    #[test]
    fn a_small_terminal_is_not_left() {
        for (width, height) in [(20, 4), (80, 24), (10, 1)] {
            let lines = (0..512).map(|rank| line(rank, 50)).collect();
            let text = render(lines, 512, (width, height));
            assert!(text.lines().count() <= height.max(4), "{text}");
            assert!(text.lines().skip(1).all(|line| line.len() <= width.max(40)));
        }
    }
}
