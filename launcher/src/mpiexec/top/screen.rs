//! The table of `mpiexec -top`, for a terminal of any size.

use super::sample::{Counts, Sample};
use crate::mpiexec::table;
use std::collections::HashMap;

/// A rank that waits less than this is the one that others wait for, if they wait more than that.
const LATE: u32 = 25;
const WAITING: u32 = 50;

const HEADINGS: [&str; 19] = [
    "rank",
    HOST,
    "pid",
    "state",
    "waits %",
    "cpu %",
    "messages/s",
    "MB/s",
    "collectives/s",
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
const HOST: &str = "host";

/// Where a terminal is too narrow for all columns, these go, the first one first.
const LEAST_WANTED: [&str; 13] = [
    "pid",
    "sending",
    "posted",
    "unexpected",
    "communicator",
    "tag",
    "unexpected/s",
    "cpu %",
    "for",
    "collectives/s",
    HOST,
    "MB/s",
    "messages/s",
];

/// The ranks of a job at a moment.
#[derive(Debug, Default)]
pub struct Job {
    pub hosts: Vec<String>,
    /// By rank, which of the hosts it is on.
    pub of: Vec<u32>,
    /// By rank.
    pub samples: Vec<Sample>,
}

struct Line<'a> {
    sample: &'a Sample,
    host: &'a str,
    /// `None`: its host does not say.
    between: Option<Between>,
}

/// What a rank did between two moments.
#[derive(Clone, Copy)]
struct Between {
    /// Looks at which it waited, of a hundred.
    waits: u32,
    /// Of one processor, in percent.
    busy: u32,
    /// In a second. `None`: nothing was known before.
    collectives: Option<f64>,
    /// Messages, 10^6 bytes of those that are announced, unexpected messages, in a second. `None`: its memory cannot be read.
    messages: Option<[f64; 3]>,
}

impl Between {
    fn of(before: Option<Counts>, now: Counts, is_waiting: bool) -> Between {
        let whole = if is_waiting { 100 } else { 0 };
        let Some(before) = before.filter(|before| before.at < now.at) else {
            return Between {
                waits: whole,
                busy: 0,
                collectives: None,
                messages: None,
            };
        };
        let nanoseconds = now.at - before.at;
        let rate =
            |before: u64, now: u64| now.saturating_sub(before) as f64 * 1e9 / nanoseconds as f64;
        let waits = now.waits.saturating_sub(before.waits) * 100;
        let waits = waits.checked_div(now.looks.saturating_sub(before.looks));
        let messages = before.messages.zip(now.messages);
        Between {
            waits: waits.map_or(whole, |waits| waits as u32),
            busy: (now.busy.saturating_sub(before.busy) * 100 / nanoseconds) as u32,
            collectives: Some(rate(before.collectives, now.collectives)),
            messages: messages.map(|(before, now)| {
                [
                    rate(before.sent, now.sent),
                    rate(before.bytes, now.bytes) / 1e6,
                    rate(before.unexpected, now.unexpected),
                ]
            }),
        }
    }
}

