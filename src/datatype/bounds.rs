//! Lower and upper bounds of a datatype, as the standard computes them, MPI_LB and MPI_UB of old programs included.
//!
//! Invariant: all offsets fit in 63 bits; what would not is `None`, and the constructor refuses it.

/// Bounds of a type map; all are displacements in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    pub lower: Bound,
    pub upper: Bound,
    /// Where the data itself starts and ends; both 0 without data.
    pub from: i64,
    pub to: i64,
    /// Whether there is data.
    pub data: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    pub at: i64,
    pub origin: Origin,
}

/// What a bound comes from. The later ones win. A whole word: padding would be copied in pieces, for which the processor waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u64)]
pub(super) enum Origin {
    /// There is none: an empty type, or one with only the other bound. `at` is 0.
    Nothing,
    Data,
    /// The program (MPI_Type_create_resized, MPI_LB, MPI_UB).
    Set,
}

impl Bound {
    pub const NONE: Bound = Bound {
        at: 0,
        origin: Origin::Nothing,
    };

    pub const fn set(at: i64) -> Bound {
        let origin = Origin::Set;
        Bound { at, origin }
    }

    const fn of_data(at: i64) -> Bound {
        let origin = Origin::Data;
        Bound { at, origin }
    }

    fn is_there(self) -> bool {
        self.origin != Origin::Nothing
    }

    #[inline(always)]
    fn shifted(self, by: i64) -> Option<Bound> {
        match self.is_there() {
            true => Some(Bound {
                at: self.at.checked_add(by)?,
                ..self
            }),
            false => Some(self),
        }
    }

    /// Both say something; the outer one of equal rank counts.
    #[inline(always)]
    fn and(self, other: Bound, outer: impl FnOnce(i64, i64) -> i64) -> Bound {
        if self.origin == other.origin {
            let at = outer(self.at, other.at);
            return Bound { at, ..self };
        }
        if self.origin > other.origin {
            self
        } else {
            other
        }
    }
}

impl Bounds {
    pub const EMPTY: Bounds = Bounds {
        lower: Bound::NONE,
        upper: Bound::NONE,
        from: 0,
        to: 0,
        data: Origin::Nothing,
    };

    /// Of data in `0 .. to` of an extent.
    pub const fn of_data(to: i64, extent: i64) -> Bounds {
        Bounds {
            lower: Bound::of_data(0),
            upper: Bound::of_data(extent),
            from: 0,
            to,
            data: Origin::Data,
        }
    }

    pub fn lb(&self) -> i64 {
        match self.lower.is_there() {
            true => self.lower.at,
            false => self.upper.at,
        }
    }

    pub fn ub(&self) -> i64 {
        match self.upper.is_there() {
            true => self.upper.at,
            false => self.lower.at,
        }
    }

    pub fn extent(&self) -> i64 {
        self.ub().wrapping_sub(self.lb())
    }

    pub fn true_extent(&self) -> i64 {
        self.to.wrapping_sub(self.from)
    }

    /// Itself, if also the distances fit.
    #[inline(always)]
    pub fn checked(self) -> Option<Bounds> {
        self.ub().checked_sub(self.lb())?;
        self.to.checked_sub(self.from)?;
        Some(self)
    }

    pub fn with_set(&self, lb: i64, extent: i64) -> Option<Bounds> {
        Some(Bounds {
            lower: Bound::set(lb),
            upper: Bound::set(lb.checked_add(extent)?),
            ..*self
        })
    }

    #[inline(always)]
    pub fn shifted(&self, by: i64) -> Option<Bounds> {
        let data = |at: i64| match self.data {
            Origin::Nothing => Some(0),
            _ => at.checked_add(by),
        };
        Some(Bounds {
            lower: self.lower.shifted(by)?,
            upper: self.upper.shifted(by)?,
            from: data(self.from)?,
            to: data(self.to)?,
            data: self.data,
        })
    }

    /// Of `count` copies, each `stride` after the one before.
    #[inline(always)]
    pub fn repeated(&self, count: u64, stride: i128) -> Option<Bounds> {
        match count {
            0 => Some(Bounds::EMPTY),
            1 => Some(*self),
            _ if *self == Bounds::EMPTY => Some(Bounds::EMPTY),
            _ => {
                // Less than 2^127: neither factor has more than 64 bits.
                let last = i64::try_from(stride).ok()? as i128 * (count - 1) as i128;
                Some(self.and(&self.shifted(i64::try_from(last).ok()?)?))
            }
        }
    }

    /// Of both together.
    #[inline(always)]
    pub fn and(&self, other: &Bounds) -> Bounds {
        let (from, to) = match (self.data, other.data) {
            (_, Origin::Nothing) => (self.from, self.to),
            (Origin::Nothing, _) => (other.from, other.to),
            _ => (self.from.min(other.from), self.to.max(other.to)),
        };
        Bounds {
            lower: self.lower.and(other.lower, i64::min),
            upper: self.upper.and(other.upper, i64::max),
            from,
            to,
            data: self.data.max(other.data),
        }
    }

    /// As a C compiler pads the end of a struct, if the program did not set it.
    pub fn padded(&self, alignment: u64) -> Option<Bounds> {
        if self.upper.origin != Origin::Data {
            return Some(*self);
        }
        // Alignments are powers of two, so that the extent may wrap here.
        let padding = self.extent().wrapping_neg() & (alignment as i64 - 1);
        let at = self.upper.at.checked_add(padding)?;
        let upper = Bound { at, ..self.upper };
        Some(Bounds { upper, ..*self })
    }
}
