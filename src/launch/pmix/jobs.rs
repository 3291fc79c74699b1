//! Jobs that a PMIx launcher starts for this one, and what it says when they end.

use super::super::start::Start;
use super::{Pmix, locked, terminated};
use crate::error::{Class, Error, Result};
use crate::launch::pmix_bindings::*;
use crate::os::library::text_of;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, Once};

pub type Spawn = unsafe extern "C" fn(
    *const pmix_info_t,
    usize,
    *const pmix_app_t,
    usize,
    *mut c_char,
) -> pmix_status_t;
type Complete = unsafe extern "C" fn(
    pmix_status_t,
    *mut c_void,
    usize,
    *const c_void,
    *mut c_void,
    *mut c_void,
);
type Handler = unsafe extern "C" fn(
    usize,
    pmix_status_t,
    *const pmix_proc_t,
    *mut pmix_info_t,
    usize,
    *mut pmix_info_t,
    usize,
    Option<Complete>,
    *mut c_void,
);
pub type RegisterHandler = unsafe extern "C" fn(
    *mut pmix_status_t,
    usize,
    *mut pmix_info_t,
    usize,
    Handler,
    *const c_void,
    *mut c_void,
) -> pmix_status_t;

/// Jobs that have ended, with what the launcher says of it.
static ENDED: Mutex<Vec<(String, i32)>> = Mutex::new(Vec::new());

/// What has become of a spawned job; `None`: it runs, or the launcher does not say.
pub fn end_of(namespace: &str) -> Option<i32> {
    let ended = locked(&ENDED);
    let of_it = ended.iter().find(|(name, _)| name == namespace);
    of_it.map(|(_, code)| *code)
}

/// What libpmix is given, by malloc, since it may put other things in its place.
struct Given {
    apps: Vec<pmix_app_t>,
}

impl Given {
    fn new(starts: &[Start]) -> Result<Given> {
        let mut given = Given { apps: Vec::new() };
        for start in starts {
            let infos: Vec<(&[u8], &str)> = [
                (PMIX_HOST.as_slice(), &start.host),
                (PMIX_HOSTFILE, &start.host_file),
            ]
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.as_deref()?)))
            .collect();
            let mut words = vec![start.command.clone()];
            words.extend_from_slice(&start.arguments);
            // SAFETY: all-zero is a valid value; so it is freed if something below fails.
            given.apps.push(unsafe { std::mem::zeroed() });
            let Some(app) = given.apps.last_mut() else {
                continue;
            };
            app.cmd = copy(&start.command)?;
            app.argv = copies(&words)?;
            app.env = copies(&start.environment)?;
            app.cwd = copy(&start.folder)?;
            app.maxprocs = start.processes as i32;
            if infos.is_empty() {
                // Null: an array of no length would be searched for a mark of its end.
                continue;
            }
            // SAFETY: calloc's zeros are valid entries.
            app.info = unsafe { libc::calloc(infos.len(), size_of::<pmix_info_t>()) }.cast();
            for (key, value) in infos {
                let value = copy(value)?;
                // SAFETY: there is room for it, see above.
                let info = unsafe { &mut *app.info.add(app.ninfo as usize) };
                set(info, key);
                info.value.type_ = PMIX_STRING as u16;
                info.value.data.string = value;
                app.ninfo += 1;
            }
        }
        Ok(given)
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        for app in &self.apps {
            // SAFETY: all of it is malloc's, made by `Given::new` or put there by libpmix, and lists end with null.
            unsafe {
                libc::free(app.cmd.cast());
                libc::free(app.cwd.cast());
                for list in [app.argv, app.env] {
                    let mut at = list;
                    while !at.is_null() && !(*at).is_null() {
                        libc::free((*at).cast());
                        at = at.add(1);
                    }
                    libc::free(list.cast());
                }
                for number in 0..app.ninfo as usize {
                    libc::free((*app.info.add(number)).value.data.string.cast());
                }
                libc::free(app.info.cast());
            }
        }
    }
}

