//! `mpicc`, `mpicxx`, `mpifort` and their other names: calls the real compiler with what a program needs to
//! compile and link with the oxmpi of the prefix that this file lies in (`PREFIX/bin`).
//!
//! Which compiler is meant is read from the name it was called by. Understands the questions of
//! MPICH's wrappers (`-show`, `-compile_info`, `-link_info`) and of Open MPI's (`-showme...`), so
//! that CMake, autoconf and waf find us like one of them. `mpifort -make-modules -fc=NAME` compiles the
//! modules for another Fortran compiler. `mpicc_abi` and `mpicxx_abi`, or `-abi=standard`, compile for the standard ABI.
//!
//! Invariant: arguments that are not ours reach the compiler unchanged and in order.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What one name of the wrapper stands for.
struct Language {
    /// Prefixes of the option that names the compiler, as in `-cc=clang`.
    options: &'static [&'static str],
    /// Environment variables that name it, the first one set wins.
    variables: &'static [&'static str],
    /// Compilers to look for, the first one found wins.
    compilers: &'static [&'static str],
    libraries: &'static [&'static str],
}

const C: Language = Language {
    options: &["-cc="],
    variables: &["OXMPI_CC", "MPICH_CC"],
    compilers: &["gcc", "cc", "clang"],
    libraries: &["mpi"],
};

const CXX: Language = Language {
    options: &["-cxx="],
    variables: &["OXMPI_CXX", "MPICH_CXX"],
    compilers: &["g++", "c++", "clang++"],
    libraries: &["mpi"],
};

/// The standard ABI (`mpicc_abi`, `-abi=standard`).
const C_STANDARD: Language = Language {
    libraries: &["mpi_abi"],
    ..C
};

const CXX_STANDARD: Language = Language {
    libraries: &["mpi_abi"],
    ..CXX
};

const FORTRAN: Language = Language {
    options: &["-fc=", "-f90=", "-f77="],
    variables: &["OXMPI_FC", "MPICH_FC", "MPICH_F90", "MPICH_F77"],
    compilers: &["gfortran", "flang", "flang-new", "f95"],
    libraries: &["mpifort", "mpi"],
};

/// Where the things of this installation are.
struct Prefix {
    include: PathBuf,
    library: PathBuf,
}

/// What the wrapper is to print instead of compiling.
#[derive(Clone, Copy, PartialEq)]
enum Question {
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
}

struct Call {
    question: Option<Question>,
    compiler: Option<String>,
    echo: bool,
    rpath: bool,
    /// `-abi=`.
    abi: Option<String>,
    /// Not to compile a program, but the modules for this compiler.
    modules: bool,
    arguments: Vec<OsString>,
}

/// The program, with the arguments of this process.
pub fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let called = PathBuf::from(arguments.next().unwrap_or_default());
    let name = called
        .file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned());
    match run(&name, arguments.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{name}: {text}");
            ExitCode::from(1)
        }
    }
}

fn language(name: &str) -> Result<&'static Language, String> {
    match name.split('.').next().unwrap_or(name) {
        "mpicc" | "oxmpicc" => Ok(&C),
        "mpicxx" | "mpic++" | "mpiCC" => Ok(&CXX),
        "mpifort" | "mpif90" | "mpif77" => Ok(&FORTRAN),
        _ => Err("call this program as mpicc, mpicxx or mpifort".to_owned()),
    }
}

/// The same language for programs of the standard ABI.
fn standard(language: &Language) -> Result<&'static Language, String> {
    match language.libraries[0] {
        "mpifort" => {
            Err("the standard ABI has no Fortran here; leave out -abi=standard".to_owned())
        }
        _ if language.options == CXX.options => Ok(&CXX_STANDARD),
        _ => Ok(&C_STANDARD),
    }
}

