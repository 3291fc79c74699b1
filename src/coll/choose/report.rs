//! Which routes the operations of this process took: counted for tools, and shown where OXMPI_SHOW wants it.
//!
//! Invariant: nothing is noted, and a load of [`WANTED`] is all that it costs, while neither is wanted. Operations are noted as the
//! program called them: not the levels of one on several nodes, and none of a communicator of one rank.

use super::super::args::{CollArgs, Operands};
use super::super::context::CollContext;
use super::plan::{Plan, Staged};
use super::{CallShape, in_pairs, shows_routes};
use crate::comm::{self, Nodes};
use crate::os::tell;
use crate::sync::{AtomicU64, Ordering};
use crate::transport::collective::INLINE;
use crate::variables::{Kind, Value};
use parking_lot::Mutex;
use std::collections::HashSet;

/// Bits of the reports that are wanted: routes shown, routes counted.
static WANTED: AtomicU64 = AtomicU64::new(UNREAD);
const SHOWN: u64 = 1;
const COUNTED: u64 = 2;
/// The setting was not read yet.
const UNREAD: u64 = 4;

/// Routes that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Staged,
    ByMessages,
    TwoLevels,
}

/// Operations that went by each route, while they were counted.
static COUNTS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// An operation of which a line was written: function, ranks, bits of its bytes, route.
type Line = (&'static str, usize, u32, &'static str);

static SHOWN_BEFORE: Mutex<Option<HashSet<Line>>> = Mutex::new(None);

/// Whether routes are noted, or that is not known.
#[inline]
pub fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed) != 0
}

/// From now on operations are counted.
pub fn count() {
    WANTED.fetch_or(COUNTED, Ordering::Relaxed);
}

/// Operations that went by a route so far, of those that were counted.
pub fn counted(route: Route) -> u64 {
    COUNTS[route as usize].load(Ordering::Relaxed)
}

/// An operation was staged.
#[cold]
pub fn staged(coll: &CollContext<'_>, args: &CollArgs, plan: &Plan) {
    note(coll, args, (Route::Staged, plan.how.name()), |bytes| {
        let name = plan.how.name();
        match plan.how {
            Staged::Counter | Staged::SingleCopy => name.to_owned(),
            _ if bytes <= INLINE => name.to_owned(),
            _ => format!("{name}, pieces of {} bytes", plan.piece),
        }
    });
}

/// An operation goes by messages: `shape` of its ranks, who are on these nodes.
#[cold]
pub fn by_messages(
    coll: &CollContext<'_>,
    args: &CollArgs,
    shape: CallShape,
    nodes: Option<&Nodes>,
) {
    match algorithm(args, shape, coll.rank() as usize) {
        NODES => note(coll, args, (Route::TwoLevels, NODES), |_| {
            format!("two levels, {} nodes", nodes.map_or(1, Nodes::number))
        }),
        algorithm => note(coll, args, (Route::ByMessages, algorithm), |_| {
            format!("by messages, {algorithm}")
        }),
    }
}

