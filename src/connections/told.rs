//! What the status page says of other jobs: those whose processes may end waits of this one, so that mpiexec knows whom else it has to ask before it
//! calls a job stuck (`docs/verdict.md`).
//!
//! Invariant: a job is on the page before anything of it can come, and as long as something can.

use super::Connection;
use crate::engine::own_page;
use crate::group::names::{self, JOBS};
use parking_lot::Mutex;

/// The jobs on the page, and those that were ever met over the fabric: what they have sent counts for good.
static TOLD: Mutex<([u64; JOBS], Vec<u64>)> = Mutex::new(([0; JOBS], Vec::new()));

/// These are the connections now.
pub(super) fn changed(connections: &[Connection]) {
    let mut told = TOLD.lock();
    let (on_page, far) = &mut *told;
    let mut jobs: Vec<u64> = Vec::new();
    for connection in connections {
        let of_connection = connection.processes.iter().map(|it| names::of(*it).job);
        for job in of_connection {
            let lists = [Some(&mut jobs), connection.is_far().then_some(&mut *far)];
            for list in lists.into_iter().flatten() {
                if !list.contains(&job) {
                    list.push(job);
                }
            }
        }
    }
    jobs.extend(far.iter());
    let more = place(on_page, &jobs);
    names::set_on_page(*on_page);
    if let Some(page) = own_page() {
        page.waits.set_jobs(*on_page, more);
    }
}

/// Puts jobs in places, where each that has one keeps it. Whether there are more than places.
fn place(places: &mut [u64; JOBS], jobs: &[u64]) -> bool {
    for place in places.iter_mut().filter(|place| !jobs.contains(place)) {
        *place = 0;
    }
    let mut more = false;
    for job in jobs {
        if places.contains(job) {
            continue;
        }
        match places.iter_mut().find(|place| **place == 0) {
            Some(place) => *place = *job,
            None => more = true,
        }
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_keeps_its_place_and_more_than_places_are_noticed() {
        let mut places = [0; JOBS];
        assert!(!place(&mut places, &[7, 8, 9]));
        assert_eq!(places, [7, 8, 9, 0]);
        assert!(!place(&mut places, &[9, 5, 9]));
        assert_eq!(places, [5, 0, 9, 0]);
        assert!(place(&mut places, &[1, 2, 3, 4, 5]));
        assert!(!place(&mut places, &[]));
        assert_eq!(places, [0; JOBS]);
    }
}
