//! The rank's side of PMIx (`srun --mpi=pmix`, prterun), by the site's libpmix.so.2, which is loaded when a launcher asks for it.
//!
//! Invariants: joining waits for no other rank, so there is no fence; what another rank has left is asked for in the background.
#![allow(unsafe_code)]

mod jobs;
mod service;

use super::map::NodeMap;
use super::pmix_bindings::*;
use crate::error::{Class, Error, Result};
use crate::os::library::{Library, text_of};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard};

pub use jobs::end_of;

const LIBRARY: &str = "libpmix.so.2";
/// The oldest one with all that is used here.
const OLDEST: u32 = 3;
/// Rank that stands for the whole job: PMIX_RANK_WILDCARD, a macro that bindgen does not read.
const WHOLE_JOB: u32 = u32::MAX - 1;

type Answer = unsafe extern "C" fn(pmix_status_t, *mut pmix_value_t, *mut c_void);
type Get = unsafe extern "C" fn(
    *const pmix_proc_t,
    *const c_char,
    *const pmix_info_t,
    usize,
    *mut *mut pmix_value_t,
) -> pmix_status_t;
type GetLater = unsafe extern "C" fn(
    *const pmix_proc_t,
    *const c_char,
    *const pmix_info_t,
    usize,
    Answer,
    *mut c_void,
) -> pmix_status_t;

struct Functions {
    version: unsafe extern "C" fn() -> *const c_char,
    text: unsafe extern "C" fn(pmix_status_t) -> *const c_char,
    init: unsafe extern "C" fn(*mut pmix_proc_t, *mut pmix_info_t, usize) -> pmix_status_t,
    finalize: unsafe extern "C" fn(*const pmix_info_t, usize) -> pmix_status_t,
    abort: unsafe extern "C" fn(c_int, *const c_char, *mut pmix_proc_t, usize) -> pmix_status_t,
    put: unsafe extern "C" fn(pmix_scope_t, *const c_char, *mut pmix_value_t) -> pmix_status_t,
    commit: unsafe extern "C" fn() -> pmix_status_t,
    get: Get,
    get_later: GetLater,
    spawn: jobs::Spawn,
    register_handler: jobs::RegisterHandler,
    publish: service::Publish,
    lookup: service::Lookup,
    unpublish: service::Unpublish,
}

impl Functions {
    fn of(library: &Library) -> std::result::Result<Functions, String> {
        // SAFETY: the types are those of the headers of libpmix 3 and later.
        unsafe {
            Ok(Functions {
                version: library.function("PMIx_Get_version")?,
                text: library.function("PMIx_Error_string")?,
                init: library.function("PMIx_Init")?,
                finalize: library.function("PMIx_Finalize")?,
                abort: library.function("PMIx_Abort")?,
                put: library.function("PMIx_Put")?,
                commit: library.function("PMIx_Commit")?,
                get: library.function("PMIx_Get")?,
                get_later: library.function("PMIx_Get_nb")?,
                spawn: library.function("PMIx_Spawn")?,
                register_handler: library.function("PMIx_Register_event_handler")?,
                publish: library.function("PMIx_Publish")?,
                lookup: library.function("PMIx_Lookup")?,
                unpublish: library.function("PMIx_Unpublish")?,
            })
        }
    }

    fn check(&self, function: &str, status: pmix_status_t) -> Result<()> {
        if status == PMIX_SUCCESS as pmix_status_t {
            return Ok(());
        }
        // SAFETY: the function takes any number, and its text stays.
        let text = unsafe { text_of((self.text)(status)) };
        Err(refused(format!("{function}: {text}")))
    }
}

/// A value that another rank has left.
#[derive(Debug)]
enum Left {
    /// Asked for.
    Pending,
    Here(String),
}

type Values = Arc<Mutex<HashMap<(u32, String), Left>>>;

/// What the answer to a question is for.
struct Question {
    values: Values,
    rank: u32,
    key: CString,
    process: pmix_proc_t,
}

