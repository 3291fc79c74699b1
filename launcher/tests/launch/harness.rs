//! Runs mpiexec (or another launcher) and gives back what it said; sees to it that nothing is left.

use oxmpi::sync::{AtomicU32, Ordering};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Names the role that this program plays as a rank.
pub const ROLE: &str = "LAUNCH_TEST_ROLE";
const MARK: &str = "LAUNCH_TEST_MARK";
/// Nothing here takes long; who has not come back by then hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

static NUMBER: AtomicU32 = AtomicU32::new(0);

// Only tests of the launcher's crate have its path from cargo.
pub use crate::MPIEXEC;

/// A launcher that runs.
pub struct Running {
    pub child: Child,
    mark: String,
    output: Arc<Mutex<Vec<u8>>>,
    error: Arc<Mutex<Vec<u8>>>,
    readers: [JoinHandle<()>; 2],
}

/// What a launcher that ended has said.
#[derive(Debug)]
pub struct Outcome {
    /// 128 + signal if it was killed.
    pub code: i32,
    pub bytes: Vec<u8>,
    pub output: String,
    pub error: String,
}

/// What to run, and how.
pub struct Job {
    command: Command,
    input: Vec<u8>,
}

/// `mpiexec` with arguments.
pub fn mpiexec<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Job {
    launcher(MPIEXEC, arguments)
}

/// As [`mpiexec`], with the arguments in one text.
pub fn mpiexec_words(arguments: &str) -> Job {
    mpiexec(arguments.split_whitespace())
}

pub fn launcher<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> Job {
    // Whoever runs these tests may ignore signals, nohup or a shell's background, which launchers rightly leave so.
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP,INT,QUIT,TERM");
    command.arg(program).args(arguments);
    for name in ["OMP_NUM_THREADS", "MPIEXEC_TIMEOUT"] {
        command.env_remove(name);
    }
    // What a site or a make variable says to MPICH's launcher and library steers these jobs, or is named in their texts.
    let of_mpich = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.starts_with("HYDRA_") || name.starts_with("MPIR_CVAR_")
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| of_mpich(name)) {
        command.env_remove(name);
    }
    Job {
        command,
        input: Vec::new(),
    }
}

/// A job of so many ranks that play a role.
pub fn role(ranks: u32, role: &str) -> Job {
    role_with(ranks, role, &[])
}

pub fn role_with(ranks: u32, role: &str, options: &[&str]) -> Job {
    let ranks = ranks.to_string();
    let mut arguments = vec!["-n", &ranks];
    arguments.extend(options);
    let own = own_path();
    arguments.push(&own);
    mpiexec(arguments).env(ROLE, role)
}

pub fn own_path() -> String {
    let path = std::env::current_exe().expect("the path of this program");
    path.to_string_lossy().into_owned()
}

impl Job {
    pub fn env(mut self, name: &str, value: &str) -> Job {
        self.command.env(name, value);
        self
    }

    pub fn env_remove(mut self, name: &str) -> Job {
        self.command.env_remove(name);
        self
    }

    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Job {
        self.input = input.into();
        self
    }

    pub fn folder(mut self, folder: &std::path::Path) -> Job {
        self.command.current_dir(folder);
        self
    }

    /// As the leader of a process group of its own.
    pub fn group(mut self) -> Job {
        self.command.process_group(0);
        self
    }

    pub fn start(mut self) -> Running {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        let mut child = self
            .command
            .env(MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the launcher");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = self.input;
        std::thread::spawn(move || {
            // A program need not read it all.
            let _ = stdin.write_all(&input);
        });
        let (output, error) = <(Arc<Mutex<Vec<u8>>>, Arc<Mutex<Vec<u8>>>)>::default();
        let readers = [
            collect(child.stdout.take().expect("a pipe"), output.clone()),
            collect(child.stderr.take().expect("a pipe"), error.clone()),
        ];
        Running {
            child,
            mark,
            output,
            error,
            readers,
        }
    }

    pub fn run(self) -> Outcome {
        self.start().finish()
    }
}

fn collect(mut stream: impl Read + Send + 'static, into: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut chunk = [0; 1 << 16];
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            into.lock()
                .expect("lock")
                .extend_from_slice(&chunk[..count]);
        }
    })
}

