//! All ranks of an operation in one thread, under a schedule that a seed decides: which rank goes on next, and which
//! messages leave at once and which wait for their receiver. With a clock ([`clock`]), how long they take, too.
//!
//! Invariant: messages of one rank to another are received in the order in which they were sent, as between processes.

pub mod clock;
pub mod formulas;
pub mod losses;

use super::context::{CollContext, WaitMode};
use super::team::Team;
use crate::comm::Members;
use crate::datatype::{Buffer, copies};
use crate::engine::requests::Index;
use crate::error::{Class, Error, Result, fail};
use crate::sync::keep::keep;
use clock::{Clock, Flight};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// See the module.
pub struct World {
    state: Mutex<State>,
}

/// What was sent, and when it arrives, where there is a clock.
type Message = (Sent, Option<Flight>);

#[derive(Default)]
struct State {
    random: u64,
    /// By request: the result when it is done.
    done: Vec<Option<Result<()>>>,
    sent: HashMap<(i32, i32), VecDeque<Message>>,
    posted: HashMap<(i32, i32), VecDeque<(usize, Buffer)>>,
    moves: u64,
    /// Bytes that came in messages, by rank.
    received: HashMap<i32, u64>,
    clock: Option<Clock>,
    /// The rank that has died.
    dead: Option<i32>,
    /// No rank can go on: sends have waited long enough for ranks that live.
    patience_is_over: bool,
    /// By receive: who has got the message.
    landed: HashMap<usize, (i32, Flight)>,
}

enum Sent {
    Copy(Vec<u8>),
    /// The sender waits.
    Waits(usize, Buffer),
    /// Word that a message will not come, because this process is lost.
    Failed(u32),
}

impl State {
    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ value >> 31) % below
    }

    fn request(&mut self) -> usize {
        self.done.push(None);
        self.done.len() - 1
    }

    fn meet(&mut self, pair: (i32, i32)) {
        let (sent, posted) = (
            self.sent.entry(pair).or_default(),
            self.posted.entry(pair).or_default(),
        );
        while !sent.is_empty() && !posted.is_empty() {
            let (Some((message, flight)), Some((receive, into))) =
                (sent.pop_front(), posted.pop_front())
            else {
                return;
            };
            let data = match message {
                Sent::Copy(data) => data,
                Sent::Waits(send, out) => {
                    self.done[send] = Some(Ok(()));
                    contents(&out)
                }
                Sent::Failed(process) => {
                    self.done[receive] = Some(Err(lost(process)));
                    self.moves += 1;
                    continue;
                }
            };
            // Receivers of broadcasts and reductions count on it (`CollContext::exact`).
            assert!(
                data.len() >= into.len(),
                "{} bytes for {}",
                data.len(),
                into.len()
            );
            let fits = data.len().min(into.len());
            copies::uncounted(|| into.write(0, &data[..fits]));
            *self.received.entry(pair.1).or_default() += fits as u64;
            self.done[receive] = Some(match data.len() > fits {
                true => fail!(Class::Truncate, "{} bytes for {fits}", data.len()),
                false => Ok(()),
            });
            if let Some(flight) = flight {
                self.landed.insert(receive, (pair.1, flight));
            }
            self.moves += 1;
        }
    }
}

/// The error of a wait for a lost process.
fn lost(process: u32) -> Error {
    Error::new(Class::Other, format!("{process} has ended")).of_loss(process)
}

fn contents(buffer: &Buffer) -> Vec<u8> {
    let mut data = vec![0; buffer.len()];
    copies::uncounted(|| buffer.read(0, &mut data));
    data
}

impl World {
    pub fn begin_send(&self, from: i32, to: i32, buffer: Buffer) -> Index {
        let mut state = self.state.lock();
        let request = state.request();
        let bytes = buffer.len();
        let clock = state.clock.as_mut();
        let flight = clock.map(|clock| clock.send(from as usize, to as usize, bytes));
        let message = if state.random(2) == 0 {
            state.done[request] = Some(Ok(()));
            Sent::Copy(contents(&buffer))
        } else {
            Sent::Waits(request, buffer)
        };
        let queue = state.sent.entry((from, to)).or_default();
        queue.push_back((message, flight));
        state.meet((from, to));
        request as Index
    }

