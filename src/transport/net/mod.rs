//! Messages between nodes: the engine's packets go as records over a port.
#![allow(unsafe_code)]

pub mod port;
