//! mpiexec in a terminal: a pseudo-terminal whose keys the test presses, with a shell that has job control.

use crate::harness::{MPIEXEC, marked, new_mark, own_path, signal_to, until};
use crate::parts;
use oxmpi::sync::{AtomicBool, Ordering};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub const TESTS: &[(&str, fn())] = &[
    ("terminal::interrupted", interrupted),
    ("terminal::suspended", suspended),
    ("terminal::suspended_alone", suspended_alone),
    ("terminal::hung_up", hung_up),
    ("terminal::hung_up_while_suspended", hung_up_while_suspended),
    (
        "terminal::brought_to_the_foreground",
        brought_to_the_foreground,
    ),
    (
        "terminal::one_rank_has_the_terminal",
        one_rank_has_the_terminal,
    ),
    ("terminal::one_rank_is_suspended", one_rank_is_suspended),
    ("terminal::input_of_rank_0", input_of_rank_0),
    (
        "terminal::input_in_a_process_namespace",
        input_in_a_process_namespace,
    ),
];

pub const INTERRUPT: &str = "\x03";
const SUSPEND: &str = "\x1a";
const END: &str = "\x04";

/// Collects what the terminal shows until `ended`; then the terminal can be taken away.
fn read(master: OwnedFd, screen: &Arc<Mutex<Vec<u8>>>, ended: &Arc<AtomicBool>) -> JoinHandle<()> {
    let (screen, ended) = (Arc::clone(screen), Arc::clone(ended));
    std::thread::spawn(move || {
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: 10_000_000,
        };
        let mut chunk = [0; 4096];
        while !ended.load(Ordering::Relaxed) {
            if poll(&mut [PollFd::new(&master, PollFlags::IN)], Some(&pause)) != Ok(1) {
                continue;
            }
            match rustix::io::read(&master, &mut chunk) {
                Ok(count) => screen
                    .lock()
                    .expect("lock")
                    .extend_from_slice(&chunk[..count]),
                // No process has the terminal open.
                Err(_) => return,
            }
        }
    })
}

/// A terminal and the process that leads its session.
pub struct Terminal {
    keyboard: Option<File>,
    reader: Option<JoinHandle<()>>,
    ended: Arc<AtomicBool>,
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
    mark: String,
}

impl Terminal {
    fn of(program: &[&str]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a pseudo-terminal");
        unlockpt(&master).expect("unlock");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let slave = || -> Stdio {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            open(name.as_c_str(), flags, Mode::empty())
                .expect("open")
                .into()
        };
        let (variable, mark) = new_mark();
        let child = Command::new("setsid")
            .args(["--ctty", "env", "--default-signal"])
            .args(program)
            .env(variable, &mark)
            .env("MPIEXEC", MPIEXEC)
            .env("SELF", own_path())
            .env("TERM", "dumb")
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn()
            .expect("setsid");
        let screen = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let reader = read(master.try_clone().expect("dup"), &screen, &ended);
        Terminal {
            keyboard: Some(master.into()),
            reader: Some(reader),
            ended,
            child,
            screen,
            mark,
        }
    }

    /// An interactive shell that shows nothing of its own but what happens to jobs.
    pub fn shell() -> Terminal {
        let terminal = Terminal::of(&["bash", "--norc", "--noprofile", "--noediting", "-i"]);
        terminal.types("stty -echo; PS1=; echo shell-$((1 + 1))\n");
        terminal.shows("shell-2");
        terminal
    }

