//! Processes, and descriptors inherited from the process that started this one.
//!
//! Invariant: an inherited descriptor is handed out once; whoever got it owns it.

use std::ffi::{CString, OsStr};
use std::fs::metadata;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());

/// Takes over the descriptor that the launcher left open under this number, and closes it at the next exec.
/// `None` if it is not open, was taken before, or is one of the three standard ones.
pub fn inherited(number: RawFd) -> Option<OwnedFd> {
    let mut taken = TAKEN
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    if number <= libc::STDERR_FILENO || taken.contains(&number) {
        return None;
    }
    // SAFETY: a plain call on a number; fails for one that is not open.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return None;
    }
    taken.push(number);
    // SAFETY: it is open, and by TAKEN nobody in this library has taken it before; that the number belongs to the
    // job and not to other code of this process is what the launcher said in the environment.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Whether this process has no thread but the calling one. False where the system does not say.
pub fn has_one_thread() -> bool {
    let tasks = std::fs::read_dir("/proc/self/task");
    tasks.is_ok_and(|tasks| tasks.take(2).count() == 1)
}

/// What a descriptor by this number is: (inode, is a socket). `None` if it is not open.
pub fn identity(number: RawFd) -> Option<(u64, bool)> {
    // SAFETY: an all-zero stat is a valid value for the call to fill.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place; a number that is not open is an error.
    let failed = unsafe { libc::fstat(number, &mut stat) } != 0;
    (!failed).then_some((stat.st_ino, stat.st_mode & libc::S_IFMT == libc::S_IFSOCK))
}

/// A further descriptor of what a number stands for, if that is an open socket. Closed at exec.
pub fn duplicate(number: RawFd) -> Option<OwnedFd> {
    let (_, is_socket) = identity(number)?;
    if !is_socket {
        return None;
    }
    // SAFETY: a plain call; the result is a descriptor of this process that nobody else has.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: as above.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Opens what a descriptor of another process of this user stands for, if that has this inode.
pub fn open_of(pid: i32, fd: i32, inode: u64) -> Option<OwnedFd> {
    let path = format!("/proc/{pid}/fd/{fd}");
    let options = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path);
    let file = options.ok()?;
    let same = file.metadata().ok()?.ino() == inode;
    same.then(|| OwnedFd::from(file))
}

/// A process, by its id and the moment of its start: ids are given out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    pub pid: i32,
    /// Clock ticks after the machine's start; 0: not known, then the process counts as living.
    pub ticks: u64,
}

impl Birth {
    /// Of this process.
    pub fn own() -> Birth {
        Birth::of(std::process::id() as i32)
    }

    /// Of a process that lives.
    pub fn of(pid: i32) -> Birth {
        let ticks = match life_of(pid) {
            Life::Since(ticks) => ticks,
            Life::Over | Life::Unknown => 0,
        };
        Birth { pid, ticks }
    }

    /// Whether the process has ended.
    pub fn is_over(self) -> bool {
        self.ticks != 0
            && match life_of(self.pid) {
                Life::Since(ticks) => ticks != self.ticks,
                Life::Over => true,
                Life::Unknown => false,
            }
    }
}

/// What tells the process ids of this process's container from those of others; 0: not known.
pub fn pid_namespace() -> u64 {
    static OWN: OnceLock<u64> = OnceLock::new();
    let own = || metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino());
    *OWN.get_or_init(own)
}

/// What the kernel says of a process.
#[derive(Debug, PartialEq, Eq)]
enum Life {
    /// It lives, and has started then: clock ticks.
    Since(u64),
    Over,
    /// It cannot be asked, for example because this process has no file descriptor left.
    Unknown,
}

fn life_of(pid: i32) -> Life {
    life_read(std::fs::read_to_string(format!("/proc/{pid}/stat")))
}

fn life_read(stat: std::io::Result<String>) -> Life {
    match stat {
        Ok(text) => life_in(&text).unwrap_or(Life::Unknown),
        // ESRCH: it has ended between opening and reading.
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ESRCH) => Life::Over,
            _ => Life::Unknown,
        },
    }
}

