//! An MPI library as the suite sees it: compiler, launcher, version, and where its programs are built.
//! Invariant: a program is compiled at most once in a run, and again only when it, the helper, or the
//! library's header is newer.

use crate::list::Line;
use crate::{Slots, parts};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

type Built = Arc<OnceLock<Result<PathBuf, String>>>;

pub struct Toolchain {
    pub name: String,
    pub cc: PathBuf,
    pub cxx: PathBuf,
    /// Or why there is none.
    pub fortran: Result<PathBuf, WithoutFortran>,
    pub mpiexec: PathBuf,
    /// Set for the ranks, so that a program built elsewhere finds this library.
    pub library_path: Option<PathBuf>,
    pub is_reference: bool,
    /// Programs are compiled for the standard ABI.
    pub standard_abi: bool,
    /// The launcher is not this library's own.
    pub foreign_launcher: bool,
    /// The ranks are on two nodes, with a fabric between them.
    pub over_fabric: bool,
    /// `MPI_VERSION.MPI_SUBVERSION` of its header.
    pub version: (u32, u32),
    build: PathBuf,
    stamp: SystemTime,
    built: Mutex<HashMap<String, Built>>,
}

/// The library under test.
pub fn stage(root: &Path, build: &Path) -> Result<Toolchain, String> {
    let prefix =
        std::env::var_os("OXMPI_STAGE").map_or_else(|| root.join("target/stage"), PathBuf::from);
    let prefix = std::path::absolute(&prefix).unwrap_or(prefix);
    let need = |name: &str| {
        let path = prefix.join(name);
        if path.exists() {
            Ok(path)
        } else {
            Err(format!("{} is not there", path.display()))
        }
    };
    let mpiexec = match std::env::var_os("C_SUITE_MPIEXEC") {
        Some(path) => path.into(),
        None => need("bin/mpiexec")?,
    };
    need("lib/libmpi.so.12")?;
    let abi = std::env::var("C_SUITE_ABI").unwrap_or_default();
    let mut stage = if abi == "standard" {
        let (cc, cxx) = (need("bin/mpicc_abi")?, need("bin/mpicxx_abi")?);
        let mut standard = toolchain("standard", cc, cxx, mpiexec, build)?;
        standard.standard_abi = true;
        standard
    } else if abi.contains('/') {
        let bin = PathBuf::from(&abi).join("bin");
        let name = format!("standard-of{}", abi.replace('/', "_"));
        let (cc, cxx) = (bin.join("mpicc_abi"), bin.join("mpicxx_abi"));
        let mut other = toolchain(&name, cc, cxx, mpiexec, build)?;
        other.standard_abi = true;
        other.library_path = Some(prefix.join("lib"));
        other
    } else if crate::flag("C_SUITE_ABI") {
        let mut debian = toolchain("debian-abi", "mpicc.mpich", "mpicxx.mpich", mpiexec, build)?;
        debian.library_path = Some(prefix.join("lib"));
        debian
    } else {
        let (cc, cxx) = (need("bin/mpicc")?, need("bin/mpicxx")?);
        // Programs remember where their library is: each prefix has its own, and each Fortran compiler.
        let fortran = std::env::var("C_SUITE_FC").unwrap_or_default();
        let name = match std::env::var_os("OXMPI_STAGE") {
            Some(_) => format!("oxmpi{}", prefix.display().to_string().replace('/', "-")),
            None => "oxmpi".to_owned(),
        };
        toolchain(&format!("{name}{fortran}"), cc, cxx, mpiexec, build)?
    };
    stage.is_reference = false;
    stage.foreign_launcher = std::env::var_os("C_SUITE_MPIEXEC").is_some();
    stage.over_fabric = crate::flag("C_SUITE_FABRIC");
    // Programs find the library when they start: only the header matters for what is compiled.
    if let Ok(changed) = prefix
        .join("include/mpi.h")
        .metadata()
        .and_then(|data| data.modified())
    {
        stage.stamp = changed;
    }
    Ok(stage)
}

