//! Lines of PMI-1 as another process may send them, in pieces: whatever comes, every line is found once and can be read by key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi::launch::wire::{Line, Lines};

fuzz_target!(|bytes: &[u8]| {
    let (piece, bytes) = bytes.split_first().map_or((1, bytes), |(first, rest)| {
        (usize::from(*first).max(1), rest)
    });
    let (mut lines, mut found) = (Lines::default(), 0);
    for chunk in bytes.chunks(piece) {
        lines.push(chunk);
        while let Some(line) = lines.next_line() {
            found += 1;
            let line = Line(&line);
            let (_, _) = (line.succeeded(), line.number("rank"));
            for key in ["cmd", "value", "key", line.command()] {
                if let (Some(value), false) = (line.get(key), key.is_empty()) {
                    assert!(!value.contains([' ', '\t']));
                    assert!(line.0.contains(value));
                }
                if let (Some(rest), false) = (line.rest(key), key.is_empty()) {
                    assert!(line.0.ends_with(rest));
                }
            }
        }
    }
    assert_eq!(found, bytes.iter().filter(|byte| **byte == b'\n').count());
});
