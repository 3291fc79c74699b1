//! The ring with one producer and with many: order, bounds, laps.

use super::*;

fn header(length: usize, tag: i32) -> SlotHeader {
    SlotHeader {
        length: length as u16,
        tag,
        ..SlotHeader::default()
    }
}

fn pattern(tag: i32, offset: usize) -> u8 {
    (tag as usize * 31 + offset * 7) as u8
}

fn send(producer: &mut Producer<'_>, length: usize, tag: i32) -> bool {
    producer.push(&header(length, tag), |offset, piece| {
        for (i, byte) in piece.iter_mut().enumerate() {
            *byte = pattern(tag, offset + i);
        }
    })
}

fn receive(consumer: &mut Consumer<'_>) -> Option<SlotHeader> {
    let header = consumer.peek()?;
    let mut seen = 0;
    consumer.payload(header.length as usize, |offset, piece| {
        assert_eq!(offset, seen);
        for (i, byte) in piece.iter().enumerate() {
            assert_eq!(*byte, pattern(header.tag, offset + i));
        }
        seen += piece.len();
    });
    assert_eq!(seen, header.length as usize);
    consumer.advance(seen);
    Some(header)
}

#[test]
fn packets_of_every_length_come_back_over_many_laps() {
    for exclusive in [false, true] {
        let (mut control, mut slots) = fresh(16);
        let claim = Claim::fresh();
        let (mut producer, mut consumer) = match exclusive {
            true => ends(&mut control, &mut slots),
            false => {
                let (ring, consumer) = shared(&mut control, &mut slots);
                (ring.producer(&claim, 0), consumer)
            }
        };
        let longest = producer.ring.longest_payload();
        for tag in (0..400).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let length = tag as usize % (longest + 1);
            assert!(send(&mut producer, length, tag));
            let got = receive(&mut consumer).unwrap();
            assert_eq!((got.tag, got.length as usize), (tag, length));
            assert!(consumer.peek().is_none());
        }
    }
}

#[test]
fn a_full_ring_refuses_and_recovers() {
    let (mut control, mut slots) = fresh(8);
    let (mut producer, mut consumer) = ends(&mut control, &mut slots);
    for tag in 0..8 {
        assert!(send(&mut producer, 8, tag));
    }
    assert!(!send(&mut producer, 8, 99));
    producer.request_space();
    let header = consumer.peek().unwrap();
    assert!(!consumer.advance(header.length as usize));
    assert!(consumer.advance(8), "room was made and a producer wants it");
    assert!(send(&mut producer, 8, 8));
    for tag in 2..9 {
        assert_eq!(receive(&mut consumer).unwrap().tag, tag);
    }
}

#[test]
fn many_producers_lose_nothing() {
    const EACH: i32 = if cfg!(miri) { 40 } else { 20_000 };
    let (mut control, mut slots) = fresh(64);
    let (ring, mut consumer) = shared(&mut control, &mut slots);
    let claims: [Claim; 3] = std::array::from_fn(|_| Claim::fresh());
    std::thread::scope(|scope| {
        for sender in 0..3 {
            let mut producer = ring.producer(&claims[sender as usize], 7);
            scope.spawn(move || {
                for i in 0..EACH {
                    while !send(&mut producer, (i as usize * 13) % 300, sender * EACH + i) {
                        std::thread::yield_now();
                    }
                }
            });
        }
        let mut next = [0; 3];
        let mut left = 3 * EACH;
        while left > 0 {
            let Some(header) = receive(&mut consumer) else {
                std::thread::yield_now();
                continue;
            };
            let sender = (header.tag / EACH) as usize;
            assert_eq!(header.tag % EACH, next[sender], "order of one sender");
            next[sender] += 1;
            left -= 1;
        }
    });
}

/// Three producers of ring 7, and how many slots the consumer is to pass over if those with these numbers are dead.
struct Shared<'m> {
    producers: [Producer<'m>; 3],
    consumer: Consumer<'m>,
    claims: &'m [Claim; 3],
}

impl Shared<'_> {
    fn abandoned(&self, dead: &[usize]) -> Option<u32> {
        self.of_ring(7, dead)
    }

    fn of_ring(&self, number: u16, dead: &[usize]) -> Option<u32> {
        let claims = self.claims.iter().enumerate();
        let claims = claims.map(|(producer, claim)| (claim.read(), !dead.contains(&producer)));
        self.consumer.abandoned(number, || claims.collect())
    }
}

fn with_three(test: impl FnOnce(Shared<'_>)) {
    let (mut control, mut slots) = fresh(16);
    let claims: [Claim; 3] = std::array::from_fn(|_| Claim::fresh());
    let (ring, consumer) = shared(&mut control, &mut slots);
    test(Shared {
        producers: [0, 1, 2].map(|producer| ring.producer(&claims[producer], 7)),
        consumer,
        claims: &claims,
    });
}

#[test]
fn slots_of_the_dead_are_passed_over() {
    with_three(|mut shared| {
        assert_eq!(shared.abandoned(&[0, 1, 2]), None, "an empty ring");
        assert!(send(&mut shared.producers[0], 20, 1));
        assert_eq!(shared.abandoned(&[0, 1, 2]), None, "it was committed");
        receive(&mut shared.consumer).unwrap();
        // Dies before the commit; others go on behind it.
        assert!(shared.producers[0].leave_open(3));
        assert!(send(&mut shared.producers[1], 20, 2));
        assert!(send(&mut shared.producers[1], 8, 3));
        assert!(receive(&mut shared.consumer).is_none());
        assert_eq!(shared.abandoned(&[1, 2]), None, "it lives and will commit");
        assert_eq!(
            shared.of_ring(6, &[0, 1, 2]),
            None,
            "a claim of another ring"
        );
        assert_eq!(shared.abandoned(&[0]), Some(3));
        shared.consumer.pass_over(3);
        assert_eq!(receive(&mut shared.consumer).unwrap().tag, 2);
        assert_eq!(receive(&mut shared.consumer).unwrap().tag, 3);
        assert_eq!(shared.abandoned(&[0]), None);
    });
}

#[test]
fn of_several_dead_the_one_that_claimed_is_found() {
    // Numbers 0 and 1 have told of one position; one of them moved the counter, with 2 or with 4 slots.
    for (winner, behind) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 3), (1, 3)] {
        with_three(|mut shared| {
            let slots = [2, 4];
            let position = shared.producers[winner].claim(slots[winner]).unwrap();
            shared.claims[1 - winner].tell(position, 7, slots[1 - winner]);
            for tag in 0..behind {
                assert!(send(&mut shared.producers[2], 8, tag));
            }
            assert_eq!(shared.abandoned(&[0]), None);
            assert_eq!(shared.abandoned(&[1]), None);
            assert_eq!(
                shared.abandoned(&[0, 1]),
                Some(slots[winner]),
                "{winner} {behind}"
            );
        });
    }
}
