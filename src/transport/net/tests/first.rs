//! The first contact: what a provider loses with a connection that gives way comes all the same, and once.

use super::super::record::Record;
use super::{Net, greet, packet, pairs, until};
use crate::transport::wire::Header;

/// Sends a record as if the provider had accepted it and dropped it.
fn send_in_vain(ends: &mut [Net; 2], from: usize, context: u32) {
    let to = 1 - from;
    let word = ends[to].word;
    let peer = ends[from].peer(to as u32);
    let record = Record {
        header: numbered(from, context),
        word: peer.order.word(word),
        taken: 0,
    };
    let mut bytes = [0; Record::BYTES];
    record.encode(&mut bytes);
    peer.first.keep(
        &bytes,
        peer.credit.count() + super::super::credit::charge(bytes.len()),
    );
    peer.order.sent();
    peer.credit.sent(bytes.len());
    peer.met = true;
}

fn numbered(from: usize, context: u32) -> Header {
    Header {
        kind: 1,
        process: from as u32,
        context,
        ..Header::default()
    }
}

/// Records of the first contact are dropped with a connection that gave way to the peer's: of one end or of both, which have sent `follow`
/// others or none.
#[test]
fn records_of_the_first_contact_are_sent_again() {
    for (lost, follow) in [
        ([1, 0], 1),
        ([3, 0], 1),
        ([2, 0], 0),
        ([1, 1], 1),
        ([2, 3], 2),
    ] {
        for mut ends in pairs() {
            let mut came = [Vec::new(), Vec::new()];
            for (from, lost) in lost.into_iter().enumerate() {
                (0..lost).for_each(|context| send_in_vain(&mut ends, from, context));
                for context in lost..lost + follow {
                    let header = numbered(from, context);
                    let to = 1 - from as u32;
                    // Nobody looks but to send, so both lose something before either knows.
                    until(&mut ends, |ends| ends[from].push(to, &header, |_, _| {}));
                }
            }
            until(&mut ends, |ends| {
                for (end, came) in ends.iter_mut().zip(&mut came) {
                    came.extend(packet(end).map(|header| header.context));
                }
                (0..2).all(|from| came[1 - from].len() == (lost[from] + follow) as usize)
            });
            for from in 0..2 {
                assert!((0..lost[from] + follow).eq(came[1 - from].iter().copied()));
            }
            // Both go on, and nothing is kept any more once something was told twice.
            greet(&mut ends);
            greet(&mut ends);
            until(&mut ends, |ends| !ends[0].peer(1).first.keeps());
        }
    }
}

/// The connection that gives way has carried a record each way, which the other end has taken and told of.
#[test]
fn records_behind_one_that_was_taken_are_sent_again() {
    for lost in [1, 3] {
        for mut ends in pairs() {
            greet(&mut ends);
            assert!(ends[0].peer(1).first.keeps());
            (0..lost).for_each(|context| send_in_vain(&mut ends, 0, context));
            let header = numbered(0, lost);
            until(&mut ends, |ends| ends[0].push(1, &header, |_, _| {}));
            let mut came = Vec::new();
            until(&mut ends, |ends| {
                came.extend(packet(&mut ends[1]).map(|header| header.context));
                came.len() == lost as usize + 1
            });
            assert!((0..=lost).eq(came));
        }
    }
}

/// Lets the ends lose records of the first contact, and the provider tell one of them that a send has failed.
fn lose_and_fail(ends: &mut [Net; 2], lost: [u32; 2]) {
    // Nobody asks: the end whose send has failed does all.
    ends.iter_mut().for_each(|end| end.next_tick = u64::MAX);
    for (from, lost) in lost.into_iter().enumerate() {
        (0..lost).for_each(|context| send_in_vain(ends, from, context));
    }
    ends[0].fails_to_send(1, "the connection was reset".to_owned());
}

/// The connection that carries all has given way to one that was not there any more.
#[test]
fn a_send_that_fails_in_the_first_contact_loses_nothing() {
    for (knows, lost) in [
        (false, [1, 0]),
        (false, [2, 3]),
        (true, [1, 1]),
        (true, [0, 2]),
    ] {
        for mut ends in pairs() {
            if knows {
                greet(&mut ends);
            } else {
                until(&mut ends, |ends| ends[0].find(1) && ends[1].find(0));
            }
            lose_and_fail(&mut ends, lost);
            assert!(ends[0].peer(1).broken.is_none(), "the peer lives");
            let mut came = [Vec::new(), Vec::new()];
            until(&mut ends, |ends| {
                for (end, came) in ends.iter_mut().zip(&mut came) {
                    came.extend(packet(end).map(|header| header.context));
                }
                (0..2).all(|from| came[1 - from].len() >= lost[from] as usize)
            });
            for from in 0..2 {
                assert!((0..lost[from]).eq(came[1 - from].iter().copied()));
            }
            greet(&mut ends);
        }
    }
}

#[test]
fn what_goes_again_in_vain_comes_once() {
    for mut ends in pairs() {
        greet(&mut ends);
        for _ in 0..3 {
            lose_and_fail(&mut ends, [0, 0]);
            until(&mut ends, |ends| {
                assert!(ends.iter_mut().all(|end| packet(end).is_none()));
                ends.iter().all(|end| end.due.is_empty())
            });
        }
        greet(&mut ends);
        assert!(ends.iter_mut().all(|end| packet(end).is_none()));
    }
}

#[test]
fn a_send_that_fails_later_breaks_the_connection() {
    for mut ends in pairs() {
        (0..3).for_each(|_| greet(&mut ends));
        until(&mut ends, |ends| !ends[0].peer(1).first.keeps());
        ends[0].fails_to_send(1, "the connection was reset".to_owned());
        assert!(ends[0].peer(1).broken.is_some());
    }
}
