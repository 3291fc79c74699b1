//! Jobs that ranks spawn. Each is run by an mpiexec of its own, a child of the supervisor without a front process: the supervisor
//! is in its place, at the other end of a socket over which that mpiexec also says how the start went.
//!
//! A job is *connected* to this one from the moment at which the rank that asked says so, until one says the contrary; then a
//! failure of one is one of the other. Invariant: the supervisor ends after all jobs that its ranks have spawned.

use super::ending::Cause;
use super::front::BY_KERNEL;
use super::output::Kind;
use super::plan::{self, Plan, Refusal};
use super::rank::Life;
use super::request::{Label, Program, Request, StandardInput};
use super::server::{SpawnRequest, Wanted};
use super::state::Spawned;
use super::supervisor::{self, SOURCE, SPAWNED, Supervisor, tag};
use super::timeline;
use super::verdict::family::Ended;
use super::verdict::told::OfJobs;
use oxmpi::launch::wire::LINE_MAXIMUM;
use oxmpi::launch::{MOST_RANKS, largest_of, names};
use oxmpi::os::process::inherited;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The word by which an mpiexec knows that it is to run a spawned job.
pub const PART: &str = "-spawned-job";
/// What an mpiexec of a spawned job says: the start has worked, or not, and why; the job has failed.
const STARTED: &str = "started";
const REFUSED: &str = "refused ";
const FAILED: &str = "failed";
/// Nobody has survived, and the code is that of a death.
const DIED_OUT: &str = "died out";
const DISCONNECTED: &str = "disconnected";
/// An answer to a question of the verdict, and what the job and those that it has spawned had sent when they ended.
const ANSWER: &str = "answer ";
const SUMS: &str = "sums ";
/// Questions of the verdict, where signals' numbers would be: a sweep, what ranks wait for, and a sweep after which all ranks look again.
pub const SWEEP: u8 = 0x60;
pub const WAITS: u8 = 0x61;
pub const LOOKS: u8 = 0x63;
/// The error code of a process that was not started.
const MPI_ERR_SPAWN: &str = "42";
/// An answer has room for the codes of so many processes. Where it has none, what it says holds for all.
const MOST_CODES: usize = LINE_MAXIMUM / 4;
/// For disconnected jobs, which end themselves when they are told.
const OWN_ENDS: Duration = Duration::from_secs(4);
/// For telling the parents that nobody comes.
const TELL_TIME: Duration = Duration::from_secs(2);

/// What an mpiexec needs to run a spawned job.
#[derive(Serialize, Deserialize)]
struct Order {
    request: Request,
    /// What the processes find in their key-value store.
    preput: Vec<(String, String)>,
}

