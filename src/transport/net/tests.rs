//! Two ends in one process, over simulated ports and, if there is libfabric, over its own and the loopback interface.

mod first;
mod losses;
mod settled;

use super::port::{Completion, Port};
use super::simulated::Medium;
use super::{Directory, Net, Place};
use crate::datatype::Buffer;
use crate::os::monotonic_nanoseconds;
use crate::sync::{AtomicBool, Ordering};
use crate::transport::ofi::{Fabric, MessagePort, Wish};
use crate::transport::wire::{Header, LANDED, LEFT};
use crate::transport::{Page, Peer, Route, State, Table};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The cards of all.
#[derive(Clone, Default)]
struct Cards(Arc<Mutex<BTreeMap<u32, String>>>);

impl Directory for Cards {
    fn card(&self, process: u32) -> Result<Option<String>, String> {
        Ok(self.0.lock().get(&process).cloned())
    }

    fn difference(&self, _process: u32) -> Option<String> {
        None
    }

    fn host(&self, _process: u32) -> String {
        "this host".to_owned()
    }
}

fn table(me: u32) -> Arc<Table> {
    let entry = |_, node| {
        let page: &'static Page = Box::leak(Box::default());
        page.set_state(State::Joined);
        Peer::new(node, Route::Own, Some(0), page)
    };
    Arc::new(Table::new(
        me,
        2,
        Arc::new([me]),
        Arc::new(|process| process),
        entry,
    ))
}

/// Both ends, over simulated ports, and by the best provider over TCP.
fn pairs() -> Vec<[Net; 2]> {
    pairs_with(false)
}

/// As [`pairs`]; with `registers` all memory is registered, as FI_MR_LOCAL wants it.
fn pairs_with(registers: bool) -> Vec<[Net; 2]> {
    let simulated = simulated(true, registers);
    let others = by(Fabric::Tcp, registers);
    std::iter::once(simulated).chain(others).collect()
}

fn simulated(in_order: bool, registers: bool) -> [Net; 2] {
    let medium = Medium::new(in_order, registers);
    ends(|| Ok(medium.port(usize::MAX))).expect("a simulated port")
}

/// By a provider of libfabric.
fn by(fabric: Fabric, registers: bool) -> Option<[Net; 2]> {
    let library = std::env::var("OXMPI_LIBFABRIC").ok();
    let wish = Wish {
        fabric,
        library: library.as_deref(),
        interface: None,
        one_host: true,
    };
    let opened = ends(|| {
        let mut port = MessagePort::open(&wish)?;
        if registers {
            port.want_registration();
        }
        Ok(Box::new(port))
    });
    opened
        .inspect_err(|text| println!("not tested: {text}"))
        .ok()
}

fn ends(mut open: impl FnMut() -> Result<Box<dyn Port>, String>) -> Result<[Net; 2], String> {
    let cards = Cards::default();
    let mut open = |me: u32| -> Result<Net, String> {
        let net = Net::new(open()?, table(me), Arc::new(cards.clone()), 7)?;
        cards.0.lock().insert(me, net.card()?);
        Ok(net)
    };
    Ok([open(0)?, open(1)?])
}

/// Looks at all ends until `done` says so.
fn until(ends: &mut [Net; 2], mut done: impl FnMut(&mut [Net; 2]) -> bool) {
    let began = monotonic_nanoseconds();
    while !done(ends) {
        for end in ends.iter_mut() {
            end.look();
        }
        assert!(
            monotonic_nanoseconds() - began < 20_000_000_000,
            "nothing comes"
        );
    }
}

fn packet(end: &mut Net) -> Option<Header> {
    let header = end.peek()?.header;
    end.done();
    Some(header)
}

/// Has the first end say something to the second: both know each other then.
fn greet(ends: &mut [Net; 2]) {
    for (from, to) in [(0, 1), (1, 0)] {
        let header = Header {
            kind: 1,
            process: from as u32,
            ..Header::default()
        };
        until(ends, |ends| ends[from].push(to as u32, &header, |_, _| {}));
        until(ends, |ends| packet(&mut ends[to]).is_some());
    }
}

