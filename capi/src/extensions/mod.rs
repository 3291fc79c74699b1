//! MPIX_: extensions that programs built for MPICH may call.

mod agreement;
mod failure;
mod generalized;
mod other;
mod stream;
