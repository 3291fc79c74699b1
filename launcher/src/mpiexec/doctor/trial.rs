//! What the doctor tries with real processes of this program: which library the loader takes, whether one process reads
//! another one's memory, and a job of two ranks. The library is loaded by the ranks alone; mpiexec is linked with none.
//!
//! Invariant: no process outlives the doctor: each ends with its input or by itself, and the job has a time limit.
#![allow(unsafe_code)]

use super::{Finding, PART};
use oxmpi::os::library::Library;
use oxmpi::os::{peer_memory, process};
use std::ffi::{OsString, c_char, c_int, c_void};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the parts exchange.
const PATTERN: &[u8; 16] = b"oxmpi's doctor.\n";
/// Seconds that the job of two ranks may take, on however busy a machine.
const TIME_LIMIT: &str = "30";
const SONAME: &str = "libmpi.so.12";

/// A library of MPI that a process could load.
#[derive(Debug, PartialEq, Eq)]
pub struct Loaded {
    pub file: PathBuf,
    /// The first line of MPI_Get_library_version.
    pub version: String,
}

/// The library that belongs to this mpiexec.
pub fn own_library() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let file = own.parent()?.parent()?.join("lib").join(SONAME);
    file.exists().then_some(file)
}

fn command(part: &str) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args([PART, part]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// The library that a program without a run path gets from here.
pub fn loaded() -> Option<Loaded> {
    let output = command("load").ok()?.arg(SONAME).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    Some(Loaded {
        file: lines.next()?.into(),
        version: lines
            .next()?
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    })
}

/// Whether one of two processes, both started by this one as ranks are, can read the other's memory.
pub fn cross_memory() -> Result<(), String> {
    let mut holder = command("hold")?;
    let text = |error: std::io::Error| error.to_string();
    let mut holder = holder
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(text)?;
    let mut address = String::new();
    if let Some(output) = holder.stdout.take() {
        BufReader::new(output)
            .read_line(&mut address)
            .map_err(text)?;
    }
    let pid = holder.id().to_string();
    let reader =
        command("read").and_then(|mut it| it.args([&pid, address.trim()]).output().map_err(text));
    // The end of its input ends it.
    drop(holder.stdin.take());
    holder.wait().map_err(text)?;
    let said = String::from_utf8_lossy(&reader?.stdout).trim().to_owned();
    match said.as_str() {
        "read" => Ok(()),
        "" => Err("the process that was to read ended without a word".into()),
        error => Err(error.to_owned()),
    }
}

pub fn findings() -> Vec<Finding> {
    vec![judge(run_job())]
}

/// Nanoseconds of a message of 8 bytes, or what the job said.
fn run_job() -> Result<u64, String> {
    let text = |error: std::io::Error| error.to_string();
    let own = std::env::current_exe().map_err(text)?;
    let library = own_library().unwrap_or_else(|| SONAME.into());
    let output = Command::new(&own)
        // Whatever host file or allocation there is: the page is of this machine.
        .args(["-hosts", "localhost", "-n", "2", "-timeout", TIME_LIMIT])
        .arg(&own)
        .args([PART, "rank"])
        .arg(library)
        .stdin(Stdio::null())
        .output()
        .map_err(text)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    match (output.status.success(), said.trim().parse()) {
        (true, Ok(nanoseconds)) => Ok(nanoseconds),
        _ => Err(match errors.trim().is_empty() {
            true => format!("the job ended with {} and said nothing", output.status),
            false => errors.lines().take(4).collect::<Vec<_>>().join("; "),
        }),
    }
}

fn judge(job: Result<u64, String>) -> Finding {
    const WHAT: &str = "job of 2 ranks";
    match job {
        Ok(nanoseconds) => Finding::ok(
            WHAT,
            format!(
                "ran: MPI_Init, MPI_Barrier, messages, MPI_Finalize; 8 bytes take {:.2} µs one way",
                nanoseconds as f64 / 1000.0
            ),
        ),
        Err(error) => Finding::problem(
            WHAT,
            format!("failed: {error}"),
            "change what is a problem above, or see troubleshooting.md in share/doc/oxmpi",
        ),
    }
}

/// What a process does that this module has started; the arguments behind [`PART`].
pub fn part(arguments: &[OsString]) -> Result<(), String> {
    let words: Vec<String> = arguments
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["load", library] => load(library),
        ["hold"] => hold(),
        ["read", pid, address] => {
            println!("{}", read(pid, address).err().unwrap_or("read".into()));
            Ok(())
        }
        ["rank", library] => rank(library),
        _ => Err(format!("{PART} is for mpiexec -doctor alone")),
    }
}

/// Shows [`PATTERN`] to other children of the parent, until the input ends.
fn hold() -> Result<(), String> {
    process::admit_descendants_of(process::parent());
    let shown = Box::new(*PATTERN);
    println!("{}", shown.as_ptr() as usize);
    let _ = std::io::stdin().read(&mut [0]);
    // It stays until now.
    drop(std::hint::black_box(shown));
    Ok(())
}

fn read(pid: &str, address: &str) -> Result<(), String> {
    let pid = pid.parse().map_err(|_| "no process id".to_owned())?;
    let address = address.parse().map_err(|_| "no address".to_owned())?;
    let mut found = [0; PATTERN.len()];
    peer_memory::read(pid, address, &mut found).map_err(|error| error.to_string())?;
    match found == *PATTERN {
        true => Ok(()),
        false => Err("something else was read".into()),
    }
}

