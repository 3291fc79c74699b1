//! The floors of `docs/architecture.md`: what a module may name, and that files do not import each other in circles.

mod graph;
mod source;

use graph::{Crate, circles};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Modules by floor. Modules of one floor may not name each other, but for what stands in `NEIGHBOURS`.
const FLOORS: &[&[&str]] = &[
    &["error", "handle", "sync", "variables"],
    &["os", "queue", "references"],
    &[
        "datatype",
        "op",
        "group",
        "info",
        "attr",
        "errhandler",
        "topology",
    ],
    &["node", "transport", "launch", "events"],
    &["engine"],
    &["connections"],
    &["comm"],
    &["pt2pt", "coll"],
    &["context_id", "agree"],
    &["lifetime"],
    &["constructors", "assembly"],
    &["rma", "io"],
    &["dynamic"],
    &["process"],
    &["tool"],
];

/// The error value is the ground that its neighbours stand on too; predefined operations and attributes name types.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("handle", "error"),
    ("handle", "sync"),
    ("variables", "error"),
    ("variables", "sync"),
    ("op", "datatype"),
    ("attr", "info"),
    ("errhandler", "info"),
    ("datatype", "attr"),
    ("transport", "node"),
];

/// The modules and crates that may name something of these, tests apart. No entry is added without a reason in docs/architecture.md;
/// one that is not needed any more has to go.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("transport::shm", &["process"]),
    ("transport::net", &["engine", "connections", "process"]),
    ("transport::ofi", &["process"]),
    (
        "transport",
        &[
            "engine",
            "connections",
            "comm",
            "coll",
            "assembly",
            "rma",
            "io",
            "dynamic",
            "process",
            "launcher",
        ],
    ),
    (
        "engine",
        &[
            "connections",
            "comm",
            "pt2pt",
            "coll",
            "agree",
            "assembly",
            "rma",
            "context_id",
            "lifetime",
            "constructors",
            "io",
            "dynamic",
            "process",
            "tool",
            "capi",
        ],
    ),
    (
        "os",
        &[
            "datatype",
            "info",
            "node",
            "transport",
            "launch",
            "events",
            "engine",
            "connections",
            "pt2pt",
            "coll",
            "agree",
            "rma",
            "context_id",
            "constructors",
            "io",
            "dynamic",
            "process",
            "tool",
            "capi",
            "launcher",
        ],
    ),
];

/// Files of these folders of `src/` import nothing from those, but for the ones named last: records know no library, and what calls the library
/// knows its port only.
const APART: &[(&str, &str, &[&str])] = &[
    ("transport/net/", "transport/ofi/", &[]),
    (
        "transport/ofi/",
        "transport/net/",
        &["transport/net/port.rs"],
    ),
    ("transport/shm/", "transport/net/", &[]),
    ("transport/shm/", "transport/ofi/", &[]),
];

/// Circles that there are, by crate and files. Each one can only become smaller, and goes from here when it is gone; none is added.
const CIRCLES: &[(&str, &[&[&str]])] = &[("src", IN_CORE)];

const IN_CORE: &[&[&str]] = &[
    &["attr/keyval.rs", "attr/predefined.rs"],
    // The compiler of datatypes and its kernels.
    &[
        "datatype/form.rs",
        "datatype/pack/shuffle.rs",
        "datatype/pattern.rs",
    ],
    &["engine/arrival.rs", "engine/receive.rs"],
    &[
        "engine/long_wait.rs",
        "engine/liveness.rs",
        "engine/published.rs",
        "engine/refusal.rs",
        "engine/tasks.rs",
        "engine/wait.rs",
    ],
    &["error/codes.rs", "error/user.rs"],
    &["op/lane.rs", "op/wide.rs"],
];

/// Functions of upper floors that lower ones call by a `static`: arrows that the other tests do not see. Each one goes from here when it is
/// gone; none is added.
const UPCALLS: &[(&str, &str)] = &[
    ("constructors/unmet.rs", "INTRODUCE"),
    ("context_id/allocate.rs", "GIVE_BACK"),
    ("engine/liveness.rs", "LOST_PEER"),
    ("engine/published.rs", "OF_FILE"),
    ("engine/published.rs", "OF_WINDOW"),
    ("handle/table.rs", "GIVE_BACK"),
];

fn files_in(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            files_in(&path, &format!("{prefix}{name}/"), found);
        } else if name.ends_with(".rs") {
            found.push((
                format!("{prefix}{name}"),
                fs::read_to_string(&path).unwrap(),
            ));
        }
    }
}

