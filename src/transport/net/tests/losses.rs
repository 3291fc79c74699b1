//! Connections that break: each end takes the other for lost, and nobody waits for it.

use super::super::pool::RECEIVING;
use super::super::port::Completion;
use super::{Net, buffer, greet, packet, pairs, pairs_with, until};
use crate::transport::Loss;
use crate::transport::wire::Header;
use rustix::net::{
    Shutdown, SocketAddr, SocketAddrAny, getpeername, getsockname, shutdown, sockopt,
};
use std::os::fd::BorrowedFd;

fn is_lost(end: &Net, process: u32) -> bool {
    end.table.of(process).loss() == Some(Loss::Unreachable)
}

fn both_are_lost(ends: &[Net; 2]) -> bool {
    is_lost(&ends[0], 1) && is_lost(&ends[1], 0)
}

/// Both ends, behind their first contact.
fn acquainted() -> Vec<[Net; 2]> {
    let mut all = pairs();
    for ends in &mut all {
        while ends[0].peer(1).first.keeps() || ends[1].peer(0).first.keeps() {
            greet(ends);
        }
    }
    all
}

/// Calls with each connected socket of these ends, as long as that works. For how many it has.
#[allow(unsafe_code)]
fn with_sockets(ends: &[Net; 2], mut what: impl FnMut(BorrowedFd<'_>) -> bool) -> usize {
    let port = |end: &Net| {
        let address = end.port.address().unwrap();
        u16::from_be_bytes([address[2], address[3]])
    };
    let ports = ends.each_ref().map(port);
    let is_theirs = |address: SocketAddrAny| {
        SocketAddr::try_from(address).is_ok_and(|it| ports.contains(&it.port()))
    };
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    let all = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let theirs = all.filter(|number| {
        // SAFETY: the number is that of a descriptor, or of none any more, which is an error.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number.parse().unwrap()) };
        let (Ok(Some(there)), Ok(here)) = (getpeername(descriptor), getsockname(descriptor)) else {
            return false;
        };
        (is_theirs(there) || is_theirs(here)) && what(descriptor)
    });
    theirs.count()
}

/// Breaks the connections, as a network does.
fn cut(ends: &mut [Net; 2]) {
    if ends[0].port.cut() {
        return;
    }
    let count = with_sockets(ends, |socket| shutdown(socket, Shutdown::Both).is_ok());
    assert!(count >= 2);
}

fn say(end: &mut Net, to: u32, length: u32) -> bool {
    let header = Header {
        kind: 1,
        process: 1 - to,
        length,
        ..Header::default()
    };
    end.push(to, &header, |_, piece| piece.fill(1))
}

#[test]
fn a_connection_that_breaks_under_load_is_a_loss_to_both() {
    for mut ends in acquainted() {
        // More than the buffers of the connection hold.
        for (end, to) in ends.iter_mut().zip([1, 0]) {
            while say(end, to, 60_000) {}
        }
        cut(&mut ends);
        until(&mut ends, |ends| {
            ends.iter_mut().for_each(|end| {
                packet(end);
            });
            both_are_lost(ends)
        });
        assert!(!say(&mut ends[0], 1, 8), "nothing goes to a lost peer");
        until(&mut ends, |ends| ends[0].has_left() && ends[1].has_left());
    }
}

#[test]
fn a_buffer_that_a_lost_peer_has_half_filled_is_used_no_more() {
    for mut ends in acquainted() {
        let narrow = |socket: BorrowedFd<'_>| {
            let sent = sockopt::set_socket_send_buffer_size(socket, 4096).is_ok();
            sent && sockopt::set_socket_recv_buffer_size(socket, 4096).is_ok()
        };
        let is_simulated = ends[0].port.provider() == "simulated";
        assert!(is_simulated || with_sockets(&ends, narrow) >= 2);
        for _ in 0..12 {
            assert!(say(&mut ends[0], 1, 60_000));
        }
        (0..10).for_each(|_| {
            ends.iter_mut().for_each(|end| {
                end.look();
            });
        });
        // This one is under way.
        assert!(say(&mut ends[0], 1, 60_000));
        cut(&mut ends);
        until(&mut ends, |ends| {
            ends.iter_mut().for_each(|end| {
                packet(end);
            });
            both_are_lost(ends)
        });
        // The provider goes on with the buffer, and gives it back when it is full.
        let full = |index: usize| Completion::Received {
            context: ends[1].pool.receiving(index).1,
            data: ends[1].pool.receiving(index).0.begin.wrapping_add(500_000),
            length: 20,
            released: true,
        };
        let half_filled = (0..RECEIVING).find(|index| ends[1].receiving.has_come(*index) > 0);
        let (index, full) = half_filled.map(|index| (index, full(index))).unwrap();
        let before = ends[1].pool.receiving(index).0.begin;
        ends[1].handle(full);
        ends[1].look_in_vain();
        assert!(!ends[1].receiving.is_released(index));
        assert_ne!(ends[1].pool.receiving(index).0.begin, before);
    }
}

