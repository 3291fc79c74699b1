//! What the arguments of a call say to a check, by their types.

use super::{Check, Given, Role};
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Result;
use std::ffi::c_void;

/// An argument.
pub struct Seen<T>(pub T);

/// Of any type: nothing is seen.
pub trait SeenAnyhow {
    #[inline(always)]
    fn before(&self, _name: &'static str, _check: &mut Check) {}
    #[inline(always)]
    fn after(&self, _check: &mut Check) {}
}

impl<T> SeenAnyhow for &Seen<T> {}

/// Of a type that says something.
pub trait SeenWell {
    fn before(&self, _name: &'static str, _check: &mut Check) {}
    fn after(&self, _check: &mut Check) {}
}

impl Check {
    fn add(&mut self, address: *mut c_void, writes: bool) {
        self.buffers.push(Given {
            writes,
            address,
            count: None,
            kind: None,
        });
    }

    fn count(&mut self, count: i64) {
        if let Some(last) = self.buffers.last_mut() {
            last.count.get_or_insert(count);
        }
    }
}

impl SeenWell for Seen<SendBuffer> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.add(self.0.0.cast_mut(), false);
    }
}

impl SeenWell for Seen<RecvBuffer> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.add(self.0.0, true);
    }
}

impl SeenWell for Seen<Memory> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.add(self.0.0, true);
    }
}

impl SeenWell for Seen<Count> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.count(self.0.0);
    }
}

impl SeenWell for Seen<LargeCount> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.count(self.0.0);
    }
}

impl SeenWell for Seen<Datatype> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        if let Some(last) = check.buffers.last_mut() {
            last.kind.get_or_insert(self.0);
        }
    }
}

impl SeenWell for Seen<Rank> {
    fn before(&self, name: &'static str, check: &mut Check) {
        // The sender of a partitioned receive is called `dest`, too.
        let receives = check.buffers.iter().all(|buffer| buffer.writes);
        match name {
            "dest" if check.role == Role::KeepPartitioned && receives => {
                check.source = Some(self.0)
            }
            "dest" => check.dest = Some(self.0),
            _ => check.source = Some(self.0),
        }
    }
}

impl SeenWell for Seen<Tag> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.tags.push(self.0);
    }
}

impl SeenWell for Seen<Comm> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.comm = Some(self.0);
    }
}

impl SeenWell for Seen<Int> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.numbers.push(self.0.0);
    }
}

impl SeenWell for Seen<Array<Int>> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        let length = check.length();
        if let Ok(numbers) = self.0.elements(length) {
            check.partitions = numbers.iter().map(|it| it.0).collect();
        }
    }
}

impl Check {
    fn length(&self) -> usize {
        let length = self.numbers.first().copied().unwrap_or(0);
        usize::try_from(length).unwrap_or(0)
    }
}

fn handles(requests: Result<Vec<Request>>) -> Vec<i32> {
    let requests = requests.unwrap_or_default();
    requests.iter().map(|request| request.0).collect()
}

impl SeenWell for Seen<Request> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.requests.push(self.0.0);
    }
}

impl SeenWell for Seen<InOut<Request>> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.requests = handles(self.0.read().map(|it| vec![it]));
    }
    fn after(&self, check: &mut Check) {
        check.after = handles(self.0.read().map(|it| vec![it]));
    }
}

impl SeenWell for Seen<InOutArray<Request>> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.requests = handles(self.0.elements(check.length()));
    }
    fn after(&self, check: &mut Check) {
        check.after = handles(self.0.elements(check.length()));
    }
}

impl SeenWell for Seen<Array<Request>> {
    fn before(&self, _name: &'static str, check: &mut Check) {
        check.requests = handles(self.0.elements(check.length()));
    }
}

impl SeenWell for Seen<Out<Request>> {
    fn after(&self, check: &mut Check) {
        if !check.good {
            return;
        }
        let given = check.request.take();
        let begun = given.or_else(|| self.0.written().map(|it| it.0));
        let Some(begun) = begun else {
            return;
        };
        if let Some(request) = check.begun(begun).or(given) {
            // The call has looked at the address.
            let _ = self.0.set(Request(request));
        }
    }
}

impl SeenWell for Seen<Out<Logical>> {
    fn after(&self, check: &mut Check) {
        check.flag = self.0.written().is_some_and(|flag| flag.0 != 0);
    }
}

impl SeenWell for Seen<Out<Status>> {
    fn after(&self, check: &mut Check) {
        if let Some(done) = check.done.take() {
            let status = done.status;
            if let Err(error) = done.into_result() {
                check.failed = Some(error);
            }
            let _ = self.0.give(status);
        }
    }
}
