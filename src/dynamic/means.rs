//! How the processes of two groups that meet reach each other: by a segment that those of a host share, else over the fabric.

use super::card::{Card, FarCard, Offered, Remote};
use super::conversation::Conversation;
use super::exchange::gather;
use super::far::{self, Told, Waiting, are_far};
use crate::coll::CollContext;
use crate::connections::far::{FarPeer, Guest, Offer, connect, take_back};
use crate::connections::{self, Hold, NearPeer};
use crate::constructors::is_met;
use crate::error::{Class, Error, Result, fail};
use crate::group::{Group, names};
use crate::launch::{self, SegmentPlan};
use crate::os::process::open_of;
use crate::transport::layout;
use crate::transport::link::{Place, Plan};
use std::os::fd::OwnedFd;

/// Which part this process has in a meeting.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Whether its group accepts the other one, which connects: all of both say the same.
    pub accepts: bool,
    /// Its place in its group.
    pub place: u32,
}

/// What this process has made for a meeting.
pub struct Means {
    setting: Setting,
    /// A segment for the processes of both groups on this host, which the first accepting one there makes.
    segment: Option<OwnedFd>,
    far: Option<Told>,
    offer: Option<Offer>,
    waiting: Option<Waiting>,
}

impl Drop for Means {
    fn drop(&mut self) {
        if let Some(offer) = &self.offer {
            take_back(offer.invitation);
        }
    }
}

impl Means {
    /// Makes what this process needs, and is asked for.
    pub fn prepare(
        setting: Setting,
        conversation: &mut Conversation,
        own: &Card,
        ours: &[Card],
        theirs: &[Card],
    ) -> Means {
        let mut means = Means {
            setting,
            segment: None,
            far: None,
            offer: None,
            waiting: None,
        };
        if setting.accepts {
            means.segment = make_segment(setting.place as usize, own, ours, theirs);
        }
        if theirs.iter().any(|other| are_far(own, other)) {
            let (told, offer, waiting) = far::tell(conversation, setting.accepts);
            (means.far, means.offer, means.waiting) = (Some(told), offer, waiting);
        }
        means
    }

    /// What each of this group offers, by rank. How much that may be is known by the cards.
    pub fn gather(
        &self,
        own: &CollContext<'_>,
        ours: &[Card],
        theirs: &[Card],
    ) -> Result<Vec<Offered>> {
        let offered = Offered {
            segment: self.segment.as_ref().map(Remote::of),
            far: self.far.clone(),
        };
        let is_far = |one: &Card| theirs.iter().any(|other| are_far(one, other));
        if ours.iter().any(is_far) {
            return gather(own, &offered, None);
        }
        if !self.setting.accepts {
            return Ok(vec![Offered::default(); ours.len()]);
        }
        let longest = Offered {
            segment: Some(Remote { fd: 0, inode: 0 }),
            far: None,
        };
        gather(own, &offered, Some(&longest))
    }

    /// Finds the numbers of the others, and connects with those that were not met before.
    pub fn join(
        &mut self,
        conversation: &mut Conversation,
        own: &Card,
        ours: far::Group<'_>,
        theirs: far::Group<'_>,
    ) -> Result<(Group, Vec<Hold>)> {
        let numbers: Vec<u32> = theirs
            .0
            .iter()
            .map(|card| names::number_or_new(card.name))
            .collect();
        far::compare(ours, theirs)?;
        let mut holds = Vec::new();
        let is_new = |card: &&Card| !is_known(card);
        let mut near = theirs.0.iter().filter(|card| !are_far(own, card));
        if near.any(|card| is_new(&card)) {
            let both = match self.setting.accepts {
                true => [ours, theirs],
                false => [theirs, ours],
            };
            let both = both
                .iter()
                .flat_map(|(cards, made)| cards.iter().zip(*made));
            let here: Vec<(&Card, Option<Remote>)> = both
                .filter(|(card, _)| card.host == own.host)
                .map(|(card, made)| (card, made.segment))
                .collect();
            holds.push(join_link(own, &here, theirs.0)?);
        }
        let far: Vec<(usize, &Card, &FarCard)> = theirs
            .0
            .iter()
            .zip(theirs.1)
            .enumerate()
            .filter(|(_, (card, _))| are_far(own, card) && is_new(card))
            .filter_map(|(place, (card, made))| {
                let told = made.far.as_ref()?.as_ref().ok()?;
                Some((place, card, told))
            })
            .collect();
        if !far.is_empty() {
            holds.push(self.join_far(conversation, &far)?);
        }
        Ok((Group::new(numbers), holds))
    }

