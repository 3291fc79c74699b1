//! Agreement by messages, of members that share no memory: what one does, apart from sending and waiting.
//!
//! In rounds each member sends all that it knows to all others, and waits for what each of them sends or for the news that it is lost. After
//! a round in which nobody was newly lost a member has decided: those that live know no less. It sends the decision in place of its next
//! round and no more; whoever gets one takes it over. Without deaths one round is enough. This is the flooding consensus of the
//! textbooks (Cachin, Guerraoui, Rodrigues, section 5.1.2), with sums in place of sets of proposals.
//!
//! Invariant: of two members that live none decides otherwise than the other. It needs that a member which is taken for lost is no more, and that
//! a message between two that live comes. What a member that has died since had decided does not matter.

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// The contributions of some members, summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The bitwise AND of the flags of the first members, and of the others.
    pub flags: [u32; 2],
    /// A bit for each member that has contributed.
    present: Vec<u64>,
    /// The members that all of these have marked, and those that any has.
    marked_by_all: Vec<u64>,
    marked_by_any: Vec<u64>,
}

fn positions(bits: &[u64], members: usize, wanted: bool) -> Vec<usize> {
    let is_set = |member: &usize| bits[member / BITS] >> (member % BITS) & 1 != 0;
    (0..members)
        .filter(|member| is_set(member) == wanted)
        .collect()
}

impl Sum {
    /// The contribution of the member `me` of so many, of whom the `first` ones belong together.
    pub fn of_one(me: usize, members: usize, first: usize, flag: u32, marked: &[usize]) -> Sum {
        let words = members.div_ceil(BITS);
        let set = |all: &[usize]| {
            let mut bits = vec![0; words];
            all.iter()
                .for_each(|member| bits[member / BITS] |= 1 << (member % BITS));
            bits
        };
        let mut flags = [u32::MAX; 2];
        flags[usize::from(me >= first)] = flag;
        Sum {
            flags,
            present: set(&[me]),
            marked_by_all: set(marked),
            marked_by_any: set(marked),
        }
    }

    fn add(&mut self, other: &Sum) {
        let flags = self.flags.iter_mut().zip(other.flags);
        flags.for_each(|(own, other)| *own &= other);
        let combine = |own: &mut [u64], other: &[u64], by: fn(u64, u64) -> u64| {
            own.iter_mut()
                .zip(other)
                .for_each(|(own, other)| *own = by(*own, *other));
        };
        combine(&mut self.present, &other.present, |one, two| one | two);
        combine(&mut self.marked_by_all, &other.marked_by_all, |one, two| {
            one & two
        });
        combine(&mut self.marked_by_any, &other.marked_by_any, |one, two| {
            one | two
        });
    }

    /// Those of so many members who have not contributed, ascending.
    pub fn absent(&self, members: usize) -> Vec<usize> {
        positions(&self.present, members, false)
    }

    /// Those whom some contributor has marked, ascending.
    pub fn marked(&self, members: usize) -> Vec<usize> {
        positions(&self.marked_by_any, members, true)
    }

    /// Whether every contributor has marked all that have not contributed.
    pub fn is_acknowledged(&self, members: usize) -> bool {
        let marked = positions(&self.marked_by_all, members, true);
        let mut absent = self.absent(members).into_iter();
        absent.all(|member| marked.binary_search(&member).is_ok())
    }
}

/// What members send each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// It is decided, and the last one of its sender.
    pub is_decision: bool,
    pub sum: Sum,
}

impl Message {
    /// The length for so many members, bytes.
    pub fn bytes(members: usize) -> usize {
        16 + 3 * members.div_ceil(BITS) * size_of::<u64>()
    }

    pub fn encoded(&self) -> Box<[u8]> {
        let sum = &self.sum;
        let mut bytes = Vec::from(u64::from(self.is_decision).to_le_bytes());
        bytes.extend(sum.flags.iter().flat_map(|flag| flag.to_le_bytes()));
        let bits = [&sum.present, &sum.marked_by_all, &sum.marked_by_any];
        bytes.extend(
            bits.into_iter()
                .flatten()
                .flat_map(|word| word.to_le_bytes()),
        );
        bytes.into_boxed_slice()
    }

