//! Names and lines of addresses in processes: `os::sites` of the library gives the addresses.
//!
//! Invariant: returns after a limited time, whatever the files are. So another process reads them, this program with the argument
//! [`PART`]: it is ended when the time is over, and a file that is cut short meanwhile is its end and not ours. What it has said by then
//! counts.

mod code;
mod maps;
mod stack;

use code::{Code, Exported};
use maps::Mapping;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Formatter};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The word by which an mpiexec knows that it is to name places.
pub const PART: &str = "-name-places";

/// For all addresses of one question.
pub const LIMIT: Duration = Duration::from_secs(2);

/// For all stacks of one question.
pub const STACKS_LIMIT: Duration = Duration::from_secs(10);

/// What the other process is asked.
#[derive(Serialize, Deserialize)]
enum Question {
    /// Addresses of processes.
    Addresses(Vec<(i32, Vec<u64>)>),
    /// The stacks of these processes.
    Stacks(Vec<i32>),
}

/// A thread of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    pub thread: String,
    pub is_main: bool,
    /// The innermost frame first.
    pub frames: Vec<Places>,
}

/// The threads of a process, or why they cannot be seen.
pub type Stacks = Result<Vec<Stack>, String>;

/// What an address is, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Nothing if no table has its name.
    pub function: String,
    /// The source as the compiler was given it; nothing if there is no table of lines.
    pub file: String,
    /// 0 is none.
    pub line: u32,
    /// The program or library; nothing for an address that is in no file.
    pub module: String,
    /// From the start of the function, or of the module where there is no function, or the address.
    pub offset: u64,
}

/// The places at an address: the innermost of functions that the compiler has put into each other first. At least one.
pub type Places = Vec<Place>;

/// Libraries of ours, without what follows.
const OWN: [&str; 6] = [
    "libmpi.so",
    "libmpi_abi.so",
    "libmpich.so",
    "libmpifort.so",
    "libmpichfort.so",
    "libmpicxx.so",
];

impl Place {
    fn module_name(&self) -> &str {
        last_part(&self.module)
    }

    /// Whether it is on the way from the program to the library: a wrapper of ours or of a tool.
    pub fn is_of_mpi(&self) -> bool {
        let is_wrapper = ["MPI_", "PMPI_", "MPIX_", "PMPIX_", "MPI::"];
        self.is_of_library()
            || is_wrapper
                .iter()
                .any(|name| self.function.starts_with(name))
    }
}

/// Libraries of the system, by the beginnings of their names.
const SYSTEM: [&str; 6] = ["libc.", "libc-", "libpthread", "ld-", "[vdso]", "libm."];

impl Place {
    /// Whether it is in a library of ours.
    pub fn is_of_library(&self) -> bool {
        OWN.iter().any(|name| self.module_name().starts_with(name))
    }