#[allow(unsafe_code)]
fn buffer(memory: &mut [u8]) -> Buffer {
    // SAFETY: the memory outlives the transfers of a test.
    unsafe { Buffer::bytes(memory.as_mut_ptr(), memory.len()) }
}

#[test]
fn data_goes_straight_in_pieces() {
    for mut ends in pairs() {
        greet(&mut ends);
        ends[0].straight.set_longest(100_000);
        for (token, bytes) in [(5, 1), (6, 100_000), (7, 100_001), (8, 3_000_000)] {
            let mut out: Vec<u8> = (0..bytes).map(|at| (at * 7 / 3) as u8).collect();
            let mut into = vec![0xcc; bytes + 1];
            let longest = ends[0].longest_piece() as u64;
            let place = ends[1]
                .land(0, token, &buffer(&mut into), bytes, longest)
                .unwrap();
            assert_eq!(place.piece, 100_000);
            let copied = ends[0].traffic().copied + ends[1].traffic().copied;
            ends[0].send_straight(1, token + 100, &buffer(&mut out), bytes, place);
            let mut told = [None, None];
            until(&mut ends, |ends| {
                for (end, told) in ends.iter_mut().zip(&mut told) {
                    *told = told.take().or_else(|| packet(end));
                }
                told.iter().all(Option::is_some)
            });
            let told = told.map(|header| header.map(|header| (header.kind, header.context)));
            assert_eq!(told, [Some((LEFT, token + 100)), Some((LANDED, token))]);
            assert!(into[..bytes] == out[..] && into[bytes] == 0xcc);
            assert!(ends.iter().all(|end| end.straight.is_empty()));
            assert_eq!(
                ends[0].traffic().copied + ends[1].traffic().copied,
                copied,
                "nothing was copied"
            );
        }
    }
}

#[test]
fn memory_is_registered_for_as_long_as_it_is_used() {
    for mut ends in pairs_with(true) {
        let open = |ends: &[Net; 2]| ends.each_ref().map(|end| end.port.open_registrations());
        let at_first = super::pool::RECEIVING as u64 + 1;
        assert_eq!(open(&ends), [at_first; 2]);
        greet(&mut ends);
        // A packet that is no inject has a buffer of the pool, which stays registered.
        let header = Header {
            kind: 1,
            length: 5000,
            ..Header::default()
        };
        for (from, to) in [(0, 1), (1, 0)] {
            until(&mut ends, |ends| {
                let header = Header {
                    process: from,
                    ..header
                };
                ends[from as usize].push(to, &header, |_, piece| piece.fill(6))
            });
            until(&mut ends, |ends| packet(&mut ends[to as usize]).is_some());
        }
        let pools = open(&ends);
        assert!(pools.iter().all(|open| *open >= at_first));
        ends[0].straight.set_longest(300_000);
        let mut out = vec![5; 1 << 20];
        let mut into = vec![0; 1 << 20];
        let place = ends[1]
            .land(0, 1, &buffer(&mut into), 1 << 20, 300_000)
            .unwrap();
        ends[0].send_straight(1, 1, &buffer(&mut out), 1 << 20, place);
        assert_eq!(open(&ends), pools.map(|open| open + 1));
        let mut told = 0;
        until(&mut ends, |ends| {
            told += ends.iter_mut().filter_map(packet).count();
            told == 2
        });
        assert!(into == out);
        let place = ends[1]
            .land(0, 2, &buffer(&mut into), 1 << 20, 300_000)
            .unwrap();
        ends[1].abandon(2);
        // What its sender sends all the same comes in elsewhere.
        assert_eq!(open(&ends), [pools[0], pools[1] + 1]);
        ends[0].send_straight(1, 2, &buffer(&mut out), 1 << 20, place);
        until(&mut ends, |ends| {
            ends.iter_mut().for_each(|end| {
                packet(end);
            });
            open(ends) == pools
        });
    }
}

