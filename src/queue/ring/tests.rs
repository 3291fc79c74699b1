//! The ring with one producer and with many: order, bounds, laps.

use super::*;

fn header(length: usize, tag: i32) -> Header {
    Header {
        length: length as u16,
        tag,
        ..Header::default()
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

fn receive(consumer: &mut Consumer<'_>) -> Option<Header> {
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
        let (mut producer, mut consumer) = match exclusive {
            true => ends(&mut control, &mut slots),
            false => {
                let (ring, consumer) = shared(&mut control, &mut slots);
                (ring.producer(), consumer)
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
    std::thread::scope(|scope| {
        for sender in 0..3 {
            let mut producer = ring.producer();
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
