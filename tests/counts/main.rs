//! Instructions of calls: `benches/counts.c` on the staged library, rank 0 under callgrind, beside the counts in `benches/counts.tsv`. A path
//! that takes over 3 % more fails, until its line is changed with the reason.
//! Invariant: counts are compared only where they mean what they meant: an optimized library made by the compiler, and the C library and
//! valgrind of the versions that the file names.
//!
//!     cargo test --test counts
//!     COUNTS_WRITE="why they changed" cargo test --test counts     # new counts of the paths that changed, with the reason
//!
//! | variable | meaning |
//! |---|---|
//! | `OXMPI_STAGE` | the staged prefix; default `target/stage` |
//! | `COUNTS_WRITE` | the reason to write beside each count that has changed by over 3 %, more or less |

#[path = "../harness/parts.rs"]
mod parts;

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

/// A path may take so much more than its line says.
const TOLERANCE: f64 = 0.03;
/// Runs of the program, of which the least counts.
const RUNS: usize = 4;
/// Seconds that the program may take: it needs five.
const LIMIT: &str = "240";
const FILE: &str = "benches/counts.tsv";
/// Functions that are not counted: they wake ranks, if those sleep, which depends on the moment. callgrind turns collecting round where one is
/// entered and where it is left, so none of them may call another one.
const WAKES: &str = "--toggle-collect=*wake_sleepers*";
const HEAD: &str = "path\tinstructions\treason of the last change";

/// A line of the file.
struct Line {
    path: String,
    instructions: f64,
    reason: String,
}

