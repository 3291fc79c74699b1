//! Host files and rank files, line by line. Names are not looked up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi_launcher::mpiexec::machine::{Machine, Processor};
use oxmpi_launcher::mpiexec::{hosts, rankfile, words};

fuzz_target!(|text: &str| {
    let processors = (0..4).map(|number| Processor {
        node: 0,
        socket: number as u32 / 2,
        core: number as u32,
        number,
    });
    let machine = Machine {
        processors: processors.collect(),
    };
    let mut last = 0;
    for (number, line) in words::logical_lines(text) {
        assert!(number > last && number <= text.lines().count());
        last = number;
        if let Ok(Some((host, slots))) = hosts::parse_line(&line) {
            assert!(!host.is_empty() && line.contains(host) && slots != Some(0));
            assert!(!host.contains([' ', '\t', '#']));
        }
        let _ = hosts::parse(&line);
        if let Ok((rank, host, slots)) = rankfile::parts(&line) {
            assert!(rank < 1 << 16 && line.contains(host) && line.contains(slots));
            for threads in [false, true] {
                if let Ok(place) = rankfile::placement(slots, &machine, threads) {
                    assert!(!place.is_empty() && place.is_sorted());
                    assert!(place.iter().all(|processor| *processor < 4));
                }
            }
        }
    }
});