fn run(name: &str, arguments: Vec<OsString>) -> Result<(), String> {
    let (plain_name, of_name) = match name.strip_suffix("_abi") {
        Some(plain) => (plain, "standard"),
        None => (name, "mpich"),
    };
    let mut language = language(plain_name)?;
    let call = read(language, arguments);
    let mut prefix = prefix()?;
    match call.abi.as_deref().unwrap_or(of_name) {
        "mpich" => {}
        "standard" => {
            language = standard(language)?;
            prefix.include.push("standard");
        }
        other => return Err(format!("-abi={other}: there are mpich and standard")),
    }
    let compiler = match call.compiler {
        Some(compiler) => compiler,
        None => default_compiler(language),
    };
    if call.modules {
        return make_modules(&prefix, &compiler, &call.arguments);
    }
    let include = include_flags(language, &prefix, &compiler);
    let link = link_flags(language, &prefix, call.rpath);
    match call.question {
        None => {}
        Some(Question::Command) => {
            // Asked for the command of a file: all of it. Asked for flags alone, which CMake's FindMPI hands to
            // the C files of a target too: only those that suit every language.
            let mut flags = include;
            if has_input(&call.arguments) {
                flags.extend(own_flags(language, &compiler));
            }
            let command = command(&compiler, &call.arguments, &flags, &link, true);
            println!("{}", quoted(&command));
            return Ok(());
        }
        Some(question) => {
            let answer = answer(question, language, &compiler, &prefix, &include, &link);
            println!("{answer}");
            return Ok(());
        }
    }
    if call.arguments.iter().any(|argument| argument == "-v") {
        println!("{name} for oxmpi version {}", env!("CARGO_PKG_VERSION"));
    }
    let mut flags = include;
    flags.extend(own_flags(language, &compiler));
    let command = command(&compiler, &call.arguments, &flags, &link, false);
    if call.echo {
        println!("{}", quoted(&command));
    }
    let (program, arguments) = command
        .split_first()
        .ok_or("the compiler's name is empty")?;
    let error = Command::new(program).args(arguments).exec();
    Err(format!(
        "cannot run {}: {error}; choose a compiler by {}NAME or the variable {}",
        program.display(),
        language.options[0],
        language.variables[1]
    ))
}

/// Takes out what is meant for the wrapper.
fn read(language: &Language, arguments: Vec<OsString>) -> Call {
    let mut call = Call {
        question: None,
        compiler: None,
        echo: false,
        rpath: env::var_os("OXMPI_RPATH").is_none_or(|value| value != "no"),
        abi: None,
        modules: false,
        arguments: Vec::new(),
    };
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        if let Some(question) = question(text) {
            call.question = Some(question);
        } else if let Some(compiler) =
            (language.options.iter()).find_map(|option| text.strip_prefix(option))
        {
            call.compiler = Some(compiler.to_owned());
        } else if let Some(abi) = text.strip_prefix("-abi=") {
            call.abi = Some(abi.to_owned());
        } else if text == "-mpi-abi" || text == "-mpi_abi" {
            call.abi = Some("standard".to_owned());
        } else if text == "-echo" {
            call.echo = true;
        } else if text == "-make-modules" && language.libraries[0] == "mpifort" {
            call.modules = true;
        } else if text == "-norpath" {
            call.rpath = false;
        } else {
            call.arguments.push(argument);
        }
    }
    call
}

fn question(argument: &str) -> Option<Question> {
    let argument = argument.strip_prefix("--").or(argument.strip_prefix('-'))?;
    Some(match argument {
        "show" | "showme" => Question::Command,
        "compile_info" | "compile-info" => Question::Compile,
        "link_info" | "link-info" => Question::Link,
        "showme:compile" => Question::CompileFlags,
        "showme:link" => Question::LinkFlags,
        "showme:command" => Question::Compiler,
        "showme:incdirs" => Question::IncludeDirectories,
        "showme:libdirs" => Question::LibraryDirectories,
        "showme:libs" => Question::Libraries,
        "showme:version" => Question::Version,
        _ => return None,
    })
}

/// The prefix of the `PREFIX/bin` that this very file lies in, symbolic links followed.
fn prefix() -> Result<Prefix, String> {
    let file = env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    let root = file
        .parent()
        .and_then(Path::parent)
        .ok_or_else(|| format!("{} is in no directory bin", file.display()))?;
    Ok(Prefix {
        include: root.join("include"),
        library: root.join("lib"),
    })
}

fn default_compiler(language: &Language) -> String {
    for variable in language.variables {
        if let Ok(value) = env::var(variable)
            && !value.trim().is_empty()
        {
            return value;
        }
    }
    let present = |compiler: &&&str| {
        env::var_os("PATH").is_some_and(|path| {
            env::split_paths(&path).any(|directory| directory.join(compiler).is_file())
        })
    };
    let found = language.compilers.iter().find(present);
    (*found.unwrap_or(&language.compilers[0])).to_owned()
}

