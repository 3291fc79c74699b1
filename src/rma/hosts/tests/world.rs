//! Windows of a job whose processes take turns in one thread, made as MPI_Win_create does for ranks on several hosts.

use crate::assembly::Assembly;
use crate::attr::Attributes;
use crate::engine::tests::job::Ways;
use crate::errhandler::{Attached, ERRORS_ARE_FATAL};
use crate::info::Info;
use crate::rma::block::Block;
use crate::rma::epoch::{Access, FAR};
use crate::rma::hosts::Hosts;
use crate::rma::hosts::service::Windows;
use crate::rma::window::{Facts, Flavor, Memory, Target, Way, Window};
use crate::sync::AtomicU8;
use crate::sync::Ordering::Relaxed;
use crate::sync::keep::keep;
use crate::transport::SharedWith;
use parking_lot::Mutex;
use std::collections::HashMap;

const KEY: u64 = 7;
pub const WORD: usize = size_of::<u64>();

/// A line of a block.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code, reason = "memory")] [u8; 64]);

/// A window on all its ranks.
pub struct World {
    pub windows: Vec<&'static Window>,
    /// By rank: what its thread finds by key.
    pub found: Vec<&'static Windows>,
    memory: Vec<usize>,
    words: usize,
}

/// The host of a process.
fn host(ways: Ways, process: usize) -> usize {
    match ways {
        Ways::Shm => 0,
        Ways::Loopback => process,
        Ways::Both => process % 2,
    }
}

impl World {
    /// Of so many ranks, each with so many words.
    pub fn new(ranks: usize, ways: Ways, words: usize, element_mode: bool) -> World {
        let blocks: Vec<Block> = (0..ranks)
            .map(|_| {
                let lines = vec![Line([0; 64]); Block::bytes(ranks).div_ceil(64)];
                // SAFETY: for ever there, and a block of zeros is valid.
                unsafe { Block::at(lines.leak().as_mut_ptr().cast(), ranks) }
            })
            .collect();
        let memory: Vec<usize> = (0..ranks)
            .map(|_| vec![0u64; words].leak().as_mut_ptr() as usize)
            .collect();
        let window = |rank: usize| {
            let is_near = |other: usize| host(ways, other) == host(ways, rank);
            let target = |other: usize| Target {
                base: if is_near(other) { memory[other] } else { 0 },
                bytes: (words * WORD) as u64,
                unit: WORD as u64,
                key: memory[other] as u64,
                process: other as u32,
                way: match is_near(other) {
                    true => Way::Direct,
                    false => Way::Remote,
                },
                held: AtomicU8::new(0),
            };
            let near = (0..ranks).filter(|other| is_near(*other)).count();
            keep(Window {
                handle: 0,
                flavor: Flavor::Create,
                assembly: Assembly::for_test(ranks as u32, rank),
                rank,
                targets: (0..ranks).map(target).collect(),
                block: blocks[host(ways, rank)],
                block_offset: 0,
                access: {
                    let access = Access::default();
                    access.unsettled.store(FAR, Relaxed);
                    access
                },
                element_mode,
                errhandler: Attached::predefined(ERRORS_ARE_FATAL),
                attributes: Attributes::new(),
                info: Mutex::new(Info::new()),
                facts: Facts::new(memory[rank], (words * WORD) as u64, WORD as u64),
                memory: Memory { part: 0, shared: 0 },
                shared_with: SharedWith::nobody(),
                hosts: Some(Box::new(Hosts::new(KEY, ranks, near as u32))),
                dynamic: None,
                name: Mutex::default(),
            })
        };
        let windows: Vec<&'static Window> = (0..ranks).map(window).collect();
        let found = windows.iter().map(|window| {
            let all = HashMap::from([(KEY, *window)]);
            keep(Mutex::new(Some(all)))
        });
        World {
            found: found.collect(),
            windows,
            memory,
            words,
        }
    }

    /// What a rank's memory has, when nobody changes it.
    pub fn words_of(&self, rank: usize) -> &[u64] {
        // SAFETY: made above, for ever there.
        unsafe { std::slice::from_raw_parts(self.memory[rank] as *const u64, self.words) }
    }

    /// Whether nobody has or wants the lock of a target.
    pub fn is_unlocked(&self, target: usize) -> bool {
        let window = self.windows[target];
        let bits = |rank: usize| &window.block.shared_locks(rank)[0];
        let is_shared = |rank: usize| bits(rank).load(Relaxed) >> target & 1 != 0;
        window.block.target(target).lock().is_free() && !(0..self.windows.len()).any(is_shared)
    }
}
