//! Links: segments that processes of two jobs share on one host.
//!
//! Each meeting of two groups makes a segment of its own for their processes on a host, built as a job's is. So nothing that a foreign
//! process does, or leaves half done when it dies, touches the memory of this job; and an end of the connection gives all back.
//! What wakes a process is in its job's segment, because a thread sleeps on one word: each side maps the other's, for that alone.
#![allow(unsafe_code)]

use super::peer::{Page, Seat};
use super::shm::endpoint::Endpoint;
use super::shm::layout::{self, RankPage, Segment};
use super::shm::notifier;
use crate::os::memory::Mapping;
use crate::os::process::Birth;
use crate::sync::{AtomicUsize, Ordering};
use std::io::Result;
use std::os::fd::{AsFd, OwnedFd};

/// What a process needs to join a link.
pub struct Plan {
    /// The segment that was made for the link.
    pub segment: OwnedFd,
    /// The segments of the jobs of those on this host, with the number of their ranks.
    pub homes: Vec<(OwnedFd, usize)>,
    /// The process of each seat.
    pub places: Vec<Place>,
    /// This process's seat.
    pub own: usize,
}

/// The process that has a seat.
pub struct Place {
    /// The process's number here.
    pub process: u32,
    /// Which of [`Plan::homes`] is its job's, and its place there.
    pub home: usize,
    pub rank: usize,
    pub birth: Birth,
}

/// See the module.
pub struct Link {
    end: Endpoint,
    /// This process's page in the link, and those of all.
    own: &'static Page,
    /// By seat, as the pages: numbers here, and when they were born.
    processes: Vec<u32>,
    births: Vec<Birth>,
    pages: Vec<&'static Page>,
    /// How many of these were dead at the last look.
    known_dead: AtomicUsize,
    /// After the end, which refers to them.
    _maps: Vec<Leaked>,
}

/// A mapping that lives until this is dropped.
struct Leaked(&'static Mapping);

impl Drop for Leaked {
    fn drop(&mut self) {
        let mapping = std::ptr::from_ref(self.0).cast_mut();
        // SAFETY: `Leaked::new` made it of a box. What refers to it is dropped before: the endpoint of the link, which is declared before its
        // mappings, and the entries of the process table, which `connections` replaces before.
        drop(unsafe { Box::from_raw(mapping) });
    }
}

impl Leaked {
    fn new(mapping: Mapping) -> Leaked {
        Leaked(Box::leak(Box::new(mapping)))
    }
}

impl Link {
    /// Joins a link. `home` is this process's page in its own job.
    ///
    /// Errors: something is no segment of this build, or the kernel's.
    pub fn join(plan: Plan, home: &Page) -> Result<Link> {
        let mut maps = Vec::new();
        let mut homes = Vec::new();
        for (fd, ranks) in &plan.homes {
            let map = Leaked::new(layout::map(fd.as_fd())?);
            let segment = Segment::open(map.0, *ranks)?;
            // Who wakes those by fences must be known to them.
            notifier::join(segment);
            homes.push(segment);
            maps.push(map);
        }
        let map = Leaked::new(layout::map(plan.segment.as_fd())?);
        let processes: Vec<u32> = plan.places.iter().map(|place| place.process).collect();
        let bells: Vec<&'static RankPage> = plan
            .places
            .iter()
            .map(|place| homes[place.home].rank(place.rank))
            .collect();
        let end = Endpoint::join_linked(plan.segment, map.0, plan.own, &processes, &bells)?;
        maps.push(map);
        let pages: Vec<&'static Page> = (0..processes.len()).map(|seat| end.status(seat)).collect();
        let own = pages[plan.own];
        own.introduce();
        own.copy_probe(home);
        own.engines.store(1, Ordering::Relaxed);
        own.set_state(super::State::Joined);
        Ok(Link {
            end,
            own,
            processes,
            births: plan.places.into_iter().map(|place| place.birth).collect(),
            pages,
            known_dead: AtomicUsize::new(0),
            _maps: maps,
        })
    }

    /// The page of a seat.
    pub fn page(&self, seat: usize) -> &'static Page {
        self.pages[seat]
    }

    /// This process's page.
    pub fn own(&self) -> &'static Page {
        self.own
    }

    pub(super) fn end(&mut self) -> &mut Endpoint {
        &mut self.end
    }

    pub(super) fn end_ref(&self) -> &Endpoint {
        &self.end
    }

    /// Marks those that have ended without a word: no mpiexec writes these pages.
    pub fn mark_the_dead(&self) {
        for (birth, page) in self.births.iter().zip(&self.pages) {
            let may_live = page.state() == super::State::Finalized || page.is_marked_dead();
            if !may_live && birth.is_over() {
                page.set_state(match page.state() {
                    super::State::NotJoined => super::State::Joined,
                    state => state,
                });
                page.set_exited();
            }
        }
        // Also those that another process of the link has marked.
        let dead = self.pages.iter().filter(|page| page.is_marked_dead());
        let dead = dead.count();
        if self.known_dead.swap(dead, Ordering::Relaxed) != dead {
            super::deaths::found();
        }
    }

    /// Whether nothing is to be expected from any of these processes: others of the link are of this job, or reached in another way.
    pub fn is_deserted_by(&self, processes: &[u32]) -> bool {
        let mut seats = self.processes.iter().zip(&self.pages);
        seats.all(|(process, page)| page.has_gone() || !processes.contains(process))
    }
}

impl Seat {
    /// The place in the endpoint of its link.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.index as usize
    }
}
