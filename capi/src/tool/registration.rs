//! Registrations for events: who is called, how safe, and with what hints.
//!
//! Invariant: the program's functions are called by `oxmpi::events` only, which holds nothing then.

use crate::param::*;
use crate::pointers::*;
use crate::types::MPI_T_cb_safety;
use oxmpi::engine::epochs::InCallback;
use oxmpi::error::{Class, Result};
use oxmpi::events::{self, Callback, Safety};
use oxmpi::fail;
use oxmpi::info::{self as infos, Info as Hints};
use oxmpi::tool::{self, event};
use std::ffi::c_void;
use std::sync::Arc;

/// The hint that says how many events may wait for a registration.
const QUEUE: &str = "oxmpi_event_queue";

/// A handle and an address of the program's, which go to its functions as they came.
fn pointer<T>(number: usize) -> *mut T {
    number as *mut T
}

fn hints(info: Info) -> Result<Hints> {
    match infos::hints(info.0) {
        Ok(hints) => Ok(hints),
        Err(error) => fail!(Class::TInvalid, "info: {error}"),
    }
}

fn safety_of_program(safety: Safety) -> MPI_T_cb_safety {
    TSafety(safety as i32).to_c()
}

fn safety(level: TSafety) -> Result<Safety> {
    let known = Safety::ALL
        .into_iter()
        .find(|safety| *safety as i32 == level.0);
    match known {
        Some(safety) => Ok(safety),
        None => fail!(
            Class::TInvalid,
            "cb_safety is {}; allowed is MPI_T_CB_REQUIRE_NONE to MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE ({} to {})",
            level.to_c(),
            safety_of_program(Safety::None),
            safety_of_program(Safety::AsyncSignalSafe)
        ),
    }
}

/// What is said of how many events may wait.
fn queue(hints: &Hints) -> Result<Option<usize>> {
    let Some(text) = hints.get(QUEUE)? else {
        return Ok(None);
    };
    match text.parse() {
        Ok(most @ 1..=1_048_576) => Ok(Some(most)),
        _ => fail!(
            Class::TInvalid,
            "{QUEUE} is \"{text}\"; allowed is 1 to 1048576"
        ),
    }
}

/// Takes the hints that are known; others are left out, as with every info object.
fn set_hints(number: usize, hints: &Hints) -> Result<()> {
    let most = queue(hints)?;
    events::change(number, |registration| {
        if let Some(most) = most {
            registration.most = most;
            registration.info.set(QUEUE, &most.to_string())?;
        }
        Ok(())
    })
}

entry! {
    /// None is bound to an object.
    Own fn MPI_T_event_handle_alloc(
        event_index: Int, obj_handle: TObject, info: Info,
        event_registration: Out<TEventRegistration>,
    ) {
        tool::check()?;
        let _ = obj_handle;
        let event = event::event(event_index.0)?;
        event_registration.not_null()?;
        let hints = hints(info)?;
        queue(&hints)?;
        let number = events::add(event, Hints::new());
        set_hints(number, &hints)?;
        event_registration.set(TEventRegistration(pointer(number)))
    }
}

/// The number of a registration.
fn number(event_registration: TEventRegistration) -> Result<usize> {
    let number = event_registration.0 as usize;
    events::of(number)?;
    Ok(number)
}

entry! {
    Own fn MPI_T_event_handle_set_info(event_registration: TEventRegistration, info: Info) {
        tool::check()?;
        let number = number(event_registration)?;
        set_hints(number, &hints(info)?)
    }
}

entry! {
    Own fn MPI_T_event_handle_get_info(event_registration: TEventRegistration, info_used: Out<Info>) {
        tool::check()?;
        let number = number(event_registration)?;
        info_used.not_null()?;
        let used = events::change(number, |registration| {
            let mut used = registration.info.clone();
            used.set(QUEUE, &registration.most.to_string())?;
            Ok(used)
        })?;
        info_used.set(Info(infos::create(used)?))
    }
}

entry! {
    /// What happened before is told first. The function is called when no callback runs any more.
    Own fn MPI_T_event_handle_free(
        event_registration: TEventRegistration, user_data: ExtraState,
        free_cb_function: TEventFreeFunction,
    ) {
        tool::check()?;
        let number = number(event_registration)?;
        let user_data = user_data.0 as usize;
        events::free(number, Box::new(move |required: Safety| {
            let Some(function) = free_cb_function.0 else {
                return;
            };
            let _running = InCallback::begin();
            // SAFETY: the program passed a function of this prototype, which has to be callable until it was called.
            unsafe { function(pointer(number), safety_of_program(required), pointer(user_data)) }
        }))
    }
}

entry! {
    /// In place of the function of that level, if there is one; NULL for none.
    Own fn MPI_T_event_register_callback(
        event_registration: TEventRegistration, cb_safety: TSafety, info: Info,
        user_data: ExtraState, event_cb_function: TEventFunction,
    ) {
        tool::check()?;
        let number = number(event_registration)?;
        let level = safety(cb_safety)?;
        let info = hints(info)?;
        let user_data = user_data.0 as usize;
        let callback = event_cb_function.0.map(|function| {
            let call = move |instance: usize, required: Safety| {
                let _running = InCallback::begin();
                // SAFETY: the program passed a function of this prototype, which has to be callable until the registration
                // was freed.
                unsafe {
                    function(pointer(instance), pointer(number), safety_of_program(required), pointer(user_data));
                }
            };
            Callback { call: Arc::new(call), user_data, info }
        });
        events::change(number, |registration| {
            registration.callbacks[level as usize] = callback;
            Ok(())
        })
    }
}

/// Looks at the callback of a level, or changes it.
fn of_level<R>(
    event_registration: TEventRegistration,
    cb_safety: TSafety,
    work: impl FnOnce(&mut Callback) -> Result<R>,
) -> Result<R> {
    let number = number(event_registration)?;
    let level = safety(cb_safety)?;
    events::change(number, |registration| {
        match &mut registration.callbacks[level as usize] {
            Some(callback) => work(callback),
            None => fail!(
                Class::TInvalid,
                "cb_safety is {}, for which no function is registered",
                cb_safety.to_c()
            ),
        }
    })
}

entry! {
    /// No hint for a callback is known.
    Own fn MPI_T_event_callback_set_info(event_registration: TEventRegistration, cb_safety: TSafety, info: Info,) {
        tool::check()?;
        let hints = hints(info)?;
        of_level(event_registration, cb_safety, |callback| {
            callback.info = hints;
            Ok(())
        })
    }
}

entry! {
    Own fn MPI_T_event_callback_get_info(event_registration: TEventRegistration, cb_safety: TSafety, info_used: Out<Info>,) {
        tool::check()?;
        let used = of_level(event_registration, cb_safety, |callback| Ok(callback.info.clone()))?;
        info_used.not_null()?;
        info_used.set(Info(infos::create(used)?))
    }
}

entry! {
    Own fn MPI_T_event_set_dropped_handler(event_registration: TEventRegistration, dropped_cb_function: TEventDroppedFunction,) {
        tool::check()?;
        let number = number(event_registration)?;
        let handler = dropped_cb_function.0.map(|function| {
            let call = move |count: u64, required: Safety, user_data: usize| {
                let _running = InCallback::begin();
                let user_data: *mut c_void = pointer(user_data);
                // SAFETY: as of an event's callback. All events come from the first source.
                unsafe { function(count as _, pointer(number), 0, safety_of_program(required), user_data) }
            };
            Arc::new(call) as Arc<_>
        });
        events::set_dropped_handler(number, handler)
    }
}
