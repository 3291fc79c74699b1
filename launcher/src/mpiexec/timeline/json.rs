//! The timeline as Chrome's JSON: one process a rank, one thread a lane, a slice a call, arrows for messages.
//!
//! Times are microseconds since the first call.

use super::matching::{Arrow, End, Known};
use super::part::Part;
use oxmpi::events::Event;
use oxmpi::events::timeline::layout::{Kind, NONE, Record, about};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes all of it.
pub fn write(out: &mut dyn Write, parts: &mut [Part], known: &Known) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    let mut lanes = BTreeSet::new();
    for (host, part) in parts.iter_mut().enumerate() {
        let scale = known.scales[host];
        part.records(|rank, lane, record| {
            lanes.insert((rank, lane));
            let begin = scale.time(record.begin) - known.origin;
            let place = Place {
                rank,
                lane,
                begin,
                span: scale.span(record.duration),
            };
            slice(out, &place, record, known)
        })?;
    }
    for (number, arrow) in known.arrows.iter().enumerate() {
        arrow_of(out, number, "message", arrow, known.origin)?;
    }
    meetings(out, known)?;
    let mut names = Vec::new();
    for rank in 0..known.ranks {
        let dropped = known.dropped.get(&(rank as u32)).copied().unwrap_or(0);
        let missing = match dropped {
            0 => String::new(),
            count => format!(" ({count} records missing)"),
        };
        names.push(format!(
            "{{\"ph\":\"M\",\"pid\":{rank},\"name\":\"process_name\",\"args\":{{\"name\":\"rank {rank}{missing}\"}}}}"
        ));
        names.push(format!(
            "{{\"ph\":\"M\",\"pid\":{rank},\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{rank}}}}}"
        ));
    }
    for (rank, lane) in lanes {
        names.push(format!(
            "{{\"ph\":\"M\",\"pid\":{rank},\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"thread {lane}\"}}}}",
            tid(rank, lane)
        ));
    }
    out.write_all(names.join(",\n").as_bytes())?;
    out.write_all(b"\n]}\n")
}

struct Place {
    rank: u32,
    lane: u32,
    begin: i64,
    span: i64,
}

/// Threads of different processes must not have the same number, or Perfetto takes them for one; a process's first thread has its number.
fn tid(rank: u32, lane: u32) -> u64 {
    u64::from(lane) << 32 | u64::from(rank)
}

/// Nanoseconds as microseconds.
struct Micro(i64);

impl std::fmt::Display for Micro {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:03}", size / 1000, size % 1000)
    }
}

/// A text as JSON has it.
struct Text<'a>(&'a str);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("\"")?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                letter if (letter as u32) < 0x20 => write!(f, "\\u{:04x}", letter as u32)?,
                letter => write!(f, "{letter}")?,
            }
        }
        f.write_str("\"")
    }
}