impl Supervisor<'_> {
    /// A rank wants processes.
    pub(super) fn spawn(&mut self, rank: usize, wanted: SpawnRequest) {
        let processes = wanted.commands.iter().map(|it| it.processes as usize).sum();
        let refused = match self.ending.is_some() {
            true => Err("the job is ending".to_owned()),
            false => self.start_spawned((rank, processes), wanted),
        };
        if let Err(text) = refused {
            self.refuse_spawn((rank, processes), &text);
        }
    }

    fn refuse_spawn(&mut self, (rank, processes): (usize, usize), text: &str) {
        let codes = codes_of([(processes, MPI_ERR_SPAWN)].into_iter());
        let text = text.replace('\n', " ");
        self.reply(rank, format!("cmd=spawn_result rc=-1{codes} msg={text}"));
    }

    fn start_spawned(&mut self, asker: (usize, usize), wanted: SpawnRequest) -> Result<(), String> {
        let order = Order {
            request: request_of(&self.plan.request, &wanted)?,
            preput: wanted.preput.clone(),
        };
        let started = order.request.programs.iter().zip(&wanted.commands);
        let codes = started.flat_map(|(program, wanted)| {
            let started = program.ranks.unwrap_or(wanted.processes) as usize;
            let others = (wanted.processes as usize).saturating_sub(started);
            [(started, "0"), (others, MPI_ERR_SPAWN)]
        });
        let codes = codes_of(codes);
        let port = order.preput.iter().find(|(key, _)| key == names::PARENT);
        let cookie = port.and_then(|(_, port)| port.rsplit(':').next());
        let cookie = cookie.unwrap_or_default().to_owned();
        let order = postcard::to_allocvec(&order).map_err(|error| error.to_string())?;
        let started = self.start_mpiexec(&order);
        let (pid, socket, streams) =
            started.map_err(|error| format!("mpiexec cannot be started again: {error}"))?;
        let number = self.spawned.iter().position(|job| !job.running);
        let number = number.unwrap_or(self.spawned.len());
        let watch = |error: io::Error| format!("mpiexec cannot watch it: {error}");
        epoll::add(&self.epoll, &socket, tag(SPAWNED, number), EventFlags::IN)
            .map_err(|error| watch(error.into()))?;
        let mut sources = Vec::new();
        for (kind, fd) in [Kind::Output, Kind::Error].into_iter().zip(streams) {
            let data = tag(SOURCE, self.output.next_number());
            let added = self
                .output
                .add(&self.epoll, (fd, None), kind, Vec::new(), data);
            sources.push(added.map_err(watch)?);
        }
        let job = Spawned {
            pid,
            socket: Some(socket),
            heard: Vec::new(),
            asker: Some(asker),
            codes,
            cookie,
            connected: false,
            disconnected: false,
            failed: false,
            died_out: false,
            running: true,
            sources,
            spawner: asker.0,
            started: false,
            asked: 0,
            answered: 0,
            summed: false,
        };
        match self.spawned.get_mut(number) {
            Some(place) => *place = job,
            None => self.spawned.push(job),
        }
        Ok(())
    }

    /// Starts an mpiexec that runs a job: its process, our end of the socket, its output and error output.
    fn start_mpiexec(&self, order: &[u8]) -> io::Result<(i32, UnixStream, [OwnedFd; 2])> {
        let (mut ours, theirs) = UnixStream::pair()?;
        fcntl_setfd(&theirs, FdFlags::empty())?;
        let pipe = || -> io::Result<(OwnedFd, OwnedFd)> {
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            ioctl_fionbio(&reader, true)?;
            Ok((reader, writer))
        };
        let (output, their_output) = pipe()?;
        let (error, their_error) = pipe()?;
        // Where mpiexec was replaced since, as by an update, the kernel still has this one.
        let own = std::env::current_exe().ok().filter(|file| file.is_file());
        let own = own.unwrap_or_else(|| "/proc/self/exe".into());
        let child = Command::new(own)
            .arg(PART)
            .arg(theirs.as_raw_fd().to_string())
            .stdin(Stdio::null())
            .stdout(their_output)
            .stderr(their_error)
            .spawn()?;
        drop(theirs);
        // The zero byte behind the order says that the front process is ready. It goes with the order: the child may refuse that and end before
        // a second write.
        let length = (order.len() as u32).to_le_bytes();
        ours.write_all(&[&length, order, &[0]].concat())?;
        ours.set_nonblocking(true)?;
        Ok((child.id() as i32, ours, [output, error]))
    }

    /// Reads what the mpiexec of a spawned job says.
    pub(super) fn hear_spawned(&mut self, number: usize) {
        let Some(job) = self.spawned.get_mut(number) else {
            return;
        };
        let mut bytes = [0u8; 1024];
        while let Some(socket) = &mut job.socket {
            match socket.read(&mut bytes) {
                Ok(count) if count > 0 => job.heard.extend(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => job.socket = None,
            }
        }
        while let Some(end) = self.spawned[number]
            .heard
            .iter()
            .position(|byte| *byte == b'\n')
        {
            let line: Vec<u8> = self.spawned[number].heard.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]).into_owned();
            match line.as_str() {
                STARTED => {
                    let job = &mut self.spawned[number];
                    job.started = true;
                    if let Some((rank, _)) = job.asker.take() {
                        let codes = std::mem::take(&mut job.codes);
                        self.reply(rank, format!("cmd=spawn_result rc=0{codes}"));
                    }
                }
                FAILED => self.spawned[number].failed = true,
                DIED_OUT => self.spawned[number].died_out = true,
                DISCONNECTED => self.spawned[number].disconnected = true,
                _ => {
                    if let Some(word) = line.strip_prefix(ANSWER) {
                        self.hear_spawned_answer(number, word);
                        continue;
                    }
                    if let Some(ended) = line.strip_prefix(SUMS).and_then(Ended::of_word) {
                        self.spawned[number].summed = true;
                        self.verdict.ended.add(&ended);
                        continue;
                    }
                    if let (Some(asker), Some(text)) = (
                        self.spawned[number].asker.take(),
                        line.strip_prefix(REFUSED),
                    ) {
                        self.refuse_spawn(asker, text);
                    }
                }
            }
        }
    }

    /// The mpiexec of a spawned job has ended, if this process was one.
    pub(super) fn spawned_ended(&mut self, pid: i32, life: Life) {
        let Some(number) = self
            .spawned
            .iter()
            .position(|job| job.running && job.pid == pid)
        else {
            return;
        };
        self.hear_spawned(number);
        for source in self.spawned[number].sources.clone() {
            self.output.read(&self.epoll, source, true);
        }
        if let Some(asker) = self.spawned[number].asker.take() {
            self.refuse_spawn(asker, "its mpiexec has ended");
        }
        let goes_on = self.plan.request.keep_going || self.survives();
        let job = &mut self.spawned[number];
        job.running = false;
        job.socket = None;
        if job.started && !job.summed {
            self.verdict.ended.add_unknown();
        }
        let job = &self.spawned[number];
        let code = match life {
            Life::Exited(code) => code,
            Life::Killed(signal) => 128 + signal,
            Life::Running | Life::Lost => return,
        };
        let connected = job.connected && !job.disconnected;
        // What a rank's death means is the others' business where the job goes on; that of its mpiexec is nobody's.
        let ended_by_rank = matches!(life, Life::Exited(_)) && goes_on;
        let failed = job.failed || code > 128 && !ended_by_rank;
        let died_out = job.died_out && goes_on;
        if self.ending.is_some() {
            return;
        }
        if connected && failed {
            // Only MPI_Abort ends a job early with 0.
            let how = match code {
                0 => "was ended by MPI_Abort",
                _ => "has failed",
            };
            self.say(&format!(
                "a job that was spawned, and is connected, {how} with exit code {code}"
            ));
            self.fail(code, Cause::Failure);
        } else if code == 0 {
            self.is_outlived |= connected;
        } else if connected && died_out {
            // The survivors are elsewhere.
            self.deaths.get_or_insert(code);
        } else if connected {
            self.code.get_or_insert(code);
        } else if self.spawned[number].disconnected {
            self.say(&format!(
                "warning: a job that was spawned, and is disconnected, has ended with exit code {code}"
            ));
        }
    }

    /// A rank says what has become of the connection to a job.
    pub(super) fn connection(&mut self, cookie: &str, connected: bool) {
        let port = self
            .plan
            .preput
            .iter()
            .find(|(key, _)| key == names::PARENT);
        if !connected && port.is_some_and(|(_, port)| port.ends_with(cookie)) {
            // By those who have spawned this job.
            let _ = self.front.write_all(format!("{DISCONNECTED}\n").as_bytes());
        }
        for job in self.spawned.iter_mut().filter(|job| job.cookie == cookie) {
            job.connected |= connected;
            job.disconnected |= !connected;
        }
    }

    /// Ends the jobs that end with this one.
    pub(super) fn end_spawned(&mut self) {
        for job in self.spawned.iter_mut().filter(|job| !job.disconnected) {
            job.socket = None;
        }
    }

    /// Passes a signal on.
    pub(super) fn tell_spawned(&mut self, signal: i32) {
        let sockets = self
            .spawned
            .iter_mut()
            .filter_map(|job| job.socket.as_mut());
        for socket in sockets {
            let _ = socket.write_all(&[signal as u8 & !BY_KERNEL]);
        }
    }

    /// Passes a signal on to jobs that do not end with this one.
    pub(super) fn tell_disconnected(&mut self, signal: i32) {
        for job in self.spawned.iter_mut().filter(|job| job.disconnected) {
            if let Some(socket) = &mut job.socket {
                let _ = socket.write_all(&[signal as u8]);
            }
        }
    }

    /// Whether a job that was spawned goes on.
    pub(super) fn has_spawned(&self) -> bool {
        self.spawned.iter().any(|job| job.running)
    }

    /// Asks the jobs that go on; how many.
    pub(super) fn ask_spawned(&mut self, question: u8) -> u32 {
        let mut count = 0;
        for job in self.spawned.iter_mut().filter(|job| job.can_be_asked()) {
            if let Some(socket) = &mut job.socket {
                let _ = socket.write_all(&[question]);
            }
            job.asked += 1;
            count += 1;
        }
        count
    }

    /// Whether a job that was spawned goes on and cannot be asked.
    pub(super) fn has_spawned_unasked(&self) -> bool {
        let mut all = self.spawned.iter();
        all.any(|job| job.running && !job.can_be_asked())
    }

    fn hear_spawned_answer(&mut self, number: usize, word: &str) {
        let job = &mut self.spawned[number];
        job.answered += 1;
        let (is_last, spawner) = (job.answered == job.asked, job.spawner as u32);
        if let (true, Some(answer)) = (is_last, OfJobs::of_word(word)) {
            self.hear_jobs(spawner, answer);
        }
    }

    /// In the mpiexec of a spawned job: answers that of its parents.
    pub(super) fn tell_parents_mpiexec(&mut self, answer: &OfJobs) {
        let line = format!("{ANSWER}{}\n", answer.word());
        // An answer may be longer than what the socket has room for.
        let _ = ioctl_fionbio(&self.front, false);
        let _ = self.front.write_all(line.as_bytes());
        let _ = ioctl_fionbio(&self.front, true);
    }

    /// The processes of jobs that do not end with this one. Where mpiexec itself is to end they have some seconds.
    pub(super) fn spared(&self) -> Vec<i32> {
        let ending = self.ending.as_ref().filter(|_| self.checks.all_end);
        if ending.is_some_and(|ending| ending.time(Instant::now()) > OWN_ENDS) {
            return Vec::new();
        }
        let all = self.spawned.iter();
        let on = all.filter(|job| job.running && job.disconnected);
        on.map(|job| job.pid).collect()
    }

    /// In the mpiexec of a spawned job: how the start went.
    pub(super) fn tell_start(&mut self, refusal: Option<&str>) {
        if self.plan.is_spawned() {
            let line = refusal.map_or(STARTED.to_owned(), |text| format!("{REFUSED}{text}"));
            let _ = self
                .front
                .write_all(format!("{}\n", line.replace('\n', " ")).as_bytes());
        }
    }

    /// In the mpiexec of a spawned job: how it ended, to the supervisor above and to parents that still wait for a connection.
    pub(super) fn tell_end(&mut self, code: i32) {
        if !self.plan.is_spawned() {
            return;
        }
        if self
            .ending
            .as_ref()
            .is_some_and(|it| it.cause != Cause::Leftovers)
        {
            let _ = self.front.write_all(format!("{FAILED}\n").as_bytes());
        } else if self.has_died_out() {
            let _ = self.front.write_all(format!("{DIED_OUT}\n").as_bytes());
        }
        let mut ended = self.verdict.ended.clone();
        match self.exchanged() {
            Some(own) => ended.add(&own),
            None => ended.add_unknown(),
        }
        let sums = format!("{SUMS}{}\n", ended.word());
        let _ = self.front.write_all(sums.as_bytes());
        let program = &self.plan.programs[0].shown;
        let text = format!("{program} has ended with exit code {code} before MPI_Init was done");
        tell_parents(&self.plan.preput, &text);
    }
}

