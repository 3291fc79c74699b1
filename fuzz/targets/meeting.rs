//! What the roots of two jobs tell each other: any bytes can be read, and what was read is written as the same value.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi::dynamic::card::{Hello, Offered};
use oxmpi::dynamic::codec::{Coded, decode, encode};
use std::fmt::Debug;

fn check<T: Coded + PartialEq + Debug>(bytes: &[u8]) {
    if let Some(value) = decode::<T>(bytes) {
        assert_eq!(decode(&encode(&value)), Some(value));
    }
}

fuzz_target!(|bytes: &[u8]| {
    check::<Hello>(bytes);
    check::<Vec<Offered>>(bytes);
    check::<(Vec<(u32, i32)>, Result<Hello, String>)>(bytes);
});