#[test]
fn many_transfers_both_ways_at_once_arrive() {
    for mut ends in pairs() {
        greet(&mut ends);
        ends.iter_mut()
            .for_each(|end| end.straight.set_longest(70_000));
        const MANY: usize = 30;
        let size = |number: usize| 1 + number * 17_000;
        let mut out: Vec<Vec<u8>> = (0..2 * MANY)
            .map(|at| vec![at as u8; size(at / 2)])
            .collect();
        let mut into: Vec<Vec<u8>> = (0..2 * MANY).map(|at| vec![0xcc; size(at / 2)]).collect();
        // Each is sent before the next is posted, and later ones first.
        for at in (0..2 * MANY).rev() {
            let (from, to) = (at % 2, 1 - at % 2);
            let bytes = size(at / 2);
            let (token, longest) = (at as u32, 70_000);
            let place = ends[to]
                .land(from as u32, token, &buffer(&mut into[at]), bytes, longest)
                .unwrap();
            ends[from].send_straight(to as u32, token, &buffer(&mut out[at]), bytes, place);
        }
        let mut told = 0;
        until(&mut ends, |ends| {
            told += ends.iter_mut().filter_map(packet).count();
            told == 4 * MANY
        });
        assert!(into == out);
    }
}

#[test]
fn an_abandoned_buffer_is_given_back() {
    for mut ends in pairs() {
        greet(&mut ends);
        let mut into = vec![0xcc; 1 << 20];
        ends[1].straight.set_longest(300_000);
        let place = ends[1]
            .land(0, 9, &buffer(&mut into), 1 << 20, u64::MAX)
            .unwrap();
        assert!(!ends[1].straight.is_empty());
        ends[1].abandon(9);
        assert!(ends[1].straight.is_empty());
        ends[1].abandon(9);
        // The next one has other tags, and is not disturbed.
        let mut out = vec![3; 1 << 20];
        let next = ends[1]
            .land(0, 9, &buffer(&mut into), 1 << 20, u64::MAX)
            .unwrap();
        assert!(next.tag >= place.tag + 4);
        ends[0].send_straight(1, 1, &buffer(&mut out), 1 << 20, next);
        until(&mut ends, |ends| packet(&mut ends[1]).is_some());
        assert!(into == out);
    }
}

/// A provider that keeps no message without a buffer lets nothing pass that follows it on the connection.
#[test]
fn what_a_sender_sends_into_an_abandoned_buffer_holds_up_nothing() {
    for mut ends in pairs() {
        greet(&mut ends);
        let (mut out, mut into) = (vec![3; 1 << 20], vec![0xcc; 1 << 20]);
        let place = ends[1]
            .land(0, 9, &buffer(&mut into), 1 << 20, 300_000)
            .unwrap();
        ends[1].abandon(9);
        ends[0].send_straight(1, 1, &buffer(&mut out), 1 << 20, place);
        let header = Header {
            kind: 1,
            context: 77,
            length: 8,
            ..Header::default()
        };
        let mut sent = false;
        until(&mut ends, |ends| {
            packet(&mut ends[0]);
            sent = sent || ends[0].push(1, &header, |_, piece| piece.fill(6));
            packet(&mut ends[1]).is_some_and(|header| header.context == 77)
        });
        // None of it came where it was abandoned, and none of it is missing.
        assert!(into.iter().all(|byte| *byte == 0xcc));
        until(&mut ends, |ends| {
            let mut all = ends.iter();
            all.all(|end| end.straight.transfers_in_all() == 0)
        });
        let [came, left] = [ends[1].peer(0).passed.came, ends[0].peer(1).passed.left];
        assert_eq!((came, left), (4, 4));
    }
}

