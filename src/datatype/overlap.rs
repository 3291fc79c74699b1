//! Whether a type names a byte of memory more than once: such types may be sent, but nothing may be received into them.
//!
//! For checks that are switched on to find mistakes. Invariant: what is found overlaps; what has more runs of bytes than
//! [`MOST`] is not looked at.

use super::Layout;
use super::form::{Form, Repeat};
use super::pack::repeat_runs;

const MOST: usize = 1 << 22;

impl Layout {
    /// The displacement of a byte that `count` elements name more than once.
    pub fn overlap(&self, count: u64) -> Option<i64> {
        let form = self.form.clone().filter(|_| count > 0)?;
        let (low, high) = span(&form, self.at);
        let apart = count == 1 || self.extent().unsigned_abs() >= high.abs_diff(low);
        if apart && is_apart(&form) {
            return None;
        }
        let count = if apart { 1 } else { count };
        let body = Repeat::new(form, self.extent());
        let mut runs = Vec::new();
        let all = repeat_runs(&body, self.at, 0, count * body.size, &mut |at, bytes| {
            runs.push((at, at + bytes as i64));
            runs.len() < MOST
        });
        if !all {
            return None;
        }
        runs.sort_unstable();
        let twice = runs.windows(2).find(|pair| pair[1].0 < pair[0].1)?;
        Some(twice[1].0)
    }
}

/// The offsets between which all bytes of a form at `at` lie.
fn span(form: &Form, at: i64) -> (i64, i64) {
    let repeated = |body: &Repeat, count: u64, at: i64| {
        let (low, high) = span(&body.body, at);
        let shift = body.stride.saturating_mul(count as i64 - 1);
        let (back, forth) = (shift.min(0), shift.max(0));
        (low.saturating_add(back), high.saturating_add(forth))
    };
    let outer = |one: (i64, i64), two: (i64, i64)| (one.0.min(two.0), one.1.max(two.1));
    match form {
        Form::Block(bytes) => (at, at + *bytes as i64),
        Form::Loop(form) => repeated(&form.body, form.count, at),
        Form::Indexed(form) => {
            let blocks = (0..form.list.len()).map(|block| {
                let bytes = form.list.start(block + 1) - form.list.start(block);
                repeated(&form.body, bytes / form.body.size, at + form.list.at(block))
            });
            blocks.reduce(outer).unwrap_or((at, at))
        }
        Form::Sequence(form) => {
            let members = form.members.iter();
            let spans = members.map(|member| span(&member.form, at + member.at));
            spans.reduce(outer).unwrap_or((at, at))
        }
    }
}

/// Whether the loops alone say that nothing is named twice.
fn is_apart(form: &Form) -> bool {
    match form {
        Form::Block(_) => true,
        Form::Loop(form) => {
            let (low, high) = span(&form.body.body, 0);
            form.body.stride.unsigned_abs() >= high.abs_diff(low) && is_apart(&form.body.body)
        }
        Form::Indexed(_) | Form::Sequence(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::of;
    use super::super::{INT, get};
    use super::*;

    #[test]
    fn bytes_that_are_named_twice() {
        let int = get(INT).unwrap().layout();
        let vector = |count, length, stride| Layout::strided(count, length, stride, int).unwrap();
        for (layout, count, twice) in [
            (vector(3, 1, 8), 5, None),
            (vector(1 << 40, 1, 8), 1 << 10, None),
            (vector(3, 2, 6), 1, Some(6)),
            (vector(3, 1, 0), 1, Some(0)),
            (vector(3, 1, -8), 1, None),
            (of(&[(0, 2), (8, 1), (-4, 1)], int).unwrap(), 1, None),
            (of(&[(0, 2), (40, 1), (4, 1)], int).unwrap(), 1, Some(4)),
            (of(&[(0, 2), (40, 1)], int).unwrap(), 7, None),
            // Elements that lie in each other, without and with bytes in common.
            (Layout::resized(0, 4, &vector(3, 1, 12)).unwrap(), 3, None),
            (
                Layout::resized(0, 4, &vector(3, 1, 12)).unwrap(),
                4,
                Some(12),
            ),
            (Layout::resized(0, 0, int).unwrap(), 2, Some(0)),
            (Layout::resized(0, 0, int).unwrap(), 1, None),
            (Layout::empty(), 9, None),
        ] {
            assert_eq!(layout.overlap(count), twice, "{layout:?}");
        }
    }
}
