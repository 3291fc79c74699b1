//! Merges the output of many ranks into one, line by line. Does no input or output itself.
//!
//! Invariant: between the bytes of one rank's line there are never bytes of another rank. A line that is not finished is
//! held back; after an idle moment (a prompt, a progress bar) or when it gets very long it is *opened*: written as far as
//! it is, and the others wait until it is finished. Only when its writer keeps silent while others have something to say
//! mpiexec finishes it with a line feed of its own, and only if it is text that was opened for being idle.

use std::time::{Duration, Instant};

/// A line that nobody continues is opened after this time.
pub const IDLE: Duration = Duration::from_millis(100);
/// Others wait this long for the rest of an open line.
pub const OPEN_LINE_TIMEOUT: Duration = Duration::from_millis(500);
/// A line longer than this is opened, bytes.
const LONG: usize = 64 * 1024;
/// A stream that must wait is not read from beyond this, bytes.
const HELD_MAXIMUM: usize = 256 * 1024;

struct Stream {
    /// Written before each line.
    label: Vec<u8>,
    /// What cannot be written yet.
    held: Vec<u8>,
    last: Instant,
    ended: bool,
}

struct Open {
    stream: usize,
    since: Instant,
    /// Opened because nothing came for a while, so it is a text for humans.
    idle: bool,
}

/// All the streams that end in one place.
pub struct Merger {
    streams: Vec<Stream>,
    open: Option<Open>,
    /// Streams that have finished lines but must wait for the open one, in order of arrival.
    waiting: Vec<usize>,
    /// What is to be written.
    pub out: Vec<u8>,
    /// Written before each label.
    pub stamp: Vec<u8>,
}

impl Merger {
    pub fn new() -> Merger {
        Merger {
            streams: Vec::new(),
            open: None,
            waiting: Vec::new(),
            out: Vec::new(),
            stamp: Vec::new(),
        }
    }

    /// Adds a stream; the number by which it is known here.
    pub fn add(&mut self, label: Vec<u8>, now: Instant) -> usize {
        self.streams.push(Stream {
            label,
            held: Vec::new(),
            last: now,
            ended: false,
        });
        self.streams.len() - 1
    }

    /// Takes bytes of a stream.
    pub fn accept(&mut self, id: usize, data: &[u8], now: Instant) {
        self.streams[id].last = now;
        let mut data = data;
        match &mut self.open {
            Some(open) if open.stream != id => {
                self.streams[id].held.extend_from_slice(data);
                if data.contains(&b'\n') && !self.waiting.contains(&id) {
                    self.waiting.push(id);
                }
                return;
            }
            Some(open) => match data.iter().position(|byte| *byte == b'\n') {
                None => {
                    open.since = now;
                    self.out.extend_from_slice(data);
                    return;
                }
                Some(end) => {
                    self.out.extend_from_slice(&data[..=end]);
                    data = &data[end + 1..];
                    self.open = None;
                }
            },
            None => {}
        }
        match data.iter().rposition(|byte| *byte == b'\n') {
            Some(end) if self.streams[id].held.is_empty() => {
                Self::emit(
                    &mut self.out,
                    [&self.stamp, &self.streams[id].label],
                    &data[..=end],
                );
                self.streams[id].held.extend_from_slice(&data[end + 1..]);
            }
            _ => {
                self.streams[id].held.extend_from_slice(data);
                self.emit_lines(id);
            }
        }
        self.open_if_long(id, now);
        self.release(now);
    }

    /// Whether a stream should not be read from for now.
    pub fn is_full(&self, id: usize) -> bool {
        self.streams[id].held.len() > HELD_MAXIMUM
    }

    /// No more will come from a stream.
    pub fn end(&mut self, id: usize) {
        self.streams[id].ended = true;
    }

