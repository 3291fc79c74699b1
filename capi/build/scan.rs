//! Reads the entries and the parameter types out of the sources, by their tokens: what a macro
//! will make of them is not known here, only what they say.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the sources are read for. Whatever is behind `#[cfg(standard_abi)]` or `#[cfg(not(standard_abi))]`, a macro or a module in
/// `lib.rs`, is of one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    Mpich,
    Standard,
}

impl Abi {
    /// The attribute of what the other one has.
    fn excluded(self) -> &'static str {
        match self {
            Abi::Mpich => "cfg(standard_abi)",
            Abi::Standard => "cfg(not(standard_abi))",
        }
    }
}

/// An `entry!`, one function of an `entries!` or a `stub!`, or one form of a `forms!`.
pub struct Entry {
    pub name: String,
    /// The thread-safety class, as written before `fn`.
    pub class: String,
    /// Has a second binding with the suffix `_c`.
    pub large: bool,
    pub written: bool,
    /// `(name, type as written)`.
    pub parameters: Vec<(String, String)>,
    /// The type as written after `->`, for functions that do not return an error code.
    pub result: Option<String>,
    /// `pt2pt/blocking`.
    pub chapter: String,
    /// First paragraph of the file.
    pub title: String,
}

/// The Rust spelling of the C type of a parameter type in both bindings.
pub struct Types(BTreeMap<String, (String, String)>);

impl Types {
    /// `Out<Count>` in the large binding is `*mut MPI_Count`.
    pub fn spell(&self, written: &str, large: bool) -> Result<String> {
        if let Some((outer, inner)) = written.strip_suffix('>').and_then(|t| t.split_once('<')) {
            let pointer = match outer {
                "In" | "Array" => "*const",
                "Out" | "InOut" | "OutArray" | "InOutArray" | "LooseArray" => "*mut",
                _ => return Err(format!("unknown type {written}").into()),
            };
            return Ok(format!("{pointer} {}", self.spell(inner, large)?));
        }
        let (small, wide) = self
            .0
            .get(written)
            .ok_or_else(|| format!("type {written} is in no table of param.rs"))?;
        Ok(if large { wide } else { small }.clone())
    }
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The sources of an ABI.
fn sources_of(source: &Path, abi: Abi) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    sources(source, &mut found)?;
    let text = fs::read_to_string(source.join("lib.rs"))?;
    let attribute = format!("#[{}]", abi.excluded());
    let lines = text.lines().zip(text.lines().skip(1));
    let excluded: Vec<&str> = lines
        .filter(|(before, _)| *before == attribute)
        .filter_map(|(_, line)| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    found.retain(|path| {
        let inside = path.strip_prefix(source).unwrap_or(path).with_extension("");
        !excluded.iter().any(|module| inside.starts_with(module))
    });
    Ok(found)
}

fn parse(path: &Path) -> Result<(String, TokenStream)> {
    let text = fs::read_to_string(path)?;
    let tokens = text
        .parse()
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((text, tokens))
}

/// The groups of all `name!{...}` at the top level of a file that MPICH's ABI has.
pub fn invocations(tokens: TokenStream, name: &str) -> Vec<TokenStream> {
    invocations_of(tokens, name, Abi::Mpich)
}

fn invocations_of(tokens: TokenStream, name: &str, abi: Abi) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let excluded = |at: usize| match tokens[..at].last() {
        Some(TokenTree::Group(attribute)) if attribute.delimiter() == Delimiter::Bracket => {
            let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
            squeeze(&tokens).replace(' ', "") == abi.excluded()
        }
        _ => false,
    };
    let windows = tokens.windows(3).enumerate();
    windows
        .filter_map(|(at, window)| match window {
            [
                TokenTree::Ident(ident),
                TokenTree::Punct(mark),
                TokenTree::Group(group),
            ] if ident == name && mark.as_char() == '!' && !excluded(at) => Some(group.stream()),
            _ => None,
        })
        .collect()
}

/// The two columns of a constant's values, MPICH's and the standard's: `value => value`.
pub fn columns(values: &[TokenTree]) -> (&[TokenTree], Option<&[TokenTree]>) {
    let is = |token: &TokenTree, mark| matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark);
    let arrow = values
        .windows(2)
        .position(|pair| is(&pair[0], '=') && is(&pair[1], '>'));
    match arrow {
        Some(at) => (&values[..at], Some(&values[at + 2..])),
        None => (values, None),
    }
}

/// Text of tokens without spaces between them.
pub fn squeeze(tokens: &[TokenTree]) -> String {
    tokens.iter().map(ToString::to_string).collect()
}

pub fn entries(source: &Path, abi: Abi) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for path in sources_of(source, abi)? {
        if path.ends_with("entry.rs") {
            continue;
        }
        let (text, tokens) = parse(&path)?;
        let chapter = path.strip_prefix(source)?.with_extension("");
        let title: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix("//! "))
            .collect();
        const MACROS: [(&str, bool); 4] = [
            ("entry", true),
            ("entries", true),
            ("forms", true),
            ("stub", false),
        ];
        for (macro_name, written) in MACROS {
            for group in invocations_of(tokens.clone(), macro_name, abi) {
                functions(group, written, &mut entries)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        for entry in &mut entries {
            if entry.chapter.is_empty() {
                entry.chapter = chapter.display().to_string();
                entry.title = title.join(" ");
            }
        }
    }
    Ok(entries)
}

