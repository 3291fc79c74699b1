//! What belongs together: the sends and receives of messages, the calls of collective operations, and from both the clocks of several hosts.
//!
//! Of one sender, receiver, context and tag the n-th message received is the n-th sent; receives that could take the same message take them in
//! the order of their posting. Invariant: an arrow is drawn only from a call that has sent to one that has received, once for each.

use super::clock::Scale;
use super::part::{Names, Part};
use super::profile::Profile;
use oxmpi::events::timeline::layout::{HAS_RECEIVED, Kind, NONE, Record, about};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;

/// One end of an arrow. Times are nanoseconds of the time of day of the first host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub rank: u32,
    pub lane: u32,
    /// Where the arrow begins or ends, inside the call.
    pub time: i64,
    /// The call.
    pub begin: i64,
    pub end: i64,
    /// Of the message, as this end has it.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: End,
    pub to: End,
    /// When the receive was posted.
    pub posted: i64,
}

/// The calls of a collective operation.
#[derive(Debug, Default)]
pub struct Meeting {
    pub function: String,
    pub calls: Vec<End>,
}

/// All that is known before the file is written.
pub struct Known {
    /// By part.
    pub scales: Vec<Scale>,
    pub names: HashMap<u32, Names>,
    /// Records missing, by rank.
    pub dropped: HashMap<u32, u64>,
    /// When the first call began.
    pub origin: i64,
    pub ranks: usize,
    pub arrows: Vec<Arrow>,
    pub meetings: Vec<Meeting>,
    pub profile: Profile,
    /// Messages of which one end is missing.
    pub unmatched: usize,
}

/// What messages are told apart by: context, the sender's rank in it, the receiver's process, tag.
type Stream = (u32, i32, u32, i32);

struct Send {
    stream: Stream,
    end: End,
}

struct Receive {
    stream: Stream,
    /// When it was posted, if that is known by the call itself.
    posted: Option<i64>,
    handle: i32,
    end: End,
}

/// A call of a collective operation.
struct Member {
    context: u32,
    leader: i32,
    function: u16,
    end: End,
}

#[derive(Default)]
struct Gathered {
    sends: Vec<Send>,
    receives: Vec<Receive>,
    /// Rank, request and time.
    posted: Vec<(u32, i32, i64)>,
    members: Vec<Member>,
    /// Receives that were told by a call which has not ended yet, by rank and lane.
    open: HashMap<(u32, u32), Vec<Record>>,
    profile: Profile,
    hosts: HashMap<u32, usize>,
    origin: Option<i64>,
}

impl Known {
    pub fn of(parts: &mut [Part], ranks: usize) -> io::Result<Known> {
        let (mut names, mut dropped) = (HashMap::new(), HashMap::new());
        let mut scales = Vec::new();
        let mut all = Gathered::default();
        for (host, part) in parts.iter_mut().enumerate() {
            let scale = part.facts(&mut names, &mut dropped)?;
            scales.push(scale);
            part.records(|rank, lane, record| {
                all.hosts.entry(rank).or_insert(host);
                all.add(rank, lane, record, &scale);
                Ok(())
            })?;
        }
        let (mut arrows, unmatched) = pair(all.sends, all.receives, all.posted);
        let mut meetings = meet(all.members, &names);
        let shifts = shifts(&arrows, &all.hosts, scales.len());
        for (scale, shift) in scales.iter_mut().zip(&shifts) {
            scale.shift = *shift;
        }
        let shift = |rank: u32| all.hosts.get(&rank).map_or(0, |host| shifts[*host]);
        if shifts.iter().any(|shift| *shift != 0) {
            for arrow in &mut arrows {
                arrow.from.move_by(-shift(arrow.from.rank));
                arrow.posted -= shift(arrow.to.rank);
                arrow.to.move_by(-shift(arrow.to.rank));
            }
            let calls = meetings.iter_mut().flat_map(|meeting| &mut meeting.calls);
            calls.for_each(|call| call.move_by(-shift(call.rank)));
        }
        Ok(Known {
            scales,
            names,
            dropped,
            origin: all.origin.unwrap_or_default()
                - shifts.iter().copied().max().unwrap_or(0).max(0),
            ranks,
            arrows,
            meetings,
            profile: all.profile,
            unmatched,
        })
    }