/// By the fields of /proc/PID/stat. A process whose first thread alone has ended is a zombie with other threads, which lives.
fn life_in(text: &str) -> Option<Life> {
    // The name in brackets may have blanks and brackets.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let threads: u64 = fields.nth(16)?.parse().ok()?;
    let ticks = fields.nth(1)?.parse().ok()?;
    Some(match (state, threads) {
        ("Z" | "X", 0 | 1) => Life::Over,
        _ => Life::Since(ticks),
    })
}

/// Which of the two a process is after [`fork`].
pub enum Fork {
    /// The old one; the process id of the new one.
    Parent(i32),
    Child,
}

/// Splits the process in two. Both go on with everything, so this is only for a process with one thread.
///
/// Errors: more than one thread, or what the kernel says.
pub fn fork() -> Result<Fork> {
    // SAFETY: `split` calls this only where there is no other thread that could hold a lock the child needs.
    split(|| i64::from(unsafe { libc::fork() }))
}

/// As [`fork`], but the new process is a child of this one's parent: that one waits for it, and gets SIGCHLD, if this one was
/// started so. Session, process group and all else are inherited from this process.
///
/// Errors: also that the kernel, or a filter of system calls, knows no CLONE_PARENT. What ignores it instead is found by [`parent`].
pub fn fork_sibling() -> Result<Fork> {
    // The signal at its end is that of this process, whatever is said here.
    let flags = i64::from(libc::CLONE_PARENT | libc::SIGCHLD);
    // SAFETY: as for `fork`; without a stack of its own the child goes on on a copy of this one, and the other arguments are not
    // used with these flags.
    split(|| unsafe { libc::syscall(libc::SYS_clone, flags, 0_i64, 0_i64, 0_i64, 0_i64) })
}

fn split(call: impl FnOnce() -> i64) -> Result<Fork> {
    // A folder has two links and one for each of its folders, here the threads.
    if metadata("/proc/self/task").is_ok_and(|folder| folder.nlink() > 3) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "fork with more than one thread",
        ));
    }
    match call() {
        -1 => Err(Error::last_os_error()),
        0 => Ok(Fork::Child),
        child => Ok(Fork::Parent(child as i32)),
    }
}

/// What a process that is started leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    /// A session of its own, without a terminal, and so a process group.
    Session,
    /// A process group of its own, in the session of the process that starts it.
    Group,
}

/// The process that `command` starts will lead a session or a process group. `name` is what the program is called. To be called
/// last, when program (a path), arguments and environment are complete, and after all other closures: this one does not return.
///
/// What the kernel cannot execute is an error of the start, which it would not be otherwise: with a closure to call, the standard
/// library starts programs by execvp, which gives all of that to the shell.
pub fn lead(command: &mut Command, name: &OsStr, leads: Leads) -> Result<()> {
    let text = |bytes: &[u8]| CString::new(bytes).map_err(Error::other);
    let program = text(command.get_program().as_bytes())?;
    let names = std::iter::once(name).chain(command.get_args());
    let arguments: Vec<CString> = names
        .map(|word| text(word.as_bytes()))
        .collect::<Result<_>>()?;
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some([name.as_bytes(), value?.as_bytes()].join(&b'=')));
    let variables: Vec<CString> = variables.map(|it| text(&it)).collect::<Result<_>>()?;
    // Addresses as numbers: a closure for another process must not hold pointers. The texts move into it too.
    let ended = |texts: &[CString]| -> Vec<usize> {
        let addresses = texts.iter().map(|it| it.as_ptr() as usize);
        addresses.chain([0]).collect()
    };
    let (words, environment) = (ended(&arguments), ended(&variables));
    let begin = move || {
        let _texts = (&arguments, &variables);
        // SAFETY: plain calls; both lists end with a null pointer and lead to texts that the closure owns.
        unsafe {
            let led = match leads {
                Leads::Session => libc::setsid(),
                Leads::Group => libc::setpgid(0, 0),
            };
            if led != -1 {
                libc::execve(
                    program.as_ptr(),
                    words.as_ptr().cast(),
                    environment.as_ptr().cast(),
                );
            }
        }
        Err(Error::last_os_error())
    };
    // SAFETY: between fork and exec the closure only makes two system calls, and does not allocate.
    unsafe { command.pre_exec(begin) };
    Ok(())
}

