//! The wire header: any bytes can be decoded, and what was decoded is encoded to the bytes that mean something.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi::transport::wire::Header;

fuzz_target!(|bytes: [u8; Header::BYTES]| {
    let header = Header::decode(&bytes);
    let again = header.encode();
    assert_eq!(Header::decode(&again), header);
    assert_eq!(again[..2], bytes[..2]);
    assert_eq!(again[4..], bytes[4..]);
});
