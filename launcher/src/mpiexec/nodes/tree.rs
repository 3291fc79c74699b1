//! A keeper's place in the tree: the connection to its parent, those to its children, and the starters of these.
//!
//! Invariant: an event is about this place, or at the root about any; everything else is passed on here.

use super::card::{Card, Cookie, GREETING, check_greeting, own_addresses};
use super::frames::Frame;
use super::link::{ALL, Link, Patience, Silence};
use super::starters::Launcher;
use rustix::event::epoll::{self, CreateFlags, Event as Ready, EventData, EventFlags};
use std::collections::VecDeque;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// A keeper that has not connected by then will not.
const GATHERING: Duration = Duration::from_secs(60);
/// After so long the user is told which keepers have not connected.
const NOTICE: Duration = Duration::from_secs(10);
/// Who has connected says who it is by then.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the epoll of the tree tells; the number is in the low half.
const LISTENER: u64 = 0;
const PARENT: u64 = 1;
const CHILD: u64 = 2;
const STRANGER: u64 = 3;
const STARTER: u64 = 4;
const SAID: u64 = 5;

fn tag(about: u64, number: usize) -> EventData {
    EventData::new_u64(about << 32 | number as u64)
}

#[derive(Debug)]
pub enum Event {
    /// From the root, for this place.
    Down(Frame),
    /// From a place below. Only at the root.
    Up(u32, Frame),
    /// The parent is gone; why.
    Orphaned(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awaited,
    Connected,
    /// It has said that nothing is left.
    Done,
    Lost,
}

mod starting;

use starting::{Starter, last_line};

struct Child {
    place: u32,
    host: String,
    state: State,
    link: Option<Link>,
}

pub struct Tree {
    epoll: OwnedFd,
    pub place: u32,
    places: u32,
    fan_out: u32,
    /// With hosts that give no sign of life.
    patience: Patience,
    launcher: Launcher,
    cookie: Cookie,
    /// Places below this one, with their hosts.
    below: Vec<(u32, String)>,
    parent: Option<Link>,
    children: Vec<Child>,
    listener: Option<TcpListener>,
    /// Connections whose other side has not said who it is, and until when it may.
    strangers: Vec<Option<(Link, Instant)>>,
    starters: Vec<Starter>,
    events: VecDeque<Event>,
    begin: Instant,
    /// The user was told of keepers that have not connected.
    has_noticed: bool,
    last_turn: Instant,
}

impl Tree {
    /// Of the root: a host for each of the places 1, 2, ..
    pub fn of_root(
        hosts: Vec<String>,
        launcher: Launcher,
        fan_out: u32,
        patience: Patience,
    ) -> io::Result<Tree> {
        let card = Card {
            cookie: Cookie::new()?,
            addresses: Vec::new(),
            port: 0,
            parent: 0,
            place: None,
            fan_out,
            patience,
            places: hosts.len() as u32 + 1,
            below: (1..).zip(hosts).collect(),
            launcher,
        };
        Tree::new(0, card)
    }

    /// Of a node keeper that has connected to its parent.
    pub fn of_keeper(mut card: Card, place: u32, stream: std::net::TcpStream) -> io::Result<Tree> {
        let greeting = card.greeting(place);
        let fan_out = card.fan_out;
        card.below
            .retain(|(other, _)| *other != place && route(place, *other, fan_out).is_some());
        let mut tree = Tree::new(place, card)?;
        let silence = tree.patience.with_parent();
        let mut link = Link::new(stream, &tree.epoll, tag(PARENT, 0), silence)?;
        link.send_raw(&tree.epoll, &greeting);
        tree.parent = Some(link);
        tree.report(&Frame::Ready);
        Ok(tree)
    }

    fn new(place: u32, card: Card) -> io::Result<Tree> {
        let now = Instant::now();
        Ok(Tree {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            place,
            places: card.places,
            fan_out: card.fan_out,
            patience: card.patience,
            launcher: card.launcher,
            cookie: card.cookie,
            below: card.below,
            parent: None,
            children: Vec::new(),
            listener: None,
            strangers: Vec::new(),
            starters: Vec::new(),
            events: VecDeque::new(),
            begin: now,
            has_noticed: false,
            last_turn: now,
        })
    }

    pub fn is_root(&self) -> bool {
        self.place == 0
    }

    /// Keepers below the root.
    pub fn keepers(&self) -> u32 {
        self.places - 1
    }

    pub fn host(&self, place: u32) -> &str {
        let found = self.below.iter().find(|(other, _)| *other == place);
        found.map_or("", |(_, host)| host.as_str())
    }

