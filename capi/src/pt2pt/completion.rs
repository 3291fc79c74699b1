//! Completion of requests: wait, test, free, cancel.

#![allow(clippy::needless_borrow)] // arrays of requests are slices in one ABI only

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::comm;
use oxmpi::error::{Class, Error, Result};
use oxmpi::pt2pt::REQUEST_NULL;
use oxmpi::pt2pt::complete::{self, Completion, UNDEFINED};
use oxmpi::pt2pt::get_status;
use oxmpi::pt2pt::several::{self, Any};

/// The operations of one call that failed.
#[derive(Default)]
struct Failures {
    /// Position among the statuses, and code.
    codes: Vec<(usize, i32)>,
    /// Whose error handler is called: the owner of the failed request that was looked at last.
    owner: i32,
    /// The first one in words, for handlers that end the job: nobody looks at the statuses then.
    first: Option<String>,
}

impl Failures {
    /// Writes the status of one completion, or remembers its error. `status` is its place among
    /// the statuses.
    fn take(&mut self, at: usize, status: usize, done: Completion, statuses: &OutArray<Status>) {
        statuses.give(status, done.status);
        if let Some(error) = done.error {
            self.first
                .get_or_insert_with(|| format!("request {at} failed with {error:?}"));
            self.owner = error.owner();
            self.codes.push((status, error.code()));
        }
    }

    /// MPI_ERR_IN_STATUS if anything failed; only then are the MPI_ERROR of the `length` statuses
    /// written.
    fn finish(self, length: usize, statuses: &OutArray<Status>) -> Result<()> {
        if self.codes.is_empty() {
            return Ok(());
        }
        for at in 0..length {
            statuses.give_error(at, 0);
        }
        for (at, code) in self.codes {
            statuses.give_error(at, code);
        }
        let owner = match self.owner {
            0 => comm::SELF,
            owner => owner,
        };
        let text = self.first.unwrap_or_default();
        Err(Error::new(Class::InStatus, text).without_code().on(owner))
    }
}

/// MPI_Waitsome and MPI_Testsome.
fn some(
    requests: &mut [i32],
    outcount: Out<Int>,
    indices: OutArray<Index>,
    statuses: OutArray<Status>,
    wait: bool,
) -> Result<()> {
    statuses.check(requests.len())?;
    if !requests.is_empty() {
        indices.not_null()?;
    }
    let mut failures = Failures::default();
    let mut found = Vec::new();
    let report = |at: usize, done: Completion| {
        failures.take(at, found.len(), done, &statuses);
        found.push(at);
    };
    let count = if wait {
        several::wait_some(requests, report)?
    } else {
        several::test_some(requests, report)?
    };
    put_indices(count, &found, outcount, indices)?;
    failures.finish(found.len(), &statuses)
}

/// `None`: no request was active.
fn put_indices(
    count: Option<usize>,
    found: &[usize],
    outcount: Out<Int>,
    indices: OutArray<Index>,
) -> Result<()> {
    for (position, at) in found.iter().enumerate() {
        indices.put(position, Index(*at as i32))?;
    }
    outcount.set(Int(count.map_or(UNDEFINED, |count| count as i32)))
}

/// Writes which request is complete, and the empty status if none is active. Gives back what there is to say of the one.
fn put_any<T>(
    found: Any<T>,
    index: Out<Index>,
    flag: Out<Logical>,
    status: &Out<Status>,
) -> Result<Option<T>> {
    let (at, complete, done) = match found {
        Any::NoneActive => {
            status.give_empty()?;
            (UNDEFINED, true, None)
        }
        Any::NoneComplete => (UNDEFINED, false, None),
        Any::Complete(at, done) => (at as i32, true, Some(done)),
    };
    index.set(Index(at))?;
    flag.put_bool(complete)?;
    Ok(done)
}

entry! {
    CommIo fn MPI_Wait(request: InOut<Request>, status: Out<Status>) on MPI_REQUEST_NULL {
        status.not_null()?;
        let mut handle = request.read()?.0;
        if handle == REQUEST_NULL {
            return status.give_empty();
        }
        let result = complete::wait(&mut handle);
        request.set(Request(handle))?;
        status.finish(result?)
    }
}

entry! {
    CommIo fn MPI_Test(request: InOut<Request>, flag: Out<Logical>, status: Out<Status>) on MPI_REQUEST_NULL {
        flag.not_null()?;
        status.not_null()?;
        let mut handle = request.read()?.0;
        if handle == REQUEST_NULL {
            flag.put_bool(true)?;
            return status.give_empty();
        }
        let result = complete::test(&mut handle);
        request.set(Request(handle))?;
        if result.is_err() {
            flag.put_bool(false)?;
        }
        let done = result?;
        flag.put_bool(done.is_some())?;
        done.map_or(Ok(()), |done| status.finish(done))
    }
}

entry! {
    CommIo fn MPI_Waitall(
        count: Int, array_of_requests: InOutArray<Request>, array_of_statuses: OutArray<Status>,
    ) on MPI_REQUEST_NULL {
        let (mut requests, statuses) = (array_of_requests, array_of_statuses);
        let mut requests = requests.slice(decode::requests("count", count)?)?;
        statuses.check(requests.len())?;
        let mut failures = Failures::default();
        complete::wait_all(&mut requests, |at, done| failures.take(at, at, done, &statuses))?;
        failures.finish(requests.len(), &statuses)
    }
}

