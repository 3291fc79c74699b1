//! A handle: a performance variable as one session sees it, counters since their start and watermarks with their mark.
//!
//! Invariant: while a handle is stopped, what is counted does not change what it shows.

use super::variable::{Shows, Variable};
use crate::error::{Class, Result, fail};

/// A variable as one session sees it.
pub struct Handle {
    variable: Variable,
    running: bool,
    /// Counted until the last stop; the mark of a watermark.
    sum: u64,
    /// What was counted at the last start.
    base: u64,
}

/// What a change does to a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Start,
    Stop,
    Write(u64),
    Reset,
}

impl Handle {
    /// A stopped one, if the variable can be stopped.
    pub fn new(variable: Variable) -> Handle {
        let mut handle = Handle {
            variable,
            running: false,
            sum: 0,
            base: 0,
        };
        handle.reset();
        handle
    }

    pub fn variable(&self) -> Variable {
        self.variable
    }

    fn is_watermark(&self) -> bool {
        self.variable.shows() == Shows::HighWatermark
    }

    /// What it shows.
    pub fn value(&self) -> u64 {
        if self.is_watermark() {
            return self.sum;
        }
        if self.variable.is_continuous() {
            return self.variable.now();
        }
        let since = if self.running {
            self.variable.now().wrapping_sub(self.base)
        } else {
            0
        };
        self.sum.wrapping_add(since)
    }

    /// Raises a started watermark to what was reached.
    pub fn raise_mark(&mut self, most: u64) {
        if self.running && self.is_watermark() {
            self.sum = self.sum.max(most);
        }
    }

    /// Errors: MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_ERR_PVAR_NO_WRITE of one that cannot be changed so.
    pub fn check(&self, change: Change) -> Result<()> {
        if !self.variable.is_continuous() {
            return Ok(());
        }
        let name = self.variable.name();
        match change {
            Change::Write(_) | Change::Reset => {
                fail!(Class::TPvarNoWrite, "{name} can only be read")
            }
            Change::Start | Change::Stop => fail!(Class::TPvarNoStartstop, "{name} is always on"),
        }
    }

    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Start => self.run(true),
            Change::Stop => self.run(false),
            Change::Write(value) => self.write(value),
            Change::Reset => self.reset(),
        }
    }

    fn run(&mut self, running: bool) {
        if !self.is_watermark() {
            self.write(self.value());
        } else if running && !self.running {
            self.reset();
        }
        self.running = running;
    }

    fn reset(&mut self) {
        let start = match self.is_watermark() {
            true => self.variable.now(),
            false => 0,
        };
        self.write(start);
    }

    fn write(&mut self, value: u64) {
        self.sum = value;
        self.base = self.variable.now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_while_they_run() {
        let mut handle = Handle::new(Variable::CommunicatorsMade);
        assert_eq!(handle.value(), 0);
        handle.run(true);
        handle.write(40);
        handle.base = handle.base.wrapping_sub(2); // as if two were made
        assert!(handle.value() >= 42);
        handle.run(false);
        let stopped = handle.value();
        handle.base = handle.base.wrapping_sub(5);
        assert_eq!(handle.value(), stopped);
    }

    #[test]
    fn watermarks_keep_their_mark_and_are_raised_only_while_they_run() {
        let mut handle = Handle::new(Variable::CommunicatorsMost);
        let most = handle.value() + 1000;
        handle.raise_mark(most);
        assert!(handle.value() < most);
        handle.run(true);
        handle.raise_mark(most);
        handle.raise_mark(most - 1);
        assert_eq!(handle.value(), most);
        handle.run(true); // runs already
        assert_eq!(handle.value(), most);
        handle.run(false);
        handle.raise_mark(most + 1);
        assert_eq!(handle.value(), most);
        handle.run(true);
        assert!(handle.value() < most);
    }
}