    /// A place and all below it.
    pub fn subtree(&self, top: u32) -> Vec<u32> {
        let places = self.below.iter().map(|(place, _)| *place);
        places
            .filter(|place| *place == top || route(top, *place, self.fan_out).is_some())
            .collect()
    }

    /// Begins to start the keepers of the children. What fails is told as an event.
    ///
    /// Errors: no socket to listen on.
    pub fn start_children(&mut self) -> io::Result<()> {
        let own = (u64::from(self.place) * u64::from(self.fan_out) + 1).min(u64::from(self.places));
        let end = (own + u64::from(self.fan_out)).min(u64::from(self.places));
        let places: Vec<u32> = (own as u32..end as u32).collect();
        if places.is_empty() {
            return Ok(());
        }
        self.children = places
            .iter()
            .map(|place| Child {
                place: *place,
                host: self.host(*place).to_owned(),
                state: State::Awaited,
                link: None,
            })
            .collect();
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0"))?;
        listener.set_nonblocking(true)?;
        epoll::add(&self.epoll, &listener, tag(LISTENER, 0), EventFlags::IN)?;
        let mut card = Card {
            cookie: self.cookie,
            addresses: own_addresses(self.children.iter().map(|child| child.host.as_str())),
            port: listener.local_addr()?.port(),
            parent: self.place,
            place: None,
            fan_out: self.fan_out,
            patience: self.patience,
            places: self.places,
            below: self.below.clone(),
            launcher: self.launcher.clone(),
        };
        self.listener = Some(listener);
        for group in self.launcher.groups(&places) {
            card.place = match group[..] {
                [one] => Some(one),
                _ => None,
            };
            if let Err(error) = self.start_group(&card, group.clone()) {
                let why = format!("cannot run {}: {error}", self.launcher.name());
                group.iter().for_each(|place| self.lose(*place, &why));
            }
        }
        Ok(())
    }

    /// What to wait for.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Handles what has happened, without waiting, and what is due.
    pub fn turn(&mut self) {
        let mut ready: Vec<Ready> = Vec::with_capacity(128);
        let now = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let spare = rustix::buffer::spare_capacity(&mut ready);
        let _ = epoll::wait(&self.epoll, spare, Some(&now));
        for event in &ready {
            let data = event.data.u64();
            let (about, number) = (data >> 32, data as u32 as usize);
            match about {
                LISTENER => self.accept(),
                PARENT => self.hear_parent(),
                CHILD => self.hear_child(number),
                STRANGER => self.hear_stranger(number),
                STARTER => self.starter_ended(number),
                SAID => self.starter_says(number),
                _ => {}
            }
        }
        self.keep_time();
    }

    /// Beats, silence, and who has not come.
    fn keep_time(&mut self) {
        let now = Instant::now();
        let away = now.saturating_duration_since(self.last_turn) > self.patience.away();
        self.last_turn = now;
        let mut links: Vec<&mut Link> = self.parent.iter_mut().collect();
        links.extend(self.children.iter_mut().filter_map(|it| it.link.as_mut()));
        if away {
            links.iter_mut().for_each(|link| link.forgive(now));
        }
        if self
            .parent
            .as_mut()
            .is_some_and(|it| it.beat(&self.epoll, now))
        {
            self.orphan(&silent_for(self.patience.with_parent()));
        }
        let epoll = &self.epoll;
        let silent = self.children.iter_mut().filter_map(|child| {
            let silent = child.link.as_mut()?.beat(epoll, now);
            silent.then_some(child.place)
        });
        for place in silent.collect::<Vec<_>>() {
            self.lose(place, &silent_for(self.patience.with_child()));
        }
        for stranger in &mut self.strangers {
            if let Some((link, _)) = stranger.take_if(|(_, until)| now > *until) {
                link.close(&self.epoll);
            }
        }
        if now > self.begin + NOTICE && !self.has_noticed {
            self.has_noticed = true;
            self.notice_late();
        }
        if now > self.begin + GATHERING {
            let late = self.children.iter().filter(|it| it.state == State::Awaited);
            for place in late.map(|it| it.place).collect::<Vec<_>>() {
                let why = format!(
                    "no keeper has come from there within {} s",
                    GATHERING.as_secs()
                );
                self.lose(place, &why);
            }
        }
    }

    /// Sends the beats that are due, in the middle of something that takes long.
    pub fn beat(&mut self) {
        let now = Instant::now();
        let children = self.children.iter_mut();
        let links = children.filter_map(|child| child.link.as_mut());
        for link in links.chain(&mut self.parent) {
            // Silence is looked at later, when it is known how long this process was away.
            let _is_silent = link.beat(&self.epoll, now);
        }
    }

