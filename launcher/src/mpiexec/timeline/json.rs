//! The timeline as Chrome's JSON: one process a rank, one thread a lane, a slice a call, arrows for messages.
//!
//! Times are microseconds since the first call.

use super::matching::{Arrow, End, Known};
use super::part::Part;
use oxmpi::events::Event;
use oxmpi::events::timeline::layout::{Kind, NONE, Record, about};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// What is written at once.
const CHUNK: usize = 1 << 16;

/// Writes all of it. Events are put together by hand: formatting took three quarters of the time.
pub fn write(out: &mut dyn Write, parts: &mut [Part], known: &Known) -> io::Result<()> {
    let mut text = Vec::with_capacity(2 * CHUNK);
    text.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    let mut lanes = BTreeSet::new();
    let mut last = None;
    for (host, part) in parts.iter_mut().enumerate() {
        let scale = known.scales[host];
        part.records(|rank, lane, record| {
            if last != Some((rank, lane)) {
                last = Some((rank, lane));
                lanes.insert((rank, lane));
            }
            let place = Place {
                rank,
                lane,
                begin: scale.time(record.begin) - known.origin,
                span: scale.span(record.duration),
            };
            slice(&mut text, &place, record, known);
            leave(out, &mut text)
        })?;
    }
    for (number, arrow) in known.arrows.iter().enumerate() {
        arrow_of(&mut text, number, "message", arrow, known.origin);
        leave(out, &mut text)?;
    }
    meetings(out, &mut text, known)?;
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
    text.extend_from_slice(names.join(",\n").as_bytes());
    text.extend_from_slice(b"\n]}\n");
    out.write_all(&text)
}

/// Writes what there is, if it is enough.
fn leave(out: &mut dyn Write, text: &mut Vec<u8>) -> io::Result<()> {
    if text.len() >= CHUNK {
        out.write_all(text)?;
        text.clear();
    }
    Ok(())
}

/// Whether it is below zero, and its size.
struct Number(bool, u64);

impl From<u64> for Number {
    fn from(number: u64) -> Number {
        Number(false, number)
    }
}

impl From<u32> for Number {
    fn from(number: u32) -> Number {
        Number(false, number.into())
    }
}

impl From<i32> for Number {
    fn from(number: i32) -> Number {
        Number(number < 0, number.unsigned_abs().into())
    }
}

/// Pieces of an event: texts and numbers.
trait Put {
    fn text(&mut self, text: &str) -> &mut Self;
    fn number(&mut self, number: impl Into<Number>) -> &mut Self;
    /// Nanoseconds as microseconds.
    fn micro(&mut self, nanoseconds: i64) -> &mut Self;
    /// A text as JSON has it.
    fn quoted(&mut self, text: &str) -> &mut Self;
}

impl Put for Vec<u8> {
    #[inline]
    fn text(&mut self, text: &str) -> &mut Self {
        self.extend_from_slice(text.as_bytes());
        self
    }

    fn number(&mut self, number: impl Into<Number>) -> &mut Self {
        let Number(is_negative, mut rest) = number.into();
        if is_negative {
            self.push(b'-');
        }
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.extend_from_slice(&digits[at..]);
        self
    }

    fn micro(&mut self, nanoseconds: i64) -> &mut Self {
        if nanoseconds < 0 {
            self.push(b'-');
        }
        let size = nanoseconds.unsigned_abs();
        self.number(size / 1000);
        let rest = size % 1000;
        let digit = |by: u64| b'0' + (rest / by % 10) as u8;
        self.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
        self
    }

    fn quoted(&mut self, text: &str) -> &mut Self {
        self.push(b'"');
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => self.extend_from_slice(&[b'\\', byte]),
                ..0x20 => self.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                _ => self.push(byte),
            }
        }
        self.push(b'"');
        self
    }
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

/// The beginning of a slice.
fn begin_slice<'a>(text: &'a mut Vec<u8>, place: &Place) -> &'a mut Vec<u8> {
    text.text("{\"ph\":\"X\",\"pid\":").number(place.rank);
    text.text(",\"tid\":").number(tid(place.rank, place.lane));
    text.text(",\"ts\":").micro(place.begin);
    text.text(",\"dur\":").micro(place.span);
    text.text(",\"name\":")
}

