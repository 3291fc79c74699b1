//! In which order the bytes of a type lie, for the views of files.
//!
//! Invariant: found from the normal form, whose loops are not walked.

use super::form::{Form, Repeat};

/// In which order the bytes of a type lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The displacement of the first byte, if there is one.
    pub first: i64,
    /// Runs of bytes begin at displacements that never decrease.
    pub ascends: bool,
    /// No byte is named twice; said of types that ascend.
    pub apart: bool,
    /// What the lengths of all holes are multiples of, those in front of the data and from one element to the next included; zero: there
    /// is no hole. Said of types that ascend and are apart.
    pub holes: u64,
}

/// A part of a form, in the order of its runs.
#[derive(Clone, Copy)]
struct Reach {
    first: i128,
    /// Where the last run begins.
    last: i128,
    end: i128,
    ascends: bool,
    apart: bool,
    holes: u64,
}

/// The greatest common divisor.
fn common(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

impl Reach {
    fn moved(self, by: i128) -> Reach {
        Reach {
            first: self.first + by,
            last: self.last + by,
            end: self.end + by,
            ..self
        }
    }

    fn then(self, next: Reach) -> Reach {
        Reach {
            first: self.first,
            last: next.last,
            end: next.end.max(self.end),
            ascends: self.ascends && next.ascends && next.first >= self.last,
            apart: self.apart && next.apart && next.first >= self.end,
            holes: self.hole(next.first - self.end, next.holes),
        }
    }

    /// With one more hole, and others.
    fn hole(&self, bytes: i128, others: u64) -> u64 {
        let bytes = u64::try_from(bytes).unwrap_or(0);
        match self.holes {
            // Smaller it does not get; and that is the usual case of many blocks.
            1 => 1,
            holes if holes == bytes => common(holes, others),
            holes => common(bytes, common(holes, others)),
        }
    }
}

fn of_repeat(body: &Repeat, count: u64) -> Reach {
    if body.is_block() {
        return Reach {
            end: i128::from(body.size) * i128::from(count),
            ..NOTHING
        };
    }
    let one = of_form(&body.body);
    match count {
        0 | 1 => one,
        _ => {
            let stride = body.stride as i128;
            let pair = one.then(one.moved(stride));
            Reach {
                ascends: pair.ascends,
                apart: pair.apart,
                holes: pair.holes,
                ..one.then(one.moved(stride * (count as i128 - 1)))
            }
        }
    }
}

const NOTHING: Reach = Reach {
    first: 0,
    last: 0,
    end: 0,
    ascends: true,
    apart: true,
    holes: 0,
};

fn of_form(form: &Form) -> Reach {
    match form {
        Form::Block(bytes) => Reach {
            end: *bytes as i128,
            ..NOTHING
        },
        Form::Loop(form) => of_repeat(&form.body, form.count),
        Form::Indexed(form) => {
            let (list, body) = (&form.list, &form.body);
            let blocks = (0..list.len()).map(|block| {
                let bytes = list.start(block + 1) - list.start(block);
                of_repeat(body, bytes / body.size).moved(list.at(block).into())
            });
            blocks.reduce(Reach::then).unwrap_or(NOTHING)
        }
        Form::Sequence(form) => {
            let members = form.members.iter();
            let parts = members.map(|member| of_form(&member.form).moved(member.at.into()));
            parts.reduce(Reach::then).unwrap_or(NOTHING)
        }
    }
}

/// The order of the bytes of a form that begins at a displacement, in elements of an extent.
pub(super) fn of(form: &Form, at: i64, extent: i64) -> Order {
    let reach = of_form(form).moved(at.into());
    let next = reach.first + i128::from(extent);
    Order {
        first: reach.first as i64,
        ascends: reach.ascends,
        apart: reach.apart,
        holes: common(reach.hole(reach.first, 0), reach.hole(next - reach.end, 0)),
    }
}