fn load(library: &str) -> Result<(), String> {
    let library = Library::open(library)?;
    let file = library.file_of("MPI_Init").ok_or("no MPI_Init in it")?;
    let version = Mpi::of(&library)?.version();
    println!(
        "{}\n{}",
        file.display(),
        version.lines().next().unwrap_or_default()
    );
    Ok(())
}

/// Functions of the library, with MPICH's ABI. Those that return a number return 0 where all went well; errors of
/// MPI_COMM_WORLD end the job, with a text, as the standard has it.
struct Mpi {
    init: extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int,
    finalize: extern "C" fn() -> c_int,
    barrier: extern "C" fn(c_int) -> c_int,
    comm_rank: unsafe extern "C" fn(c_int, *mut c_int) -> c_int,
    send: unsafe extern "C" fn(*const c_void, c_int, c_int, c_int, c_int, c_int) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, c_int, c_int, usize) -> c_int,
    library_version: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,
}

/// MPI_COMM_WORLD, MPI_BYTE and MPI_STATUS_IGNORE of MPICH's ABI, and more than MPI_MAX_LIBRARY_VERSION_STRING.
const WORLD: c_int = 0x4400_0000;
const BYTE: c_int = 0x4c00_010d;
const NO_STATUS: usize = 1;
const VERSION_BYTES: usize = 1 << 14;

impl Mpi {
    fn of(library: &Library) -> Result<Mpi, String> {
        // SAFETY: the functions of these names have these arguments in every library of this name (libmpi.so.12); handles
        // are numbers in it, and a status is only passed as an address.
        unsafe {
            Ok(Mpi {
                init: library.function("MPI_Init")?,
                finalize: library.function("MPI_Finalize")?,
                barrier: library.function("MPI_Barrier")?,
                comm_rank: library.function("MPI_Comm_rank")?,
                send: library.function("MPI_Send")?,
                receive: library.function("MPI_Recv")?,
                library_version: library.function("MPI_Get_library_version")?,
            })
        }
    }

    fn version(&self) -> String {
        let mut text = vec![0u8; VERSION_BYTES];
        let mut length = 0;
        // SAFETY: the buffer has room for the longest text, and `length` is a valid place.
        unsafe { (self.library_version)(text.as_mut_ptr().cast(), &mut length) };
        text.truncate(usize::try_from(length).unwrap_or(0).min(VERSION_BYTES));
        String::from_utf8_lossy(&text)
            .trim_end_matches('\0')
            .to_owned()
    }

    fn rank(&self) -> c_int {
        let mut rank = 0;
        // SAFETY: `rank` is a valid place.
        unsafe { (self.comm_rank)(WORLD, &mut rank) };
        rank
    }

    fn send(&self, data: &[u8; 8], to: c_int) {
        // SAFETY: the buffer has 8 bytes.
        unsafe { (self.send)(data.as_ptr().cast(), 8, BYTE, to, 0, WORLD) };
    }

    fn receive(&self, from: c_int) -> [u8; 8] {
        let mut data = [0; 8];
        // SAFETY: the buffer has room for 8 bytes, and this address means that no status is wanted.
        unsafe { (self.receive)(data.as_mut_ptr().cast(), 8, BYTE, from, 0, WORLD, NO_STATUS) };
        data
    }
}

/// One of two ranks: messages go to and fro for a tenth of a second.
fn rank(library: &str) -> Result<(), String> {
    /// In the last message, for the other one to stop.
    const LAST: [u8; 8] = *b"the last";
    const MORE: [u8; 8] = *b"one more";
    let library = Library::open(library)?;
    let mpi = Mpi::of(&library)?;
    (mpi.init)(std::ptr::null_mut(), std::ptr::null_mut());
    (mpi.barrier)(WORLD);
    if mpi.rank() == 0 {
        let (mut times, begin) = (Vec::new(), Instant::now());
        loop {
            let sent = Instant::now();
            let is_last = begin.elapsed() > Duration::from_millis(100);
            let data = if is_last { LAST } else { MORE };
            mpi.send(&data, 1);
            if mpi.receive(1) != data {
                return Err("a message came back changed".into());
            }
            times.push(sent.elapsed());
            if is_last {
                break;
            }
        }
        times.sort_unstable();
        println!("{}", times[times.len() / 2].as_nanos() / 2);
    } else {
        loop {
            let data = mpi.receive(0);
            mpi.send(&data, 0);
            if data == LAST {
                break;
            }
        }
    }
    (mpi.finalize)();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_job_that_fails_is_a_problem_with_its_words() {
        let failed = judge(Err("mpiexec: no memory".into()));
        assert_eq!(failed.state, State::Problem);
        assert!(failed.found.contains("no memory"), "{failed:?}");
        let ran = judge(Ok(1230));
        assert_eq!(ran.state, State::Ok);
        assert!(ran.found.contains("1.23 µs"), "{ran:?}");
    }

    #[test]
    fn a_process_reads_what_is_shown_to_it() {
        let shown = Box::new(*PATTERN);
        let own = std::process::id().to_string();
        let address = (shown.as_ptr() as usize).to_string();
        // Some containers forbid the call.
        let text = read(&own, &address).err().unwrap_or_default();
        assert!(text.is_empty() || text.contains("os error"), "{text}");
        assert!(read(&own, "x").is_err());
        assert!(part(&["nothing".into()]).is_err());
    }

    #[test]
    fn a_library_without_mpi_is_refused() {
        let error = load("libc.so.6").unwrap_err();
        assert!(error.contains("MPI_Init"), "{error}");
        assert!(rank("libnothing-of-this-name.so").is_err());
    }
}
