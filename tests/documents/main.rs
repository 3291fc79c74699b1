//! The documents, tried: every command of README, the other pages and the man pages is run on the staged prefix, links lead
//! somewhere, and variables, options and messages that are mentioned exist.
//!
//! A fenced block of commands is marked `sh`; it is run as one script that stops at the first failure. `sh skip=REASON` is not
//! run, which is printed. Commands of man pages are their examples.

mod blocks;
mod names;
mod packages;
#[path = "../harness/parts.rs"]
mod parts;

use blocks::{Block, blocks, examples};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

/// Seconds that each line of a script may take, so that nothing hangs.
const LIMIT: usize = 60;

/// The prefix that `make` stages, and a folder with what the commands of the documents need.
struct Stage {
    prefix: PathBuf,
    folder: PathBuf,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Jobs of two to four ranks each.
    arguments.test_threads.get_or_insert(1);
    let stage = match Stage::find() {
        Ok(stage) => Arc::new(stage),
        Err(text) => {
            eprintln!("documents: {text}");
            eprintln!("documents: run `make` first, or name a prefix in OXMPI_STAGE");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = vec![
        Trial::test("pages_are_read", || {
            blocks::pages_are_read();
            Ok(())
        }),
        Trial::test("packages", || no_mistakes(packages::mistakes())),
        Trial::test("packages/scripts", {
            let stage = stage.clone();
            move || no_mistakes(packages::scripts(&stage.folder))
        }),
        Trial::test("links", || no_mistakes(links())),
        Trial::test("blocks_are_marked", || no_mistakes(unmarked())),
        Trial::test("messages", || no_mistakes(names::messages(root()))),
        Trial::test("variables", {
            let stage = stage.clone();
            move || no_mistakes(names::variables(root(), &stage.says(&["-info"])))
        }),
        Trial::test("man_pages_are_installed", {
            let stage = stage.clone();
            move || no_mistakes(stage.programs_without_page())
        }),
        Trial::test("options_of_wrappers", {
            let stage = stage.clone();
            move || no_mistakes(stage.options_not_taken())
        }),
        Trial::test("options", || no_mistakes(names::options(root()))),
    ];
    for judge in JUDGES {
        let name = format!("man_pages_by/{}", judge[0]);
        trials.push(Trial::test(name.clone(), move || {
            match parts::has_all(&name, &judge[..1]) {
                true => no_mistakes(judged(judge)),
                false => Ok(()),
            }
        }));
    }
    for page in pages().into_iter().chain(man_pages()) {
        let commands = commands(&page);
        if commands.is_empty() {
            continue;
        }
        let name = format!("commands/{}", shown(&page));
        let stage = stage.clone();
        trials.push(Trial::test(name, move || stage.run_all(&page, &commands)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The pages of the project, the man pages aside.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "benches", "c-tests"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let paths = entries.flatten().map(|entry| entry.path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    found.sort();
    found
}

fn man_pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs/man")).unwrap();
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Programs that read man pages, with the options by which they warn of everything. Their packages have their names.
const JUDGES: [&[&str]; 2] = [
    &["groff", "-man", "-Tutf8", "-ww", "-z"],
    &["mandoc", "-Tlint", "-Wwarning"],
];

/// What a judge says of the man pages.
fn judged(judge: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for page in man_pages() {
        let mut command = Command::new(judge[0]);
        let output = command.args(&judge[1..]).arg(&page).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        if !said.trim_ascii().is_empty() || !output.status.success() {
            let said = String::from_utf8_lossy(&said);
            found.push(format!("{}: {}: {said}", shown(&page), output.status));
        }
    }
    found
}

fn shown(page: &Path) -> String {
    let below = page.strip_prefix(root()).unwrap_or(page);
    below.display().to_string()
}

fn commands(page: &Path) -> Vec<Block> {
    let text = fs::read_to_string(page).unwrap();
    match page.extension().is_some_and(|it| it == "md") {
        true => blocks(&text)
            .into_iter()
            .filter(|block| block.language() == "sh")
            .collect(),
        false => examples(&text),
    }
}

fn no_mistakes(found: Vec<String>) -> Result<(), Failed> {
    match found.is_empty() {
        true => Ok(()),
        false => Err(found.join("\n").into()),
    }
}

/// Commands that are not marked would never be tried.
fn unmarked() -> Vec<String> {
    const PROGRAMS: &[&str] = &[
        "mpiexec",
        "mpirun",
        "mpicc",
        "mpifort",
        "make",
        "cargo",
        "pip",
        ".ci/setup",
    ];
    let mut found = Vec::new();
    for page in pages() {
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            let first = block.text.split_whitespace().next().unwrap_or_default();
            if block.information.is_empty() && PROGRAMS.contains(&first) {
                found.push(format!(
                    "{}:{}: a block of commands is not marked `sh`",
                    shown(&page),
                    block.line
                ));
            }
        }
    }
    found
}

/// Links that lead nowhere: files that are not there, headings that a page does not have.
fn links() -> Vec<String> {
    let (mut found, mut seen) = (Vec::new(), 0);
    for page in pages() {
        for (line, target) in blocks::links(&fs::read_to_string(&page).unwrap()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = match path.is_empty() {
                true => page.clone(),
                false => page.parent().unwrap().join(path),
            };
            let place = format!("{}:{line}: ", shown(&page));
            if !file.exists() {
                found.push(format!("{place}{target} is not there"));
                continue;
            }
            if !heading.is_empty() {
                let text = fs::read_to_string(&file).unwrap_or_default();
                let headings: BTreeSet<String> = blocks::anchors(&text).collect();
                if !headings.contains(heading) {
                    found.push(format!("{place}{target}: no such heading"));
                }
            }
        }
    }
    if seen < 20 {
        found.push(format!(
            "only {seen} links were found: is the search broken?"
        ));
    }
    found
}

impl Stage {
    fn find() -> Result<Stage, String> {
        let prefix = std::env::var_os("OXMPI_STAGE")
            .map_or_else(|| root().join("target/stage"), PathBuf::from);
        let prefix = std::path::absolute(&prefix).map_err(|error| error.to_string())?;
        for name in ["bin/mpiexec", "bin/mpicc", "lib/libmpi.so.12"] {
            let path = prefix.join(name);
            if !path.exists() {
                return Err(format!("{} is not there", path.display()));
            }
        }
        let folder = std::env::temp_dir().join(format!("oxmpi-documents-{}", std::process::id()));
        let stage = Stage { prefix, folder };
        stage.prepare().map_err(|error| error.to_string())?;
        Ok(stage)
    }

    /// What the commands name: sources and programs, and target/stage where `make` puts it.
    fn prepare(&self) -> std::io::Result<()> {
        use std::os::unix::fs::symlink;
        fs::create_dir_all(self.folder.join("target"))?;
        symlink(&self.prefix, self.folder.join("target/stage"))?;
        symlink(root().join("docs"), self.folder.join("docs"))?;
        fs::copy(root().join("docs/demo.c"), self.folder.join("demo.c"))?;
        for name in ["hang.c", "forgets.c"] {
            fs::copy(
                root().join("tests/documents").join(name),
                self.folder.join(name),
            )?;
        }
        let script = "mpicc demo.c -o demo; mpicc hang.c -o hang; mpicc -g forgets.c -o forgets; mpicc -norpath demo.c -o program-built-for-mpich";
        match self.script(script, 4) {
            Ok(()) => Ok(()),
            Err(text) => Err(std::io::Error::other(text)),
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}/bin:{path}", self.prefix.display()))
            .env("PREFIX", &self.prefix)
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        for name in [
            "LD_LIBRARY_PATH",
            "OXMPI_RPATH",
            "OMP_NUM_THREADS",
            "HYDRA_HOST_FILE",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Names in bin that `man` knows nothing of; the program behind the wrappers is called by their names only.
    fn programs_without_page(&self) -> Vec<String> {
        let names = fs::read_dir(self.prefix.join("bin")).unwrap().flatten();
        let names = names.map(|it| it.file_name().to_string_lossy().into_owned());
        let pages = self.prefix.join("share/man/man1");
        let missing =
            names.filter(|name| name != "oxmpicc" && !pages.join(format!("{name}.1")).exists());
        missing
            .map(|name| format!("{name} has no page in share/man/man1"))
            .collect()
    }

    /// Options in mpicc(1) that the wrappers hand on to the compiler: they do not know them.
    fn options_not_taken(&self) -> Vec<String> {
        let (mut found, mut seen) = (Vec::new(), 0);
        for option in names::of_wrappers(root()) {
            seen += 1;
            let given = match option.chars().last() {
                Some('=') => format!("{option}cc"),
                Some(':') => format!("{option}link"),
                _ => option.clone(),
            };
            let wrapper = match option.as_str() {
                "-cxx=" => "mpicxx",
                "-fc=" => "mpifort",
                // It would compile them.
                "-make-modules" => continue,
                _ => "mpicc",
            };
            let output = self
                .command(wrapper)
                .args([given.as_str(), "demo.c", "-show"])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            // A file or library of this name is not there, which the wrapper itself says.
            let complaint = format!("{wrapper}: {option}");
            let complains = String::from_utf8_lossy(&output.stderr).starts_with(&complaint);
            let refused = !output.status.success() && !complains;
            if refused || said.split_whitespace().any(|word| word == given) && option != "-help" {
                found.push(format!("{wrapper} does not take {given}: {output:?}"));
            }
        }
        if seen < 8 {
            found.push(format!(
                "only {seen} options were found: is the search broken?"
            ));
        }
        found
    }

    /// What mpiexec says to an option.
    fn says(&self, options: &[&str]) -> String {
        let output = self.command("mpiexec").args(options).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Errors: what the script said.
    fn script(&self, text: &str, lines: usize) -> Result<(), String> {
        let limit = (LIMIT * lines.max(1)).to_string();
        let output = self
            .command("timeout")
            .args(["-k", "1", &limit, "sh", "-e", "-c", text])
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(format!(
            "{text}\n{} (limit {limit} s)\n{}",
            output.status,
            String::from_utf8_lossy(&said)
        ))
    }

    fn run_all(&self, page: &Path, commands: &[Block]) -> Result<(), Failed> {
        for block in commands {
            let place = format!("{}:{}", shown(page), block.line);
            if let Some(reason) = block.skipped() {
                eprintln!("skipped: {place}: {reason}");
                continue;
            }
            let lines = block.text.lines().filter(|line| !line.trim().is_empty());
            self.script(&block.text, lines.count())
                .map_err(|text| format!("{place}: {text}"))?;
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // `exit_code` returns, so this runs.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
