//! `mpicc`, `mpicxx`, `mpifort` and their other names: calls the real compiler with what a program needs to
//! compile and link with the oxmpi of the prefix that this file lies in (`PREFIX/bin`).
//!
//! Which compiler is meant is read from the name it was called by. `call.rs` reads the options of MPICH's and of
//! Open MPI's wrappers, so that CMake, autoconf and waf find us like one of them; `settings.rs` their variables and
//! files. `mpifort -make-modules -fc=NAME` compiles the modules for another Fortran compiler (`modules.rs`). `mpicc_abi` and
//! `mpicxx_abi`, or `-abi=standard`, compile for the standard ABI.
//!
//! Invariant: arguments that are not ours reach the compiler unchanged and in order.

mod call;
mod command;
mod modules;
mod settings;

use call::{Question, read};
use command::{command, has_input, links, quoted};
use settings::Settings;
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
    /// Names of the compiler and of its flags in configuration files; of the flags also in the environment, after
    /// `OXMPI_`, `MPICH_` or `OMPI_`.
    setting: &'static str,
    flags: &'static str,
    /// Compilers to look for, the first one found wins.
    compilers: &'static [&'static str],
    libraries: &'static [&'static str],
}

const C: Language = Language {
    options: &["-cc="],
    variables: &["OXMPI_CC", "MPICH_CC", "OMPI_CC", "I_MPI_CC"],
    setting: "CC",
    flags: "CFLAGS",
    compilers: &["gcc", "cc", "clang"],
    libraries: &["mpi"],
};

const CXX: Language = Language {
    options: &["-cxx="],
    variables: &["OXMPI_CXX", "MPICH_CXX", "OMPI_CXX", "I_MPI_CXX"],
    setting: "CXX",
    flags: "CXXFLAGS",
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
    variables: &[
        "OXMPI_FC",
        "MPICH_FC",
        "MPICH_F90",
        "MPICH_F77",
        "OMPI_FC",
        "I_MPI_FC",
        "I_MPI_F90",
        "I_MPI_F77",
    ],
    setting: "FC",
    flags: "FCFLAGS",
    compilers: &["gfortran", "flang", "flang-new", "f95"],
    libraries: &["mpifort", "mpi"],
};

/// Where the things of this installation are.
struct Prefix {
    root: PathBuf,
    include: PathBuf,
    library: PathBuf,
    /// Where the library is when the program runs: differs for a sysroot.
    runtime: PathBuf,
}

impl Prefix {
    fn new(root: &Path, runtime: &Path) -> Prefix {
        Prefix {
            include: root.join("include"),
            library: root.join("lib"),
            runtime: runtime.join("lib"),
            root: root.to_owned(),
        }
    }

