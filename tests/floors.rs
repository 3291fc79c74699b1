//! The floors of `docs/architecture.md`: a module imports only from floors below its own.

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
    &["comm"],
    &["pt2pt", "coll"],
    &["context_id"],
    &["lifetime"],
    &["constructors"],
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

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// The modules that a line `use crate::x::...` or a path `crate::x::` names.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        (rest[end..].starts_with("::") && !line.trim_start().starts_with("//"))
            .then(|| &rest[..end])
    })
}

fn visit(path: &Path, module: &str, wrong: &mut Vec<String>, seen: &mut usize) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            visit(&entry.unwrap().path(), module, wrong, seen);
        }
        return;
    }
    let own = floor(module).unwrap_or_else(|| panic!("{module} stands on no floor"));
    for (number, line) in fs::read_to_string(path).unwrap().lines().enumerate() {
        for other in named(line) {
            let Some(below) = floor(other) else { continue };
            *seen += 1;
            let neighbours = NEIGHBOURS.contains(&(module, other));
            if other != module && below >= own && !neighbours {
                wrong.push(format!(
                    "{}:{}: {module} (floor {own}) names {other} (floor {below})",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
}

#[test]
fn modules_import_only_from_floors_below() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name != "lib" && name != "bin" {
            visit(&path, &name, &mut wrong, &mut seen);
        }
    }
    assert!(seen > 50, "the test found only {seen} imports to look at");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