fn slice(text: &mut Vec<u8>, place: &Place, record: &Record, known: &Known) {
    let rank = place.rank;
    let (name, category) = match record.function {
        about::RECEIVED | about::SENT | about::POSTED => return,
        about::SLEPT => {
            begin_slice(text, place).text("\"asleep\",\"cat\":\"sleep\"},\n");
            return;
        }
        about::HAPPENED => return happened(text, place, record),
        number => (known.function(rank, number), category(record.kind)),
    };
    begin_slice(text, place).quoted(name);
    text.text(",\"cat\":\"").text(category).text("\"");
    let mut between = ",\"args\":{";
    let mut put = |text: &mut Vec<u8>, name: &str| {
        text.text(between).text("\"").text(name).text("\":");
        between = ",";
    };
    let collective = record.kind == Kind::Collective;
    if record.peer != NONE {
        let what = match record.kind {
            Kind::Send | Kind::Both => "to rank of the job",
            Kind::Collective => "root",
            Kind::Receive | Kind::Post => "source",
            _ => "rank",
        };
        put(text, what);
        match (record.peer, record.kind) {
            (-2, Kind::Receive | Kind::Post) => text.text("\"MPI_ANY_SOURCE\""),
            (peer, _) => text.number(peer),
        };
    }
    if record.tag != NONE && !collective {
        put(text, "tag");
        match record.tag {
            -1 => text.text("\"MPI_ANY_TAG\""),
            tag => text.number(tag),
        };
    }
    let calls = record.calls();
    if calls > 1 {
        put(text, "calls");
        text.number(calls);
    } else if record.bytes > 0 {
        put(text, "bytes");
        text.number(record.bytes);
    }
    let names = known.names.get(&rank);
    if matches!(
        record.kind,
        Kind::Send | Kind::Both | Kind::Receive | Kind::Post | Kind::Collective
    ) && let Some(title) = names.and_then(|names| names.communicators.get(&record.context))
    {
        put(text, "comm");
        text.quoted(title);
    }
    if record.failed {
        put(text, "failed");
        text.text("true");
    }
    let end = if between == "," { "}},\n" } else { "},\n" };
    text.text(end);
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

fn happened(text: &mut Vec<u8>, place: &Place, record: &Record) {
    let name = match record.extra {
        it if it == Event::UnexpectedMessage as i32 => "unexpected message",
        it if it == Event::RendezvousBegun as i32 => "rendezvous begun",
        it if it == Event::PeerLost as i32 => "peer lost",
        _ => "event",
    };
    text.text("{\"ph\":\"i\",\"s\":\"t\",\"pid\":")
        .number(place.rank);
    text.text(",\"tid\":").number(tid(place.rank, place.lane));
    text.text(",\"ts\":").micro(place.begin);
    text.text(",\"name\":\"").text(name);
    text.text("\",\"cat\":\"event\",\"args\":{\"rank\":")
        .number(record.peer);
    text.text(",\"tag\":").number(record.tag);
    text.text(",\"bytes\":").number(record.bytes);
    text.text("}},\n");
}

fn arrow_of(text: &mut Vec<u8>, number: usize, category: &str, arrow: &Arrow, origin: i64) {
    let mut end = |phase: &str, end: &End| {
        text.text("{\"ph\":\"").text(phase);
        text.text("\",\"id\":").number(number as u64);
        text.text(",\"pid\":").number(end.rank);
        text.text(",\"tid\":").number(tid(end.rank, end.lane));
        text.text(",\"ts\":").micro(end.time - origin);
        text.text(",\"name\":\"").text(category);
        text.text("\",\"cat\":\"").text(category);
        text.text("\",\"args\":{\"bytes\":").number(end.bytes);
        text.text(match phase {
            "f" => "},\"bp\":\"e\"},\n",
            _ => "}},\n",
        });
    };
    end("s", &arrow.from);
    end("f", &arrow.to);
}

/// From the call that came last to those that have waited for it.
fn meetings(out: &mut dyn Write, text: &mut Vec<u8>, known: &Known) -> io::Result<()> {
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
                arrow_of(text, number, "last to come", &arrow, known.origin);
                leave(out, text)?;
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
        let shown = |put: &dyn Fn(&mut Vec<u8>)| {
            let mut text = Vec::new();
            put(&mut text);
            String::from_utf8(text).unwrap()
        };
        let quoted = shown(&|text| {
            text.quoted("a\"b\\\n\u{e9}");
        });
        assert_eq!(quoted, "\"a\\\"b\\\\\\u000a\u{e9}\"");
        for (time, text) in [
            (1_234_005, "1234.005"),
            (-5, "-0.005"),
            (999, "0.999"),
            (-1_000, "-1.000"),
            (i64::MAX, "9223372036854775.807"),
        ] {
            assert_eq!(
                shown(&|out| {
                    out.micro(time);
                }),
                text
            );
        }
        assert_eq!(
            shown(&|text| {
                text.number(-2).number(u64::MAX);
            }),
            "-218446744073709551615"
        );
        assert_eq!(
            shown(&|text| {
                text.number(0);
            }),
            "0"
        );
    }
}
