//! Memory that only its own process can address: the kernel copies it, or a helper thread of that process ([`super::helper`]).
//!
//! Neither needs a call of the target's. Invariant: the target's elements are addresses of another process here, which nothing
//! dereferences; [`Buffer::runs`] only computes with them.

use super::access::{Pieces, Spot};
use super::window::{Way, Window};
use super::{helper, ways};
use crate::datatype::Buffer;
use crate::error::{Result, memory};
use crate::os::peer_memory::{self, PIECES, Piece};
use smallvec::SmallVec;

/// What a helper gets at once.
const CHUNK: usize = 64 << 10;
/// A piece costs the kernel about 320 ns, in which it copies so many bytes: a smaller gap between two pieces is read along.
const GAP: usize = 2048;
/// Longer pieces are not worth a second copy.
const LONGEST: usize = 4096;

/// The memory of one target.
#[derive(Clone, Copy)]
pub struct Far<'a> {
    window: &'a Window,
    rank: usize,
    way: Way,
}

/// Appends the runs of a buffer's packed bytes from `at` on, at most [`PIECES`] and `length` bytes. Returns their bytes.
pub fn runs(buffer: &Buffer, at: usize, length: usize, pieces: &mut Pieces) -> usize {
    let mut found = 0;
    buffer.runs(at, length, |address, bytes| {
        let address = address as usize;
        let full = pieces.len() == PIECES;
        match pieces.last_mut() {
            Some(last) if last.address.wrapping_add(last.bytes) == address => last.bytes += bytes,
            _ if full => return false,
            _ => pieces.push(Piece { address, bytes }),
        }
        found += bytes;
        true
    });
    found
}

/// Leaves the first `bytes` of the pieces.
pub fn truncate(pieces: &mut Pieces, bytes: usize) {
    let mut rest = bytes;
    for index in 0..pieces.len() {
        if pieces[index].bytes >= rest {
            pieces[index].bytes = rest;
            pieces.truncate(if rest == 0 { index } else { index + 1 });
            return;
        }
        rest -= pieces[index].bytes;
    }
}

/// Drops the first `bytes` of the pieces.
fn advance(pieces: &mut Pieces, mut bytes: usize) {
    let mut whole = 0;
    for piece in pieces.iter_mut() {
        if piece.bytes > bytes {
            piece.address += bytes;
            piece.bytes -= bytes;
            break;
        }
        bytes -= piece.bytes;
        whole += 1;
    }
    pieces.drain(..whole);
}

fn one(address: usize, bytes: usize) -> Pieces {
    SmallVec::from_slice(&[Piece { address, bytes }])
}

