//! The life of the process in the job: init, finalize, abort, and what a fork or a panic means.
//!
//! The job is joined once, by the first of MPI_Init and MPI_Session_init, and never left; between the last end and the next
//! beginning the process only says that it is outside. Invariant: [`GATE`] says whether communication is allowed: between MPI_Init
//! and MPI_Finalize, and while a session is open; a forked child sees `Forked` and never touches the job.
#![allow(unsafe_code)]

mod fabric;
#[cfg(test)]
mod footprint;
mod leftovers;
pub mod session;
pub mod sets;
pub mod settings;
pub mod survival;

use crate::attr;
use crate::coll::{self, CollContext, check};
use crate::comm;
use crate::connections;
use crate::context_id;
use crate::datatype::copying;
use crate::dynamic;
use crate::engine::waits::{Kind, Wait, Whom};
use crate::engine::{self, Engine, Threads, buffers_in_use, refusal, wait};
use crate::error::{Class, Error, Exhausted, Outside, Result, fail};
use crate::events::timeline::{self, Function, Moment, RECORDED};
use crate::events::{self, CHECKED, GATE, WAIT};
use crate::group::names;
use crate::handle;
use crate::info;
use crate::io;
use crate::launch::{self, Job, SegmentPlan};
#[cfg(feature = "papers")]
use crate::lifetime;
use crate::lifetime::collector;
use crate::node;
use crate::os::cancellation::Uncancelled;
use crate::os::process::exported_caller;
use crate::os::signals;
use crate::os::tell;
use crate::os::threads;
use crate::pt2pt::buffered::{self, Scope};
use crate::pt2pt::{TAG_UB, signatures};
use crate::rma;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::transport::deaths;
use crate::transport::ofi::{FABRIC, Fabric};
use crate::transport::shm::endpoint::Endpoint;
use crate::transport::shm::layout;
use crate::transport::{self, State as PageState, Transport, World as PageWorld};
use crate::variables::check::CHECK;
use parking_lot::Mutex;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;

/// Where the process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    NotInitialized = 0,
    Running = 1,
    Finalized = 2,
    /// A child of a process that was running: MPI is its parent's.
    Forked = 3,
}

/// Levels of thread support, with the numbers of the C ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum ThreadLevel {
    Single = 0,
    Funneled = 1,
    Serialized = 2,
    Multiple = 3,
}

static LEVEL: AtomicU32 = AtomicU32::new(0);
static JOB: OnceLock<Job> = OnceLock::new();
static MAIN_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);
static LIFE: Mutex<Life> = Mutex::new(Life {
    world: World::Before,
    sessions: 0,
});

/// What keeps the process inside.
struct Life {
    world: World,
    /// Open ones.
    sessions: usize,
}

impl Life {
    /// Tells mpiexec how many are open.
    fn tell_sessions(&self) {
        if let Some(page) = engine::own_page() {
            page.sessions.store(self.sessions as u32, Ordering::Release);
        }
    }
}

/// The world model: what is between MPI_Init and MPI_Finalize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    Before,
    Initialized,
    Finalized,
}

/// [`World`] for those who ask at any time.
static WORLD: AtomicU32 = AtomicU32::new(World::Before as u32);
/// What a peer reads to prove that it can read this process's memory.
static PROBE: AtomicU64 = AtomicU64::new(0);

/// Where the process is now.
#[inline]
pub fn state() -> State {
    match GATE.load(Ordering::Acquire) & !(WAIT | RECORDED | CHECKED) {
        0 => State::NotInitialized,
        1 => State::Running,
        2 => State::Finalized,
        _ => State::Forked,
    }
}

/// Whether communication is allowed.
pub fn is_running() -> bool {
    state() == State::Running
}

/// Whether communication is allowed, no event waits to be told and no call is recorded or checked: one load, asked by every entry.
#[inline(always)]
pub fn is_running_and_quiet() -> bool {
    GATE.load(Ordering::Relaxed) == State::Running as u32
}

fn set_state(state: State) {
    let change = |word| Some(word & (WAIT | RECORDED | CHECKED) | state as u32);
    // It never fails: there is always a new word.
    let _ = GATE.fetch_update(Ordering::AcqRel, Ordering::Relaxed, change);
}

/// Why communication is not allowed, in words.
pub fn why_not_running() -> &'static str {
    state().in_words()
}

impl State {
    fn in_words(self) -> &'static str {
        match self {
            State::NotInitialized => "called before MPI_Init and without a session",
            State::Running => "called while MPI is running",
            State::Finalized => "called after MPI_Finalize",
            State::Forked => "called in a forked child: MPI belongs to its parent",
        }
    }
}

