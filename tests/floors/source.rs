//! Reads a source file as far as imports need it: modules, `use` declarations, paths, and which of them are for tests only.
//!
//! It knows tokens and no grammar, so it takes what stands in a macro's arguments for code too.

use std::collections::BTreeSet;

/// A path that a file names, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub segments: Vec<String>,
    /// The inline modules around it.
    pub scope: Vec<String>,
    pub line: usize,
    pub for_tests: bool,
}

/// One name that a `use` declaration brings in.
#[derive(Clone, Debug)]
pub struct Use {
    /// `*` for all names of a module.
    pub name: String,
    pub path: Named,
    /// Re-exported: a file that names it through this one depends on the file that has it.
    pub public: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Source {
    /// `mod name;`, and whether it is for tests only.
    pub children: Vec<(String, bool)>,
    pub uses: Vec<Use>,
    /// Paths of two segments or more outside of `use` declarations.
    pub paths: Vec<Named>,
    /// Single names outside of `use` declarations, without those of test code.
    pub names: BTreeSet<String>,
    /// Items that the file defines.
    pub items: BTreeSet<String>,
    pub exported_macros: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::` is one mark.
    Mark(&'static str),
}

const MARKS: &[&str] = &[
    "::", "{", "}", "(", ")", "[", "]", ";", ",", "#", "!", "*", ".", "=",
];

/// Without comments, texts, characters, lifetimes and numbers; with line numbers.
fn tokens(text: &str) -> Vec<(Token, usize)> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &text[at..];
        let end = match bytes[at] {
            b' ' => 1,
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            b'"' | b'\'' | b'b' | b'c' | b'r' if end_of_text(rest).is_some() => {
                end_of_text(rest).unwrap_or(1)
            }
            byte if is_word(byte) => {
                let end = bytes[at..].iter().position(|byte| !is_word(*byte));
                let end = end.unwrap_or(rest.len());
                if !byte.is_ascii_digit() {
                    found.push((Token::Word(rest[..end].to_owned()), line));
                }
                end
            }
            _ => match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                Some(mark) => {
                    found.push((Token::Mark(mark), line));
                    mark.len()
                }
                None => 1,
            },
        };
        line += bytes[at..at + end]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        at += end;
    }
    found
}

/// Also parts of letters outside of ASCII, which only stand in words here.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Where a text, character or lifetime that begins here ends.
fn end_of_text(rest: &str) -> Option<usize> {
    let prefix = rest.len() - rest.trim_start_matches(['b', 'c', 'r']).len();
    let body = &rest[prefix..];
    if prefix > 0 && rest[..prefix].ends_with('r') && body.starts_with(['"', '#']) {
        let hashes = body.len() - body.trim_start_matches('#').len();
        if body[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let end = body[hashes + 1..].find(&close)?;
            return Some(prefix + hashes + 1 + end + close.len());
        }
    }
    if prefix <= 2 && body.starts_with('"') {
        let mut escaped = false;
        let end = body[1..].find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        return Some(prefix + end + 2);
    }
    let quoted = rest.strip_prefix('\'')?;
    let first = quoted.chars().next()?;
    if first == '\\' {
        let after = quoted[2..].find('\'')?;
        return Some(1 + 2 + after + 1);
    }
    let after = 1 + first.len_utf8();
    if rest[after..].starts_with('\'') {
        return Some(after + 1);
    }
    let word = quoted.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    Some(1 + word.unwrap_or(quoted.len()))
}

pub fn read(text: &str) -> Source {
    let mut reader = Reader {
        tokens: tokens(text),
        at: 0,
        depth: 0,
        modules: Vec::new(),
        tests_until: 0,
        found: Source::default(),
    };
    reader.read();
    reader.found
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    at: usize,
    /// Braces that are open.
    depth: usize,
    /// Inline modules, with the depth outside of them.
    modules: Vec<(String, usize)>,
    /// Tokens before this one are for tests only.
    tests_until: usize,
    found: Source,
}

const ITEMS: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "static",
    "const",
    "macro_rules",
];

impl Reader {
    fn word(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.0 {
            Token::Word(word) => Some(word),
            Token::Mark(_) => None,
        }
    }

    fn is(&self, at: usize, mark: &str) -> bool {
        matches!(&self.tokens.get(at), Some((Token::Mark(found), _)) if *found == mark)
    }

    fn for_tests(&self) -> bool {
        self.at < self.tests_until
    }

    fn read(&mut self) {
        while self.at < self.tokens.len() {
            if self.is(self.at, "#") {
                self.attribute();
            } else if self.is(self.at, "{") {
                self.depth += 1;
                self.at += 1;
            } else if self.is(self.at, "}") {
                self.depth = self.depth.saturating_sub(1);
                self.modules.retain(|module| module.1 < self.depth);
                self.at += 1;
            } else if let Some(word) = self.word(self.at).map(str::to_owned) {
                self.item_or_path(&word);
            } else {
                self.at += 1;
            }
        }
    }

    /// `#[cfg(test)]` marks what follows, `#![cfg(test)]` all of the file.
    fn attribute(&mut self) {
        let inner = self.is(self.at + 1, "!");
        let begin = self.at + 1 + usize::from(inner);
        if !self.is(begin, "[") {
            self.at += 1;
            return;
        }
        let end = self.closing(begin);
        let has = |wanted: &str| (begin..end).any(|at| self.word(at) == Some(wanted));
        let test = |at: &usize| self.word(*at) == Some("test") && self.word(at - 2) != Some("not");
        let tests = (begin..end).any(|at| test(&at)) && (has("cfg") || end == begin + 3);
        if has("macro_export") {
            let name = (end..self.tokens.len()).find(|at| self.word(*at) == Some("macro_rules"));
            let name = name.and_then(|at| self.word(at + 2)).map(str::to_owned);
            self.found.exported_macros.extend(name);
        }
        self.at = end;
        if tests {
            let until = if inner {
                self.tokens.len()
            } else {
                self.end_of_item()
            };
            self.tests_until = self.tests_until.max(until);
        }
    }

    /// Behind the bracket that closes the one here.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for at in open..self.tokens.len() {
            match self.tokens[at].0 {
                Token::Mark("{" | "(" | "[") => depth += 1,
                Token::Mark("}" | ")" | "]") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.tokens.len()
    }

    /// Behind the item, statement or field that begins here.
    fn end_of_item(&self) -> usize {
        let mut at = self.at;
        let visibility = match (self.word(at), self.is(at + 1, "(")) {
            (Some("pub"), true) => self.closing(at + 1),
            (Some("pub"), false) => at + 1,
            _ => at,
        };
        let is_use = self.word(visibility) == Some("use");
        while at < self.tokens.len() {
            match self.tokens[at].0 {
                Token::Mark("{") if !is_use => return self.closing(at),
                Token::Mark("{" | "(" | "[") => at = self.closing(at),
                Token::Mark(";") => return at + 1,
                Token::Mark("}") => return at,
                _ => at += 1,
            }
        }
        at
    }

    fn item_or_path(&mut self, word: &str) {
        let next = self.word(self.at + 1).map(str::to_owned);
        match (word, next) {
            ("mod", Some(name)) if self.is(self.at + 2, ";") => {
                let for_tests = self.for_tests();
                self.found.children.push((name, for_tests));
                self.at += 3;
            }
            ("mod", Some(name)) if self.is(self.at + 2, "{") => {
                self.modules.push((name, self.depth));
                self.at += 2;
            }
            ("use", _) => {
                let public = self.at > 0
                    && (self.word(self.at - 1) == Some("pub") || self.is(self.at - 1, ")"));
                self.at += 1;
                self.tree(Vec::new(), public);
            }
            (keyword, Some(name)) if ITEMS.contains(&keyword) => {
                self.found.items.insert(name);
                self.at += 2;
            }
            ("macro_rules", None) => {
                self.found
                    .items
                    .extend(self.word(self.at + 2).map(str::to_owned));
                self.at += 3;
            }
            _ => self.path(),
        }
    }

    /// A use tree: what stands behind `prefix`.
    fn tree(&mut self, mut prefix: Vec<String>, public: bool) {
        loop {
            if self.is(self.at, "{") {
                self.at += 1;
                while !self.is(self.at, "}") && self.at < self.tokens.len() {
                    if self.is(self.at, ",") {
                        self.at += 1;
                        continue;
                    }
                    let before = self.at;
                    self.tree(prefix.clone(), public);
                    self.at += usize::from(self.at == before);
                }
                self.at += 1;
                return;
            }
            let name = match self.word(self.at) {
                Some(word) => word.to_owned(),
                None if self.is(self.at, "*") => "*".to_owned(),
                // A `use` that is part of a macro's pattern.
                None => return,
            };
            self.at += 1;
            if self.is(self.at, "::") {
                prefix.push(name);
                self.at += 1;
                continue;
            }
            let mut alias = name.clone();
            if name == "self" {
                alias = prefix.last().cloned().unwrap_or_default();
            } else {
                prefix.push(name);
            }
            if self.word(self.at) == Some("as") {
                alias = self.word(self.at + 1).unwrap_or("_").to_owned();
                self.at += 2;
            }
            let path = self.named(prefix);
            self.found.uses.push(Use {
                name: alias,
                path,
                public,
            });
            return;
        }
    }

    fn path(&mut self) {
        let begins = self.at == 0 || !(self.is(self.at - 1, "::") || self.is(self.at - 1, "."));
        let mut segments = Vec::new();
        let start = self.at;
        while let Some(word) = self.word(self.at) {
            segments.push(word.to_owned());
            self.at += 1;
            if !self.is(self.at, "::") || self.word(self.at + 1).is_none() {
                break;
            }
            self.at += 1;
        }
        if !begins {
            return;
        }
        let for_tests = start < self.tests_until;
        match segments.len() {
            1 if for_tests => {}
            1 => self.found.names.extend(segments),
            _ => {
                if !for_tests {
                    self.found.names.insert(segments[0].clone());
                }
                let mut named = self.named(segments);
                named.for_tests = for_tests;
                self.found.paths.push(named);
            }
        }
    }

    fn named(&self, segments: Vec<String>) -> Named {
        Named {
            segments,
            scope: self.modules.iter().map(|module| module.0.clone()).collect(),
            line: self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].1,
            for_tests: self.at.saturating_sub(1) < self.tests_until,
        }
    }
}