    /// `bytes` has the length for so many members.
    pub fn decoded(bytes: &[u8], members: usize) -> Message {
        let word = |word: &[u8]| u64::from_le_bytes(word.try_into().unwrap_or_default());
        let words: Vec<u64> = bytes.chunks_exact(size_of::<u64>()).map(word).collect();
        let count = members.div_ceil(BITS);
        let bits = |at: usize| words[2 + at * count..2 + (at + 1) * count].to_vec();
        Message {
            is_decision: words[0] != 0,
            sum: Sum {
                flags: [words[1] as u32, (words[1] >> 32) as u32],
                present: bits(0),
                marked_by_all: bits(1),
                marked_by_any: bits(2),
            },
        }
    }
}

/// What a member knows of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    /// It sends further messages.
    Sends,
    /// It has sent its decision.
    IsDone,
    IsLost,
}

/// One member in one agreement.
#[derive(Clone, Debug)]
pub struct Flood {
    me: usize,
    peers: Vec<Peer>,
    /// Known of the contributions, or decided.
    message: Message,
    /// Somebody was found lost in this round.
    has_lost: bool,
}

impl Flood {
    /// Of the member `me` of so many, with its contribution.
    pub fn new(me: usize, members: usize, own: Sum) -> Flood {
        Flood {
            me,
            peers: vec![Peer::Sends; members],
            message: Message {
                is_decision: false,
                sum: own,
            },
            has_lost: false,
        }
    }

    /// All members know that these have taken no part in an earlier agreement: nobody waits for them.
    pub fn without(mut self, members: &[usize]) -> Flood {
        for member in members {
            self.peers[*member] = Peer::IsLost;
        }
        self
    }

    /// The message of a round, for every member that is not lost; after the decision it is sent once more.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Those to whom it is sent.
    pub fn others(&self) -> Vec<usize> {
        let is_there = |member: &usize| *member != self.me && self.peers[*member] != Peer::IsLost;
        (0..self.peers.len()).filter(is_there).collect()
    }

    /// Those from whom a message is to come, in each round and until all have sent their decisions.
    pub fn senders(&self) -> Vec<usize> {
        let sends = |member: &usize| self.peers[*member] == Peer::Sends;
        let others = self.others().into_iter();
        others.filter(sends).collect()
    }

    /// Takes what a member has sent, or that it is lost.
    pub fn hear(&mut self, from: usize, heard: Option<Message>) {
        match heard {
            None => {
                self.peers[from] = Peer::IsLost;
                self.has_lost = true;
            }
            Some(heard) if heard.is_decision => {
                self.peers[from] = Peer::IsDone;
                self.message = heard;
            }
            Some(_) if self.message.is_decision => {}
            Some(heard) => self.message.sum.add(&heard.sum),
        }
    }