    /// Tells the user which keepers have not connected, and the last thing that their starters said.
    fn notice_late(&mut self) {
        let late = self.children.iter().filter(|it| it.state == State::Awaited);
        let hosts: Vec<&str> = late.map(|it| it.host.as_str()).collect();
        if hosts.is_empty() {
            return;
        }
        let mut text = format!(
            "mpiexec: waiting for keepers on {}: {} has brought none for {} s; the job ends after {} s\n",
            hosts.join(", "),
            self.launcher.name(),
            NOTICE.as_secs(),
            GATHERING.as_secs()
        );
        for starter in self.starters.iter().filter(|it| it.alive) {
            if let Some(line) = last_line(&starter.said)
                && starter.is_awaited(&self.children)
            {
                text += &format!("mpiexec: it has said: {line}\n");
            }
        }
        self.tell(text);
    }

    /// Writes to the user's standard error.
    fn tell(&mut self, text: String) {
        match self.is_root() {
            true => self.events.push_back(Event::Up(0, Frame::Text(text))),
            false => self.report(&Frame::Text(text)),
        }
    }

    /// When to call [`Tree::turn`] next, whatever happens.
    pub fn due(&self) -> Instant {
        let links = self
            .parent
            .iter()
            .chain(self.children.iter().filter_map(|it| it.link.as_ref()));
        let regular = self.last_turn + Duration::from_secs(1);
        links.map(Link::due).fold(regular, Instant::min)
    }

    fn accept(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(TcpListener::accept) {
            let number = self.strangers.len();
            let silence = self.patience.with_child();
            if let Ok(link) = Link::new(stream, &self.epoll, tag(STRANGER, number), silence) {
                self.strangers.push(Some((link, Instant::now() + PATIENCE)));
            }
        }
    }

    fn hear_stranger(&mut self, number: usize) {
        let Some((link, _)) = self.strangers[number].as_mut() else {
            return;
        };
        let filled = link.fill();
        if filled.is_ok() && link.len() < GREETING {
            return;
        }
        let Some((mut link, _)) = self.strangers[number].take() else {
            return;
        };
        let greeting = link.take_raw(GREETING).unwrap_or_default();
        let known = check_greeting(&greeting, &self.cookie);
        let Some((place, other_version)) = known else {
            return link.close(&self.epoll);
        };
        let index = self
            .children
            .iter()
            .position(|it| it.place == place && it.state == State::Awaited);
        let Some(index) = index else {
            return link.close(&self.epoll);
        };
        if let Some(version) = other_version {
            link.close(&self.epoll);
            let own = env!("CARGO_PKG_VERSION");
            let why = format!("mpiexec there is of oxmpi {version}, here of {own}");
            return self.lose(place, &why);
        }
        link.become_known(&self.epoll, tag(CHILD, index));
        self.children[index].state = State::Connected;
        self.children[index].link = Some(link);
        // Nobody else is to come.
        if self.children.iter().all(|it| it.state != State::Awaited)
            && let Some(listener) = self.listener.take()
        {
            let _ = epoll::delete(&self.epoll, &listener);
        }
        self.hear_child(index);
    }

    fn hear_child(&mut self, index: usize) {
        let child = &mut self.children[index];
        let Some(link) = &mut child.link else {
            return;
        };
        link.flush(&self.epoll);
        let filled = link.fill();
        let frames = link.take_frames();
        let place = child.place;
        let broken = frames.is_err();
        for (from, body) in frames.unwrap_or_default() {
            self.hear_frame(index, from, body);
        }
        if broken {
            self.lose(place, "it has sent nonsense");
        } else if filled.is_err() {
            self.lose(place, "the connection to its keeper is gone");
        }
    }

    fn hear_frame(&mut self, index: usize, from: u32, body: Vec<u8>) {
        let frame = Frame::decode(&body);
        if let Some(Frame::Done) = frame
            && from == self.children[index].place
        {
            self.children[index].state = State::Done;
        }
        match frame {
            Some(frame) if self.is_root() => self.events.push_back(Event::Up(from, frame)),
            Some(_) => self.pass_up(from, &body),
            None => self.lose(self.children[index].place, "it has sent nonsense"),
        }
    }