impl ThreadLevel {
    pub const ALL: [ThreadLevel; 4] = [
        ThreadLevel::Single,
        ThreadLevel::Funneled,
        ThreadLevel::Serialized,
        ThreadLevel::Multiple,
    ];

    /// As it is called in the C ABI.
    pub fn name(self) -> &'static str {
        match self {
            ThreadLevel::Single => "MPI_THREAD_SINGLE",
            ThreadLevel::Funneled => "MPI_THREAD_FUNNELED",
            ThreadLevel::Serialized => "MPI_THREAD_SERIALIZED",
            ThreadLevel::Multiple => "MPI_THREAD_MULTIPLE",
        }
    }
}

/// MPI_Initialized: true also after MPI_Finalize.
pub fn is_initialized() -> bool {
    WORLD.load(Ordering::Acquire) != World::Before as u32
}

/// MPI_Finalized.
pub fn is_finalized() -> bool {
    WORLD.load(Ordering::Acquire) == World::Finalized as u32
}

/// The level that MPI_Init_thread gave.
pub fn thread_level() -> ThreadLevel {
    match LEVEL.load(Ordering::Relaxed) {
        0 => ThreadLevel::Single,
        1 => ThreadLevel::Funneled,
        2 => ThreadLevel::Serialized,
        _ => ThreadLevel::Multiple,
    }
}

/// Whether this is the thread that initialised MPI.
pub fn is_main_thread() -> bool {
    *MAIN_THREAD.lock() == Some(std::thread::current().id())
}

/// The job, from init on.
pub fn job() -> Option<&'static Job> {
    JOB.get()
}

/// MPI_Init_thread. Returns the level given, which is the one asked for.
///
/// Errors: MPI_ERR_OTHER when called twice, or when the job cannot be joined; the text says why.
pub fn init(level: ThreadLevel) -> Result<ThreadLevel> {
    static INIT: Function = Function::new("MPI_Init");
    let begin = Moment::now();
    let mut life = LIFE.lock();
    if life.world != World::Before || state() == State::Forked {
        return fail!(
            Class::Other,
            "MPI can be initialised once; this was {}",
            match life.world {
                World::Finalized => State::Finalized.in_words(),
                _ => why_not_running(),
            }
        );
    }
    let job = enter_job(level)?;
    comm::start(job.rank, job.size);
    for handle in [comm::WORLD, comm::SELF] {
        if let Some(comm) = comm::find(handle) {
            comm.errhandler
                .set(settings::INITIAL_ERRHANDLER.get().handle());
        }
    }
    describe(job, level);
    *MAIN_THREAD.lock() = Some(std::thread::current().id());
    LEVEL.store(level as u32, Ordering::Relaxed);
    life.world = World::Initialized;
    WORLD.store(World::Initialized as u32, Ordering::Release);
    tell_world(PageWorld::Initialized);
    drop(life);
    dynamic::meet_parents()?;
    timeline::spanned(&INIT, &begin);
    Ok(level)
}

/// Tells mpiexec how far the world model is.
fn tell_world(world: PageWorld) {
    if let Some(page) = engine::own_page() {
        page.set_world(world);
    }
}

/// Whether the process is between MPI_Init and MPI_Finalize.
pub fn is_in_world() -> bool {
    is_running() && is_initialized() && !is_finalized()
}

/// For a session that begins: joins the job if that was not done yet. Without a wish the level is that of MPI_Init, or
/// MPI_THREAD_MULTIPLE.
fn begin_session(wish: Option<ThreadLevel>) -> Result<ThreadLevel> {
    let mut life = LIFE.lock();
    if state() == State::Forked {
        return fail!(Class::Other, "{}", why_not_running());
    }
    let otherwise = match life.world {
        World::Initialized => thread_level(),
        _ => ThreadLevel::Multiple,
    };
    let level = wish.unwrap_or(otherwise);
    enter_job(level)?;
    life.sessions += 1;
    life.tell_sessions();
    Ok(level)
}

/// For a session that ended: what it has sent leaves before the process is outside.
fn end_session() -> Result<()> {
    if state() == State::Forked {
        return Ok(());
    }
    let is_last = {
        let life = LIFE.lock();
        life.sessions == 1 && life.world != World::Initialized
    };
    if is_last {
        io::finish("MPI_Session_finalize");
        drain("MPI_Session_finalize", Engine::is_drained_but_for_withdrawn);
        if let Some(job) = JOB.get() {
            leftovers::report_session(job.rank);
        }
        // What comes later begins without the process's buffer, as after MPI_Finalize.
        buffered::detach_all(|_| true)?;
    }
    let mut life = LIFE.lock();
    life.sessions -= 1;
    life.tell_sessions();
    leave_job(&life)
}

