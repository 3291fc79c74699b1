//! Events and their sources: there are none, which tools are told.

use crate::decode;
use crate::param::*;
use crate::place::*;
use oxmpi::error::{Class, Result};
use oxmpi::{fail, tool};

fn no_event(index: i32) -> Result<()> {
    tool::check()?;
    fail!(
        Class::TInvalidIndex,
        "index is {index}, and there are no events and no sources of any"
    )
}

fn no_handle(handle: *const impl Sized) -> Result<()> {
    tool::check()?;
    fail!(
        Class::TInvalidHandle,
        "{handle:?} is no registration or instance of an event: there are no events"
    )
}

entry! {
    Own fn MPI_T_event_callback_get_info(event_registration: TEventRegistration, cb_safety: TSafety, info_used: Out<Info>,) {
        let _ = (cb_safety, info_used);
        no_handle(event_registration.0)
    }
}

entry! {
    Own fn MPI_T_event_callback_set_info(event_registration: TEventRegistration, cb_safety: TSafety, info: Info,) {
        let _ = (cb_safety, info);
        no_handle(event_registration.0)
    }
}

entry! {
    Own fn MPI_T_event_copy(event_instance: TEventInstance, buffer: TBuffer) {
        let _ = buffer;
        no_handle(event_instance.0)
    }
}

entry! {
    ReadList fn MPI_T_event_get_index(name: Text, event_index: Out<Int>) {
        tool::check()?;
        event_index.not_null()?;
        fail!(
            Class::TInvalidName,
            "no event is called {}: there are none",
            decode::text("name", name)?
        )
    }
}

entry! {
    ReadList fn MPI_T_event_get_info(
        event_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TProperty>,
        array_of_datatypes: OutArray<Datatype>, array_of_displacements: OutArray<Aint>,
        num_elements: InOut<Int>, enumtype: Out<TEnum>, info: Out<Info>, desc: TextOut,
        desc_len: InOut<Int>, bind: Out<TProperty>,
    ) {
        let _ = (name, name_len, verbosity, array_of_datatypes, array_of_displacements, num_elements, enumtype, info, desc, desc_len, bind);
        no_event(event_index.0)
    }
}

entry! {
    ReadList fn MPI_T_event_get_num(num_events: Out<Int>) {
        tool::check()?;
        num_events.set(Int(0))
    }
}

entry! {
    ReadList fn MPI_T_event_get_source(event_instance: TEventInstance, source_index: Out<Int>) {
        let _ = source_index;
        no_handle(event_instance.0)
    }
}

entry! {
    ReadList fn MPI_T_event_get_timestamp(event_instance: TEventInstance, event_timestamp: Out<LargeCount>) {
        let _ = event_timestamp;
        no_handle(event_instance.0)
    }
}

entry! {
    Own fn MPI_T_event_handle_alloc(
        event_index: Int, obj_handle: TObject, info: Info,
        event_registration: Out<TEventRegistration>,
    ) {
        let _ = (obj_handle, info, event_registration);
        no_event(event_index.0)
    }
}

entry! {
    Own fn MPI_T_event_handle_free(
        event_registration: TEventRegistration, user_data: ExtraState,
        free_cb_function: TEventFreeFunction,
    ) {
        let _ = (user_data, free_cb_function);
        no_handle(event_registration.0)
    }
}

entry! {
    Own fn MPI_T_event_handle_get_info(event_registration: TEventRegistration, info_used: Out<Info>) {
        let _ = info_used;
        no_handle(event_registration.0)
    }
}

entry! {
    Own fn MPI_T_event_handle_set_info(event_registration: TEventRegistration, info: Info) {
        let _ = info;
        no_handle(event_registration.0)
    }
}

entry! {
    Own fn MPI_T_event_read(event_instance: TEventInstance, element_index: Index, buffer: AddressOut) {
        let _ = (element_index, buffer);
        no_handle(event_instance.0)
    }
}

entry! {
    Own fn MPI_T_event_register_callback(
        event_registration: TEventRegistration, cb_safety: TSafety, info: Info,
        user_data: ExtraState, event_cb_function: TEventFunction,
    ) {
        let _ = (cb_safety, info, user_data, event_cb_function);
        no_handle(event_registration.0)
    }
}

entry! {
    Own fn MPI_T_event_set_dropped_handler(event_registration: TEventRegistration, dropped_cb_function: TEventDroppedFunction,) {
        let _ = dropped_cb_function;
        no_handle(event_registration.0)
    }
}

entry! {
    ReadList fn MPI_T_source_get_info(
        source_index: Int, name: TextOut, name_len: InOut<Int>, desc: TextOut, desc_len: InOut<Int>,
        ordering: Out<TSourceOrder>, ticks_per_second: Out<LargeCount>, max_ticks: Out<LargeCount>,
        info: Out<Info>,
    ) {
        let _ = (name, name_len, desc, desc_len, ordering, ticks_per_second, max_ticks, info);
        no_event(source_index.0)
    }
}

entry! {
    ReadList fn MPI_T_source_get_num(num_sources: Out<Int>) {
        tool::check()?;
        num_sources.set(Int(0))
    }
}

entry! {
    ReadList fn MPI_T_source_get_timestamp(source_index: Int, timestamp: Out<LargeCount>) {
        let _ = timestamp;
        no_event(source_index.0)
    }
}
