//! Runs the core without C: `cargo run --release --example smoke -- RANKS TEST`. Starts itself once for each rank.

#![allow(unsafe_code)]

use oxmpi::comm;
use oxmpi::datatype::Buffer;
use oxmpi::os::memory;
use oxmpi::process::{self, ThreadLevel};
use oxmpi::pt2pt::{self, Mode, complete};
use oxmpi::transport::shm::layout;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if std::env::var("OXMPI_RANK").is_err() {
        let ranks: usize = arguments[1].parse().expect("number of ranks");
        let fd = memory::create("smoke", layout::segment_bytes(ranks), true).unwrap();
        layout::initialise(fd.as_fd(), ranks).unwrap();
        let inode = std::fs::metadata(format!("/proc/self/fd/{}", fd.as_raw_fd()))
            .unwrap()
            .ino();
        let children: Vec<_> = (0..ranks)
            .map(|rank| {
                Command::new("taskset")
                    .arg("-c")
                    .arg(if ranks <= 2 {
                        rank.to_string()
                    } else {
                        "0,1".into()
                    })
                    .args(std::env::var("WRAP").ok())
                    .arg(&arguments[0])
                    .args(&arguments[1..])
                    .env("OXMPI_RANK", rank.to_string())
                    .env("OXMPI_SIZE", ranks.to_string())
                    .env("OXMPI_SEGMENT", fd.as_raw_fd().to_string())
                    .env("OXMPI_SEGMENT_INODE", inode.to_string())
                    .env("OXMPI_KEEPER", std::process::id().to_string())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        return;
    }
    process::init(ThreadLevel::Single).unwrap();
    match arguments[2].as_str() {
        "latency" => latency(&[
            0,
            8,
            40,
            64,
            256,
            512,
            1024,
            2048,
            4096,
            8192,
            16384,
            32768,
            65536,
            131072,
            1 << 18,
            1 << 20,
            1 << 22,
        ]),
        "eight" => latency(&[8]),
        "rate" => rate(),
        "barrier" => barrier(),
        other => panic!("no test {other}"),
    }
    process::finalize().unwrap();
}

fn buffer(data: &mut [u8]) -> Buffer {
    // SAFETY: the vector outlives all operations of these tests, which wait for them.
    unsafe { Buffer::bytes(data.as_mut_ptr(), data.len()) }
}

fn latency(sizes: &[usize]) {
    let world = comm::get(comm::WORLD).unwrap();
    let me = world.rank();
    for &bytes in sizes {
        let mut out = vec![me as u8; bytes];
        let mut into = vec![9u8; bytes];
        let rounds = (200_000_000 / (bytes + 2000)).clamp(50, 100_000);
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            for _ in 0..rounds {
                if me == 0 {
                    pt2pt::send(Mode::Standard, buffer(&mut out), 1, 5, world).unwrap();
                    pt2pt::recv(buffer(&mut into), 1, 5, world).unwrap();
                } else if me == 1 {
                    pt2pt::recv(buffer(&mut into), 0, 5, world).unwrap();
                    pt2pt::send(Mode::Standard, buffer(&mut out), 0, 5, world).unwrap();
                }
            }
            best = best.min(start.elapsed().as_secs_f64() / rounds as f64 / 2.0 * 1e9);
        }
        if me < 2 {
            assert!(into.iter().all(|byte| *byte == 1 - me as u8));
        }
        if me == 0 {
            println!(
                "{bytes:8} B  {best:10.1} ns  {:6.2} GB/s",
                bytes as f64 / best
            );
        }
    }
}

fn rate() {
    let world = comm::get(comm::WORLD).unwrap();
    let me = world.rank();
    let mut data = vec![vec![1u8; 8]; 64];
    for _ in 0..5 {
        let start = Instant::now();
        let rounds = 20_000;
        for _ in 0..rounds {
            let mut requests: Vec<i32> = data
                .iter_mut()
                .map(|data| {
                    if me == 0 {
                        pt2pt::isend(Mode::Standard, buffer(data), 1, 5, world).unwrap()
                    } else {
                        pt2pt::irecv(buffer(data), 0, 5, world).unwrap()
                    }
                })
                .collect();
            complete::wait_all(&mut requests, |_, done| assert!(done.error.is_none())).unwrap();
            if me == 0 {
                pt2pt::recv(buffer(&mut data[0]), 1, 6, world).unwrap();
            } else {
                pt2pt::send(Mode::Standard, buffer(&mut data[0]), 0, 6, world).unwrap();
            }
        }
        if me == 0 {
            let rate = 64.0 * rounds as f64 / start.elapsed().as_secs_f64() / 1e6;
            println!("{rate:.2} M/s");
        }
    }
}

fn barrier() {
    let world = comm::get(comm::WORLD).unwrap();
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..2000 {
            oxmpi::coll::barrier(world).unwrap();
        }
        if world.rank() == 0 {
            println!("{:.2} us", start.elapsed().as_secs_f64() / 2000.0 * 1e6);
        }
    }
}