/// Joins the job, or is inside again; `level` says whether several threads will come.
fn enter_job(level: ThreadLevel) -> Result<&'static Job> {
    let job = match JOB.get() {
        Some(job) => job,
        None => join(level)?,
    };
    if level == ThreadLevel::Multiple {
        // SAFETY: below MPI_THREAD_MULTIPLE the program has one thread in the library at a time, which is this one; it has no guard.
        unsafe { engine::set_threads(Threads::Multiple) };
    }
    if let Some(page) = engine::own_page() {
        page.waits.allow(level > ThreadLevel::Funneled);
        page.set_state(PageState::Joined);
    }
    set_state(State::Running);
    Ok(job)
}

/// Is outside, unless something is still open.
fn leave_job(life: &Life) -> Result<()> {
    if life.world == World::Initialized || life.sessions > 0 {
        return Ok(());
    }
    // All communication is done.
    // SAFETY: below MPI_THREAD_MULTIPLE the program has one thread in the library at a time, which is this one; it has no guard.
    unsafe { rma::hosts::service::stop() };
    rma::in_place::finish();
    collector::collect();
    drain("MPI_Finalize", Engine::has_left);
    connections::begin_to_leave();
    let reason = at_the_end("MPI_Finalize");
    wait::until(&reason, |engine| {
        connections::has_left(engine).then_some(())
    });
    connections::end_unused();
    dynamic::leave();
    if let Some(page) = engine::own_page() {
        page.set_state(PageState::Finalized);
    }
    let outside = match life.world {
        World::Finalized => State::Finalized,
        _ => State::NotInitialized,
    };
    set_state(outside);
    match outside {
        State::Finalized => JOB.get().map_or(Ok(()), Job::finalize),
        // A session or MPI_Init may follow, which asks the launcher for cards of peers that nobody has spoken to yet: see `exiting`.
        _ => Ok(()),
    }
}

fn join(level: ThreadLevel) -> Result<&'static Job> {
    let plan = SegmentPlan {
        bytes: &layout::segment_bytes,
        initialise: &layout::initialise,
    };
    let job = launch::join(&plan)?;
    settings::read(job.rank);
    launch::nodes::joined(&job.nodes);
    record(&job)?;
    signatures::begin();
    check::begin();
    if CHECK.get().buffers || CHECK.get().buffering {
        buffers_in_use::begin();
    }
    start_engine(&job, level)?;
    launch::wait_for_debugger(&job);
    names::set_own(job.id, job.size);
    comm::set_own_process(job.rank, job.size);
    attr::set(attr::TAG_UB, Some(TAG_UB));
    attr::set(attr::UNIVERSE_SIZE, job.universe_size);
    attr::set(attr::APPNUM, job.appnum);
    survival::begin();
    describe(&job, level);
    *MAIN_THREAD.lock() = Some(std::thread::current().id());
    install_hooks();
    let job = JOB.get_or_init(|| job);
    dynamic::set_job(job, settings::compared_by_other_jobs());
    Ok(job)
}

/// Begins the timeline, if mpiexec wants one.
fn record(job: &Job) -> Result<()> {
    let Some(fd) = launch::timeline(job)? else {
        return Ok(());
    };
    let begun = timeline::begin(fd.as_fd(), job.seat());
    events::listen_for_timeline();
    begun.map_err(|error| {
        let text = format!("rank {} cannot write its timeline: {error}", job.rank);
        Error::new(Class::Other, text)
    })
}

/// Fills MPI_INFO_ENV.
fn describe(job: &Job, level: ThreadLevel) {
    let arguments: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut environment = info::of_start(&arguments);
    let size = job.size.to_string();
    for (key, value) in [
        ("maxprocs", size.as_str()),
        ("soft", &size),
        ("thread_level", level.name()),
    ] {
        // All are short enough.
        let _ = environment.set(key, value);
    }
    // A text that is too long is left out.
    if let Ok(kinds) = std::env::var(crate::launch::names::MEMORY_KINDS) {
        let _ = environment.set(info::kinds::KEY, &kinds);
    }
    info::set_environment(environment);
}

