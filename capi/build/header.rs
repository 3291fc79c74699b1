//! From entries to `mpi.h`: plain `extern "C"` prototypes in a file of their own, which cbindgen,
//! blind to macros, can read; around them the hand-written parts in `capi/header`.

use crate::scan::{Abi, Entry, Types};
use std::error::Error;
use std::fs;
use std::path::Path;

pub fn generate(
    entries: &[Entry],
    types: &Types,
    constants: &str,
    abi: Abi,
    out: &Path,
) -> Result<String, Box<dyn Error>> {
    let mut prototypes = String::new();
    for prefix in ["", "P"] {
        for entry in entries {
            prototypes.push_str(&prototype(entry, types, prefix, false)?);
            if entry.large {
                prototypes.push_str(&prototype(entry, types, prefix, true)?);
            }
        }
    }
    let (parts, prototypes_file) = match abi {
        Abi::Mpich => ("header", "prototypes.rs"),
        Abi::Standard => ("header/standard", "prototypes-standard.rs"),
    };
    let path = out.join(prototypes_file);
    fs::write(&path, format!("unsafe extern \"C\" {{\n{prototypes}}}\n"))?;

    let part = |name: &str| fs::read_to_string(Path::new(parts).join(name));
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        header: Some(part("top.h")?),
        include_guard: Some("MPI_INCLUDED".to_owned()),
        no_includes: true,
        after_includes: Some(format!(
            "{}\n{constants}{}",
            part("types.h")?,
            part("values.h")?
        )),
        trailer: Some(part("bottom.h")?),
        line_length: 100,
        tab_width: 2,
        documentation: false,
        // One line a prototype, to be found by grep.
        function: cbindgen::FunctionConfig {
            args: cbindgen::Layout::Horizontal,
            ..cbindgen::FunctionConfig::default()
        },
        ..cbindgen::Config::default()
    };
    let bindings = cbindgen::Builder::new()
        .with_src(&path)
        .with_config(config)
        .generate()?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    Ok(tidy(&String::from_utf8(header)?))
}

fn prototype(
    entry: &Entry,
    types: &Types,
    prefix: &str,
    large: bool,
) -> Result<String, Box<dyn Error>> {
    let mut parameters = Vec::new();
    for (name, written) in &entry.parameters {
        let spelled = types
            .spell(written, large)
            .map_err(|error| format!("{}: {name}: {error}", entry.name))?;
        parameters.push(format!("{name}: {spelled}"));
    }
    // Rust cannot define a variadic function; the fixed form is exported, this one is declared.
    if entry.name == "MPI_Pcontrol" {
        parameters.push("...".to_owned());
    }
    let result = match &entry.result {
        Some(written) => types.spell(written, large)?,
        None => "c_int".to_owned(),
    };
    let suffix = if large { "_c" } else { "" };
    let parameters = parameters.join(", ");
    Ok(format!(
        "    pub fn {prefix}{}{suffix}({parameters}) -> {result};\n",
        entry.name
    ))
}

/// cbindgen puts an empty line after each prototype, and comments of C++ behind what it closes, which C89
/// does not have.
fn tidy(header: &str) -> String {
    let mut text = String::with_capacity(header.len());
    let mut after_prototype = false;
    for line in header.lines() {
        let closes = line.starts_with("#endif") || line.starts_with('}');
        let line = match line.find("//") {
            Some(comment) if closes => line[..comment].trim_end(),
            _ => line,
        };
        if line.is_empty() && after_prototype {
            continue;
        }
        after_prototype = line.ends_with(");") && !line.starts_with("typedef");
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Every exported name, sorted, one a line.
pub fn symbols(entries: &[Entry], others: &[String]) -> String {
    let mut names = others.to_vec();
    for entry in entries {
        names.push(entry.name.clone());
        names.push(format!("P{}", entry.name));
        if entry.large {
            names.push(format!("{}_c", entry.name));
            names.push(format!("P{}_c", entry.name));
        }
    }
    names.sort();
    names.dedup();
    names.join("\n") + "\n"
}
