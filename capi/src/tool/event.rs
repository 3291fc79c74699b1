//! Events and their sources.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_T_event_callback_get_info(
        event_registration: TEventRegistration, cb_safety: TSafety, info_used: Out<Info>,
    );

    fn MPI_T_event_callback_set_info(
        event_registration: TEventRegistration, cb_safety: TSafety, info: Info,
    );

    fn MPI_T_event_copy(event_instance: TEventInstance, buffer: TBuffer);

    fn MPI_T_event_get_index(name: Text, event_index: Out<Int>);

    fn MPI_T_event_get_info(
        event_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TProperty>,
        array_of_datatypes: OutArray<Datatype>, array_of_displacements: OutArray<Aint>,
        num_elements: InOut<Int>, enumtype: Out<TEnum>, info: Out<Info>, desc: TextOut,
        desc_len: InOut<Int>, bind: Out<TProperty>,
    );

    fn MPI_T_event_get_num(num_events: Out<Int>);

    fn MPI_T_event_get_source(event_instance: TEventInstance, source_index: Out<Int>);

    fn MPI_T_event_get_timestamp(event_instance: TEventInstance, event_timestamp: Out<LargeCount>);

    fn MPI_T_event_handle_alloc(
        event_index: Int, obj_handle: TObject, info: Info,
        event_registration: Out<TEventRegistration>,
    );

    fn MPI_T_event_handle_free(
        event_registration: TEventRegistration, user_data: ExtraState,
        free_cb_function: TEventFreeFunction,
    );

    fn MPI_T_event_handle_get_info(event_registration: TEventRegistration, info_used: Out<Info>);

    fn MPI_T_event_handle_set_info(event_registration: TEventRegistration, info: Info);

    fn MPI_T_event_read(event_instance: TEventInstance, element_index: Index, buffer: AddressOut);

    fn MPI_T_event_register_callback(
        event_registration: TEventRegistration, cb_safety: TSafety, info: Info,
        user_data: ExtraState, event_cb_function: TEventFunction,
    );

    fn MPI_T_event_set_dropped_handler(
        event_registration: TEventRegistration, dropped_cb_function: TEventDroppedFunction,
    );

    fn MPI_T_source_get_info(
        source_index: Int, name: TextOut, name_len: InOut<Int>, desc: TextOut, desc_len: InOut<Int>,
        ordering: Out<TSourceOrder>, ticks_per_second: Out<LargeCount>, max_ticks: Out<LargeCount>,
        info: Out<Info>,
    );

    fn MPI_T_source_get_num(num_sources: Out<Int>);

    fn MPI_T_source_get_timestamp(source_index: Int, timestamp: Out<LargeCount>);
}
