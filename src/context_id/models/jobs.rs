//! The jobs that are checked.
//!
//! Invariant: every job is a correct MPI program: on one parent, creations are in the same order on all members, and at one
//! time those of groups have different tags.

use super::{Job, Statement};
use crate::context_id::agreement::{Settings, Strategy};
use crate::context_id::space::Space;

/// As a job runs it.
pub fn at_run_time(strategy: Strategy, eager_words: usize) -> Settings {
    Settings {
        strategy,
        eager_words,
        ..Settings::PLAIN
    }
}

/// As a job runs it that has ids for seeds.
pub fn with_seeds() -> Settings {
    Settings {
        seeds: true,
        ..at_run_time(Strategy::Lease, 1)
    }
}

/// As the paper prints it.
#[cfg(feature = "papers")]
pub fn as_printed(strategy: Strategy) -> Settings {
    Settings {
        printed: true,
        ..at_run_time(strategy, 0)
    }
}

/// Small spaces for so many processes: pages of so many words, of which only `free` prefixes of each word of the first page
/// are free.
fn small(processes: usize, words: usize, pages: u32, free: u32) -> Vec<Space> {
    let mut space = Space::new(words, pages);
    for word in 0..words as u32 {
        for bit in 0..32 - free {
            space.take(word * 32 + bit);
        }
    }
    vec![space; processes]
}

fn dup(parent: u32) -> Statement {
    Statement::Create {
        parent,
        group: None,
    }
}

fn create_group(parent: u32, tag: i32, members: &'static [usize]) -> Statement {
    Statement::Create {
        parent,
        group: Some((tag, members)),
    }
}

use Statement::Free;

/// Paper 000, figure 1: thread t of process t duplicates MPI_COMM_SELF; then each thread t duplicates a communicator of all
/// threads t.
pub fn figure_1(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(2, 2, 2, 4),
        parents: vec![(4, &[0]), (5, &[1]), (16, &[0, 1]), (20, &[0, 1])],
        in_order: false,
        programs: vec![
            vec![vec![dup(4), dup(16)], vec![dup(20)]],
            vec![vec![dup(16)], vec![dup(5), dup(20)]],
        ],
    }
}

/// Issue 4: parents A < B; process 0 has threads {dup A} and {dup B}, process 1 does dup B and then dup A.
pub fn opposite_orders(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(2, 2, 2, 4),
        parents: vec![(16, &[0, 1]), (20, &[0, 1])],
        in_order: false,
        programs: vec![
            vec![vec![dup(16)], vec![dup(20)]],
            vec![vec![dup(20), dup(16)]],
        ],
    }
}

/// Two threads each that make and free on parents of their own, again and again.
pub fn frees(settings: Settings) -> Job {
    let program = |parent| vec![dup(parent), Free(0), dup(parent)];
    Job {
        settings,
        spaces: small(2, 2, 2, 3),
        parents: vec![(16, &[0, 1]), (20, &[0, 1])],
        in_order: false,
        programs: vec![vec![program(16), program(20)]; 2],
    }
}

/// Groups of one parent with different tags at the same time, overlapping, and a duplicate of the parent itself.
pub fn groups(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(3, 2, 2, 4),
        parents: vec![(16, &[0, 1, 2])],
        in_order: false,
        programs: vec![
            vec![vec![create_group(16, 1, &[0, 1])], vec![dup(16)]],
            vec![
                vec![create_group(16, 1, &[0, 1])],
                vec![create_group(16, 2, &[1, 2]), dup(16)],
            ],
            vec![vec![create_group(16, 2, &[1, 2])], vec![dup(16), Free(0)]],
        ],
    }
}

/// Each process has free ids in the first page, but none in common: the extended space. Ids run out where there is none.
pub fn fragmented(settings: Settings, pages: u32) -> Job {
    let mut spaces = small(2, 2, pages, 1);
    // Of the two words, one process has the first one's id left, the other the second one's.
    spaces[0].take(31);
    spaces[1].take(63);
    Job {
        settings,
        spaces,
        parents: vec![(16, &[0, 1]), (20, &[0, 1])],
        in_order: false,
        programs: vec![vec![vec![dup(16)], vec![dup(20)]]; 2],
    }
}

/// Three duplicates of one parent are outstanding and complete in any order; one is freed while others are made.
pub fn outstanding(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(2, 2, 2, 4),
        parents: vec![(16, &[0, 1])],
        in_order: true,
        programs: vec![vec![vec![dup(16)], vec![dup(16), Free(0)], vec![dup(16)]]; 2],
    }
}

/// Each thread makes duplicates of a duplicate and frees it, on parents whose creations overlap.
pub fn of_duplicates(settings: Settings) -> Job {
    use Statement::CreateOn;
    let program = |parent| vec![dup(parent), CreateOn(0), Free(0), dup(parent)];
    Job {
        settings,
        spaces: small(2, 2, 2, 5),
        parents: vec![(16, &[0, 1]), (20, &[0, 1])],
        in_order: false,
        programs: vec![
            vec![program(16), program(20)],
            vec![program(20), program(16)],
        ],
    }
}

/// Two creations on one duplicate, of which one has a seed, in any order of completion, while its parent is duplicated again.
pub fn twice_on_a_duplicate(settings: Settings) -> Job {
    use Statement::CreateOn;
    let program = vec![dup(16), CreateOn(0), CreateOn(0), Free(1), Free(0)];
    Job {
        settings,
        spaces: small(2, 2, 2, 5),
        parents: vec![(16, &[0, 1]), (20, &[0, 1])],
        in_order: false,
        programs: vec![vec![program, vec![dup(20), dup(20)]]; 2],
    }
}

/// Three processes, two threads, parents that overlap in pairs.
pub fn ring(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(3, 2, 2, 4),
        parents: vec![(16, &[0, 1]), (20, &[1, 2]), (24, &[0, 2])],
        in_order: false,
        programs: vec![
            vec![vec![dup(16)], vec![dup(24)]],
            vec![vec![dup(20)], vec![dup(16)]],
            vec![vec![dup(24)], vec![dup(20)]],
        ],
    }
}

/// Three threads of two processes, begun in different orders.
pub fn three_threads(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(2, 3, 2, 4),
        parents: vec![(16, &[0, 1]), (20, &[0, 1]), (24, &[0, 1])],
        in_order: false,
        programs: vec![
            vec![vec![dup(16)], vec![dup(20)], vec![dup(24)]],
            vec![vec![dup(24)], vec![dup(16)], vec![dup(20)]],
        ],
    }
}

/// Up to three threads of three processes; two of the parents have two of the processes.
pub fn three_by_three(settings: Settings) -> Job {
    Job {
        settings,
        spaces: small(3, 3, 2, 4),
        parents: vec![(16, &[0, 1, 2]), (20, &[0, 1]), (24, &[1, 2])],
        in_order: false,
        programs: vec![
            vec![vec![dup(16)], vec![dup(20)]],
            vec![vec![dup(20)], vec![dup(24)], vec![dup(16)]],
            vec![vec![dup(24)], vec![dup(16)]],
        ],
    }
}