/// `Class fn NAME [_c]? (a: T, ...) (on object | -> T)? ({...} | ;)`, any number of them. Three names are those of the
/// blocking, the nonblocking and the persistent form of an operation. A list of arguments before all of them is the beginning of each list.
fn functions(tokens: TokenStream, written: bool, entries: &mut Vec<Entry>) -> Result<()> {
    let mut tokens = tokens.into_iter().peekable();
    let first = match tokens.peek() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            parameter_list(group)
        }
        _ => Vec::new(),
    };
    let mut before = None;
    while let Some(token) = tokens.next() {
        if !matches!(&token, TokenTree::Ident(ident) if ident == "fn") {
            before = Some(token);
            continue;
        }
        let mut names = Vec::new();
        while let Some(TokenTree::Ident(name)) = tokens.peek() {
            names.push(name.to_string());
            tokens.next();
        }
        let name = names.first().ok_or("fn without a name")?;
        let Some(TokenTree::Ident(class)) = before.take() else {
            return Err(format!("{name} has no thread-safety class before `fn`").into());
        };
        let mut large = false;
        let mut parameters = None;
        let mut result = None;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => match group.delimiter() {
                    Delimiter::Bracket => large = true,
                    Delimiter::Parenthesis => parameters = Some(parameter_list(&group)),
                    _ => break,
                },
                TokenTree::Punct(mark) if mark.as_char() == ';' => break,
                TokenTree::Punct(mark) if mark.as_char() == '>' => {
                    result = tokens.next().map(|token| token.to_string());
                }
                _ => {}
            }
        }
        let parameters = parameters.ok_or_else(|| format!("{name} has no parameters"))?;
        const MORE: [&[(&str, &str)]; 3] = [
            &[],
            &[("request", "Out<Request>")],
            &[("info", "Info"), ("request", "Out<Request>")],
        ];
        for (name, more) in names.into_iter().zip(MORE) {
            let more = more
                .iter()
                .map(|(name, kind)| (name.to_string(), kind.to_string()));
            entries.push(Entry {
                parameters: first
                    .iter()
                    .chain(&parameters)
                    .cloned()
                    .chain(more)
                    .collect(),
                name,
                class: class.to_string(),
                large,
                written,
                result: result.clone(),
                chapter: String::new(),
                title: String::new(),
            });
        }
    }
    Ok(())
}

fn parameter_list(group: &Group) -> Vec<(String, String)> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    tokens
        .split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','))
        .filter(|part| part.len() > 2)
        .map(|part| (part[0].to_string(), squeeze(&part[2..])))
        .collect()
}

/// The tables of `param.rs`: `Name = C type`, `Name = small | large`, `Name = function types`.
pub fn types(source: &Path) -> Result<Types> {
    let (_, tokens) = parse(&source.join("param.rs"))?;
    let mut types = BTreeMap::new();
    const TABLES: [(&str, bool); 6] = [
        ("plain", false),
        ("handles", false),
        ("numbers", false),
        ("converted", false),
        ("wide", false),
        ("function", true),
    ];
    for (table, function) in TABLES {
        for group in invocations(tokens.clone(), table) {
            let tokens: Vec<TokenTree> = group.into_iter().collect();
            for row in tokens
                .split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';'))
            {
                let row = without_attributes(row);
                let Some(TokenTree::Ident(name)) = row.first() else {
                    continue;
                };
                let equals = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '=');
                let Some(at) = row.iter().position(equals) else {
                    continue;
                };
                let right = row[at + 1..]
                    .split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','))
                    .next()
                    .unwrap_or_default();
                let mut bindings = right
                    .split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '|'))
                    .map(|binding| spell_type(binding, function));
                let small = bindings.next().ok_or("a parameter type without a C type")?;
                let large = bindings.next().unwrap_or_else(|| small.clone());
                types.insert(name.to_string(), (small, large));
            }
        }
    }
    Ok(Types(types))
}

/// Tokens of a type with the spaces that Rust needs, and with the aliases of `types.rs` that C
/// does not know written out.
fn spell_type(tokens: &[TokenTree], function: bool) -> String {
    let mut text = String::new();
    for token in tokens {
        let word = token.to_string();
        text.push_str(if word == "Strings" {
            "*mut *mut c_char"
        } else {
            &word
        });
        if word == "const" || word == "mut" {
            text.push(' ');
        }
    }
    if function {
        format!("*mut {text}")
    } else {
        text
    }
}

/// Drops `# [doc]` at the front.
fn without_attributes(mut row: &[TokenTree]) -> &[TokenTree] {
    while matches!(row.first(), Some(TokenTree::Punct(mark)) if mark.as_char() == '#') {
        row = &row[2..];
    }
    row
}

/// Names exported by hand: the strings after `export_name =`.
pub fn other_symbols(source: &Path, abi: Abi) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for path in sources_of(source, abi)? {
        let text = fs::read_to_string(&path)?;
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("export_name = \"")
                && let Some((name, _)) = rest.split_once('"')
            {
                names.push(name.to_owned());
            }
        }
    }
    Ok(names)
}