    pub fn function(&self, rank: u32, number: u16) -> &str {
        self.names
            .get(&rank)
            .map_or("?", |names| names.function(number))
    }
}

impl End {
    /// An arrow's end where its call begins.
    fn at_begin((rank, lane): (u32, u32), (begin, end): (i64, i64), bytes: u64) -> End {
        End {
            rank,
            lane,
            time: begin,
            begin,
            end,
            bytes,
        }
    }

    fn move_by(&mut self, by: i64) {
        self.time += by;
        self.begin += by;
        self.end += by;
    }
}

impl Gathered {
    fn add(&mut self, rank: u32, lane: u32, record: &Record, scale: &Scale) {
        let begin = scale.time(record.begin);
        let end = scale.time(record.begin + record.duration);
        match record.function {
            about::RECEIVED => {
                let open = self.open.entry((rank, lane)).or_default();
                return open.push(*record);
            }
            about::POSTED => return self.posted.push((rank, record.extra, begin)),
            about::SENT => return self.send(rank, lane, record, (begin, end)),
            about::SLEPT => return self.profile.slept(rank, scale.span(record.duration)),
            about::HAPPENED => return,
            _ => {}
        }
        self.origin = Some(self.origin.map_or(begin, |origin| origin.min(begin)));
        self.profile.called(rank, record, (begin, end));
        if let Some(open) = self.open.get_mut(&(rank, lane)) {
            let received = std::mem::take(open);
            for one in received {
                self.receive((rank, lane), &one, record, (begin, end), scale);
            }
        }
        match record.kind {
            Kind::Send | Kind::Both => self.send(rank, lane, record, (begin, end)),
            Kind::Post => self.posted.push((rank, record.extra, begin)),
            Kind::Receive if record.extra == HAS_RECEIVED => self.receives.push(Receive {
                stream: (record.context, record.peer, rank, record.tag),
                posted: Some(begin),
                handle: 0,
                end: End {
                    // An arrow that ends where the call does would be the next one's.
                    time: (end - 1).max(begin),
                    ..End::at_begin((rank, lane), (begin, end), record.bytes)
                },
            }),
            Kind::Collective if record.extra != NONE => self.members.push(Member {
                context: record.context,
                leader: record.extra,
                function: record.function,
                end: End::at_begin((rank, lane), (begin, end), 0),
            }),
            _ => {}
        }
    }

    fn send(&mut self, rank: u32, lane: u32, record: &Record, (begin, end): (i64, i64)) {
        self.sends.push(Send {
            stream: (record.context, record.extra, record.peer as u32, record.tag),
            end: End::at_begin((rank, lane), (begin, end), record.bytes),
        });
    }

    /// A receive was told in this call, or in one before it whose record is missing.
    fn receive(
        &mut self,
        (rank, lane): (u32, u32),
        record: &Record,
        call: &Record,
        (begin, end): (i64, i64),
        scale: &Scale,
    ) {
        let time = scale.time(record.begin);
        let inside = record.begin >= call.begin;
        if record.extra == 0 && inside && call.kind == Kind::Matched {
            // The probe has told.
            return;
        }
        let (begin, end) = if inside { (begin, end) } else { (time, time) };
        self.receives.push(Receive {
            stream: (record.context, record.peer, rank, record.tag),
            posted: (record.extra == 0).then_some(begin),
            handle: record.extra,
            end: End {
                rank,
                lane,
                time,
                begin,
                end,
                bytes: record.bytes,
            },
        });
    }
}

