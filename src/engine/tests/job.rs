//! A job of some processes in one thread: an engine each, over a segment, over queues, or both.

use crate::engine::Engine;
use crate::os::memory::{self, Mapping};
use crate::sync::Ordering;
use crate::transport::layout::{initialise, segment_bytes};
use crate::transport::loopback::Net;
use crate::transport::{Peer, Route, Transport};
use std::os::fd::AsFd;
use std::sync::Arc;

/// How the processes of a job reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// All through one segment.
    Shm,
    /// All through queues.
    Loopback,
    /// Those of even numbers through a segment, those of odd ones through it too, and between the two sides queues.
    Both,
}

/// Processes, transports and memory of a job.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub processes: usize,
    pub ways: Ways,
    /// Bytes that the segment has besides its inboxes.
    pub memory: u64,
    /// Packets that a queue holds.
    pub room: usize,
    /// Whether queues take large packets.
    pub bulk: bool,
    /// Messages of more bytes than that go straight, where there are queues.
    pub straight: usize,
}

/// The memory behind the engines. It is given back when this goes, which must be after the engines.
pub struct Job(*mut Mapping);

/// The engines of a job.
pub fn build(shape: &Shape) -> (Job, Vec<Engine>) {
    let shape = *shape;
    let processes = shape.processes;
    let dynamic = segment_bytes(processes) - (160 << 20) - processes as u64 * (6 << 20);
    let fd = memory::create("test", dynamic + shape.memory, false).unwrap();
    initialise(fd.as_fd(), processes).unwrap();
    let job = Job(Box::into_raw(Box::new(Mapping::of(fd.as_fd()).unwrap())));
    // SAFETY: the engines are dropped before the job, which has it.
    #[allow(unsafe_code)]
    let map: &'static Mapping = unsafe { &*job.0 };
    let numbers: Vec<u32> = (0..processes as u32).collect();
    let net = Net::new(processes, shape.room, shape.bulk, shape.straight);
    let engine = |me: usize| {
        let shm = Transport::join_for_test(fd.try_clone().unwrap(), map, me, &numbers);
        let node = move |process: u32| match shape.ways {
            Ways::Shm => 0,
            Ways::Loopback => process,
            Ways::Both => process % 2,
        };
        let table = shm.table(processes as u32, Arc::new(node));
        let route = |number: u32, peer: &Peer| match peer.route {
            Route::Shm(_) if node(number) != node(me as u32) => Route::Loopback(number),
            route => route,
        };
        let table = Arc::new(table.with_routes(route));
        table
            .own()
            .pid
            .store(std::process::id() as i32, Ordering::Relaxed);
        Engine::new(Transport::with_loopback(table, shm, net.end(me as u32)))
    };
    let engines = (0..processes).map(engine).collect();
    (job, engines)
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: `build` made it, and nothing of the engines is left that leads there.
        #[allow(unsafe_code)]
        drop(unsafe { Box::from_raw(self.0) });
    }
}
