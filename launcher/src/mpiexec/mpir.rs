//! Parallel debuggers: the table of processes in the front process, which is the one that the user has started and a debugger looks at
//! (`debugger/mpir.c`), and the gate where ranks wait until it has attached to them.
//!
//! The supervisor tells the front process the table (`mpir_table.rs`). Invariant: ranks
//! wait at the gate only where a debugger had said before they were started that it is there, and only on this host.

#![allow(unsafe_code)]

use super::oversight::Heard;
use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CStr, CString, c_char, c_int};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// What the front process says when the debugger has seen the table. No signal's number.
pub const RELEASE: u8 = 0x7f;
/// The last line of a table.
pub const END: &str = "end";

// SAFETY: as in debugger/mpir.c. The functions without pointers can be called with any values; only the listening thread calls those that change
// anything.
unsafe extern "C" {
    safe fn oxmpi_mpir_is_debugged() -> c_int;
    fn oxmpi_mpir_add(
        number: c_int,
        host: *const c_char,
        executable: *const c_char,
        pid: c_int,
    ) -> c_int;
    safe fn oxmpi_mpir_tell(size: c_int);
}

/// The pipe that ranks wait at.
struct Gate {
    told: String,
    /// Theirs; closed when this process ends.
    _reader: OwnedFd,
    writer: Mutex<Option<OwnedFd>>,
}

static GATE: OnceLock<Option<Gate>> = OnceLock::new();

/// Whether a debugger has said that it is there.
fn is_debugged() -> bool {
    oxmpi_mpir_is_debugged() != 0
}

/// Before ranks are started, some of them by processes that this one starts.
pub fn make_gate() {
    GATE.get_or_init(new_gate);
}

fn new_gate() -> Option<Gate> {
    if !is_debugged() {
        return None;
    }
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).ok()?;
    fcntl_setfd(&reader, FdFlags::empty()).ok()?;
    Some(Gate {
        told: format!("{} {}", reader.as_raw_fd(), fstat(&reader).ok()?.st_ino),
        _reader: reader,
        writer: Mutex::new(Some(writer)),
    })
}

/// What ranks that are to wait find in `OXMPI_DEBUG_GATE`.
pub fn gate() -> Option<&'static str> {
    GATE.get()?.as_ref().map(|gate| gate.told.as_str())
}

/// Lets the ranks go on.
pub fn release_ranks() {
    if let Some(Some(gate)) = GATE.get() {
        drop(
            gate.writer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

/// In the front process: takes the table and other words from the supervisor, in a thread, for this one waits for signals.
pub fn listen(line: &UnixStream, heard: Arc<Heard>) {
    let Ok(line) = line.try_clone() else {
        return;
    };
    let listener = thread::Builder::new().stack_size(128 << 10);
    // Without one there is no table.
    let _ = listener.spawn(move || {
        let mut table = Some(0);
        for text in BufReader::new(&line).lines().map_while(Result::ok) {
            if heard.take(&text) {
                continue;
            }
            let is_whole = text == END && table.is_some();
            table = table.and_then(|number| take_row(number, &text));
            if is_whole && is_debugged() {
                let _ = (&line).write_all(&[RELEASE]);
            }
        }
    });
}

/// The number of the next row. Behind the last one it returns when the debugger goes on after it has seen the table.
fn take_row(number: c_int, text: &str) -> Option<c_int> {
    if text == END {
        oxmpi_mpir_tell(number);
        return None;
    }
    let mut words = text.splitn(3, '\t');
    let pid = words.next()?.parse().ok()?;
    let host = CString::new(words.next()?).ok()?;
    let executable = CString::new(words.next()?).ok()?;
    add(number, &host, &executable, pid)?;
    Some(number + 1)
}

fn add(number: c_int, host: &CStr, executable: &CStr, pid: c_int) -> Option<()> {
    // SAFETY: both are texts of C, which are copied; numbers come in order, and this thread alone adds to the table.
    let added = unsafe { oxmpi_mpir_add(number, host.as_ptr(), executable.as_ptr(), pid) };
    (added != 0).then_some(())
}
