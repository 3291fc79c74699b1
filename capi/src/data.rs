//! Data that programs, and the Fortran libraries of a distribution, refer to by name.
//!
//! Invariant: sizes are those of MPICH's, because programs that are not position-independent copy
//! these objects into themselves; and everything here is reached through its exported name, because
//! then the copy is the one that counts.

use crate::types::MPI_Status;
use oxmpi::sync::{AtomicI32, AtomicPtr};
use std::ffi::c_int;

/// Memory that is only there to have an address. Never read or written.
#[repr(transparent)]
pub struct Storage<T>(#[allow(dead_code)] T);

// SAFETY: nobody reads or writes it, only its address is used.
unsafe impl<T> Sync for Storage<T> {}

/// A pointer that is set once, here.
#[repr(transparent)]
pub struct Constant<T>(pub *const T);

// SAFETY: it is never changed, and what it points to is only compared by address.
unsafe impl<T> Sync for Constant<T> {}

#[unsafe(export_name = "MPIR_C_MPI_UNWEIGHTED")]
static UNWEIGHTED_STORAGE: Storage<u64> = Storage(0);
#[unsafe(export_name = "MPIR_C_MPI_WEIGHTS_EMPTY")]
static WEIGHTS_EMPTY_STORAGE: Storage<u64> = Storage(0);
static ALL_HANDLES_STORAGE: Storage<u64> = Storage(0);

/// Given instead of an array of weights.
#[unsafe(export_name = "MPI_UNWEIGHTED")]
pub static UNWEIGHTED: Constant<Storage<u64>> = Constant(&raw const UNWEIGHTED_STORAGE);
#[unsafe(export_name = "MPI_WEIGHTS_EMPTY")]
pub static WEIGHTS_EMPTY: Constant<Storage<u64>> = Constant(&raw const WEIGHTS_EMPTY_STORAGE);
#[unsafe(export_name = "MPI_T_PVAR_ALL_HANDLES")]
pub static PVAR_ALL_HANDLES: Constant<Storage<u64>> = Constant(&raw const ALL_HANDLES_STORAGE);

/// Set by the Fortran library to the addresses that stand for MPI_STATUS_IGNORE there.
#[unsafe(export_name = "MPI_F_STATUS_IGNORE")]
pub static F_STATUS_IGNORE: AtomicPtr<c_int> = AtomicPtr::new(std::ptr::null_mut());
#[unsafe(export_name = "MPI_F_STATUSES_IGNORE")]
pub static F_STATUSES_IGNORE: AtomicPtr<c_int> = AtomicPtr::new(std::ptr::null_mut());

#[unsafe(export_name = "MPIR_F08_MPI_STATUS_IGNORE_OBJ")]
static F08_STATUS_IGNORE_STORAGE: Storage<MPI_Status> = Storage(MPI_Status::new(0, 0, 0));
#[unsafe(export_name = "MPIR_F08_MPI_STATUSES_IGNORE_OBJ")]
static F08_STATUSES_IGNORE_STORAGE: Storage<MPI_Status> = Storage(MPI_Status::new(0, 0, 0));

#[unsafe(export_name = "MPI_F08_STATUS_IGNORE")]
pub static F08_STATUS_IGNORE: Constant<Storage<MPI_Status>> =
    Constant(&raw const F08_STATUS_IGNORE_STORAGE);
#[unsafe(export_name = "MPI_F08_STATUSES_IGNORE")]
pub static F08_STATUSES_IGNORE: Constant<Storage<MPI_Status>> =
    Constant(&raw const F08_STATUSES_IGNORE_STORAGE);

#[unsafe(export_name = "MPIR_F08_MPI_BOTTOM")]
static F08_BOTTOM: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "MPIR_F08_MPI_IN_PLACE")]
static F08_IN_PLACE: AtomicI32 = AtomicI32::new(0);

const _: () = assert!(size_of::<Constant<u8>>() == 8 && size_of::<Storage<MPI_Status>>() == 20);

/// The bytes of a text, zero-terminated, as C's `const char name[]` has them.
const fn bytes<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < text.len() {
        bytes[at] = text.as_bytes()[at];
        at += 1;
    }
    bytes
}

// What MPICH's program `mpichversion` prints.

#[unsafe(export_name = "MPII_Version_string")]
static VERSION: [u8; 32] = bytes(concat!("oxmpi ", env!("CARGO_PKG_VERSION")));
#[unsafe(export_name = "MPII_Version_date")]
static DATE: [u8; 29] = bytes("of the day it was built");
#[unsafe(export_name = "MPII_Version_ABI")]
static ABI: [u8; 7] = bytes("14:2:2");
#[unsafe(export_name = "MPII_Version_device")]
static DEVICE: [u8; 8] = bytes("oxmpi");
#[unsafe(export_name = "MPII_Version_configure")]
static CONFIGURE: [u8; 8] = bytes("none");
#[unsafe(export_name = "MPII_Version_CC")]
static CC: [u8; 8] = bytes("rustc");
#[unsafe(export_name = "MPII_Version_CXX")]
static CXX: [u8; 8] = bytes("none");
#[unsafe(export_name = "MPII_Version_F77")]
static F77: [u8; 8] = bytes("none");
#[unsafe(export_name = "MPII_Version_FC")]
static FC: [u8; 8] = bytes("none");
#[unsafe(export_name = "MPII_Version_custom")]
static CUSTOM: [u8; 1] = bytes("");