/// The arrows, and how many ends are left over.
fn pair(
    mut sends: Vec<Send>,
    mut receives: Vec<Receive>,
    mut posted: Vec<(u32, i32, i64)>,
) -> (Vec<Arrow>, usize) {
    // When requests were posted: the last time before they completed.
    posted.sort_by_key(|(_, _, time)| *time);
    receives.sort_by_key(|receive| receive.end.time);
    let mut postings = posted.into_iter().peekable();
    let mut open: HashMap<(u32, i32), VecDeque<i64>> = HashMap::new();
    for receive in receives.iter_mut().filter(|it| it.posted.is_none()) {
        while let Some((rank, handle, time)) =
            postings.next_if(|(.., time)| *time <= receive.end.time)
        {
            open.entry((rank, handle)).or_default().push_back(time);
        }
        let times = open.get_mut(&(receive.end.rank, receive.handle));
        // What was posted before was cancelled or freed.
        receive.posted = times.and_then(|times| times.drain(..).next_back());
    }
    receives.retain(|receive| receive.posted.is_some());
    sends.sort_by_key(|send| send.end.begin);
    receives.sort_by_key(|receive| receive.posted);
    let mut under_way: HashMap<Stream, VecDeque<End>> = HashMap::new();
    let count = sends.len();
    for send in sends {
        under_way
            .entry(send.stream)
            .or_default()
            .push_back(send.end);
    }
    let mut arrows = Vec::with_capacity(receives.len());
    let mut alone = 0;
    for receive in &receives {
        let sent = under_way.get_mut(&receive.stream);
        match (sent.and_then(VecDeque::pop_front), receive.posted) {
            (Some(from), Some(posted)) => arrows.push(Arrow {
                from,
                to: receive.end,
                posted,
            }),
            _ => alone += 1,
        }
    }
    let left = count - arrows.len();
    (arrows, alone + left)
}

/// The operations: on a communicator, each rank's calls in order.
fn meet(mut members: Vec<Member>, names: &HashMap<u32, Names>) -> Vec<Meeting> {
    members.sort_by_key(|member| member.end.begin);
    let mut counts: HashMap<(u32, u32, i32), u64> = HashMap::new();
    let mut meetings: BTreeMap<(u64, u32, i32), Meeting> = BTreeMap::new();
    for member in members {
        let (context, leader) = (member.context, member.leader);
        let count = counts
            .entry((member.end.rank, context, leader))
            .or_default();
        let meeting = meetings.entry((*count, context, leader)).or_default();
        *count += 1;
        if meeting.calls.is_empty() {
            let names = names.get(&member.end.rank);
            meeting.function = names
                .map_or("?", |names| names.function(member.function))
                .to_owned();
        }
        meeting.calls.push(member.end);
    }
    meetings.into_values().collect()
}

