//! The numbers that the info key `soft` allows.

/// The largest number of a set that is not above `most`, if there is one from 1 on. Sets look like `2:8:2,16`.
///
/// Errors: it is no set; the text says so.
pub fn largest_of(set: &str, most: u32) -> Result<Option<u32>, String> {
    let wrong = || format!("the value of soft is \"{set}\", which is no set of numbers");
    let mut largest = None;
    for part in set.split(',') {
        let numbers: Result<Vec<i64>, _> = part
            .split(':')
            .map(|it| it.trim().parse::<i32>().map(i64::from))
            .collect();
        let (first, last, step) = match numbers.map_err(|_| wrong())?[..] {
            [one] => (one, one, 1),
            [first, last] => (first, last, 1),
            [first, last, step] if step != 0 => (first, last, step),
            _ => return Err(wrong()),
        };
        // From the largest member down.
        let count = (last - first).checked_div(step).unwrap_or(-1);
        let ends = [first, first + count.max(0) * step];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        if (last - first) * step < 0 || low > i64::from(most) {
            continue;
        }
        let above = (high - i64::from(most)).max(0);
        let fits = high - (above + step.abs() - 1) / step.abs() * step.abs();
        if fits >= low && fits > 0 {
            largest = largest.max(Some(fits as u32));
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_sets_allow_the_largest_that_fits() {
        for (set, most, largest) in [
            ("3", 4, Some(3)),
            ("5", 4, None),
            ("1:8", 4, Some(4)),
            ("2:8:4", 7, Some(6)),
            ("8:2:-3", 7, Some(5)),
            ("1,2:9:7", 9, Some(9)),
            ("0:0", 3, None),
            ("8:2", 9, None),
            ("2:1:5", 9, None),
        ] {
            assert_eq!(largest_of(set, most), Ok(largest), "{set} up to {most}");
        }
        for set in ["a", "", "1:2:0", "1,", "1:2:3:4", "99999999999"] {
            assert!(largest_of(set, 3).is_err(), "{set}");
        }
    }
}
