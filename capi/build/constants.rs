//! Reads `src/constants/` and writes its values as C: `#define`s, and enumerations.

use crate::scan::{Abi, columns, invocations, squeeze};
use proc_macro2::{TokenStream, TokenTree};
use std::error::Error;
use std::fs;
use std::path::Path;

/// In the order in which the header has them.
const FILES: [&str; 4] = ["mod", "objects", "arguments", "enumerations"];

/// The C text of all constants of an ABI.
pub fn read(source: &Path, abi: Abi) -> Result<String, Box<dyn Error>> {
    let mut c = String::new();
    for name in FILES {
        let path = source.join(format!("constants/{name}.rs"));
        read_file(&path, abi, &mut c).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(c)
}

fn read_file(path: &Path, abi: Abi, c: &mut String) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    // The comments above the groups are no tokens; they are found again by their order.
    let titles: Vec<&str> = text
        .lines()
        .zip(text.lines().skip(1))
        .filter(|(_, next)| *next == "constants! {")
        .filter_map(|(line, _)| line.strip_prefix("// "))
        .collect();
    let tokens: TokenStream = text.parse()?;
    for (number, group) in invocations(tokens.clone(), "constants")
        .into_iter()
        .enumerate()
    {
        let mut lines = String::new();
        defines(group, abi, &mut lines)?;
        if lines.is_empty() {
            continue;
        }
        if let Some(title) = titles.get(number) {
            c.push_str(&format!("/* {title} */\n"));
        }
        c.push_str(&lines);
        c.push('\n');
    }
    for group in invocations(tokens, "enumerations") {
        enumerations(group, abi, c);
    }
    Ok(())
}

/// `NAME: type = value;` becomes `#define NAME ((type)value)`, without a cast for int, so that the
/// preprocessor can compare.
fn defines(group: TokenStream, abi: Abi, c: &mut String) -> Result<(), Box<dyn Error>> {
    let tokens: Vec<TokenTree> = group.into_iter().collect();
    for row in tokens.split(|token| is(token, ';')) {
        let Some(name) = row.first() else { continue };
        // The name of the group.
        if name.to_string() == "in" {
            continue;
        }
        let equals = row
            .iter()
            .position(|token| is(token, '='))
            .ok_or("a constant without =")?;
        let kind = squeeze(&row[2..equals]);
        let Some(value) = value_of(&row[equals + 1..], abi) else {
            continue;
        };
        c.push_str(&match (kind.as_str(), value.starts_with('-')) {
            ("c_int", false) => format!("#define {name} {value}\n"),
            ("c_int", true) => format!("#define {name} ({value})\n"),
            _ => format!("#define {name} (({kind}){value})\n"),
        });
    }
    Ok(())
}

/// The value in an ABI, if it has the constant.
fn value_of(values: &[TokenTree], abi: Abi) -> Option<String> {
    let (mpich, standard) = columns(values);
    let value = match abi {
        Abi::Mpich => Some(mpich),
        Abi::Standard => standard,
    };
    value.map(|value| squeeze(value).replace('_', ""))
}

/// `enum NAME { A = 1, ... }` becomes a C enumeration with a typedef of the same name. Other names of enumerations than MPI's are
/// MPICH's own, which the standard ABI has `#define`s for.
fn enumerations(group: TokenStream, abi: Abi, c: &mut String) {
    let tokens: Vec<TokenTree> = group.into_iter().collect();
    for item in tokens.chunks(3) {
        let [_, name, TokenTree::Group(body)] = item else {
            continue;
        };
        let body: Vec<TokenTree> = body.stream().into_iter().collect();
        let rows = body
            .split(|token| is(token, ','))
            .filter(|row| row.len() > 2);
        let values = rows.filter_map(|row| Some((&row[0], value_of(&row[2..], abi)?)));
        let values: Vec<_> = values.collect();
        if abi == Abi::Standard && !name.to_string().starts_with("MPI_") {
            for (name, value) in &values {
                c.push_str(&format!("#define {name} {value}\n"));
            }
            c.push_str(if values.is_empty() { "" } else { "\n" });
            continue;
        }
        c.push_str(&format!("typedef enum {name} {{\n"));
        for (name, value) in values {
            c.push_str(&format!("  {name} = {value},\n"));
        }
        let end = c.trim_end_matches(",\n").len();
        c.truncate(end);
        c.push_str(&format!("\n}} {name};\n\n"));
    }
}

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}