/// The headers; for Fortran also the modules compiled by this compiler, or by one of its family.
fn include_flags(language: &Language, prefix: &Prefix, compiler: &str) -> Vec<OsString> {
    let mut flags = vec![format!("-I{}", prefix.include.display())];
    if language.libraries[0] == "mpifort" {
        let name = compiler_name(compiler);
        let family = name.split(['-', '.']).next().unwrap_or_default().to_owned();
        let found = [&name, &family]
            .map(|name| prefix.library.join("oxmpi/modules").join(name))
            .into_iter()
            .find(|directory| directory.is_dir());
        flags.extend(found.map(|directory| format!("-I{}", directory.display())));
    }
    flags.into_iter().map(OsString::from).collect()
}

/// What a compilation needs that no compiler of another language takes.
fn own_flags(language: &Language, compiler: &str) -> Option<OsString> {
    let gfortran = language.libraries[0] == "mpifort"
        && compiler_name(compiler).split(['-', '.']).next() == Some("gfortran");
    // Choice arguments of mpif.h are an error to it otherwise.
    (gfortran && gfortran_version(compiler) >= 10).then(|| "-fallow-argument-mismatch".into())
}

/// `gfortran-12` for "ccache /usr/bin/gfortran-12".
fn compiler_name(compiler: &str) -> String {
    let program = compiler.split_whitespace().last().unwrap_or_default();
    let name = Path::new(program).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Compiles the installed sources of the modules, as they lie in `lib/oxmpi/modules`, into a
/// directory named after the compiler beside them, where later calls find them.
fn make_modules(prefix: &Prefix, compiler: &str, flags: &[OsString]) -> Result<(), String> {
    let sources = prefix.library.join("oxmpi/modules");
    let directory = sources.join(compiler_name(compiler));
    // Made apart: nobody may find half a module.
    let apart = sources.join(format!("new-{}", std::process::id()));
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(&directory).map_err(failed)?;
    std::fs::create_dir_all(&apart).map_err(failed)?;
    let result = compile_modules(&sources, &apart, compiler, flags);
    if result.is_ok() {
        for file in std::fs::read_dir(&apart).map_err(failed)?.flatten() {
            let name = file.file_name();
            std::fs::rename(file.path(), directory.join(name)).map_err(failed)?;
        }
    }
    let _ = std::fs::remove_dir_all(&apart);
    result
}

/// Every compiler leaves its module files where it runs; the objects have nothing in them.
fn compile_modules(
    sources: &Path,
    directory: &Path,
    compiler: &str,
    flags: &[OsString],
) -> Result<(), String> {
    for module in ["mpi_f08_types", "mpi", "mpi_f08"] {
        let mut words = compiler.split_whitespace();
        let status = Command::new(words.next().unwrap_or_default())
            .args(words)
            .args(flags)
            .arg("-c")
            .arg(sources.join(format!("{module}.f90")))
            .current_dir(directory)
            .status();
        let _ = std::fs::remove_file(directory.join(format!("{module}.o")));
        match status {
            Ok(status) if status.success() => {}
            Ok(_) => return Err(format!("{compiler} does not compile the module {module}")),
            Err(error) => return Err(format!("cannot run {compiler}: {error}")),
        }
    }
    Ok(())
}

fn gfortran_version(compiler: &str) -> u32 {
    let mut words = compiler.split_whitespace();
    let output = Command::new(words.next().unwrap_or_default())
        .args(words)
        .arg("-dumpversion")
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let major = |text: String| text.trim().split('.').next()?.parse().ok();
    text.ok().and_then(major).unwrap_or(0)
}

fn link_flags(language: &Language, prefix: &Prefix, rpath: bool) -> Vec<OsString> {
    let library = prefix.library.display();
    let mut flags = vec![format!("-L{library}")];
    let found_anyway = ["/usr/lib", "/lib"]
        .iter()
        .any(|path| prefix.library == Path::new(path));
    if rpath && !found_anyway {
        flags.push(format!("-Wl,-rpath,{library}"));
        flags.push("-Wl,--enable-new-dtags".to_owned());
    }
    flags.extend(language.libraries.iter().map(|name| format!("-l{name}")));
    flags.into_iter().map(OsString::from).collect()
}

fn answer(
    question: Question,
    language: &Language,
    compiler: &str,
    prefix: &Prefix,
    include: &[OsString],
    link: &[OsString],
) -> String {
    match question {
        Question::Command | Question::Compile => format!("{compiler} {}", quoted(include)),
        Question::Link => format!("{compiler} {} {}", quoted(include), quoted(link)),
        Question::CompileFlags => quoted(include),
        Question::LinkFlags => quoted(link),
        Question::Compiler => compiler.to_owned(),
        Question::IncludeDirectories => include
            .iter()
            .filter_map(|flag| Some(flag.to_str()?.strip_prefix("-I")?.to_owned()))
            .collect::<Vec<_>>()
            .join(" "),
        Question::LibraryDirectories => prefix.library.display().to_string(),
        Question::Libraries => language.libraries.join(" "),
        Question::Version => format!("oxmpi {}", env!("CARGO_PKG_VERSION")),
    }
}

/// The command that compiles. The compiler may come with arguments of its own, as in
/// `MPICH_CC="ccache gcc"`. `always_link` shows the link flags also when no file is named.
fn command(
    compiler: &str,
    arguments: &[OsString],
    include: &[OsString],
    link: &[OsString],
    always_link: bool,
) -> Vec<OsString> {
    let mut command: Vec<OsString> = compiler.split_whitespace().map(OsString::from).collect();
    command.extend_from_slice(include);
    command.extend_from_slice(arguments);
    if links(arguments) && (always_link || has_input(arguments)) {
        command.extend_from_slice(link);
    }
    command
}

/// Whether the compiler would go on to link.
fn links(arguments: &[OsString]) -> bool {
    const STOPS: [&str; 6] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];
    !arguments
        .iter()
        .any(|argument| STOPS.iter().any(|stop| argument == stop))
}