    pub fn begin_recv(&self, from: i32, to: i32, buffer: Buffer) -> Index {
        let mut state = self.state.lock();
        let request = state.request();
        let posted = state.posted.entry((from, to)).or_default();
        posted.push_back((request, buffer));
        state.meet((from, to));
        request as Index
    }

    pub async fn finish(&self, index: Index) -> Result<()> {
        std::future::poll_fn(|_| {
            let mut state = self.state.lock();
            state.look_for_the_dead(index as usize);
            let Some(result) = state.done[index as usize].take() else {
                return Poll::Pending;
            };
            let landed = state.landed.remove(&(index as usize));
            if let (Some(clock), Some((rank, flight))) = (&mut state.clock, landed) {
                clock.receive(rank as usize, flight);
            }
            Poll::Ready(result)
        })
        .await
    }
}

/// Bytes that a rank has copied, and that came to it in messages.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Traffic {
    pub copied: u64,
    pub received: u64,
}

/// Runs `body(team)` on so many ranks; what the bodies return, by rank. Panics if none can go on, or if messages are left
/// over.
pub fn run<T, F>(seed: u64, ranks: usize, body: impl Fn(Team<'static>) -> F) -> Vec<T>
where
    F: Future<Output = T>,
{
    let results = run_and_count(seed, ranks, body).into_iter();
    results.map(|(result, _)| result).collect()
}

/// As [`run`], with what each rank has moved.
pub fn run_and_count<T, F>(
    seed: u64,
    ranks: usize,
    body: impl Fn(Team<'static>) -> F,
) -> Vec<(T, Traffic)>
where
    F: Future<Output = T>,
{
    run_with(seed, ranks, None, body).0
}

/// How long `body(team)` takes on so many ranks by a clock, in its unit: until the last one is done.
pub fn time<F>(seed: u64, clock: Clock, ranks: usize, body: impl Fn(Team<'static>) -> F) -> u64
where
    F: Future<Output = ()>,
{
    let (_, clock) = run_with(seed, ranks, Some(clock), body);
    clock.map_or(0, |clock| clock.end())
}

fn run_with<T, F>(
    seed: u64,
    ranks: usize,
    clock: Option<Clock>,
    body: impl Fn(Team<'static>) -> F,
) -> (Vec<(T, Traffic)>, Option<Clock>)
where
    F: Future<Output = T>,
{
    let world = keep(World {
        state: Mutex::new(State {
            random: seed,
            clock,
            ..State::default()
        }),
    });
    let members = keep(Members::All(ranks as u32));
    let mut running: Vec<(usize, Pin<Box<F>>)> = (0..ranks)
        .map(|rank| {
            let coll = CollContext::between(members, rank as i32, 0, "a test");
            let wait = WaitMode::Simulated(world);
            (rank, Box::pin(body(Team::on(CollContext { wait, ..coll }))))
        })
        .collect();
    let mut results: Vec<Option<T>> = (0..ranks).map(|_| None).collect();
    let mut copied = vec![0; ranks];
    let mut context = Context::from_waker(Waker::noop());
    // After so many turns at random in which no message moved, each had one for certain.
    let (mut idle, limit) = (0, 40 * ranks + 200);
    while !running.is_empty() {
        let before = world.state.lock().moves;
        let turn = world.state.lock().random(running.len() as u64) as usize;
        let copied_before = copies::total();
        let step = running[turn].1.as_mut().poll(&mut context);
        copied[running[turn].0] += copies::total() - copied_before;
        if let Poll::Ready(result) = step {
            let (rank, _) = running.swap_remove(turn);
            results[rank] = Some(result);
            idle = 0;
        } else if world.state.lock().moves > before {
            idle = 0;
        }
        idle += 1;
        let waiting: Vec<usize> = running.iter().map(|(rank, _)| *rank).collect();
        assert!(idle < limit, "ranks {waiting:?} of {ranks} wait for ever");
    }
    let mut state = world.state.lock();
    let left = state.sent.values().map(VecDeque::len).sum::<usize>()
        + state.posted.values().map(VecDeque::len).sum::<usize>();
    assert_eq!(left, 0, "messages or receives are left over");
    let traffic = (0..ranks).map(|rank| Traffic {
        copied: copied[rank],
        received: state.received.get(&(rank as i32)).copied().unwrap_or(0),
    });
    let results = results.into_iter().flatten().zip(traffic).collect();
    (results, state.clock.take())
}