    /// Ends a round, in which each sender was heard or one had decided. Whether this member has decided, too.
    pub fn ends_round(&mut self) -> bool {
        let has_lost = std::mem::take(&mut self.has_lost);
        self.message.is_decision |= !has_lost;
        self.message.is_decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_its_sender_knows() {
        for members in [1, 3, 64, 65, 200] {
            let last = members - 1;
            let mut sum = Sum::of_one(0, members, 1, 5, &[last]);
            sum.add(&Sum::of_one(last, members, 1, 6, &[]));
            for is_decision in [false, true] {
                let message = Message {
                    is_decision,
                    sum: sum.clone(),
                };
                let bytes = message.encoded();
                assert_eq!(bytes.len(), Message::bytes(members));
                assert_eq!(Message::decoded(&bytes, members), message);
            }
            assert_eq!(sum.absent(members), (1..last.max(1)).collect::<Vec<_>>());
            assert_eq!(sum.marked(members), [last]);
            assert_eq!(sum.is_acknowledged(members), members < 3);
        }
    }

    /// All members in the same round: who is ahead has sent what the others are to hear.
    #[derive(Clone)]
    struct World {
        members: Vec<Flood>,
        /// Members that have died, and members that have sent their decision.
        dead: Vec<bool>,
        done: Vec<bool>,
        deaths: usize,
        /// What each one is to hear of each other one in this round.
        heard: Vec<Vec<Option<Message>>>,
    }

    impl World {
        fn new(members: usize) -> World {
            let one = |me| {
                let own = Sum::of_one(me, members, members, !(1 << me), &[]);
                Flood::new(me, members, own)
            };
            World {
                members: (0..members).map(one).collect(),
                dead: vec![false; members],
                done: vec![false; members],
                deaths: 0,
                heard: vec![vec![None; members]; members],
            }
        }

        /// Explores every round from the member `sender` on, which may die between any two of its messages, in any order of these.
        fn explore(&self, sender: usize, round: usize, ends: &mut usize) {
            let members = self.members.len();
            if sender == members {
                return self.ended(round, ends);
            }
            if self.dead[sender] || self.done[sender] {
                return self.explore(sender + 1, round, ends);
            }
            let message = self.members[sender].message();
            let all: u32 = (1 << members) - 1;
            for reached in 0..=all {
                let dies = reached != all;
                if reached >> sender & 1 != u32::from(!dies) || dies && self.deaths + 1 == members {
                    continue;
                }
                let mut next = self.clone();
                for to in (0..members).filter(|to| reached >> to & 1 != 0) {
                    next.heard[to][sender] = Some(message.clone());
                }
                next.dead[sender] = dies;
                next.deaths += usize::from(dies);
                next.done[sender] = message.is_decision;
                next.explore(sender + 1, round, ends);
            }
        }

        fn ended(&self, round: usize, ends: &mut usize) {
            let mut next = self.clone();
            let living = |world: &World| {
                let living = (0..world.dead.len()).filter(|at| !world.dead[*at]);
                living.collect::<Vec<_>>()
            };
            for at in living(self) {
                if self.done[at] {
                    continue;
                }
                for from in next.members[at].senders() {
                    let heard = next.heard[at][from].take();
                    assert!(heard.is_some() || next.dead[from], "nothing comes");
                    next.members[at].hear(from, heard);
                }
                next.members[at].ends_round();
            }
            next.heard.iter_mut().for_each(|heard| heard.fill(None));
            if living(&next).iter().any(|at| !next.done[*at]) {
                assert!(round <= next.members.len() + 1, "nobody decides");
                return next.explore(0, round + 1, ends);
            }
            *ends += 1;
            let mut decided = living(&next)
                .into_iter()
                .map(|at| next.members[at].message());
            let first = decided.next().expect("one lives");
            assert!(first.is_decision && decided.all(|other| other == first));
            let absent = first.sum.absent(next.members.len());
            assert!(absent.iter().all(|member| next.dead[*member]));
        }
    }

    #[test]
    fn nobody_waits_for_those_who_were_absent_before() {
        let own = Sum::of_one(0, 3, 3, 6, &[]);
        let mut flood = Flood::new(0, 3, own).without(&[2]);
        assert_eq!((flood.senders(), flood.others()), (vec![1], vec![1]));
        let sum = Sum::of_one(1, 3, 3, 3, &[]);
        flood.hear(
            1,
            Some(Message {
                is_decision: false,
                sum,
            }),
        );
        assert!(flood.ends_round());
        assert_eq!(flood.message().sum.flags[0], 2);
        assert_eq!(flood.message().sum.absent(3), [2]);
    }

    /// Fails where a member decides although one was lost in the round, or waits for one that has decided.
    #[test]
    fn all_that_live_decide_alike_whoever_dies_and_when() {
        for members in 1..=4 {
            let mut ends = 0;
            World::new(members).explore(0, 1, &mut ends);
            assert!(ends > members * members - 1, "{ends}");
        }
    }
}
