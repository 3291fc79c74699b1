//! Names that the documents mention: variables, options, messages.

use super::blocks::{plain, spans};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Pages about the parts that users see; others also speak of what is proposed, or of other programs.
const FOR_USERS: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/launch.md",
    "docs/migration.md",
    "docs/troubleshooting.md",
];

/// With which options of mpiexec end.
const PROGRAMS: &[&str] = &["./", "xterm", "gdb"];

/// Of the compiler wrappers, tests and benchmarks, and those whose values are names: mpiexec -info does not list them.
const OF_TOOLS: &[&str] = &[
    "OXMPI_ABI_FACTS",
    "OXMPI_CC",
    "OXMPI_CFLAGS",
    "OXMPI_CLUSTER_KIT",
    "OXMPI_CPPFLAGS",
    "OXMPI_CXX",
    "OXMPI_CXXFLAGS",
    "OXMPI_FC",
    "OXMPI_FCFLAGS",
    "OXMPI_INTERFACE",
    "OXMPI_LDFLAGS",
    "OXMPI_LIBFABRIC",
    "OXMPI_LIBS",
    "OXMPI_MPIEXEC",
    "OXMPI_NAME_DIRECTORY",
    "OXMPI_RPATH",
    "OXMPI_STAGE",
    "OXMPI_PEERS",
    "OXMPI_PREFIX",
    "OXMPI_WRITE_PAGES",
    "OXMPI_WRITE_SUPPORT",
];

/// Of a library with the feature `papers`.
const OF_PAPERS: &[&str] = &[
    "OXMPI_COLLECT_AT",
    "OXMPI_CONTEXT_PRINT",
    "OXMPI_CONTEXT_STORE",
    "OXMPI_CONTEXT_STRATEGY",
    "OXMPI_LIFETIME",
];

