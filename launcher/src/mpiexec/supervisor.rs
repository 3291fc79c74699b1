//! The supervisor: ancestor of all ranks. Starts them, forwards their input and output, serves PMI-1, and sees to it that the
//! job ends as a whole. One thread, one loop. `exit_policy.rs` decides what an event means.
//!
//! Invariant: when `run` returns no process of the job is left.

use super::complain;
use super::descendants;
use super::ending::{Cause, Ending};
use super::input::Input;
use super::left_open::LeftOpen;
use super::limit_behind;
use super::mpir;
use super::nodes::frames::Frame;
use super::nodes::gather;
use super::nodes::tree::Tree;
use super::output::{Kind, Output};
use super::oversight;
use super::plan::{Plan, expand};
use super::rank::{Life, Rank};
use super::request::Label;
use super::server::Server;
use super::signals::NotedSignals;
use super::start::{Leaders, Started, Starter};
use super::state::{AtKeeper, AtRoot, Balance, Checks, Ends, Spawned, Verdict, Watching};
use super::timeline::{self, Recorder};
use oxmpi::launch::{SegmentPlan, create_segment};
use oxmpi::os::memory::Mapping;
use oxmpi::transport::layout::{self, Segment};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The high half of an epoll event's data: what it is about. The low half is a number of that kind (rank, source, ...).
pub(super) const FRONT: u64 = 0;
pub(super) const SIGNALS: u64 = 1;
pub(super) const PMI: u64 = 2;
pub(super) const SOURCE: u64 = 3;
pub(super) const SINK: u64 = 4;
pub(super) const INPUT: u64 = 5;
pub(super) const READER: u64 = 6;
pub(super) const WATCHED: u64 = 7;
pub(super) const SHARED: u64 = 8;
pub(super) const TREE: u64 = 9;
pub(super) const FEED: u64 = 10;
pub(super) const SPAWNED: u64 = 11;
pub(super) const WATCHER: u64 = 12;

pub(super) fn tag(about: u64, number: usize) -> EventData {
    EventData::new_u64(about << 32 | number as u64)
}

/// What `ps` shows.
pub const NAME: &CStr = c"oxmpi-supervise";

pub struct Supervisor<'a> {
    pub(super) plan: &'a Plan,
    pub(super) segment: Segment<'a>,
    pub(super) ranks: Vec<Rank>,
    pub(super) server: Server,
    pub(super) output: Output,
    pub(super) ending: Option<Ending>,
    /// The exit code of the first failure.
    pub(super) code: Option<i32>,
    /// The exit code that the first death would have given, in a job that survives.
    pub(super) deaths: Option<i32>,
    /// Of a job that was spawned, and is connected, somebody has survived.
    pub(super) is_outlived: bool,
    pub(super) begin: Instant,
    pub(super) checks: Checks,
    pub(super) left_open: LeftOpen,
    /// The table is to be shown before the first signal of the ending.
    pub(super) table_due: bool,
    pub(super) epoll: OwnedFd,
    pub(super) front: UnixStream,
    pub(super) signals: NotedSignals,
    pub(super) input: Input,
    /// Our end of the socket for PMI-1 that all ranks share, where there are too few descriptors for one each.
    pub(super) shared_pmi: Option<OwnedFd>,
    pub(super) rank_of_pid: HashMap<i32, usize>,
    /// Whether a process that is no rank may be left: one that a rank started and left behind.
    pub(super) childless: bool,
    /// Keepers on other hosts, if there are any.
    pub(super) tree: Option<Tree>,
    pub(super) at_root: AtRoot,
    pub(super) at_keeper: AtKeeper,
    pub(super) ends: Ends,
    /// By number; those that have ended leave their places to others.
    pub(super) spawned: Vec<Spawned>,
    pub(super) balance: Option<Balance>,
    pub(super) verdict: Verdict,
    pub(super) watching: Watching,
    /// Debuggers were told of the processes.
    pub(super) table_told: bool,
}

