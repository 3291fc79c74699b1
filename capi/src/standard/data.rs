//! Addresses that stand for themselves; in the standard ABI they are constants, and no symbol is exported.

use super::standard::handles::pvar;

/// Never read or written.
pub struct Storage<T>(#[allow(dead_code)] T);

/// A pointer that is only compared.
pub struct Constant<T>(pub *const T);

// SAFETY: it is never changed, and only compared by address.
unsafe impl<T> Sync for Constant<T> {}

/// Given instead of an array of weights.
pub static UNWEIGHTED: Constant<Storage<u64>> = Constant(10 as *const _);
pub static WEIGHTS_EMPTY: Constant<Storage<u64>> = Constant(11 as *const _);
/// As the core sees it.
pub static PVAR_ALL_HANDLES: Constant<Storage<u64>> = Constant(pvar::ALL_INSIDE as *const _);