/// Whether anything is there to link: `mpicc -v` and `mpicc --version` name no file.
fn has_input(arguments: &[OsString]) -> bool {
    const WITH_VALUE: [&str; 20] = [
        "-o",
        "-J",
        "-I",
        "-L",
        "-D",
        "-U",
        "-x",
        "-T",
        "-u",
        "-z",
        "-include",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-MF",
        "-MT",
        "-MQ",
        "-Xlinker",
        "-Xpreprocessor",
        "-Xassembler",
    ];
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if WITH_VALUE.contains(&text.as_ref()) {
            arguments.next();
        } else if !text.starts_with('-') || text == "-" || text.starts_with("-l") {
            return true;
        }
    }
    false
}

/// For the shell, with quotes only where they are needed.
fn quoted(words: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    let quote = |word: &OsString| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn links_only_when_the_compiler_would() {
        let link = words("-L/p/lib -lmpi");
        let include = words("-I/p/include");
        let line = |text| quoted(&command("gcc", &words(text), &include, &link, false));
        assert_eq!(line("-o a a.c"), "gcc -I/p/include -o a a.c -L/p/lib -lmpi");
        assert_eq!(line("-c a.c"), "gcc -I/p/include -c a.c");
        assert_eq!(line("--version"), "gcc -I/p/include --version");
        assert_eq!(line("-o a"), "gcc -I/p/include -o a");
    }

    #[test]
    fn own_options_are_taken_out() {
        let call = read(&C, words("-cc=clang -O2 -show a.c -norpath"));
        assert_eq!(call.compiler.as_deref(), Some("clang"));
        assert!(call.question == Some(Question::Command) && !call.rpath);
        assert_eq!(call.arguments, words("-O2 a.c"));
        // Not ours: the C++ compiler's option given to mpicc.
        assert_eq!(read(&C, words("-cxx=g++")).arguments, words("-cxx=g++"));
    }

    #[test]
    fn the_standard_abi_is_another_header_and_library() {
        assert_eq!(
            read(&C, words("-abi=standard a.c")).abi.as_deref(),
            Some("standard")
        );
        assert_eq!(standard(&C).unwrap().libraries, ["mpi_abi"]);
        assert_eq!(standard(&CXX).unwrap().options, CXX.options);
        assert!(standard(&FORTRAN).is_err());
    }

    #[test]
    fn a_compiler_with_a_launcher_is_split() {
        assert_eq!(
            command("ccache gcc", &words("-c a.c"), &words("-I/i"), &[], false),
            words("ccache gcc -I/i -c a.c")
        );
    }

    #[test]
    fn words_are_quoted_where_needed() {
        let define = ["-DNAME=\"a b\"", "it's", "x.c"].map(OsString::from);
        assert_eq!(quoted(&define), "'-DNAME=\"a b\"' 'it'\\''s' x.c");
    }
}
