//! Options of the wrappers: what MPICH's and Open MPI's wrappers take, and the answers to their questions.

use super::command::quoted;
use super::{Language, Prefix, compiler_name};
use std::env;
use std::ffi::OsString;

/// What the wrapper is to print instead of compiling.
#[derive(Clone, Copy, PartialEq)]
pub enum Question {
    /// The whole command.
    Command,
    /// The command for compiling only, or for linking only, as MPICH's wrappers say it.
    Compile,
    Link,
    /// Flags alone, as Open MPI's wrappers say them.
    CompileFlags,
    LinkFlags,
    Compiler,
    IncludeDirectories,
    LibraryDirectories,
    Libraries,
    Version,
    Help,
}

/// What follows `-showme:`, as `-showme:help` lists it.
const SHOWME: [(&str, Question, &str); 8] = [
    ("command", Question::Compiler, "the compiler"),
    (
        "compile",
        Question::CompileFlags,
        "flags added when compiling",
    ),
    ("link", Question::LinkFlags, "flags added when linking"),
    (
        "incdirs",
        Question::IncludeDirectories,
        "folders of headers and modules",
    ),
    (
        "libdirs",
        Question::LibraryDirectories,
        "folders of libraries",
    ),
    ("libs", Question::Libraries, "names of libraries"),
    ("version", Question::Version, "the version of oxmpi"),
    ("help", Question::Help, "this list"),
];

/// The arguments of one call, read.
#[derive(Default)]
pub struct Call {
    pub question: Option<Question>,
    pub compiler: Option<String>,
    pub echo: bool,
    pub rpath: bool,
    pub help: bool,
    /// Not to compile a program, but the modules for this compiler.
    pub modules: bool,
    /// `-abi=`.
    pub abi: Option<String>,
    /// Not to link with MPI.
    pub native: bool,
    /// Names of a configuration file and of a profiling library.
    pub config: Option<String>,
    pub profile: Option<String>,
    pub arguments: Vec<OsString>,
}

/// Takes out what is meant for the wrapper. Errors: an option that it knows, with a value that it does not.
pub fn read(language: &Language, arguments: Vec<OsString>) -> Result<Call, String> {
    let mut call = Call {
        rpath: env::var_os("OXMPI_RPATH").is_none_or(|value| value != "no"),
        ..Call::default()
    };
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        if let Some(question) = question(text)? {
            call.question = Some(question);
            continue;
        }
        let compiler = (language.options.iter())
            .find_map(|option| Some((*option, text.strip_prefix(option)?)));
        if let Some((option, compiler)) = compiler {
            call.compiler = Some(named(option, compiler, "gcc")?);
        } else if let Some(name) = text.strip_prefix("-config=") {
            call.config = Some(named("-config=", name, "clang")?);
        } else if let Some(name) = text.strip_prefix("-profile=") {
            call.profile = Some(named("-profile=", name, "mpiP")?);
        } else if let Some(abi) = text.strip_prefix("-abi=") {
            call.abi = Some(abi.to_owned());
        } else if text == "-make-modules" && language.libraries[0] == "mpifort" {
            call.modules = true;
        } else {
            match text {
                "-mpi-abi" | "-mpi_abi" => call.abi = Some("standard".to_owned()),
                "-echo" => call.echo = true,
                "-norpath" => call.rpath = false,
                "-nativelinking" => call.native = true,
                "-help" => call.help = true,
                // There is no other kind of library.
                "-shlib" => {}
                "-noshlib" | "-static-mpi" => return Err(no_static_library(text)),
                _ => call.arguments.push(argument),
            }
        }
    }
    Ok(call)
}

fn named(option: &str, value: &str, example: &str) -> Result<String, String> {
    if value.trim().is_empty() {
        return Err(format!("{option} wants a name, as in {option}{example}"));
    }
    Ok(value.to_owned())
}

/// Why a program cannot be linked with MPI by `-static`.
pub fn no_static_library(option: &str) -> String {
    format!(
        "{option} asks for a static MPI library; oxmpi has only a shared one, libmpi.so.12. Leave {option} out; \
         -static-libgcc, -static-libstdc++ and -static-libgfortran work"
    )
}

fn question(argument: &str) -> Result<Option<Question>, String> {
    let Some(option) = argument.strip_prefix("--").or(argument.strip_prefix('-')) else {
        return Ok(None);
    };
    let part = (option.strip_prefix("showme:")).or_else(|| option.strip_prefix("show:"));
    if let Some(part) = part {
        let known = SHOWME.iter().find(|(name, ..)| *name == part);
        let all = SHOWME.map(|(name, ..)| name).join(", ");
        return match known {
            Some((_, question, _)) => Ok(Some(*question)),
            None => Err(format!(
                "{argument}: after the colon is {part:?}; known are {all}"
            )),
        };
    }
    Ok(match option {
        "show" | "showme" => Some(Question::Command),
        "compile_info" | "compile-info" => Some(Question::Compile),
        "link_info" | "link-info" => Some(Question::Link),
        _ => None,
    })
}