    fn join_far(
        &mut self,
        conversation: &mut Conversation,
        far: &[(usize, &Card, &FarCard)],
    ) -> Result<Hold> {
        let Some(offer) = &self.offer else {
            return fail!(
                Class::Other,
                "the processes of the two groups tell different hosts"
            );
        };
        let invitation = offer.invitation;
        let own_place = self.setting.place;
        let wanted: far::Wanted = far
            .iter()
            .map(|(place, _, told)| (*place, (*told).clone()))
            .collect();
        let waiting = self.waiting.take();
        let mut lines = conversation.step(move |_| match waiting {
            Some(waiting) => waiting.until_reached(wanted),
            None => far::reach(own_place as usize, wanted),
        })?;
        lines.sort_by_key(|(place, _)| *place);
        let met = far.iter().zip(lines);
        let met = met.map(|((place, card, told), (_, lifeline))| FarPeer {
            guest: Guest {
                process: names::number_or_new(card.name),
                place: *place as u32,
                card: &told.fabric,
                entry: told.entry,
                own_place,
            },
            node: card.node,
            lifeline,
        });
        connect(invitation, met.collect())
    }
}

/// The first of the accepting processes of a host makes the segment for all of both groups there: what it is kept open by. It is made
/// whomever this process has met, because others of its group may not have.
fn make_segment(rank: usize, own: &Card, ours: &[Card], theirs: &[Card]) -> Option<OwnedFd> {
    let here = |card: &&Card| card.host == own.host;
    let first = ours.iter().position(|card| here(&card));
    if first != Some(rank) || !theirs.iter().any(|card| here(&card)) {
        return None;
    }
    let plan = SegmentPlan {
        bytes: &layout::segment_bytes,
        initialise: &layout::initialise,
    };
    let processes = ours.iter().chain(theirs).filter(here).count();
    launch::create_segment(&plan, processes).ok()
}

fn join_link(own: &Card, here: &[(&Card, Option<Remote>)], theirs: &[Card]) -> Result<Hold> {
    let unreachable = |what: &str, card: &Card| {
        Error::new(
            Class::Other,
            format!(
                "the {what} of process {} (rank {} of its job) cannot be opened",
                card.birth.pid, card.name.rank
            ),
        )
    };
    let made = here.iter().find_map(|(card, made)| Some((*card, (*made)?)));
    let Some((maker, link)) = made else {
        return fail!(
            Class::NoMem,
            "there is no memory for a segment that the processes of both groups share"
        );
    };
    let open = |card: &Card, what: &str, it: Remote| {
        open_of(card.birth.pid, it.fd, it.inode).ok_or_else(|| unreachable(what, card))
    };
    let segment = open(maker, "new segment", link)?;
    let mut homes: Vec<(u64, (OwnedFd, usize))> = Vec::new();
    let mut places = Vec::new();
    let mut met = Vec::new();
    let mut own_seat = None;
    for (seat, (card, _)) in here.iter().enumerate() {
        let known = homes
            .iter()
            .position(|(inode, _)| *inode == card.home.inode);
        let home = match known {
            Some(home) => home,
            None => {
                let fd = open(card, "segment", card.home)?;
                homes.push((card.home.inode, (fd, card.ranks as usize)));
                homes.len() - 1
            }
        };
        let process = names::number_or_new(card.name);
        if card.name == own.name {
            own_seat = Some(seat);
        } else if theirs.iter().any(|other| other.name == card.name) && !is_known(card) {
            met.push(NearPeer {
                process,
                seat,
                node: card.node,
            });
        }
        places.push(Place {
            process,
            home,
            rank: card.seat as usize,
            birth: card.birth,
        });
    }
    let plan = Plan {
        segment,
        homes: homes.into_iter().map(|(_, home)| home).collect(),
        places,
        own: own_seat.unwrap_or_default(),
    };
    connections::connect(plan, &met)
}

/// Whether a process is reached already.
fn is_known(card: &Card) -> bool {
    is_met(card.name)
}
