//! `mpiexec -gdb`: each rank in a gdb of its own, whose commands come from this process's standard input, and of whose output equal lines are one.
//!
//! Three processes: this one, *the front*, reads commands and merges output; an mpiexec that runs the job, with `-stdin all` and `-l`, so that
//! several hosts need nothing of their own; and for each rank a *keeper* (`-gdb-keeper`) with its gdb below it, which drops what is not for its rank and
//! says when gdb asks for a command. Invariant: the front reads the next command when the ranks that have got the last one ask for it, and not before.

use super::ranges;
use super::rank_list::StandardInput as Ranks;
use oxmpi::os::process::Signals;
use signal_hook::consts::signal::SIGINT;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The word by which an mpiexec knows that it is a keeper; the program and its arguments follow.
pub const PART: &str = "-gdb-keeper";
/// What gdb writes when it wants a command, and the lines that keepers make of it and of a start. No program writes them.
const PROMPT: &[u8] = b"\x1d(oxmpi-gdb)\x1d";
const ASKS: &str = "\x1dasks";
const OF: &str = "\x1dof ";
/// For keepers: the ranks that commands are for from now on, and an interrupt.
const SELECT: &str = "\x1dselect ";
const INTERRUPT: &str = "\x1dinterrupt";
/// Output of ranks that run is shown when nothing has come for so long.
const QUIET: Duration = Duration::from_millis(300);

