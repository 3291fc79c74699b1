//! Constructors of communicators, by the function of the standard (`docs/communicators.md`).
//!
//! Invariant: what can go wrong on one rank is agreed on before anything is made, so that a constructor fails on all of
//! its ranks or on none, and no rank waits for one that has left with an error.

mod both_groups;
pub mod create;
pub mod dup;
mod exchange;
pub mod hints;
pub mod inter;
pub mod shrink;
pub mod split;
pub mod split_type;
mod unmet;
pub mod with_topology;

pub use both_groups::{BothGroups, InterContext};
pub use create::{create, create_from_group, create_group};
pub use dup::{dup, idup};
pub use exchange::{everywhere, share};
pub use inter::{
    Peer, intercomm_create, intercomm_create_from_groups, intercomm_merge, one_leader,
};
pub use split::split;
pub use split_type::split_type;
pub use unmet::{introduce_by, is_met};
