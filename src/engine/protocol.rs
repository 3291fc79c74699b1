//! The protocols: how the data of a message travels, and how its receiver answers. Each is chosen once, by the tables here.
//!
//! A send chooses when its first packet leaves, and its request keeps the choice to the last byte. Only a receiver that cannot read
//! the sender's memory after all makes a request choose again, between those ways that are left.

use super::packets::{RTS_ADDRESS, STRAIGHT, SYNCHRONOUS};
use crate::transport::CELL_BYTES;

/// How the data of a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// In one packet, without an RTS; the transport says up to how many bytes.
    Whole,
    /// Announced, then in large packets.
    Bulk,
    /// Announced, then in copy buffers that packets name.
    Cells,
    /// As `Cells`, where the cores share a cache: in few pieces, which stay in it.
    HotCells,
    /// Announced with its address: the receiver reads the sender's memory.
    Read,
    /// Announced: the transport moves it from buffer to buffer, if the receiver's lies in one piece ([`super::straight`]).
    Straight,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// The transport can move this data from buffer to buffer.
    pub straight: bool,
    /// The receiver may read this data where it is.
    pub readable: bool,
    /// Copy buffers cost less than that.
    pub cells_are_better: bool,
    /// The receiver wants data to be held back.
    pub held: bool,
}

impl Protocol {
    /// The protocol of a message that does not go in one packet. `has_bulk` says whether there is a way for large packets; it may
    /// be made on that occasion.
    pub(super) fn choose(facts: Facts, has_bulk: impl FnOnce() -> bool) -> Protocol {
        match facts {
            Facts {
                readable: true,
                cells_are_better: true,
                held: false,
                ..
            } => Protocol::HotCells,
            Facts { readable: true, .. } => Protocol::Read,
            Facts { straight: true, .. } => Protocol::Straight,
            _ if has_bulk() => Protocol::Bulk,
            _ => Protocol::Cells,
        }
    }

    /// How many bytes of a message go into the next copy buffer: few, so that the receiver starts to copy early, but not so few
    /// that the packets cost more than the copies.
    #[inline]
    pub(super) fn cell_bytes(self, total: usize) -> usize {
        match total {
            _ if self == Protocol::HotCells => CELL_BYTES,
            0..=4096 => total,
            4097..=16_384 => 4096,
            16_385..=32_768 => 8192,
            32_769..=262_144 => 16_384,
            _ => CELL_BYTES,
        }
    }
}

/// How a receiver answers an RTS that it has matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Response {
    /// It reads the sender's memory, and says whether it could.
    Read,
    /// PLACE: it says where the data comes.
    Place,
    /// CTS: it asks for the rest.
    Cts,
    /// FIN: it has matched, and needs no more.
    Fin,
    /// None: all comes without.
    Nothing,
}

impl Response {
    /// `flags` are those of the RTS, `eager` is the size of the eager part, bytes. `has_place`: data can come straight into the receive's
    /// buffer.
    #[inline]
    pub(super) fn choose(flags: u8, total: usize, eager: usize, has_place: bool) -> Response {
        match (
            flags & RTS_ADDRESS != 0,
            total > eager,
            flags & SYNCHRONOUS != 0,
        ) {
            _ if flags & STRAIGHT != 0 && has_place => Response::Place,
            (true, ..) => Response::Read,
            (false, true, _) => Response::Cts,
            (false, false, true) => Response::Fin,
            (false, false, false) => Response::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_has_its_protocol() {
        let chosen = |readable, cells_are_better, held, bulk| {
            let facts = Facts {
                straight: false,
                readable,
                cells_are_better,
                held,
            };
            let mut asked = false;
            let protocol = Protocol::choose(facts, || {
                asked = true;
                bulk
            });
            // Asking for the bulk ring allocates it.
            assert_eq!(asked, !readable);
            protocol
        };
        for (better, held) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(chosen(false, better, held, true), Protocol::Bulk);
            assert_eq!(chosen(false, better, held, false), Protocol::Cells);
            let expected = match (better, held) {
                (true, false) => Protocol::HotCells,
                _ => Protocol::Read,
            };
            assert_eq!(chosen(true, better, held, true), expected);
        }
        for held in [false, true] {
            let facts = Facts {
                straight: true,
                held,
                ..Facts::default()
            };
            let chosen = Protocol::choose(facts, || unreachable!("no packets are needed"));
            assert_eq!(chosen, Protocol::Straight);
        }
    }

    #[test]
    fn pieces_fit_into_a_copy_buffer_and_end() {
        for total in [1, 4096, 4097, 20_000, 40_000, 300_000, 1 << 30] {
            let few = Protocol::Cells.cell_bytes(total);
            assert!((1..=CELL_BYTES).contains(&few) && few <= total);
            assert_eq!(Protocol::HotCells.cell_bytes(total), CELL_BYTES);
        }
    }

    #[test]
    fn a_receiver_answers_what_the_sender_waits_for() {
        for place in [false, true] {
            let choose = |flags, total, eager| Response::choose(flags, total, eager, place);
            assert_eq!(choose(RTS_ADDRESS | SYNCHRONOUS, 9, 0), Response::Read);
            assert_eq!(choose(SYNCHRONOUS, 9, 4), Response::Cts);
            assert_eq!(choose(0, 9, 4), Response::Cts);
            assert_eq!(choose(SYNCHRONOUS, 9, 9), Response::Fin);
            assert_eq!(choose(0, 9, 9), Response::Nothing);
            for flags in [STRAIGHT, STRAIGHT | SYNCHRONOUS] {
                let expected = match place {
                    true => Response::Place,
                    false => Response::Cts,
                };
                assert_eq!(choose(flags, 9, 0), expected);
            }
        }
    }
}
