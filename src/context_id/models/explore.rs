//! Whether completion can be reached from every state that can be reached, and the shortest way to one where it cannot.
//!
//! Safety is stateright's; this asks what a checker of paths that ends at a repeated state cannot: a livelock is a cycle
//! that nothing leaves towards the end. Invariant: states are kept once, numbered in the order of their distance.

use super::{Doing, Go, Job, State};
use stateright::Model;
use std::collections::{HashMap, HashSet};
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

/// A schedule in words, with what can still follow it, until nothing new does.
pub fn describe(job: &Job, schedule: &[Go]) -> String {
    let mut state = job.init_states().swap_remove(0);
    let mut seen = HashSet::from([state.clone()]);
    let mut text = String::new();
    let mut number = 0;
    let mut tell = |state: &mut State, go: Go| {
        let thread = &state.processes[go.process].threads[go.thread];
        let statement = &job.programs[go.process][go.thread][thread.at];
        let doing = match &thread.doing {
            Doing::Begin => format!("begins {statement:?}"),
            Doing::Offer(name, _) => format!("goes on with {name:?}"),
            Doing::Combine(name, _) => format!("settles {name:?}"),
        };
        number += 1;
        text.push_str(&format!(
            "{number:>3}. process {} thread {} {doing}\n",
            go.process, go.thread
        ));
        if let Some(next) = job.next_state(state, go) {
            *state = next;
        }
    };
    for go in schedule {
        tell(&mut state, *go);
        seen.insert(state.clone());
    }
    // Doomed by now; the rest shows how it ends.
    loop {
        let mut actions = Vec::new();
        job.actions(&state, &mut actions);
        let new = actions.into_iter().find(|go| {
            let next = job.next_state(&state, *go);
            next.is_some_and(|next| !seen.contains(&next))
        });
        let Some(go) = new else { break };
        tell(&mut state, go);
        seen.insert(state.clone());
    }
    text + &standing(&state)
}

/// Where everybody stands.
fn standing(state: &State) -> String {
    let mut text = String::new();
    for (number, process) in state.processes.iter().enumerate() {
        let space = &process.space;
        text.push_str(&format!(
            "     process {number}: mask in use {}, eager part in use {}, lowest {:?}, queue {:?}\n",
            space.mask_taken, space.eager_taken, space.lowest, space.queue
        ));
        for (thread, its) in process.threads.iter().enumerate() {
            let doing = match &its.doing {
                Doing::Begin => "between calls, or at its end".to_owned(),
                Doing::Offer(name, _) => format!("retries or waits for its turn: {name:?}"),
                Doing::Combine(name, _) => format!("in the reduction of {name:?}"),
            };
            text.push_str(&format!("       thread {thread}: {doing}\n"));
        }
    }
    text
}
