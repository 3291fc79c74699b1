//! What mpiexec's proof that a job is stuck takes of the fabric: counts of records, and that nothing else goes on.

use super::*;

/// What an end has sent and handled.
fn counts(end: &Net) -> (u64, u64) {
    let view = end.page.waits.read().expect("nobody writes");
    (view.sent, view.handled)
}

/// Whether all that was sent was handled.
fn are_equal(ends: &[Net; 2]) -> bool {
    let [(a, b), (c, d)] = [counts(&ends[0]), counts(&ends[1])];
    a + c == b + d
}

fn say(ends: &mut [Net; 2], kind: u8) {
    let header = Header {
        kind,
        ..Header::default()
    };
    until(ends, |ends| ends[0].push(1, &header, |_, _| {}));
}

#[test]
fn each_packet_is_counted_where_it_leaves_and_where_it_comes() {
    for mut ends in pairs() {
        greet(&mut ends);
        until(&mut ends, |ends| ends.iter().all(Net::is_settled));
        assert!(are_equal(&ends));
        let before = counts(&ends[0]).0;
        say(&mut ends, 1);
        assert_eq!(counts(&ends[0]).0, before + 1);
        assert!(!are_equal(&ends), "it is under way");
        until(&mut ends, |ends| ends[1].has_packet());
        assert!(!ends[1].is_settled(), "the engine has not taken it");
        until(&mut ends, |ends| packet(&mut ends[1]).is_some());
        until(&mut ends, |ends| ends.iter().all(Net::is_settled));
        assert!(are_equal(&ends));
    }
}

#[test]
fn what_holds_a_sender_back_and_lets_it_go_on_is_counted_but_no_question() {
    for mut ends in pairs() {
        greet(&mut ends);
        for holds in [true, false] {
            let (before, handled) = (counts(&ends[1]).0, counts(&ends[0]).1);
            ends[1].hold(0, holds);
            until(&mut ends, |ends| ends[0].is_held(1) == holds);
            until(&mut ends, |ends| ends.iter().all(Net::is_settled));
            assert_eq!(counts(&ends[1]).0, before + 1);
            assert_eq!(counts(&ends[0]).1, handled + 1);
        }
        let before = ends.each_ref().map(counts);
        ends[0].ask_in_turn();
        until(&mut ends, |ends| ends[0].peer(1).unanswered == 0);
        assert_eq!(ends.each_ref().map(counts), before);
    }
}

#[test]
fn a_packet_that_is_held_back_waits_for_its_peer_alone_once_all_before_was_taken() {
    let mut ends = simulated(true, false);
    greet(&mut ends);
    say(&mut ends, 1);
    until(&mut ends, |ends| ends[1].has_packet());
    ends[1].hold(0, true);
    until(&mut ends, |ends| ends[0].is_held(1));
    assert!(!ends[0].waits_for_peer(1), "the engine has not taken it");
    assert!(packet(&mut ends[1]).is_some());
    ends[0].ask_in_turn();
    until(&mut ends, |ends| ends[0].waits_for_peer(1));
    ends[0].pass(1, true);
    assert!(!ends[0].waits_for_peer(1));
}

#[test]
fn transfers_and_broken_connections_are_not_settled() {
    let mut ends = simulated(true, false);
    greet(&mut ends);
    until(&mut ends, |ends| ends.iter().all(Net::is_settled));
    let mut memory = vec![0; 1000];
    ends[1].land(0, 7, &buffer(&mut memory), 1000, 1000);
    assert!(!ends[1].is_settled());
    ends[0].breaks(1, "a test".to_owned());
    assert!(!ends[0].is_settled());
    ends[0].lose(1, "a test");
    assert!(!ends[0].is_settled(), "the peer has to know");
}
