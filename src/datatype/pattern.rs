//! A small body as a permutation of bytes: which byte of a window over the user's memory is which packed byte.
//!
//! A window and its packed bytes fit in a register of 64 bytes, so that one permutation moves as many bodies as it has room for.
//! Invariant: `holds` has a bit for each byte of the window that is data, and for no other.

use super::form::{Form, Repeat};
use super::pack::Shuffles;

/// Bytes of the largest registers.
const WIDTH: usize = 64;

#[derive(Debug)]
pub(super) struct Pattern {
    /// Displacement of the window from where the first body counts.
    #[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
    pub low: i64,
    /// Bodies in a window.
    pub bodies: u64,
    /// Packed bytes of a window.
    pub size: usize,
    /// Packed byte -> byte of the window.
    pub gather: [u8; WIDTH],
    /// Byte of the window -> packed byte; 0xff where there is no data.
    pub scatter: [u8; WIDTH],
    pub holds: u64,
    /// The first byte of the window that is data.
    pub first: u32,
    /// How to pack it in pieces of 16 bytes, from `first` on, where that costs less than the moves.
    pub pack: Option<Shuffles>,
    /// One body as moves of 1, 2, 4, 8, 16 or 32 bytes, for processors that permute no bytes.
    pub moves: Vec<Move>,
    /// Whether the bodies are nothing but equal blocks in loops.
    pub nest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// From where the body counts.
    pub at: i32,
    pub packed: u8,
    pub bytes: u8,
}

impl Pattern {
    /// `None` if a body is too large, or is moved as quickly as it is.
    pub fn of(body: &Repeat) -> Option<Pattern> {
        let size = body.size as usize;
        if size > WIDTH {
            return None;
        }
        let mut blocks = Vec::new();
        if !collect(&body.body, 0, &mut blocks) {
            return None;
        }
        let low = |stride: i64, last: i64| stride.saturating_mul(last).min(0);
        let from = blocks.iter().map(|block| block.0).min()?;
        let to = blocks.iter().map(|block| block.0 + block.1 as i64).max()?;
        let fits = |bodies: usize| {
            let shift = body
                .stride
                .saturating_mul(bodies as i64 - 1)
                .saturating_abs();
            bodies * size <= WIDTH && shift.saturating_add(to - from) <= WIDTH as i64
        };
        let bodies = (1..=WIDTH).take_while(|bodies| fits(*bodies)).last()?;
        if bodies * blocks.len() < 2 {
            return None;
        }
        let low = from + low(body.stride, bodies as i64 - 1);
        let mut pattern = Pattern {
            low,
            bodies: bodies as u64,
            size: bodies * size,
            gather: [0; WIDTH],
            scatter: [0xff; WIDTH],
            holds: 0,
            first: 0,
            pack: None,
            moves: moves(&blocks),
            nest: is_nest(&body.body),
        };
        let mut packed = 0;
        for index in 0..bodies as i64 {
            for (at, bytes) in &blocks {
                for byte in 0..*bytes as i64 {
                    let offset = (at + byte + index * body.stride - low) as usize;
                    if pattern.scatter[offset] != 0xff {
                        return None; // named twice: which byte stays there would depend on the window
                    }
                    pattern.gather[packed] = offset as u8;
                    pattern.scatter[offset] = packed as u8;
                    pattern.holds |= 1 << offset;
                    packed += 1;
                }
            }
        }
        pattern.first = pattern.holds.trailing_zeros();
        pattern.pack = pattern.shuffles();
        Some(pattern)
    }

    fn shuffles(&self) -> Option<Shuffles> {
        let length = WIDTH - (self.holds.leading_zeros() + self.first) as usize;
        let moves = self.moves.len() * self.bodies as usize;
        Shuffles::of(self.size, length, moves, |byte| {
            self.gather[byte] as usize - self.first as usize
        })
    }
}

fn is_nest(form: &Form) -> bool {
    match form {
        Form::Block(_) => true,
        Form::Loop(form) => is_nest(&form.body.body),
        Form::Indexed(_) | Form::Sequence(_) => false,
    }
}

/// The blocks of a form in order: (displacement, bytes). False if they are not near enough to each other.
fn collect(form: &Form, at: i64, blocks: &mut Vec<(i64, usize)>) -> bool {
    if !(-(WIDTH as i64)..=WIDTH as i64).contains(&at) {
        return false;
    }
    let repeat = |body: &Repeat, count: u64, at: i64, blocks: &mut Vec<_>| {
        (0..count as i64).all(|index| {
            collect(
                &body.body,
                at.saturating_add(body.stride.saturating_mul(index)),
                blocks,
            )
        })
    };
    match form {
        Form::Block(bytes) => {
            blocks.push((at, *bytes as usize));
            true
        }
        Form::Loop(form) => repeat(&form.body, form.count, at, blocks),
        Form::Indexed(form) => (0..form.list.len()).all(|index| {
            let bytes = form.list.start(index + 1) - form.list.start(index);
            let at = at.saturating_add(form.list.at(index));
            if form.body.is_block() && (-(WIDTH as i64)..=WIDTH as i64).contains(&at) {
                blocks.push((at, bytes as usize));
                return true;
            }
            repeat(&form.body, bytes / form.body.size, at, blocks)
        }),
        Form::Sequence(form) => (form.members.iter())
            .all(|member| collect(&member.form, at.saturating_add(member.at), blocks)),
    }
}

/// A block is moves of one width, of which the last two may overlap.
fn moves(blocks: &[(i64, usize)]) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut packed = 0;
    for (at, bytes) in blocks {
        let width = 1 << (*bytes).min(32).ilog2();
        for piece in 0..bytes.div_ceil(width) {
            let from = (piece * width).min(bytes - width);
            moves.push(Move {
                at: (at + from as i64) as i32,
                packed: (packed + from) as u8,
                bytes: width as u8,
            });
        }
        packed += bytes;
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Layout, Member};
    use super::super::{form, get};
    use super::*;

    #[test]
    fn a_struct_of_forty_bytes() {
        let of = |handle: u32| get(handle as i32).unwrap().layout();
        let member = |displacement, blocklength, layout| Member {
            displacement,
            blocklength,
            layout,
        };
        let layout = Layout::structure(&[
            member(0, 1, of(0x4c00_0405)),
            member(8, 3, of(0x4c00_080b)),
            member(32, 1, of(0x4c00_0101)),
        ]);
        let layout = layout.unwrap();
        let pattern = Pattern::of(&form::endless(layout.form.clone().unwrap(), 40)).unwrap();
        assert_eq!((pattern.low, pattern.bodies, pattern.size), (0, 1, 29));
        assert_eq!(pattern.holds, 0x1_ffff_ff0f);
        assert_eq!(pattern.gather[..6], [0, 1, 2, 3, 8, 9]);
        assert_eq!(pattern.scatter[32], 28);
        let widths: Vec<u8> = pattern.moves.iter().map(|step| step.bytes).collect();
        assert_eq!(widths, [4, 16, 16]);
    }

    #[test]
    fn several_bodies_in_a_window_also_backwards() {
        let pattern = Pattern::of(&Repeat::new(Form::Block(4), -8)).unwrap();
        assert_eq!((pattern.low, pattern.bodies, pattern.size), (-56, 8, 32));
        assert_eq!(pattern.gather[..8], [56, 57, 58, 59, 48, 49, 50, 51]);
        assert!(Pattern::of(&Repeat::new(Form::Block(64), 80)).is_none());
        assert!(Pattern::of(&Repeat::new(Form::Block(65), 1)).is_none());
    }
}
