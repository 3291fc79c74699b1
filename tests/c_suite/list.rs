//! Reads the testlist of each folder of `c-tests/`: one line for each program, its rank counts and flags.
//! Invariant: every program on disk is in the list of its folder and the other way round; `read` names each one that is not.
//!
//!     name     ranks   flags
//!     modes    1,2,4   args="1000 7" env=NAME=VALUE        # in c-tests/pt2pt/testlist
//!
//! Flags: `args="..."`, `env=NAME=VALUE`, `mpiexec="options"`, `cflags="..."`, `exit=CODE` or
//! `exit=nonzero` (then no closing line is expected), `stdout="text"` and `stderr="text"` (must occur, may be
//! repeated; on oxmpi only), `without="text"` (must not be in stderr; likewise), `each="begin*end"` (every line of stdout looks so; on oxmpi only), `quiet` (no closing line though the code is 0), `since=4.1` (version of MPI
//! the program needs), `reference=no:"why"`, `reference=np2` (the reference runs at most 2 ranks),
//! `oxmpi=no:"why"` (only the reference can
//! do it yet), `needs=PACKAGE` (of `.ci/packages`, as Fortran and `OXMPI_FABRIC` need theirs), `standard=no:"why"` (not compiled for the standard ABI), `fabric=no:"why"` (not with `C_SUITE_FABRIC`), `compare=no`, `launcher=own` (says nothing about
//! oxmpi under another launcher), `styles=mpi_f08` (a Fortran program that is not for all of mpif.h, mpi and mpi_f08), `alone` (without mpiexec), `idle` (its ranks wait for seconds: it runs beside those that need the cores), `seconds=N`, `long`, `papers` (chooses what only a library with the feature `papers` has), `wrap=no` (not under valgrind).

use crate::parts;
use crate::toolchain::Toolchain;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Clone)]
pub enum Exit {
    Code(i32),
    Nonzero,
}

#[derive(Clone)]
pub struct Line {
    /// Name of the trial: program, arguments if any, ranks.
    pub name: String,
    /// `chapter/name`, and the extension of its source. An `.F90` is compiled in three styles.
    pub program: String,
    pub extension: &'static str,
    pub ranks: usize,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub launcher: Vec<String>,
    pub compiler: Vec<String>,
    pub exit: Exit,
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
    /// What stderr must not have.
    pub without: Vec<String>,
    /// How each line of the standard output begins and ends, the closing line apart.
    pub each: Option<(String, String)>,
    pub quiet: bool,
    pub since: Option<(u32, u32)>,
    pub not_on_reference: Option<String>,
    pub reference_ranks: usize,
    pub compare: bool,
    pub alone: bool,
    pub idle: bool,
    pub seconds: Option<u64>,
    pub long: bool,
    /// For a library with the feature `papers`.
    pub papers: bool,
    pub unwrapped: bool,
    pub own_launcher: bool,
    pub not_yet: Option<String>,
    /// Why it is nothing for the standard ABI.
    pub not_standard: Option<String>,
    /// Why it cannot be run on two nodes with a fabric between them.
    pub not_over_fabric: Option<String>,
    pub styles: Vec<String>,
    /// The package that has a program which it starts.
    pub needs: Option<String>,
}

impl Line {
    /// What this line needs and this machine lacks: the reason, and the package, if one has it.
    pub fn missing(&self, on: &Toolchain) -> Option<(String, Option<&str>)> {
        if self.extension == "F90"
            && let Err(without) = &on.fortran
        {
            return Some((without.reason.clone(), without.package));
        }
        let wants_fabric = |(name, _): &(String, String)| name == "OXMPI_FABRIC";
        let fabric = on.over_fabric || self.environment.iter().any(wants_fabric);
        let fabric = fabric.then_some("libfabric1");
        let mut needs = [fabric, self.needs.as_deref()].into_iter().flatten();
        let missing = needs.find(|package| !parts::has(package))?;
        Some((format!("{missing} is not there"), Some(missing)))
    }