/// A copy by malloc.
fn copy(text: &str) -> Result<*mut c_char> {
    let text = terminated(text)?;
    // SAFETY: a terminated string.
    Ok(unsafe { libc::strdup(text.as_ptr()) })
}

/// A list by malloc, which ends with null.
fn copies(texts: &[String]) -> Result<*mut *mut c_char> {
    let texts: Vec<CString> = texts
        .iter()
        .map(|text| terminated(text))
        .collect::<Result<_>>()?;
    // SAFETY: room for one more than there are; the strings are terminated.
    unsafe {
        let list: *mut *mut c_char = libc::calloc(texts.len() + 1, size_of::<*mut c_char>()).cast();
        for (number, text) in texts.iter().enumerate() {
            *list.add(number) = libc::strdup(text.as_ptr());
        }
        Ok(list)
    }
}

/// Writes the key of an attribute, with its terminator.
pub fn set(info: &mut pmix_info_t, key: &[u8]) {
    for (to, from) in info.key.iter_mut().zip(key) {
        *to = *from as c_char;
    }
}

impl Pmix {
    /// Has the launcher start a job. Its name.
    ///
    /// Errors: MPI_ERR_SPAWN, it does not.
    pub fn spawn(&self, starts: &[Start]) -> Result<String> {
        self.hear_of_ends();
        let given = Given::new(starts)?;
        // SAFETY: all-zero is a valid value.
        let mut note: pmix_info_t = unsafe { std::mem::zeroed() };
        set(&mut note, PMIX_NOTIFY_COMPLETION);
        note.value.type_ = PMIX_BOOL as u16;
        note.value.data.flag = true;
        let mut name = [0 as c_char; 256];
        // SAFETY: all of it stays during the call; there is room for a name.
        let status = unsafe {
            (self.functions.spawn)(
                &raw const note,
                1,
                given.apps.as_ptr(),
                given.apps.len(),
                name.as_mut_ptr(),
            )
        };
        let refused = |error: Error| Error::new(Class::Spawn, error.text());
        self.functions
            .check("PMIx_Spawn", status)
            .map_err(refused)?;
        // SAFETY: the call has filled in a terminated name.
        Ok(unsafe { text_of(name.as_ptr()) })
    }

    /// From now on the ends of jobs are heard of, if the launcher tells of them.
    fn hear_of_ends(&self) {
        static HEARS: Once = Once::new();
        HEARS.call_once(|| {
            let mut code = PMIX_EVENT_JOB_END;
            // SAFETY: the code stays during the call, which waits, as it has no function to call.
            unsafe {
                (self.functions.register_handler)(
                    &raw mut code,
                    1,
                    null_mut(),
                    0,
                    ended,
                    null(),
                    null_mut(),
                )
            };
        });
    }
}

/// A job has ended. In the library's thread.
unsafe extern "C" fn ended(
    _: usize,
    _: pmix_status_t,
    _: *const pmix_proc_t,
    infos: *mut pmix_info_t,
    count: usize,
    _: *mut pmix_info_t,
    _: usize,
    complete: Option<Complete>,
    data: *mut c_void,
) {
    let (mut name, mut code) = (None, 0);
    for number in 0..count {
        // SAFETY: so many attributes stay during the call, whose types are what is in them.
        unsafe {
            let info = &*infos.add(number);
            let key = CStr::from_ptr(info.key.as_ptr()).to_bytes_with_nul();
            let kind = u32::from(info.value.type_);
            if key == PMIX_EVENT_AFFECTED_PROC && kind == PMIX_PROC {
                name = Some(text_of((*info.value.data.proc_).nspace.as_ptr()));
            } else if key == PMIX_JOB_TERM_STATUS
                && matches!(kind, PMIX_STATUS | PMIX_INT | PMIX_INT32)
            {
                code = info.value.data.int32;
            }
        }
    }
    if let Some(name) = name {
        locked(&ENDED).push((name, code));
    }
    if let Some(complete) = complete {
        // SAFETY: the library's, which waits for it.
        unsafe {
            complete(
                PMIX_EVENT_ACTION_COMPLETE,
                null_mut(),
                0,
                null(),
                null_mut(),
                data,
            )
        };
    }
}