impl Line<'_> {
    fn cells(&self, somebody_waits: bool) -> [String; HEADINGS.len()] {
        let row = table::cells_of(self.sample.rank as usize, &self.sample.row);
        let [
            rank,
            pid,
            state,
            function,
            peer,
            tag,
            communicator,
            time,
            posted,
            met,
            sending,
        ] = row;
        let none = || "-".to_owned();
        let percent = |of: fn(&Between) -> u32| {
            let between = self.between.as_ref();
            between.map_or_else(none, |it| of(it).to_string())
        };
        let messages = self.between.and_then(|it| it.messages);
        let messages = |at: usize| messages.map_or_else(none, |rates| short(rates[at]));
        let collectives = self.between.and_then(|it| it.collectives);
        let is_late = somebody_waits
            && !self.sample.has_ended
            && self.between.is_some_and(|it| it.waits < LATE);
        let note = if is_late { "<- others wait" } else { "" };
        [
            rank,
            self.host.to_owned(),
            pid,
            state,
            percent(|it| it.waits),
            percent(|it| it.busy),
            messages(0),
            messages(1),
            collectives.map_or_else(none, short),
            messages(2),
            function,
            peer,
            tag,
            communicator,
            time,
            posted,
            met,
            sending,
            note.to_owned(),
        ]
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

/// What the ranks do, since what was known of them before, in lines of so many columns at most, and so many lines. Ranks that wait least come first:
/// others wait for them.
pub fn render(before: &Job, now: &Job, (width, height): (usize, usize)) -> String {
    let counts = |job: &Job| -> HashMap<u32, Counts> {
        let samples = job.samples.iter();
        let known = samples.filter_map(|sample| Some((sample.rank, sample.counts?)));
        known.collect()
    };
    let before = counts(before);
    let lines = now.samples.iter().zip(&now.of).map(|(sample, host)| {
        let since = before.get(&sample.rank).copied();
        let between = |now| Between::of(since, now, sample.row.wait.is_some());
        Line {
            sample,
            host: now.hosts.get(*host as usize).map_or("", String::as_str),
            between: sample.counts.map(between),
        }
    });
    let mut lines: Vec<Line<'_>> = lines.collect();
    let waits = |line: &Line<'_>| line.between.map(|it| it.waits);
    let is_waiting = |line: &&Line<'_>| waits(line).is_some_and(|waits| waits >= WAITING);
    let waiting = lines.iter().filter(is_waiting).count();
    let mut text = vec![format!(
        "{} ranks, {waiting} of them waiting{}",
        lines.len(),
        silent(&lines)
    )];
    // Of those that have ended, and those of which nothing is known, nobody knows whether others wait for them.
    let order = |line: &Line<'_>| {
        let is_known = line.between.is_some() && !line.sample.has_ended;
        (!is_known, waits(line), line.sample.rank)
    };
    lines.sort_by_key(order);
    // Two lines of headings, and one that says how many are left.
    let room = match lines.len() <= height.saturating_sub(2) {
        true => lines.len(),
        false => height.saturating_sub(3).max(1),
    };
    let mut table: Vec<Vec<String>> = vec![HEADINGS.map(str::to_owned).to_vec()];
    let shown = lines.iter().take(room);
    table.extend(shown.map(|line| line.cells(waiting > 0).to_vec()));
    if now.hosts.len() < 2 {
        leave_out(&mut table, HOST);
    }
    text.extend(fitted(table, width));
    if lines.len() > room {
        text.push(format!(
            "and {} more, which wait longer",
            lines.len() - room
        ));
    }
    text.truncate(height);
    let cut = |line: &String| line.chars().take(width).collect();
    let text: Vec<String> = text.iter().map(cut).collect();
    text.join("\n")
}