/// `name` tells routes of one kind apart, `text` is what is shown of an operation on so many bytes.
fn note(
    coll: &CollContext<'_>,
    args: &CollArgs,
    (route, name): (Route, &'static str),
    text: impl FnOnce(usize) -> String,
) {
    if WANTED.load(Ordering::Relaxed) & UNREAD != 0 {
        let shown = if shows_routes() { SHOWN } else { 0 };
        WANTED.fetch_or(shown, Ordering::Relaxed);
        WANTED.fetch_and(!UNREAD, Ordering::Relaxed);
    }
    let ranks = coll.size() as usize;
    let all = comm::find(coll.communicator).map(|comm| comm.size() as usize);
    if ranks == 1 || all != Some(ranks) {
        return;
    }
    let wanted = WANTED.load(Ordering::Relaxed);
    if wanted & COUNTED != 0 {
        COUNTS[route as usize].fetch_add(1, Ordering::Relaxed);
    }
    if wanted & SHOWN == 0 || coll.rank() != 0 {
        return;
    }
    let (bytes, unit) = amount(args, 0, ranks);
    let class = usize::BITS - bytes.leading_zeros();
    let line = (coll.function, ranks, class, name);
    let is_first = SHOWN_BEFORE.lock().get_or_insert_default().insert(line);
    if is_first {
        let amount = match args {
            CollArgs::Barrier => String::new(),
            _ => format!(" of {bytes} bytes{unit}"),
        };
        let (function, text) = (coll.function, text(bytes));
        tell(&format!(
            "oxmpi: {function}{amount} on {ranks} ranks: {text}\n"
        ));
    }
}

/// Bytes of an operation as a rank sees them, and of what.
fn amount(args: &CollArgs, me: usize, ranks: usize) -> (usize, &'static str) {
    const EACH: &str = " for each rank";
    match args {
        CollArgs::Barrier => (0, ""),
        CollArgs::Bcast { buffer, .. } => (buffer.len(), ""),
        CollArgs::Gather {
            own: part, parts, ..
        }
        | CollArgs::Scatter {
            into: part, parts, ..
        } => {
            let own = parts.as_ref().map(|parts| parts.len(me));
            (
                own.or(part.as_ref().map(|part| part.len())).unwrap_or(0),
                EACH,
            )
        }
        CollArgs::Allgather { parts, .. } | CollArgs::Alltoall { into: parts, .. } => {
            let longest = (0..ranks).map(|rank| parts.len(rank)).max();
            (longest.unwrap_or(0), EACH)
        }
        CollArgs::Reduce { own, .. }
        | CollArgs::Allreduce { own, .. }
        | CollArgs::ReduceScatter { own, .. }
        | CollArgs::Scan { own, .. } => (own.len(), ""),
        CollArgs::Neighbors { sends, .. } => (
            sends.iter().map(|(_, out)| out.len()).sum(),
            " to neighbors",
        ),
    }
}

/// The name of an operation in two levels, as in the settings.
const NODES: &str = "nodes";

/// The algorithm over messages that is chosen, or [`NODES`].
fn algorithm(args: &CollArgs, shape: CallShape, me: usize) -> &'static str {
    let (bytes, _) = amount(args, me, shape.ranks);
    let shape = CallShape { bytes, ..shape };
    let equal = |equal: bool| CallShape { equal, ..shape };
    let reduces = |with: &Operands| CallShape {
        commutes: with.op.is_commutative(),
        ..shape
    };
    match args {
        CollArgs::Reduce { .. } | CollArgs::Allreduce { .. } | CollArgs::ReduceScatter { .. }
            if in_pairs(shape.ranks) =>
        {
            "exchange"
        }
        CollArgs::Barrier => word(super::barrier(shape)),
        CollArgs::Bcast { .. } => word(super::bcast(shape)),
        CollArgs::Gather { equal: one, .. } => word(super::gather(equal(*one))),
        CollArgs::Scatter { equal: one, .. } => word(super::scatter(equal(*one))),
        CollArgs::Allgather { parts, .. } => word(super::allgather(CallShape {
            bytes: (0..shape.ranks).map(|rank| parts.len(rank)).sum(),
            ..equal(parts.are_equal())
        })),
        CollArgs::Alltoall { into, .. } => word(super::alltoall(equal(into.are_equal()))),
        CollArgs::Reduce { with, .. } => word(super::reduce(reduces(with))),
        CollArgs::Allreduce { with, .. } => word(super::allreduce(reduces(with))),
        CollArgs::ReduceScatter { with, .. } => word(super::reduce_scatter(reduces(with))),
        CollArgs::Scan { with, .. } => word(super::scan(reduces(with))),
        CollArgs::Neighbors { .. } => "neighbors",
    }
}

/// The name of an algorithm, as in the settings.
fn word<T: Value>(choice: T) -> &'static str {
    match T::KIND {
        Kind::Word(words) => words[choice.bits() as usize],
        Kind::Number | Kind::Real => "",
    }
}
