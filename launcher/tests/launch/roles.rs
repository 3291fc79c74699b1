//! What this program does as a rank: joins the job as the library does, marks its status page, and behaves or not.

use oxmpi::launch::{Job, Launcher, SegmentPlan, join, wait_for_debugger};
use oxmpi::os::memory::Mapping;
use oxmpi::os::monotonic_nanoseconds;
use oxmpi::sync::Ordering;
use oxmpi::transport::calls::Whose;
use oxmpi::transport::layout::{self, Segment};
use oxmpi::transport::life::State;
use oxmpi::transport::peer::Page;
use oxmpi::transport::waits::{Kind, Object, Wait, Waits, Whom};
use rustix::process::Signal;
use std::os::fd::AsFd;
use std::time::Duration;

pub const PLAN: SegmentPlan<'static> = SegmentPlan {
    bytes: &layout::segment_bytes,
    initialise: &layout::initialise,
};

struct Rank {
    job: Job,
    segment: Segment<'static>,
}

impl Rank {
    fn join() -> Rank {
        let job = match join(&PLAN) {
            Ok(job) => job,
            Err(error) => {
                eprintln!("cannot join: {error}");
                std::process::exit(9);
            }
        };
        let map = Mapping::of(job.segment.as_fd()).expect("map").leak();
        let segment = Segment::open(map, job.local_ranks.len()).expect("segment");
        let rank = Rank { job, segment };
        rank.page().introduce();
        rank.page().set_state(State::Joined);
        rank
    }

    fn page(&self) -> &'static Page {
        &self.segment.rank(self.job.seat()).status
    }

    fn others_joined(&self) {
        while !(0..self.segment.ranks())
            .all(|rank| self.segment.rank(rank).status.state() != State::NotJoined)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn finalize(&self) -> ! {
        self.page().set_state(State::Finalized);
        self.job.finalize().expect("finalize");
        std::process::exit(0);
    }
}

/// Never comes back.
pub fn play(role: &str) -> ! {
    let (role, detail) = role.split_once(':').unwrap_or((role, ""));
    let code = || detail.parse().unwrap_or(0);
    let rank = Rank::join();
    let bad = rank.job.rank == 1 || rank.job.size == 1;
    match role {
        // A rank that waits in MPI_Init until a debugger lets it go.
        "gate" => {
            println!("at-the-gate-{}-", rank.job.rank);
            wait_for_debugger(&rank.job);
            println!("gone-on-{}-", rank.job.rank);
            rank.finalize()
        }
        "hello" => {
            let how = match rank.job.how {
                Launcher::Mpiexec => "mpiexec",
                Launcher::Pmi1 => "pmi",
                Launcher::Pmix => "pmix",
                Launcher::Singleton => "alone",
            };
            let (number, size) = (rank.job.rank, rank.job.size);
            println!(
                "{number} of {size} by {how}, local {:?}",
                rank.job.local_ranks
            );
            rank.finalize()
        }
        // All see each other in the segment.
        "meet" => {
            rank.others_joined();
            let pids: Vec<i32> = (0..rank.segment.ranks())
                .map(|other| rank.segment.rank(other).status.pid.load(Ordering::Relaxed))
                .collect();
            println!("{pids:?}");
            rank.finalize()
        }
        // Over PMI-1, whoever serves it.
        "exchange" => {
            let (number, size) = (rank.job.rank, rank.job.size);
            let put = rank
                .job
                .put(&format!("card-{number}"), &format!("of-{number}"));
            put.expect("put");
            rank.job.barrier().expect("barrier");
            let other = (number + 1) % size;
            let next = rank.job.get(other, &format!("card-{other}"));
            println!(
                "{:?} {:?}",
                next.expect("get"),
                rank.job.get(0, "none").expect("get")
            );
            rank.finalize()
        }
        "numbers" => {
            println!("{:?} {:?}", rank.job.appnum, rank.job.universe_size);
            rank.finalize()
        }
        "exit" => {
            rank.others_joined();
            if bad {
                std::process::exit(code());
            }
        }
        "kill" | "kill-later" => {
            rank.others_joined();
            if role == "kill-later" {
                // mpiexec finds out in its own time that this is a descendant of what it started.
                std::thread::sleep(Duration::from_secs(1));
            }
            if bad {
                let signal = Signal::from_named_raw(code()).expect("signal");
                // Once more for a signal that the runtime of Rust looks at first.
                for _ in 0..2 {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
                }
            }
        }
        "abort" => {
            rank.others_joined();
            if bad {
                rank.page().abort_code.store(code(), Ordering::Relaxed);
                rank.page().set_state(State::Aborted);
                rank.job.abort(code());
            }
        }
        "late" => {
            rank.page().set_state(State::Finalized);
            let _ = rank.job.finalize();
            std::process::exit(if bad { code() } else { 0 });
        }
        // Rank 0 waits with two threads, the others do not.
        "activities" => {
            let page = rank.page();
            let threads = if rank.job.rank == 0 { 2 } else { 0 };
            for _ in 0..threads {
                page.waits.begin(&Waits {
                    threads: 1,
                    since: monotonic_nanoseconds(),
                    function: "MPI_Recv".into(),
                    ..Waits::default()
                });
            }
            page.waits.join(monotonic_nanoseconds());
            rank.others_joined();
            println!("activity");
            match rank.job.rank {
                1 => loop {
                    std::hint::spin_loop();
                },
                3 => {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
                }
                _ => {}
            }
        }
        // Begins collective operations for ever.
        "operations" => {
            let calls = &rank.page().calls[0];
            calls.take(Whose::new(4, 0..2));
            println!("operating");
            loop {
                calls.begin(1);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        // Rank 0 waits in MPI_Recv, the others are elsewhere.
        "wait" => {
            let page = rank.page();
            if rank.job.rank == 0 {
                page.waits.begin(&Waits {
                    threads: 1,
                    since: monotonic_nanoseconds(),
                    queues: [1, 23, 0],
                    function: "MPI_Recv".into(),
                    wait: Wait {
                        object: Object::Communicator(0),
                        peer: 1,
                        name: "MPI_COMM_WORLD".into(),
                        ..Wait::of(Kind::Receive, Whom::of([1]))
                    },
                });
            }
            rank.others_joined();
            println!("waiting");
        }
        other => panic!("no role {other}"),
    }
    loop {
        std::thread::sleep(Duration::from_secs(1000));
    }
}
