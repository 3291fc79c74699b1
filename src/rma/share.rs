//! What users say about sharing private memory of windows in place ([`super::in_place`]).

use crate::variables::{Listed, Value, Variable};

crate::choice! {
    /// When private memory of windows is shared in place, and which pages of it.
    pub enum Share {
        Auto = "auto",
        Now = "now",
        Edges = "edges",
        EdgesNow = "edges-now",
        No = "no" | "false" | "off" | "0",
    }
}

static SHARE_WINDOWS: Variable<Share> = Variable::new(
    "SHARE_WINDOWS",
    Share::Auto,
    "Whether memory that a program gives to MPI_Win_create or MPI_Win_attach is shared with the other ranks of the node. \"auto\": its whole \
     pages, when accesses by the kernel have cost as much as the copy that this takes; \"now\": those at once; \"edges\", \"edges-now\": \
     likewise, with the pages that have other variables of the process, too, which is for programs that make no child by _Fork or clone; \
     \"no\": never. The info key oxmpi_share says it for one window.",
);
/// What users can set about windows.
pub static VARIABLES: &[&dyn Listed] = &[&SHARE_WINDOWS];

/// The info key.
pub const HINT: &str = "oxmpi_share";

impl Share {
    /// What a hint says; the setting if it says nothing.
    pub fn of(hint: Option<&str>) -> Share {
        let said = hint.and_then(Share::parse);
        said.unwrap_or_else(|| SHARE_WINDOWS.get())
    }

    /// Whether pages that have other variables, too, are shared with the rest.
    pub fn has_edges(self) -> bool {
        matches!(self, Share::Edges | Share::EdgesNow)
    }
}
