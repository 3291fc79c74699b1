//! Which file of a crate imports which, and the circles in that.
//!
//! A name that a file re-exports belongs to the file that defines it. A module consists of the modules below it, so what it
//! imports from those is no edge, as `mod` is none; what they import from it is one. Methods are called without an import, so
//! circles of `impl` blocks of one type in several files are not seen.

use super::source::{self, Named, Source, Use};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate by the module that each one is.
pub struct Crate {
    /// How other crates name it.
    pub name: &'static str,
    modules: BTreeMap<Vec<String>, (String, Source)>,
    /// Exported macros are named as items of the root.
    macros: BTreeMap<String, Vec<String>>,
}

/// A path in a file.
pub struct Mention<'a> {
    pub file: &'a str,
    pub module: &'a [String],
    /// Absolute; of another crate it begins with an empty segment.
    pub path: Vec<String>,
    pub line: usize,
    pub for_tests: bool,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Module(Vec<String>),
    /// Something that the file of this module defines.
    Item(Vec<String>),
    /// In another crate, or a local name.
    Elsewhere,
}

impl Crate {
    /// `files` are relative to the folder of the root, which is the file `root`.
    pub fn new(
        name: &'static str,
        root: &str,
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Crate {
        let mut modules = BTreeMap::new();
        for (path, text) in files {
            let mut module: Vec<String> = path.split('/').map(str::to_owned).collect();
            let last = module.pop().unwrap_or_default();
            if path != root && last != "mod.rs" {
                module.push(last.trim_end_matches(".rs").to_owned());
            }
            modules.insert(module, (path, source::read(&text)));
        }
        let mut macros = BTreeMap::new();
        for (module, (_, source)) in &modules {
            for name in &source.exported_macros {
                macros.insert(name.clone(), module.clone());
            }
        }
        Crate {
            name,
            modules,
            macros,
        }
    }

    /// Modules that are compiled into the product, with their files.
    fn product(&self) -> BTreeSet<&[String]> {
        let mut found = BTreeSet::new();
        let mut next: Vec<&[String]> = vec![&[]];
        while let Some(module) = next.pop() {
            let Some((known, (_, source))) = self.modules.get_key_value(module) else {
                continue;
            };
            found.insert(known.as_slice());
            for (child, _) in source.children.iter().filter(|child| !child.1) {
                let path = [module, std::slice::from_ref(child)].concat();
                next.extend(
                    self.modules
                        .get_key_value(&path)
                        .map(|(known, _)| known.as_slice()),
                );
            }
        }
        found
    }

    /// The path from the crate's root or another crate's name that a written one stands for, as far as the file itself tells.
    /// A path that begins with a local name is empty.
    fn absolute(&self, module: &[String], named: &Named) -> Vec<String> {
        self.absolute_from(module, named, 0)
    }

    fn absolute_from(&self, module: &[String], named: &Named, depth: usize) -> Vec<String> {
        let mut base = [module, named.scope.as_slice()].concat();
        let mut rest = named.segments.as_slice();
        // A path of nothing but `self` in braces.
        let Some(first) = rest.first() else {
            return vec!["".to_owned()];
        };
        match first.as_str() {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let source = &self.modules[module].1;
                let bound = |it: &&Use| it.name == first && it.path.segments != named.segments;
                if let Some(bound) = source.uses.iter().find(bound).filter(|_| depth < 8) {
                    let prefix = self.absolute_from(module, &bound.path, depth + 1);
                    return match prefix.is_empty() {
                        true => prefix,
                        false => [&prefix, &rest[1..]].concat(),
                    };
                }
                let is_child = source.children.iter().any(|child| child.0 == first)
                    || source.items.contains(first);
                if !is_child {
                    // Another crate, or a name that a block has.
                    return [&["".to_owned()], rest].concat();
                }
            }
        }
        // Inline modules are parts of their file.
        let inline = base.len() > module.len() && base.starts_with(module);
        if inline {
            base.truncate(module.len());
        }
        [base.as_slice(), rest].concat()
    }