    /// Does what is due; the time when something will be due next.
    pub fn tick(&mut self, now: Instant) -> Option<Instant> {
        if let Some(open) = &self.open {
            let ended = self.streams[open.stream].ended;
            let someone_waits = !self.waiting.is_empty()
                || (ended && self.streams.iter().any(|it| !it.held.is_empty()));
            if !someone_waits {
                return None;
            }
            let due = open.since + OPEN_LINE_TIMEOUT;
            if !ended && now < due {
                return Some(due);
            }
            self.close_open();
            self.release(now);
        }
        let mut next = None;
        for id in 0..self.streams.len() {
            if self.open.is_some() {
                return Some(now + OPEN_LINE_TIMEOUT);
            }
            let stream = &self.streams[id];
            if stream.held.is_empty() {
                continue;
            }
            let due = stream.last + IDLE;
            if now >= due {
                self.open_line(id, now, true);
            } else {
                next = Some(next.map_or(due, |next: Instant| next.min(due)));
            }
        }
        next
    }

    /// A text of mpiexec itself; it begins on a new line.
    pub fn say(&mut self, text: &str, now: Instant) {
        if self.open.is_some() {
            self.out.push(b'\n');
            self.open = None;
        }
        self.out.extend_from_slice(text.as_bytes());
        self.release(now);
    }

    /// Writes everything that is left, in the order of the streams.
    pub fn finish(&mut self) {
        if self.open.is_some() {
            let labelled = self.streams.iter().any(|it| !it.label.is_empty());
            if labelled || self.streams.iter().any(|it| !it.held.is_empty()) {
                self.close_open();
            }
        }
        self.waiting.clear();
        for id in 0..self.streams.len() {
            self.emit_lines(id);
        }
        for stream in &mut self.streams {
            if !stream.held.is_empty() {
                self.out.extend_from_slice(&self.stamp);
                self.out.extend_from_slice(&stream.label);
                self.out.append(&mut stream.held);
                if !stream.label.is_empty() {
                    self.out.push(b'\n');
                }
            }
        }
    }

    fn close_open(&mut self) {
        if let Some(open) = self.open.take()
            && (open.idle || !self.streams[open.stream].label.is_empty())
        {
            self.out.push(b'\n');
        }
    }

    /// Lets those go on who waited for an open line that is finished now.
    fn release(&mut self, now: Instant) {
        while self.open.is_none() && !self.waiting.is_empty() {
            let id = self.waiting.remove(0);
            self.emit_lines(id);
            self.open_if_long(id, now);
        }
    }

    /// Moves the finished lines of a stream to the output.
    fn emit_lines(&mut self, id: usize) {
        let stream = &mut self.streams[id];
        if let Some(end) = stream.held.iter().rposition(|byte| *byte == b'\n') {
            Self::emit(
                &mut self.out,
                [&self.stamp, &stream.label],
                &stream.held[..=end],
            );
            stream.held.drain(..=end);
        }
    }

    fn open_if_long(&mut self, id: usize, now: Instant) {
        if self.open.is_none() && self.streams[id].held.len() > LONG {
            self.open_line(id, now, false);
        }
    }

    fn open_line(&mut self, id: usize, now: Instant, idle: bool) {
        let stream = &mut self.streams[id];
        self.out.extend_from_slice(&self.stamp);
        self.out.extend_from_slice(&stream.label);
        self.out.append(&mut stream.held);
        self.open = Some(Open {
            stream: id,
            since: now,
            idle,
        });
    }

