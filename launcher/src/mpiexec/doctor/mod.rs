//! `mpiexec -doctor`: one page on what the library finds on this machine, what that means, and what to change.
//!
//! Invariant: a *problem* is what keeps jobs from running; a *note* is what makes them slower, or what surprises. Each finding
//! is made from inputs that its function is given, so that a test can give others.

mod kernel;
mod libraries;
mod limits;
mod processors;
mod surroundings;
mod trial;
mod view;

pub use trial::part;

use super::version;
use std::fmt::Write;
use view::View;

/// Before the arguments of the processes that the doctor starts of this program.
pub const PART: &str = "-doctor-part";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok,
    Note,
    Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    state: State,
    /// A word or two.
    what: &'static str,
    /// What was found, and what it means.
    found: String,
    /// What to change; empty: nothing.
    advice: String,
}

impl Finding {
    fn ok(what: &'static str, found: impl Into<String>) -> Finding {
        Finding {
            state: State::Ok,
            what,
            found: found.into(),
            advice: String::new(),
        }
    }

    fn note(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding {
            state: State::Note,
            advice: advice.into(),
            ..Finding::ok(what, found)
        }
    }

    fn problem(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding {
            state: State::Problem,
            ..Finding::note(what, found, advice)
        }
    }
}

/// Prints the page. Returns the exit code: 0 if nothing keeps jobs from running.
pub fn run() -> i32 {
    let view = View::of_this_system();
    let sections = [
        ("Library", libraries::findings(&view)),
        ("Processors", processors::findings(&view)),
        ("Memory", kernel::memory(&view)),
        ("Limits", limits::findings()),
        ("Kernel", kernel::calls(&view)),
        ("Surroundings", surroundings::findings(&view)),
        ("Trial", trial::findings()),
    ];
    let (text, code) = page(&sections);
    let head = format!(
        "oxmpi {} on {}, Linux {} {}\n",
        env!("CARGO_PKG_VERSION"),
        super::hosts::name(),
        view.file("/proc/sys/kernel/osrelease").unwrap_or_default(),
        std::env::consts::ARCH,
    );
    let written = std::io::Write::write_all(&mut std::io::stdout(), (head + &text).as_bytes());
    match written {
        Ok(()) => code,
        Err(_) => 1,
    }
}

/// The text below the first line, and the exit code.
fn page(sections: &[(&str, Vec<Finding>)]) -> (String, i32) {
    let mut text = String::new();
    for (heading, findings) in sections {
        let _ = writeln!(text, "\n{heading}");
        for finding in findings {
            let state = match finding.state {
                State::Ok => "ok",
                State::Note => "note",
                State::Problem => "PROBLEM",
            };
            let left = format!("  {state:8}{:16}", finding.what);
            version::wrap(&mut text, &left, &finding.found);
            if !finding.advice.is_empty() {
                let left = format!("{}-> ", " ".repeat(left.len()));
                version::wrap(&mut text, &left, &finding.advice);
            }
        }
    }
    let count = |state: State| {
        let all = sections.iter().flat_map(|(_, findings)| findings);
        all.filter(|finding| finding.state == state).count()
    };
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let notes = plural(count(State::Note), "note");
    let (verdict, code) = match count(State::Problem) {
        0 => (format!("Jobs run here: no problem, {notes}."), 0),
        problems => (
            format!(
                "Jobs may fail here: {}, {notes}.",
                plural(problems, "problem")
            ),
            1,
        ),
    };
    let _ = writeln!(text, "\n{verdict}");
    (text, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_problems_change_the_exit_code() {
        let findings = vec![
            Finding::ok("cores", "2"),
            Finding::note("clock", "slow", "take another"),
        ];
        let (text, code) = page(&[("One", findings.clone())]);
        assert_eq!(
            text,
            "\nOne\n  ok      cores           2\n  note    clock           slow\n                          -> take another\n\
             \nJobs run here: no problem, 1 note.\n"
        );
        assert_eq!(code, 0);
        let mut worse = findings;
        worse.push(Finding::problem("files", "none", ""));
        let (text, code) = page(&[("One", worse)]);
        assert!(
            text.ends_with("\nJobs may fail here: 1 problem, 1 note.\n"),
            "{text}"
        );
        assert_eq!(code, 1);
    }
}
