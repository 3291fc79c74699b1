//! Names and lines in a file of code: from its own tables, or from the separate file that distributions put them into.
//!
//! Invariant: a separate file is used only if it has the build id of the file of code; names and lines of another build would be wrong.

use addr2line::{Loader, demangle_auto};
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Where the separate files are.
const FOLDER: &str = "usr/lib/debug";

/// A program or a library.
pub struct Code {
    /// File offsets, the length, and the address, of what is loaded.
    parts: Vec<Part>,
    own: Loader,
    /// Its separate file.
    separate: Option<Loader>,
}

struct Part {
    offset: u64,
    bytes: u64,
    address: u64,
}

/// A function at an address, and the line where the tables have it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Named {
    pub function: String,
    /// From its start: where there is no line.
    pub distance: u64,
    pub file: String,
    pub line: u32,
}

/// Bytes of a section, and their addresses.
type Section = (Range<u64>, Rc<[u8]>);

/// What is needed to walk over stacks through a file of code.
pub struct Sections {
    parts: Vec<Part>,
    pub text: Option<Range<u64>>,
    pub eh_frame: Option<Section>,
    pub eh_frame_hdr: Option<Section>,
}

impl Sections {
    /// The address of what is at an offset of the file.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        address_of(&self.parts, offset)
    }
}

/// The functions that a library gives to others, without any table of lines: read in no time.
pub struct Exported {
    parts: Vec<Part>,
    functions: Vec<(Range<u64>, String)>,
}

impl Exported {
    pub fn open(path: &Path) -> Option<Exported> {
        let file = ReadCache::new(File::open(path).ok()?);
        let object = object::File::parse(&file).ok()?;
        let function = |symbol: object::Symbol<'_, '_, &ReadCache<File>>| {
            let addresses = symbol.address()..symbol.address() + symbol.size();
            Some((addresses, symbol.name().ok()?.to_owned()))
        };
        Some(Exported {
            parts: parts(&object),
            functions: object.dynamic_symbols().filter_map(function).collect(),
        })
    }

    /// The function at this offset of the file, and the distance from its start.
    pub fn at(&self, offset: u64) -> Option<(&str, u64)> {
        let address = address_of(&self.parts, offset)?;
        let mut functions = self.functions.iter();
        let (addresses, name) = functions.find(|(addresses, _)| addresses.contains(&address))?;
        Some((name, address - addresses.start))
    }
}

/// Reads the sections of a file.
pub fn sections(path: &Path) -> Option<Sections> {
    let file = ReadCache::new(File::open(path).ok()?);
    let object = object::File::parse(&file).ok()?;
    let named = |name: &str| object.section_by_name(name);
    let range = |section: &object::Section<'_, '_, &ReadCache<File>>| {
        section.address()..section.address() + section.size()
    };
    let whole = |name: &str| {
        let section = named(name)?;
        Some((range(&section), section.data().ok()?.into()))
    };
    Some(Sections {
        parts: parts(&object),
        text: named(".text").map(|section| range(&section)),
        eh_frame: whole(".eh_frame"),
        eh_frame_hdr: whole(".eh_frame_hdr"),
    })
}

fn parts<'a>(object: &object::File<'a, &'a ReadCache<File>>) -> Vec<Part> {
    let part = |segment: object::Segment<'a, '_, &'a ReadCache<File>>| {
        let (offset, bytes) = segment.file_range();
        Part {
            offset,
            bytes,
            address: segment.address(),
        }
    };
    object.segments().map(part).collect()
}

fn address_of(parts: &[Part], offset: u64) -> Option<u64> {
    // Mappings begin with a page, and what is loaded may begin within it.
    let page = |it: &&Part| (it.offset & !0xfff..it.offset + it.bytes).contains(&offset);
    let part = parts.iter().rfind(page)?;
    Some((part.address + offset).wrapping_sub(part.offset))
}

impl Code {
    /// Reads a file. `root` is the root directory that its process has.
    pub fn open(path: &Path, root: &Path) -> Option<Code> {
        let file = ReadCache::new(File::open(path).ok()?);
        let object = object::File::parse(&file).ok()?;
        let parts = parts(&object);
        let separate = candidates(&object, path, root);
        let separate = separate.into_iter().find(|it| is_same_build(&object, it));
        Some(Code {
            parts,
            own: Loader::new(path).ok()?,
            separate: separate.and_then(|it| load_separate(&it, root)),
        })
    }