#[test]
fn a_broken_connection_is_noticed_by_ends_that_only_wait() {
    for mut ends in acquainted() {
        // What the other end had sent is gone with it.
        ends[0].peer(1).order.sent();
        cut(&mut ends);
        until(&mut ends, |ends| both_are_lost(ends));
    }
}

#[test]
fn pieces_that_a_connection_has_lost_are_noticed_by_both() {
    for mut ends in pairs() {
        greet(&mut ends);
        // As if the provider had said that one has left.
        ends[0].peer(1).passed.left += 1;
        until(&mut ends, |ends| both_are_lost(ends));
    }
}

#[test]
fn transfers_over_a_broken_connection_give_their_buffers_back() {
    for mut ends in acquainted() {
        const BYTES: usize = 16 << 20;
        let (mut out, mut into) = (vec![3; BYTES], vec![0xcc; BYTES]);
        let place = ends[1].land(0, 9, &buffer(&mut into), BYTES, u64::MAX);
        ends[0].send_straight(1, 4, &buffer(&mut out), BYTES, place.unwrap());
        // Some of it has left.
        (0..3).for_each(|_| {
            ends.iter_mut().for_each(|end| {
                end.look();
            });
        });
        assert!(!ends[1].straight.is_empty());
        // Some is under way.
        ends[0].look();
        cut(&mut ends);
        until(&mut ends, |ends| {
            assert!(ends.iter_mut().all(|end| packet(end).is_none()));
            both_are_lost(ends)
        });
        ends[0].abandon(4);
        ends[1].abandon(9);
        into.fill(0xee);
        until(&mut ends, |ends| ends[0].has_left() && ends[1].has_left());
        assert!(ends.iter().all(|end| end.straight.transfers_in_all() == 0));
        assert!(into.iter().all(|byte| *byte == 0xee));
    }
}

#[test]
fn a_buffer_that_the_provider_keeps_is_left_to_it() {
    for mut ends in acquainted() {
        let mut memory = vec![0; 1000];
        let mut land = |end: &mut Net| end.land(0, 9, &buffer(&mut memory), 1000, 300);
        land(&mut ends[1]).unwrap();
        ends[1].straight.keep_a_piece(9);
        ends[1].lose(0, "a test");
        assert!(ends[1].abandon(9));
        assert!(ends[1].straight.is_empty());
        assert_eq!(ends[1].straight.transfers_in_all(), 1);
        // The request's number is free for another.
        land(&mut ends[1]).unwrap();
        assert!(ends[1].abandon(9) && ends[1].has_left());
    }
}

#[test]
fn a_peer_that_has_not_heard_that_it_is_lost_is_told_again() {
    for mut ends in acquainted() {
        ends[0].lose(1, "a test");
        // The record that says so is lost, too.
        ends[0].peer(1).lost_due = false;
        assert!(say(&mut ends[1], 0, 8));
        until(&mut ends, |ends| both_are_lost(ends));
        assert!(packet(&mut ends[0]).is_none(), "nothing is taken of it");
    }
}

#[test]
fn without_a_buffer_for_what_comes_in_all_peers_are_lost() {
    for mut ends in acquainted() {
        ends[0].lose_all("no buffer is taken");
        until(&mut ends, |ends| both_are_lost(ends));
    }
}

#[test]
fn a_receive_whose_buffer_cannot_be_registered_comes_another_way() {
    for mut ends in pairs_with(true) {
        greet(&mut ends);
        ends.iter_mut()
            .for_each(|end| end.port.refuse_registration());
        let mut memory = vec![0; 1000];
        assert_eq!(ends[1].land(0, 9, &buffer(&mut memory), 1000, 1000), None);
        assert!(ends[1].straight.is_empty() && !is_lost(&ends[1], 0));
    }
}

#[test]
fn of_a_process_that_is_shut_out_nothing_is_taken() {
    for mut ends in acquainted() {
        until(&mut ends, |ends| say(&mut ends[0], 1, 8));
        until(&mut ends, |ends| packet(&mut ends[1]).is_some());
        for _ in 0..5 {
            until(&mut ends, |ends| say(&mut ends[0], 1, 5000));
        }
        ends[1].shut_out(0);
        let mut looks = 0;
        until(&mut ends, |ends| {
            looks += 1;
            assert!(packet(&mut ends[1]).is_none() && packet(&mut ends[0]).is_none());
            looks > 3000
        });
        // It is no loss of the connection; nor is anything sent there.
        assert!(!is_lost(&ends[1], 0) && !say(&mut ends[1], 0, 8));
    }
}
