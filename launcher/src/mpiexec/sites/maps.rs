//! What is where in the memory of a process: /proc/PID/maps.
//!
//! Invariant: any text can be read; lines that are not understood are left out.

use std::ops::Range;

/// Addresses that show a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Mapping {
    pub addresses: Range<u64>,
    /// Where in the file they begin.
    pub offset: u64,
    /// The file, or a name in brackets; nothing for memory without one.
    pub name: String,
    /// The file is there no more, or another one has its name.
    pub is_deleted: bool,
}

/// The mappings of a process; none if it is gone or another user's.
pub fn of_process(pid: i32) -> Vec<Mapping> {
    // Names are bytes.
    let text = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    parse(&String::from_utf8_lossy(&text))
}

/// `55d0c0a00000-55d0c0a01000 r-xp 00001000 fd:00 1234   /usr/bin/program`, one a line.
fn parse(text: &str) -> Vec<Mapping> {
    let line = |line: &str| {
        let mut words = line.splitn(6, ' ');
        let (begin, end) = words.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let _rights = words.next()?;
        let offset = number(words.next()?)?;
        let (_device, _inode) = (words.next()?, words.next()?);
        let name = words.next().unwrap_or_default().trim_start();
        let kept = name.strip_suffix(" (deleted)");
        Some(Mapping {
            addresses: number(begin)?..number(end)?,
            offset,
            name: kept.unwrap_or(name).to_owned(),
            is_deleted: kept.is_some(),
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let maps = parse(
            "55d0-55f0 r-xp 00001000 fd:00 1234                       /a b/program\n\
             7f00-7f10 rw-p 00000000 00:00 0 \n\
             nonsense\n\
             7ffc-7ffd r-xp 00000000 00:00 0                          [vdso]\n\
             8000-9000 r-xp 00000000 fd:00 1                          /tmp/x.so (deleted)\n",
        );
        let names: Vec<_> = maps.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["/a b/program", "", "[vdso]", "/tmp/x.so"]);
        assert_eq!(
            (maps[0].addresses.clone(), maps[0].offset),
            (0x55d0..0x55f0, 0x1000)
        );
        let deleted: Vec<_> = maps.iter().map(|it| it.is_deleted).collect();
        assert_eq!(deleted, [false, false, false, true]);
    }

    #[test]
    fn the_own_process_has_its_program() {
        let here = the_own_process_has_its_program as *const () as u64;
        let maps = of_process(std::process::id() as i32);
        let mapping = maps.iter().find(|it| it.addresses.contains(&here)).unwrap();
        let program = std::env::current_exe().unwrap();
        assert_eq!(mapping.name, program.to_string_lossy());
        assert!(of_process(-1).is_empty());
    }
}
