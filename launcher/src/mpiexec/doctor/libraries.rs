//! Which library and which tools a program started from here gets, and other MPIs that could be taken by mistake.

use super::Finding;
use super::trial::{self, Loaded};
use super::view::View;
use std::path::{Path, PathBuf};

/// Tools that another MPI has by the same names.
const TOOLS: &[&str] = &["mpicc", "mpicxx", "mpifort", "mpiexec", "mpirun"];
const SONAME: &str = "libmpi.so.12";

pub fn findings(view: &View) -> Vec<Finding> {
    let own = std::env::current_exe().ok();
    let folder = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let folder = folder.unwrap_or_default();
    let library = trial::own_library();
    let mut found = vec![Finding::ok(
        "mpiexec",
        folder.join("mpiexec").display().to_string(),
    )];
    found.push(installed(library.as_deref()));
    found.push(standard(library.as_deref()));
    found.push(default_library(
        trial::loaded().as_ref(),
        library.as_deref(),
        view,
    ));
    found.extend(tools(view, &folder));
    found.extend(folders(view, library.as_deref()));
    found
}

fn installed(library: Option<&Path>) -> Finding {
    match library {
        Some(path) => Finding::ok("library", format!("{} (ABI of MPICH)", path.display())),
        None => Finding::problem(
            "library",
            format!("no {SONAME} in ../lib beside this mpiexec"),
            "install all of oxmpi into one prefix: make install PREFIX=..",
        ),
    }
}

fn standard(library: Option<&Path>) -> Finding {
    let file = library.map(|it| it.with_file_name("libmpi_abi.so.1"));
    match file.filter(|it| it.exists()) {
        Some(file) => Finding::ok("standard ABI", file.display().to_string()),
        None => Finding::ok("standard ABI", "libmpi_abi.so.1 is not in this prefix"),
    }
}

/// What a program without a run path loads.
fn default_library(found: Option<&Loaded>, own: Option<&Path>, view: &View) -> Finding {
    const WHAT: &str = "default MPI";
    let own_folder = own
        .and_then(Path::parent)
        .unwrap_or(Path::new("PREFIX/lib"));
    let advice = format!(
        "for such programs: LD_LIBRARY_PATH={}",
        own_folder.display()
    );
    let Some(found) = found else {
        return Finding::note(
            WHAT,
            format!(
                "a program built for another library of MPICH's family finds no {SONAME}; those compiled by this mpicc find theirs"
            ),
            advice,
        );
    };
    if own.is_some_and(|own| is_same(own, &found.file)) {
        return Finding::ok(
            WHAT,
            format!("any program for MPICH's ABI loads this library ({SONAME})"),
        );
    }
    let by_variable = view.variable("LD_LIBRARY_PATH").unwrap_or_default();
    let by_variable = std::env::split_paths(by_variable)
        .any(|folder| Some(folder.as_path()) == found.file.parent());
    let who = match by_variable {
        true => "LD_LIBRARY_PATH makes all programs, those compiled by this mpicc too,",
        false => "programs that were not compiled by this mpicc",
    };
    Finding::note(
        WHAT,
        format!(
            "{who} load another library: {} ({})",
            found.file.display(),
            found.version
        ),
        match by_variable {
            true => format!("put {} first in LD_LIBRARY_PATH", own_folder.display()),
            false => advice,
        },
    )
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || (real(one).is_some() && real(one) == real(other))
}