/// Which hosts say nothing of their ranks.
fn silent(lines: &[Line<'_>]) -> String {
    let mut hosts: Vec<(&str, usize)> = Vec::new();
    let is_silent = |line: &&Line<'_>| line.between.is_none() && !line.sample.has_ended;
    for line in lines.iter().filter(is_silent) {
        match hosts.iter_mut().find(|(host, _)| *host == line.host) {
            Some((_, ranks)) => *ranks += 1,
            None => hosts.push((line.host, 1)),
        }
    }
    let name = |(host, ranks): &(&str, usize)| match ranks {
        1 => format!("{host} (1 rank)"),
        _ => format!("{host} ({ranks} ranks)"),
    };
    let names: Vec<String> = hosts.iter().map(name).collect();
    match names.len() {
        0 => String::new(),
        1 => format!("; no answer from {}", names[0]),
        many => format!("; no answer from {many} hosts: {}", names.join(", ")),
    }
}

/// Takes a column out of a table that has it.
fn leave_out(table: &mut [Vec<String>], heading: &str) {
    if let Some(at) = table[0].iter().position(|it| it == heading) {
        table.iter_mut().for_each(|row| drop(row.remove(at)));
    }
}

/// The lines of a table, columns aligned, without those that a terminal of this width has no room for.
fn fitted(mut table: Vec<Vec<String>>, width: usize) -> Vec<String> {
    for least in LEAST_WANTED {
        let wanted: usize = table::widths(&table).iter().map(|width| width + 2).sum();
        if wanted <= width.saturating_add(2) {
            break;
        }
        leave_out(&mut table, least);
    }
    table::aligned(&table)
}

#[cfg(test)]
mod tests {
    use super::super::sample::Messages;
    use super::*;
    use crate::mpiexec::table::Row;

    fn sample(rank: u32, counts: Option<Counts>) -> Sample {
        Sample {
            rank,
            row: Row {
                pid: 100,
                state: "computing".into(),
                ..Row::default()
            },
            has_ended: false,
            counts,
        }
    }

    /// So many ranks, dealt to hosts, a second after they had counted nothing.
    fn job(hosts: u32, waits: &[u64]) -> Job {
        let counts = |waits| Counts {
            at: 1_000_000_001,
            looks: 100,
            waits,
            busy: 990_000_000,
            collectives: 12_345,
            messages: Some(Messages {
                sent: 2_500_000,
                bytes: 500_000_000,
                unexpected: 0,
            }),
        };
        let samples = (0..).zip(waits);
        Job {
            hosts: (0..hosts).map(|host| format!("node{host}")).collect(),
            of: (0..waits.len() as u32).map(|rank| rank % hosts).collect(),
            samples: samples
                .map(|(rank, waits)| sample(rank, Some(counts(*waits))))
                .collect(),
        }
    }

    /// Before that.
    fn begin(job: &Job) -> Job {
        let at = Counts {
            at: 1,
            messages: Some(Messages::default()),
            ..Counts::default()
        };
        Job {
            samples: (0..)
                .zip(&job.samples)
                .map(|(rank, _)| sample(rank, Some(at)))
                .collect(),
            ..Job::default()
        }
    }

    fn shown(job: &Job, size: (usize, usize)) -> String {
        render(&begin(job), job, size)
    }

    const ENDLESS: (usize, usize) = (usize::MAX, usize::MAX);

    #[test]
    fn the_rank_that_others_wait_for_comes_first() {
        let text = shown(&job(1, &[90, 90, 0, 90]), ENDLESS);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "4 ranks, 3 of them waiting");
        assert!(lines[2].starts_with("2 ") && lines[2].ends_with("<- others wait"));
        assert!(lines[3].starts_with("0 ") && !lines[3].contains("<-"));
        assert!(!text.contains("host") && lines.len() == 6);
    }

    #[test]
    fn hosts_are_shown_if_there_are_several() {
        let text = shown(&job(2, &[90, 10, 90, 90]), ENDLESS);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("rank  host   pid"), "{text}");
        assert!(lines[2].starts_with("1     node1  100"), "{text}");
        for rate in ["12k", "2.5M", "500", "99"] {
            assert!(lines[2].contains(rate), "{text}");
        }
    }

    #[test]
    fn ranks_of_silent_hosts_are_known_to_be_such() {
        let mut all = job(3, &[0, 90, 90, 0, 90, 90, 90]);
        for rank in [1, 2, 4, 5] {
            all.samples[rank].counts = None;
            all.samples[rank].row.state = "no answer from its host".into();
        }
        all.samples[5].has_ended = true;
        let text = shown(&all, ENDLESS);
        let lines: Vec<&str> = text.lines().collect();
        let head =
            "7 ranks, 1 of them waiting; no answer from 2 hosts: node1 (2 ranks), node2 (1 rank)";
        assert_eq!(lines[0], head);
        let ranks: Vec<&str> = lines[2..].iter().map(|line| &line[..1]).collect();
        assert_eq!(ranks, ["0", "3", "6", "1", "2", "4", "5"]);
        assert!(lines[2].ends_with("<- others wait") && !lines[5].contains("<-"));
        all.samples[2].has_ended = true;
        assert!(shown(&all, ENDLESS).contains("; no answer from node1 (2 ranks)\n"));
        assert_eq!(shown(&all, (30, 24)).lines().next(), Some(&head[..30]));
    }

    #[test]
    fn a_rank_that_was_not_known_before_has_no_rates() {
        let all = job(1, &[90, 10]);
        let text = render(&Job::default(), &all, ENDLESS);
        assert_eq!(text.lines().next(), Some("2 ranks, 0 of them waiting"));
        assert!(!text.contains("2.5M") && !text.contains("12k"));
    }

    #[test]
    fn rates_are_short_and_a_narrow_terminal_has_the_most_wanted() {
        assert_eq!(
            [0.0, 0.25, 7.0, 999.0, 12_345.0, 2.5e6, 3e10].map(short),
            ["0", "0.2", "7.0", "999", "12k", "2.5M", "30G"]
        );
        let all = job(2, &[50, 50]);
        let wide = shown(&all, (300, 24));
        for text in ["messages/s", "2.5M", "500", "communicator", "pid", "host"] {
            assert!(wide.contains(text), "{text}: {wide}");
        }
        let narrow = shown(&all, (60, 24));
        for text in ["messages/s", "waits %", "state"] {
            assert!(narrow.contains(text), "{text}: {narrow}");
        }
        assert!(!narrow.contains("pid") && !narrow.contains("communicator"));
    }

    #[test]
    fn a_terminal_of_any_size_is_not_left() {
        for ranks in [2, 3, 17, 512] {
            let mut all = job(1 + ranks / 4, &vec![50; ranks as usize]);
            // Where hosts are silent there is more to say.
            for rank in (0..ranks as usize).step_by(3) {
                all.samples[rank].counts = None;
            }
            for width in (1..200).step_by(7) {
                for height in [1, 2, 3, 4, 5, 24, 600] {
                    let text = shown(&all, (width, height));
                    assert!(text.lines().count() <= height, "{text}");
                    assert!(text.lines().all(|line| line.chars().count() <= width));
                    let left = match height {
                        _ if ranks as usize + 2 <= height => 0,
                        _ => (ranks as usize).saturating_sub(height.saturating_sub(3)),
                    };
                    let more = format!("and {left} more, which wait longer");
                    if height > 3 && width > more.len() {
                        assert_eq!(text.ends_with(&more), left > 0, "{text}");
                    }
                }
            }
        }
    }
}