fn slice(out: &mut dyn Write, place: &Place, record: &Record, known: &Known) -> io::Result<()> {
    let (rank, tid, ts) = (place.rank, tid(place.rank, place.lane), Micro(place.begin));
    let dur = Micro(place.span);
    let (name, category) = match record.function {
        about::RECEIVED | about::SENT | about::POSTED => return Ok(()),
        about::SLEPT => {
            return writeln!(
                out,
                "{{\"ph\":\"X\",\"pid\":{rank},\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"name\":\"asleep\",\"cat\":\"sleep\"}},"
            );
        }
        about::HAPPENED => return happened(out, place, record),
        number => (known.function(rank, number), category(record.kind)),
    };
    write!(
        out,
        "{{\"ph\":\"X\",\"pid\":{rank},\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"name\":{},\"cat\":\"{category}\"",
        Text(name)
    )?;
    let mut words: Vec<String> = Vec::new();
    let collective = record.kind == Kind::Collective;
    if record.peer != NONE {
        let what = match record.kind {
            Kind::Send | Kind::Both => "to rank of the job",
            Kind::Collective => "root",
            Kind::Receive | Kind::Post => "source",
            _ => "rank",
        };
        words.push(match (record.peer, record.kind) {
            (-2, Kind::Receive | Kind::Post) => "\"source\":\"MPI_ANY_SOURCE\"".to_owned(),
            (peer, _) => format!("\"{what}\":{peer}"),
        });
    }
    if record.tag != NONE && !collective {
        words.push(match record.tag {
            -1 => "\"tag\":\"MPI_ANY_TAG\"".to_owned(),
            tag => format!("\"tag\":{tag}"),
        });
    }
    if record.bytes > 0 {
        words.push(format!("\"bytes\":{}", record.bytes));
    }
    let names = known.names.get(&rank);
    if let Some(title) = names.and_then(|names| names.communicators.get(&record.context))
        && matches!(
            record.kind,
            Kind::Send | Kind::Both | Kind::Receive | Kind::Post | Kind::Collective
        )
    {
        words.push(format!("\"comm\":{}", Text(title)));
    }
    if record.failed {
        words.push("\"failed\":true".to_owned());
    }
    if !words.is_empty() {
        write!(out, ",\"args\":{{{}}}", words.join(","))?;
    }
    out.write_all(b"},\n")
}

fn category(kind: Kind) -> &'static str {
    match kind {
        Kind::Other => "other",
        Kind::Send => "send",
        Kind::Receive | Kind::Post | Kind::Matched => "receive",
        Kind::Both => "exchange",
        Kind::Complete => "completion",
        Kind::Collective => "collective",
    }
}

fn happened(out: &mut dyn Write, place: &Place, record: &Record) -> io::Result<()> {
    let name = match record.extra {
        it if it == Event::UnexpectedMessage as i32 => "unexpected message",
        it if it == Event::RendezvousBegun as i32 => "rendezvous begun",
        it if it == Event::PeerLost as i32 => "peer lost",
        _ => "event",
    };
    writeln!(
        out,
        "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"{name}\",\"cat\":\"event\",\"args\":{{\"rank\":{},\"tag\":{},\"bytes\":{}}}}},",
        place.rank,
        tid(place.rank, place.lane),
        Micro(place.begin),
        record.peer,
        record.tag,
        record.bytes
    )
}

fn arrow_of(
    out: &mut dyn Write,
    number: usize,
    category: &str,
    arrow: &Arrow,
    origin: i64,
) -> io::Result<()> {
    let mut end = |phase: &str, end: &End| {
        writeln!(
            out,
            "{{\"ph\":\"{phase}\",\"id\":{number},\"pid\":{},\"tid\":{},\"ts\":{},\"name\":\"{category}\",\"cat\":\"{category}\",\"args\":{{\"bytes\":{}}}{}}},",
            end.rank,
            tid(end.rank, end.lane),
            Micro(end.time - origin),
            end.bytes,
            if phase == "f" { ",\"bp\":\"e\"" } else { "" }
        )
    };
    end("s", &arrow.from)?;
    end("f", &arrow.to)
}

/// From the call that came last to those that have waited for it.
fn meetings(out: &mut dyn Write, known: &Known) -> io::Result<()> {
    let mut number = known.arrows.len();
    for meeting in &known.meetings {
        let Some(last) = meeting.calls.iter().max_by_key(|call| call.begin) else {
            continue;
        };
        for call in meeting.calls.iter().filter(|call| call.rank != last.rank) {
            if call.end > last.begin {
                let arrow = Arrow {
                    from: *last,
                    to: End {
                        time: call.end - 1,
                        ..*call
                    },
                    posted: call.begin,
                };
                arrow_of(out, number, "last to come", &arrow, known.origin)?;
                number += 1;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_times_are_json() {
        assert_eq!(
            Text("a\"b\\\n\u{e9}").to_string(),
            "\"a\\\"b\\\\\\u000a\u{e9}\""
        );
        assert_eq!(Micro(1_234_005).to_string(), "1234.005");
        assert_eq!(Micro(-5).to_string(), "-0.005");
    }
}