/// The file: what its counts were made with, and its lines.
struct Recorded {
    made_with: String,
    lines: Vec<Line>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read() -> Result<Recorded, String> {
    let text = std::fs::read_to_string(root().join(FILE)).map_err(|error| error.to_string())?;
    let mut made_with = String::new();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| *line != HEAD) {
        if let Some(tools) = line.strip_prefix("# ") {
            made_with = tools.to_owned();
            continue;
        }
        let fields: Vec<_> = line.split('\t').collect();
        let [path, instructions, reason] = fields[..] else {
            return Err(format!("{FILE}: not three fields: {line}"));
        };
        if reason.trim().is_empty() {
            return Err(format!("{FILE}: no reason: {line}"));
        }
        let instructions = instructions
            .parse()
            .map_err(|error| format!("{FILE}: {instructions}: {error}"))?;
        lines.push(Line {
            path: path.to_owned(),
            instructions,
            reason: reason.to_owned(),
        });
    }
    Ok(Recorded { made_with, lines })
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!(
            "{command:?}: {}\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// What counts depend on beside the sources. callgrind's processor has AVX2 where the real one has it, and never AVX-512.
fn tools() -> Result<String, String> {
    let word = |text: &str, number: usize| {
        let word = text.split_whitespace().nth(number);
        word.unwrap_or("?").to_owned()
    };
    let rustc = said(Command::new("rustc").arg("-V"))?;
    let glibc = said(Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
    let valgrind = said(Command::new("valgrind").arg("--version"))?;
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_avx2 = processor.split_whitespace().any(|flag| flag == "avx2");
    Ok(format!(
        "rustc {}, glibc {}, {}, {}{}",
        word(&rustc, 1),
        word(&glibc, 1),
        valgrind.trim(),
        std::env::consts::ARCH,
        if has_avx2 { " with AVX2" } else { "" },
    ))
}

fn prefix() -> Result<PathBuf, String> {
    let prefix =
        std::env::var_os("OXMPI_STAGE").map_or_else(|| root().join("target/stage"), PathBuf::from);
    std::path::absolute(prefix).map_err(|error| error.to_string())
}

/// Whether the staged library is of another profile than release: then it is that of target/debug.
fn is_unoptimized() -> bool {
    let length = |path: PathBuf| std::fs::metadata(path).ok().map(|file| file.len());
    let staged = prefix()
        .ok()
        .and_then(|prefix| length(prefix.join("lib/libmpi.so.12")));
    staged.is_some() && staged == length(root().join("target/debug/libmpi.so"))
}

/// Whether nothing can be compared here, which it says.
fn is_left_out(recorded: &Recorded, writes: bool) -> bool {
    if !parts::has_all("counts", &["valgrind"]) {
        return true;
    }
    let tools = tools().unwrap_or_else(|error| error);
    let why = match () {
        () if is_unoptimized() => "the staged library is not optimized".to_owned(),
        () if !writes && tools != recorded.made_with => {
            format!("the counts are of {}, here is {tools}", recorded.made_with)
        }
        () => return false,
    };
    parts::skip("counts", &why, None);
    true
}

/// The least count of each path, instructions a call.
fn count() -> Result<Vec<(String, f64)>, String> {
    let folder = root().join("target/counts");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let prefix = prefix()?;
    said(
        Command::new(prefix.join("bin/mpicc"))
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(folder.join("counts"))
            .arg(root().join("benches/counts.c")),
    )?;
    // Both ranks under valgrind: its programs have less room for addresses than others, and the ranks share what the first one maps.
    let under = |tool: &str| ["valgrind", "-q", tool].map(str::to_owned);
    said(
        Command::new(prefix.join("bin/mpiexec"))
            .current_dir(&folder)
            .env("LD_LIBRARY_PATH", prefix.join("lib"))
            .args(["-timeout", LIMIT, "-n", "1"])
            .args(under("--tool=callgrind"))
            .args([
                "--collect-atstart=no",
                WAKES,
                "--callgrind-out-file=dump",
                "./counts",
            ])
            .args([":", "-n", "1"])
            .args(under("--tool=none"))
            .arg("./counts"),
    )?;
    let mut counts: Vec<(String, f64)> = Vec::new();
    for number in 1.. {
        // `dump.1` and so on, and the rest, of which nothing was collected, without a number.
        let Ok(text) = std::fs::read_to_string(folder.join(format!("dump.{number}"))) else {
            break;
        };
        let Some((path, instructions)) = dumped(&text) else {
            continue;
        };
        match counts.iter_mut().find(|(known, _)| *known == path) {
            Some((_, least)) => *least = least.min(instructions),
            None => counts.push((path, instructions)),
        }
    }
    match counts.is_empty() {
        true => Err("callgrind has dumped nothing".to_owned()),
        false => Ok(counts),
    }
}

/// Path and instructions a call in a dump, whose trigger is "CALLS PATH".
fn dumped(text: &str) -> Option<(String, f64)> {
    let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
    let (calls, path) = after("desc: Trigger: Client Request: ")?.split_once(' ')?;
    let instructions: f64 = after("totals: ")?.trim().parse().ok()?;
    Some((path.to_owned(), instructions / calls.parse::<f64>().ok()?))
}

/// The least counts of as many runs as it takes until none is above its line, [`RUNS`] at most: how often a rank looks for another one before it
/// sleeps depends on when that one comes, also in the least round of a run.
fn least(recorded: &Recorded) -> Result<Vec<(String, f64)>, String> {
    let mut least = count()?;
    for _ in 1..RUNS {
        let is_above = |line: &Line| {
            let now = least.iter().find(|(path, _)| *path == line.path);
            now.is_some_and(|(_, now)| compare(line, Some(*now)).is_err())
        };
        if !recorded.lines.iter().any(is_above) {
            break;
        }
        let again = BTreeMap::from_iter(count()?);
        for (path, instructions) in &mut least {
            *instructions = again
                .get(path)
                .map_or(*instructions, |it| it.min(*instructions));
        }
    }
    Ok(least)
}

fn write(recorded: &Recorded, made_with: &str, counts: &[(String, f64)], reason: &str) {
    let mut text = format!("# {made_with}\n{HEAD}\n");
    for (path, now) in counts {
        let old = recorded.lines.iter().find(|line| line.path == *path);
        let kept = old.filter(|old| (now / old.instructions - 1.0).abs() <= TOLERANCE);
        let (instructions, reason) = kept.map_or((*now, reason), |old| {
            (old.instructions, old.reason.as_str())
        });
        writeln!(text, "{path}\t{instructions:.0}\t{reason}").expect("a string");
    }
    std::fs::write(root().join(FILE), text).expect(FILE);
}

/// A path's count beside its line.
fn compare(line: &Line, now: Option<f64>) -> Result<(), Failed> {
    let now = now.ok_or("benches/counts.c has no such path")?;
    let ratio = now / line.instructions;
    if ratio > 1.0 + TOLERANCE {
        return Err(format!(
            "{now:.0} instructions, {:.1} % more than the {:.0} of {FILE} ({}). If that is worth it: COUNTS_WRITE=\"the reason\" cargo test --test counts",
            (ratio - 1.0) * 100.0,
            line.instructions,
            line.reason
        )
        .into());
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let recorded = match read() {
        Ok(recorded) => recorded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let reason = std::env::var("COUNTS_WRITE").ok();
    let is_left_out = is_left_out(&recorded, reason.is_some());
    let counts = match is_left_out || arguments.list {
        true => Ok(Vec::new()),
        false => least(&recorded),
    };
    if let (Some(reason), Ok(counts)) = (&reason, &counts)
        && !is_left_out
    {
        if reason.trim().is_empty() {
            eprintln!("COUNTS_WRITE is empty: it is the reason");
            return ExitCode::FAILURE;
        }
        let made_with = tools().unwrap_or_else(|error| error);
        write(&recorded, &made_with, counts, reason);
        println!("{FILE} is written");
        return ExitCode::SUCCESS;
    }
    let counts = Arc::new(counts.map(BTreeMap::from_iter));
    let paths: Vec<_> = recorded
        .lines
        .iter()
        .map(|line| line.path.clone())
        .collect();
    let all = Arc::clone(&counts);
    let mut trials = vec![Trial::test("all_paths_have_a_line", move || {
        let counts: &BTreeMap<String, f64> = all.as_ref().as_ref().map_err(Failed::from)?;
        let missing: Vec<_> = counts.keys().filter(|path| !paths.contains(path)).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(format!("no line in {FILE}: {missing:?}").into()),
        }
    })];
    trials.extend(recorded.lines.into_iter().map(|line| {
        let counts = Arc::clone(&counts);
        Trial::test(line.path.clone(), move || {
            let counts = counts.as_ref().as_ref().map_err(Failed::from)?;
            compare(&line, counts.get(&line.path).copied())
        })
    }));
    let trials = trials
        .into_iter()
        .map(|trial| trial.with_ignored_flag(is_left_out))
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
