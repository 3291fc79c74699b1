//! Lines of PMI-1: `cmd=NAME key=value key=value`, read by key because order and extras differ between servers.
//!
//! Invariant: any bytes can be parsed; what makes no sense has no keys.

/// The longest line that is believed, bytes. Servers promise values up to 1,024.
pub const LINE_MAXIMUM: usize = 64 * 1024;

/// The most characters of a key-value store's name, of a key and of a value.
pub const KVSNAME_MAXIMUM: usize = 256;
pub const KEY_MAXIMUM: usize = 64;
pub const VALUE_MAXIMUM: usize = 1024;

/// One line, without its end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a>(pub &'a str);

impl<'a> Line<'a> {
    /// The value of a key; it ends at the next blank.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0
            .split([' ', '\t'])
            .filter_map(|word| word.split_once('='))
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The value of a key up to the end of the line, blanks and all: for the last key of a line.
    pub fn rest(&self, key: &str) -> Option<&'a str> {
        if key.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(at) = self.0[from..].find(key) {
            let start = from + at;
            let end = start + key.len();
            let begins = start == 0 || self.0.as_bytes()[start - 1] == b' ';
            if begins && self.0.as_bytes().get(end) == Some(&b'=') {
                return Some(&self.0[end + 1..]);
            }
            from = end;
        }
        None
    }

    /// What the line asks for or answers.
    pub fn command(&self) -> &'a str {
        self.get("cmd").or_else(|| self.get("mcmd")).unwrap_or("")
    }

    pub fn number(&self, key: &str) -> Option<i64> {
        self.get(key)?.parse().ok()
    }

    /// Whether a `get` found something: servers differ in rc (0, 1, -1) and in what they send besides.
    pub fn succeeded(&self) -> bool {
        self.get("rc").is_none_or(|code| code == "0")
    }
}

/// Cuts a stream of bytes into lines.
#[derive(Debug, Default)]
pub struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Whether there is a whole line.
    pub fn has_line(&self) -> bool {
        self.pending.contains(&b'\n')
    }

    /// The next whole line; bytes that are not UTF-8 are replaced.
    pub fn next_line(&mut self) -> Option<String> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(&self.pending[..end]).into_owned();
        self.pending.drain(..=end);
        Some(line)
    }

    /// Whether a peer sends something that cannot be a line of this protocol.
    pub fn is_too_long(&self) -> bool {
        self.pending.len() > LINE_MAXIMUM
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_key() {
        let line = Line("cmd=get_result rc=0 msg=success value=(vector,(0,1,2))");
        assert_eq!(line.command(), "get_result");
        assert_eq!(line.get("value"), Some("(vector,(0,1,2))"));
        assert_eq!(line.get("alue"), None);
        assert!(line.succeeded());
        assert!(!Line("cmd=get_result rc=-1 value=unknown").succeeded());
        assert_eq!(Line("mcmd=spawn").command(), "spawn");
        assert_eq!(Line("").command(), "");
    }

    #[test]
    fn the_rest_of_a_line_may_hold_blanks() {
        let line = Line("cmd=put kvsname=k key=value1 value=has space = in it");
        assert_eq!(line.rest("value"), Some("has space = in it"));
        assert_eq!(line.rest("nothing"), None);
        assert_eq!(Line("value=").rest("value"), Some(""));
        assert_eq!(Line("no key").rest(""), None);
    }

    #[test]
    fn lines_come_whole_however_the_bytes_arrive() {
        let mut lines = Lines::default();
        lines.push(b"cmd=in");
        assert_eq!(lines.next_line(), None);
        lines.push(b"it\ncmd=a\n\xff");
        assert_eq!(lines.next_line().as_deref(), Some("cmd=init"));
        assert_eq!(lines.next_line().as_deref(), Some("cmd=a"));
        assert_eq!(lines.next_line(), None);
        assert!(!lines.is_too_long());
        lines.push(&[b'x'; LINE_MAXIMUM]);
        assert!(lines.is_too_long());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_cut_into_lines(chunks in proptest::collection::vec(proptest::collection::vec(0..=255u8, 0..20), 0..20)) {
            let mut lines = Lines::default();
            let mut found = 0;
            for chunk in &chunks {
                lines.push(chunk);
                while let Some(line) = lines.next_line() {
                    found += 1;
                    let line = Line(&line);
                    let _ = (line.command(), line.number("rank"), line.rest("value"), line.succeeded());
                }
            }
            let feeds = chunks.iter().flatten().filter(|byte| **byte == b'\n').count();
            proptest::prop_assert_eq!(found, feeds);
        }
    }
}
