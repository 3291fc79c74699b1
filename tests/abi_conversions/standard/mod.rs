//! The parts of `capi/src/standard` that know nothing of how the library is compiled.

#[path = "../../../capi/src/standard/errors.rs"]
pub mod errors;
#[path = "../../../capi/src/standard/handles.rs"]
pub mod handles;
#[path = "../../../capi/src/standard/numbers.rs"]
pub mod numbers;
