//! The transport's border (`docs/architecture.md`): outside of `src/transport/`, shared memory is named only where the process joins
//! its job, and nobody but the transport itself asks the segment about a peer.

use std::fs;
use std::path::{Path, PathBuf};

/// Who may name `transport::shm`.
const MAY: &[&str] = &["src/process/"];

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn only_the_process_names_shared_memory() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["src", "capi/src"] {
        sources(&root.join(folder), &mut all);
    }
    assert!(all.len() > 200, "the test found only {} files", all.len());
    let mut wrong = Vec::new();
    let mut named = 0;
    for path in all {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if name.starts_with("src/transport/") {
            continue;
        }
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if !line.contains("transport::shm") {
                continue;
            }
            named += 1;
            if !MAY.iter().any(|may| name.starts_with(may)) {
                wrong.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(named > 0, "nobody names shared memory: the test is blind");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
