//! The summary that mpiexec prints: where time went, who was waited for, and who came last.

use super::matching::Known;
use super::profile::Sum;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Lines of each table.
const LINES: usize = 8;

fn seconds(nanoseconds: i64) -> String {
    let size = nanoseconds as f64;
    match nanoseconds {
        ..1_000_000 => format!("{:.1} us", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", size / 1e6),
        _ => format!("{:.3} s", size / 1e9),
    }
}

/// The largest of a table first, `LINES` of them.
fn largest<K: Ord + Clone>(table: &BTreeMap<K, (u64, i64)>) -> Vec<(K, u64, i64)> {
    let mut rows: Vec<_> = table
        .iter()
        .map(|(key, (count, time))| (key.clone(), *count, *time))
        .collect();
    rows.sort_by_key(|(_, _, time)| std::cmp::Reverse(*time));
    rows.truncate(LINES);
    rows
}

pub fn summary(known: &Known, file: &Path) -> String {
    let mut text = String::new();
    let profile = &known.profile;
    let calls: u64 = profile.calls.values().map(|sum| sum.calls).sum();
    let total: i64 = profile.spans.values().map(|span| span.1 - span.0).sum();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "timeline of {calls} calls and {} messages in {}: open it at https://ui.perfetto.dev",
        known.arrows.len(),
        file.display()
    );
    let missing: u64 = known.dropped.values().sum();
    if missing > 0 {
        let _ = writeln!(
            text,
            "{missing} records are missing, so arrows of later messages may be wrong: ranks wrote faster than they could be taken, or too much"
        );
    }
    if known.unmatched > 0 {
        let _ = writeln!(
            text,
            "{} messages have one end only: they were not received, or come from or go to other jobs",
            known.unmatched
        );
    }
    let mut functions: BTreeMap<&str, Sum> = BTreeMap::new();
    for ((rank, number), sum) in &profile.calls {
        let entry = functions.entry(known.function(*rank, *number)).or_default();
        entry.calls += sum.calls;
        entry.time += sum.time;
        entry.bytes += sum.bytes;
    }
    let inside: i64 = functions.values().map(|sum| sum.time).sum();
    let share = |time: i64| 100.0 * time as f64 / total.max(1) as f64;
    let _ = writeln!(
        text,
        "time of all ranks from MPI_Init to MPI_Finalize: {}; in MPI: {} ({:.1} %), of that asleep: {}",
        seconds(total),
        seconds(inside),
        share(inside),
        seconds(profile.asleep)
    );
    let mut rows: Vec<_> = functions.into_iter().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.time));
    for (name, sum) in rows.iter().take(LINES) {
        let _ = writeln!(
            text,
            "  {name:<28} {:>10} calls {:>12} {:>5.1} %",
            sum.calls,
            seconds(sum.time),
            share(sum.time)
        );
    }
    late_messages(&mut text, known);
    late_ranks(&mut text, known);
    text
}

/// Waits for sends that began after the receiver waited, and for receives that were posted after the sender did.
fn late_messages(text: &mut String, known: &Known) {
    let (mut senders, mut receivers) = (BTreeMap::new(), BTreeMap::new());
    let add = |table: &mut BTreeMap<(u32, u32), (u64, i64)>, pair, time: i64| {
        if time > 0 {
            let sum = table.entry(pair).or_default();
            sum.0 += 1;
            sum.1 += time;
        }
    };
    for arrow in &known.arrows {
        let pair = (arrow.from.rank, arrow.to.rank);
        add(
            &mut senders,
            pair,
            arrow.from.begin.min(arrow.to.time) - arrow.to.begin,
        );
        // A send that has ended before did not wait.
        if arrow.posted < arrow.from.end {
            add(&mut receivers, pair, arrow.posted - arrow.from.begin);
        }
    }
    for (what, table) in [
        ("late senders: receivers waited for sends to begin", senders),
        (
            "late receivers: senders waited for receives to be posted",
            receivers,
        ),
    ] {
        if table.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{what}");
        for ((from, to), count, time) in largest(&table) {
            let _ = writeln!(
                text,
                "  rank {from} to rank {to}: {count} messages, {}",
                seconds(time)
            );
        }
    }
}

/// Who came last to collective operations, and how long the others waited.
fn late_ranks(text: &mut String, known: &Known) {
    let mut table: BTreeMap<(u32, &str), (u64, i64)> = BTreeMap::new();
    for meeting in known.meetings.iter().filter(|it| it.calls.len() > 1) {
        let Some(last) = meeting.calls.iter().max_by_key(|call| call.begin) else {
            continue;
        };
        let waits = meeting
            .calls
            .iter()
            .map(|call| last.begin.min(call.end) - call.begin);
        let sum = table.entry((last.rank, &meeting.function)).or_default();
        sum.0 += 1;
        sum.1 += waits.sum::<i64>();
    }
    if table.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "last to come to collective operations, and how long the others waited together"
    );
    for ((rank, function), count, time) in largest(&table) {
        let _ = writeln!(
            text,
            "  rank {rank} in {function}: {count} times, {}",
            seconds(time)
        );
    }
}
