//! Options of mpiexec: a command line is a request with programs, or a text that says what is wrong, in bounded time and memory.
//!
//! An argument a line. What stands behind an empty line is the content of every file that the options name, and of every
//! variable that mpiexec asks for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi::launch::sets;
use oxmpi_launcher::mpiexec::binding::{self, Situation};
use oxmpi_launcher::mpiexec::environment;
use oxmpi_launcher::mpiexec::machine::{Machine, Processor};
use oxmpi_launcher::mpiexec::arguments;
use oxmpi_launcher::mpiexec::request::Answer;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

const RANKS: usize = 3;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (line, file) = match end {
        Some(end) => (&bytes[..end], &bytes[end + 2..]),
        None => (bytes, &[][..]),
    };
    let arguments: Vec<OsString> = line
        .split(|byte| *byte == b'\n')
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    let file = String::from_utf8_lossy(file).into_owned();
    let mut request = match arguments::parse(&arguments, &|_| Ok(file.clone())) {
        Ok(Answer::Run(request)) => *request,
        Ok(_) => return,
        Err(text) => {
            assert!(!text.is_empty());
            return;
        }
    };
    assert!(!request.programs.is_empty());
    for program in &request.programs {
        assert!(!program.command.is_empty() && program.ranks != Some(0));
    }
    for tool in &request.tools {
        for rank in 0..RANKS {
            let _ = tool.before(rank);
        }
    }
    for set in &request.process_sets {
        let _ = sets::parse(set, RANKS as u32);
    }
    let _ = environment::apply(&mut request, &|_| Some(file.clone()));
    bind(request.bind_to.as_deref());
});

fn bind(wish: Option<&str>) {
    let processors = (0..4).map(|number| Processor {
        node: 0,
        socket: number as u32 / 2,
        core: number as u32,
        number,
    });
    let machine = Machine {
        processors: processors.collect(),
    };
    let situation = Situation {
        quota: None,
        threads: None,
        crowd: wish.is_none(),
    };
    if let Ok(Some(bound)) = binding::bind(wish, RANKS, &machine, &situation) {
        assert_eq!(bound.len(), RANKS);
        for processors in bound {
            assert!(!processors.is_empty() && processors.iter().all(|number| *number < 4));
        }
    }
}