/// Does what SIGTSTP does by default, for a process that has taken it: stops this process until it is continued, unless nobody is there
/// to continue it (the kernel does not stop orphaned process groups). What is to be done first runs while the stop is pending: a SIGCONT
/// that comes meanwhile, or has come already, takes it back, where a stop raised afterwards would wait for another one. For a
/// process with one thread that blocks both signals.
pub fn suspend(first: impl FnOnce()) {
    let stop = set_of(&[libc::SIGTSTP]);
    // SAFETY: plain calls; the sets are valid, and nobody asks for the mask before.
    unsafe {
        let mut pending = set_of(&[]);
        libc::sigpending(&mut pending);
        if libc::sigismember(&pending, libc::SIGCONT) != 1 {
            libc::raise(libc::SIGTSTP);
        }
        first();
        // Until it is unblocked it is only pending.
        libc::sigprocmask(libc::SIG_UNBLOCK, &stop, std::ptr::null_mut());
        libc::sigprocmask(libc::SIG_BLOCK, &stop, std::ptr::null_mut());
    }
}

fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: all-zero is a valid value, which sigemptyset fills; the numbers are checked by sigaddset.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        set
    }
}

/// Signals that this process takes one by one. For a process with one thread; programs that it starts inherit the block.
pub struct Signals(libc::sigset_t);

/// A signal that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub number: i32,
    /// By the kernel, as for a key of the terminal, and not by a process.
    pub by_kernel: bool,
}

/// Lets all signals through to this thread: a process inherits what the thread that started it has blocked.
pub fn unblock_signals() {
    let mut none = std::mem::MaybeUninit::uninit();
    // SAFETY: `none` is a valid place, filled before it is read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

impl Signals {
    /// From now on these wait until they are taken.
    pub fn block(signals: &[i32]) -> Result<Signals> {
        let set = set_of(signals);
        // SAFETY: the set is valid, and nobody asks for the one before.
        match unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) } {
            0 => Ok(Signals(set)),
            _ => Err(Error::last_os_error()),
        }
    }

    /// Waits for the next, at most for so long.
    pub fn take(&self, limit: Option<Duration>) -> Option<Signal> {
        // SAFETY: all-zero is a valid value for the call to fill.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let limit = limit.map(|limit| libc::timespec {
            tv_sec: limit.as_secs().min(1 << 30) as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        loop {
            // SAFETY: set and info are valid places, and the limit is one or null, which means none.
            let number = unsafe { libc::sigtimedwait(&self.0, &mut info, limit) };
            if number > 0 {
                return Some(Signal {
                    number,
                    by_kernel: info.si_code == libc::SI_KERNEL,
                });
            }
            if Error::last_os_error().raw_os_error() == Some(libc::EAGAIN) {
                return None;
            }
        }
    }
}

/// Makes this process's command line read as `name` for `ps` and `pkill -f`. The arguments must not be used afterwards.
///
/// Errors: no /proc, or a command line that is shorter than the name.
pub fn rename(name: &str) -> Result<()> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // Fields 48 and 49: where the arguments begin and end; the second field, a name in parentheses, may hold blanks.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = fields.split_whitespace().skip(45).map(str::parse::<u64>);
    let (Some(Ok(start)), Some(Ok(end))) = (fields.next(), fields.next()) else {
        return Err(ErrorKind::InvalidData.into());
    };
    let mut line = vec![0; end.saturating_sub(start) as usize];
    let target = line.get_mut(..name.len()).ok_or(ErrorKind::InvalidInput)?;
    target.copy_from_slice(name.as_bytes());
    let memory = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/mem")?;
    memory.write_all_at(&line, start)
}