/// The library that the programs are checked on, apart from oxmpi.
pub fn reference(build: &Path) -> Result<Toolchain, String> {
    let named = std::env::var("C_SUITE_REFERENCE").unwrap_or_default();
    if named.contains('/') {
        let bin = PathBuf::from(&named).join("bin");
        let name = format!("reference-{}", named.replace('/', "_"));
        return toolchain(
            &name,
            bin.join("mpicc"),
            bin.join("mpicxx"),
            bin.join("mpiexec"),
            build,
        );
    }
    toolchain(
        "reference",
        "mpicc.mpich",
        "mpicxx.mpich",
        "mpiexec.mpich",
        build,
    )
}

/// The wrapper `forbid`, compiled without any MPI.
pub fn forbid(source: &Path, build: &Path) -> Result<String, String> {
    let program = build.join("forbid").display().to_string();
    let status = Command::new("cc")
        .args(["-o", &program])
        .arg(source.join("wrappers/forbid.c"))
        .status()
        .map_err(|error| format!("cc: {error}"))?;
    match status.success() {
        true => Ok(program),
        false => Err("wrappers/forbid.c does not compile".into()),
    }
}

fn toolchain(
    name: &str,
    cc: impl Into<PathBuf>,
    cxx: impl Into<PathBuf>,
    mpiexec: impl Into<PathBuf>,
    build: &Path,
) -> Result<Toolchain, String> {
    let build = build.join(name);
    std::fs::create_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))?;
    let cc = cc.into();
    let fortran = PathBuf::from(cc.display().to_string().replace("mpicc", "mpifort"));
    Ok(Toolchain {
        name: name.into(),
        version: version(&cc, &build)?,
        cc,
        cxx: cxx.into(),
        fortran: has_fortran(&fortran).map(|()| fortran),
        mpiexec: mpiexec.into(),
        library_path: None,
        is_reference: true,
        standard_abi: false,
        foreign_launcher: false,
        over_fabric: false,
        build,
        stamp: SystemTime::UNIX_EPOCH,
        built: Mutex::default(),
    })
}

/// Why a wrapper compiles no Fortran, and the package that would help.
pub struct WithoutFortran {
    pub reason: String,
    pub package: Option<&'static str>,
}

fn has_fortran(wrapper: &Path) -> Result<(), WithoutFortran> {
    let without = |reason, package| Err(WithoutFortran { reason, package });
    if wrapper.is_absolute() && !wrapper.exists() {
        // There is no wrapper for the standard ABI.
        return without(format!("{} is not there", wrapper.display()), None);
    }
    let gfortran = Some("gfortran");
    if std::env::var_os("C_SUITE_FC").is_none() {
        // In one of our prefixes; MPICH's wrapper comes with its modules.
        let prefix = wrapper.ancestors().nth(2);
        let ours = prefix.filter(|prefix| prefix.join("lib/oxmpi").exists());
        match ours.map(parts::fortran) {
            Some(Err(reason)) => return without(reason, gfortran),
            None if !parts::has("gfortran") => {
                return without("gfortran is not there".into(), gfortran);
            }
            _ => (),
        }
    }
    let compiles = Command::new(wrapper).arg("--version").output();
    match compiles.is_ok_and(|output| output.status.success()) {
        true => Ok(()),
        false => without(format!("{} finds no compiler", wrapper.display()), gfortran),
    }
}

/// The header tells, through the preprocessor.
fn version(cc: &Path, build: &Path) -> Result<(u32, u32), String> {
    let probe = build.join("version.c");
    std::fs::write(
        &probe,
        "#include <mpi.h>\nversion MPI_VERSION MPI_SUBVERSION\n",
    )
    .map_err(|error| format!("{}: {error}", probe.display()))?;
    let output = Command::new(cc)
        .arg("-E")
        .arg(&probe)
        .output()
        .map_err(|error| format!("{}: {error}", cc.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text
        .lines()
        .rev()
        .find(|line| line.starts_with("version "))
        .map(|line| line.split_whitespace().collect())
        .unwrap_or_default();
    match words[..] {
        ["version", major, minor] => major.parse().ok().zip(minor.parse().ok()),
        _ => None,
    }
    .ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("{} cannot preprocess mpi.h:\n{errors}", cc.display())
    })
}

