//! Groups.

use crate::decode;
use crate::param::*;
use crate::pointers::*;
use oxmpi::error::Result;
use oxmpi::group as core;
use oxmpi::pt2pt::origin;
use std::sync::Arc;

const UNDEFINED: i32 = crate::constants::MPI_UNDEFINED;

entry! {
    AccessOnly fn MPI_Group_compare(group1: Group, group2: Group, result: Out<Comparison>) {
        let (first, second) = (core::get(group1.0)?, core::get(group2.0)?);
        result.set(Comparison(first.compare(&second) as i32))
    }
}

entry! {
    UpdateRef fn MPI_Group_free(group: InOut<Group>) {
        core::free(group.read()?.0)?;
        origin::forget(group.read()?.0);
        group.set(Group(core::NULL))
    }
}

entry! {
    AccessOnly fn MPI_Group_rank(group: Group, rank: Out<Rank>) {
        let group = core::get(group.0)?;
        let own = oxmpi::process::job().and_then(|job| group.rank_of(job.rank));
        rank.set(Rank(own.unwrap_or(UNDEFINED)))
    }
}

entry! {
    AccessOnly fn MPI_Group_size(group: Group, size: Out<Int>) {
        size.set(Int(core::get(group.0)?.size()))
    }
}

entry! {
    AccessOnly fn MPI_Group_translate_ranks(
        group1: Group, n: Int, ranks1: Array<Rank>, group2: Group, ranks2: OutArray<Rank>,
    ) {
        let (first, second) = (core::get(group1.0)?, core::get(group2.0)?);
        for index in 0..decode::length("n", n)? {
            let rank = first.translate(ranks1.get(index)?.0, &second)?;
            ranks2.put(index, Rank(rank))?;
        }
        Ok(())
    }
}

fn new(from: Group, group: core::Group, out: Out<Group>) -> Result<()> {
    out.not_null()?;
    let handle = core::create(Arc::new(group))?;
    origin::inherit(from.0, handle);
    out.set(Group(handle))
}

/// The `n` ranks of an array, none of which may be a special value: as the program has them, for the texts of errors.
fn ranks(n: Int, array: Array<Rank>) -> Result<Vec<i32>> {
    let ranks = array.elements(decode::length("n", n)?)?;
    Ok(ranks.iter().map(|rank| rank.to_c()).collect())
}

/// The `n` ranges of an array.
fn ranges(n: Int, array: LooseArray<Range>) -> Result<Vec<[i32; 3]>> {
    let ranges = array.elements(decode::length("n", n)?)?;
    Ok(ranges.iter().map(|range| range.0).collect())
}

entry! {
    Allocate fn MPI_Group_incl(group: Group, n: Int, ranks: Array<Rank>, newgroup: Out<Group>) {
        new(group, core::get(group.0)?.include(&self::ranks(n, ranks)?)?, newgroup)
    }
}

entry! {
    Allocate fn MPI_Group_excl(group: Group, n: Int, ranks: Array<Rank>, newgroup: Out<Group>) {
        new(group, core::get(group.0)?.exclude(&self::ranks(n, ranks)?)?, newgroup)
    }
}

entry! {
    Allocate fn MPI_Group_range_incl(
        group: Group, n: Int, ranges: LooseArray<Range>, newgroup: Out<Group>,
    ) {
        new(group, core::get(group.0)?.include_ranges(&self::ranges(n, ranges)?)?, newgroup)
    }
}

entry! {
    Allocate fn MPI_Group_range_excl(
        group: Group, n: Int, ranges: LooseArray<Range>, newgroup: Out<Group>,
    ) {
        new(group, core::get(group.0)?.exclude_ranges(&self::ranges(n, ranges)?)?, newgroup)
    }
}

entry! {
    Allocate fn MPI_Group_union(group1: Group, group2: Group, newgroup: Out<Group>) {
        new(group1, core::get(group1.0)?.union(&*core::get(group2.0)?), newgroup)
    }
}

entry! {
    Allocate fn MPI_Group_intersection(group1: Group, group2: Group, newgroup: Out<Group>) {
        new(group1, core::get(group1.0)?.intersection(&*core::get(group2.0)?), newgroup)
    }
}

entry! {
    Allocate fn MPI_Group_difference(group1: Group, group2: Group, newgroup: Out<Group>) {
        new(group1, core::get(group1.0)?.difference(&*core::get(group2.0)?), newgroup)
    }
}
