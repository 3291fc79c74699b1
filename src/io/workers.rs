//! Threads of the library's own that work behind the calls of the program.
//!
//! ```text
//! queue     what is done one after the other: collective accesses of one file; independent ones of all files
//! workers   as many as there are queues with work; one without work for a while ends
//! ```
//!
//! A collective access waits for other ranks, which may have begun those of several files in another order: hence a queue for each file.
//! Independent ones wait for nobody who waits for them. Invariant: a queue is served by one thread at a time; a worker never enters an
//! engine (debug builds check that), and has all signals blocked but SIGBUS.

use crate::engine::published::Busy;
use crate::os::{file_map, threads};
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Something to be done.
pub type Job = Box<dyn FnOnce() + Send>;

const STACK_BYTES: usize = 512 << 10;
/// How long a worker without work stays.
const IDLE_FOR: Duration = Duration::from_secs(5);

#[derive(Default)]
struct State {
    jobs: VecDeque<(Job, Busy)>,
    /// Whether a thread works on it, or is about to.
    served: bool,
}

/// See the module.
#[derive(Default)]
pub struct Queue(Mutex<State>);

struct Pool {
    /// Queues with work that no thread has taken yet.
    ready: VecDeque<Arc<Queue>>,
    /// Workers that wait for a queue, those included that are woken for one.
    idle: usize,
    ends: bool,
    threads: Vec<JoinHandle<()>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    ready: VecDeque::new(),
    idle: 0,
    ends: false,
    threads: Vec::new(),
});
static WORK: Condvar = Condvar::new();

thread_local! {
    static IS_IN_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread does something for a queue.
pub fn is_in_job() -> bool {
    IS_IN_JOB.get()
}

impl Queue {
    /// Has a worker do this after what the queue has already. Where no thread is to be had, it is done here and now.
    pub fn give(self: &Arc<Self>, job: Job) {
        {
            let mut state = self.0.lock();
            state.jobs.push_back((job, Busy::begin()));
            if std::mem::replace(&mut state.served, true) {
                return;
            }
        }
        if POOL.lock().find(self).is_err() {
            self.serve();
        }
    }

    /// Does all that there is.
    fn serve(&self) {
        loop {
            let job = {
                let mut state = self.0.lock();
                let job = state.jobs.pop_front();
                state.served = job.is_some();
                job
            };
            match job {
                Some((job, busy)) => {
                    IS_IN_JOB.set(true);
                    job();
                    IS_IN_JOB.set(false);
                    drop(busy);
                }
                None => return,
            }
        }
    }
}

impl Pool {
    /// Finds a worker for a queue.
    ///
    /// Errors: no thread is to be had.
    fn find(&mut self, queue: &Arc<Queue>) -> std::io::Result<()> {
        self.ready.push_back(queue.clone());
        if self.ready.len() <= self.idle {
            WORK.notify_one();
            return Ok(());
        }
        self.threads.retain(|thread| !thread.is_finished());
        match threads::start("oxmpi-files", STACK_BYTES, work) {
            Ok(thread) => {
                self.threads.push(thread);
                Ok(())
            }
            Err(error) => {
                self.ready.pop_back();
                Err(error)
            }
        }
    }
}

/// What a worker does.
fn work() {
    file_map::unblock();
    let mut pool = POOL.lock();
    loop {
        if let Some(queue) = pool.ready.pop_front() {
            drop(pool);
            queue.serve();
            drop(queue);
            pool = POOL.lock();
            continue;
        }
        if pool.ends {
            return;
        }
        pool.idle += 1;
        let waited = WORK.wait_for(&mut pool, IDLE_FOR);
        pool.idle -= 1;
        if waited.timed_out() && pool.ready.is_empty() {
            return;
        }
    }
}

/// Ends the workers, when there is nothing left to do.
pub fn end() {
    let threads = {
        let mut pool = POOL.lock();
        pool.ends = true;
        std::mem::take(&mut pool.threads)
    };
    WORK.notify_all();
    for thread in threads {
        // A panic of it has ended the job.
        let _ = thread.join();
    }
    POOL.lock().ends = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::aside;
    use std::sync::Barrier;
    use std::sync::mpsc;

    /// The jobs of a queue come one after the other; two queues whose jobs wait for each other both go on.
    #[test]
    fn queues_do_not_wait_for_each_other() {
        let queues = [Arc::new(Queue::default()), Arc::new(Queue::default())];
        let meet = Arc::new(Barrier::new(2));
        let (tell, told) = mpsc::channel();
        for number in 0..20 {
            for (at, queue) in queues.iter().enumerate() {
                let (meet, tell) = (meet.clone(), tell.clone());
                queue.give(Box::new(move || {
                    assert!(aside::is_here());
                    meet.wait();
                    tell.send((at, number)).unwrap();
                }));
            }
        }
        drop(tell);
        let all: Vec<(usize, i32)> = told.iter().collect();
        for at in 0..queues.len() {
            let own = all.iter().filter(|(queue, _)| *queue == at);
            assert!(own.map(|(_, number)| *number).eq(0..20));
        }
        assert!(!aside::is_here());
        end();
        assert!(POOL.lock().threads.is_empty());
    }
}
