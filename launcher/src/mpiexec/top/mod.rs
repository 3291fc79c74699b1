//! `mpiexec -top PID`: what the ranks of a running job do, again and again, on all hosts. Asks the mpiexec of the job, which reads pages and
//! counters as they are, so the ranks do not notice.

pub mod sample;
mod screen;
mod speech;
mod watchers;

use super::descendants;
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use rustix::termios::{isatty, tcgetwinsize};
use screen::Job;
use speech::{Answer, LONGEST_ANSWER, Question, VERSION};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

/// For an answer of mpiexec, which gives its keepers less.
const ANSWER: Duration = Duration::from_millis(950);

/// Shows the job until it ends; the exit code.
///
/// Errors: wrong words; no such job; a job of another version, or of another user.
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
    let period = Duration::from_secs_f64(period);
    let mut line = Line::of(connect(root)?);
    let mut before = None;
    loop {
        let begin = Instant::now();
        match line.ask(period) {
            Heard::Ranks(now) => {
                if let Some(before) = before {
                    show(|size| screen::render(&before, &now, size));
                }
                before = Some(now);
            }
            Heard::Other(version) => {
                return Err(format!(
                    "-top: this is version {VERSION}, and the job is of version {version}"
                ));
            }
            Heard::Nothing => show(|_| format!("no answer from the mpiexec of process {root}")),
            Heard::End if before.is_some() => return Ok(0),
            Heard::End => {
                return Err(format!(
                    "-top: the mpiexec of process {root} says nothing to this user"
                ));
            }
        }
        thread::sleep(period.saturating_sub(begin.elapsed()));
    }
}

/// To the mpiexec that is this process, or below it: jobs that ranks have spawned are further below.
fn connect(root: i32) -> Result<UnixStream, String> {
    let below = descendants::below(root);
    let processes = std::iter::once(root).chain(below);
    let mut found = processes.filter_map(|pid| {
        let stream = UnixStream::connect_addr(&speech::address(pid).ok()?).ok()?;
        // Anybody may listen there.
        let user = socket_peercred(&stream).ok()?.uid;
        (user == geteuid() || geteuid().is_root()).then_some(stream)
    });
    found.next().ok_or_else(|| {
        format!(
            "-top: no mpiexec of this user runs as process {root} on this host, or below it (mpiexec -report-pid tells its number)"
        )
    })
}

enum Heard {
    Ranks(Job),
    /// The job's version.
    Other(String),
    Nothing,
    /// The job is over.
    End,
}

/// The connection to a job's mpiexec.
struct Line {
    stream: UnixStream,
    heard: Vec<u8>,
    /// There is a question without an answer.
    waits: bool,
}

impl Line {
    fn of(stream: UnixStream) -> Line {
        Line {
            stream,
            heard: Vec::new(),
            waits: false,
        }
    }

    /// Asks, once in a period, unless a question is not answered yet, and waits for the answer, not for long.
    fn ask(&mut self, period: Duration) -> Heard {
        let until = Instant::now() + ANSWER;
        if !self.waits {
            let question = speech::message(&Question {
                version: VERSION.to_owned(),
                milliseconds: period.as_millis() as u32,
            });
            if self.stream.write_all(&question).is_err() {
                return Heard::End;
            }
            self.waits = true;
        }
        let mut bytes = [0; 1 << 16];
        loop {
            match speech::take::<Answer>(&mut self.heard, LONGEST_ANSWER) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    self.waits = false;
                    return answer.into();
                }
                Err(()) => return Heard::Other("unknown".to_owned()),
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() || self.stream.set_read_timeout(Some(rest)).is_err() {
                return Heard::Nothing;
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Heard::End,
                Ok(count) => self.heard.extend(&bytes[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                    _ => return Heard::End,
                },
            }
        }
    }
}

impl From<Answer> for Heard {
    fn from(answer: Answer) -> Heard {
        match answer {
            Answer::Other { version } => Heard::Other(version),
            Answer::Ranks { hosts, of, samples } => Heard::Ranks(Job { hosts, of, samples }),
        }
    }
}

/// Shows a text of at most so many columns and lines, or ends this process if nobody reads it any more.
fn show(render: impl FnOnce((usize, usize)) -> String) {
    let out = std::io::stdout();
    let terminal = isatty(&out);
    let size = match tcgetwinsize(&out) {
        Ok(window) if terminal && window.ws_col > 0 && window.ws_row > 0 => {
            (window.ws_col as usize, window.ws_row as usize)
        }
        _ => (usize::MAX, usize::MAX),
    };
    let text = render(size);
    let text = match terminal {
        // From the top of the screen. A line is emptied first: behind one that is full it would lose its last character. Behind the last line of the
        // terminal it would scroll.
        true => {
            let rest = match text.lines().count() < size.1 {
                true => "\n\x1b[J",
                false => "",
            };
            format!("\x1b[H\x1b[K{}{rest}", text.replace('\n', "\n\x1b[K"))
        }
        false => text + "\n\n",
    };
    let mut out = out.lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(0);
    }
}