/// Runs the job; the exit code.
pub fn run(plan: &Plan, front: UnixStream) -> i32 {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    super::front::step_aside(NAME);
    let prepared = match prepare(plan) {
        Ok(prepared) => prepared,
        Err(text) => {
            complain(&text);
            return 1;
        }
    };
    if !super::front::is_ready(&front) {
        return 128 + 9;
    }
    let tree = match plan.further_hosts.is_empty() {
        true => None,
        false => match gather::at_root(plan, &front) {
            Ok(tree) => Some(tree),
            Err(code) => return code,
        },
    };
    supervise(plan, &prepared, front, tree)
}

/// Starts the ranks of this host and watches over the job, or at a node keeper over these ranks.
pub fn supervise(
    plan: &Plan,
    (fd, map): &(OwnedFd, Mapping),
    front: UnixStream,
    tree: Option<Tree>,
) -> i32 {
    let segment = Segment::open(map, ranks_here(plan)).and_then(|segment| {
        if tree.is_some() {
            segment.make_ends(fd.as_fd(), plan.size)?;
        }
        Ok(segment)
    });
    let supervisor = segment.and_then(|it| Supervisor::new(plan, it, front, tree));
    let timeline = match timeline::begin(plan) {
        Ok(timeline) => timeline,
        Err(text) if plan.place == 0 => {
            complain(&text);
            return 1;
        }
        Err(text) => {
            complain(&format!("{}: {text}", plan.host));
            None
        }
    };
    match supervisor {
        Ok(mut supervisor) => {
            mpir::make_gate();
            supervisor.start(fd);
            let timeline = timeline.and_then(Recorder::start);
            supervisor.watch();
            if !plan.is_spawned() && plan.singleton.is_none() {
                oversight::tell_over(&supervisor.front);
            }
            if let Some(timeline) = timeline {
                supervisor.show(&timeline.finish(plan));
            }
            supervisor.finish()
        }
        Err(error) => {
            let limit = limit_behind(&error);
            complain(&format!("cannot watch over the ranks: {error}{limit}"));
            1
        }
    }
}

/// A segment needs a rank, if only to be one.
fn ranks_here(plan: &Plan) -> usize {
    plan.here().count().max(1)
}

/// Makes the segment of this host.
pub fn prepare(plan: &Plan) -> Result<(OwnedFd, Mapping), String> {
    let segment = SegmentPlan {
        bytes: &layout::segment_bytes,
        initialise: &layout::initialise,
    };
    let made = create_segment(&segment, ranks_here(plan)).and_then(|fd| {
        let map = Mapping::of(fd.as_fd())?;
        Ok((fd, map))
    });
    made.map_err(|error| {
        let limit = limit_behind(&error);
        format!("cannot make the shared memory segment: {error}{limit}")
    })
}