    /// All paths of all files.
    pub fn mentions(&self) -> Vec<Mention<'_>> {
        let product = self.product();
        let mut found = Vec::new();
        for (module, (file, source)) in &self.modules {
            let uses = source.uses.iter().map(|it| &it.path);
            for named in uses.chain(&source.paths) {
                found.push(Mention {
                    file,
                    module,
                    path: self.absolute(module, named),
                    line: named.line,
                    for_tests: named.for_tests || !product.contains(module.as_slice()),
                });
            }
        }
        found
    }

    fn follow(&self, path: &[String], depth: usize) -> Target {
        if path.first().is_some_and(|first| first.is_empty()) || depth > 16 {
            return Target::Elsewhere;
        }
        let mut module: Vec<String> = Vec::new();
        for (at, segment) in path.iter().enumerate() {
            let child = [module.as_slice(), std::slice::from_ref(segment)].concat();
            if self.modules.contains_key(&child) {
                module = child;
                continue;
            }
            if module.is_empty()
                && let Some(defining) = self.macros.get(segment)
            {
                return Target::Item(defining.clone());
            }
            let source = &self.modules[&module].1;
            let follow = |bound: &Use, rest: &[String]| {
                let begin = self.absolute(&module, &bound.path);
                let begin = begin.strip_suffix(&["*".to_owned()]).unwrap_or(&begin);
                self.follow(&[begin, rest].concat(), depth + 1)
            };
            if segment == "*" || source.items.contains(segment) {
                return Target::Item(module);
            }
            if let Some(bound) = source.uses.iter().find(|it| it.name == *segment) {
                return follow(bound, &path[at + 1..]);
            }
            for glob in source.uses.iter().filter(|it| it.name == "*") {
                if let Target::Item(found) = follow(glob, &path[at..])
                    && self.modules[&found].1.items.contains(segment)
                {
                    return Target::Item(found);
                }
            }
            return Target::Item(module);
        }
        Target::Module(module)
    }

    /// Which file of the product imports which, but for those below its own module.
    pub fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let product = self.product();
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for module in &product {
            let (path, source) = &self.modules[*module];
            let own = edges.entry(path).or_default();
            let used = |it: &&Use| !it.public || source.names.contains(&it.name);
            let uses = source.uses.iter().filter(used).map(|it| &it.path);
            for named in uses.chain(&source.paths).filter(|named| !named.for_tests) {
                let target = self.follow(&self.absolute(module, named), 0);
                if let Target::Item(defining) = target
                    && !defining.starts_with(module)
                    && product.contains(defining.as_slice())
                {
                    own.insert(&self.modules[&defining].0);
                }
            }
        }
        edges
    }
}

/// The sets of files of which each one reaches each other one, of two files or more: Tarjan's algorithm.
pub fn circles<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<BTreeSet<&'a str>> {
    let mut search = Search {
        edges,
        number: BTreeMap::new(),
        stack: Vec::new(),
        found: Vec::new(),
    };
    for file in edges.keys() {
        if !search.number.contains_key(file) {
            search.visit(file);
        }
    }
    search.found.retain(|circle| circle.len() > 1);
    search.found.sort();
    search.found
}

struct Search<'a, 'b> {
    edges: &'b BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// When a file was met; a large number once its circle is known.
    number: BTreeMap<&'a str, usize>,
    stack: Vec<&'a str>,
    found: Vec<BTreeSet<&'a str>>,
}

