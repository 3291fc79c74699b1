//! Where the bytes of elements that follow each other without end lie: a file's view.
//!
//! Invariant: packed bytes are found by division and binary search; nothing is laid out as a list.

use super::Layout;
use super::form::Form;
use super::pack::repeat_runs;

/// Members of a sequence that are looked at.
const MEMBERS: usize = 64;

fn shortest(form: &Form) -> u64 {
    match form {
        Form::Block(bytes) => *bytes,
        Form::Loop(form) => shortest(&form.body.body),
        Form::Indexed(form) => shortest(&form.body.body),
        Form::Sequence(form) if form.members.len() > MEMBERS => 0,
        Form::Sequence(form) => {
            let members = form.members.iter();
            members
                .map(|member| shortest(&member.form))
                .min()
                .unwrap_or(0)
        }
    }
}

impl Layout {
    /// Visits the runs that make up `length` packed bytes from `skip` on of elements without end: `visit(displacement, bytes)` until it
    /// says false.
    #[inline]
    pub fn runs(&self, skip: u64, length: u64, mut visit: impl FnMut(i64, u64) -> bool) {
        if let (Some(body), true) = (self.endless(), length > 0) {
            repeat_runs(body, self.at, skip, length, &mut visit);
        }
    }

    /// No run of bytes inside of it is shorter than this, bytes; zero where that takes long to find out.
    pub fn shortest_run(&self) -> u64 {
        match &self.form {
            _ if self.is_contiguous() => u64::MAX,
            Some(form) => shortest(form),
            None => u64::MAX,
        }
    }

    /// The displacement of a packed byte of elements without end; zero if they have none.
    pub fn place(&self, byte: u64) -> i64 {
        let mut found = 0;
        self.runs(byte, 1, |at, _| {
            found = at;
            false
        });
        found
    }

    /// How many packed bytes of elements without end lie below a displacement, where they ascend.
    pub fn bytes_below(&self, displacement: i64) -> u64 {
        if self.size == 0 || self.extent() <= 0 || displacement <= 0 {
            return 0;
        }
        let tiles = (displacement / self.extent()) as u64 + 1;
        let (mut low, mut high) = (0, tiles.saturating_mul(self.size));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.place(middle) < displacement {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::of;
    use super::super::{INT, get};
    use super::*;

    #[test]
    fn orders() {
        let int = get(INT).unwrap().layout();
        let vector = |count, length, stride| Layout::strided(count, length, stride, int).unwrap();
        let (yes, no) = (true, false);
        for (layout, first, ascends, apart) in [
            (vector(3, 1, 8), 0, yes, yes),
            (vector(3, 2, 6), 0, yes, no),
            (vector(3, 1, -8), 0, no, no),
            (of(&[(4, 1), (12, 2), (40, 1)], int).unwrap(), 4, yes, yes),
            (of(&[(4, 1), (4, 1)], int).unwrap(), 4, yes, no),
            (of(&[(40, 1), (4, 1)], int).unwrap(), 40, no, no),
            (of(&[(-4, 1), (4, 1)], int).unwrap(), -4, yes, yes),
            (
                Layout::strided(2, 1, 4, &vector(2, 1, 100)).unwrap(),
                0,
                no,
                no,
            ),
        ] {
            let order = layout.order().unwrap();
            assert_eq!((order.first, order.ascends), (first, ascends), "{layout:?}");
            assert!(!ascends || order.apart == apart, "{layout:?}");
        }
        assert_eq!(Layout::empty().order(), None);
    }

    #[test]
    fn holes() {
        let int = get(INT).unwrap().layout();
        let resized = |extent, layout: &Layout| Layout::resized(0, extent, layout).unwrap();
        for (layout, holes) in [
            (int.clone(), 0),
            (Layout::strided(3, 1, 4, int).unwrap(), 0),
            (Layout::strided(3, 1, 7, int).unwrap(), 3),
            (Layout::strided(3, 1, 12, int).unwrap(), 8),
            (resized(10, int), 6),
            (resized(60, &Layout::strided(3, 1, 12, int).unwrap()), 8),
            (of(&[(6, 1), (20, 1)], int).unwrap(), 2),
            (resized(44, &of(&[(8, 1), (24, 2)], int).unwrap()), 4),
            (
                Layout::strided(5, 1, 50, &Layout::strided(2, 1, 12, int).unwrap()).unwrap(),
                2,
            ),
        ] {
            assert_eq!(layout.order().unwrap().holes, holes, "{layout:?}");
        }
    }

    #[test]
    fn places_and_back() {
        let int = get(INT).unwrap().layout();
        // Eight of twelve bytes, then a hole to 40.
        let layout = Layout::resized(0, 40, &of(&[(4, 1), (12, 1)], int).unwrap()).unwrap();
        assert_eq!(layout.place(0), 4);
        assert_eq!(layout.place(7), 15);
        assert_eq!(layout.place(8), 44);
        assert_eq!(layout.place(8 * (1 << 40)), 4 + 40 * (1 << 40));
        for (displacement, bytes) in [(0, 0), (5, 1), (8, 4), (12, 4), (14, 6), (40, 8), (45, 9)] {
            assert_eq!(layout.bytes_below(displacement), bytes, "{displacement}");
        }
        assert_eq!(int.bytes_below(1 << 40), 1 << 40);
        assert_eq!(Layout::empty().bytes_below(9), 0);
    }
}