impl Spawned {
    fn can_be_asked(&self) -> bool {
        self.running && self.started && self.socket.is_some()
    }
}

/// Tells parents that wait for a connection that nobody comes; if they have closed the port, nothing happens.
fn tell_parents(preput: &[(String, String)], text: &str) {
    let port = preput.iter().find(|(key, _)| key == names::PARENT);
    let Some((_, name)) = port else { return };
    let Some((rest, cookie)) = name.rsplit_once(':') else {
        return;
    };
    let Some((addresses, port)) = rest.rsplit_once(':') else {
        return;
    };
    let Some((_, addresses)) = addresses.split_once(':') else {
        return;
    };
    let line = format!("oxmpi-refused {cookie} {}\n", text.replace('\n', " "));
    // The last address is that of this host, where the parents' root mostly is.
    for address in addresses.split(',').rev() {
        let Ok(address) = format!("{address}:{port}").parse() else {
            continue;
        };
        if let Ok(mut stream) = TcpStream::connect_timeout(&address, TELL_TIME)
            && stream.write_all(line.as_bytes()).is_ok()
        {
            return;
        }
    }
}

/// The request of a spawned job: what users want of this one's surroundings, and the programs of the spawn.
fn request_of(outer: &Request, wanted: &SpawnRequest) -> Result<Request, String> {
    let mut programs = Vec::new();
    let mut request = Request {
        process_sets: Vec::new(),
        rank_file: None,
        ranks_per_host: None,
        ranks_per_socket: None,
        no_oversubscribe: false,
        report_bindings: false,
        input: StandardInput::Ranks(Vec::new()),
        timeout: None,
        report_pid: None,
        timeline: timeline::of_spawned(outer.timeline.as_ref()),
        print_protocols: false,
        print_rank_map: false,
        print_exit_codes: false,
        output_file: None,
        error_file: None,
        output_folder: None,
        ..outer.clone()
    };
    if request.label == Label::None {
        request.timestamps = false;
    }
    request.set.push(("PMI_SPAWNED".to_owned(), "1".to_owned()));
    for (key, value) in &wanted.preput {
        if key == names::PARENT {
            request.set.push((key.clone(), value.clone()));
        }
    }
    for command in &wanted.commands {
        programs.push(program_of(&mut request, command)?);
    }
    request.programs = programs;
    Ok(request)
}

