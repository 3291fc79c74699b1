//! Reads `src/constants/` and writes its values as C: `#define`s, and enumerations.

use crate::scan::{invocations, squeeze};
use proc_macro2::{TokenStream, TokenTree};
use std::error::Error;
use std::fs;
use std::path::Path;

/// In the order in which the header has them.
const FILES: [&str; 4] = ["mod", "objects", "arguments", "enumerations"];

/// The C text of all constants.
pub fn read(source: &Path) -> Result<String, Box<dyn Error>> {
    let mut c = String::new();
    for name in FILES {
        let path = source.join(format!("constants/{name}.rs"));
        read_file(&path, &mut c).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(c)
}

fn read_file(path: &Path, c: &mut String) -> Result<(), Box<dyn Error>> {
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
        if let Some(title) = titles.get(number) {
            c.push_str(&format!("/* {title} */\n"));
        }
        defines(group, c)?;
        c.push('\n');
    }
    for group in invocations(tokens, "enumerations") {
        enumerations(group, c);
    }
    Ok(())
}

/// `NAME: type = value;` becomes `#define NAME ((type)value)`, without a cast for int, so that the
/// preprocessor can compare.
fn defines(group: TokenStream, c: &mut String) -> Result<(), Box<dyn Error>> {
    let tokens: Vec<TokenTree> = group.into_iter().collect();
    for row in tokens.split(|token| is(token, ';')) {
        let Some(name) = row.first() else { continue };
        let equals = row
            .iter()
            .position(|token| is(token, '='))
            .ok_or("a constant without =")?;
        let kind = squeeze(&row[2..equals]);
        let value = squeeze(&row[equals + 1..]).replace('_', "");
        c.push_str(&match (kind.as_str(), value.starts_with('-')) {
            ("c_int", false) => format!("#define {name} {value}\n"),
            ("c_int", true) => format!("#define {name} ({value})\n"),
            _ => format!("#define {name} (({kind}){value})\n"),
        });
    }
    Ok(())
}

/// `enum NAME { A = 1, ... }` becomes a C enumeration with a typedef of the same name.
fn enumerations(group: TokenStream, c: &mut String) {
    let tokens: Vec<TokenTree> = group.into_iter().collect();
    for item in tokens.chunks(3) {
        let [_, name, TokenTree::Group(body)] = item else {
            continue;
        };
        let body: Vec<TokenTree> = body.stream().into_iter().collect();
        c.push_str(&format!("typedef enum {name} {{\n"));
        for row in body
            .split(|token| is(token, ','))
            .filter(|row| row.len() > 2)
        {
            c.push_str(&format!("  {} = {},\n", row[0], squeeze(&row[2..])));
        }
        let end = c.trim_end_matches(",\n").len();
        c.truncate(end);
        c.push_str(&format!("\n}} {name};\n\n"));
    }
}

fn is(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}
