//! Definitions of process sets, which a launcher hands over in the environment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi::launch::sets;

fuzz_target!(|input: (u16, &str)| {
    let (size, text) = input;
    let size = u32::from(size).max(1);
    let _ = sets::parse_all(text, size);
    if let Ok(set) = sets::parse(text, size) {
        assert!(sets::is_same(&set.name, &set.name));
        assert!(set.ranks.iter().all(|rank| *rank < size));
    }
});