fn start_engine(job: &Job, level: ThreadLevel) -> Result<()> {
    let rank = job.rank as usize;
    let no_segment = |error: std::io::Error| {
        Error::new(
            Class::Other,
            format!("rank {rank} cannot use the job's shared memory: {error}"),
        )
    };
    let fd: OwnedFd = job.segment.try_clone().map_err(no_segment)?;
    let seat = job.seat();
    let endpoint = Endpoint::join(fd, seat, &job.local_ranks).map_err(no_segment)?;
    settings::compare(&endpoint, &job.local_ranks, seat)?;
    node::set_here(endpoint.node());
    copying::set_ranks(job.local_ranks.len());
    endpoint.hear_of_deaths();
    let mut table = endpoint.table(job.size, Arc::new(launch::nodes::of));
    let fabric = match FABRIC.get() {
        Fabric::No if launch::nodes::are_hosts() => Fabric::Auto,
        fabric => fabric,
    };
    let over_net = fabric != Fabric::No && launch::nodes::number() > 1;
    if over_net {
        table = table.with_net();
    }
    let table = Arc::new(table);
    let status = table.own();
    // Should mpiexec have believed that this rank had ended.
    status.clear_loss();
    let pid = std::process::id();
    let now = crate::os::monotonic_nanoseconds();
    status.waits.join(now);
    threads::count_at(&status.waits.own_threads);
    let nonce = now ^ u64::from(pid) << 32 | 1;
    PROBE.store(nonce, Ordering::Relaxed);
    status.introduce();
    status
        .probe_address
        .store(PROBE.as_ptr() as u64, Ordering::Relaxed);
    status.probe_value.store(nonce, Ordering::Relaxed);
    #[cfg(feature = "papers")]
    lifetime::start();
    handle::when_handles_run_out(collector::collect);
    context_id::before_creations(collector::before_id);
    let transport = match over_net {
        true => {
            let engines = engine::mapping::wanted(level == ThreadLevel::Multiple);
            let net = fabric::open(job, fabric, table.clone(), engines)?;
            Transport::with_net(table, endpoint, net)
        }
        false => Transport::new(table, endpoint),
    };
    engine::mapping::offer(&transport, level == ThreadLevel::Multiple);
    // SAFETY: `LIFE` is locked, and before MPI is initialised programs may call what initialises it, and queries.
    unsafe { engine::start(transport) };
    if matches!(job.how, launch::Launcher::Pmi1 | launch::Launcher::Pmix) {
        deaths::watch(engine::enter().transport().table());
    }
    if matches!(job.how, launch::Launcher::Pmi1) {
        // By `-disable-auto-cleanup` hydra sends it to all ranks whenever one has ended, with an error or without.
        signals::survive(libc::SIGUSR1);
    }
    Ok(())
}

fn install_hooks() {
    // SAFETY: the handler only stores to atomics, which is safe in a forked child.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    // SAFETY: the handler only stores to the segment, which is never unmapped.
    unsafe { libc::atexit(exiting) };
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let _uncancelled = Uncancelled::begin();
        let rank = JOB.get().map_or(0, |job| job.rank);
        let function = exported_caller(&["MPI_", "PMPI_", "MPIX_"])
            .unwrap_or_else(|| "a function of MPI".to_owned());
        let payload = panic.payload();
        let exhausted = payload.downcast_ref::<Exhausted>();
        let exhausted = exhausted.map(|it| (Class::NoMem, &it.0));
        let outside = payload.downcast_ref::<Outside>();
        let outside = outside.map(|it| (Class::Other, &it.0));
        if let Some((class, text)) = exhausted.or(outside) {
            tell(&format!(
                "oxmpi: rank {rank}: {function} failed\noxmpi:   {}: {text}\n",
                class.name()
            ));
            abort(class.value());
        }
        before(panic);
        tell(&format!(
            "oxmpi: rank {rank} failed inside {function}; this is an error of the library or of a peer that wrote nonsense: {panic}\n"
        ));
        abort(1);
    }));
}

extern "C" fn forked() {
    if JOB.get().is_some() {
        GATE.store(State::Forked as u32, Ordering::Release);
        transport::note_fork();
    }
}

/// Ranks that still wait for this one, in a session, wait in vain. A process is done now that has had sessions only, has left some open, or
/// whose MPI_Finalize has failed: only MPI_Init without MPI_Finalize is an error for the launcher. No lock is taken that the caller of exit
/// may hold, which may be a callback.
extern "C" fn exiting() {
    if state() == State::Forked {
        return;
    }
    let (Some(page), Some(job)) = (engine::own_page(), JOB.get()) else {
        return;
    };
    page.set_exited();
    if page.sessions.load(Ordering::Relaxed) > 0 && page.world() != PageWorld::Initialized {
        leftovers::report_sessions(job.rank);
    }
    if page.world() != PageWorld::Initialized {
        // There is nobody to tell of an error any more.
        let _ = job.finalize_at_exit();
    }
}