/// Runs a job in debuggers, with the arguments of this mpiexec; the exit code.
///
/// Errors: a text.
pub fn run(arguments: &[OsString]) -> Result<i32, String> {
    let is_there = |folder: std::path::PathBuf| folder.join("gdb").is_file();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(is_there) {
        return Err("-gdb: there is no gdb in PATH".into());
    }
    let own = std::env::current_exe().map_err(|error| format!("-gdb: {error}"))?;
    let mut arguments = arguments.to_vec();
    if let Some(at) = arguments
        .iter()
        .position(|it| it == "-gdb" || it == "--gdb")
    {
        arguments.remove(at);
    }
    let tool = format!("'{}' {PART}:all", own.display());
    let job = Command::new(own)
        .args(["-stdin", "all", "-l", "-gtool", &tool])
        .args(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut job = job.map_err(|error| format!("-gdb: {error}"))?;
    // The terminal's Ctrl-C is for the programs in the debuggers, and not for the job. Blocked from here on: what is started inherits that, and gdb would
    // never hear of it. Before, it ends this process, and so the job's input.
    let signals = Signals::block(&[SIGINT]).map_err(|error| format!("-gdb: {error}"))?;
    let (tell, told) = channel();
    if let Some(output) = job.stdout.take() {
        let tell = tell.clone();
        std::thread::spawn(move || hear(BufReader::new(output), &tell));
    }
    std::thread::spawn(move || {
        while signals.take(None).is_some() {
            let _ = tell.send(Told::Interrupt);
        }
    });
    let input = job.stdin.take();
    let mut front = Front {
        input,
        selected: Ranks::All,
        ranks: BTreeMap::new(),
        size: None,
    };
    front.serve(&told);
    drop(front.input.take());
    Ok(code_of(&mut job))
}

fn code_of(job: &mut Child) -> i32 {
    job.wait().map_or(1, |status| status.code().unwrap_or(1))
}

/// What the front hears.
enum Told {
    Line(u32, String),
    Interrupt,
    End,
}

/// Reads `[RANK] TEXT`.
fn hear(mut output: impl BufRead, tell: &Sender<Told>) {
    let mut line = Vec::new();
    while output
        .read_until(b'\n', &mut line)
        .is_ok_and(|count| count > 0)
    {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        let labelled = text.strip_prefix('[').and_then(|rest| {
            let (rank, text) = rest.split_once(']')?;
            Some((rank.parse().ok()?, text.strip_prefix(' ').unwrap_or(text)))
        });
        if let Some((rank, text)) = labelled {
            let _ = tell.send(Told::Line(rank, text.to_owned()));
        }
    }
    let _ = tell.send(Told::End);
}

/// A rank that runs or asks for a command.
#[derive(Default)]
struct OfRank {
    lines: Vec<String>,
    asks: bool,
}

struct Front {
    input: Option<ChildStdin>,
    selected: Ranks,
    ranks: BTreeMap<u32, OfRank>,
    size: Option<usize>,
}

impl Front {
    fn serve(&mut self, told: &Receiver<Told>) {
        loop {
            match told.recv_timeout(QUIET) {
                Ok(Told::Line(rank, line)) => self.take(rank, line),
                Ok(Told::Interrupt) => self.send(INTERRUPT),
                Err(RecvTimeoutError::Timeout) => self.show(),
                Ok(Told::End) | Err(RecvTimeoutError::Disconnected) => {
                    self.show();
                    return;
                }
            }
            while self.input.is_some() && self.all_ask() {
                self.show();
                self.command();
            }
        }
    }

    fn take(&mut self, rank: u32, line: String) {
        let of_rank = self.ranks.entry(rank).or_default();
        if let Some(size) = line.strip_prefix(OF) {
            self.size = size.parse().ok();
        } else if line == ASKS {
            of_rank.asks = true;
        } else {
            of_rank.lines.push(line);
        }
    }

    /// Whether all that have got the last command want another one.
    fn all_ask(&self) -> bool {
        let mut selected = self.ranks.iter();
        let has = |rank: u32| self.selected.has(rank as usize);
        self.size.is_some_and(|size| self.ranks.len() >= size)
            && selected.all(|(rank, it)| it.asks || !has(*rank))
    }

    /// Reads a command, and passes it on.
    fn command(&mut self) {
        print(&format!("({}) ", self.shown()));
        let mut line = String::new();
        if !io::stdin()
            .read_line(&mut line)
            .is_ok_and(|count| count > 0)
        {
            // The debuggers end as they do where their input ends.
            print("\n");
            self.input = None;
            return;
        }
        let line = line.trim_end();
        match line.split_once(' ').unwrap_or((line, "")) {
            ("z", "") => self.select(Ranks::All, "all"),
            ("z", ranks) => match Ranks::parse(ranks.trim()) {
                Ok(list) if self.ranks.keys().any(|rank| list.has(*rank as usize)) => {
                    self.select(list, ranks.trim());
                }
                Ok(_) => print(&format!("z: there is no rank {}\n", ranks.trim())),
                Err(text) => print(&format!("z: {text}\n")),
            },
            _ => {
                for (rank, it) in &mut self.ranks {
                    it.asks &= !self.selected.has(*rank as usize);
                }
                self.send(line);
            }
        }
    }

    fn select(&mut self, ranks: Ranks, words: &str) {
        self.selected = ranks;
        self.send(&format!("{SELECT}{words}"));
    }

    fn send(&mut self, line: &str) {
        if let Some(input) = &mut self.input
            && writeln!(input, "{line}")
                .and_then(|()| input.flush())
                .is_err()
        {
            self.input = None;
        }
    }

    /// The ranks that commands are for.
    fn shown(&self) -> String {
        let selected = self.ranks.keys().copied();
        let selected = selected.filter(|rank| self.selected.has(*rank as usize));
        ranges(&selected.collect::<Vec<_>>())
    }

    /// Writes what ranks have said, equal lines at one place as one.
    fn show(&mut self) {
        let all = self.ranks.iter_mut();
        let said: Vec<(u32, Vec<String>)> = all
            .map(|(rank, it)| (*rank, std::mem::take(&mut it.lines)))
            .collect();
        print(&merged(&said));
    }
}

/// The lines of some ranks, with the ranks that have said each.
fn merged(said: &[(u32, Vec<String>)]) -> String {
    let mut text = String::new();
    let longest = said.iter().map(|(_, lines)| lines.len()).max();
    for at in 0..longest.unwrap_or(0) {
        let mut groups: Vec<(&str, Vec<u32>)> = Vec::new();
        for (rank, lines) in said {
            let Some(line) = lines.get(at) else {
                continue;
            };
            match groups.iter_mut().find(|(other, _)| other == line) {
                Some((_, ranks)) => ranks.push(*rank),
                None => groups.push((line, vec![*rank])),
            }
        }
        for (line, ranks) in groups {
            text.push_str(format!("{}:  {line}", ranges(&ranks)).trim_end());
            text.push('\n');
        }
    }
    text
}

fn print(text: &str) {
    let mut output = io::stdout();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}

/// A keeper: runs gdb with a program; the exit code.
pub fn keep(words: &[OsString]) -> i32 {
    let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    let rank = number("PMI_RANK").unwrap_or(0);
    print(&format!("{OF}{}\n", number("PMI_SIZE").unwrap_or(1)));
    let prompt = format!("set prompt {}", String::from_utf8_lossy(PROMPT));
    let settings = ["set confirm off", "set pagination off", "set width 0"];
    let settings = settings.into_iter().chain([prompt.as_str()]);
    let pipe = io::pipe();
    let gdb = pipe.and_then(|(output, theirs)| {
        let gdb = Command::new("gdb")
            .arg("-q")
            .args(settings.flat_map(|setting| ["-ex", setting]))
            .arg("--args")
            .args(words)
            .stdin(Stdio::piped())
            .stderr(theirs.try_clone()?)
            .stdout(theirs)
            .spawn()?;
        Ok((gdb, output))
    });
    let (mut gdb, output) = match gdb {
        Ok(gdb) => gdb,
        Err(error) => {
            print(&format!("gdb cannot be started: {error}\n"));
            return 1;
        }
    };
    let (input, pid) = (gdb.stdin.take(), gdb.id() as i32);
    // Not joined: it waits for commands when gdb has ended.
    std::thread::spawn(move || pass_on(rank, input, pid));
    say(output);
    code_of(&mut gdb)
}

/// Passes commands on that are for this rank.
fn pass_on(rank: usize, mut gdb: Option<ChildStdin>, pid: i32) {
    let mut selected = Ranks::All;
    for line in io::stdin().lines().map_while(Result::ok) {
        if let Some(ranks) = line.strip_prefix(SELECT) {
            selected = Ranks::parse(ranks).unwrap_or(Ranks::All);
        } else if !selected.has(rank) {
            continue;
        } else if line == INTERRUPT {
            let pid = rustix::process::Pid::from_raw(pid);
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::INT));
        } else if let Some(gdb) = &mut gdb {
            let _ = writeln!(gdb, "{line}").and_then(|()| gdb.flush());
        }
    }
}