/// By how much the time of day of each host is ahead of the first one's, so that the fastest messages between two hosts take the same time in
/// both directions, or none goes backwards where there are some in one direction only.
fn shifts(arrows: &[Arrow], hosts: &HashMap<u32, usize>, count: usize) -> Vec<i64> {
    let mut shifts = vec![0; count];
    if count < 2 {
        return shifts;
    }
    let mut fastest: HashMap<(usize, usize), i64> = HashMap::new();
    for arrow in arrows {
        let (Some(from), Some(to)) = (hosts.get(&arrow.from.rank), hosts.get(&arrow.to.rank))
        else {
            continue;
        };
        let took = arrow.to.time - arrow.from.time;
        let known = fastest.entry((*from, *to)).or_insert(took);
        *known = took.min(*known);
    }
    let mut reached = vec![false; count];
    reached[0] = true;
    let mut next = VecDeque::from([0]);
    while let Some(host) = next.pop_front() {
        for other in 0..count {
            if reached[other] {
                continue;
            }
            let there = fastest.get(&(host, other));
            let back = fastest.get(&(other, host));
            let ahead = match (there, back) {
                (Some(there), Some(back)) => (there - back) / 2,
                (Some(there), None) => *there.min(&0),
                (None, Some(back)) => -*back.min(&0),
                (None, None) => continue,
            };
            shifts[other] = shifts[host] + ahead;
            reached[other] = true;
            next.push_back(other);
        }
    }
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(rank: u32, time: i64) -> End {
        End {
            rank,
            lane: 0,
            time,
            begin: time - 1,
            end: time + 1,
            bytes: 0,
        }
    }

    fn send(rank: u32, tag: i32, time: i64) -> Send {
        Send {
            stream: (4, rank as i32, 1, tag),
            end: end(rank, time),
        }
    }

    fn receive(from: i32, tag: i32, posted: i64, time: i64) -> Receive {
        Receive {
            stream: (4, from, 1, tag),
            posted: Some(posted),
            handle: 0,
            end: end(1, time),
        }
    }

    fn ends(arrows: &[Arrow]) -> Vec<(i64, i64)> {
        let mut ends: Vec<_> = arrows.iter().map(|it| (it.from.time, it.to.time)).collect();
        ends.sort_unstable();
        ends
    }

    #[test]
    fn messages_of_a_stream_are_taken_in_the_order_of_posting() {
        let sends = vec![send(0, 7, 10), send(0, 7, 20), send(2, 7, 5), send(0, 8, 1)];
        // The second one sent completes first.
        let receives = vec![
            receive(0, 7, 3, 40),
            receive(0, 7, 4, 30),
            receive(2, 7, 2, 50),
        ];
        let (arrows, unmatched) = pair(sends, receives, Vec::new());
        assert_eq!(ends(&arrows), [(5, 50), (10, 40), (20, 30)]);
        assert_eq!(unmatched, 1);
    }

    #[test]
    fn a_request_was_posted_when_its_handle_was_last_given_out() {
        let of_request = |handle, time| Receive {
            posted: None,
            handle,
            ..receive(0, 7, 0, time)
        };
        let sends = vec![send(0, 7, 1), send(0, 7, 2), send(0, 7, 3)];
        let receives = vec![of_request(70, 30), of_request(71, 20), of_request(70, 60)];
        let posted = vec![(1, 70, 5), (1, 71, 6), (1, 70, 50), (1, 72, 55)];
        let (arrows, unmatched) = pair(sends, receives, posted);
        assert_eq!(ends(&arrows), [(1, 30), (2, 20), (3, 60)]);
        assert_eq!(unmatched, 0);
        let unknown = vec![of_request(99, 5)];
        let (arrows, unmatched) = pair(Vec::new(), unknown, Vec::new());
        assert!(arrows.is_empty() && unmatched == 0);
    }

    #[test]
    fn clocks_are_set_by_the_fastest_messages() {
        let arrow = |from: End, to: End| Arrow {
            from,
            to,
            posted: to.time,
        };
        let hosts = HashMap::from([(0, 0), (1, 1), (2, 2)]);
        // The second host is 1000 ahead, a message takes 10.
        let arrows = [
            arrow(end(0, 0), end(1, 1010)),
            arrow(end(0, 5), end(1, 1100)),
            arrow(end(1, 2000), end(0, 1010)),
            // The third one's message would arrive before it was sent.
            arrow(end(2, 3000), end(1, 2900)),
        ];
        assert_eq!(shifts(&arrows, &hosts, 3), [0, 1000, 1100]);
        assert_eq!(shifts(&arrows[..1], &hosts, 3), [0, 0, 0]);
        assert_eq!(shifts(&arrows, &hosts, 1), [0]);
    }

    #[test]
    fn collective_calls_meet_by_their_number_on_the_communicator() {
        let member = |rank, context, time| Member {
            context,
            leader: 0,
            function: 0,
            end: end(rank, time),
        };
        let members = vec![
            member(0, 4, 1),
            member(1, 4, 9),
            member(0, 8, 2),
            member(0, 4, 3),
            member(1, 4, 10),
        ];
        let meetings = meet(members, &HashMap::new());
        let mut sizes: Vec<_> = meetings.iter().map(|it| it.calls.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 2, 2]);
    }
}
