//! Where the threads of another process are, without a debugger: ptrace(2).
//!
//! Invariant: a thread that was stopped here goes on, also if this process is killed meanwhile: the kernel then lets go of all that it traces.

use std::fs::File;
use std::io::{Error, Result};
use std::os::unix::fs::FileExt;
use std::ptr::null_mut;

/// What a walk over a stack begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    pub instruction: u64,
    pub stack: u64,
    pub frame: u64,
    /// Where the processor has one for return addresses.
    pub link: u64,
}

/// A thread as it was for a moment.
#[derive(Debug)]
pub struct Seen {
    pub registers: Registers,
    /// Memory from [`Registers::stack`] on.
    pub stack: Vec<u8>,
}

/// Stops a thread of a process, reads its registers and at most so many bytes of its stack, and lets it go on.
///
/// A thread that is stopped by a signal stays so. Errors: EPERM if it may not be traced (another user, `ptrace_scope`, seccomp) or somebody
/// traces it already.
pub fn look(pid: i32, thread: i32, most: usize) -> Result<Seen> {
    let memory = File::open(format!("/proc/{pid}/mem"))?;
    request(libc::PTRACE_SEIZE, thread, 0)?;
    let seen = await_stop(thread).and_then(|()| {
        let registers = registers(thread)?;
        let mut stack = vec![0; most];
        let mut count = 0;
        while count < most {
            // Page by page: what is behind the stack need not be mapped.
            let address = registers.stack + count as u64;
            let page = (4096 - address as usize % 4096).min(most - count);
            match memory.read_at(&mut stack[count..count + page], address) {
                Ok(read) if read > 0 => count += read,
                _ => break,
            }
        }
        stack.truncate(count);
        Ok(Seen { registers, stack })
    });
    let _ = request(libc::PTRACE_DETACH, thread, 0);
    seen
}

fn request(what: libc::c_uint, thread: i32, data: usize) -> Result<()> {
    // SAFETY: these requests take no memory of ours; the kernel looks whether the thread may be traced.
    match unsafe { libc::ptrace(what, thread, null_mut::<libc::c_void>(), data) } {
        -1 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Asks a thread that is traced to stop, and waits until it does. Signals that come first are delivered.
fn await_stop(thread: i32) -> Result<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0)?;
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place.
        let waited = unsafe { libc::waitpid(thread, &mut status, libc::__WALL) };
        match waited {
            -1 => {
                let error = Error::last_os_error();
                if error.raw_os_error() != Some(libc::EINTR) {
                    return Err(error);
                }
            }
            _ if !libc::WIFSTOPPED(status) => return Err(Error::from_raw_os_error(libc::ESRCH)),
            _ if status >> 16 != 0 => return Ok(()),
            _ => request(libc::PTRACE_CONT, thread, libc::WSTOPSIG(status) as usize)?,
        }
    }
}

fn registers(thread: i32) -> Result<Registers> {
    const GENERAL: usize = 1; // NT_PRSTATUS
    // SAFETY: all-zero is a valid value of this struct of numbers.
    let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let mut place = libc::iovec {
        iov_base: (&raw mut all).cast(),
        iov_len: size_of::<libc::user_regs_struct>(),
    };
    // SAFETY: the kernel writes at most as many bytes as `place` has.
    let got = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, thread, GENERAL, &raw mut place) };
    if got == -1 {
        return Err(Error::last_os_error());
    }
    #[cfg(target_arch = "x86_64")]
    let registers = Registers {
        instruction: all.rip,
        stack: all.rsp,
        frame: all.rbp,
        link: 0,
    };
    #[cfg(target_arch = "aarch64")]
    let registers = Registers {
        instruction: all.pc,
        stack: all.sp,
        frame: all.regs[29],
        link: all.regs[30],
    };
    Ok(registers)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_is_seen_and_goes_on() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id() as i32;
        match look(pid, pid, 1 << 16) {
            Ok(seen) => {
                assert_ne!(seen.registers.instruction, 0);
                assert!(!seen.stack.is_empty());
            }
            // Where nobody may trace.
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EPERM)),
        }
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        assert!(look(pid, pid, 16).is_err());
    }
}