/// Passes output on; prompts become lines.
fn say(mut output: impl Read) {
    let (mut bytes, mut held) = ([0; 4096], Vec::new());
    while let Ok(count @ 1..) = output.read(&mut bytes) {
        held.extend(&bytes[..count]);
        let text = lines_of(&mut held);
        let _ = io::stdout()
            .write_all(&text)
            .and_then(|()| io::stdout().flush());
    }
    let _ = io::stdout()
        .write_all(&held)
        .and_then(|()| io::stdout().flush());
}

/// What can be passed on of what gdb has written.
fn lines_of(held: &mut Vec<u8>) -> Vec<u8> {
    let mut text = Vec::new();
    loop {
        let prompt = held.windows(PROMPT.len()).position(|bytes| bytes == PROMPT);
        let Some(at) = prompt else {
            break;
        };
        text.extend(held.drain(..at));
        held.drain(..PROMPT.len());
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        text.extend(ASKS.as_bytes());
        text.push(b'\n');
    }
    // A prompt may have come in part.
    let whole = held
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    text.extend(held.drain(..whole));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_are_one_with_the_ranks_that_have_said_them() {
        let said = |rank, lines: &[&str]| {
            let lines = lines.iter().map(|line| (*line).to_owned());
            (rank, lines.collect())
        };
        let all = [
            said(0, &["one", "two"]),
            said(1, &["one", "2"]),
            said(2, &["one"]),
            said(4, &["one", "two"]),
        ];
        assert_eq!(merged(&all), "0-2,4:  one\n0,4:  two\n1:  2\n");
    }

    #[test]
    fn a_prompt_becomes_a_line_also_where_it_comes_in_parts() {
        let (first, rest) = PROMPT.split_at(4);
        let mut held = [b"a\nb", first].concat();
        assert_eq!(lines_of(&mut held), b"a\n");
        held.extend(rest);
        assert_eq!(lines_of(&mut held), format!("b\n{ASKS}\n").into_bytes());
        assert!(held.is_empty());
    }

    #[test]
    fn a_command_is_read_when_all_ask_that_it_was_for() {
        let mut front = Front {
            input: None,
            selected: Ranks::All,
            ranks: BTreeMap::new(),
            size: None,
        };
        front.take(0, format!("{OF}2"));
        front.take(0, ASKS.into());
        assert!(!front.all_ask());
        front.take(1, "hello".into());
        assert!(!front.all_ask());
        front.take(1, ASKS.into());
        assert!(front.all_ask());
        front.ranks.insert(1, OfRank::default());
        front.selected = Ranks::Ranks(vec![0]);
        assert!(front.all_ask());
        assert_eq!(front.shown(), "0");
    }
}