/// What a question is about.
pub struct Asked<'a> {
    pub language: &'a Language,
    pub compiler: &'a str,
    pub prefix: &'a Prefix,
    pub include: &'a [OsString],
    pub link: &'a [OsString],
    pub arguments: &'a [OsString],
}

impl Asked<'_> {
    /// Flags go around the program's own arguments, as in the command itself.
    pub fn answer(&self, name: &str, question: Question) -> String {
        let (include, link, own) = (
            quoted(self.include),
            quoted(self.link),
            quoted(self.arguments),
        );
        let joined = |parts: &[&str]| {
            let present: Vec<&str> = parts.iter().copied().filter(|p| !p.is_empty()).collect();
            present.join(" ")
        };
        match question {
            Question::Command | Question::Compile => joined(&[self.compiler, &include, &own]),
            Question::Link => joined(&[self.compiler, &include, &own, &link]),
            Question::CompileFlags => joined(&[&own, &include]),
            Question::LinkFlags => joined(&[&own, &link]),
            Question::Compiler => self.compiler.to_owned(),
            Question::IncludeDirectories => (self.include.iter())
                .filter_map(|flag| flag.to_str()?.strip_prefix("-I"))
                .collect::<Vec<_>>()
                .join(" "),
            Question::LibraryDirectories => self.prefix.library.display().to_string(),
            Question::Libraries => self.language.libraries.join(" "),
            Question::Version => format!("oxmpi {}", env!("CARGO_PKG_VERSION")),
            Question::Help => SHOWME
                .map(|(part, _, what)| format!("{name} -showme:{part:<9} {what}"))
                .join("\n"),
        }
    }
}

/// What `-help` prints.
pub fn help(name: &str, language: &Language) -> String {
    let compiler = compiler_name(language.compilers[0]);
    let mut text = format!(
        "{name} [options] [the compiler's options and files]: compiles and links programs with oxmpi {version}

  {option}NAME          use this compiler; it comes otherwise from {variables}
                        or is the first of {compilers} that is there
  -show                 print the command and do not run it (also --showme)
  -compile_info         print the command that compiles
  -link_info            print the command that links
  -showme:PART          print a part: {parts}
  -echo                 print the command and run it
  -config=NAME          take compiler and flags from PREFIX/etc/WRAPPER-NAME.conf or /etc/oxmpi
  -profile=NAME         link with the profiling library libNAME, or as PREFIX/etc/NAME.conf says
  -abi=standard         compile for the standard ABI, as mpicc_abi and mpicxx_abi do
  -nativelinking        do not link with MPI
  -norpath              do not put the library's folder into the program (also OXMPI_RPATH=no)
  -v                    print this wrapper's version, then what the compiler prints
  -help                 print this text; --help and --version are answered by {compiler}

Flags for each call: OXMPI_CPPFLAGS, OXMPI_{flags}, OXMPI_LDFLAGS, OXMPI_LIBS; also with MPICH_ or OMPI_.
Static linking with MPI is not possible: there is no libmpi.a.
",
        version = env!("CARGO_PKG_VERSION"),
        option = language.options[0],
        variables = language.variables.join(", "),
        compilers = language.compilers.join(", "),
        parts = SHOWME.map(|(part, ..)| part).join(", "),
        flags = language.flags,
    );
    if language.libraries[0] == "mpifort" {
        text.push_str("-make-modules compiles the modules mpi and mpi_f08 for the compiler that -fc= names.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{C, FORTRAN};
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn own_options_are_taken_out() {
        let given = words("-cc=clang -O2 -show a.c -norpath -profile=p -config=c -shlib");
        let call = read(&C, given).unwrap();
        assert_eq!(call.compiler.as_deref(), Some("clang"));
        assert!(call.question == Some(Question::Command) && !call.rpath);
        assert_eq!(call.arguments, words("-O2 a.c"));
        assert_eq!(
            (call.profile.as_deref(), call.config.as_deref()),
            (Some("p"), Some("c"))
        );
        // Not ours: the C++ compiler's option given to mpicc.
        let call = read(&C, words("-cxx=g++ -make-modules --version")).unwrap();
        assert_eq!(call.arguments, words("-cxx=g++ -make-modules --version"));
        assert!(read(&FORTRAN, words("-make-modules")).unwrap().modules);
    }

    #[test]
    fn bad_options_are_told_with_what_is_allowed() {
        let said = |given| read(&C, words(given)).err().unwrap_or_default();
        let text = said("-showme:comple");
        assert!(
            text.contains("\"comple\"") && text.contains("compile"),
            "{text}"
        );
        assert!(said("--show:x").contains("incdirs"));
        assert!(said("-cc=").contains("-cc=gcc"));
        assert!(said("-profile=").contains("-profile=mpiP"));
        assert!(said("-static-mpi").contains("libmpi.so.12"));
        assert!(said("-noshlib").contains("-noshlib"));
    }

    #[test]
    fn every_part_of_showme_is_known() {
        for (part, expected, _) in SHOWME {
            assert!(question(&format!("--showme:{part}")) == Ok(Some(expected)));
        }
    }
}
