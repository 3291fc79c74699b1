//! Compiler and flags that users keep outside of the command: variables, `-config=` and `-profile=`.
//!
//! Flags of variables are added to the wrapper's own; Open MPI's wrappers put them in place of theirs, ours would
//! not find MPI then.

use super::call::Call;
use super::{Language, Prefix};
use crate::mpiexec::words;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// What goes into each command.
#[derive(Default)]
pub struct Settings {
    /// From a configuration file; variables that name one are looked up where no file and no option does.
    pub compiler: Option<String>,
    pub compile: Vec<OsString>,
    link: Vec<OsString>,
    /// Libraries in front of MPI's, and after it.
    before: Vec<OsString>,
    after: Vec<OsString>,
}

impl Settings {
    /// Errors: a file that is not there or cannot be understood, a quote that is not closed.
    pub fn of(
        language: &Language,
        name: &str,
        prefix: &Prefix,
        call: &Call,
    ) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let mut config = BTreeMap::new();
        if let Some(wanted) = &call.config {
            let wrapper = name.split('.').next().unwrap_or(name);
            let file = format!("{wrapper}-{wanted}.conf");
            let Some(path) = find(prefix, &file) else {
                return Err(format!(
                    "-config={wanted}: there is no {}; it has lines such as {}={} or {}=-O2",
                    places(prefix, &file),
                    language.setting,
                    language.compilers[0],
                    language.flags
                ));
            };
            config = read(&path)?;
            settings.compiler = config.get(language.setting).map(|words| words.join(" "));
        }
        let flags = |name: &str| match config.get(name) {
            Some(words) => Ok(words.iter().map(OsString::from).collect()),
            None => from_environment(name),
        };
        settings.compile = flags("CPPFLAGS")?;
        settings.compile.extend(flags(language.flags)?);
        settings.link = flags("LDFLAGS")?;
        settings.after = flags("LIBS")?;
        let variable = format!(
            "{}_PROFILE",
            name.split('.').next().unwrap_or(name).to_uppercase()
        );
        let profile = (call.profile.clone()).or_else(|| env::var(&variable).ok());
        if let Some(profile) = profile.filter(|profile| !profile.is_empty()) {
            settings.add_profile(prefix, &profile)?;
        }
        Ok(settings)
    }

    /// A file of that name says what to add, or a library of that name lies beside MPI's.
    fn add_profile(&mut self, prefix: &Prefix, name: &str) -> Result<(), String> {
        let file = format!("{name}.conf");
        if let Some(path) = find(prefix, &file) {
            let mut lines = read(&path)?;
            let mut take = |key: &str| lines.remove(key).unwrap_or_default().into_iter();
            self.compile
                .extend(take("PROFILE_INCPATHS").map(OsString::from));
            self.before
                .extend(take("PROFILE_PRELIB").map(OsString::from));
            let after: Vec<OsString> = take("PROFILE_POSTLIB").map(OsString::from).collect();
            self.after.splice(0..0, after);
            return Ok(());
        }
        let library = |ending: &str| (prefix.library.join(format!("lib{name}.{ending}"))).is_file();
        if library("so") || library("a") {
            self.before.push(format!("-l{name}").into());
            return Ok(());
        }
        Err(format!(
            "-profile={name}: there is neither {} nor {}/lib{name}.so; the file has lines such as PROFILE_PRELIB=-l{name}",
            places(prefix, &file),
            prefix.library.display()
        ))
    }

    /// The flags that link, those of the library in the middle: `-L`, then all that is not a library of MPI.
    pub fn around(&self, own: Vec<OsString>) -> Vec<OsString> {
        let library = |flag: &OsString| flag.to_str().is_some_and(|text| text.starts_with("-l"));
        let (libraries, mut flags): (Vec<_>, Vec<_>) = own.into_iter().partition(library);
        flags.extend_from_slice(&self.link);
        flags.extend_from_slice(&self.before);
        flags.extend(libraries);
        flags.extend_from_slice(&self.after);
        flags
    }
}

/// Folders of configuration files, the first that has one wins. `/etc/oxmpi` is for packages of a distribution.
fn folders(prefix: &Prefix) -> [PathBuf; 2] {
    [prefix.root.join("etc"), PathBuf::from("/etc/oxmpi")]
}

fn find(prefix: &Prefix, file: &str) -> Option<PathBuf> {
    folders(prefix)
        .into_iter()
        .map(|folder| folder.join(file))
        .find(|path| path.is_file())
}

fn places(prefix: &Prefix, file: &str) -> String {
    let [own, general] = folders(prefix).map(|folder| folder.join(file).display().to_string());
    format!("{own} or {general}")
}

/// Lines `NAME=words`, quoted as in a shell.
fn read(path: &PathBuf) -> Result<BTreeMap<String, Vec<String>>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = BTreeMap::new();
    for (number, line) in words::logical_lines(&text) {
        let failed = |what: String| format!("{}:{number}: {what}", path.display());
        let line = line.trim();
        let (name, value) = (line.strip_prefix("export ").unwrap_or(line))
            .split_once('=')
            .ok_or_else(|| failed(format!("{line:?} is not NAME=value")))?;
        // `CFLAGS="-O2 -g"` is two words, as in a shell that then uses $CFLAGS.
        let mut found = Vec::new();
        for quoted in words::split(value).map_err(failed)? {
            found.extend(words::split(&quoted).map_err(failed)?);
        }
        lines.insert(name.trim().to_owned(), found);
    }
    Ok(lines)
}

/// The variable of that name with our prefix, or else MPICH's or Open MPI's.
fn from_environment(name: &str) -> Result<Vec<OsString>, String> {
    for prefix in ["OXMPI", "MPICH", "OMPI"] {
        let variable = format!("{prefix}_{name}");
        if let Ok(value) = env::var(&variable) {
            let found = words::split(&value).map_err(|what| format!("{variable}: {what}"))?;
            return Ok(found.into_iter().map(OsString::from).collect());
        }
    }
    Ok(Vec::new())
}
