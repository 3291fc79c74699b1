//! How often a wait looks, polls and yields before it does what costs more: the counts of all waits, so that one can be judged beside the others.
//!
//! A *look* reads what another process is to store, some nanoseconds. A *poll* lets an engine make progress and looks then, tens of nanoseconds;
//! that of a task is one of its turns. A *yield* is a call of `sched_yield`, a third of a microsecond where no other thread wants the core. A
//! *check* asks whether those that are waited for still live. What users can set (SPINS, SPINS_OVERSUBSCRIBED, SLEEP_AFTER) is with the wait itself,
//! `engine/wait.rs`.

/// Looks before the engine makes progress in between, or the core is given away where there is no engine.
pub const LOOKS: u32 = 100;
/// Looks at what a thread of the target does for this one before it sleeps.
pub const LOOKS_AT_HELPER: u32 = 300;
/// Looks at an operation that the target may do before the clock is asked whether it has had the time.
pub const LOOKS_AT_TARGET: u32 = 16;
/// Looks in vain for each check.
pub const LOOKS_PER_CHECK: u32 = 16;
/// Idle polls before the first check of a message's sender.
pub const POLLS_BEFORE_CHECK: u32 = 16;
/// As [`LOOKS_PER_CHECK`], of a task that waits for a meeting of ranks.
pub const TASK_LOOKS_PER_CHECK: u32 = 64;
/// Polls of a task, or of all tasks while none of them moves, for each check.
pub const TASK_POLLS_PER_CHECK: u32 = 1024;

/// Polls of the engines that are waited for, for each poll of the others.
pub const OWN_POLLS: u64 = 64;
/// Polls before a wait sleeps while other programs want its core: about a microsecond.
pub const CONTENDED_POLLS: u64 = 200;
/// Polls of a wait without a yield behind an operation that it has done for another process: the next one comes within microseconds.
pub const POLLS_AFTER_OPERATION: u32 = 200;
/// Polls of a blocking receive before it makes a request and waits like the others.
pub const DIRECT_POLLS: u32 = 500;
/// As [`DIRECT_POLLS`], where a waiting thread also polls other engines.
pub const DIRECT_POLLS_OF_SEVERAL: u32 = 100;

/// Yields before the first poll, where the wait is not for a message.
pub const FIRST_YIELDS: u32 = 4;
/// Yields of a wait for messages before a collective operation says that its rank may sleep: fewer than before it does.
pub const RESTLESS_YIELDS: u32 = 8;
/// Yields without a change of threads before a wait sleeps, on an oversubscribed node. Under autogroup `sched_yield` yields only within the
/// session: on a busy machine it has no effect for a time slice, in which the awaited rank may not run.
pub const KEPT_YIELDS: u32 = 24;
/// Yields that gave the core away before a wait sleeps, on an oversubscribed node. The kernel divides the time of a core evenly, so threads that
/// wait yield to each other until they have used as much of it as the one that works, and that they wait for.
pub const GIVEN_YIELDS: u32 = 12;
/// Yields before a wait is published; the condition is checked after each.
pub const YIELDS: u32 = 32;
/// Yields for each check while another process holds something for microseconds only: about a millisecond.
pub const HELD_YIELDS_PER_CHECK: u32 = 2000;

const _: () =
    assert!(RESTLESS_YIELDS < GIVEN_YIELDS && GIVEN_YIELDS < KEPT_YIELDS && KEPT_YIELDS < YIELDS);