/// A connection to the PMIx server of this host.
pub struct Pmix {
    functions: Functions,
    own: pmix_proc_t,
    size: u32,
    values: Values,
    // Last: it stays loaded anyway.
    _library: Library,
}

// SAFETY: the library's functions may be called by any thread, and what the connection has of its own is not bound to one.
unsafe impl Send for Pmix {}

impl fmt::Debug for Pmix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pmix({} of {})", self.own.rank, self.size)
    }
}

impl Pmix {
    /// Connects to the server of the job of this name (PMIX_NAMESPACE).
    ///
    /// Errors: there is no library, it is too old, or there is no such server.
    pub fn connect(namespace: &str) -> Result<Pmix> {
        let advice = "install it (Debian: libpmix2), or start the program with oxmpi's mpiexec, with srun --mpi=pmi2, or \
                      with OXMPI_SINGLETON=1 to run each process alone";
        let library = Library::open(LIBRARY).map_err(|why| {
            refused(format!(
                "this program was started by a PMIx launcher, which cannot be joined without libpmix.so.2: {why}; {advice}"
            ))
        })?;
        let functions = Functions::of(&library)
            .map_err(|why| refused(format!("{LIBRARY} cannot be used: {why}; {advice}")))?;
        // SAFETY: a function without arguments; its text stays.
        let version = unsafe { text_of((functions.version)()) };
        if major(&version).is_some_and(|major| major < OLDEST) {
            return Err(refused(format!(
                "{LIBRARY} is {version}, which is too old: version {OLDEST} or newer is needed"
            )));
        }
        let mut own = pmix_proc_t {
            nspace: [0; 256],
            rank: 0,
        };
        // SAFETY: `own` is for the call to fill; there are no attributes.
        let status = unsafe { (functions.init)(&raw mut own, null_mut(), 0) };
        functions.check("PMIx_Init", status).map_err(|error| {
            refused(format!(
                "the PMIx launcher of {namespace} cannot be joined ({}); OXMPI_SINGLETON=1 runs each process alone",
                error.text()
            ))
        })?;
        let mut pmix = Pmix {
            functions,
            own,
            size: 0,
            values: Values::default(),
            _library: library,
        };
        // Without a server the library may make a job of one of its own.
        // SAFETY: the call has filled in a terminated name.
        let joined = unsafe { text_of(pmix.own.nspace.as_ptr()) };
        let size = pmix.number(WHOLE_JOB, PMIX_JOB_SIZE);
        match size {
            Some(size) if joined == namespace && pmix.own.rank < size => pmix.size = size,
            _ => {
                return Err(refused(format!(
                    "the PMIx launcher of {namespace} cannot be joined: {LIBRARY} found {joined} instead, with {size:?} \
                     ranks; OXMPI_SINGLETON=1 runs each process alone"
                )));
            }
        }
        Ok(pmix)
    }

    pub fn rank(&self) -> u32 {
        self.own.rank
    }

    pub fn size(&self) -> u32 {
        self.size
    }

    pub fn universe_size(&self) -> Option<i32> {
        let size = self.number(WHOLE_JOB, PMIX_UNIV_SIZE)?;
        i32::try_from(size).ok().filter(|size| *size > 0)
    }

    pub fn appnum(&self) -> Option<i32> {
        self.number(self.own.rank, PMIX_APPNUM)
            .and_then(|number| i32::try_from(number).ok())
    }

    /// The node of each rank: the ranks of this node by what the server says, the others by node number or host name.
    pub fn nodes(&self) -> Result<NodeMap> {
        let near = match self.size {
            1 => Some(vec![0]),
            size => self
                .text(WHOLE_JOB, PMIX_LOCAL_PEERS)
                .and_then(|list| ranks_in(&list, size)),
        };
        let near = near
            .filter(|near| near.contains(&self.own.rank))
            .ok_or_else(|| {
                refused("the PMIx launcher does not say which ranks are on this host".to_owned())
            })?;
        let of = |rank: u32| {
            if near.binary_search(&rank).is_ok() {
                return Some("here".to_owned());
            }
            let number = self.number(rank, PMIX_NODEID);
            number
                .map(|number| number.to_string())
                .or_else(|| self.text(rank, PMIX_HOSTNAME))
        };
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut nodes = Vec::with_capacity(self.size as usize);
        for rank in 0..self.size {
            let name = of(rank).ok_or_else(|| {
                refused(format!(
                    "the PMIx launcher does not say where rank {rank} is"
                ))
            })?;
            let next = known.len() as u32;
            nodes.push(*known.entry(name).or_insert(next));
        }
        Ok(NodeMap::new(&nodes, &[]))
    }