impl<'a> Far<'a> {
    pub fn of(window: &'a Window, spot: &Spot) -> Far<'a> {
        Far {
            window,
            rank: spot.rank,
            way: spot.way,
        }
    }

    fn pid(&self) -> i32 {
        ways::pid_of(self.window.targets[self.rank].process)
    }

    /// Copies the origin's elements to the target's, which have as many bytes.
    ///
    /// Errors: [`Window::unreachable`].
    #[inline(never)]
    pub fn put(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        if self.way != Way::Kernel {
            return self.put_chunks(origin, target);
        }
        let pid = self.pid();
        self.batches(origin, target, |mut local, mut remote, _| {
            // SAFETY: the origin's elements, which belong to the operation.
            self.transfer(&mut local, &mut remote, |local, remote| unsafe {
                peer_memory::write_pieces(pid, local, remote)
            })
        })
    }

    /// Copies the target's elements to the origin's.
    ///
    /// Errors: [`Window::unreachable`].
    #[inline(never)]
    pub fn get(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        if self.way != Way::Kernel {
            return self.get_chunks(origin, target);
        }
        let pid = self.pid();
        self.batches(origin, target, |mut local, mut remote, at| {
            if remote.len() > 1 && self.get_span(pid, &remote, origin, at) {
                return Ok(());
            }
            // SAFETY: the origin's elements, which belong to the operation.
            self.transfer(&mut local, &mut remote, |local, remote| unsafe {
                peer_memory::read_pieces(pid, local, remote)
            })
        })
    }

    /// Calls `each(local, remote, at)` for as many pieces at once as the kernel takes.
    fn batches(
        &self,
        origin: &Buffer,
        target: &Buffer,
        mut each: impl FnMut(Pieces, Pieces, usize) -> Result<()>,
    ) -> Result<()> {
        let mut at = 0;
        while at < origin.len() {
            let (mut local, mut remote) = (Pieces::new(), Pieces::new());
            let rest = origin.len() - at;
            let bytes = runs(target, at, rest, &mut remote);
            let bytes = runs(origin, at, bytes, &mut local);
            truncate(&mut remote, bytes);
            each(local, remote, at)?;
            at += bytes;
        }
        Ok(())
    }

    /// Repeats a call of the kernel's until all is copied. Both sides have the same bytes.
    fn transfer(
        &self,
        local: &mut Pieces,
        remote: &mut Pieces,
        copy: impl Fn(&[Piece], &[Piece]) -> std::io::Result<usize>,
    ) -> Result<()> {
        let mut rest: usize = remote.iter().map(|piece| piece.bytes).sum();
        while rest > 0 {
            let copied = match copy(local, remote) {
                Ok(copied) => copied,
                Err(why) => {
                    return Err(self.window.unreachable(self.rank, remote[0].address, &why));
                }
            };
            rest -= copied;
            if rest > 0 {
                advance(local, copied);
                advance(remote, copied);
            }
        }
        Ok(())
    }

    /// Reads small pieces that lie near each other together with what is between them. False: they do not, or that is not
    /// mapped.
    fn get_span(&self, pid: i32, remote: &[Piece], origin: &Buffer, at: usize) -> bool {
        let bytes: usize = remote.iter().map(|piece| piece.bytes).sum();
        let first = remote.iter().map(|piece| piece.address).min();
        let end = remote.iter().map(|piece| piece.address + piece.bytes).max();
        let (Some(first), Some(end)) = (first, end) else {
            return false;
        };
        let span = end - first;
        if bytes / remote.len() > LONGEST || span > bytes.saturating_add(remote.len() * GAP) {
            return false;
        }
        // Without memory for it, piece by piece.
        let Ok(mut all) = memory::filled(span, 0u8, "a span") else {
            return false;
        };
        if peer_memory::read(pid, first as u64, &mut all).is_err() {
            return false;
        }
        let mut at = at;
        for piece in remote {
            let from = piece.address - first;
            origin.write(at, &all[from..from + piece.bytes]);
            at += piece.bytes;
        }
        true
    }

    /// Copies packed bytes to the target's pieces, which have as many.
    pub fn write(&self, remote: &Pieces, data: &[u8]) -> Result<()> {
        match self.way {
            Way::Kernel => {
                let pid = self.pid();
                let mut local = one(data.as_ptr() as usize, data.len());
                // SAFETY: `data` is only read.
                self.transfer(&mut local, &mut remote.clone(), |local, remote| unsafe {
                    peer_memory::write_pieces(pid, local, remote)
                })
            }
            _ => helper::write(self.window, self.rank, remote, data),
        }
    }

    /// Copies the target's pieces to packed bytes.
    pub fn read(&self, remote: &Pieces, out: &mut [u8]) -> Result<()> {
        match self.way {
            Way::Kernel => {
                let pid = self.pid();
                let mut local = one(out.as_mut_ptr() as usize, out.len());
                // SAFETY: `out` is borrowed mutably.
                self.transfer(&mut local, &mut remote.clone(), |local, remote| unsafe {
                    peer_memory::read_pieces(pid, local, remote)
                })
            }
            _ => helper::read(self.window, self.rank, remote, out),
        }
    }

    fn put_chunks(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        let mut chunk = memory::filled(CHUNK.min(origin.len()), 0u8, "a piece")?;
        let mut at = 0;
        while at < origin.len() {
            let mut remote = Pieces::new();
            let bytes = runs(target, at, CHUNK.min(origin.len() - at), &mut remote);
            origin.read(at, &mut chunk[..bytes]);
            self.write(&remote, &chunk[..bytes])?;
            at += bytes;
        }
        Ok(())
    }

    fn get_chunks(&self, origin: &Buffer, target: &Buffer) -> Result<()> {
        let mut chunk = memory::filled(CHUNK.min(origin.len()), 0u8, "a piece")?;
        let mut at = 0;
        while at < origin.len() {
            let mut remote = Pieces::new();
            let bytes = runs(target, at, CHUNK.min(origin.len() - at), &mut remote);
            self.read(&remote, &mut chunk[..bytes])?;
            origin.write(at, &chunk[..bytes]);
            at += bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(list: &[(usize, usize)]) -> Pieces {
        let pieces = list.iter();
        pieces
            .map(|(address, bytes)| Piece {
                address: *address,
                bytes: *bytes,
            })
            .collect()
    }

    #[test]
    fn pieces_are_cut_at_either_end() {
        let all = pieces(&[(100, 8), (200, 4), (300, 16)]);
        for (bytes, first, rest) in [
            (0, pieces(&[]), all.clone()),
            (8, pieces(&[(100, 8)]), pieces(&[(200, 4), (300, 16)])),
            (
                9,
                pieces(&[(100, 8), (200, 1)]),
                pieces(&[(201, 3), (300, 16)]),
            ),
            (28, all.clone(), pieces(&[])),
        ] {
            let (mut cut, mut left) = (all.clone(), all.clone());
            truncate(&mut cut, bytes);
            advance(&mut left, bytes);
            assert_eq!((cut, left), (first, rest), "{bytes}");
        }
    }
}