    fn emit(out: &mut Vec<u8>, [stamp, label]: [&[u8]; 2], lines: &[u8]) {
        if label.is_empty() {
            out.extend_from_slice(lines);
            return;
        }
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            out.extend_from_slice(stamp);
            out.extend_from_slice(label);
            out.extend_from_slice(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Test {
        merger: Merger,
        now: Instant,
    }

    impl Test {
        fn new(labels: &[&str]) -> Test {
            let now = Instant::now();
            let mut merger = Merger::new();
            for label in labels {
                merger.add(label.as_bytes().to_vec(), now);
            }
            Test { merger, now }
        }

        fn give(&mut self, id: usize, text: &str) {
            self.merger.accept(id, text.as_bytes(), self.now);
        }

        fn wait(&mut self, time: Duration) {
            self.now += time;
            self.merger.tick(self.now);
        }

        fn take(&mut self) -> String {
            String::from_utf8(std::mem::take(&mut self.merger.out)).unwrap()
        }
    }

    #[test]
    fn lines_stay_whole() {
        let mut test = Test::new(&["", ""]);
        test.give(0, "a");
        test.give(1, "x\ny");
        test.give(0, "b\nc");
        assert_eq!(test.take(), "x\nab\n");
        test.merger.finish();
        assert_eq!(test.take(), "cy");
    }

    #[test]
    fn a_prompt_is_shown_and_others_wait_for_its_end() {
        let mut test = Test::new(&["", ""]);
        test.give(0, "number? ");
        assert_eq!(test.take(), "");
        test.wait(IDLE);
        assert_eq!(test.take(), "number? ");
        test.give(1, "other\nrest");
        test.wait(OPEN_LINE_TIMEOUT / 2);
        assert_eq!(test.take(), "");
        test.give(0, "thanks\n");
        assert_eq!(test.take(), "thanks\nother\n");
        test.wait(IDLE);
        assert_eq!(test.take(), "rest");
        test.merger.finish();
        assert_eq!(test.take(), "");
    }

    #[test]
    fn nobody_waits_for_ever_for_the_end_of_a_prompt() {
        let mut test = Test::new(&["", ""]);
        test.give(0, "number? ");
        test.wait(IDLE);
        test.give(1, "other\n");
        test.wait(OPEN_LINE_TIMEOUT);
        assert_eq!(test.take(), "number? \nother\n");
        test.give(0, "more\n");
        assert_eq!(test.take(), "more\n");
    }

    #[test]
    fn long_binary_lines_stay_whole_too() {
        let mut test = Test::new(&["", ""]);
        let blob = "b".repeat(LONG + 1);
        test.give(0, &blob);
        assert_eq!(test.take(), blob);
        test.give(1, &"c".repeat(HELD_MAXIMUM));
        test.give(1, "\n");
        assert!(test.merger.is_full(1) && !test.merger.is_full(0));
        test.give(0, "end");
        test.merger.end(0);
        // Nothing is added to bytes that nobody meant as a line.
        test.wait(Duration::ZERO);
        let written = test.take();
        assert!(written.starts_with("endc") && written.ends_with("c\n"));
        assert!(!test.merger.is_full(1));
    }

    #[test]
    fn every_line_has_its_label() {
        let mut test = Test::new(&["[0] ", "[1] "]);
        test.give(0, "a\nb\nc");
        test.give(1, "x\n");
        test.merger.finish();
        assert_eq!(test.take(), "[0] a\n[0] b\n[1] x\n[0] c\n");
    }

    #[test]
    fn every_line_has_its_time() {
        let mut test = Test::new(&["<stdout>: "]);
        test.merger.stamp = b"[1]".to_vec();
        test.give(0, "a\nb\nc");
        test.merger.stamp = b"[2]".to_vec();
        test.give(0, "d\ne");
        test.merger.finish();
        let lines = [
            "[1]<stdout>: a",
            "[1]<stdout>: b",
            "[2]<stdout>: cd",
            "[2]<stdout>: e\n",
        ];
        assert_eq!(test.take(), lines.join("\n"));
    }

    #[test]
    fn what_mpiexec_says_begins_on_a_new_line() {
        let mut test = Test::new(&[""]);
        test.give(0, "number? ");
        test.wait(IDLE);
        test.merger.say("mpiexec: rank 0 is gone\n", test.now);
        assert_eq!(test.take(), "number? \nmpiexec: rank 0 is gone\n");
    }
}
