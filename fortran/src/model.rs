//! The functions as Fortran sees them: what each argument is, said once for all three styles.
//!
//! Invariant: made from the entries and `table.rs` alone; a parameter type that is not known here is
//! an error, so that a new kind of argument cannot go unnoticed.

use crate::scan::Entry;
use crate::table;
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How wide an integer is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Width {
    Default,
    Address,
    Offset,
    Count,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Form {
    Number(Width),
    /// With the name of its type, `Comm`.
    Handle(String),
    File,
    Logical,
    Double,
    Status,
    /// A status as an array of integers.
    Words,
    ErrorCodes,
    Weights,
    Text,
    TextOut,
    Texts,
    TextLists,
    /// A choice buffer in units of a datatype.
    Buffer,
    /// A choice buffer of bytes.
    Memory,
    /// A choice argument whose address alone matters.
    Location,
    /// TYPE(C_PTR), or an integer as wide as an address.
    Pointer,
    ExtraState,
    Attribute,
    /// A procedure, with the name of its abstract interface.
    Function(String),
    Range,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Intent {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub struct Argument {
    /// As in C.
    pub c_name: String,
    /// As in Fortran.
    pub name: String,
    pub form: Form,
    pub array: bool,
    pub intent: Intent,
    /// Not an argument in Fortran.
    pub absent: bool,
    /// Counts from one in Fortran.
    pub from_one: bool,
}

impl Argument {
    pub fn is_choice(&self) -> bool {
        matches!(self.form, Form::Buffer | Form::Memory | Form::Location)
    }
}

/// One face of a function: without or with the suffix `_c`.
#[derive(Clone, Debug)]
pub struct Function {
    /// The C name, with `_c` in the large face.
    pub name: String,
    /// The name without `_c`.
    pub stem: String,
    pub large: bool,
    pub chapter: String,
    pub arguments: Vec<Argument>,
    pub result: Option<Form>,
}

impl Function {
    pub fn lower(&self) -> String {
        self.name.to_lowercase()
    }

    pub fn present(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| !argument.absent)
    }

    pub fn has_choice(&self) -> bool {
        self.arguments.iter().any(Argument::is_choice)
    }

    pub fn by_hand(&self) -> bool {
        table::BY_HAND.contains(&self.stem.as_str())
    }

    pub fn in_f08(&self) -> bool {
        !table::NOT_IN_F08.contains(&self.stem.as_str())
    }

    /// MPI_Pcontrol and the functions that return a value have none.
    pub fn has_ierror(&self) -> bool {
        self.result.is_none() && self.stem != "MPI_Pcontrol"
    }

    /// The generic name in mpi_f08.
    pub fn generic(&self) -> &str {
        if table::LARGE_NAMED.contains(&self.stem.as_str()) {
            &self.name
        } else {
            &self.stem
        }
    }

    /// Still at work when it returns, or used again later: what is given to it has to stay.
    pub fn outlasts_call(&self) -> bool {
        let starts = self.arguments.iter().any(|argument| {
            argument.form == Form::Handle("Request".to_owned()) && argument.intent == Intent::Out
        });
        starts || self.chapter.starts_with("rma") || self.stem.ends_with("_begin")
    }

    /// Whether its buffers can be copies, for as long as it is at work.
    pub fn may_copy(&self) -> bool {
        !self.outlasts_call() || self.completes_once()
    }

    /// Nonblocking: its request is complete once, when the copies of its buffers have served.
    pub fn completes_once(&self) -> bool {
        let persistent = self.stem.ends_with("_init");
        let other = self.chapter.starts_with("rma") || self.stem.ends_with("_begin");
        self.outlasts_call() && !persistent && !other
    }
}

pub fn functions(entries: &[Entry]) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    for entry in entries.iter().filter(|entry| in_fortran(&entry.name)) {
        let own_large = entry.name.ends_with("_c");
        for large in [false, true] {
            if large && (own_large || !entry.large) {
                continue;
            }
            let function = function(entry, large || own_large)
                .map_err(|error| format!("{}: {error}", entry.name))?;
            functions.push(function);
        }
    }
    Ok(functions)
}

fn in_fortran(name: &str) -> bool {
    let c_only = table::C_ONLY_PREFIXES.iter().any(|p| name.starts_with(p))
        || table::C_ONLY_SUFFIXES.iter().any(|s| name.ends_with(s))
        || table::C_ONLY.contains(&name);
    !c_only || table::EXTENSIONS.contains(&name)
}

fn function(entry: &Entry, large: bool) -> Result<Function> {
    let stem = entry.name.strip_suffix("_c").unwrap_or(&entry.name);
    let mut function = Function {
        name: format!("{stem}{}", if large { "_c" } else { "" }),
        stem: stem.to_owned(),
        large,
        chapter: entry.chapter.clone(),
        arguments: Vec::new(),
        result: None,
    };
    for (name, written) in &entry.parameters {
        function
            .arguments
            .push(argument(stem, name, written, large)?);
    }
    if let Some(written) = &entry.result {
        function.result = Some(form(written, large)?.0);
    }
    Ok(function)
}

fn argument(stem: &str, name: &str, written: &str, large: bool) -> Result<Argument> {
    let (outer, inner) = match written.strip_suffix('>').and_then(|t| t.split_once('<')) {
        Some((outer, inner)) => (outer, inner),
        None => ("", written),
    };
    let (intent, array) = match outer {
        "" | "In" => (Intent::In, false),
        "Out" => (Intent::Out, false),
        "InOut" => (Intent::InOut, false),
        "Array" | "LooseArray" => (Intent::In, true),
        "OutArray" => (Intent::Out, true),
        "InOutArray" => (Intent::InOut, true),
        _ => return Err(format!("unknown type {written}").into()),
    };
    let (mut form, own_intent) = form(inner, large)?;
    if table::NARROW.contains(&stem) && form == Form::Number(Width::Address) {
        form = Form::Number(Width::Default);
    }
    if outer == "OutArray" && inner == "ErrorCode" {
        form = Form::ErrorCodes;
    }
    let renamed = table::RENAMED
        .iter()
        .find(|row| (row.0.is_empty() || row.0 == stem) && row.1 == name);
    Ok(Argument {
        c_name: name.to_owned(),
        name: renamed.map_or(name, |row| row.2).to_owned(),
        form,
        array,
        intent: if outer.is_empty() { own_intent } else { intent },
        absent: table::ABSENT.contains(&(stem, name)),
        from_one: table::FROM_ONE.contains(&(stem, name)),
    })
}

/// The form of a type without a place around it, and its direction there.
fn form(written: &str, large: bool) -> Result<(Form, Intent)> {
    let wide = |small, wide| Form::Number(if large { wide } else { small });
    let form = match written {
        "Count" | "BlockDisplacement" => wide(Width::Default, Width::Count),
        "Displacement" | "DisplacementUnit" => wide(Width::Default, Width::Address),
        "ByteDisplacement" => wide(Width::Address, Width::Count),
        "LargeCount" => Form::Number(Width::Count),
        "Aint" => Form::Number(Width::Address),
        "Offset" | "ViewOffset" => Form::Number(Width::Offset),
        "Comm" | "Datatype" | "Errhandler" | "Group" | "Info" | "Message" | "Op" | "Request"
        | "Session" | "Win" => Form::Handle(written.to_owned()),
        "File" => Form::File,
        "Logical" => Form::Logical,
        "Double" => Form::Double,
        "Status" | "F08Status" => Form::Status,
        "Fint" => Form::Words,
        "Weight" => Form::Weights,
        "Text" | "RootText" => Form::Text,
        "TextOut" => return Ok((Form::TextOut, Intent::Out)),
        "TextArray" => Form::Texts,
        "TextArrays" => Form::TextLists,
        "SendBuffer" => Form::Buffer,
        "RecvBuffer" => return Ok((Form::Buffer, Intent::InOut)),
        "Memory" => return Ok((Form::Memory, Intent::InOut)),
        "Address" => return Ok((Form::Location, Intent::InOut)),
        "AddressOut" => return Ok((Form::Pointer, Intent::Out)),
        "AttributeValue" => Form::Attribute,
        "AttributeOut" => return Ok((Form::Attribute, Intent::Out)),
        "ExtraState" => Form::ExtraState,
        "Range" => Form::Range,
        "Int"
        | "Rank"
        | "Root"
        | "Tag"
        | "Color"
        | "Keyval"
        | "ErrorCode"
        | "ErrorClass"
        | "ThreadLevel"
        | "Comparison"
        | "Combiner"
        | "Order"
        | "Distribution"
        | "DistributionArgument"
        | "TypeClass"
        | "SplitType"
        | "TopologyType"
        | "Assertion"
        | "LockType"
        | "AccessMode"
        | "Whence"
        | "Index" => Form::Number(Width::Default),
        _ => match written.strip_suffix("Function") {
            Some(kind) => Form::Function(interface(kind, large)),
            None => return Err(format!("unknown type {written}").into()),
        },
    };
    Ok((form, Intent::In))
}

/// `CommCopy` is `MPI_Comm_copy_attr_function`.
fn interface(kind: &str, large: bool) -> String {
    let mut name = "MPI".to_owned();
    for c in kind.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
            // The first word of a name is spelled with a capital.
            let first = name == "MPI_";
            name.push(if first { c } else { c.to_ascii_lowercase() });
        } else {
            name.push(c);
        }
    }
    let attribute = ["MPI_Comm", "MPI_Type", "MPI_Win"]
        .iter()
        .any(|object| name == format!("{object}_copy") || name == format!("{object}_delete"));
    if attribute {
        name.push_str("_attr");
    }
    let counts = matches!(kind, "User" | "DatarepConversion");
    let suffix = if large && counts { "_c" } else { "" };
    format!("{name}_function{suffix}")
}