impl Running {
    /// Sends a signal to the launcher.
    pub fn signal(&self, signal: rustix::process::Signal) {
        signal_to(self.child.id() as i32, signal);
    }

    /// The processes of the job, the launcher's own ones among them.
    pub fn processes(&self) -> Vec<i32> {
        marked(&self.mark)
    }

    /// Whether the launcher has said this on standard error.
    pub fn said(&self, text: &str) -> bool {
        let bytes = self.error.lock().expect("lock");
        String::from_utf8_lossy(&bytes).contains(text)
    }

    /// What the launcher and the ranks have written to standard output until now.
    pub fn printed(&self) -> String {
        let bytes = self.output.lock().expect("lock");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the ranks have said this so often on standard output.
    pub fn wait_for_output(&self, text: &str, times: usize) {
        until("the ranks have said it", || {
            let bytes = self.output.lock().expect("lock").clone();
            let text = String::from_utf8_lossy(&bytes).matches(text).count();
            (text >= times).then_some(())
        });
    }

    /// Waits until so many processes, besides the launcher's own, have this text in their command line.
    pub fn wait_for(&self, count: usize, text: &str) -> Vec<i32> {
        until("the processes are there", || {
            let found: Vec<i32> = self
                .processes()
                .into_iter()
                .filter(|pid| {
                    let path = format!("/proc/{pid}/cmdline");
                    let line = std::fs::read(path).unwrap_or_default();
                    let line = String::from_utf8_lossy(&line).replace('\0', " ");
                    line.contains(text) && !line.contains("mpiexec")
                })
                .collect();
            (found.len() >= count).then_some(found)
        })
    }

    /// Waits for the end of the launcher, then until none of its processes is left.
    pub fn finish(mut self) -> Outcome {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                break status;
            }
            if start.elapsed() > WATCHDOG {
                let left = self.processes();
                for pid in left {
                    signal_to(pid, rustix::process::Signal::KILL);
                }
                panic!("the launcher does not come back");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        until("no process of the job is left", || {
            marked(&self.mark).is_empty().then_some(())
        });
        for reader in self.readers {
            reader.join().expect("reader");
        }
        let bytes = std::mem::take(&mut *self.output.lock().expect("lock"));
        let error = std::mem::take(&mut *self.error.lock().expect("lock"));
        Outcome {
            code: status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            output: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
            error: String::from_utf8_lossy(&error).into_owned(),
        }
    }
}

impl Outcome {
    /// The lines of the output, sorted.
    pub fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.output.lines().collect();
        lines.sort_unstable();
        lines
    }

    /// The output of a job that went well.
    pub fn good(&self) -> &Outcome {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    pub fn says(&self, text: &str) -> &Outcome {
        assert!(self.error.contains(text), "no '{text}' in {self:?}");
        self
    }
}

pub fn signal_to(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
    let _ = rustix::process::kill_process(pid, signal);
}

/// Asks again and again until there is an answer.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < WATCHDOG, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A mark for the environment of what a test starts.
pub fn new_mark() -> (&'static str, String) {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    (MARK, format!("{}-{number}", std::process::id()))
}

/// Processes that are alive and have the mark in their environment.
pub fn marked(mark: &str) -> Vec<i32> {
    crate::marks::marked(MARK, mark)
}

/// A folder of its own for a test, removed at the end.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    pub fn new() -> Folder {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("launch-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a folder");
        Folder(path)
    }

    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("write");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Names that oxmpi may have left in the places where shared memory has names.
pub fn leftovers() -> Vec<String> {
    ["/dev/shm", "/tmp"]
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.contains("oxmpi-"))
        .collect()
}
