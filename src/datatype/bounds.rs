//! Lower and upper bounds of a datatype, as the standard computes them, MPI_LB and MPI_UB of old programs included.
//!
//! Invariant: calculated in 128 bits, so nothing wraps; whoever keeps the result checks that it fits (`Layout`).

/// Bounds of a type map; all are displacements in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// `None`: nothing in the type says where it starts (an empty type, or one with an MPI_UB only).
    pub lower: Option<Bound>,
    pub upper: Option<Bound>,
    /// Where the data itself starts and ends.
    pub data: Option<(i128, i128)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    pub at: i128,
    /// Set by the program (MPI_Type_create_resized, MPI_LB, MPI_UB): it wins against those that come from data.
    pub set: bool,
}

impl Bounds {
    pub const EMPTY: Bounds = Bounds {
        lower: None,
        upper: None,
        data: None,
    };

    /// Of data in `from .. to`.
    pub const fn of_data(from: i128, to: i128, extent: i128) -> Bounds {
        Bounds {
            lower: Some(Bound { at: 0, set: false }),
            upper: Some(Bound {
                at: extent,
                set: false,
            }),
            data: Some((from, to)),
        }
    }

    pub fn lb(&self) -> i128 {
        self.lower.or(self.upper).map_or(0, |bound| bound.at)
    }

    pub fn ub(&self) -> i128 {
        self.upper.or(self.lower).map_or(0, |bound| bound.at)
    }

    pub fn extent(&self) -> i128 {
        self.ub() - self.lb()
    }

    pub fn with_set(&self, lb: i128, extent: i128) -> Bounds {
        let set = |at| Some(Bound { at, set: true });
        Bounds {
            lower: set(lb),
            upper: set(lb.saturating_add(extent)),
            ..*self
        }
    }

    pub fn shifted(&self, by: i128) -> Bounds {
        let shift = |bound: Option<Bound>| {
            bound.map(|bound| Bound {
                at: bound.at.saturating_add(by),
                ..bound
            })
        };
        Bounds {
            lower: shift(self.lower),
            upper: shift(self.upper),
            data: (self.data).map(|(from, to)| (from.saturating_add(by), to.saturating_add(by))),
        }
    }

    /// Of `count` copies, each `stride` after the one before.
    pub fn repeated(&self, count: u64, stride: i128) -> Bounds {
        match count {
            0 => Bounds::EMPTY,
            1 => *self,
            _ => self.and(&self.shifted(stride.saturating_mul(count as i128 - 1))),
        }
    }

    /// Of both together.
    pub fn and(&self, other: &Bounds) -> Bounds {
        Bounds {
            lower: closer(self.lower, other.lower, i128::min),
            upper: closer(self.upper, other.upper, i128::max),
            data: match (self.data, other.data) {
                (Some(one), Some(two)) => Some((one.0.min(two.0), one.1.max(two.1))),
                (one, two) => one.or(two),
            },
        }
    }

    /// As a C compiler pads the end of a struct, if the program did not set it.
    pub fn padded(&self, alignment: i128) -> Bounds {
        match self.upper {
            Some(Bound { at, set: false }) => {
                let padding = (-self.extent()).rem_euclid(alignment);
                Bounds {
                    upper: Some(Bound {
                        at: at.saturating_add(padding),
                        set: false,
                    }),
                    ..*self
                }
            }
            _ => *self,
        }
    }
}

fn closer(one: Option<Bound>, two: Option<Bound>, choose: fn(i128, i128) -> i128) -> Option<Bound> {
    match (one, two) {
        (Some(one), Some(two)) if one.set == two.set => Some(Bound {
            at: choose(one.at, two.at),
            set: one.set,
        }),
        (Some(one), Some(two)) => Some(if one.set { one } else { two }),
        (one, two) => one.or(two),
    }
}
