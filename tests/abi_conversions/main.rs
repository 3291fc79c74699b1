//! The conversions of the standard ABI, which stand beside their code (`capi/src/standard/`): the library itself has no test harness.
#![allow(dead_code, unused_imports)] // the tests look at a part

#[path = "../../capi/src/constants/mod.rs"]
mod constants;
mod standard;
#[path = "../../capi/src/types.rs"]
mod types;
