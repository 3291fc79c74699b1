//! Stacks of threads: the tables for unwinding of the files that their process has loaded.
//!
//! Invariant: threads are stopped only while their registers and the top of their stack are read; all else follows from copies.

use super::code::{Sections, sections};
use super::file_of;
use super::maps::{self, Mapping};
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use oxmpi::os::tracing::{self, Seen};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

/// Bytes of a stack that are read. Deeper frames are not seen.
const STACK: usize = 256 << 10;
/// Frames of a stack that are looked at.
const FRAMES: usize = 128;
/// Threads of a process that are looked at.
const THREADS: usize = 64;

/// A thread that was seen.
pub struct Thread {
    pub name: String,
    pub is_main: bool,
    seen: Seen,
}

/// The threads of a process, but for those of the library; the main one first.
///
/// Errors: why none can be seen.
pub fn threads(pid: i32) -> Result<Vec<Thread>, String> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/task"));
    let entries = folder.map_err(|error| error.to_string())?;
    let number = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.parse::<i32>().ok()
    };
    let mut numbers: Vec<i32> = entries.filter_map(number).collect();
    numbers.sort_by_key(|number| (*number != pid, *number));
    let mut all = Vec::new();
    let mut failure = None;
    for number in numbers.into_iter().take(THREADS) {
        let name = std::fs::read_to_string(format!("/proc/{pid}/task/{number}/comm"));
        let name = name.unwrap_or_default().trim_end().to_owned();
        let is_main = number == pid;
        if !is_main && name.starts_with("oxmpi-") {
            continue;
        }
        match tracing::look(pid, number, STACK) {
            Ok(seen) => all.push(Thread {
                name,
                is_main,
                seen,
            }),
            Err(error) => failure = Some(error.to_string()),
        }
    }
    match failure {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

/// The files of a process, for unwinding.
pub struct Files(framehop::UnwinderNative<Rc<[u8]>, framehop::MayAllocateDuringUnwind>);

/// What was read of files, for the next process that has them.
#[derive(Default)]
pub struct Known(HashMap<PathBuf, Option<Rc<Sections>>>);

impl Known {
    fn sections(&mut self, file: PathBuf) -> Option<Rc<Sections>> {
        let known = self.0.entry(file);
        known
            .or_insert_with_key(|file| Some(Rc::new(sections(file)?)))
            .clone()
    }
}

impl Files {
    pub fn of_process(pid: i32, known: &mut Known) -> Files {
        let mut unwinder = framehop::UnwinderNative::new();
        let maps = maps::of_process(pid);
        let mut at = 0;
        while at < maps.len() {
            let same = |it: &&Mapping| it.name == maps[at].name;
            let of_file: Vec<&Mapping> = maps[at..].iter().take_while(same).collect();
            if let Some((file, _)) = file_of(pid, of_file[0])
                && let Some(sections) = known.sections(file)
                && let Some(module) = module(&of_file, &sections)
            {
                unwinder.add_module(module);
            }
            at += of_file.len();
        }
        Files(unwinder)
    }

    /// The addresses of a stack, the innermost first, each within its call.
    pub fn addresses(&self, thread: &Thread) -> Vec<u64> {
        let registers = &thread.seen.registers;
        let bottom = registers.stack;
        let mut read = |address: u64| -> Result<u64, ()> {
            let at = address.checked_sub(bottom).ok_or(())? as usize;
            let bytes = thread.seen.stack.get(at..).and_then(|it| it.first_chunk());
            bytes.map(|bytes| u64::from_ne_bytes(*bytes)).ok_or(())
        };
        #[cfg(target_arch = "x86_64")]
        let start = framehop::x86_64::UnwindRegsX86_64::new(
            registers.instruction,
            registers.stack,
            registers.frame,
        );
        #[cfg(target_arch = "aarch64")]
        let start = framehop::aarch64::UnwindRegsAarch64::new(
            registers.link,
            registers.stack,
            registers.frame,
        );
        let mut cache = framehop::CacheNative::new();
        let mut frames = self
            .0
            .iter_frames(registers.instruction, start, &mut cache, &mut read);
        let mut addresses = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(frame.address_for_lookup());
            if addresses.len() == FRAMES {
                break;
            }
        }
        addresses
    }
}

fn module(maps: &[&Mapping], sections: &Rc<Sections>) -> Option<Module<Rc<[u8]>>> {
    let (first, last) = (maps.first()?, maps.last()?);
    // Where the file's address 0 would be.
    let base = first
        .addresses
        .start
        .wrapping_sub(sections.address_of(first.offset)?);
    let info = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: sections.text.clone(),
        eh_frame_svma: sections.eh_frame.as_ref().map(|it| it.0.clone()),
        eh_frame: sections.eh_frame.as_ref().map(|it| it.1.clone()),
        eh_frame_hdr_svma: sections.eh_frame_hdr.as_ref().map(|it| it.0.clone()),
        eh_frame_hdr: sections.eh_frame_hdr.as_ref().map(|it| it.1.clone()),
        ..Default::default()
    };
    let addresses = first.addresses.start..last.addresses.end;
    Some(Module::new(first.name.clone(), addresses, base, info))
}
