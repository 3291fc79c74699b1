//! Ranks on several hosts: the tree of keepers, and what the supervisor does for ranks of other hosts. See docs/hosts.md.

pub mod below;
pub mod card;
pub mod ends;
pub mod frames;
pub mod gather;
pub mod handout;
pub mod keeper;
pub mod link;
pub mod root;
pub mod starters;
pub mod tree;
