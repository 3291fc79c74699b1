//! Names and lines of addresses in processes: `os::sites` of the library gives the addresses.
//!
//! Invariant: returns after a limited time, whatever the files are. So another process reads them, this program with the argument
//! [`PART`]: it is ended when the time is over, and a file that is cut short meanwhile is its end and not ours. What it has said by then
//! counts.

mod code;
mod maps;

use code::Code;
use maps::Mapping;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
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
        OWN.iter().any(|name| self.module_name().starts_with(name))
            || is_wrapper
                .iter()
                .any(|name| self.function.starts_with(name))
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

/// The places of addresses of processes, in their order.
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
    let answers = ask(wanted, limit).unwrap_or_default();
    let mut rest = answers.as_slice();
    while let Some((answer, behind)) = take_answer(rest) {
        rest = behind;
        let list = all.get_mut(answer.process as usize);
        if let Some(places) = list.and_then(|it| it.get_mut(answer.address as usize)) {
            *places = answer.places;
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

fn take_answer(bytes: &[u8]) -> Option<(Answer, &[u8])> {
    let (answer, rest) = postcard::take_from_bytes::<Answer>(bytes).ok()?;
    (!answer.places.is_empty()).then_some((answer, rest))
}

/// Asks another process; what it has written in this time.
fn ask(wanted: &[(i32, Vec<u64>)], limit: Duration) -> io::Result<Vec<u8>> {
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
    let wanted = postcard::from_bytes::<Vec<(i32, Vec<u64>)>>(&bytes);
    let (Ok(_), Ok(wanted)) = (read, wanted) else {
        eprintln!("mpiexec: {PART} is for mpiexec alone");
        return 1;
    };
    let mut output = io::stdout();
    let done = answer_all(&wanted, &mut |answer| {
        let bytes = postcard::to_allocvec(&answer).map_err(io::Error::other)?;
        output.write_all(&bytes)?;
        output.flush()
    });
    i32::from(done.is_err())
}

/// Says of each address first what takes no time, its module.
fn answer_all(
    wanted: &[(i32, Vec<u64>)],
    say: &mut dyn FnMut(Answer) -> io::Result<()>,
) -> io::Result<()> {
    let mut later = Vec::new();
    for (process, (pid, addresses)) in wanted.iter().enumerate() {
        let maps = maps::of_process(*pid);
        for (at, address) in addresses.iter().enumerate() {
            let mapping = maps.iter().find(|it| it.addresses.contains(address));
            let Some(mapping) = mapping.filter(|it| !it.name.is_empty()) else {
                continue;
            };
            let offset = address - mapping.addresses.start + mapping.offset;
            let places = vec![Place {
                module: mapping.name.clone(),
                offset,
                ..Place::default()
            }];
            let (process, address) = (process as u32, at as u32);
            say(Answer {
                process,
                address,
                places,
            })?;
            if let Some((file, root)) = file_of(*pid, mapping) {
                later.push((process, address, file, root, mapping.name.clone(), offset));
            }
        }
    }
    let mut known: HashMap<PathBuf, Option<Code>> = HashMap::new();
    for (process, address, file, root, module, offset) in later {
        let code = known
            .entry(file)
            .or_insert_with_key(|file| Code::open(file, &root));
        let Some(code) = code else {
            continue;
        };
        let place = |named: code::Named| Place {
            function: named.function,
            file: named.file,
            line: named.line,
            module: module.clone(),
            offset: named.distance,
        };
        let places: Places = code.at(offset).into_iter().map(place).collect();
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