fn text(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Variables of ours in the documents that mean nothing. `listed` is what `mpiexec -info` says.
pub fn variables(root: &Path, listed: &str) -> Vec<String> {
    let names = |text: &str| -> Vec<String> {
        let words =
            text.split(|it: char| !(it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_'));
        let ours = words.filter(|word| word.starts_with("OXMPI_") && !word.ends_with('_'));
        ours.map(str::to_owned).collect()
    };
    let mut known: BTreeSet<String> = names(listed).into_iter().collect();
    known.extend(OF_TOOLS.iter().map(|name| (*name).to_owned()));
    known.extend(OF_PAPERS.iter().map(|name| (*name).to_owned()));
    // Those by which mpiexec tells a rank its place, and which users set to run a rank alone.
    known.extend(names(&text(root, "src/launch/environment.rs")));
    let (mut found, mut seen) = (Vec::new(), 0);
    let folder = fs::read_dir(root.join("docs")).unwrap().flatten();
    let pages = folder.map(|it| format!("docs/{}", it.file_name().to_string_lossy()));
    let pages = pages.filter(|name| name.ends_with(".md"));
    let others = FOR_USERS.iter().filter(|name| !name.starts_with("docs/"));
    for page in pages.chain(others.map(|name| (*name).to_owned())) {
        for (number, line) in text(root, &page).lines().enumerate() {
            for name in names(line) {
                seen += 1;
                // The wrong name of an example says that it is wrong.
                let is_example = line.contains("did you mean");
                if !known.contains(&name) && !is_example {
                    found.push(format!(
                        "{page}:{}: there is no variable {name}",
                        number + 1
                    ));
                }
            }
        }
    }
    if seen < 50 {
        found.push(format!(
            "only {seen} variables were found: is the search broken?"
        ));
    }
    found
}

/// Names of options in a man page, without dashes.
fn of_man_page(page: &str) -> BTreeSet<String> {
    let lines = page.lines().filter(|line| line.starts_with("\\fB\\-"));
    let words = lines.flat_map(|line| {
        let heads = plain(line);
        heads
            .split([',', ' '])
            .map(|word| {
                word.split_inclusive(['=', ':'])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect::<Vec<_>>()
    });
    words
        .filter_map(|word| {
            Some(
                word.strip_prefix('-')?
                    .trim_end_matches(['=', ':'])
                    .to_owned(),
            )
        })
        .collect()
}

/// Options of the wrappers as their man page writes them, with `=` or `:` where a value follows.
pub fn of_wrappers(root: &Path) -> Vec<String> {
    let page = text(root, "docs/man/mpicc.1");
    let heads = page.lines().filter(|line| line.starts_with("\\fB\\-"));
    let words = heads.map(|line| plain(line).replace("NAME", "").replace("PART", ""));
    words.collect()
}

/// Options of mpiexec and of the wrappers in pages for users that do not exist.
pub fn options(root: &Path) -> Vec<String> {
    let mpiexec = of_man_page(&text(root, "docs/man/mpiexec.1"));
    let wrappers = of_man_page(&text(root, "docs/man/mpicc.1"));
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut check = |place: String, span: &str, known: &[&BTreeSet<String>]| {
        let options = span
            .split_whitespace()
            .take_while(|word| !PROGRAMS.iter().any(|it| word.starts_with(it)));
        for option in options.filter(|word| word.starts_with('-') && word.len() > 1) {
            seen += 1;
            let name = option.trim_start_matches('-');
            let name = name.split(['=', ':']).next().unwrap_or_default();
            if !known.iter().any(|known| known.contains(name)) {
                found.push(format!("{place}: there is no option {option}"));
            }
        }
    };
    for page in FOR_USERS {
        let page_text = text(root, page);
        for (number, span) in spans(&page_text) {
            let place = format!("{page}:{number}");
            if let Some(rest) = span.strip_prefix("mpiexec ") {
                check(place, rest, &[&mpiexec]);
            } else if ["mpicc ", "mpicxx ", "mpifort "]
                .iter()
                .any(|it| span.starts_with(it))
            {
                let rest = span.split_once(' ').unwrap_or_default().1;
                check(place, rest, &[&wrappers]);
            } else if *page == "docs/troubleshooting.md"
                && span.starts_with('-')
                && !span.contains("--")
                && !span.contains("ranks")
            {
                check(place, &span, &[&mpiexec, &wrappers]);
            }
        }
    }
    // The last column is what oxmpi takes.
    let migration = text(root, "docs/migration.md");
    let table = migration.split("\n## mpiexec\n").nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    for line in table.lines().filter(|line| line.starts_with("| ")) {
        let last = line
            .trim_end_matches('|')
            .rsplit('|')
            .next()
            .unwrap_or_default();
        for (_, span) in spans(last) {
            check(format!("docs/migration.md: {line}"), &span, &[&mpiexec]);
        }
    }
    if seen < 40 {
        found.push(format!(
            "only {seen} options were found: is the search broken?"
        ));
    }
    found
}

/// Texts in the first column of docs/troubleshooting.md's tables that no program prints.
pub fn messages(root: &Path) -> Vec<String> {
    let mut sources = String::new();
    for folder in ["launcher/src", "src", "capi/src"] {
        read_all(&root.join(folder), &mut sources);
    }
    let (mut found, mut seen) = (Vec::new(), 0);
    let page = text(root, "docs/troubleshooting.md");
    for (number, line) in page
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("| "))
    {
        let first = line
            .trim_start_matches("| ")
            .split(" | ")
            .next()
            .unwrap_or_default();
        for (_, span) in spans(first) {
            seen += 1;
            if !sources.contains(&span) {
                found.push(format!(
                    "docs/troubleshooting.md:{}: nothing prints {span:?}",
                    number + 1
                ));
            }
        }
    }
    if seen < 15 {
        found.push(format!(
            "only {seen} messages were found: is the search broken?"
        ));
    }
    found
}

/// All sources, with texts that go over several lines put together.
fn read_all(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_all(&path, into);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut parts = text.split("\\\n");
            *into += parts.next().unwrap_or_default();
            for part in parts {
                *into += part.trim_start();
            }
        }
    }
}
