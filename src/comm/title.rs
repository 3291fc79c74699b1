//! The title of a communicator in texts: its name, or its handle and how it was made.

use super::{Comm, NULL, SELF, WALKS, WORLD, find};
use std::fmt::Write;

/// The function that made a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Maker {
    /// MPI_COMM_WORLD and MPI_COMM_SELF.
    Start,
    Accept,
    CartCreate,
    CartSub,
    Connect,
    Create,
    CreateFromGroup,
    CreateGroup,
    DistGraphCreate,
    DistGraphCreateAdjacent,
    Dup,
    DupWithInfo,
    /// The communicator of a file's own; that of a window's is by WinCreate.
    FileOpen,
    GraphCreate,
    Idup,
    IdupWithInfo,
    IntercommCreate,
    IntercommCreateFromGroups,
    IntercommMerge,
    Join,
    Shrink,
    Spawn,
    Split,
    SplitType,
    WinCreate,
}

impl Maker {
    fn function(self) -> &'static str {
        match self {
            Maker::Start => "MPI_Init",
            Maker::Accept => "MPI_Comm_accept",
            Maker::Connect => "MPI_Comm_connect",
            Maker::Join => "MPI_Comm_join",
            Maker::Shrink => "MPIX_Comm_shrink",
            Maker::Spawn => "MPI_Comm_spawn",
            Maker::CartCreate => "MPI_Cart_create",
            Maker::CartSub => "MPI_Cart_sub",
            Maker::Create => "MPI_Comm_create",
            Maker::CreateFromGroup => "MPI_Comm_create_from_group",
            Maker::CreateGroup => "MPI_Comm_create_group",
            Maker::DistGraphCreate => "MPI_Dist_graph_create",
            Maker::DistGraphCreateAdjacent => "MPI_Dist_graph_create_adjacent",
            Maker::Dup => "MPI_Comm_dup",
            Maker::DupWithInfo => "MPI_Comm_dup_with_info",
            Maker::FileOpen => "MPI_File_open",
            Maker::GraphCreate => "MPI_Graph_create",
            Maker::Idup => "MPI_Comm_idup",
            Maker::IdupWithInfo => "MPI_Comm_idup_with_info",
            Maker::IntercommCreate => "MPI_Intercomm_create",
            Maker::IntercommCreateFromGroups => "MPI_Intercomm_create_from_groups",
            Maker::IntercommMerge => "MPI_Intercomm_merge",
            Maker::Split => "MPI_Comm_split",
            Maker::SplitType => "MPI_Comm_split_type",
            Maker::WinCreate => "MPI_Win_create",
        }
    }
}

/// How a communicator was made.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub by: Maker,
    /// The handle of the communicator that it was made of, which may have been freed since.
    pub of: i32,
}

impl Made {
    pub fn of(by: Maker, parent: &Comm) -> Made {
        Made {
            by,
            of: parent.handle,
        }
    }

    /// By a function that is given no communicator.
    pub fn without_parent(by: Maker) -> Made {
        Made { by, of: NULL }
    }
}

impl Comm {
    /// The name, or what there is instead, for texts: `communicator 0x84000003 (made by MPI_Comm_dup of MPI_COMM_WORLD)`.
    pub fn title(&self) -> String {
        let name = self.name();
        match name.is_empty() {
            true => format!("communicator {}", self.unnamed()),
            false => name,
        }
    }

    /// The title without the word "communicator".
    pub fn title_of_argument(&self) -> String {
        let name = self.name();
        match name.is_empty() {
            true => self.unnamed(),
            false => name,
        }
    }

    /// The title in at most `bytes` bytes, unless the name alone is longer.
    pub fn short_title(&self, bytes: usize) -> String {
        let name = self.name();
        if !name.is_empty() {
            return name;
        }
        let short = format!("{:#010x} by {}", self.handle, self.made.by.function());
        let long = self.parent().map(|parent| format!("{short} of {parent}"));
        long.filter(|long| long.len() <= bytes).unwrap_or(short)
    }

    fn unnamed(&self) -> String {
        let mut text = format!("{:#010x}", self.handle);
        // Writing into a String cannot fail.
        let _ = match (self.made.by, self.handle) {
            (Maker::Start, WORLD) => write!(text, " (MPI_COMM_WORLD)"),
            (Maker::Start, SELF) => write!(text, " (MPI_COMM_SELF)"),
            (by, _) => write!(text, " (made by {}", by.function())
                .and_then(|()| match self.parent() {
                    Some(parent) => write!(text, " of {parent}"),
                    None => Ok(()),
                })
                .and_then(|()| text.write_char(')')),
        };
        text
    }

    /// What the communicator is called that this one was made of, if it was made of one.
    fn parent(&self) -> Option<String> {
        let handle = self.made.of;
        if handle == NULL {
            return None;
        }
        // Recursive, because texts are also made during a walk.
        let _none_goes = WALKS.read_recursive();
        // One that was made later has the handle of a parent that is gone.
        let parent = find(handle).filter(|parent| parent.born <= self.born);
        Some(match parent.map(Comm::name) {
            Some(name) if !name.is_empty() => name,
            Some(_) => format!("{handle:#010x}"),
            None => format!("{handle:#010x}, since freed"),
        })
    }
}