impl<'a> Search<'a, '_> {
    /// The least number that can be reached from here among files whose circle is not known.
    fn visit(&mut self, file: &'a str) -> usize {
        let own = self.number.len();
        self.number.insert(file, own);
        let height = self.stack.len();
        self.stack.push(file);
        let mut least = own;
        for next in &self.edges[file] {
            let reached = match self.number.get(next) {
                Some(number) => *number,
                None => self.visit(next),
            };
            least = least.min(reached);
        }
        if least == own {
            let circle: BTreeSet<&str> = self.stack.drain(height..).collect();
            for file in &circle {
                self.number.insert(file, usize::MAX);
            }
            self.found.push(circle);
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Crate {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Crate::new("it", "lib.rs", files)
    }

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let tree = of(files);
        let edges = tree.edges();
        let arrow = |(from, to): (&&str, &BTreeSet<&str>)| {
            to.iter()
                .map(|to| format!("{from} > {to}"))
                .collect::<Vec<_>>()
        };
        edges.iter().flat_map(arrow).collect()
    }

    const ROOT: (&str, &str) = ("lib.rs", "pub mod a;\npub mod b;\n#[macro_use]\nmod c;");

    #[test]
    fn paths_of_all_kinds_are_edges() {
        for (text, found) in [
            ("use crate::b::thing;", "a.rs > b/mod.rs"),
            ("use super::b::thing;", "a.rs > b/mod.rs"),
            (
                "use super::b::{self, other::{Inner, More}};",
                "a.rs > b/other.rs",
            ),
            ("fn f() { crate::b::thing() }", "a.rs > b/mod.rs"),
            ("use crate::b; fn f() { b::thing() }", "a.rs > b/mod.rs"),
            (
                "use crate::b as c; fn f() { c::thing::<'a', u8>() }",
                "a.rs > b/mod.rs",
            ),
            (
                "mod inner { use super::super::b::thing; }",
                "a.rs > b/mod.rs",
            ),
            ("use crate::b::Facade;", "a.rs > b/other.rs"),
            ("use crate::b::*;", "a.rs > b/mod.rs"),
            ("crate::shout! { x }", "a.rs > c.rs"),
            (
                "pub use crate::b::thing; fn f() { thing() }",
                "a.rs > b/mod.rs",
            ),
        ] {
            let files = [
                ROOT,
                ("a.rs", text),
                (
                    "b/mod.rs",
                    "mod other; pub use other::Inner as Facade; pub fn thing() {}",
                ),
                ("b/other.rs", "pub struct Inner; pub enum More {}"),
                ("c.rs", "#[macro_export] macro_rules! shout { () => {} }"),
            ];
            assert_eq!(edges(&files), [found], "{text}");
        }
    }

    #[test]
    fn what_imports_nothing_is_no_edge() {
        for text in [
            "use crate::b;",
            "pub use crate::b::thing;",
            "// use crate::b::thing;",
            "/* crate::b::thing */",
            "const A: &str = \"use crate::b::thing;\\\"\"; const B: char = '\"';",
            "const A: &str = r#\"a \" crate::b::thing\"#;",
            "#[cfg(test)]\nuse crate::b::{thing};",
            "#[cfg(test)]\nmod tests { use crate::b::thing; }",
            "#[cfg(all(test, loom))] fn f(a: [u8; 2]) { crate::b::thing() }",
            "#[test] fn f() { crate::b::thing() }",
            "#[cfg(test)] mod tests;",
            "use std::b::thing; use other::b::thing;",
            "mod inner { fn f() { super::here() } } fn here() {}",
        ] {
            let files = [
                ROOT,
                ("a.rs", text),
                ("a/tests.rs", "use crate::b::thing;"),
                ("b.rs", "pub fn thing() {}"),
                ("c.rs", ""),
            ];
            assert_eq!(edges(&files), [""; 0], "{text}");
        }
        let files = [
            ROOT,
            ("a.rs", "mod own; use own::x; fn f() { self::own::x() }"),
            ("a/own.rs", "use super::f; pub fn x() {}"),
        ];
        assert_eq!(edges(&files), ["a/own.rs > a.rs"]);
        let shipped = "#[cfg(not(test))] fn f() { crate::b::thing() }";
        assert_eq!(
            edges(&[ROOT, ("a.rs", shipped), ("b.rs", "pub fn thing() {}")]).len(),
            1
        );
    }

    #[test]
    fn names_are_absolute() {
        let files = [
            ROOT,
            (
                "a.rs",
                "use super::b; use oxmpi::os::process; mod d { fn f() { super::super::b::x(); b::y(); process::z(); } }",
            ),
        ];
        let tree = of(&files);
        let named: Vec<String> = tree
            .mentions()
            .iter()
            .map(|it| it.path.join("::"))
            .collect();
        let expected = [
            "b",
            "::oxmpi::os::process",
            "b::x",
            "b::y",
            "::oxmpi::os::process::z",
        ];
        assert_eq!(named, expected);
    }

    #[test]
    fn circles_are_found() {
        let of = |pairs: &[(&'static str, &'static str)]| {
            let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for (from, to) in pairs {
                edges.entry(from).or_default().insert(to);
                edges.entry(to).or_default();
            }
            circles(&edges)
        };
        assert!(of(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]).is_empty());
        let found = of(&[
            ("a", "b"),
            ("b", "c"),
            ("c", "b"),
            ("c", "d"),
            ("d", "e"),
            ("e", "f"),
            ("f", "d"),
            ("e", "g"),
        ]);
        assert_eq!(
            found,
            [BTreeSet::from(["b", "c"]), BTreeSet::from(["d", "e", "f"])]
        );
    }
}
