//! `docs/support.md`: which functions are written, chapter by chapter. A stub is missing.

use crate::scan::Entry;
use std::collections::BTreeMap;

pub fn page(entries: &[Entry]) -> String {
    let mut chapters: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        chapters.entry(&entry.chapter).or_default().push(entry);
    }
    let count = |entry: &Entry| if entry.large { 2 } else { 1 };
    let standard = |entry: &&Entry| !entry.name.starts_with("MPIX_");
    let total: usize = entries.iter().filter(standard).map(count).sum();
    let written: usize = entries
        .iter()
        .filter(standard)
        .filter(|entry| entry.written)
        .map(count)
        .sum();

    let mut page = format!(
        "# Supported functions\n\n\
         Made from the entry points by `make support`; do not edit. Every function of MPI 5.0 is\n\
         exported, so that every program loads. {written} of its {total} C functions (`_c` variants\n\
         counted, `PMPI_` and the extensions `MPIX_` not) are written. The others are stubs: a call\n\
         fails with `MPI_ERR_UNSUPPORTED_OPERATION` and its name in the text; they are missing.\n\n\
         | file in `capi/src` | written | missing | what it is |\n|---|---|---|---|\n"
    );
    for (chapter, entries) in &chapters {
        let there: usize = entries
            .iter()
            .filter(|entry| entry.written)
            .map(|e| count(e))
            .sum();
        let all: usize = entries.iter().map(|e| count(e)).sum();
        let title = &entries[0].title;
        page.push_str(&format!(
            "| {chapter}.rs | {there} | {} | {title} |\n",
            all - there
        ));
    }
    page.push_str("\n## Missing\n");
    for (chapter, entries) in &chapters {
        let missing: Vec<String> = entries
            .iter()
            .filter(|entry| !entry.written)
            .map(|entry| format!("{}{}", entry.name, if entry.large { "[_c]" } else { "" }))
            .collect();
        if !missing.is_empty() {
            page.push_str(&format!("\n**{chapter}**: {}\n", missing.join(", ")));
        }
    }
    page
}