fn read(name: &'static str, folder: &str, root: &str) -> Crate {
    let mut files = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    files_in(&folder, "", &mut files);
    Crate::new(name, root, files)
}

fn core() -> Crate {
    read("src", "src", "lib.rs")
}

/// The crates above the core.
fn above() -> [Crate; 2] {
    [
        read("capi", "capi/src", "lib.rs"),
        read("launcher", "launcher/src", "lib.rs"),
    ]
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

#[test]
fn modules_name_only_what_is_below() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for mention in core().mentions() {
        let Some(module) = mention.module.first() else {
            continue;
        };
        let own = floor(module).unwrap_or_else(|| panic!("{module} stands on no floor"));
        let Some(other) = mention.path.first().filter(|other| *other != module) else {
            continue;
        };
        let Some(below) = floor(other) else { continue };
        seen += 1;
        if below >= own && !NEIGHBOURS.contains(&(module, other)) {
            wrong.push(format!(
                "src/{}:{}: {module} (floor {own}) names {other} (floor {below})",
                mention.file, mention.line
            ));
        }
    }
    assert!(seen > 500, "the test found only {seen} imports to look at");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The modules that name what `MAY_NAME` is about, with the first place.
fn namers() -> BTreeMap<(&'static str, String), String> {
    let mut found = BTreeMap::new();
    for tree in above().iter().chain([&core()]) {
        for mention in tree.mentions() {
            let path = mention.path.as_slice();
            let (who, path) = match mention.module.first() {
                Some(module) if tree.name == "src" => (module.as_str(), path),
                // Below an empty segment: another crate.
                _ if path.get(1).is_some_and(|name| name == "oxmpi") => (tree.name, &path[2..]),
                _ => continue,
            };
            for (what, _) in MAY_NAME.iter().filter(|_| !mention.for_tests) {
                let mut wanted = what.split("::");
                if wanted.clone().next() != Some(who)
                    && wanted.clone().count() <= path.len()
                    && path
                        .iter()
                        .zip(&mut wanted)
                        .all(|(have, wanted)| have == wanted)
                {
                    found.entry((*what, who.to_owned())).or_insert_with(|| {
                        format!("{}/{}:{}", tree.name, mention.file, mention.line)
                    });
                }
            }
        }
    }
    found
}

#[test]
fn transport_engine_and_os_are_named_by_few() {
    let found = namers();
    let mut wrong = Vec::new();
    for ((what, who), location) in &found {
        let listed = MAY_NAME
            .iter()
            .any(|(named, by)| named == what && by.contains(&who.as_str()));
        if !listed {
            wrong.push(format!("{location}: {who} names {what}"));
        }
    }
    for (what, allowed) in MAY_NAME {
        for who in allowed
            .iter()
            .filter(|who| !found.contains_key(&(*what, who.to_string())))
        {
            wrong.push(format!(
                "{who} does not name {what} any more: take it off MAY_NAME"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is wrong with the list, and the files that it is about.
fn against_list<'a>(
    found: &[BTreeSet<&'a str>],
    listed: &[&[&str]],
) -> Vec<(String, BTreeSet<&'a str>)> {
    let mut wrong = Vec::new();
    for circle in found {
        let covers = |known: &&&[&str]| circle.iter().all(|file| known.contains(file));
        let said = match listed.iter().find(covers) {
            Some(known) if known.len() == circle.len() => continue,
            Some(known) => format!("listed in CIRCLES with {}", known.len()),
            None => "not listed in CIRCLES".to_owned(),
        };
        let text = format!("a circle of {} files, {said}", circle.len());
        wrong.push((text, circle.clone()));
    }
    for known in listed {
        let is_left = |circle: &BTreeSet<&str>| circle.iter().any(|file| known.contains(file));
        if !found.iter().any(is_left) {
            let text = format!("gone, take it off CIRCLES: {}", known.join(", "));
            wrong.push((text, BTreeSet::new()));
        }
    }
    wrong
}

#[test]
fn no_new_circle_of_imports() {
    let mut text = String::new();
    let crates = [core()].into_iter().chain(above());
    for (tree, least) in crates.zip([500, 150, 150]) {
        let edges = tree.edges();
        let arrows: usize = edges.values().map(BTreeSet::len).sum();
        assert!(
            arrows > least,
            "the test found only {arrows} imports between files of {}",
            tree.name
        );
        let listed = CIRCLES.iter().find(|(name, _)| *name == tree.name);
        let listed = listed.map_or(&[][..], |(_, circles)| circles);
        for (said, circle) in against_list(&circles(&edges), listed) {
            text += &format!("{}: {said}\n", tree.name);
            for file in &circle {
                let others: Vec<&str> = edges[file].intersection(&circle).copied().collect();
                text += &format!("    {file} imports {}\n", others.join(", "));
            }
        }
    }
    assert!(text.is_empty(), "\n{text}");
}

#[test]
fn records_and_library_are_apart() {
    let core = core();
    let edges = core.edges();
    let arrows = || {
        edges
            .iter()
            .flat_map(|(from, all)| all.iter().map(move |to| (*from, *to)))
    };
    let mut wrong = Vec::new();
    for (folder, other, but) in APART {
        let from_here = arrows().filter(|(from, _)| from.starts_with(folder));
        let found = from_here.filter(|(_, to)| to.starts_with(other));
        let found: BTreeSet<(&str, &str)> = found.collect();
        let may = |to: &str| but.contains(&to);
        let new = found.iter().filter(|(_, to)| !may(to));
        wrong.extend(new.map(|(from, to)| format!("{from} imports {to}")));
        let unused = but
            .iter()
            .filter(|file| found.iter().all(|(_, to)| to != *file));
        wrong.extend(
            unused.map(|file| format!("{folder} does not import {file}: take it off APART")),
        );
        let is_there = |folder: &str| edges.keys().any(|file| file.starts_with(folder));
        assert!(
            is_there(folder) && is_there(other),
            "{folder} or {other} has no files"
        );
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The `static`s of a file that keep a function, by itself or in a structure of the file, which somebody else sets.
fn upcalls(text: &str) -> Vec<&str> {
    let keeps_function = |name: &str| {
        let is_alias = |line: &str| {
            let alias = line.split_once(&format!("type {name} = "));
            alias.is_some_and(|(_, of)| of.starts_with("fn(") || of.starts_with("for<"))
        };
        let structure = text.split_once(&format!("struct {name} {{"));
        let fields = structure.and_then(|(_, rest)| rest.split_once("\n}"));
        name.starts_with("fn(")
            || text.lines().any(is_alias)
            || fields.is_some_and(|(fields, _)| fields.contains(": fn("))
    };
    let mut found = Vec::new();
    for line in text.lines() {
        let declared = line.split_once("static ").map(|(_, rest)| rest);
        let declared = declared.and_then(|rest| rest.split_once(": OnceLock<"));
        if let Some((name, rest)) = declared
            && let Some((of, _)) = rest.split_once("> = ")
            && keeps_function(of)
        {
            found.push(name);
        }
    }
    found
}

#[test]
fn no_new_upcall() {
    let mut files = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    files_in(&folder, "", &mut files);
    let found: BTreeSet<(&str, &str)> = files
        .iter()
        .flat_map(|(file, text)| upcalls(text).into_iter().map(|name| (file.as_str(), name)))
        .collect();
    let listed = BTreeSet::from_iter(UPCALLS.iter().copied());
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "not listed in UPCALLS: {new:?}\ngone, take it off UPCALLS: {gone:?}"
    );
}

#[test]
fn upcalls_are_found() {
    let text = "type Name = fn(u32) -> u32;\nstruct Offer {\n    pub open: fn(),\n}\nstruct Other {\n    number: u32,\n}\n\
        static A: OnceLock<Name> = OnceLock::new();\npub static B: OnceLock<fn()> = OnceLock::new();\n\
        static C: OnceLock<Offer> = OnceLock::new();\nstatic D: OnceLock<Other> = OnceLock::new();\n\
        static E: OnceLock<u32> = OnceLock::new();";
    assert_eq!(upcalls(text), ["A", "B", "C"]);
}

#[test]
fn the_list_of_circles_can_only_shrink() {
    let (two, three) = (BTreeSet::from(["a", "b"]), BTreeSet::from(["a", "b", "c"]));
    let said = |found: &[BTreeSet<&'static str>], listed: &[&[&str]]| {
        let wrong = against_list(found, listed);
        wrong
            .into_iter()
            .map(|(text, _)| text)
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(said(std::slice::from_ref(&three), &[&["a", "b", "c"]]), "");
    assert_eq!(
        said(&[three], &[&["a", "b"]]),
        "a circle of 3 files, not listed in CIRCLES"
    );
    assert_eq!(
        said(&[two], &[&["a", "b", "c"]]),
        "a circle of 2 files, listed in CIRCLES with 3"
    );
    assert_eq!(said(&[], &[&["a", "b"]]), "gone, take it off CIRCLES: a, b");
}