    fn hear_parent(&mut self) {
        let Some(link) = &mut self.parent else {
            return;
        };
        link.flush(&self.epoll);
        let filled = link.fill();
        let frames = link.take_frames();
        let broken = frames.is_err();
        for (to, body) in frames.unwrap_or_default() {
            if to == self.place || to == ALL {
                let event = match Frame::decode(&body) {
                    Some(frame) => Event::Down(frame),
                    None => Event::Orphaned("it has sent nonsense".into()),
                };
                self.events.push_back(event);
            }
            if to != self.place {
                self.pass_down(to, &body);
            }
        }
        if broken {
            self.orphan("it has sent nonsense");
        } else if filled.is_err() {
            self.orphan("the connection to it is gone");
        }
    }

    fn orphan(&mut self, why: &str) {
        if let Some(link) = self.parent.take() {
            link.close(&self.epoll);
            self.events.push_back(Event::Orphaned(why.to_owned()));
        }
    }

    fn pass_up(&mut self, from: u32, body: &[u8]) {
        if let Some(parent) = &mut self.parent {
            parent.pass(&self.epoll, from, body);
        }
    }

    fn pass_down(&mut self, to: u32, body: &[u8]) {
        let next = match to {
            ALL => None,
            to => match route(self.place, to, self.fan_out) {
                Some(next) => Some(next),
                None => return,
            },
        };
        for child in &mut self.children {
            if let Some(link) = &mut child.link
                && next.is_none_or(|next| next == child.place)
            {
                link.pass(&self.epoll, to, body);
            }
        }
    }

    /// Tells the root something of this place.
    pub fn report(&mut self, frame: &Frame) {
        if let Some(parent) = &mut self.parent {
            parent.send(&self.epoll, self.place, frame);
        }
    }

    /// Sends to a place below.
    ///
    /// Errors: a path that is not UTF-8.
    pub fn send(&mut self, to: u32, frame: &Frame) -> Result<(), String> {
        let body = frame.encode()?;
        self.pass_down(to, &body);
        Ok(())
    }

    /// Sends to all places below.
    pub fn broadcast(&mut self, frame: &Frame) {
        let _ = self.send(ALL, frame);
    }

    /// The keeper of a child is gone, or will not come.
    fn lose(&mut self, place: u32, why: &str) {
        let Some(child) = self.children.iter_mut().find(|it| it.place == place) else {
            return;
        };
        if let Some(link) = child.link.take() {
            link.close(&self.epoll);
        }
        if matches!(child.state, State::Done | State::Lost) {
            return;
        }
        child.state = State::Lost;
        let frame = Frame::Lost {
            why: why.to_owned(),
        };
        match (self.is_root(), frame.encode()) {
            (true, _) => self.events.push_back(Event::Up(place, frame)),
            (false, Ok(body)) => self.pass_up(place, &body),
            (false, Err(_)) => {}
        }
    }

    /// Whether no keeper below is at work any more.
    pub fn is_done(&self) -> bool {
        self.children
            .iter()
            .all(|it| matches!(it.state, State::Done | State::Lost))
    }

    /// Keepers that have not said that they are done.
    pub fn unfinished(&self) -> Vec<&str> {
        let children = self.children.iter();
        let unfinished =
            children.filter(|it| matches!(it.state, State::Awaited | State::Connected));
        unfinished.map(|it| it.host.as_str()).collect()
    }

    /// Lets go of everybody: keepers below see the end of their connections, and end.
    pub fn abandon(&mut self) {
        for child in &mut self.children {
            if let Some(link) = child.link.take() {
                link.close(&self.epoll);
            }
            if child.state != State::Done {
                child.state = State::Lost;
            }
        }
        self.listener = None;
        self.end_starters(true);
    }

    /// Says what is left to say to the parent.
    pub fn finish(mut self) {
        if let Some(parent) = self.parent.take() {
            parent.finish(&self.epoll, Instant::now() + Duration::from_secs(1));
        }
    }
}

fn silent_for(silence: Silence) -> String {
    format!("it has given no sign of life for {} s", silence.seconds())
}

/// Through which child the way leads from a place to one below it; `None`: it is not below.
fn route(from: u32, to: u32, fan_out: u32) -> Option<u32> {
    let mut next = to;
    while next > from {
        let parent = (next - 1) / fan_out;
        if parent == from {
            return Some(next);
        }
        next = parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_reached_by_one_way() {
        for fan_out in 1..5 {
            for to in 1..60 {
                let mut at = 0;
                let mut steps = 0;
                while at != to {
                    at = route(at, to, fan_out).unwrap();
                    steps += 1;
                }
                assert!(steps <= to);
            }
        }
        assert_eq!(route(1, 2, 32), None);
        assert_eq!(route(1, 33, 32), Some(33));
        assert_eq!(route(2, 1, 32), None);
        assert_eq!(route(1, 1, 32), None);
    }
}