/// A receiver that lives gets what it waits for, as it was.
#[test]
fn what_leaves_an_abandoned_buffer_arrives() {
    for registers in [false, true] {
        for mut ends in pairs_with(registers) {
            greet(&mut ends);
            ends[0].straight.set_longest(300_000);
            let content = |at: usize| (at * 7 + at / 300_000) as u8;
            let mut out: Vec<u8> = (0..10 << 20).map(content).collect();
            let mut into = vec![0xcc; 10 << 20];
            let place = ends[1]
                .land(0, 9, &buffer(&mut into), 10 << 20, 300_000)
                .unwrap();
            ends[0].send_straight(1, 1, &buffer(&mut out), 10 << 20, place);
            // The provider gives back what it has only while the peer looks.
            let (sender, receiver) = ends.split_at_mut(1);
            let is_back = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_back.load(Ordering::Relaxed) {
                        receiver[0].look();
                    }
                });
                assert!(sender[0].abandon(1));
                is_back.store(true, Ordering::Relaxed);
            });
            out.fill(0xee);
            assert!(!ends[0].straight.is_empty(), "it may not leave yet");
            until(&mut ends, |ends| {
                assert!(packet(&mut ends[0]).is_none(), "nobody is to be told");
                packet(&mut ends[1]).is_some_and(|header| header.kind == LANDED)
            });
            assert!(
                into.iter()
                    .enumerate()
                    .all(|(at, byte)| *byte == content(at))
            );
            until(&mut ends, |ends| ends[0].straight.transfers_in_all() == 0);
        }
    }
}

#[test]
fn a_place_is_for_one_message() {
    for [mut end, _] in pairs() {
        let mut into = vec![0; 1000];
        let mut tags = Vec::new();
        for token in 0..5 {
            let Place { tag, piece } = end.land(1, token, &buffer(&mut into), 1000, 300).unwrap();
            assert_eq!(piece, 300);
            tags.extend(tag..tag + 4);
            end.abandon(token);
        }
        let all = tags.len();
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), all);
    }
}

/// A provider releases a buffer with the message that fills it, when one of another peer may still be coming in.
#[test]
fn a_buffer_is_given_back_when_all_in_it_has_come() {
    for [mut end, _other] in pairs() {
        assert!(end.completes_in_order);
        let (place, context) = end.pool.receiving(0);
        // Too short for records.
        let complete = |end: &mut Net, from: usize, length: usize, released: bool| {
            let data = place.begin.wrapping_add(from).cast_const();
            end.handle(Completion::Received {
                context,
                data,
                length,
                released,
            });
            end.look_in_vain();
        };
        complete(&mut end, 30, 20, true);
        assert!(end.receiving.is_released(0));
        complete(&mut end, 0, 30, false);
        assert!(!end.receiving.is_released(0));
        // As a provider says it that has nothing more to write.
        end.handle(Completion::Received {
            context,
            data: std::ptr::null(),
            length: 0,
            released: true,
        });
        assert!(!end.receiving.is_released(0));
    }
}

#[test]
fn packets_of_all_sizes_come_in_order() {
    let of_the_library = [Fabric::Tcp, Fabric::TcpRxm].map(|fabric| by(fabric, false));
    let all = [true, false].map(|in_order| Some(simulated(in_order, false)));
    for mut ends in all.into_iter().chain(of_the_library).flatten() {
        greet(&mut ends);
        // rxm fetches the long ones, and completes the short ones before.
        let sizes = [60_000, 0, 8, 64 << 10, 20_000, 100, 16_000, 17_000, 1];
        let (mut sent, mut came) = (0, 0);
        until(&mut ends, |ends| {
            let length = sizes[sent % sizes.len()];
            let header = Header {
                kind: 1,
                context: sent as u32,
                length,
                ..Header::default()
            };
            if sent < 200 && ends[0].push(1, &header, |_, piece| piece.fill(sent as u8)) {
                sent += 1;
            }
            while let Some(header) = ends[1].peek().map(|packet| packet.header) {
                assert_eq!(header.context, came);
                let mut bytes = 0;
                ends[1].payload(|_, piece| {
                    bytes += piece.len();
                    assert!(piece.iter().all(|byte| *byte == came as u8));
                });
                assert_eq!(bytes, header.length as usize);
                ends[1].done();
                came += 1;
            }
            came == 200
        });
    }
}
