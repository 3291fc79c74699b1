//! Threads of the library's own that work behind the calls of the program.
//!
//! ```text
//! lane      what is done one after the other: collective accesses of one file; independent ones of all files
//! workers   as many as there are lanes with work; one without work for a while ends
//! ```
//!
//! A collective access waits for other ranks, which may have begun those of several files in another order: hence a lane for each file.
//! Independent ones wait for nobody who waits for them. Invariant: a lane is served by one thread at a time; a worker never enters an
//! engine, and has all signals blocked.

use crate::os::descriptors;
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Something to be done.
pub type Job = Box<dyn FnOnce() + Send>;

const STACK_BYTES: usize = 512 << 10;
/// How long a worker without work stays.
const IDLE_FOR: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Whether a thread works on it, or is about to.
    served: bool,
}

/// See the module.
#[derive(Default)]
pub struct Lane(Mutex<Queue>);

struct Pool {
    /// Lanes with work, for which no thread has come yet.
    ready: VecDeque<Arc<Lane>>,
    /// Workers that wait for a lane, those included that are woken for one.
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
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
    static IS_IN_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is one of the library's own.
pub fn is_worker() -> bool {
    IS_WORKER.get()
}

/// Whether this thread does something for a lane.
pub fn is_in_job() -> bool {
    IS_IN_JOB.get()
}

impl Lane {
    /// Has a worker do this after what the lane has already. Where no thread is to be had, it is done here and now.
    pub fn give(self: &Arc<Self>, job: Job) {
        {
            let mut queue = self.0.lock();
            queue.jobs.push_back(job);
            if std::mem::replace(&mut queue.served, true) {
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
                let mut queue = self.0.lock();
                let job = queue.jobs.pop_front();
                queue.served = job.is_some();
                job
            };
            match job {
                Some(job) => {
                    IS_IN_JOB.set(true);
                    job();
                    IS_IN_JOB.set(false);
                }
                None => return,
            }
        }
    }
}

impl Pool {
    /// Finds a worker for a lane.
    ///
    /// Errors: no thread is to be had.
    fn find(&mut self, lane: &Arc<Lane>) -> std::io::Result<()> {
        self.ready.push_back(lane.clone());
        if self.ready.len() <= self.idle {
            WORK.notify_one();
            return Ok(());
        }
        self.threads.retain(|thread| !thread.is_finished());
        let builder = Builder::new()
            .name("oxmpi-files".to_owned())
            .stack_size(STACK_BYTES);
        match descriptors::without_signals(|| builder.spawn(work)) {
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
    IS_WORKER.set(true);
    let mut pool = POOL.lock();
    loop {
        if let Some(lane) = pool.ready.pop_front() {
            drop(pool);
            lane.serve();
            drop(lane);
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
    use std::sync::Barrier;
    use std::sync::mpsc;

    /// The jobs of a lane come one after the other; two lanes whose jobs wait for each other both go on.
    #[test]
    fn lanes_do_not_wait_for_each_other() {
        let lanes = [Arc::new(Lane::default()), Arc::new(Lane::default())];
        let meet = Arc::new(Barrier::new(2));
        let (tell, told) = mpsc::channel();
        for number in 0..20 {
            for (at, lane) in lanes.iter().enumerate() {
                let (meet, tell) = (meet.clone(), tell.clone());
                lane.give(Box::new(move || {
                    assert!(is_worker());
                    meet.wait();
                    tell.send((at, number)).unwrap();
                }));
            }
        }
        drop(tell);
        let all: Vec<(usize, i32)> = told.iter().collect();
        for at in 0..lanes.len() {
            let own = all.iter().filter(|(lane, _)| *lane == at);
            assert!(own.map(|(_, number)| *number).eq(0..20));
        }
        assert!(!is_worker());
        end();
        assert!(POOL.lock().threads.is_empty());
    }
}