/// MPI_Finalize. Callbacks and user objects are the edge's business, before this.
///
/// Errors: MPI_ERR_OTHER when MPI is not running, or a rank is lost. In a forked child it does nothing.
pub fn finalize() -> Result<()> {
    static FINALIZE: Function = Function::new("MPI_Finalize");
    let begin = Moment::now();
    let mut life = LIFE.lock();
    match (state(), life.world) {
        (State::Forked, _) => return Ok(()),
        (_, World::Initialized) => {}
        (_, World::Before) => return fail!(Class::Other, "called before MPI_Init"),
        (_, World::Finalized) => return fail!(Class::Other, "{}", State::Finalized.in_words()),
    }
    let finalized = finalize_world(&mut life);
    timeline::spanned(&FINALIZE, &begin);
    if finalized.is_err() {
        tell_world(PageWorld::Failed);
    }
    finalized
}

fn finalize_world(life: &mut Life) -> Result<()> {
    let is_last = life.sessions == 0;
    if is_last {
        io::finish("MPI_Finalize");
    }
    context_id::at_finalize();
    // From here on the program posts no receive: messages that wait for one would wait for ever, also those of peers that wait
    // for their own messages in here.
    if is_last {
        refusal::refuse_all(true);
    }
    buffered::detach_all(Scope::is_of_world)?;
    // What sessions have begun may need ranks that are in here, too.
    if is_last {
        drain("MPI_Finalize", Engine::is_drained_but_for_withdrawn);
    }
    let page = engine::own_page();
    if let Some(page) = page.filter(|_| is_last) {
        let receiving = engine::counts().posted > 0;
        page.set_finalizing(receiving);
        connections::say_finalizing(receiving);
    }
    let mut have_all_come = true;
    if let Some(world) = comm::find(comm::WORLD) {
        match coll::block_on(coll::barrier_on(&CollContext::of_finalize(world))) {
            // What this process had to send has left, and nobody who lives waits for it but in this barrier, which ends on all of them.
            Err(error) if survival::survives() && !world.failed().is_empty() => {
                drop(error);
                have_all_come = false;
            }
            come => come?,
        }
    }
    if is_last {
        drain("MPI_Finalize", Engine::is_drained);
        refusal::refuse_all(false);
    }
    // Objects of an open session may go on: the last one tells.
    if let Some(job) = JOB.get().filter(|_| is_last) {
        let all = comm::get(comm::WORLD).filter(|_| have_all_come);
        leftovers::report(all, job.rank);
    }
    buffers_in_use::clear();
    if let Some(page) = page.filter(|_| have_all_come) {
        // All have come: nobody waits in vain on anything of the world's, and a session may follow.
        page.clear_loss();
        connections::say_staying();
    }
    comm::stop();
    life.world = World::Finalized;
    WORLD.store(World::Finalized as u32, Ordering::Release);
    tell_world(PageWorld::Finalized);
    leave_job(life)
}

fn at_the_end(function: &'static str) -> wait::Reason<'static> {
    let what = &|_: bool| Wait::of(Kind::Finalize, Whom::Any);
    wait::Reason { function, what }
}

/// Waits until what was begun to be sent has left.
fn drain(function: &'static str, mut has_left: impl FnMut(&mut Engine) -> bool) {
    let engines = engine::in_use();
    wait::until_in(engines, &at_the_end(function), |cursor| {
        let numbers = engine::numbers(engines);
        // Each is asked: that may begin what has to be done.
        let open = numbers
            .filter(|number| !has_left(cursor.at(*number)))
            .count();
        (open == 0).then_some(())
    });
}

/// MPI_Abort: ends the job with this exit code.
pub fn abort(code: i32) -> ! {
    let _uncancelled = Uncancelled::begin();
    let Some(job) = JOB.get() else {
        crate::os::process::exit_now(launch::exit_status(code));
    };
    if state() == State::Forked {
        crate::os::process::exit_now(launch::exit_status(code));
    }
    io::abandon();
    if let Some(page) = engine::own_page() {
        page.abort_code.store(code, Ordering::Relaxed);
        page.set_state(PageState::Aborted);
    }
    job.abort(code)
}
