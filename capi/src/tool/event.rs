//! Events and their source: what there is, reading an event while its callback runs.

use super::{check_out, offer, offer_text, put};
use crate::constants::*;
use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Result;
use oxmpi::events::{self, Element, Event};
use oxmpi::info::{self as infos, Info as Hints};
use oxmpi::tool::{self, event};

fn type_of(element: Element) -> Datatype {
    Datatype(match element {
        Element::Int(_) => MPI_INT,
        Element::Long(_) => MPI_UNSIGNED_LONG,
    })
}

entry! {
    ReadList fn MPI_T_event_get_num(num_events: Out<Int>) {
        tool::check()?;
        num_events.set(Int(Event::ALL.len() as i32))
    }
}

entry! {
    ReadList fn MPI_T_event_get_index(name: Text, event_index: Out<Int>) {
        tool::check()?;
        event_index.not_null()?;
        event_index.set(Int(event::index_of(&decode::text("name", name)?)? as i32))
    }
}

/// An info object without hints, if the caller has a pointer for it.
fn offer_info(info: Out<Info>) -> Result<()> {
    if info.is_null() {
        return Ok(());
    }
    info.set(Info(infos::create(Hints::new())?))
}

entry! {
    /// The arrays are written as far as they go; `num_elements` says afterwards how many elements there are.
    ReadList fn MPI_T_event_get_info(
        event_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TVerbosity>,
        array_of_datatypes: OutArray<Datatype>, array_of_displacements: OutArray<Aint>,
        num_elements: InOut<Int>, enumtype: Out<TEnum>, info: Out<Info>, desc: TextOut,
        desc_len: InOut<Int>, bind: Out<TBinding>,
    ) {
        let event = event::event(event_index.0)?;
        offer_text(name, name_len, event.name())?;
        offer_text(desc, desc_len, &event.described())?;
        if !num_elements.is_null() {
            let room = num_elements.read()?.0.max(0) as usize;
            let displacements = event.displacements();
            for (at, element) in event.elements().iter().enumerate().take(room) {
                if !array_of_datatypes.is_null() {
                    array_of_datatypes.put(at, type_of(*element))?;
                }
                if !array_of_displacements.is_null() {
                    array_of_displacements.put(at, Aint(displacements[at] as _))?;
                }
            }
            num_elements.set(Int(displacements.len() as i32))?;
        }
        offer(verbosity, TVerbosity(MPI_T_VERBOSITY_USER_BASIC))?;
        offer(enumtype, TEnum(std::ptr::null_mut()))?;
        offer(bind, TBinding(MPI_T_BIND_NO_OBJECT))?;
        offer_info(info)
    }
}

entry! {
    ReadList fn MPI_T_source_get_num(num_sources: Out<Int>) {
        tool::check()?;
        num_sources.set(Int(1))
    }
}

entry! {
    ReadList fn MPI_T_source_get_info(
        source_index: Int, name: TextOut, name_len: InOut<Int>, desc: TextOut, desc_len: InOut<Int>,
        ordering: Out<TSourceOrder>, ticks_per_second: Out<LargeCount>, max_ticks: Out<LargeCount>,
        info: Out<Info>,
    ) {
        event::source(source_index.0)?;
        let (its_name, text) = event::SOURCE;
        offer_text(name, name_len, its_name)?;
        offer_text(desc, desc_len, text)?;
        offer(ordering, TSourceOrder(MPI_T_SOURCE_ORDERED))?;
        offer(ticks_per_second, LargeCount(1_000_000_000))?;
        offer(max_ticks, LargeCount(i64::MAX))?;
        offer_info(info)
    }
}

entry! {
    ReadList fn MPI_T_source_get_timestamp(source_index: Int, timestamp: Out<LargeCount>) {
        event::source(source_index.0)?;
        timestamp.set(LargeCount(events::now() as i64))
    }
}

/// The event that a callback is called for.
fn instance(event_instance: TEventInstance) -> Result<events::Instance> {
    tool::check()?;
    events::instance(event_instance.0 as usize)
}

/// Writes an element of an event to an address of the program's.
fn put_element(out: TBuffer, event: &events::Instance, element: usize) -> Result<()> {
    let value = event.values[element];
    match event.event.elements()[element] {
        Element::Int(_) => put(out, &[value as u32]),
        Element::Long(_) => put(out, &[value]),
    }
}

entry! {
    Own fn MPI_T_event_read(event_instance: TEventInstance, element_index: Index, buffer: TBuffer) {
        let instance = instance(event_instance)?;
        let element = event::element(instance.event, element_index.0)?;
        put_element(buffer, &instance, element)
    }
}

entry! {
    /// The elements lie where MPI_T_event_get_info says.
    Own fn MPI_T_event_copy(event_instance: TEventInstance, buffer: TBuffer) {
        let instance = instance(event_instance)?;
        check_out(buffer.0)?;
        for (element, displacement) in instance.event.displacements().into_iter().enumerate() {
            put_element(TBuffer(buffer.0.wrapping_byte_add(displacement)), &instance, element)?;
        }
        Ok(())
    }
}

entry! {
    ReadList fn MPI_T_event_get_timestamp(event_instance: TEventInstance, event_timestamp: Out<LargeCount>) {
        let instance = instance(event_instance)?;
        event_timestamp.set(LargeCount(instance.time as i64))
    }
}

entry! {
    ReadList fn MPI_T_event_get_source(event_instance: TEventInstance, source_index: Out<Int>) {
        instance(event_instance)?;
        source_index.set(Int(0))
    }
}
