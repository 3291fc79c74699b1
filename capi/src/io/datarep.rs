//! Data representations that programs register.

use super::file::representation;
use crate::param::*;
use crate::types::{
    MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c, MPI_Datarep_extent_function,
};
use oxmpi::engine::epochs::InCallback;
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::io::Direction;
use oxmpi::io::datarep::{self, Functions, Items};
use std::ffi::c_void;

/// A conversion function, absent if the file has the bytes of memory.
#[derive(Clone, Copy)]
enum Converter {
    Small(MPI_Datarep_conversion_function),
    Large(MPI_Datarep_conversion_function_c),
}

impl Converter {
    fn of(function: DatarepConversionFunction) -> Option<Converter> {
        match function {
            DatarepConversionFunction::Small(function) => function.map(Converter::Small),
            DatarepConversionFunction::Large(function) => function.map(Converter::Large),
        }
    }
}

/// The program's functions; those of Fortran are behind proxies of the wrapper library.
struct Representation {
    read: Option<Converter>,
    write: Option<Converter>,
    extent: MPI_Datarep_extent_function,
    state: usize,
}

impl Representation {
    fn converter(&self, direction: Direction) -> Option<Converter> {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
        }
    }

    fn state(&self) -> *mut c_void {
        self.state as *mut c_void
    }
}

fn success(code: i32) -> std::result::Result<(), i32> {
    match ErrorCode::of_c(code).0 {
        0 => Ok(()),
        code => Err(code),
    }
}

impl Functions for Representation {
    fn extent(&self, datatype: i32) -> std::result::Result<i64, i32> {
        let _running = InCallback::begin();
        let mut bytes = 0;
        // SAFETY: the program passed the function for this state, and keeps both; `bytes` is ours.
        success(unsafe { (self.extent)(Datatype(datatype).to_c(), &mut bytes, self.state()) })?;
        Ok(bytes)
    }

    fn converts(&self, direction: Direction) -> bool {
        self.converter(direction).is_some()
    }

    unsafe fn convert(&self, direction: Direction, items: Items) -> std::result::Result<(), i32> {
        let _running = InCallback::begin();
        let (user, file) = (items.user.cast(), items.file.cast());
        let (datatype, position) = (Datatype(items.datatype).to_c(), items.position);
        let state = self.state();
        success(match self.converter(direction) {
            None => 0,
            // SAFETY: as in `extent`; the items are there by the caller.
            Some(Converter::Small(convert)) => unsafe {
                convert(user, datatype, items.count as i32, file, position, state)
            },
            // SAFETY: as above.
            Some(Converter::Large(convert)) => unsafe {
                convert(user, datatype, items.count as i64, file, position, state)
            },
        })
    }
}

fn representation_of(
    read: DatarepConversionFunction,
    write: DatarepConversionFunction,
    extent: DatarepExtentFunction,
    state: ExtraState,
) -> Result<Box<dyn Functions>> {
    let Some(extent) = extent.0 else {
        return fail!(
            Class::Arg,
            "dtype_file_extent_fn is NULL; a function is needed"
        );
    };
    Ok(Box::new(Representation {
        read: Converter::of(read),
        write: Converter::of(write),
        extent,
        state: state.0 as usize,
    }))
}

entry! {
    Own fn MPI_Register_datarep[_c](
        datarep: Text, read_conversion_fn: DatarepConversionFunction,
        write_conversion_fn: DatarepConversionFunction, dtype_file_extent_fn: DatarepExtentFunction,
        extra_state: ExtraState,
    ) on MPI_FILE_NULL {
        let name = representation(datarep)?;
        let functions =
            representation_of(read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state)?;
        datarep::register(&name, functions)
    }
}
