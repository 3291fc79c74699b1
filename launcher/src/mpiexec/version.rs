//! What this library is: mpichversion, -version, -info, -help.

use super::options::{ANSWERS, SECTIONS};
use oxmpi::MPICH_VERSION;
use std::fmt::Write;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What `mpiexec -version` says.
pub fn short() -> String {
    format!("mpiexec of oxmpi {VERSION}\nABI: MPICH (libmpi.so.12)\nProcess management: PMI-1\n")
}

/// What `mpiexec -info` says.
pub fn info() -> String {
    format!(
        "oxmpi build details:\n    Version:                {VERSION}\n    ABI:                    MPICH (libmpi.so.12)\n    \
         Process manager:        oxmpi, serves PMI 1.1\n    Launchers:              fork (this host) ssh rsh slurm\n    \
         Binding:                none hwthread core socket numa board user\n    Transport:              shared memory (memfd)\n"
    )
}

/// What `mpichversion` says; options choose lines, as in MPICH.
pub fn mpichversion(arguments: &[String]) -> Result<String, String> {
    let lines = [
        (
            "version",
            'v',
            format!("MPICH Version:      {MPICH_VERSION}"),
        ),
        (
            "oxmpi",
            'o',
            format!("oxmpi Version:      {VERSION} (with MPICH's ABI, libmpi.so.12)"),
        ),
        (
            "date",
            'b',
            "MPICH Release date: unreleased development copy".into(),
        ),
        (
            "device",
            'd',
            "MPICH Device:       oxmpi shared memory".into(),
        ),
        (
            "configure",
            'c',
            "MPICH configure:    cargo build --release".into(),
        ),
        ("ABI", 'A', "MPICH ABI:          12".into()),
    ];
    let mut text = String::new();
    for (long, short, line) in &lines {
        let wanted = arguments.iter().any(|argument| {
            let name = argument.trim_start_matches('-');
            name == *long || name == short.to_string()
        });
        if wanted || arguments.is_empty() {
            text += line;
            text.push('\n');
        }
    }
    match text.is_empty() {
        false => Ok(text),
        true => Err("known options are -version -oxmpi -date -device -configure -ABI".into()),
    }
}

/// What `mpiexec -help` says.
pub fn help() -> String {
    let mut text = String::from(
        "mpiexec [options] program [arguments] [: [options] program [arguments]]...\n\
         Starts the ranks of an MPI job. Options take one dash or two.\n",
    );
    for (heading, choices) in SECTIONS {
        let _ = write!(text, "\n{heading}:\n");
        if choices.iter().all(|choice| choice.without_effect) {
            let names: Vec<String> = choices
                .iter()
                .flat_map(|choice| choice.names)
                .map(|name| format!("-{name}"))
                .collect();
            wrap(&mut text, "  ", &names.join(" "));
            continue;
        }
        for choice in *choices {
            entry(&mut text, choice.names, choice.takes.text(), choice.help);
        }
    }
    text += "\nAnswers:\n";
    for (names, help) in ANSWERS {
        entry(&mut text, names, "", help);
    }
    text += "\nSignals to mpiexec: SIGUSR1 prints what each rank waits for; SIGINT and SIGTERM end the job.\n";
    text
}

/// An option with what it takes, and what it does beside it or below.
fn entry(text: &mut String, names: &[&str], takes: &str, help: &str) {
    let names: Vec<String> = names.iter().map(|name| format!("-{name}")).collect();
    let left = format!("  {} {takes}", names.join(", "));
    let left = left.trim_end();
    if left.len() < 32 {
        wrap(text, &format!("{left:32}"), help);
    } else {
        let _ = writeln!(text, "{left}");
        wrap(text, &" ".repeat(32), help);
    }
}

/// Writes words into lines of at most 100 letters; the first begins with `left`, the others with as many blanks.
pub(super) fn wrap(text: &mut String, left: &str, words: &str) {
    let indent = " ".repeat(left.len());
    let mut line = left.to_owned();
    for word in words.split_whitespace() {
        if line.len() + word.len() > 100 && line.trim() != "" {
            let _ = writeln!(text, "{}", line.trim_end());
            line.clone_from(&indent);
        }
        line += word;
        line.push(' ');
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_help() {
        let help = help();
        for choice in super::super::options::all() {
            for name in choice.names {
                assert!(help.contains(&format!("-{name}")), "{name}");
            }
        }
        for name in super::super::options::answers() {
            assert!(help.contains(&format!("-{name}")), "{name}");
        }
        assert!(help.lines().all(|line| line.len() <= 100));
    }

    #[test]
    fn mpichversion_can_be_asked_for_one_line() {
        assert_eq!(
            mpichversion(&["-version".into()]).unwrap().lines().count(),
            1
        );
        assert_eq!(mpichversion(&[]).unwrap().lines().count(), 6);
        assert!(mpichversion(&["-x".into()]).is_err());
    }
}