    pub fn types(&self, keys: &str) {
        let mut keyboard = self.keyboard.as_ref().expect("not hung up");
        keyboard.write_all(keys.as_bytes()).expect("write");
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().expect("lock")).into_owned()
    }

    pub fn shows(&self, text: &str) {
        self.shows_times(text, 1);
    }

    fn shows_times(&self, text: &str, times: usize) {
        let what = format!("the terminal shows {text} {times} times");
        let shown = || (self.text().matches(text).count() >= times).then_some(());
        until(&what, shown);
    }

    /// Waits until so many processes with this text in their command lines are in a state.
    fn are(&self, count: usize, text: &str, state: char) {
        until("the processes are in that state", || {
            let is = |pid: &i32| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                line.starts_with(text)
                    && stat
                        .rsplit_once(") ")
                        .is_some_and(|(_, rest)| rest.starts_with(state))
            };
            (marked(&self.mark).iter().filter(|pid| is(pid)).count() == count).then_some(())
        });
    }

    /// Takes the terminal away, and waits until no process is left that was started in it.
    fn hang_up(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        self.keyboard = None;
        self.reader.take().map(JoinHandle::join);
        until("no process is left", || {
            let _ = self.child.try_wait();
            marked(&self.mark).is_empty().then_some(())
        });
    }

    pub fn leave_shell(mut self) {
        self.types("exit\n");
        self.hang_up();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if std::thread::panicking() {
            eprintln!("The terminal shows:\n{}", self.text());
        }
        for pid in marked(&self.mark) {
            signal_to(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn interrupted() {
    let shell = Terminal::shell();
    let script = "trap 'echo caught-$((40 + PMI_RANK)); exit 1' INT; echo up-$PMI_RANK-; while :; do sleep 0.1; done";
    shell.types(&format!(
        "$MPIEXEC -n 2 sh -c \"$(cat <<'X'\n{script}\nX\n)\"; echo code-$?-\n"
    ));
    shell.shows("up-0-");
    shell.shows("up-1-");
    shell.types(INTERRUPT);
    shell.shows("code-130-");
    for text in ["got signal 2", "caught-40", "caught-41"] {
        assert_eq!(shell.text().matches(text).count(), 1, "{}", shell.text());
    }
    shell.leave_shell();
}

/// Ctrl-Z stops all processes of all ranks, in whatever process group; `fg` continues them.
fn suspended() {
    suspended_with("-sessions rank");
    suspended_with("-sessions one");
}

fn suspended_with(options: &str) {
    let shell = Terminal::shell();
    let script = "echo up-$PMI_RANK-; timeout 1000 sleep 777; echo over-$?-";
    shell.types(&format!("$MPIEXEC -n 2 {options} sh -c '{script}'\n"));
    shell.are(2, "sleep 777", 'S');
    shell.types(SUSPEND);
    shell.shows("Stopped");
    shell.are(2, "sh -c", 'T');
    shell.are(2, "timeout", 'T');
    shell.are(2, "sleep 777", 'T');
    shell.types("fg; echo code-$?-\n");
    shell.are(2, "sleep 777", 'S');
    shell.are(2, "sh -c", 'S');
    shell.types(INTERRUPT);
    shell.shows("code-130-");
    shell.leave_shell();
}

/// In a terminal of its own nobody could continue it.
fn suspended_alone() {
    let mut terminal = Terminal::of(&[
        MPIEXEC,
        "-n",
        "2",
        "sh",
        "-c",
        "echo up-$PMI_RANK-; read x; echo got-$x-",
    ]);
    terminal.shows("up-0-");
    terminal.shows("up-1-");
    terminal.types(SUSPEND);
    terminal.types("word\n");
    terminal.shows("got-word-");
    terminal.hang_up();
}

fn hung_up() {
    let mut shell = Terminal::shell();
    shell.types("$MPIEXEC -n 2 sh -c 'echo up-$PMI_RANK-; sleep 1000; true'\n");
    shell.shows("up-0-");
    shell.shows("up-1-");
    shell.hang_up();
}

fn hung_up_while_suspended() {
    let mut shell = Terminal::shell();
    shell.types("$MPIEXEC -n 2 sh -c 'echo up-$PMI_RANK-; sleep 777'\n");
    shell.shows("up-0-");
    shell.shows("up-1-");
    shell.are(2, "sleep 777", 'S');
    shell.types(SUSPEND);
    shell.shows("Stopped");
    shell.are(2, "sleep 777", 'T');
    shell.hang_up();
}

/// A job in the background does not read from the terminal and is not stopped; once it is in the foreground it reads.
fn brought_to_the_foreground() {
    let shell = Terminal::shell();
    shell.types("$MPIEXEC -n 2 sh -c 'echo up-$PMI_RANK-; read x; echo got-$PMI_RANK-$x-' & \n");
    shell.shows("up-0-");
    shell.shows("got-1--");
    shell.types("jobs\n");
    shell.shows("Running");
    shell.types("fg; echo over-$?-\n");
    shell.types("word\n");
    shell.shows("got-0-word-");
    // What is typed before that is input of the job, which has the terminal.
    shell.shows("over-0-");
    shell.types("$MPIEXEC -n 2 sh -c 'echo again-$PMI_RANK-' & wait; echo waited-$?-\n");
    shell.shows("waited-0-");
    assert!(shell.text().contains("again-0-") && shell.text().contains("again-1-"));
    shell.leave_shell();
}

/// As without mpiexec.
fn one_rank_has_the_terminal() {
    let shell = Terminal::shell();
    let script =
        "trap 'stty size < /dev/tty' WINCH; echo up-1-; read x; echo got-$x-; read x; echo got-$x-";
    shell.types(&format!(
        "$MPIEXEC -n 1 bash -c \"$(cat <<'X'\n{script}\nX\n)\"; echo code-$?-\n"
    ));
    shell.shows("up-1-");
    shell.types("one\n");
    shell.shows("got-one-");
    let size = Winsize {
        ws_row: 41,
        ws_col: 117,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(shell.keyboard.as_ref().expect("a terminal"), size).expect("resize");
    shell.types("two\n");
    shell.shows("got-two-");
    shell.shows("41 117");
    shell.shows("code-0-");
    shell.leave_shell();
}

fn one_rank_is_suspended() {
    let shell = Terminal::shell();
    // As an editor does: it puts the terminal in order before it stops.
    let script = "trap 'echo in-$((1 + 1))-order; trap - TSTP; kill -TSTP $$' TSTP; echo up-1-; while ! read -t 0.1 x; do :; done; echo got-$x-";
    shell.types(&format!(
        "$MPIEXEC -n 1 bash -c \"$(cat <<'X'\n{script}\nX\n)\"; echo code-$?-\n"
    ));
    shell.shows("up-1-");
    shell.types(SUSPEND);
    shell.shows("in-2-order");
    shell.shows("Stopped");
    shell.are(1, "bash -c", 'T');
    shell.types("fg\n");
    shell.types("word\n");
    shell.shows("got-word-");
    shell.leave_shell();
}

fn input_of_rank_0() {
    let shell = Terminal::shell();
    shell.types("$MPIEXEC -n 2 cat; echo code-$?-\n");
    shell.types("from the keyboard\n");
    shell.shows("from the keyboard");
    shell.types(END);
    shell.shows("code-0-");
    shell.types("echo from-a-pipe | $MPIEXEC -n 2 cat\n");
    shell.shows("from-a-pipe");
    shell.types("$MPIEXEC -n 2 wc -c < /proc/self/cmdline; echo code-$?-\n");
    shell.shows_times("code-0-", 2);
    shell.leave_shell();
}

/// There mpiexec, its process group and its session have no numbers.
fn input_in_a_process_namespace() {
    // In a namespace of users /proc may not be mounted again where something in it is hidden (tests/without_symbols).
    let users: &[&str] = match rustix::process::geteuid().is_root() {
        true => &[],
        false => &["--user", "--map-root-user"],
    };
    let unshare = [users, &["--pid", "--fork", "--mount-proc"]].concat();
    let works = Command::new("unshare").args(&unshare).arg("true").output();
    if !works.is_ok_and(|it| it.status.success()) {
        let why = "unshare makes no process namespace here";
        return parts::skip("terminal::input_in_a_process_namespace", why, None);
    }
    let shell = Terminal::shell();
    let unshare = unshare.join(" ");
    shell.types(&format!(
        "unshare {unshare} $MPIEXEC -n 2 cat; echo code-$?-\n"
    ));
    shell.types("from the keyboard\n");
    shell.shows("from the keyboard");
    shell.types(END);
    shell.shows("code-0-");
    shell.leave_shell();
}