entry! {
    CommIo fn MPI_Testall(
        count: Int, array_of_requests: InOutArray<Request>, flag: Out<Logical>,
        array_of_statuses: OutArray<Status>,
    ) on MPI_REQUEST_NULL {
        flag.not_null()?;
        let (mut requests, statuses) = (array_of_requests, array_of_statuses);
        let mut requests = requests.slice(decode::requests("count", count)?)?;
        statuses.check(requests.len())?;
        let mut failures = Failures::default();
        let done = complete::test_all(&mut requests, |at, done| failures.take(at, at, done, &statuses))?;
        flag.put_bool(done)?;
        failures.finish(requests.len(), &statuses)
    }
}

entry! {
    CommIo fn MPI_Waitany(
        count: Int, array_of_requests: InOutArray<Request>, index: Out<Index>, status: Out<Status>,
    ) on MPI_REQUEST_NULL {
        index.not_null()?;
        status.not_null()?;
        let mut requests = array_of_requests;
        let mut requests = requests.slice(decode::requests("count", count)?)?;
        match several::wait_any(&mut requests)? {
            None => {
                index.set(Index(UNDEFINED))?;
                status.give_empty()
            }
            Some((at, done)) => {
                index.set(Index(at as i32))?;
                status.finish(done)
            }
        }
    }
}

entry! {
    CommIo fn MPI_Testany(
        count: Int, array_of_requests: InOutArray<Request>, index: Out<Index>, flag: Out<Logical>,
        status: Out<Status>,
    ) on MPI_REQUEST_NULL {
        index.not_null()?;
        flag.not_null()?;
        status.not_null()?;
        let mut requests = array_of_requests;
        let mut requests = requests.slice(decode::requests("count", count)?)?;
        let done = put_any(several::test_any(&mut requests)?, index, flag, &status)?;
        done.map_or(Ok(()), |done| status.finish(done))
    }
}

entry! {
    CommIo fn MPI_Waitsome(
        incount: Int, array_of_requests: InOutArray<Request>, outcount: Out<Int>,
        array_of_indices: OutArray<Index>, array_of_statuses: OutArray<Status>,
    ) on MPI_REQUEST_NULL {
        outcount.not_null()?;
        let mut requests = array_of_requests;
        let mut requests = requests.slice(decode::requests("incount", incount)?)?;
        some(&mut requests, outcount, array_of_indices, array_of_statuses, true)
    }
}

entry! {
    CommIo fn MPI_Testsome(
        incount: Int, array_of_requests: InOutArray<Request>, outcount: Out<Int>,
        array_of_indices: OutArray<Index>, array_of_statuses: OutArray<Status>,
    ) on MPI_REQUEST_NULL {
        outcount.not_null()?;
        let mut requests = array_of_requests;
        let mut requests = requests.slice(decode::requests("incount", incount)?)?;
        some(&mut requests, outcount, array_of_indices, array_of_statuses, false)
    }
}

entry! {
    CommIo fn MPI_Request_free(request: InOut<Request>) on MPI_REQUEST_NULL {
        let mut handle = request.read()?.0;
        complete::free(&mut handle)?;
        request.set(Request(handle))
    }
}

entry! {
    CommIo fn MPI_Cancel(request: InOut<Request>) on MPI_REQUEST_NULL {
        complete::cancel(request.read()?.0)
    }
}

entry! {
    CommIo fn MPI_Request_get_status(request: Request, flag: Out<Logical>, status: Out<Status>) on MPI_REQUEST_NULL {
        flag.not_null()?;
        status.not_null()?;
        if request.0 == REQUEST_NULL {
            flag.put_bool(true)?;
            return status.give_empty();
        }
        let done = get_status::get_status(request.0)?;
        flag.put_bool(done.is_some())?;
        done.map_or(Ok(()), |done| status.give(done))
    }
}

entry! {
    CommIo fn MPI_Request_get_status_all(
        count: Int, array_of_requests: Array<Request>, flag: Out<Logical>,
        array_of_statuses: OutArray<Status>,
    ) on MPI_REQUEST_NULL {
        flag.not_null()?;
        let requests = array_of_requests.slice(decode::requests("count", count)?)?;
        array_of_statuses.check(requests.len())?;
        let done =
            get_status::get_status_all(&requests, |at, status| array_of_statuses.give(at, status))?;
        flag.put_bool(done)
    }
}

entry! {
    CommIo fn MPI_Request_get_status_any(
        count: Int, array_of_requests: Array<Request>, index: Out<Index>, flag: Out<Logical>,
        status: Out<Status>,
    ) on MPI_REQUEST_NULL {
        index.not_null()?;
        flag.not_null()?;
        status.not_null()?;
        let requests = array_of_requests.slice(decode::requests("count", count)?)?;
        let done = put_any(get_status::get_status_any(&requests)?, index, flag, &status)?;
        done.map_or(Ok(()), |words| status.give(words))
    }
}

entry! {
    CommIo fn MPI_Request_get_status_some(
        incount: Int, array_of_requests: Array<Request>, outcount: Out<Int>,
        array_of_indices: OutArray<Index>, array_of_statuses: OutArray<Status>,
    ) on MPI_REQUEST_NULL {
        outcount.not_null()?;
        let requests = array_of_requests.slice(decode::requests("incount", incount)?)?;
        array_of_statuses.check(requests.len())?;
        if !requests.is_empty() {
            array_of_indices.not_null()?;
        }
        let mut indices = Vec::new();
        let count = get_status::get_status_some(&requests, |at, status| {
            array_of_statuses.give(indices.len(), status);
            indices.push(at);
        })?;
        put_indices(count, &indices, outcount, array_of_indices)
    }
}
