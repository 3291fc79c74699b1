//! Loops around a kernel: the places where its rows start.

/// A loop: count and stride in bytes.
pub type Level = (u64, i64);

/// Most loops around one kernel.
pub const DEPTH: usize = 6;

/// From this distance on the processor does not see by itself what comes next, so that far-away blocks are asked for ahead.
pub const FAR: u64 = 512;

/// How often the loops run altogether.
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
pub fn rows(outer: &[Level]) -> u64 {
    outer.iter().map(|level| level.0).product()
}

/// Visits the start of each row in order, the last loop being the innermost. No loop may be empty.
#[inline(always)]
pub fn each_row(outer: &[Level], user: *mut u8, mut visit: impl FnMut(*mut u8)) {
    let ((rows, step), outer) = match outer {
        [outer @ .., last] => (*last, outer),
        [] => ((1, 0), outer),
    };
    let mut index = [0; DEPTH];
    let mut user = user;
    'rows: loop {
        let mut row = user;
        for _ in 0..rows {
            visit(row);
            row = row.wrapping_offset(step as isize);
        }
        for level in (0..outer.len()).rev() {
            let (count, stride) = outer[level];
            index[level] += 1;
            user = user.wrapping_offset(stride as isize);
            if index[level] < count {
                continue 'rows;
            }
            index[level] = 0;
            user = user.wrapping_offset((count as isize * stride as isize).wrapping_neg());
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order() {
        let start = std::ptr::null_mut::<u8>().wrapping_add(1000);
        let mut offsets = Vec::new();
        let outer = [(2, 100), (1, 7), (3, -10)];
        each_row(&outer, start, |offset| offsets.push(offset as usize));
        assert_eq!(offsets, [1000, 990, 980, 1100, 1090, 1080]);
        assert_eq!(rows(&outer), 6);
        offsets.clear();
        each_row(&[], start, |offset| offsets.push(offset as usize));
        assert_eq!(offsets, [1000]);
    }
}