    /// Why this line says nothing about that library, if it does not.
    pub fn skip_on(&self, on: &Toolchain) -> Option<String> {
        // Compiled by the reference's modules, whichever library it then runs on.
        let its_modules = self.extension == "F90" && on.library_path.is_some();
        if on.is_reference || its_modules {
            if let Some(why) = &self.not_on_reference {
                return Some(why.clone());
            }
            if self.ranks > self.reference_ranks {
                return Some("too slow there with so many ranks".into());
            }
        }
        if on.standard_abi && self.not_standard.is_some() {
            return self.not_standard.clone();
        }
        if on.over_fabric && self.not_over_fabric.is_some() {
            return self.not_over_fabric.clone();
        }
        if !on.is_reference && self.not_yet.is_some() {
            return self.not_yet.clone();
        }
        if self.own_launcher && on.foreign_launcher {
            return Some("is about our own mpiexec".into());
        }
        let (major, minor) = self.since?;
        (on.version < (major, minor)).then(|| format!("needs MPI {major}.{minor}"))
    }
}

/// The styles of Fortran, and the macros that `common/fortran.h` knows them by.
const STYLES: [(&str, &str); 3] = [
    ("mpif.h", "-DSTYLE_MPIF"),
    ("mpi", "-DSTYLE_MPI"),
    ("mpi_f08", "-DSTYLE_F08"),
];

/// The trials, and what is wrong with the lists.
pub fn read(source: &Path) -> (Vec<Line>, Vec<String>) {
    let mut mistakes = Vec::new();
    let mut lines = Vec::new();
    let mut listed = BTreeSet::new();
    let mut folders = match folders(source) {
        Ok(folders) => folders,
        Err(error) => return (lines, vec![format!("{}: {error}", source.display())]),
    };
    folders.sort();
    for folder in folders {
        let path = source.join(&folder).join("testlist");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            // Its programs, if it has any, are found missing below.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                mistakes.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        for (number, row) in text.lines().enumerate() {
            let location = format!("{folder}/testlist:{}", number + 1);
            match trials(source, &folder, row, &mut listed) {
                Ok(trials) => lines.extend(trials),
                Err(text) => mistakes.push(format!("{location}: {text}")),
            }
        }
    }
    let mut found = Vec::new();
    programs(source, source, &mut found);
    found.retain(|name| !name.starts_with("wrappers/"));
    mistakes.extend(
        found
            .iter()
            .filter(|name| !listed.contains(*name))
            .map(|name| format!("{name} is not in the testlist of its folder")),
    );
    let mut names = BTreeSet::new();
    mistakes.extend(
        lines
            .iter()
            .filter(|line| !names.insert(&line.name))
            .map(|line| format!("{} is there twice: give it label=", line.name)),
    );
    (lines, mistakes)
}

