//! Accesses to files whose bytes are not those of memory: converted in pieces, in memory of this call.
//!
//! Invariant: a piece has whole elements; what a status counts are bytes of memory of whole elements that are in the file.

use super::access::{self, Direction};
use super::conversion::{Conversion, Entries, elements};
use super::datarep::{Datarep, Items, Registered};
use super::scratch::lengthen;
use super::view::ViewAt;
use crate::datatype::{Buffer, Datatype, external};
use crate::error::{Class, Error};
use std::io;

/// Bytes of the file that are converted at once, in memory of their own: the access of a piece may use the thread's.
const PIECE: usize = 256 << 10;

/// Why a function of the program's made an access fail, as the access returns it.
#[derive(Debug)]
pub struct Unconverted(String);

impl std::fmt::Display for Unconverted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unconverted {}

impl Unconverted {
    /// The error that an access has failed by, if it is one of these.
    pub fn error(why: &io::Error) -> Option<Error> {
        let own: &Unconverted = why.get_ref()?.downcast_ref()?;
        Some(Error::new(Class::Conversion, own.0.clone()))
    }
}

/// As [`access::transfer`], converted if the view says so.
#[inline]
pub fn transfer(at: ViewAt<'_>, buffer: &Buffer, direction: Direction) -> (usize, io::Result<()>) {
    match &at.view.conversion {
        None => access::transfer(at, &buffer.bare(), direction),
        Some(conversion) => converted(conversion, Converted { at, direction }, buffer),
    }
}

/// A buffer's elements, by number, in memory and in the file.
struct Numbered<'a> {
    /// Elements that lie in so many bytes of the file, at most all; bytes of so many elements.
    elements_in: &'a dyn Fn(u64) -> u64,
    bytes_of: &'a dyn Fn(u64) -> u64,
    all: u64,
}

fn converted(
    conversion: &Conversion,
    access: Converted<'_>,
    buffer: &Buffer,
) -> (usize, io::Result<()>) {
    if buffer.is_empty() {
        return (0, Ok(()));
    }
    let done = elements(buffer).and_then(|(datatype, count)| match conversion.by() {
        Datarep::Native => Ok(access.moved(buffer)),
        Datarep::External => Ok(access.external(buffer, datatype, count)),
        Datarep::Registered(by) => {
            let entries = conversion.entries(by, datatype)?;
            Ok(access.registered(buffer, (datatype, count), by, &entries))
        }
    });
    match done {
        Ok(done) => done,
        Err(error) => (
            0,
            Err(io::Error::other(Unconverted(error.text().to_owned()))),
        ),
    }
}

/// An access that is converted.
struct Converted<'a> {
    at: ViewAt<'a>,
    direction: Direction,
}

impl Converted<'_> {
    /// Bytes as they are.
    fn moved(&self, buffer: &Buffer) -> (usize, io::Result<()>) {
        access::transfer(self.at, buffer, self.direction)
    }

    /// Moves elements piece by piece: `convert(first, count, piece)` fills a piece that is written, or empties one that was read. Returns
    /// how many elements were moved.
    fn pieces(
        &self,
        numbered: &Numbered<'_>,
        mut convert: impl FnMut(u64, u64, &mut [u8]) -> io::Result<()>,
    ) -> (u64, io::Result<()>) {
        let Numbered {
            elements_in,
            bytes_of,
            all,
        } = *numbered;
        let mut scratch = Vec::new();
        let mut done = 0;
        while done < all {
            let from = bytes_of(done);
            // At least one, however large it is.
            let next = elements_in(from + PIECE as u64).min(all).max(done + 1);
            let bytes = (bytes_of(next) - from) as usize;
            if let Err(why) = lengthen(&mut scratch, bytes) {
                return (done, Err(why));
            }
            let piece = &mut scratch[..bytes];
            if self.direction == Direction::Write
                && let Err(why) = convert(done, next - done, piece)
            {
                return (done, Err(why));
            }
            // SAFETY: memory of this function's.
            let packed = unsafe { Buffer::bytes(piece.as_mut_ptr(), bytes) };
            let (moved, result) = access::transfer(self.at.after(from), &packed, self.direction);
            let reached = match moved == bytes {
                true => next,
                false => elements_in(from + moved as u64),
            };
            if self.direction == Direction::Read && reached > done {
                let read = (bytes_of(reached) - from) as usize;
                if let Err(why) = convert(done, reached - done, &mut piece[..read]) {
                    return (done, Err(why));
                }
            }
            done = reached;
            if result.is_err() || done < next {
                return (done, result);
            }
        }
        (done, Ok(()))
    }

    fn external(
        &self,
        buffer: &Buffer,
        datatype: &Datatype,
        count: u64,
    ) -> (usize, io::Result<()>) {
        let signature = datatype.layout().signature.repeated(count);
        let numbered = Numbered {
            elements_in: &|bytes| signature.external_elements_in(bytes),
            bytes_of: &|elements| signature.external_bytes_of(elements),
            all: signature.elements,
        };
        let (done, result) = self.pieces(&numbered, |from, count, piece| {
            let part = external::Part::new(buffer, &signature, from, count);
            match self.direction {
                Direction::Write => external::pack(&part, piece),
                Direction::Read => external::unpack(piece, &part),
            }
            Ok(())
        });
        let bytes = signature.bytes_of(done).unwrap_or(0);
        (bytes as usize, result)
    }

    fn registered(
        &self,
        buffer: &Buffer,
        (datatype, count): (&Datatype, u64),
        by: &Registered,
        entries: &Entries,
    ) -> (usize, io::Result<()>) {
        let (name, title) = (&by.name, datatype.title());
        let function = match self.direction {
            Direction::Read => "read_conversion_fn",
            Direction::Write => "write_conversion_fn",
        };
        if !by.functions.converts(self.direction) {
            if entries.file.size == entries.memory.size {
                return self.moved(&buffer.bare());
            }
            let text = format!(
                "the representation \"{name}\" has no {function}, but {title} has {} bytes in the file and {} in memory",
                entries.file.size, entries.memory.size
            );
            return (0, Err(io::Error::other(Unconverted(text))));
        }
        let file = entries.file.repeated(count);
        let numbered = Numbered {
            elements_in: &|bytes| file.external_elements_in(bytes),
            bytes_of: &|elements| file.external_bytes_of(elements),
            all: file.elements,
        };
        let (done, result) = self.pieces(&numbered, |from, count, piece| {
            let items = Items {
                user: buffer.address(),
                datatype: datatype.handle,
                count,
                file: piece.as_mut_ptr(),
                position: from as i64,
            };
            // SAFETY: the buffer has the elements, the piece the file's bytes of so many of their entries.
            let converted = unsafe { by.functions.convert(self.direction, items) };
            converted.map_err(|code| {
                io::Error::other(Unconverted(format!(
                    "{function} of the representation \"{name}\" returned {code} for {count} items of {title} from item {from} on"
                )))
            })
        });
        let bytes = entries.memory.repeated(count).bytes_of(done).unwrap_or(0);
        (bytes as usize, result)
    }
}