impl<'a> Supervisor<'a> {
    fn new(
        plan: &'a Plan,
        segment: Segment<'a>,
        front: UnixStream,
        tree: Option<Tree>,
    ) -> io::Result<Supervisor<'a>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let signals = NotedSignals::register()?;
        front.set_nonblocking(true)?;
        epoll::add(&epoll, &front, tag(FRONT, 0), EventFlags::IN)?;
        epoll::add(&epoll, &signals, tag(SIGNALS, 0), EventFlags::IN)?;
        let mut output = Output::new([tag(SINK, 0), tag(SINK, 1)], plan.request.timestamps)?;
        if let Some(tree) = &tree {
            epoll::add(&epoll, tree.as_fd(), tag(TREE, 0), EventFlags::IN)?;
            if !tree.is_root() {
                output.go_upwards();
            }
        }
        let appnums = plan.ranks.iter().map(|rank| rank.program).collect();
        Ok(Supervisor {
            plan,
            segment,
            ranks: Vec::with_capacity(plan.ranks.len()),
            server: Server::new(
                appnums,
                plan.request.universe.size(plan.size as u32),
                plan.nodes.mapping(),
                &plan.preput,
            ),
            output,
            ending: None,
            code: None,
            deaths: None,
            is_outlived: false,
            begin: Instant::now(),
            checks: Checks::default(),
            left_open: LeftOpen::default(),
            table_due: false,
            epoll,
            front,
            signals,
            input: Input::new(tag(INPUT, 0)),
            shared_pmi: None,
            rank_of_pid: HashMap::new(),
            childless: false,
            tree,
            at_root: AtRoot::default(),
            at_keeper: AtKeeper::default(),
            ends: Ends::default(),
            spawned: Vec::new(),
            balance: Balance::new(plan, Instant::now()),
            verdict: Verdict::default(),
            watching: Watching::default(),
            table_told: false,
        })
    }

    fn start(&mut self, segment: &OwnedFd) {
        let plan = self.plan;
        if plan.singleton.is_some() {
            if let Err(error) = self.add_singleton() {
                self.say(&format!("cannot keep the singleton: {error}"));
                self.fail(1, Cause::AtOnce);
            }
            return;
        }
        if !self.is_keeper() {
            self.await_watchers();
        }
        if !plan.further_hosts.is_empty()
            && let Err(text) = self.start_elsewhere()
        {
            self.say(&text);
            self.fail(1, Cause::AtOnce);
            return;
        }
        let started = Starter::new(plan, segment).and_then(|starter| {
            if let Some(text) = starter.descriptors.explanation()
                && plan.request.verbose
            {
                self.say(text);
            }
            let mut leaders = Leaders::new(plan);
            for rank in 0..plan.ranks.len() {
                match plan.ranks[rank].place == plan.place {
                    true => {
                        let started = leaders.start_rank(&starter, rank)?;
                        self.add_started(started, rank)?;
                        // A hundred take seconds on a busy machine.
                        if let Some(tree) = &mut self.tree {
                            tree.beat();
                        }
                    }
                    false => self.add_elsewhere(rank)?,
                }
            }
            self.shared_pmi = starter.finish();
            if let Some(socket) = &self.shared_pmi {
                epoll::add(&self.epoll, socket, tag(SHARED, 0), EventFlags::IN)?;
            }
            Ok(())
        });
        if let Err((rank, error)) = started.map_err(|error| (self.ranks.len(), error)) {
            let limit = limit_behind(&error);
            let why = format!("{error}{limit}");
            if self.is_keeper() {
                self.report_start(Some((rank, why)));
            } else {
                match self.plan.is_spawned() {
                    true => self.tell_start(Some(&why)),
                    false => self.say(&format!("cannot start rank {rank}: {why}")),
                }
                self.fail(1, Cause::AtOnce);
            }
        } else if self.is_keeper() {
            self.report_start(None);
        } else {
            self.tell_start(None);
        }
        self.input.advance(&self.epoll);
    }

    fn add_started(&mut self, started: Started, number: usize) -> io::Result<()> {
        if let Some(pmi) = &started.pmi {
            epoll::add(&self.epoll, pmi, tag(PMI, number), EventFlags::IN)?;
        }
        let planned = &self.plan.ranks[number];
        let mut rank = Rank {
            session: started.session,
            pmi: started.pmi,
            ..Rank::running(number, planned.number, planned.seat, started.pid)
        };
        for (kind, stream) in [(Kind::Output, started.output), (Kind::Error, started.error)] {
            if let Some(fd) = stream {
                let label = self.label(number, kind).into_bytes();
                let copy = match self.is_keeper() {
                    true => None,
                    false => self.copy_of(number, kind)?,
                };
                let data = tag(SOURCE, self.output.next_number());
                let source = self
                    .output
                    .add(&self.epoll, (fd, copy), kind, label, data)?;
                self.at_keeper.streams.insert(source, (rank.world, kind));
                rank.sources.push(source);
            }
        }
        match started.input {
            Some(pipe) if self.is_keeper() => self.at_keeper.add_input(number, pipe),
            Some(pipe) => self.input.add(pipe, tag(READER, number)),
            None => {}
        }
        self.rank_of_pid.insert(rank.pid, number);
        self.ranks.push(rank);
        Ok(())
    }

    /// The file that gets what a rank says too, made anew.
    pub(super) fn copy_of(&self, rank: usize, kind: Kind) -> io::Result<Option<File>> {
        let copy = self.plan.ranks[rank].copies[kind as usize].as_deref();
        copy.map(super::start::create).transpose()
    }

    pub(super) fn label(&self, rank: usize, kind: Kind) -> String {
        match &self.plan.request.label {
            Label::None if self.plan.request.timestamps => match kind {
                Kind::Output => "<stdout>: ".into(),
                Kind::Error => "<stderr>: ".into(),
            },
            Label::None => String::new(),
            Label::Rank => format!("[{rank}] "),
            Label::Tag if kind == Kind::Output => format!("[1,{rank}]<stdout>: "),
            Label::Tag => format!("[1,{rank}]<stderr>: "),
            Label::Pattern(pattern) => {
                expand(pattern, rank, self.plan.size, &self.plan.host_of(rank))
            }
        }
    }

    fn watch(&mut self) {
        let mut events: Vec<Event> = Vec::with_capacity(256);
        loop {
            let now = Instant::now();
            let due = self.due(now);
            let output_due = self.output.flush(&self.epoll, now);
            let tree_due = self.tend_tree(now);
            if self.is_over(now) {
                return;
            }
            let balance_due = self.tend_balance(now);
            let verdict_due = self.tend_verdict(now);
            let debugger_due = self.tend_debuggers(now);
            let watchers_due = self.tend_watchers(now);
            let due = [
                due,
                output_due,
                tree_due,
                balance_due,
                verdict_due,
                debugger_due,
                watchers_due,
            ]
            .into_iter()
            .flatten()
            .min();
            let timeout = due.map(|due| {
                let rest = due.saturating_duration_since(now);
                // Rounded up, or the last millisecond would be spent in a busy loop.
                Timespec {
                    tv_sec: rest.as_secs() as i64,
                    tv_nsec: i64::from(rest.subsec_nanos()),
                }
            });
            events.clear();
            let spare = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, spare, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => {
                    self.say(&format!("waiting for events failed: {error}"));
                    self.fail(1, Cause::AtOnce);
                }
            }
            for event in &events {
                let data = event.data.u64();
                self.handle(data >> 32, data as u32 as usize);
            }
        }
    }

    /// Whether nothing is left to wait for.
    fn is_over(&mut self, now: Instant) -> bool {
        if self.ranks.iter().any(Rank::is_running) {
            if !self.is_hopeless(now) || self.awaits_keepers(now) {
                return false;
            }
            self.say("some processes of the job could not be ended");
            return true;
        }
        if !self.is_tree_done(now) {
            return false;
        }
        if self.has_spawned() {
            return self.is_hopeless(now) && self.spared().is_empty();
        }
        if self.childless {
            return true;
        }
        // Are there processes that ranks have left behind?
        self.reap();
        if self.childless {
            return true;
        }
        if self.ending.is_none() {
            // A pipeline that a rank began may still be writing; others have no business here any more.
            self.ending = Some(Ending::new(Cause::Leftovers, now));
        }
        self.is_hopeless(now)
    }

    fn is_hopeless(&self, now: Instant) -> bool {
        let ending = self.ending.as_ref();
        ending.is_some_and(|ending| ending.is_hopeless(now))
    }

    /// Sends the signal that is due in an ending.
    pub(super) fn signal_job(&mut self, signal: Signal) {
        if signal == Signal::KILL || self.ranks.iter().all(|rank| !rank.is_running()) {
            self.broadcast_signal(signal);
            let spared = self.tree.as_ref().filter(|tree| !tree.is_done());
            let mut spared = spared.map(Tree::starters).unwrap_or_default();
            spared.extend(self.spared());
            descendants::signal_all(signal, &spared);
            self.reap();
            return;
        }
        self.signal_ranks(signal);
    }

    /// Sends a signal to the ranks and, where they lead sessions, to what they started in these.
    pub(super) fn signal_ranks(&mut self, signal: Signal) {
        self.broadcast_signal(signal);
        let mut sessions = Vec::new();
        let here = self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
        let here = here.filter(|_| self.plan.singleton.is_none());
        for rank in here.filter(|rank| rank.is_running()) {
            match Pid::from_raw(rank.pid) {
                Some(pid) if rank.session.is_none() => {
                    let _ = kill_process(pid, signal);
                }
                Some(pid) => {
                    let _ = kill_process_group(pid, signal);
                    sessions.extend(rank.session);
                }
                None => {}
            }
        }
        // Such as the command of `timeout` in a script, which has a process group of its own.
        let led: HashSet<i32> = self.ranks.iter().map(|rank| rank.pid).collect();
        for group in descendants::further_groups(&sessions, &led) {
            if let Some(group) = Pid::from_raw(group) {
                let _ = kill_process_group(group, signal);
            }
        }
    }

    /// Stops the ranks until they are continued.
    pub(super) fn suspend_ranks(&mut self) {
        // A rank at the terminal puts it in order first. To one that is stopped already the signal means nothing.
        let here = |rank: &&Rank| rank.elsewhere.is_none();
        let at_terminal = self
            .ranks
            .iter()
            .filter(here)
            .all(|rank| rank.session.is_none());
        self.signal_ranks(if at_terminal {
            Signal::TSTP
        } else {
            Signal::STOP
        });
    }

    /// A line of mpiexec's own on standard error.
    pub(super) fn say(&mut self, text: &str) {
        self.show(&format!("mpiexec: {text}\n"));
    }

    /// A text on mpiexec's standard error.
    pub(super) fn show(&mut self, text: &str) {
        match &mut self.tree {
            Some(tree) if !tree.is_root() => tree.report(&Frame::Text(text.to_owned())),
            _ => self.output.say(text),
        }
    }

    fn print_exit_codes(&mut self) {
        let code = |rank: &Rank| match rank.life {
            Life::Running => "-".into(),
            Life::Exited(code) => code.to_string(),
            Life::Killed(signal) => (128 + signal).to_string(),
            Life::Lost => "lost".into(),
        };
        let mut hosts: Vec<(String, Vec<String>)> = Vec::new();
        for rank in &self.ranks {
            let host = self.plan.host_of(rank.number);
            match hosts.iter_mut().find(|(known, _)| *known == host) {
                Some((_, codes)) => codes.push(code(rank)),
                None => hosts.push((host, vec![code(rank)])),
            }
        }
        for (host, codes) in hosts {
            let codes = codes.join(",");
            self.output
                .print(&format!("Exit codes: [{host}] {codes}\n"));
        }
    }

    fn finish(mut self) -> i32 {
        if self.table_due {
            // The others were gone before they had to be ended.
            self.show_short_table();
        }
        if self.is_keeper() {
            return self.finish_keeper();
        }
        for warning in std::mem::take(&mut self.left_open).warnings() {
            self.say(&warning);
        }
        if self.plan.request.print_exit_codes {
            self.print_exit_codes();
        }
        // That a starter takes its time is no reason to hurry.
        let ending = self.ending.as_ref();
        let hurry = ending.is_some_and(|it| self.tree.is_none() || it.cause != Cause::Leftovers);
        let limit = hurry.then(|| Instant::now() + Duration::from_secs(1));
        let (front, mut unwanted) = (&self.front, None);
        self.output.finish(&self.epoll, limit, || {
            unwanted = unwanted.or_else(|| super::front::is_unwanted(front));
            unwanted.is_some()
        });
        self.code = self.code.or(unwanted);
        let code = self.code();
        self.tell_end(code.unwrap_or(0));
        match (code, self.output.broken()) {
            (Some(code), _) => code,
            (None, None) => 0,
            (None, Some(Errno::PIPE)) => 128 + 13,
            (None, Some(error)) => {
                complain(&format!("cannot write standard output: {error}"));
                1
            }
        }
    }
}