/// Names of the folders of `source`.
fn folders(source: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(source)? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// The trials of a row; none, if it is empty or a comment. Its program joins `listed`.
fn trials(
    source: &Path,
    folder: &str,
    row: &str,
    listed: &mut BTreeSet<String>,
) -> Result<Vec<Line>, String> {
    let words = split(row)?;
    let Some(name) = words.first() else {
        return Ok(Vec::new());
    };
    let program = format!("{folder}/{name}");
    let extension = ["c", "cc", "F90"]
        .into_iter()
        .find(|extension| source.join(format!("{program}.{extension}")).is_file())
        .ok_or_else(|| format!("there is no {program}.c"))?;
    listed.insert(format!("{program}.{extension}"));
    let mut trials = Vec::new();
    for count in words.get(1).map_or("", String::as_str).split(',') {
        let ranks = count
            .parse()
            .map_err(|_| format!("{count:?} is no number of ranks"))?;
        let line = line(&program, extension, ranks, &words[2..])?;
        match extension {
            "F90" => trials.extend(in_styles(&line)),
            _ => trials.push(line),
        }
    }
    Ok(trials)
}

fn line(
    program: &str,
    extension: &'static str,
    ranks: usize,
    flags: &[String],
) -> Result<Line, String> {
    let mut line = Line {
        name: String::new(),
        program: program.into(),
        extension,
        ranks,
        arguments: Vec::new(),
        environment: Vec::new(),
        launcher: Vec::new(),
        compiler: Vec::new(),
        exit: Exit::Code(0),
        stdout: Vec::new(),
        stderr: Vec::new(),
        without: Vec::new(),
        each: None,
        quiet: false,
        since: None,
        not_on_reference: None,
        reference_ranks: usize::MAX,
        compare: true,
        alone: false,
        idle: false,
        seconds: None,
        long: false,
        papers: false,
        unwrapped: false,
        own_launcher: false,
        not_yet: None,
        not_standard: None,
        not_over_fabric: None,
        styles: Vec::new(),
        needs: None,
    };
    let mut label = String::new();
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    for flag in flags {
        let (key, value) = flag.split_once('=').unwrap_or((flag, ""));
        let bad = || format!("{flag:?} is not understood");
        match key {
            "args" => {
                line.arguments = words(value);
                if label.is_empty() {
                    label = format!("({value})");
                }
            }
            "label" => label = format!("({value})"),
            "env" => {
                let (name, value) = value.split_once('=').ok_or_else(bad)?;
                line.environment.push((name.into(), value.into()));
            }
            "mpiexec" => line.launcher = words(value),
            "cflags" => line.compiler = words(value),
            "exit" if value == "nonzero" => line.exit = Exit::Nonzero,
            "exit" => line.exit = Exit::Code(value.parse().map_err(|_| bad())?),
            "stdout" => line.stdout.push(value.into()),
            "stderr" => line.stderr.push(value.into()),
            "without" => line.without.push(value.into()),
            "each" => {
                let (begin, end) = value.split_once('*').ok_or_else(bad)?;
                line.each = Some((begin.into(), end.into()));
            }
            "quiet" => line.quiet = true,
            "since" => {
                let (major, minor) = value.split_once('.').ok_or_else(bad)?;
                let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
                line.since = Some((number(major)?, number(minor)?));
            }
            "reference" => {
                if let Some(why) = value.strip_prefix("no:") {
                    line.not_on_reference = Some(why.into());
                } else if let Some(most) = value.strip_prefix("np") {
                    line.reference_ranks = most.parse().map_err(|_| bad())?;
                } else {
                    return Err(bad());
                }
            }
            "compare" if value == "no" => line.compare = false,
            "oxmpi" => line.not_yet = Some(value.strip_prefix("no:").ok_or_else(bad)?.into()),
            "standard" => {
                line.not_standard = Some(value.strip_prefix("no:").ok_or_else(bad)?.into())
            }
            "fabric" => {
                line.not_over_fabric = Some(value.strip_prefix("no:").ok_or_else(bad)?.into())
            }
            "styles" => line.styles = value.split(',').map(str::to_owned).collect(),
            "launcher" if value == "own" => line.own_launcher = true,
            "needs" => line.needs = Some(value.into()),
            "alone" => line.alone = true,
            "idle" => line.idle = true,
            "seconds" => line.seconds = Some(value.parse().map_err(|_| bad())?),
            "long" => line.long = true,
            "papers" => line.papers = true,
            "wrap" if value == "no" => line.unwrapped = true,
            _ => return Err(bad()),
        }
    }
    line.name = format!("{program}{label}/{ranks}");
    Ok(line)
}

/// A Fortran program with mpif.h, the module mpi and the module mpi_f08, or the styles named.
fn in_styles(line: &Line) -> Vec<Line> {
    let named =
        |style: &str| line.styles.is_empty() || line.styles.iter().any(|name| name == style);
    STYLES
        .iter()
        .filter(|(style, _)| named(style))
        .map(|(style, flag)| {
            let mut line = line.clone();
            let (program, ranks) = line.name.rsplit_once('/').unwrap_or((&line.name, ""));
            line.name = format!("{program}({style})/{ranks}");
            line.compiler.push((*flag).to_owned());
            line
        })
        .collect()
}

/// Words of a row; `"` keeps blanks together, `#` starts a comment.
fn split(row: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for letter in row.chars() {
        match letter {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '#' if !quoted && word.is_none() => break,
            letter if letter.is_whitespace() && !quoted => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    if quoted {
        return Err("a quotation mark is not closed".into());
    }
    Ok(words)
}

fn programs(root: &Path, directory: &Path, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(root, &path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "c" || extension == "cc" || extension == "F90")
        {
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.push(name.display().to_string());
        }
    }
}