    /// A rank of this job, as libpmix names it.
    fn process(&self, rank: u32) -> pmix_proc_t {
        pmix_proc_t { rank, ..self.own }
    }

    /// A name that the ranks of this job have in common.
    pub fn namespace(&self) -> String {
        // SAFETY: `PMIx_Init` has filled in a terminated name.
        unsafe { text_of(self.own.nspace.as_ptr()) }
    }

    /// Leaves a value for other ranks.
    pub fn put(&self, key: &str, value: &str) -> Result<()> {
        let (key, value) = (terminated(key)?, terminated(value)?);
        // SAFETY: all-zero is a valid value; its text stays during the call, which copies it.
        let status = unsafe {
            let mut all: pmix_value_t = std::mem::zeroed();
            all.type_ = PMIX_STRING as u16;
            all.data.string = value.as_ptr().cast_mut();
            (self.functions.put)(PMIX_GLOBAL as u8, key.as_ptr(), &raw mut all)
        };
        self.functions.check("PMIx_Put", status)?;
        // SAFETY: a function without arguments.
        let status = unsafe { (self.functions.commit)() };
        self.functions.check("PMIx_Commit", status)
    }

    /// What a rank has left, if it has come here; else it is asked for, and a later call may have it.
    pub fn get(&self, rank: u32, key: &str) -> Result<Option<String>> {
        let name = terminated(key)?;
        let place = (rank, key.to_owned());
        {
            let mut values = locked(&self.values);
            match values.get(&place) {
                Some(Left::Here(text)) => return Ok(Some(text.clone())),
                Some(Left::Pending) => return Ok(None),
                None => values.insert(place.clone(), Left::Pending),
            };
        }
        let question = Box::into_raw(Box::new(Question {
            values: self.values.clone(),
            rank,
            key: name,
            process: self.process(rank),
        }));
        // SAFETY: the question stays until it is answered; `answered` is called once if the call succeeds, else never.
        let status = unsafe {
            (self.functions.get_later)(
                &raw const (*question).process,
                (*question).key.as_ptr(),
                null(),
                0,
                answered,
                question.cast(),
            )
        };
        let begun = self.functions.check("PMIx_Get_nb", status);
        if begun.is_err() {
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(question) });
            locked(&self.values).remove(&place);
        }
        begun.map(|()| None)
    }

    pub fn finalize(&self) -> Result<()> {
        // SAFETY: no attributes.
        let status = unsafe { (self.functions.finalize)(null(), 0) };
        self.functions.check("PMIx_Finalize", status)
    }

    /// Asks the launcher to end the job.
    pub fn abort(&self, status: i32) {
        // SAFETY: the text stays; no list means the whole job.
        unsafe { (self.functions.abort)(status, c"MPI_Abort".as_ptr(), null_mut(), 0) };
    }

    fn number(&self, rank: u32, key: &[u8]) -> Option<u32> {
        self.ask(rank, key, number_of)
    }

    fn text(&self, rank: u32, key: &[u8]) -> Option<String> {
        self.ask(rank, key, string_of)
    }

    /// What the server knows since the job's start, as `read` takes it out of a value.
    fn ask<T>(
        &self,
        rank: u32,
        key: &[u8],
        read: unsafe fn(&pmix_value_t) -> Option<T>,
    ) -> Option<T> {
        let process = self.process(rank);
        let key = CStr::from_bytes_with_nul(key).ok()?;
        let mut value: *mut pmix_value_t = null_mut();
        // SAFETY: name and process stay during the call; `value` is for it to fill.
        let status = unsafe {
            (self.functions.get)(&raw const process, key.as_ptr(), null(), 0, &raw mut value)
        };
        if status != PMIX_SUCCESS as pmix_status_t || value.is_null() {
            return None;
        }
        // SAFETY: the library made the value, by malloc, for us; so it did its text, if it is one.
        unsafe {
            let got = read(&*value);
            if (*value).type_ == PMIX_STRING as u16 {
                libc::free((*value).data.string.cast());
            }
            libc::free(value.cast());
            got
        }
    }
}

