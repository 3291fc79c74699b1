//! What the supervisor of the root does for ranks of other hosts: it gives them their start, hears of them, and tells their keepers.

use super::frames::{Frame, WINDOW};
use super::tree::Event;
use crate::mpiexec::ending::{Cause, Ending, LOST_CODE};
use crate::mpiexec::output::Kind;
use crate::mpiexec::rank::{Life, Rank, Stage};
use crate::mpiexec::state::{Feed, Wish};
use crate::mpiexec::supervisor::{FEED, READER, Supervisor, tag};
use rustix::event::epoll::{self, EventFlags};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use std::io;
use std::time::{Duration, Instant};

/// For the answers to a question about the table.
const ANSWERS: Duration = Duration::from_millis(700);
/// For keepers that were told to end, or to kill. A process that resists takes one of them five seconds.
const ENDS: Duration = Duration::from_secs(7);
/// At a keeper, which can say better than the root that one below it says nothing.
const ENDS_BELOW: Duration = Duration::from_secs(6);

impl Supervisor<'_> {
    pub(crate) fn is_keeper(&self) -> bool {
        self.tree.as_ref().is_some_and(|tree| !tree.is_root())
    }

    pub(crate) fn send(&mut self, place: u32, frame: &Frame) {
        if let Some(tree) = &mut self.tree {
            // Only a start can be refused, see there.
            let _ = tree.send(place, frame);
        }
    }

    /// Tells the keepers to start their ranks.
    pub(crate) fn start_elsewhere(&mut self) -> Result<(), String> {
        let Some(tree) = &mut self.tree else {
            return Ok(());
        };
        for place in 1..=self.plan.further_hosts.len() as u32 {
            let start = self.plan.start_of(place)?;
            let sent = tree.send(place, &Frame::Start(Box::new(start)));
            sent.map_err(|error| {
                format!("cannot tell other hosts what to start (are all paths UTF-8?): {error}")
            })?;
        }
        Ok(())
    }

    /// A rank that its keeper starts.
    pub(crate) fn add_elsewhere(&mut self, number: usize) -> io::Result<()> {
        let plan = &self.plan.ranks[number];
        let mut sources = Vec::new();
        for kind in [Kind::Output, Kind::Error] {
            let copy = self.copy_of(number, kind)?;
            let label = self.label(number, kind).into_bytes();
            sources.push(self.output.add_elsewhere(copy, kind, label));
        }
        if self.plan.request.input.has(plan.number) {
            let (fd, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            ioctl_fionbio(&writer, true)?;
            ioctl_fionbio(&fd, true)?;
            epoll::add(&self.epoll, &fd, tag(FEED, number), EventFlags::IN)?;
            self.input.add(writer, tag(READER, number));
            let feed = Feed {
                fd,
                window: WINDOW,
                paused: false,
            };
            self.at_root.feeds.insert(number, feed);
        }
        self.ranks.push(Rank {
            elsewhere: Some(plan.place),
            session: Some(0),
            sources,
            ..Rank::running(number, plan.number, plan.seat, 0)
        });
        Ok(())
    }

    /// Sends a rank of another host what there is on its input.
    pub(crate) fn pass_input(&mut self, number: usize) {
        let Some(feed) = self.at_root.feeds.get_mut(&number) else {
            return;
        };
        let mut bytes = vec![0; feed.window];
        let count = match rustix::io::read(&feed.fd, bytes.as_mut_slice()) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(_) => 0,
        };
        bytes.truncate(count);
        feed.window -= count;
        let ended = count == 0;
        if ended || feed.window == 0 {
            let _ = epoll::delete(&self.epoll, &feed.fd);
            feed.paused = true;
        }
        if ended {
            self.at_root.feeds.remove(&number);
        }
        if let Some(place) = self.ranks[number].elsewhere {
            let rank = number as u32;
            self.send(place, &Frame::Input { rank, bytes });
        }
    }

    fn input_taken(&mut self, number: usize, bytes: u32) {
        if bytes == u32::MAX {
            // The input sees that nobody reads it any more.
            self.at_root.feeds.remove(&number);
        } else if let Some(feed) = self.at_root.feeds.get_mut(&number) {
            feed.window = (feed.window + bytes as usize).min(WINDOW);
            if std::mem::take(&mut feed.paused) {
                let _ = epoll::add(&self.epoll, &feed.fd, tag(FEED, number), EventFlags::IN);
            }
        }
    }

    /// Handles the frames of other hosts, and sends them what is due. Returns when to call it again.
    pub(crate) fn tend_tree(&mut self, now: Instant) -> Option<Instant> {
        self.tree.as_ref()?;
        self.tell_ends(now);
        if self.is_keeper() {
            self.tell_root();
        }
        while let Some(event) = self.next_event() {
            match event {
                Event::Up(place, frame) => self.hear_place(place, frame),
                Event::Down(frame) => self.hear_root(frame),
                Event::Orphaned(why) => self.orphaned(&why),
            }
        }
        for (source, bytes) in self.output.take_taken() {
            self.tell_taken(source, bytes);
        }
        let ready = |wish: &(Wish, Instant, usize)| wish.2 == 0 || now >= wish.1;
        for (wish, ..) in self
            .at_root
            .wishes
            .extract_if(.., |it| ready(it))
            .collect::<Vec<_>>()
        {
            self.fulfil(wish);
        }
        let wishes = self.at_root.wishes.iter().map(|(_, until, _)| *until);
        let ends = self.at_root.ends.map(|since| since + self.ends_limit());
        wishes
            .chain(ends)
            .chain(self.tree.as_ref().map(|it| it.due()))
            .min()
    }

    fn next_event(&mut self) -> Option<Event> {
        let tree = self.tree.as_mut()?;
        tree.next_event().or_else(|| {
            tree.turn();
            tree.next_event()
        })
    }

    fn tell_taken(&mut self, source: usize, bytes: usize) {
        let owner = self
            .ranks
            .iter()
            .find(|rank| rank.sources.contains(&source));
        let Some((rank, place)) = owner.and_then(|rank| Some((rank, rank.elsewhere?))) else {
            return;
        };
        let frame = Frame::OutputTaken {
            rank: rank.number as u32,
            error: rank.sources[1] == source,
            bytes: bytes as u32,
        };
        self.send(place, &frame);
    }

    fn fulfil(&mut self, wish: Wish) {
        match wish {
            Wish::Whole => {
                let text = crate::mpiexec::table::render(&self.rows());
                self.show(&text);
            }
            Wish::IfHanging => self.show_if_hanging(),
        }
    }

    /// Asks the keepers for the rows of their ranks.
    pub(crate) fn ask_for_rows(&mut self) {
        if let Some(tree) = &mut self.tree
            && tree.is_root()
        {
            tree.broadcast(&Frame::TableWanted);
        }
    }

    /// Whether a table is to be shown later, when keepers have answered.
    pub(crate) fn wait_for_rows(&mut self, wish: Wish) -> bool {
        let keepers = match &self.tree {
            Some(tree) if tree.is_root() && !tree.is_done() => tree.keepers() as usize,
            _ => return false,
        };
        self.ask_for_rows();
        let until = Instant::now() + ANSWERS;
        self.at_root.wishes.push((wish, until, keepers));
        true
    }

    pub(crate) fn broadcast_signal(&mut self, signal: Signal) {
        // A keeper that was told to kill does so until nothing is left.
        let again = signal == Signal::KILL && std::mem::replace(&mut self.at_root.killed, true);
        if let Some(tree) = &mut self.tree
            && tree.is_root()
            && !again
        {
            let number = signal.as_raw();
            tree.broadcast(&Frame::Signal { number });
        }
    }

    /// Whether no keeper is at work for this one any more. Tells them to end, if all ranks have ended.
    pub(crate) fn is_tree_done(&mut self, now: Instant) -> bool {
        if self.is_keeper() && !self.at_keeper.released {
            return false;
        }
        let Some(tree) = &mut self.tree else {
            return true;
        };
        if tree.is_done() {
            tree.end_starters(false);
            return true;
        }
        if tree.is_root() && self.at_root.ends.is_none() {
            tree.broadcast(&Frame::End);
        }
        let since = *self.at_root.ends.get_or_insert(now);
        if now >= since + self.ends_limit() {
            self.cut_off(now);
        }
        false
    }

    fn ends_limit(&self) -> Duration {
        match self.is_keeper() {
            true => ENDS_BELOW,
            false => ENDS,
        }
    }

    /// Where nothing more can be done for the ranks of this host: whether keepers may still say that theirs have ended. Those that have not
    /// in time are let go.
    pub(crate) fn awaits_keepers(&mut self, now: Instant) -> bool {
        let mut ranks = self.ranks.iter().filter(|rank| rank.is_running());
        let awaits = ranks.any(|rank| rank.elsewhere.is_some());
        let may_come = self.tree.as_ref().is_some_and(|tree| !tree.is_done());
        let Some(ending) = self.ending.as_ref().filter(|_| awaits && may_come) else {
            return false;
        };
        if ending.time(now) >= ENDS {
            self.cut_off(now);
        }
        true
    }

    /// Lets go of keepers that say nothing: cuts the connections, and ends what was started here to reach them.
    fn cut_off(&mut self, now: Instant) {
        let Some(tree) = &mut self.tree else {
            return;
        };
        let hosts = tree.unfinished().join(", ");
        tree.abandon();
        self.say(&format!(
            "no word that the job has ended from {hosts}: given up as lost"
        ));
        self.code.get_or_insert(1);
        for rank in self.ranks.iter_mut().filter(|rank| rank.is_running()) {
            if rank.elsewhere.is_some() {
                rank.life = Life::Lost;
            }
        }
        self.end_anew(now);
    }

    /// The last steps of the ending begin anew: what was started here to reach a host was spared before.
    fn end_anew(&mut self, now: Instant) {
        let cause = match &self.ending {
            Some(ending) if ending.cause != Cause::Leftovers => Cause::AtOnce,
            _ => Cause::Leftovers,
        };
        self.ending = Some(Ending::new(cause, now));
    }

    /// What a keeper says.
    fn hear_place(&mut self, place: u32, frame: Frame) {
        match frame {
            Frame::Started { processes } => {
                for (rank, pid) in processes {
                    if let Some(rank) = self.rank_of(place, rank) {
                        self.ranks[rank].pid = pid;
                    }
                }
            }
            Frame::Failed { rank, why } => {
                let what = rank.map_or("ranks".to_owned(), |rank| format!("rank {rank}"));
                let host = self.host_of(place);
                self.say(&format!("cannot start {what} on {host}: {why}"));
                let not_started = |rank: &&mut Rank| rank.elsewhere == Some(place) && rank.pid == 0;
                for rank in self.ranks.iter_mut().filter(not_started) {
                    rank.life = Life::Lost;
                }
                self.fail(1, Cause::AtOnce);
            }
            Frame::Output { rank, error, bytes } => {
                if let Some(rank) = self.rank_of(place, rank) {
                    let source = self.ranks[rank].sources[usize::from(error)];
                    self.output.accept(source, &bytes);
                }
            }
            Frame::InputTaken { rank, bytes } => {
                if let Some(rank) = self.rank_of(place, rank) {
                    self.input_taken(rank, bytes);
                    self.input.reader_ready(&self.epoll);
                }
            }
            Frame::Line { rank, line } => {
                if let Some(rank) = self.rank_of(place, rank) {
                    for effect in self.server.line(rank, &line) {
                        self.apply(effect);
                    }
                }
            }
            Frame::Stage { rank, pid, stage } => {
                if let Some(rank) = self.rank_of(place, rank) {
                    self.ranks[rank].pid = pid;
                    self.told_stage(rank, stage);
                    if let Stage::Aborted(code) = stage {
                        self.aborted(rank, code);
                    }
                }
            }
            Frame::Ended {
                rank,
                life,
                stage,
                exchanged,
            } => {
                if let Some(rank) = self.rank_of(place, rank)
                    && self.ranks[rank].is_running()
                {
                    self.told_stage(rank, stage);
                    self.ranks[rank].life = life;
                    self.ranks[rank].exchanged = exchanged;
                    self.at_root.feeds.remove(&rank);
                    self.ended(rank);
                }
            }
            Frame::Missed { code } => self.died(code),
            Frame::Table(rows) => {
                for (rank, row) in rows {
                    if let Some(rank) = self.rank_of(place, rank) {
                        self.ranks[rank].told_row = Some(row);
                    }
                }
                for wish in &mut self.at_root.wishes {
                    wish.2 = wish.2.saturating_sub(1);
                }
            }
            Frame::Ends(news) => self.spread_ends(news),
            Frame::Swept { number, ranks } => self.hear_sweep(number, ranks),
            Frame::Waits { number, ranks } => self.hear_waits(number, ranks),
            Frame::Samples { number, samples } => self.hear_samples(place, number, samples),
            Frame::Text(text) => self.output.say(&text),
            Frame::Lost { why } => self.lost_host(place, &why),
            _ => {}
        }
    }

    /// The index of a rank that is under this keeper.
    fn rank_of(&self, place: u32, rank: u32) -> Option<usize> {
        let known = self.ranks.get(rank as usize)?;
        (known.elsewhere == Some(place)).then_some(rank as usize)
    }

    fn host_of(&self, place: u32) -> String {
        let host = (place as usize).checked_sub(1);
        let host = host.and_then(|it| self.plan.further_hosts.get(it));
        host.cloned().unwrap_or_default()
    }

    /// A program of another MPI has told by PMI-1, of which its keeper knows nothing.
    fn told_stage(&mut self, rank: usize, stage: Stage) {
        let rank = &mut self.ranks[rank];
        if stage != Stage::Outside && !matches!(rank.told, Stage::Aborted(_)) {
            rank.told = stage;
        }
    }

    /// A host cannot be reached any more, nor those whose keepers are below its own.
    fn lost_host(&mut self, place: u32, why: &str) {
        let places = self.tree.as_ref().map(|tree| tree.subtree(place));
        let places = places.unwrap_or_default();
        let mut lost = Vec::new();
        for rank in self.ranks.iter_mut().filter(|rank| rank.is_running()) {
            if rank.elsewhere.is_some_and(|it| places.contains(&it)) {
                rank.life = Life::Lost;
                self.ends.add_lost(rank.number);
                lost.push(rank.number.to_string());
            }
        }
        lost.iter()
            .filter_map(|rank| rank.parse().ok())
            .for_each(|rank: usize| {
                self.at_root.feeds.remove(&rank);
            });
        let is_ending = self.ending.is_some() || self.at_root.ends.is_some();
        if self.ending.as_ref().is_some_and(Ending::is_last) {
            self.end_anew(Instant::now());
        }
        if is_ending && lost.is_empty() {
            return;
        }
        let host = self.host_of(place);
        let ranks = match lost.len() {
            0 => String::new(),
            1 => format!("; rank {} was there", lost[0]),
            2..9 => format!("; ranks {} were there", lost.join(", ")),
            many => format!("; {many} ranks were there"),
        };
        let behind = match places.len() {
            0 | 1 => String::new(),
            more => format!(" with {} hosts whose keepers it had started", more - 1),
        };
        self.say(&format!("host {host} is lost{behind}: {why}{ranks}"));
        if !is_ending {
            self.died(LOST_CODE);
        }
    }
}