/// The codes of processes in an answer, so many of each.
fn codes_of<'a>(codes: impl Iterator<Item = (usize, &'a str)> + Clone) -> String {
    let processes: usize = codes.clone().map(|(count, _)| count).sum();
    if processes > MOST_CODES {
        return String::new();
    }
    let each = codes.flat_map(|(count, code)| std::iter::repeat_n(code, count));
    format!(" errcodes={}", each.collect::<Vec<_>>().join(","))
}

fn hosts_in(list: &str) -> impl Iterator<Item = String> + '_ {
    let names = list.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned)
}

fn program_of(request: &mut Request, wanted: &Wanted) -> Result<Program, String> {
    let mut program = Program {
        ranks: Some(wanted.processes),
        ..Program::default()
    };
    program.command.push(OsString::from(&wanted.program));
    program
        .command
        .extend(wanted.arguments.iter().map(OsString::from));
    for (key, value) in &wanted.info {
        match key.as_str() {
            "wdir" => program.folder = Some(value.clone()),
            "path" => {
                request.path = Some(match &request.path {
                    Some(path) => format!("{value}:{path}"),
                    None => value.clone(),
                });
            }
            "host" | "hosts" => program.hosts.extend(hosts_in(value)),
            "hostfile" => program.host_file = Some(value.clone()),
            "env" => {
                for line in value.split("\\n") {
                    if let Some((name, value)) = line.split_once('=') {
                        program.set.push((name.to_owned(), value.to_owned()));
                    }
                }
            }
            "mpi_initial_errhandler" => {
                let handler = value.trim().to_ascii_lowercase();
                let name = "OXMPI_INITIAL_ERRHANDLER".to_owned();
                program.set.push((name, handler));
            }
            oxmpi::info::kinds::KEY => {
                let name = names::MEMORY_KINDS.to_owned();
                program.set.push((name, value.clone()));
            }
            "soft" => {
                // There is room for all, so it is the largest number that is allowed.
                let allowed = largest_of(value, wanted.processes.min(MOST_RANKS))?;
                program.ranks = Some(allowed.ok_or_else(|| {
                    format!(
                        "the value of soft is \"{value}\", and none of it is from 1 to {}",
                        wanted.processes
                    )
                })?);
            }
            _ => {}
        }
    }
    Ok(program)
}