/// The tools that PATH leads to.
fn tools(view: &View, own: &Path) -> Vec<Finding> {
    let path = view.variable("PATH").unwrap_or_default();
    let first = |tool: &str| -> Option<PathBuf> {
        let files = std::env::split_paths(path).map(|folder| folder.join(tool));
        let mut files = files.filter(|file| view.path(&file.to_string_lossy()).is_file());
        files.next()
    };
    let advice = format!("put {} first in PATH", own.display());
    let (mut missing, mut ours, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for tool in TOOLS {
        match first(tool) {
            None => missing.push(*tool),
            Some(file) if file.parent().is_some_and(|it| is_same(it, own)) => ours.push(*tool),
            Some(file) => {
                let target = std::fs::read_link(view.path(&file.to_string_lossy())).ok();
                let target = target.map(|it| format!(" -> {}", it.display()));
                found.push(format!("{}{}", file.display(), target.unwrap_or_default()));
            }
        }
    }
    let mut findings = Vec::new();
    if !found.is_empty() {
        findings.push(Finding::note(
            "other MPI",
            format!("comes first in PATH: {}", found.join(", ")),
            advice.clone(),
        ));
    }
    if !missing.is_empty() && found.is_empty() {
        findings.push(Finding::note(
            "PATH",
            format!("has no {}", missing.join(", ")),
            advice,
        ));
    }
    if !ours.is_empty() {
        findings.push(Finding::ok(
            "PATH",
            format!("leads to this {}", ours.join(", ")),
        ));
    }
    findings
}

/// Libraries of other MPIs in LD_LIBRARY_PATH and LD_PRELOAD.
fn folders(view: &View, own: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    let own = own.and_then(Path::parent).unwrap_or(Path::new(""));
    for folder in std::env::split_paths(view.variable("LD_LIBRARY_PATH").unwrap_or_default()) {
        let shown = folder.display().to_string();
        if shown.is_empty() || is_same(&folder, own) {
            continue;
        }
        let names = view.names(&shown);
        let other = names.iter().find(|name| name.starts_with("libmpi.so"));
        if let Some(other) = other {
            found.push(Finding::note(
                "other MPI",
                format!("LD_LIBRARY_PATH names {shown}, which has {other}"),
                "take it out, unless it is meant",
            ));
        }
    }
    if let Some(preload) = view.variable("LD_PRELOAD").filter(|it| it.contains("mpi")) {
        found.push(Finding::note(
            "LD_PRELOAD",
            format!("loads {preload} into every program, before its own libraries"),
            "unset LD_PRELOAD, unless it is meant",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn texts(findings: &[Finding], state: State) -> Vec<String> {
        let found = findings.iter().filter(|it| it.state == state);
        found
            .map(|it| format!("{}: {}", it.what, it.found))
            .collect()
    }

    #[test]
    fn tools_of_another_library_are_named() {
        let view = View::of_test(
            &[
                ("/other/bin/mpicc", ""),
                ("/own/bin/mpicc", ""),
                ("/own/bin/mpiexec", ""),
            ],
            &[("PATH", "/none:/other/bin:/own/bin")],
        );
        let found = tools(&view, Path::new("/own/bin"));
        assert_eq!(
            texts(&found, State::Note),
            ["other MPI: comes first in PATH: /other/bin/mpicc"]
        );
        assert_eq!(texts(&found, State::Ok), ["PATH: leads to this mpiexec"]);
        assert_eq!(found[0].advice, "put /own/bin first in PATH");
        let nothing = tools(
            &View::of_test(&[], &[("PATH", "/none")]),
            Path::new("/own/bin"),
        );
        assert!(
            texts(&nothing, State::Note)[0].starts_with("PATH: has no mpicc"),
            "{nothing:?}"
        );
    }

    #[test]
    fn libraries_of_others_are_named() {
        let view = View::of_test(
            &[("/other/lib/libmpi.so.40", "")],
            &[
                ("LD_LIBRARY_PATH", "/own/lib:/other/lib:"),
                ("LD_PRELOAD", "/x/libmpi-trace.so"),
            ],
        );
        let found = texts(
            &folders(&view, Some(Path::new("/own/lib/libmpi.so.12"))),
            State::Note,
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("/other/lib, which has libmpi.so.40"));
        assert!(found[1].contains("/x/libmpi-trace.so"));
    }

    #[test]
    fn the_library_that_programs_load_is_compared_with_ours() {
        let own = Some(Path::new("/own/lib/libmpi.so.12"));
        let loaded = |file: &str| Loaded {
            file: file.into(),
            version: "MPICH Version: 4.0.2".into(),
        };
        let view = |path: &str| View::of_test(&[], &[("LD_LIBRARY_PATH", path)]);
        let ours = default_library(Some(&loaded("/own/lib/libmpi.so.12")), own, &view(""));
        assert_eq!(ours.state, State::Ok);
        let other = default_library(Some(&loaded("/o/libmpi.so.12")), own, &view(""));
        assert_eq!(other.state, State::Note);
        assert!(
            other
                .found
                .contains("/o/libmpi.so.12 (MPICH Version: 4.0.2)"),
            "{other:?}"
        );
        assert_eq!(other.advice, "for such programs: LD_LIBRARY_PATH=/own/lib");
        let forced = default_library(Some(&loaded("/o/libmpi.so.12")), own, &view("/o"));
        assert!(
            forced.advice.starts_with("put /own/lib first"),
            "{forced:?}"
        );
        assert_eq!(default_library(None, own, &view("")).state, State::Note);
        assert_eq!(installed(None).state, State::Problem);
        assert_eq!(installed(own).state, State::Ok);
    }
}
