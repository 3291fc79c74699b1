//! The life of the process in the job: init, finalize, abort, and what a fork or a panic means.
//!
//! Invariant: `STATE` says whether communication is allowed; a forked child sees `Forked` and never touches the job.
#![allow(unsafe_code)]

pub mod session;
pub mod settings;

use crate::attr;
use crate::coll::{self, Lane};
use crate::comm;
use crate::constructors::context;
use crate::engine::{self, enter, wait};
use crate::error::{Class, Error, Result, fail};
use crate::info;
use crate::launch::{self, Job, SegmentPlan};
use crate::pt2pt::{TAG_UB, buffered};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::transport::shm::endpoint::Endpoint;
use crate::transport::shm::layout;
use crate::transport::shm::status::State as PageState;
use parking_lot::Mutex;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
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

static STATE: AtomicU32 = AtomicU32::new(0);
static LEVEL: AtomicU32 = AtomicU32::new(0);
static JOB: OnceLock<Job> = OnceLock::new();
static MAIN_THREAD: OnceLock<ThreadId> = OnceLock::new();
static LIFE: Mutex<()> = Mutex::new(());
/// What a peer reads to prove that it can read this process's memory.
static PROBE: AtomicU64 = AtomicU64::new(0);

/// Where the process is now.
#[inline]
pub fn state() -> State {
    match STATE.load(Ordering::Acquire) {
        0 => State::NotInitialized,
        1 => State::Running,
        2 => State::Finalized,
        _ => State::Forked,
    }
}

/// Whether communication is allowed: one load, asked by every entry.
#[inline(always)]
pub fn is_running() -> bool {
    STATE.load(Ordering::Relaxed) == State::Running as u32
}

/// Why communication is not allowed, in words.
pub fn why_not_running() -> &'static str {
    match state() {
        State::NotInitialized => "called before MPI_Init",
        State::Running => "called while MPI is running",
        State::Finalized => "called after MPI_Finalize",
        State::Forked => "called in a forked child: MPI belongs to its parent",
    }
}

/// MPI_Initialized: true also after MPI_Finalize.
pub fn is_initialized() -> bool {
    state() != State::NotInitialized
}

/// MPI_Finalized.
pub fn is_finalized() -> bool {
    state() == State::Finalized
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
    MAIN_THREAD.get() == Some(&std::thread::current().id())
}

/// The job, from init on.
pub fn job() -> Option<&'static Job> {
    JOB.get()
}

/// MPI_Init_thread: joins the job. Returns the level given, which is the one asked for.
///
/// Errors: MPI_ERR_OTHER when called twice, or when the job cannot be joined; the text says why.
pub fn init(level: ThreadLevel) -> Result<ThreadLevel> {
    let _life = LIFE.lock();
    if state() != State::NotInitialized {
        return fail!(
            Class::Other,
            "MPI can be initialised once; this was {}",
            why_not_running()
        );
    }
    let plan = SegmentPlan {
        bytes: &layout::segment_bytes,
        initialise: &layout::initialise,
    };
    let job = launch::join(&plan)?;
    settings::read(job.rank);
    if job.local_ranks.len() != job.size as usize {
        return fail!(
            Class::Other,
            "the job has {} ranks, of which {} are on this node: jobs of several nodes are not supported yet",
            job.size,
            job.local_ranks.len()
        );
    }
    start_engine(&job, level)?;
    comm::start(job.rank, job.size);
    describe(&job, level);
    let _ = JOB.set(job);
    let _ = MAIN_THREAD.set(std::thread::current().id());
    LEVEL.store(level as u32, Ordering::Relaxed);
    install_hooks();
    STATE.store(State::Running as u32, Ordering::Release);
    Ok(level)
}

/// Fills what programs can ask about the job: predefined attributes and MPI_INFO_ENV.
fn describe(job: &Job, level: ThreadLevel) {
    attr::set(attr::TAG_UB, Some(TAG_UB));
    attr::set(attr::UNIVERSE_SIZE, job.universe_size);
    attr::set(attr::APPNUM, job.appnum);
    let arguments: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut environment = info::of_start(&arguments);
    let level = match level {
        ThreadLevel::Single => "MPI_THREAD_SINGLE",
        ThreadLevel::Funneled => "MPI_THREAD_FUNNELED",
        ThreadLevel::Serialized => "MPI_THREAD_SERIALIZED",
        ThreadLevel::Multiple => "MPI_THREAD_MULTIPLE",
    };
    let size = job.size.to_string();
    for (key, value) in [
        ("maxprocs", size.as_str()),
        ("soft", &size),
        ("thread_level", level),
    ] {
        // Both are short enough.
        let _ = environment.set(key, value);
    }
    info::set_environment(environment);
}