/// Called by libpmix, in its thread, with the answer to a question. An empty answer forgets the question, so that it can be asked again.
unsafe extern "C" fn answered(
    status: pmix_status_t,
    value: *mut pmix_value_t,
    question: *mut c_void,
) {
    // SAFETY: what `Pmix::get` gave, once.
    let question = unsafe { Box::from_raw(question.cast::<Question>()) };
    let good = status == PMIX_SUCCESS as pmix_status_t && !value.is_null();
    // SAFETY: a value of the library's, which stays during this call.
    let text = good.then(|| unsafe { string_of(&*value) }).flatten();
    let place = (question.rank, question.key.to_string_lossy().into_owned());
    let mut values = locked(&question.values);
    match text {
        Some(text) => values.insert(place, Left::Here(text)),
        None => values.remove(&place),
    };
}

/// # Safety
/// The value's type is what is in it.
unsafe fn number_of(value: &pmix_value_t) -> Option<u32> {
    // SAFETY: by the caller.
    unsafe {
        match u32::from(value.type_) {
            PMIX_UINT32 => Some(value.data.uint32),
            PMIX_UINT16 => Some(value.data.uint16.into()),
            PMIX_INT | PMIX_INT32 => u32::try_from(value.data.int32).ok(),
            PMIX_UINT64 | PMIX_SIZE => u32::try_from(value.data.uint64).ok(),
            _ => None,
        }
    }
}

/// # Safety
/// As for [`number_of`].
unsafe fn string_of(value: &pmix_value_t) -> Option<String> {
    // SAFETY: by the caller.
    unsafe {
        (u32::from(value.type_) == PMIX_STRING && !value.data.string.is_null())
            .then(|| text_of(value.data.string))
    }
}

fn terminated(text: &str) -> Result<CString> {
    CString::new(text).map_err(|error| refused(error.to_string()))
}

fn locked<T>(values: &Mutex<T>) -> MutexGuard<'_, T> {
    values.lock().unwrap_or_else(|lock| lock.into_inner())
}

fn refused(text: String) -> Error {
    Error::new(Class::Other, text)
}

/// The first number in `OpenPMIx 4.2.2 (PMIx Standard: ...)`.
fn major(version: &str) -> Option<u32> {
    let digits = version.split(|letter: char| !letter.is_ascii_digit());
    digits
        .filter(|word| !word.is_empty())
        .find_map(|word| word.parse().ok())
}

/// `0,1,4-6`, ascending; `None` if that is no list of some of so many ranks.
fn ranks_in(list: &str, size: u32) -> Option<Vec<u32>> {
    let mut ranks = Vec::new();
    for word in list.split(',') {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        if last >= size {
            return None;
        }
        ranks.extend(first..=last);
    }
    ranks.sort_unstable();
    ranks.dedup();
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ranks_are_read() {
        assert_eq!(ranks_in("0", 1), Some(vec![0]));
        assert_eq!(ranks_in("4-6,1,0", 8), Some(vec![0, 1, 4, 5, 6]));
        for wrong in ["", "x", "0,", "3", "0-4294967295", "-1"] {
            assert_eq!(ranks_in(wrong, 3), None, "{wrong}");
        }
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(major("OpenPMIx 4.2.2 (PMIx Standard: 4.2)"), Some(4));
        assert_eq!(major("PMIx 3"), Some(3));
        assert_eq!(major("unknown"), None);
    }
}