    /// Compiling for the system in that folder: the prefix lies in it, or one of its name does.
    fn in_sysroot(self, sysroot: &Path) -> Prefix {
        if let Ok(inside) = self.root.strip_prefix(sysroot) {
            return Prefix::new(&self.root, &Path::new("/").join(inside));
        }
        let inside = self.root.strip_prefix("/").unwrap_or(&self.root);
        let there = sysroot.join(inside);
        if there.join("include/mpi.h").is_file() {
            return Prefix::new(&there, &self.root);
        }
        self
    }
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

/// Takes `mpicc.oxmpi` and `x86_64-linux-gnu-mpicc`, too.
fn language(name: &str) -> Result<&'static Language, String> {
    let plain = name.split('.').next().unwrap_or(name);
    match plain.rsplit('-').next().unwrap_or(plain) {
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
    let plain = name.split('.').next().unwrap_or(name);
    let (plain, of_name) = match plain.strip_suffix("_abi") {
        Some(plain) => (plain, "standard"),
        None => (plain, "mpich"),
    };
    let mut language = language(plain)?;
    let call = read(language, arguments)?;
    if call.help {
        print!("{}", call::help(name, language));
        return Ok(());
    }
    let mut prefix = prefix()?;
    if let Some(sysroot) = sysroot(&call.arguments) {
        prefix = prefix.in_sysroot(&sysroot);
    }
    match call.abi.as_deref().unwrap_or(of_name) {
        "mpich" => {}
        "standard" => {
            language = standard(language)?;
            prefix.include.push("standard");
        }
        other => return Err(format!("-abi={other}: there are mpich and standard")),
    }
    let settings = Settings::of(language, name, &prefix, &call)?;
    let compiler = (call.compiler.clone())
        .or(settings.compiler.clone())
        .unwrap_or_else(|| default_compiler(language));
    if call.modules {
        return modules::make(&prefix, &compiler, &call.arguments);
    }
    if call.question.is_none() && language.libraries[0] == "mpifort" {
        modules::make_at_first_use(name, &prefix, &compiler, &call.arguments);
    }
    let mut include = include_flags(language, &prefix, &compiler);
    include.extend_from_slice(&settings.compile);
    let link = if call.native {
        Vec::new()
    } else {
        settings.around(link_flags(language, &prefix, call.rpath))
    };
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
            let asked = call::Asked {
                language,
                compiler: &compiler,
                prefix: &prefix,
                include: &include,
                link: &link,
                arguments: &call.arguments,
            };
            println!("{}", asked.answer(name, question));
            return Ok(());
        }
    }
    if links(&call.arguments)
        && has_input(&call.arguments)
        && !call.native
        && call.arguments.iter().any(|argument| argument == "-static")
    {
        return Err(call::no_static_library("-static"));
    }
    if call.arguments.iter().any(|argument| argument == "-v") {
        println!("{name} for oxmpi version {}", env!("CARGO_PKG_VERSION"));
    }
    let mut flags = include;
    flags.extend(own_flags(language, &compiler));
    let command = command(&compiler, &call.arguments, &flags, &link, false);
    if call.echo {
        // Beside the compiler's output, which may be a preprocessed program.
        eprintln!("{}", quoted(&command));
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

/// Whether one of the wrappers takes this argument for itself.
#[cfg(test)]
pub fn is_own_option(argument: &str) -> bool {
    [&C, &CXX, &FORTRAN].into_iter().any(|language| {
        read(language, vec![argument.into()]).is_ok_and(|call| call.arguments.is_empty())
    })
}

/// The folder that the compiler is told to take for `/`.
fn sysroot(arguments: &[OsString]) -> Option<PathBuf> {
    let mut arguments = arguments.iter().map(|argument| argument.to_str());
    while let Some(argument) = arguments.next() {
        match argument {
            Some("--sysroot" | "-isysroot") => return arguments.next()?.map(PathBuf::from),
            Some(text) if text.starts_with("--sysroot=") => {
                return Some(PathBuf::from(&text["--sysroot=".len()..]));
            }
            _ => {}
        }
    }
    None
}

/// The prefix of the `PREFIX/bin` that this very file lies in, symbolic links followed.
fn prefix() -> Result<Prefix, String> {
    let file = env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    let root = file
        .parent()
        .and_then(Path::parent)
        .ok_or_else(|| format!("{} is in no directory bin", file.display()))?;
    Ok(Prefix::new(root, root))
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
        let found = modules::directory(prefix, compiler);
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
    let mut flags = vec![format!("-L{}", prefix.library.display())];
    let runtime = prefix.runtime.display().to_string();
    let found_anyway = ["/usr/lib", "/lib"].contains(&runtime.as_str());
    if rpath && !found_anyway {
        if runtime.contains(',') {
            // `-Wl,` would cut it there.
            flags.extend(["-Xlinker", "-rpath", "-Xlinker", &runtime].map(str::to_owned));
        } else {
            flags.push(format!("-Wl,-rpath,{runtime}"));
        }
        flags.push("-Wl,--enable-new-dtags".to_owned());
    }
    flags.extend(language.libraries.iter().map(|name| format!("-l{name}")));
    flags.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_language() {
        let option = |name| language(name).map(|language| language.options[0]);
        assert_eq!(option("mpic++.oxmpi"), Ok("-cxx="));
        assert_eq!(option("x86_64-linux-gnu-mpif90"), Ok("-fc="));
        assert!(option("mpi").is_err());
    }

    #[test]
    fn the_standard_abi_is_another_header_and_library() {
        assert!(is_own_option("-abi=standard") && is_own_option("-mpi-abi"));
        assert_eq!(standard(&C).unwrap().libraries, ["mpi_abi"]);
        assert_eq!(standard(&CXX).unwrap().options, CXX.options);
        assert!(standard(&FORTRAN).is_err() && !is_own_option("-O2"));
    }

    #[test]
    fn a_sysroot_is_not_part_of_the_path_at_run_time() {
        let given = ["a.c", "--sysroot", "/target"].map(OsString::from);
        let sysroot = sysroot(&given).unwrap();
        let root = Path::new("/target/usr/local");
        let prefix = Prefix::new(root, root).in_sysroot(&sysroot);
        let link = quoted(&link_flags(&C, &prefix, true));
        assert!(
            link.starts_with("-L/target/usr/local/lib -Wl,-rpath,/usr/local/lib "),
            "{link}"
        );
    }
}
