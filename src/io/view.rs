//! Views: from offsets of etypes to runs of the file's bytes.
//!
//! Invariant: the types of a view are the library's own handles of what the program gave, so that it may free them; nothing of a
//! type is laid out as a list.

use super::direction::Direction;
use crate::datatype::{self, Datatype, Layout};
use crate::error::{Class, Result, fail};
use crate::lifetime::datatypes;
use std::sync::OnceLock;

/// A type that lives as long as this.
struct Kept(&'static Datatype);

impl Kept {
    fn of(datatype: &'static Datatype) -> Result<Kept> {
        match datatype.is_predefined() {
            true => Ok(Kept(datatype)),
            false => datatype::another_handle(datatype).map(Kept),
        }
    }

    /// A handle for the program, which frees it if it is derived.
    fn give(&self) -> Result<i32> {
        match self.0.is_predefined() {
            true => Ok(self.0.handle),
            false => datatype::another_handle(self.0).map(|new| new.handle),
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.0.is_predefined() {
            let _ = datatypes::free(self.0.handle);
        }
    }
}

/// See MPI_File_set_view.
#[derive(Clone, Copy)]
pub struct Types {
    pub etype: &'static Datatype,
    pub filetype: &'static Datatype,
}

pub struct View {
    pub displacement: i64,
    etype: Kept,
    filetype: Kept,
    pub datarep: String,
    /// The filetype's.
    layout: Layout,
    /// Bytes of an etype.
    pub unit: u64,
    /// See [`View::can_be_cut`].
    can_be_cut: OnceLock<bool>,
}

/// The types that MPI_File_open begins with.
fn bytes() -> Result<&'static Datatype> {
    match datatype::get(datatype::BYTE) {
        Some(bytes) => Ok(bytes),
        None => fail!(Class::Intern, "MPI_BYTE is no datatype"),
    }
}

impl View {
    pub fn of_bytes() -> Result<View> {
        let bytes = bytes()?;
        let types = Types {
            etype: bytes,
            filetype: bytes,
        };
        View::new(0, types, "native", true)
    }

    /// A view, checked. `writes`: whether the file can be written to.
    ///
    /// Errors: MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_UNSUPPORTED_DATAREP.
    pub fn new(displacement: i64, types: Types, datarep: &str, writes: bool) -> Result<View> {
        if displacement < 0 {
            return fail!(
                Class::Arg,
                "disp is {displacement}; it must not be negative"
            );
        }
        if !matches!(datarep, "native" | "internal") {
            return fail!(
                Class::UnsupportedDatarep,
                "datarep is \"{datarep}\"; known are \"native\" and \"internal\""
            );
        }
        check("etype", types.etype, writes)?;
        check("filetype", types.filetype, writes)?;
        let (unit, size) = (types.etype.size, types.filetype.size);
        let is_whole = match unit {
            0 => size == 0,
            _ => size.is_multiple_of(unit),
        };
        if !is_whole {
            return fail!(
                Class::Type,
                "filetype is {}, whose {size} bytes are no multiple of the {unit} of etype, {}",
                types.filetype.title(),
                types.etype.title()
            );
        }
        Ok(View {
            displacement,
            layout: types.filetype.layout().clone(),
            etype: Kept::of(types.etype)?,
            filetype: Kept::of(types.filetype)?,
            datarep: datarep.to_owned(),
            unit,
            can_be_cut: OnceLock::new(),
        })
    }

    /// Handles of etype and filetype for the program.
    pub fn give(&self) -> Result<(i32, i32)> {
        Ok((self.etype.give()?, self.filetype.give()?))
    }

    pub fn etype_extent(&self) -> i64 {
        self.etype.0.extent
    }

    /// Fails if `length` bytes of the view from `skip` on are not all in front of the largest offset of a file.
    ///
    /// Errors: MPI_ERR_ARG; MPI_ERR_TYPE for a view without bytes.
    pub fn check(&self, skip: u64, length: u64) -> Result<()> {
        if length == 0 {
            return Ok(());
        }
        if self.layout.size == 0 {
            return fail!(
                Class::Type,
                "{length} bytes are to be moved, and the filetype of the view has none"
            );
        }
        let last = skip as i128 + length as i128 - 1;
        let tile = last / self.layout.size as i128;
        let end = self.layout.true_lb() as i128 + self.layout.true_extent() as i128;
        let end = self.displacement as i128 + tile * self.layout.extent() as i128 + end;
        if end > i64::MAX as i128 {
            return fail!(
                Class::Arg,
                "the access goes up to byte {end} of the file; the largest offset is 2^63 - 1"
            );
        }
        Ok(())
    }

    /// Where a byte of the view is in the file. After [`View::check`].
    pub fn place(&self, byte: u64) -> i64 {
        self.displacement + self.layout.place(byte)
    }

    /// Visits the runs of the file that `length` bytes of the view from `skip` on are: `visit(position, bytes)`, until it says false.
    /// After [`View::check`].
    pub fn runs(&self, skip: u64, length: u64, mut visit: impl FnMut(u64, usize) -> bool) {
        let mut pending: Option<(i64, u64)> = None;
        let mut goes_on = true;
        self.layout.runs(skip, length, |at, bytes| {
            let at = self.displacement + at;
            match &mut pending {
                Some((from, length)) if *from + *length as i64 == at => *length += bytes,
                Some((from, length)) => {
                    goes_on = visit(*from as u64, *length as usize);
                    pending = Some((at, bytes));
                }
                None => pending = Some((at, bytes)),
            }
            goes_on
        });
        if let (Some((from, length)), true) = (pending, goes_on) {
            visit(from as u64, length as usize);
        }
    }

    /// Whether its bytes lie in long runs, each of at least so many, and ascend.
    pub fn has_runs_of(&self, bytes: u64) -> bool {
        self.layout.shortest_run() >= bytes
    }

    /// Whether the file's bytes are the memory's, and ascend, each once, also from one filetype to the next.
    pub fn can_be_cut(&self) -> bool {
        let apart = |order: crate::datatype::Order| order.ascends && order.apart;
        *self.can_be_cut.get_or_init(|| {
            matches!(self.datarep.as_str(), "native" | "internal")
                && self.layout.order().is_none_or(apart)
                && self.layout.true_extent() <= self.layout.extent()
        })
    }

    /// Where the bytes in front of and behind `length` bytes from `skip` on are, at least one, of filetypes that also go on below the
    /// displacement. For a view that [can be cut](View::can_be_cut).
    pub fn around(&self, skip: u64, length: u64) -> (i64, i64) {
        let before = match skip {
            0 => self
                .place(self.layout.size - 1)
                .saturating_sub(self.layout.extent()),
            _ => self.place(skip - 1),
        };
        let next = skip + length;
        let behind = self.check(next, 1).map_or(i64::MAX, |()| self.place(next));
        (before, behind)
    }

    /// The extent of the filetype and its bytes.
    pub fn tile(&self) -> (u64, u64) {
        (self.layout.extent().max(0) as u64, self.layout.size)
    }

    /// The first of the view's bytes from `low` to `high` that lies at a position of the file or behind it; `high` if none does. For a view
    /// that [can be cut](View::can_be_cut).
    pub fn first_from(&self, position: u64, mut low: u64, mut high: u64) -> u64 {
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.place(middle) as u64) < position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Copies `length` bytes of the view from `skip` on, between packed memory and a part of the file in memory, where the position `start`
    /// of the file is at `memory`. In the direction of an access: writing is out of `packed`.
    ///
    /// # Safety
    /// The part has all these bytes, `packed` has `length`, and they do not overlap; `packed` is only read for writing.
    pub unsafe fn copy(
        &self,
        direction: Direction,
        memory: *mut u8,
        start: u64,
        skip: u64,
        packed: *mut u8,
        length: usize,
    ) {
        let memory = memory.wrapping_offset((self.displacement - start as i64) as isize);
        let length = length as u64;
        // SAFETY: by the caller.
        unsafe {
            match direction {
                Direction::Read => self.layout.copy::<true>(memory, packed, skip, length),
                Direction::Write => self.layout.copy::<false>(memory, packed, skip, length),
            }
        }
    }

    /// How many etypes of the view begin in front of a position of the file.
    pub fn etypes_below(&self, position: u64) -> i64 {
        let displacement = (position as i64).saturating_sub(self.displacement);
        let bytes = self.layout.bytes_below(displacement);
        bytes.div_ceil(self.unit.max(1)) as i64
    }
}

/// Whether a type can say what a view shows.
fn check(name: &str, datatype: &Datatype, writes: bool) -> Result<()> {
    let layout = datatype.layout();
    let Some(order) = layout.order() else {
        return Ok(());
    };
    if order.first < 0 || !order.ascends {
        return fail!(
            Class::Type,
            "{name} is {}, whose displacements are not all at least zero and ascending",
            datatype.title()
        );
    }
    if writes && !order.apart {
        return fail!(
            Class::Type,
            "{name} is {}, which names a byte twice, and the file can be written to",
            datatype.title()
        );
    }
    if datatype.extent <= 0 {
        return fail!(
            Class::Type,
            "{name} is {}, whose extent is {}",
            datatype.title(),
            datatype.extent
        );
    }
    Ok(())
}
