//! Whether completion can be reached from every state that can be reached, and the shortest way to one where it cannot.
//!
//! Safety is stateright's; this asks what a checker of paths that ends at a repeated state cannot: a livelock is a cycle
//! that nothing leaves towards the end. Invariant: states are kept once, numbered in the order of their distance.

use super::{Go, Job, State};
use stateright::Model;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// What was found.
pub struct Explored {
    pub states: usize,
    /// The shortest schedule after which completion cannot be reached, and the state it leads to.
    pub doomed: Option<(Vec<Go>, State)>,
}

/// Explores all reachable states.
pub fn explore(job: &Job) -> Explored {
    // States are kept as a 64-bit hash twice, 128 bits in all: a collision is out of the question.
    let hashers = [RandomState::new(), RandomState::new()];
    let name = |state: &State| [hashers[0].hash_one(state), hashers[1].hash_one(state)];
    let mut numbers: HashMap<[u64; 2], u32> = HashMap::new();
    let mut came_from: Vec<Option<(u32, Go)>> = Vec::new();
    let mut before: Vec<Vec<u32>> = Vec::new();
    let mut over = Vec::new();
    let mut layer: Vec<(u32, State)> = Vec::new();
    for state in job.init_states() {
        numbers.insert(name(&state), came_from.len() as u32);
        layer.push((came_from.len() as u32, state));
        came_from.push(None);
        before.push(Vec::new());
    }
    while !layer.is_empty() {
        let mut next_layer = Vec::new();
        for (number, state) in layer {
            if job.is_over(&state) {
                over.push(number);
            }
            let mut actions = Vec::new();
            job.actions(&state, &mut actions);
            for go in actions {
                let Some(next) = job.next_state(&state, go) else {
                    continue;
                };
                let new = came_from.len() as u32;
                let to = *numbers.entry(name(&next)).or_insert(new);
                if to == new {
                    came_from.push(Some((number, go)));
                    before.push(Vec::new());
                    next_layer.push((new, next));
                }
                before[to as usize].push(number);
            }
        }
        layer = next_layer;
    }
    let mut ends = vec![false; came_from.len()];
    let mut open = over;
    while let Some(number) = open.pop() {
        if !std::mem::replace(&mut ends[number as usize], true) {
            open.extend(&before[number as usize]);
        }
    }
    let doomed = ends.iter().position(|ends| !ends).map(|first| {
        let mut schedule = Vec::new();
        let mut number = first;
        while let Some((earlier, go)) = came_from[number] {
            schedule.push(go);
            number = earlier as usize;
        }
        schedule.reverse();
        let state = replay(job, &schedule);
        (schedule, state)
    });
    Explored {
        states: came_from.len(),
        doomed,
    }
}

/// The state after a schedule.
fn replay(job: &Job, schedule: &[Go]) -> State {
    let first = job.init_states().swap_remove(0);
    schedule
        .iter()
        .fold(first, |state, go| match job.next_state(&state, *go) {
            Some(next) => next,
            None => panic!("{go:?} cannot go on"),
        })
}

/// A schedule in words.
pub fn describe(job: &Job, schedule: &[Go]) -> String {
    let mut state = job.init_states().swap_remove(0);
    let mut text = String::new();
    for (at, go) in schedule.iter().enumerate() {
        let thread = &state.processes[go.process].threads[go.thread];
        let doing = match &thread.doing {
            super::Doing::Begin => "begins",
            super::Doing::Offer(..) => "offers",
            super::Doing::Combine(..) => "settles",
        };
        let statement = &job.programs[go.process][go.thread][thread.at];
        text.push_str(&format!(
            "{:>3}. process {} thread {} {doing} {statement:?}\n",
            at + 1,
            go.process,
            go.thread
        ));
        state = replay(job, &schedule[..=at]);
    }
    for (number, process) in state.processes.iter().enumerate() {
        let space = &process.space;
        text.push_str(&format!(
            "     process {number}: mask in use {}, eager part in use {}, lowest {:?}, queue {:?}\n",
            space.mask_taken, space.eager_taken, space.lowest, space.queue
        ));
        for (thread, its) in process.threads.iter().enumerate() {
            let doing = match &its.doing {
                super::Doing::Begin => "idle".to_owned(),
                super::Doing::Offer(name, _) => format!("retries or waits for its turn: {name:?}"),
                super::Doing::Combine(name, _) => format!("in the reduction of {name:?}"),
            };
            text.push_str(&format!("       thread {thread}: {doing}\n"));
        }
    }
    text
}
