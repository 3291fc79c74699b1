//! What a datatype was made from: MPI_Type_get_envelope and MPI_Type_get_contents.

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::datatype::{self as core, Contents};
use oxmpi::error::{Class, Result};
use oxmpi::fail;

fn contents(datatype: Datatype) -> Result<&'static Contents> {
    Ok(&decode::datatype(datatype)?.contents)
}

/// The functions without the suffix know no large counts.
fn without_suffix(datatype: Datatype, function: &str) -> Result<&'static Contents> {
    let contents = contents(datatype)?;
    if !contents.counts.is_empty() {
        return fail!(
            Class::Type,
            "datatype was made with large counts: {function}_c is needed"
        );
    }
    Ok(contents)
}

entry! {
    AccessOnly fn MPI_Type_get_envelope(
        datatype: Datatype, num_integers: Out<Int>, num_addresses: Out<Int>,
        num_datatypes: Out<Int>, combiner: Out<Combiner>,
    ) {
        let contents = without_suffix(datatype, "MPI_Type_get_envelope")?;
        num_integers.set(Int(contents.integers.len() as i32))?;
        num_addresses.set(Int(contents.addresses.len() as i32))?;
        num_datatypes.set(Int(contents.datatypes.len() as i32))?;
        combiner.set(Combiner(contents.combiner as i32))
    }
}

entry! {
    AccessOnly fn MPI_Type_get_envelope_c(
        datatype: Datatype, num_integers: Out<LargeCount>, num_addresses: Out<LargeCount>,
        num_large_counts: Out<LargeCount>, num_datatypes: Out<LargeCount>, combiner: Out<Combiner>,
    ) {
        let contents = contents(datatype)?;
        num_integers.set(LargeCount(contents.integers.len() as i64))?;
        num_addresses.set(LargeCount(contents.addresses.len() as i64))?;
        num_large_counts.set(LargeCount(contents.counts.len() as i64))?;
        num_datatypes.set(LargeCount(contents.datatypes.len() as i64))?;
        combiner.set(Combiner(contents.combiner as i32))
    }
}

/// Fails if a list does not fit into the caller's array.
fn fits(name: &str, room: i64, length: usize) -> Result<()> {
    if room >= length as i64 {
        return Ok(());
    }
    fail!(
        Class::Arg,
        "{name} is {room}; the datatype was made from {length}"
    )
}

fn made_of_something(contents: &Contents, datatype: Datatype) -> Result<()> {
    if contents.combiner == core::Combiner::Named {
        let name = decode::datatype(datatype)?.name();
        return fail!(Class::Type, "datatype is {name}, which is made of nothing");
    }
    Ok(())
}

/// The integers, as the program gave them.
fn integers(contents: &Contents) -> Vec<Int> {
    let mut integers: Vec<Int> = contents
        .integers
        .iter()
        .map(|number| Int(*number))
        .collect();
    // Where the number of dimensions is, and the lists before distributions.
    let place = match (contents.combiner, contents.counts.is_empty()) {
        (core::Combiner::Subarray, _) => None,
        (core::Combiner::Darray, small) => Some((2, usize::from(small))),
        _ => return integers,
    };
    if let Some((at, lists)) = place {
        let number = integers[at].0 as usize;
        let first = at + 1 + lists * number;
        for place in first..first + number {
            integers[place] = Int(Distribution(integers[place].0).to_c());
            let argument = &mut integers[place + number];
            *argument = Int(DistributionArgument(argument.0).to_c());
        }
    }
    if let Some(order) = integers.last_mut() {
        *order = Int(Order(order.0).to_c());
    }
    integers
}

/// Writes the types that a type was made from: predefined ones as they are, else handles that the program has to free.
fn give_datatypes(contents: &Contents, out: OutArray<Datatype>) -> Result<()> {
    if !contents.datatypes.is_empty() {
        out.not_null()?;
    }
    for (index, old) in contents.datatypes.iter().enumerate() {
        let handle = match old.is_predefined() {
            true => old.handle,
            false => core::another_handle(old)?.handle,
        };
        out.put(index, Datatype(handle))?;
    }
    Ok(())
}

entry! {
    UpdateRef fn MPI_Type_get_contents(
        datatype: Datatype, max_integers: Int, max_addresses: Int, max_datatypes: Int,
        array_of_integers: OutArray<Int>, array_of_addresses: OutArray<Aint>,
        array_of_datatypes: OutArray<Datatype>,
    ) {
        let contents = without_suffix(datatype, "MPI_Type_get_contents")?;
        made_of_something(contents, datatype)?;
        fits("max_integers", max_integers.0.into(), contents.integers.len())?;
        fits("max_addresses", max_addresses.0.into(), contents.addresses.len())?;
        fits("max_datatypes", max_datatypes.0.into(), contents.datatypes.len())?;
        for (index, number) in integers(contents).into_iter().enumerate() {
            array_of_integers.put(index, number)?;
        }
        for (index, address) in contents.addresses.iter().enumerate() {
            array_of_addresses.put(index, Aint(*address))?;
        }
        give_datatypes(contents, array_of_datatypes)
    }
}

entry! {
    UpdateRef fn MPI_Type_get_contents_c(
        datatype: Datatype, max_integers: LargeCount, max_addresses: LargeCount,
        max_large_counts: LargeCount, max_datatypes: LargeCount, array_of_integers: OutArray<Int>,
        array_of_addresses: OutArray<Aint>, array_of_large_counts: OutArray<LargeCount>,
        array_of_datatypes: OutArray<Datatype>,
    ) {
        let contents = contents(datatype)?;
        made_of_something(contents, datatype)?;
        fits("max_integers", max_integers.0, contents.integers.len())?;
        fits("max_addresses", max_addresses.0, contents.addresses.len())?;
        fits("max_large_counts", max_large_counts.0, contents.counts.len())?;
        fits("max_datatypes", max_datatypes.0, contents.datatypes.len())?;
        for (index, number) in integers(contents).into_iter().enumerate() {
            array_of_integers.put(index, number)?;
        }
        for (index, address) in contents.addresses.iter().enumerate() {
            array_of_addresses.put(index, Aint(*address))?;
        }
        for (index, count) in contents.counts.iter().enumerate() {
            array_of_large_counts.put(index, LargeCount(*count))?;
        }
        give_datatypes(contents, array_of_datatypes)
    }
}