/// Lets a program that is about to be started have these limits (soft, hard) of open files instead of this process's own.
pub fn limit_files(command: &mut Command, soft: Option<u64>, hard: Option<u64>) {
    let number =
        |limit: Option<u64>| limit.map_or(libc::RLIM_INFINITY, |limit| limit as libc::rlim_t);
    let limit = libc::rlimit {
        rlim_cur: number(soft),
        rlim_max: number(hard),
    };
    let set = move || {
        // SAFETY: reads a valid value.
        match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec the closure does nothing but one system call on a copy of its own.
    unsafe { command.pre_exec(set) };
}

/// Asks the kernel to kill this process when `parent`, its parent, dies. Does nothing for any other process.
pub fn die_with(parent: i32) {
    // SAFETY: plain calls on integers.
    unsafe {
        if libc::getppid() == parent {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
    }
}

/// Lets an ancestor's other descendants read and write this process's memory where Yama admits only a process's own ancestors
/// (`ptrace_scope` 1, the default of Ubuntu). Without effect elsewhere.
pub fn admit_descendants_of(ancestor: i32) {
    // SAFETY: a plain call on integers; without Yama an error that changes nothing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, ancestor as libc::c_ulong, 0, 0, 0) };
}

/// The process that started this one.
pub fn parent() -> i32 {
    // SAFETY: a plain call.
    unsafe { libc::getppid() }
}

/// Ends the process at once: what the C library has buffered is written, but no exit handler runs.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: a null stream means all of them; the call locks each and needs nothing else.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: does not return.
    unsafe { libc::_exit(code) }
}

/// The process that traces a process, given by its number or `self`. `None` as well if there is no such process.
pub fn tracer(process: &str) -> Option<i32> {
    tracer_in(&std::fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// From a line such as `TracerPid:\t0` in /proc/PID/status.
fn tracer_in(status: &str) -> Option<i32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    line?.trim().parse().ok().filter(|pid| *pid != 0)
}

/// The innermost function on this thread's stack that the library exports under a name with one of these beginnings.
///
/// By the names the linker sees: what a function is called in the source says nothing about what C calls it.
pub fn exported_caller(beginnings: &[&str]) -> Option<String> {
    let mut frames = [std::ptr::null_mut(); 64];
    // SAFETY: writes at most as many addresses as there is room for.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    frames[..count.max(0) as usize].iter().find_map(|frame| {
        // SAFETY: all-zero is a valid value of this struct of addresses, for the call to fill.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: the call only compares the address with those of what is loaded.
        let known = unsafe { libc::dladdr(*frame, &mut found) } != 0;
        if !known || found.dli_sname.is_null() {
            return None;
        }
        // SAFETY: not null, so it is a name in the table of a loaded object, which stays while its code is on the stack.
        let name = unsafe { std::ffi::CStr::from_ptr(found.dli_sname) };
        let name = name.to_str().ok()?;
        let wanted = beginnings
            .iter()
            .any(|beginning| name.starts_with(beginning));
        wanted.then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::IntoRawFd;

    #[test]
    fn tracers_are_read() {
        assert_eq!(tracer_in("Name:\tx\nTracerPid:\t17\n"), Some(17));
        assert_eq!(tracer_in("Name:\tx\nTracerPid:\t0\n"), None);
        assert_eq!(tracer_in(""), None);
    }

    #[test]
    fn a_process_is_over_when_its_last_thread_is() {
        let stat = |state, threads| {
            let fields = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
            life_in(&format!("17 (a ) b) {state} {fields} {threads} 0 4711 0"))
        };
        let failed = |number| life_read(Err(std::io::Error::from_raw_os_error(number)));
        assert_eq!(failed(libc::ESRCH), Life::Over);
        assert_eq!(failed(libc::EMFILE), Life::Unknown);
        assert_eq!(stat("S", 1), Some(Life::Since(4711)));
        assert_eq!(stat("Z", 1), Some(Life::Over));
        assert_eq!(stat("Z", 2), Some(Life::Since(4711)));
        assert_eq!(life_in(""), None);
        assert!(!Birth::own().is_over());
        assert_eq!(life_of(i32::MAX), Life::Over);
    }

    #[test]
    fn a_descriptor_is_handed_out_once() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let (inode, socket) = {
            use std::os::fd::AsRawFd;
            identity(file.as_raw_fd()).unwrap()
        };
        assert!(!socket && inode != 0);
        let number = file.into_raw_fd();
        let taken = inherited(number).unwrap();
        assert!(inherited(number).is_none());
        assert!(inherited(2).is_none() && inherited(100_000).is_none());
        assert!(identity(100_000).is_none());
        drop(taken);
    }
}
