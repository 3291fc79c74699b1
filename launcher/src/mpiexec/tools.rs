//! Programs that start ranks: valgrind, perf, a debugger in a window. Intel MPI's -gtool and Open MPI's -xterm.

use super::rank_list::StandardInput as Ranks;
use super::words;

/// Words put before the program of some ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    words: Vec<String>,
    ranks: Ranks,
    /// Only for the first of these ranks.
    exclusive: bool,
    window: bool,
}

impl Tool {
    /// `COMMAND:RANKS[=MODE]`.
    pub fn parse(text: &str) -> Result<Tool, String> {
        let wrong = || format!("'{text}' is not TOOL:RANKS, such as \"valgrind -q:0,2-3\"");
        let (command, ranks) = text.rsplit_once(':').ok_or_else(wrong)?;
        let (ranks, mode) = match ranks.split_once('=') {
            Some((ranks, mode)) => (ranks, Some(mode.trim())),
            None => (ranks, None),
        };
        let exclusive = match mode {
            None => false,
            Some("exclusive") => true,
            Some("attach") => {
                return Err(format!(
                    "'{text}': tools are not attached to running ranks; start the ranks by the tool, or attach it yourself"
                ));
            }
            Some(mode) => return Err(format!("'{text}': the mode '{mode}' is not exclusive")),
        };
        let tool = Tool {
            words: words::split(command)?,
            ranks: Ranks::parse(ranks.trim())?,
            exclusive,
            window: false,
        };
        match tool.words.is_empty() {
            true => Err(wrong()),
            false => Ok(tool),
        }
    }

    /// `RANKS` or `RANKS!`; -1 means all, as in Open MPI.
    pub fn xterm(text: &str) -> Result<Tool, String> {
        let (ranks, hold) = match text.strip_suffix('!') {
            Some(ranks) => (ranks, true),
            None => (text, false),
        };
        let mut words = vec!["xterm".to_owned()];
        if hold {
            words.push("-hold".into());
        }
        Ok(Tool {
            words,
            ranks: match ranks {
                "-1" => Ranks::All,
                _ => Ranks::parse(ranks)?,
            },
            exclusive: false,
            window: true,
        })
    }

    /// The words to put before the program of a rank; none if it is not among the tool's.
    pub fn before(&self, rank: usize) -> Vec<String> {
        let first = |rank| (0..rank).all(|lower| !self.ranks.has(lower));
        if !self.ranks.has(rank) || (self.exclusive && !first(rank)) {
            return Vec::new();
        }
        let mut words = self.words.clone();
        if self.window {
            words.extend(["-T".into(), format!("rank {rank}"), "-e".into()]);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_for_their_ranks() {
        let tool = Tool::parse("valgrind --log-file='a b' -q:0,2-3").unwrap();
        assert_eq!(tool.before(2), ["valgrind", "--log-file=a b", "-q"]);
        assert!(tool.before(1).is_empty());
        let once = Tool::parse("perf record:1-3=exclusive").unwrap();
        assert!(!once.before(1).is_empty() && once.before(2).is_empty());
        let window = Tool::xterm("-1!").unwrap();
        assert_eq!(window.before(4), ["xterm", "-hold", "-T", "rank 4", "-e"]);
        for wrong in ["", "valgrind", ":0", "gdb:0=attach", "gdb:0=often", "gdb:x"] {
            assert!(Tool::parse(wrong).is_err(), "{wrong}");
        }
    }
}