fn start_engine(job: &Job, level: ThreadLevel) -> Result<()> {
    let (rank, size) = (job.rank as usize, job.size as usize);
    let no_segment = |error: std::io::Error| {
        Error::new(
            Class::Other,
            format!("rank {rank} cannot use the job's shared memory: {error}"),
        )
    };
    let fd: OwnedFd = job.segment.try_clone().map_err(no_segment)?;
    let endpoint = Endpoint::join(fd, rank, size).map_err(no_segment)?;
    let status = &endpoint.page(rank).status;
    let pid = std::process::id();
    let nonce = crate::os::monotonic_nanoseconds() ^ u64::from(pid) << 32 | 1;
    PROBE.store(nonce, Ordering::Relaxed);
    status.pid.store(pid as i32, Ordering::Relaxed);
    status
        .probe_address
        .store(PROBE.as_ptr() as u64, Ordering::Relaxed);
    status.probe_value.store(nonce, Ordering::Relaxed);
    status
        .settings
        .store(context::settings_word(), Ordering::Relaxed);
    status.set_state(PageState::Joined);
    engine::start(endpoint, level == ThreadLevel::Multiple);
    Ok(())
}

fn install_hooks() {
    // SAFETY: the handler only stores to an atomic, which is safe in a forked child.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        let rank = JOB.get().map_or(0, |job| job.rank);
        let function = calling_function().unwrap_or_else(|| "a function of MPI".to_owned());
        eprintln!(
            "oxmpi: rank {rank} failed inside {function}; this is an error of the library or of a peer that wrote nonsense: {panic}"
        );
        abort(1);
    }));
}

/// The exported function on this thread's stack.
fn calling_function() -> Option<String> {
    let trace = std::backtrace::Backtrace::force_capture().to_string();
    trace
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .find(|word| word.starts_with("MPI_") || word.starts_with("PMPI_"))
        .map(str::to_owned)
}

extern "C" fn forked() {
    if is_running() {
        STATE.store(State::Forked as u32, Ordering::Release);
    }
}

/// MPI_Finalize. Callbacks and user objects are the edge's business, before this.
///
/// Errors: MPI_ERR_OTHER when MPI is not running. In a forked child it does nothing.
pub fn finalize() -> Result<()> {
    let _life = LIFE.lock();
    match state() {
        State::Running => {}
        State::Forked => return Ok(()),
        _ => return fail!(Class::Other, "{}", why_not_running()),
    }
    context::at_finalize();
    buffered::detach_all()?;
    let reason = wait::Reason::of("MPI_Finalize");
    wait::until(&reason, |engine| engine.is_drained().then_some(()));
    if let Some(page) = engine::status_page() {
        page.leave();
    }
    if let Some(world) = comm::get(comm::WORLD) {
        coll::now(coll::barrier_on(&Lane::of_finalize(world)))?;
    }
    wait::until(&reason, |engine| engine.is_drained().then_some(()));
    {
        let engine = enter();
        let endpoint = engine.endpoint();
        endpoint
            .page(endpoint.me())
            .status
            .set_state(PageState::Finalized);
    }
    STATE.store(State::Finalized as u32, Ordering::Release);
    if let Some(job) = JOB.get() {
        job.finalize()?;
    }
    Ok(())
}

/// MPI_Abort: ends the job with this exit code.
pub fn abort(code: i32) -> ! {
    let Some(job) = JOB.get() else {
        crate::os::process::exit_now(launch::exit_status(code));
    };
    if state() == State::Forked {
        crate::os::process::exit_now(launch::exit_status(code));
    }
    if let Some(page) = engine::status_page() {
        page.abort_code.store(code, Ordering::Relaxed);
        page.set_state(PageState::Aborted);
    }
    job.abort(code)
}
