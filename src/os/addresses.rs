//! Addresses of this machine, and random numbers that nobody can guess.

use rustix::net::sockopt;
use std::ffi::CStr;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// Internet addresses of the interfaces that are up, loopback ones last; those of one interface if it is named.
pub fn ipv4(interface: Option<&str>) -> Vec<Ipv4Addr> {
    let mut first = std::ptr::null_mut();
    // SAFETY: `first` is a place for the list, which is given back below.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return vec![Ipv4Addr::LOCALHOST];
    }
    let mut found = Vec::new();
    let mut next = first;
    // SAFETY: the list's entries are valid until it is freed; names are strings, and an address of this family is a `sockaddr_in`.
    unsafe {
        while let Some(entry) = next.as_ref() {
            let is_up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
            let name = CStr::from_ptr(entry.ifa_name).to_string_lossy();
            let wanted = interface.is_none_or(|interface| interface == name);
            if is_up
                && wanted
                && !entry.ifa_addr.is_null()
                && i32::from((*entry.ifa_addr).sa_family) == libc::AF_INET
            {
                let address = &*entry.ifa_addr.cast::<libc::sockaddr_in>();
                found.push(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
            }
            next = entry.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    found.sort_by_key(|address| address.is_loopback());
    found
}

/// How long a host may be silent, milliseconds.
const SILENCE: u32 = 5_000;

/// A connection that ends when the other host has been silent for some seconds. The kernel there answers, whatever the process does.
pub fn end_in_silence(stream: &TcpStream) -> std::io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(1))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(1))?;
    sockopt::set_tcp_keepcnt(stream, SILENCE / 1000)?;
    sockopt::set_tcp_user_timeout(stream, SILENCE)?;
    Ok(())
}

/// 128 random bits.
pub fn random() -> u128 {
    let mut bytes = [0u8; 16];
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    if filled.is_ok_and(|count| count == bytes.len()) {
        return u128::from_ne_bytes(bytes);
    }
    // Before Linux 3.17. Hashes have random keys.
    let hash = |salt: u64| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one((salt, std::process::id()))
    };
    u128::from(hash(1)) << 64 | u128::from(hash(2))
}

fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// A number for a text, always the same one.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The machine, as long as it runs: its kernel.
pub fn machine() -> u64 {
    hash(boot().trim())
}

/// What two processes have in common that can share memory by descriptors: kernel, process ids and user; and `part`, which is the same
/// for all of a machine unless they pretend to be on several.
pub fn host(part: &str) -> u64 {
    let boot = boot();
    let pids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let user = rustix::process::geteuid().as_raw();
    hash(&format!("{} {} {user} {part}", boot.trim(), pids.display()))
}