impl Toolchain {
    pub fn describe(&self) -> String {
        let (major, minor) = self.version;
        let (cc, mpiexec) = (self.cc.display(), self.mpiexec.display());
        format!("{} (MPI {major}.{minor}): {cc}, {mpiexec}", self.name)
    }

    /// The executable of a line's program. A compiler counts as a rank.
    pub fn compile(&self, source: &Path, line: &Line, ranks: &Slots) -> Result<PathBuf, String> {
        let key = format!("{} {}", line.program, line.compiler.join(" "));
        let cell = self.built.lock().unwrap().entry(key).or_default().clone();
        let build = || ranks.with(1, || self.build(source, line));
        cell.get_or_init(build).clone()
    }

    fn build(&self, source: &Path, line: &Line) -> Result<PathBuf, String> {
        let file = source.join(format!("{}.{}", line.program, line.extension));
        let helper = source.join("common");
        let flags = line.compiler.join("_").replace('/', "_");
        let program = self.build.join(format!("{}{flags}", line.program));
        let modified = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        let newest = [modified(&file), Some(self.stamp)];
        // Headers that all programs share, and those of one folder.
        let headers = [Some(helper.as_path()), file.parent()];
        let headers = headers
            .into_iter()
            .flatten()
            .filter_map(|folder| folder.read_dir().ok());
        let headers = headers.flatten().flatten().filter_map(|entry| {
            let path = entry.path();
            let extension = path.extension()?;
            (extension == "h" || extension == "inc").then(|| modified(&path))?
        });
        let newest = newest.into_iter().flatten().chain(headers).max();
        if modified(&program).is_some_and(|built| newest.is_some_and(|newest| built > newest)) {
            return Ok(program);
        }
        let directory = program.parent().unwrap_or(&self.build);
        std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
        let compiler = match (line.extension, &self.fortran) {
            ("cc", _) => &self.cxx,
            ("F90", Ok(fortran)) => fortran,
            _ => &self.cc,
        };
        let mut command = Command::new(compiler);
        if !line.compiler.iter().any(|flag| flag.starts_with("-std=")) && line.extension == "c" {
            command.arg("-std=gnu11");
        }
        // With mpif.h, and MPICH's module mpi, the compiler sees choice arguments of different types, and warns.
        let fortran = line.extension == "F90";
        let implicit = fortran
            && (self.is_reference
                || self.library_path.is_some()
                || line.compiler.iter().any(|flag| flag == "-DSTYLE_MPIF"));
        if fortran {
            // Modules of programs and styles have the same names.
            let modules = program.with_extension("modules");
            std::fs::create_dir_all(&modules).map_err(|error| error.to_string())?;
            command.arg("-J").arg(modules);
        }
        let other_compiler = std::env::var("C_SUITE_FC").ok().filter(|_| fortran);
        if let Some(compiler) = &other_compiler {
            command.arg(format!("-fc={compiler}"));
        } else {
            command.args(if fortran {
                [
                    "-fcheck=all",
                    "-ffree-line-length-none",
                    "-Wno-unused-function",
                ]
            } else {
                ["-Wextra", "-Wno-deprecated-declarations", "-pthread"]
            });
            command.arg("-Wall");
            command.args((!implicit).then_some("-Werror"));
        }
        command
            .args(["-g", "-O1"])
            .arg(format!("-I{}", source.join("common").display()))
            .args(&line.compiler);
        if self.is_reference {
            command.arg("-DREFERENCE");
        }
        if self.is_reference || self.library_path.is_some() {
            command.arg("-DMODULES_OF_REFERENCE");
        }
        if (self.is_reference || self.library_path.is_some()) && line.extension != "F90" {
            // gcc takes MPICH's MPI_STATUSES_IGNORE for an array that is too short.
            command.arg("-Wno-stringop-overflow");
        }
        // Written under another name first: a broken build leaves no program behind.
        let partial = program.with_extension("partial");
        command.arg("-o").arg(&partial).arg(&file);
        let output = command
            .output()
            .map_err(|error| format!("{}: {error}", compiler.display()))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("does not compile: {command:?}\n{text}"));
        }
        std::fs::rename(&partial, &program).map_err(|error| error.to_string())?;
        Ok(program)
    }
}
