//! Constructors of communicators (being written).
