//! Which loader and libraries a program names.
//!
//! Invariant: any bytes can be looked at; what is not understood is no program.

/// A program with more is not looked at as a whole.
const MOST_SYMBOLS: u64 = 1 << 20;

/// What the headers of a dynamically linked program or library say.
#[derive(Debug, PartialEq, Eq)]
pub struct Elf {
    /// The dynamic loader (PT_INTERP); programs have one.
    pub loader: Option<String>,
    /// The libraries (DT_NEEDED).
    pub needed: Vec<String>,
    /// Where these are looked for first (DT_RPATH, DT_RUNPATH).
    pub folders: Vec<String>,
    /// The functions and variables that it takes from others; empty where nobody has asked.
    pub imports: Vec<String>,
}

/// As [`read`], with the imports.
pub fn read_imports(read: &dyn Fn(u64, &mut [u8]) -> usize) -> Option<Elf> {
    read_parts(read, true)
}

/// Reads a 64-bit little-endian ELF file that is dynamically linked; `None` if it is none. `read` fills bytes from an offset
/// on and says how many there are.
pub fn read(read: &dyn Fn(u64, &mut [u8]) -> usize) -> Option<Elf> {
    read_parts(read, false)
}

fn read_parts(read: &dyn Fn(u64, &mut [u8]) -> usize, with_imports: bool) -> Option<Elf> {
    const INTERPRETER: u64 = 3;
    const DYNAMIC: u64 = 2;
    const LOAD: u64 = 1;
    const NEEDED: u64 = 1;
    const STRING_TABLE: u64 = 5;
    const SYMBOL_TABLE: u64 = 6;
    const FOLDERS: u64 = 15;
    const FOLDERS_LATER: u64 = 29;
    let number = |at: u64, bytes: usize| -> Option<u64> {
        let mut value = [0u8; 8];
        (read(at, &mut value[..bytes]) == bytes).then(|| u64::from_le_bytes(value))
    };
    // 64 bits, little-endian.
    if number(0, 6)? != u64::from_le_bytes(*b"\x7fELF\x02\x01\0\0") {
        return None;
    }
    let text = |at: u64| -> Option<String> {
        let mut bytes = [0u8; 256];
        let count = read(at, &mut bytes);
        let end = bytes[..count].iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    let (table, entry, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let header = |index: u64| table.checked_add(index.checked_mul(entry)?);
    let mut loads = Vec::new();
    let mut dynamic = None;
    let mut loader = None;
    for index in 0..count {
        let at = header(index)?;
        let field = |offset: u64| number(at.checked_add(offset)?, 8);
        match number(at, 4)? {
            LOAD => loads.push((field(16)?, field(8)?, field(32)?)),
            INTERPRETER => loader = text(field(8)?),
            DYNAMIC => dynamic = Some((field(8)?, field(32)?)),
            _ => {}
        }
    }
    let (start, bytes) = dynamic?;
    let mut names = Vec::new();
    let mut folders = Vec::new();
    let (mut strings, mut symbols) = (None, None);
    for index in 0..(bytes / 16).min(4096) {
        let at = start.checked_add(index * 16)?;
        match number(at, 8)? {
            0 => break,
            NEEDED => names.push(number(at.checked_add(8)?, 8)?),
            FOLDERS | FOLDERS_LATER => folders.push(number(at.checked_add(8)?, 8)?),
            STRING_TABLE => strings = Some(number(at.checked_add(8)?, 8)?),
            SYMBOL_TABLE => symbols = Some(number(at.checked_add(8)?, 8)?),
            _ => {}
        }
    }
    let address = strings?;
    let place = |address: u64| -> Option<u64> {
        let mut loads = loads.iter();
        let within =
            |(start, _, length): &&(u64, u64, u64)| *start <= address && address - start < *length;
        let (start, offset, _) = loads.find(within)?;
        offset.checked_add(address - start)
    };
    let strings = place(address)?;
    let string = |name: u64| text(strings.checked_add(name)?);
    let needed = names.into_iter().map(string).collect::<Option<_>>()?;
    let folders = folders.into_iter().map(string);
    let folders = folders.collect::<Option<Vec<String>>>()?;
    let folders = folders.iter().flat_map(|list| list.split(':'));
    let mut imports = Vec::new();
    // Nothing says how many symbols there are; all linkers put the strings somewhere behind them.
    if let Some(symbols) = symbols.filter(|it| with_imports && *it < address) {
        const SYMBOL: u64 = 24;
        let first = place(symbols)?;
        let mut bytes = vec![0; (address - symbols).min(MOST_SYMBOLS * SYMBOL) as usize];
        let count = read(first, &mut bytes);
        for symbol in bytes[..count].chunks_exact(SYMBOL as usize) {
            let name = u32::from_le_bytes([symbol[0], symbol[1], symbol[2], symbol[3]]);
            // Of no section: another file has it.
            if symbol[6..8] == [0, 0] && name != 0 {
                imports.extend(string(name.into()));
            }
        }
    }
    Some(Elf {
        loader,
        needed,
        folders: folders.map(str::to_owned).collect(),
        imports,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bytes(file: &[u8]) -> Option<Elf> {
        read(&|at, bytes| {
            let rest = usize::try_from(at).ok().and_then(|at| file.get(at..));
            let rest = rest.unwrap_or_default();
            let count = rest.len().min(bytes.len());
            bytes[..count].copy_from_slice(&rest[..count]);
            count
        })
    }

    #[test]
    fn the_libraries_of_this_test_are_read() {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = of_bytes(&file).unwrap();
        let needed = &elf.needed;
        assert!(needed.iter().any(|it| it.starts_with("libc.so")), "{elf:?}");
        assert!(elf.imports.is_empty());
        assert!(elf.loader.unwrap().contains("/ld-"));
        let read = |at: u64, bytes: &mut [u8]| {
            let rest = file.get(at as usize..).unwrap_or_default();
            let count = rest.len().min(bytes.len());
            bytes[..count].copy_from_slice(&rest[..count]);
            count
        };
        let imports = read_imports(&read).unwrap().imports;
        assert!(imports.iter().any(|name| name == "write"), "{imports:?}");
        assert!(!imports.iter().any(|name| name == "main"));
        // Damaged files are no reason to fall over.
        for cut in [0, 4, 6, 40, 63, 64, 100, 1000, file.len() / 2] {
            let _ = of_bytes(&file[..cut]);
        }
        let mut damaged = file[..4096.min(file.len())].to_vec();
        for at in 24..damaged.len() {
            damaged[at] = 0xff;
            let _ = of_bytes(&damaged);
        }
    }
}