/// Runs a spawned job; the exit code. The argument is the number of the socket to the supervisor above.
pub fn run(argument: Option<&OsString>) -> i32 {
    let socket = argument.and_then(|number| number.to_str()?.parse().ok());
    let Some(socket) = socket.and_then(inherited) else {
        eprintln!("mpiexec: {PART} is for mpiexec alone");
        return 1;
    };
    let mut socket = UnixStream::from(socket);
    let order = match read_order(&mut socket) {
        Ok(order) => order,
        Err(error) => {
            eprintln!("mpiexec: a request to spawn processes cannot be read: {error}");
            return 1;
        }
    };
    let mut plan = match plan::make(order.request) {
        Ok(plan) => plan,
        Err(Refusal { text, .. }) => {
            let _ = socket.write_all(format!("{REFUSED}{}\n", text.replace('\n', " ")).as_bytes());
            return 0;
        }
    };
    plan.preput = order.preput;
    plan.spawned = true;
    supervisor::run(&plan, socket)
}

fn read_order(socket: &mut UnixStream) -> io::Result<Order> {
    let mut length = [0u8; 4];
    socket.read_exact(&mut length)?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    socket.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

impl Plan {
    /// Whether it is that of a job that another one has spawned.
    pub fn is_spawned(&self) -> bool {
        self.spawned && self.place == 0
    }
}