    /// What is at this offset of the file: the innermost of functions that the compiler has put into each other first.
    pub fn at(&self, offset: u64) -> Vec<Named> {
        let Some(address) = address_of(&self.parts, offset) else {
            return Vec::new();
        };
        let loaders = || self.separate.iter().chain([&self.own]);
        let mut frames = loaders()
            .find_map(|it| frames(it, address))
            .unwrap_or_default();
        // The outermost has a symbol of its own; without a table of lines this is all.
        let symbol = loaders().find_map(|it| it.find_symbol_info(address));
        if let Some(symbol) = symbol {
            if frames.is_empty() {
                frames.push(Named::default());
            }
            // Functions of MPI are made by macros; their own names are those that the linker sees.
            let is_of_mpi = ["MPI_", "PMPI_"]
                .iter()
                .any(|beginning| symbol.name().starts_with(beginning));
            let unnamed = |it: &&mut Named| it.function.is_empty() || is_of_mpi;
            if let Some(outermost) = frames.last_mut().filter(unnamed) {
                outermost.function = demangle_auto(symbol.name().into(), None).into_owned();
                outermost.distance = address - symbol.address();
            }
        }
        frames
    }
}

fn frames(loader: &Loader, address: u64) -> Option<Vec<Named>> {
    let mut frames = loader.find_frames(address).ok()?;
    let mut all = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let function = frame.function.as_ref();
        let function = function.and_then(|it| Some(it.demangle().ok()?.into_owned()));
        let location = frame.location.as_ref();
        all.push(Named {
            function: function.unwrap_or_default(),
            distance: 0,
            file: location
                .and_then(|it| it.file)
                .unwrap_or_default()
                .to_owned(),
            line: location.and_then(|it| it.line).unwrap_or_default(),
        });
    }
    all.retain(|it| !it.function.is_empty() || it.line > 0);
    (!all.is_empty()).then_some(all)
}

/// Where a separate file may be: by the build id, and by the name that the file has for it.
fn candidates<'a>(
    object: &object::File<'a, &'a ReadCache<File>>,
    path: &Path,
    root: &Path,
) -> Vec<PathBuf> {
    let folder = root.join(FOLDER);
    let mut all = Vec::new();
    if let Ok(Some(build)) = object.build_id()
        && let Some((first, rest)) = build.split_first()
    {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        all.push(folder.join(format!(".build-id/{first:02x}/{rest}.debug")));
    }
    if let Ok(Some((name, _))) = object.gnu_debuglink()
        && let Some(beside) = path.parent()
    {
        let name = OsStr::from_bytes(name);
        all.push(beside.join(name));
        all.push(beside.join(".debug").join(name));
        let inside = beside.strip_prefix(root).unwrap_or(beside);
        let inside = inside.strip_prefix("/").unwrap_or(inside);
        all.push(folder.join(inside).join(name));
    }
    all.retain(|it| it != path);
    all
}

fn is_same_build<'a>(object: &object::File<'a, &'a ReadCache<File>>, separate: &Path) -> bool {
    let Ok(file) = File::open(separate) else {
        return false;
    };
    let cache = ReadCache::new(file);
    let Ok(separate) = object::File::parse(&cache) else {
        return false;
    };
    matches!((object.build_id(), separate.build_id()), (Ok(Some(one)), Ok(Some(other))) if one == other)
}

/// A separate file may have a part of its tables in a third one, which several share (dwz).
fn load_separate(path: &Path, root: &Path) -> Option<Loader> {
    let shared = || {
        let cache = ReadCache::new(File::open(path).ok()?);
        let object = object::File::parse(&cache).ok()?;
        let (name, _) = object.gnu_debugaltlink().ok()??;
        let name = Path::new(OsStr::from_bytes(name));
        let shared = match name.strip_prefix("/") {
            Ok(inside) => root.join(inside),
            Err(_) => path.canonicalize().ok()?.parent()?.join(name),
        };
        shared.is_file().then_some(shared)
    };
    Loader::new_with_sup(path, shared()).ok()
}