    pub fn is_of_system(&self) -> bool {
        SYSTEM
            .iter()
            .any(|name| self.module_name().starts_with(name))
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Display for Place {
    /// `halo.c:88 in exchange`, or as much of it as there is.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let (function, file, module) = (&self.function, last_part(&self.file), self.module_name());
        match (file, self.line, function.as_str(), module) {
            ("", _, "", "") => write!(formatter, "{:#x}", self.offset),
            ("", _, "", module) => write!(formatter, "{module}+{:#x}", self.offset),
            ("", _, function, module) => {
                write!(formatter, "{function}+{:#x} in {module}", self.offset)
            }
            (file, line, "", _) => write!(formatter, "{file}:{line}"),
            (file, 0, function, _) => write!(formatter, "{function} of {file}"),
            (file, line, function, _) => write!(formatter, "{file}:{line} in {function}"),
        }
    }
}

/// Where the program is on a stack, given innermost first: the first place that is no wrapper.
pub fn of_program(stack: &[Places]) -> Option<&Place> {
    let mut places = stack.iter().flatten();
    places.find(|place| !place.is_of_mpi())
}

/// The places of addresses of processes, in their order. Each list is a stack, innermost first, of which only the first place of the program is of
/// interest ([`of_program`]): of what is around it only the module is known.
pub fn resolve(wanted: &[(i32, Vec<u64>)], limit: Duration) -> Vec<Vec<Places>> {
    let bare = |address: &u64| {
        vec![Place {
            offset: *address,
            ..Place::default()
        }]
    };
    let mut all: Vec<Vec<Places>> = wanted
        .iter()
        .map(|(_, addresses)| addresses.iter().map(bare).collect())
        .collect();
    let question = Question::Addresses(wanted.to_vec());
    let answers = ask(&question, limit).unwrap_or_default();
    let mut rest = answers.as_slice();
    while let Ok((answer, behind)) = postcard::take_from_bytes::<Answer>(rest) {
        rest = behind;
        let list = all.get_mut(answer.process as usize);
        let places = list.and_then(|it| it.get_mut(answer.address as usize));
        if let Some(places) = places.filter(|_| !answer.places.is_empty()) {
            *places = answer.places;
        }
    }
    all
}

/// The stacks of processes, in their order. Each thread is stopped for a moment.
pub fn stacks(pids: &[i32], limit: Duration) -> Vec<Stacks> {
    let asked = ask(&Question::Stacks(pids.to_vec()), limit);
    let late = || Err("the time for stacks is over".to_owned());
    let mut all: Vec<Stacks> = pids.iter().map(|_| late()).collect();
    let answers = match asked {
        Ok(answers) => answers,
        Err(error) => return pids.iter().map(|_| Err(error.to_string())).collect(),
    };
    let mut rest = answers.as_slice();
    while let Ok((answer, behind)) = postcard::take_from_bytes::<(u32, Stacks)>(rest) {
        rest = behind;
        if let Some(stacks) = all.get_mut(answer.0 as usize) {
            *stacks = answer.1;
        }
    }
    all
}

/// One answer; a later one to the same address is better.
#[derive(Serialize, Deserialize)]
struct Answer {
    /// Positions in the question.
    process: u32,
    address: u32,
    places: Places,
}

/// Asks another process; what it has written in this time.
fn ask(wanted: &Question, limit: Duration) -> io::Result<Vec<u8>> {
    let end = Instant::now() + limit;
    // Files take whatever is written, so nobody has to read meanwhile.
    let mut question = File::from(memfd_create("addresses", MemfdFlags::CLOEXEC)?);
    let mut answers = File::from(memfd_create("places", MemfdFlags::CLOEXEC)?);
    question.write_all(&postcard::to_allocvec(wanted).map_err(io::Error::other)?)?;
    question.rewind()?;
    let mut child = Command::new(program())
        .arg(PART)
        .stdin(question)
        .stdout(answers.try_clone()?)
        .stderr(Stdio::null())
        .spawn()?;
    while child.try_wait()?.is_none() {
        if Instant::now() >= end {
            let _ = child.kill();
            let _ = child.wait();
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut bytes = Vec::new();
    answers.rewind()?;
    answers.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// This program. Where it was replaced since, as by an update, the kernel still has it.
fn program() -> PathBuf {
    let own = std::env::current_exe().ok().filter(|file| file.is_file());
    own.unwrap_or_else(|| "/proc/self/exe".into())
}

/// The process that reads the files: the question on standard input, answers on standard output. Its exit code.
pub fn answer() -> i32 {
    let mut bytes = Vec::new();
    let read = io::stdin().read_to_end(&mut bytes);
    let wanted = postcard::from_bytes::<Question>(&bytes);
    let (Ok(_), Ok(wanted)) = (read, wanted) else {
        eprintln!("mpiexec: {PART} is for mpiexec alone");
        return 1;
    };
    let mut output = io::stdout();
    let mut write = |bytes: postcard::Result<Vec<u8>>| {
        output.write_all(&bytes.map_err(io::Error::other)?)?;
        output.flush()
    };
    let done = match wanted {
        Question::Addresses(wanted) => {
            answer_all(&wanted, &mut |answer| write(postcard::to_allocvec(&answer)))
        }
        Question::Stacks(pids) => all_stacks(&pids, &mut |process, stacks| {
            write(postcard::to_allocvec(&(process, stacks)))
        }),
    };
    i32::from(done.is_err())
}

/// Looks at all first, so that they are seen at about the same time.
fn all_stacks(pids: &[i32], say: &mut dyn FnMut(u32, Stacks) -> io::Result<()>) -> io::Result<()> {
    let seen: Vec<_> = pids.iter().map(|pid| stack::threads(*pid)).collect();
    let mut known = stack::Known::default();
    let mut codes = Codes::default();
    for (process, (pid, threads)) in pids.iter().zip(seen).enumerate() {
        let stacks = threads.map(|threads| {
            let files = stack::Files::of_process(*pid, &mut known);
            let maps = maps::of_process(*pid);
            let named = threads.into_iter().map(|thread| {
                let addresses = files.addresses(&thread);
                let frames = addresses.into_iter().map(|address| {
                    let Some((bare, file)) = place_of(*pid, &maps, address) else {
                        return vec![Place {
                            offset: address,
                            ..Place::default()
                        }];
                    };
                    let places = file.map(|file| codes.places(file, &bare));
                    places.filter(|it| !it.is_empty()).unwrap_or(vec![bare])
                });
                Stack {
                    frames: frames.collect(),
                    thread: thread.name,
                    is_main: thread.is_main,
                }
            });
            named.collect()
        });
        say(process as u32, stacks)?;
    }
    Ok(())
}

/// Says of each address first what takes no time, its module; then what is at the first of each list that is the program's. The others are not
/// named: their files may have tables of many megabytes.
fn answer_all(
    wanted: &[(i32, Vec<u64>)],
    say: &mut dyn FnMut(Answer) -> io::Result<()>,
) -> io::Result<()> {
    let mut later = Vec::new();
    for (process, (pid, addresses)) in wanted.iter().enumerate() {
        let maps = maps::of_process(*pid);
        for (at, address) in addresses.iter().enumerate() {
            let Some((bare, file)) = place_of(*pid, &maps, *address) else {
                continue;
            };
            let (process, address) = (process as u32, at as u32);
            let places = vec![bare.clone()];
            say(Answer {
                process,
                address,
                places,
            })?;
            if let Some(file) = file {
                later.push((process, address, file, bare));
            }
        }
    }
    let mut codes = Codes::default();
    let mut found = HashSet::new();
    for (process, address, file, bare) in later {
        if bare.is_of_library() || found.contains(&process) {
            continue;
        }
        let places = codes.places(file, &bare);
        if !places.iter().all(Place::is_of_mpi) || places.is_empty() {
            found.insert(process);
        }
        if !places.is_empty() {
            say(Answer {
                process,
                address,
                places,
            })?;
        }
    }
    Ok(())
}

/// The module of an address and the offset in its file, and that file, with the root directory of its process.
fn place_of(
    pid: i32,
    maps: &[Mapping],
    address: u64,
) -> Option<(Place, Option<(PathBuf, PathBuf)>)> {
    let mapping = maps.iter().find(|it| it.addresses.contains(&address));
    let mapping = mapping.filter(|it| !it.name.is_empty())?;
    let place = Place {
        module: mapping.name.clone(),
        offset: address - mapping.addresses.start + mapping.offset,
        ..Place::default()
    };
    Some((place, file_of(pid, mapping)))
}

/// Files that were read.
#[derive(Default)]
struct Codes {
    known: HashMap<PathBuf, Option<Code>>,
    /// Of libraries of ours only the function that was called is of interest.
    own: HashMap<PathBuf, Option<Exported>>,
}

impl Codes {
    /// What is at a place of a file of which only the offset is known.
    fn places(&mut self, (file, root): (PathBuf, PathBuf), bare: &Place) -> Places {
        if bare.is_of_library() {
            let own = self.own.entry(file);
            let own = own.or_insert_with_key(|file| Exported::open(file));
            let function = own.as_ref().and_then(|own| own.at(bare.offset));
            let place = |(function, offset): (&str, u64)| Place {
                function: function.to_owned(),
                module: bare.module.clone(),
                offset,
                ..Place::default()
            };
            return function.map(place).into_iter().collect();
        }
        let code = self.known.entry(file);
        let code = code.or_insert_with_key(|file| Code::open(file, &root));
        let named = code.as_ref().map(|code| code.at(bare.offset));
        let place = |named: code::Named| Place {
            function: named.function,
            file: named.file,
            line: named.line,
            module: bare.module.clone(),
            offset: named.distance,
        };
        named.into_iter().flatten().map(place).collect()
    }
}

/// The file of a mapping, and the root directory of its process: as the process sees it, which may be in a container.
fn file_of(pid: i32, mapping: &Mapping) -> Option<(PathBuf, PathBuf)> {
    let inside = mapping.name.strip_prefix('/')?;
    if mapping.is_deleted {
        // The program itself can still be read; what has taken the place of a library is another build.
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let is_program = program.to_string_lossy() == format!("{} (deleted)", mapping.name);
        return is_program.then(|| (format!("/proc/{pid}/exe").into(), "/".into()));
    }
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let is_own = std::fs::read_link(&root).is_ok_and(|root| root == Path::new("/"));
    // By the plain name, one file is read once for all ranks.
    let plain = PathBuf::from(&mapping.name);
    if is_own && same_namespace(pid) || !root.join(inside).is_file() {
        return Some((plain, "/".into()));
    }
    Some((root.join(inside), root))
}

fn same_namespace(pid: i32) -> bool {
    let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    of("self").is_some() && of("self") == of(&pid.to_string())
}

#[cfg(test)]
mod tests;
