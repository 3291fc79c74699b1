//! Views: from offsets of etypes to runs of the file's bytes.
//!
//! Invariant: the types of a view last as long as it does, so that the program may free them; nothing of a type is laid out as a list,
//! and what the checks have found about a type stays with it.

use super::conversion::Conversion;
use super::datarep::Datarep;
use super::direction::Direction;
use crate::datatype::{self, Buffer, Datatype, Layout};
use crate::error::{Class, Result, fail};
use crate::lifetime::datatypes;
use crate::os::file::File as Descriptor;
use crate::pt2pt::signatures;
use std::sync::OnceLock;

/// A type that lasts as long as this, whether the program frees it or not.
struct Kept(&'static Datatype);

impl Kept {
    fn of(datatype: &'static Datatype) -> Kept {
        datatype::keep(datatype);
        Kept(datatype)
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
        datatypes::let_go(self.0);
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
    /// The filetype's, in the file.
    layout: Layout,
    /// Bytes of an etype in the file.
    pub unit: u64,
    /// The extent of an etype in the file, bytes.
    pub etype_extent: i64,
    /// `None`: the file has the bytes of memory.
    pub(super) conversion: Option<Conversion>,
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

/// A file from a byte of a view of it on.
#[derive(Clone, Copy)]
pub struct ViewAt<'a> {
    pub file: &'a Descriptor,
    pub view: &'a View,
    pub skip: u64,
}

impl ViewAt<'_> {
    /// The place that lies this number of the view's bytes behind this one.
    pub fn after(self, bytes: u64) -> Self {
        Self {
            skip: self.skip + bytes,
            ..self
        }
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
    /// Errors: MPI_ERR_ARG, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_CONVERSION.
    pub fn new(displacement: i64, types: Types, name: &str, writes: bool) -> Result<View> {
        if displacement < 0 {
            return fail!(
                Class::Arg,
                "disp is {displacement}; it must not be negative"
            );
        }
        let datarep = Datarep::of(name)?;
        let etype = Shown::new("etype", types.etype, datarep)?;
        let filetype = Shown::new("filetype", types.filetype, datarep)?;
        etype.check(writes)?;
        filetype.check(writes)?;
        filetype.check_made_of(&etype)?;
        datarep.begin();
        Ok(View {
            displacement,
            layout: filetype.layout,
            etype: Kept::of(types.etype),
            filetype: Kept::of(types.filetype),
            datarep: name.to_owned(),
            unit: etype.layout.size,
            etype_extent: etype.layout.extent(),
            conversion: (!datarep.is_native()).then(|| Conversion::new(datarep)),
            can_be_cut: OnceLock::new(),
        })
    }

    /// Bytes of the file that a buffer takes.
    ///
    /// Errors: MPI_ERR_CONVERSION, MPI_ERR_ARG.
    #[inline]
    pub fn length(&self, buffer: &Buffer) -> Result<u64> {
        match &self.conversion {
            None => Ok(buffer.len() as u64),
            Some(conversion) => conversion.length(buffer),
        }
    }

    /// Whether an access calls functions of the program's, which run in the call that begins it.
    pub fn calls_program(&self) -> bool {
        let by = self.conversion.as_ref().map(Conversion::by);
        matches!(by, Some(Datarep::Registered(_)))
    }

    /// The extent of a type in the file, bytes.
    ///
    /// Errors: MPI_ERR_CONVERSION.
    pub fn extent(&self, datatype: &'static Datatype) -> Result<i64> {
        match &self.conversion {
            None => Ok(datatype.extent),
            Some(conversion) => Ok(conversion.by().layout(datatype)?.extent()),
        }
    }

    /// Handles of etype and filetype for the program.
    pub fn give(&self) -> Result<(i32, i32)> {
        Ok((self.etype.give()?, self.filetype.give()?))
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

/// A type of a view as the file has it.
struct Shown {
    name: &'static str,
    datatype: &'static Datatype,
    layout: Layout,
}

impl Shown {
    fn new(name: &'static str, datatype: &'static Datatype, datarep: Datarep) -> Result<Shown> {
        if datarep.is_native() {
            // The layout caches its order, which the copy below takes along.
            datatype.layout().order();
        }
        Ok(Shown {
            name,
            datatype,
            layout: datarep.layout(datatype)?,
        })
    }

    /// Fails for a type that cannot say what a view shows.
    fn check(&self, writes: bool) -> Result<()> {
        let Some(order) = self.layout.order() else {
            return Ok(());
        };
        let (name, extent) = (self.name, self.layout.extent());
        if order.first < 0 || !order.ascends {
            return fail!(
                Class::Arg,
                "{name} is {}, whose displacements are not all at least zero and ascending",
                self.datatype.title()
            );
        }
        if writes && !order.apart {
            return fail!(
                Class::Arg,
                "{name} is {}, which names a byte twice, and the file can be written to",
                self.datatype.title()
            );
        }
        if extent <= 0 {
            return fail!(
                Class::Arg,
                "{name} is {}, whose extent is {extent}",
                self.datatype.title()
            );
        }
        Ok(())
    }

    /// Fails for a filetype that is not made of whole etypes. Holes that are no multiples of the etype's extent are refused only where
    /// programs are looked at for mistakes: other libraries take them.
    fn check_made_of(&self, etype: &Shown) -> Result<()> {
        let (unit, size) = (etype.layout.size, self.layout.size);
        let is_whole = match unit {
            0 => size == 0,
            _ => size.is_multiple_of(unit),
        };
        if !is_whole {
            return fail!(
                Class::Arg,
                "filetype is {}, whose {size} bytes are no multiple of the {unit} of etype, {}",
                self.datatype.title(),
                etype.datatype.title()
            );
        }
        if !signatures::on() || !etype.layout.is_contiguous() {
            return Ok(());
        }
        match self.layout.order() {
            Some(order) if order.apart && !order.holes.is_multiple_of(unit) => fail!(
                Class::Arg,
                "filetype is {}, whose holes are no multiples of the {unit} bytes of etype, {}",
                self.datatype.title(),
                etype.datatype.title()
            ),
            _ => Ok(()),
        }
    }
}
