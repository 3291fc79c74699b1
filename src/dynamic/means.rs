//! How the processes of two groups that meet reach each other: by a segment that those of a host share, else over the fabric.

use super::card::{Card, FarCard, Offered, Remote};
use super::conversation::Conversation;
use super::exchange::{Way, gather, nonsense};
use super::far::{self, Far, are_far};
use crate::coll::{CollContext, block_on};
use crate::connections::far::{FarPeer, Guest, connect};
use crate::connections::{self, Hold, NearPeer};
use crate::constructors::{everywhere, is_met};
use crate::engine::losses;
use crate::error::{Class, Error, Result, fail};
use crate::group::{Group, names};
use crate::launch::{self, SegmentPlan};
use crate::os::process::open_of;
use crate::transport::layout;
use crate::transport::link::{Place, Plan};
use std::os::fd::OwnedFd;

/// Two groups, when each process has the cards of all.
#[derive(Clone, Copy)]
pub struct Meet<'a> {
    /// Whether this group accepts the other one, which connects: all of both say the same.
    pub accepts: bool,
    pub ours: &'a [Card],
    pub theirs: &'a [Card],
}

/// What this process has made for a meeting.
struct Means<'a> {
    meet: Meet<'a>,
    /// Place of this process in its group, and its card.
    place: usize,
    card: &'a Card,
    /// A segment for the processes of both groups on this host, which the first accepting one there makes.
    segment: Option<OwnedFd>,
    /// If somebody is far.
    far: Option<std::result::Result<Far, String>>,
}

/// Connects the processes with those that they have not met before. The other group, and what keeps the new connections until a communicator
/// uses them.
///
/// Errors: on all of both groups, MPI_ERR_OTHER if some cannot reach some of the others; of [`Way::swap`].
pub fn join(meet: Meet<'_>, way: &mut Way<'_>) -> Result<(Group, Vec<Hold>)> {
    let mut means = Means::prepare(meet, way);
    let ours = means.gather(way.own)?;
    let theirs: Vec<Offered> = way.swap(&ours)?;
    let groups = ((meet.ours, &*ours), (meet.theirs, &*theirs));
    let joined = means.join(&mut way.conversation, groups);
    let [all] = block_on(everywhere(way.own, [joined.is_ok()]))?;
    let they_have = way.swap(&all)?;
    drop(means);
    let joined = joined?;
    if !(all && they_have) {
        return fail!(
            Class::Other,
            "{}: another process of the two groups cannot reach all of the others",
            way.own.function
        );
    }
    Ok(joined)
}

impl<'a> Means<'a> {
    /// Makes what this process needs, and is asked for.
    fn prepare(meet: Meet<'a>, way: &mut Way<'_>) -> Means<'a> {
        let place = way.own.rank() as usize;
        let card = &meet.ours[place];
        let is_far = meet.theirs.iter().any(|other| are_far(card, other));
        Means {
            meet,
            place,
            card,
            segment: make_segment(meet, card),
            far: is_far.then(|| Far::open(&mut way.conversation, meet.accepts)),
        }
    }

    /// What each of this group offers, by rank. How much that may be is known by the cards.
    fn gather(&self, own: &CollContext<'_>) -> Result<Vec<Offered>> {
        let Meet { ours, theirs, .. } = self.meet;
        let card = |far: &std::result::Result<Far, String>| match far {
            Ok(far) => Ok(far.card.clone()),
            Err(why) => Err(why.clone()),
        };
        let offered = Offered {
            segment: self.segment.as_ref().map(Remote::of),
            far: self.far.as_ref().map(card),
        };
        let is_far = |one: &Card| theirs.iter().any(|other| are_far(one, other));
        if ours.iter().any(is_far) {
            return gather(own, &offered, None);
        }
        if !self.meet.accepts {
            return Ok(vec![Offered::default(); ours.len()]);
        }
        let longest = Offered {
            segment: Some(Remote { fd: 0, inode: 0 }),
            far: None,
        };
        gather(own, &offered, Some(&longest))
    }

    /// Finds the numbers of the others, and connects with those that were not met before.
    fn join(
        &mut self,
        conversation: &mut Conversation,
        (ours, theirs): (far::Group<'_>, far::Group<'_>),
    ) -> Result<(Group, Vec<Hold>)> {
        let own = self.card;
        if theirs.0.len() != theirs.1.len() {
            return Err(nonsense(Class::Other));
        }
        let numbers: Vec<u32> = theirs
            .0
            .iter()
            .map(|card| names::number_or_new(card.name))
            .collect();
        far::compare(ours, theirs)?;
        let mut holds = Vec::new();
        let is_new = |card: &&Card| !is_met(card.name);
        let mut near = theirs.0.iter().filter(|card| !are_far(own, card));
        if near.any(|card| is_new(&card)) {
            let both = match self.meet.accepts {
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

    /// Whether the processes of both groups live, as far as this one can know, for the thread of the conversation.
    ///
    /// Errors: one has died.
    fn all_live(&self) -> impl Fn() -> Result<()> + Send + use<> {
        let cards = self.meet.ours.iter().chain(self.meet.theirs);
        let all: Vec<u32> = cards.map(|card| names::number_or_new(card.name)).collect();
        move || match all.iter().find(|it| connections::has_died(**it)) {
            Some(process) => Err(losses::explain(*process)),
            None => Ok(()),
        }
    }

    fn join_far(
        &mut self,
        conversation: &mut Conversation,
        far: &[(usize, &Card, &FarCard)],
    ) -> Result<Hold> {
        let Some(Ok(own)) = &mut self.far else {
            return fail!(
                Class::Other,
                "the processes of the two groups tell different hosts"
            );
        };
        let (invitation, place) = (own.offer.invitation, self.place);
        let wanted: far::Wanted = far
            .iter()
            .map(|(place, _, told)| (*place, (*told).clone()))
            .collect();
        let waiting = own.waiting.take();
        let all_live = self.all_live();
        let mut lines = conversation.step(move |_| match waiting {
            Some(waiting) => waiting.until_reached(wanted, all_live),
            None => far::reach(place, wanted),
        })?;
        lines.sort_by_key(|(place, _)| *place);
        let met = far.iter().zip(lines);
        let met = met.map(|((place, card, told), (_, lifeline))| FarPeer {
            guest: Guest {
                process: names::number_or_new(card.name),
                place: *place as u32,
                card: &told.end.card,
                entry: told.end.entry,
                own_place: self.place as u32,
            },
            node: card.node,
            lifeline,
        });
        connect(invitation, met.collect())
    }
}

/// The first of the accepting processes of a host makes the segment for all of both groups there: what it is kept open by. It is made
/// whomever this process has met, because others of its group may not have.
fn make_segment(meet: Meet<'_>, own: &Card) -> Option<OwnedFd> {
    let here = |card: &&Card| card.host == own.host;
    let first = meet.ours.iter().find(here);
    let makes = meet.accepts && first == Some(own) && meet.theirs.iter().any(|card| here(&card));
    if !makes {
        return None;
    }
    let plan = SegmentPlan {
        bytes: &layout::segment_bytes,
        initialise: &layout::initialise,
    };
    let processes = meet.ours.iter().chain(meet.theirs).filter(here).count();
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
        } else if theirs.iter().any(|other| other.name == card.name) && !is_met(card.name) {
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
