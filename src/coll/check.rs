//! The checking mode: before an operation runs, its ranks compare what they have called. Where that does not fit together, all of
//! them fail with the same error, which names who called what, instead of waiting for ever or computing garbage.
//!
//! Invariant: every call on a communicator has a number, the same on all ranks if they call in the same order, and its
//! descriptions travel with a tag of that number: so calls of different forms are compared too.

use super::args::{CollArgs, ROOT};
use super::context::CollContext;
use super::packed::scratch;
use super::team::Team;
use super::{allgather, amounts};
use crate::comm::Comm;
use crate::datatype::{Buffer, Parts};
use crate::engine::buffers_in_use::{self, Use};
use crate::error::{Class, Error, Result};
use crate::op::Op;
use crate::sync::{AtomicU32, Ordering};
use crate::variables::Variable;
use crate::variables::check::CHECK;

pub static CHECK_COLLECTIVES: Variable<bool> = Variable::new(
    "CHECK_COLLECTIVES",
    false,
    "Ranks that call different collective operations, or with different roots, counts, types or operations, get an error that \
     names who called what. To find mistakes: costs a round of messages for each operation. \
     Operations on intercommunicators are not compared.",
)
.same_on_all();

/// Tags from here on are those of descriptions.
const FIRST_TAG: u32 = 0x4000_0001;

/// Bytes of a description's texts.
const FUNCTION: usize = 40;
const OPERATION: usize = 32;
const TYPE: usize = 48;
const BYTES: usize = 16 + FUNCTION + OPERATION + TYPE;

/// What one rank has called.
#[derive(Debug, PartialEq)]
struct Description {
    function: String,
    /// -1: none.
    root: i64,
    /// -1: ranks may differ.
    bytes: i64,
    operation: String,
    datatype: String,
}

/// Checks at each call: a set of these bits.
static LOOKS: AtomicU32 = AtomicU32::new(0);
const COMPARES: u32 = 1;
const BUFFERS: u32 = 2;

/// Begins with what is set.
pub fn begin() {
    let compares = u32::from(CHECK_COLLECTIVES.get()) * COMPARES;
    let buffers = u32::from(CHECK.get().buffers) * BUFFERS;
    LOOKS.store(compares | buffers, Ordering::Relaxed);
}

/// The number of the next call on a communicator, if calls are compared. What memory it uses is told, if somebody wants to know.
#[inline(always)]
pub fn number(comm: &Comm, call: &CollArgs) -> Option<u32> {
    match LOOKS.load(Ordering::Relaxed) {
        0 => None,
        looks => look(looks, comm, call),
    }
}

#[cold]
#[inline(never)]
fn look(looks: u32, comm: &Comm, call: &CollArgs) -> Option<u32> {
    if looks & BUFFERS != 0 && buffers_in_use::is_collecting() {
        buffers_in_use::tell(uses(comm, call));
    }
    (looks & COMPARES != 0 && !comm.is_inter()).then(|| comm.next_check())
}

/// What memory a call reads and writes at this rank.
fn uses(comm: &Comm, call: &CollArgs) -> Vec<Option<Use>> {
    let peers = comm.peers() as usize;
    let read = |buffer: &Buffer| Use::of(&[*buffer], false);
    let written = |buffer: &Buffer| Use::of(&[*buffer], true);
    // In place the operand is where the result comes.
    let both = |own: &Buffer, into: &Buffer| {
        let in_place = into.begin().is_some() && own.begin() == into.begin();
        vec![Use::of(&[*own], in_place), written(into)]
    };
    match call {
        CollArgs::Barrier => Vec::new(),
        CollArgs::Bcast { buffer, root } => {
            let sends = match comm.is_inter() {
                true => *root == ROOT,
                false => *root == comm.rank(),
            };
            vec![Use::of(&[*buffer], !sends)]
        }
        CollArgs::Gather { own, parts, .. } => vec![
            own.as_ref().and_then(read),
            parts
                .as_ref()
                .and_then(|parts| Use::of_parts(parts, peers, true)),
        ],
        CollArgs::Scatter { parts, into, .. } => vec![
            parts
                .as_ref()
                .and_then(|parts| Use::of_parts(parts, peers, false)),
            into.as_ref().and_then(written),
        ],
        CollArgs::Allgather { own, parts } => vec![
            own.as_ref().and_then(read),
            Use::of_parts(parts, peers, true),
        ],
        CollArgs::Alltoall { out, into } => vec![
            out.as_ref()
                .and_then(|parts| Use::of_parts(parts, peers, false)),
            Use::of_parts(into, peers, true),
        ],
        CollArgs::Reduce { own, into, .. }
        | CollArgs::Allreduce { own, into, .. }
        | CollArgs::ReduceScatter { own, into, .. }
        | CollArgs::Scan { own, into, .. } => both(own, into),
        CollArgs::Neighbors { receives, sends } => {
            let buffers = |all: &[(i32, Buffer)]| all.iter().map(|one| one.1).collect::<Vec<_>>();
            vec![
                Use::of(&buffers(sends), false),
                Use::of(&buffers(receives), true),
            ]
        }
    }
}

/// Compares the calls of all ranks.
pub async fn agree(
    comm: &Comm,
    coll: &CollContext<'_>,
    number: u32,
    call: &CollArgs,
) -> Result<()> {
    let coll = CollContext {
        tag: (FIRST_TAG + number % (i32::MAX as u32 - FIRST_TAG)) as i32,
        ..*coll
    };
    let team = Team::on(coll);
    let own = Description::of(coll.function, call, team.rank());
    let mut all = scratch(team.size() * BYTES);
    own.write(&mut all[team.rank() * BYTES..][..BYTES]);
    let parts = Parts::of_copy(&mut all, BYTES);
    allgather::bruck(&team, &parts).await;
    let (size, rank) = (team.size(), team.rank());
    if team.has_failed() {
        return team.result();
    }
    let told = |rank: usize| Description::read(&all[rank * BYTES..][..BYTES]);
    let first = told(0);
    for other in 1..size {
        let theirs = told(other);
        if let Some(class) = first.differs(&theirs) {
            let title = comm.title();
            return Err(Error::new(
                class,
                format!(
                    "the ranks of {title} do not call the same as collective operation {} there: rank 0 called {first}, \
                     rank {other} called {theirs}; this is rank {rank}",
                    number + 1
                ),
            ));
        }
    }
    let right = amounts::agree(&team, &comm.title(), call).await;
    team.result().and(right)
}

impl Description {
    fn of(function: &str, call: &CollArgs, rank: usize) -> Description {
        let mut made = Description {
            function: function.to_owned(),
            root: -1,
            bytes: -1,
            operation: String::new(),
            datatype: String::new(),
        };
        let size = |parts: &Parts| match parts.are_equal() {
            true => parts.len(0) as i64,
            false => -1,
        };
        match call {
            CollArgs::Barrier | CollArgs::Neighbors { .. } => {}
            CollArgs::Bcast { buffer, root } => {
                (made.root, made.bytes) = ((*root).into(), buffer.len() as i64);
            }
            CollArgs::Gather {
                own: part,
                parts,
                root,
                equal,
            }
            | CollArgs::Scatter {
                into: part,
                parts,
                root,
                equal,
            } => {
                made.root = (*root).into();
                made.bytes = match (parts, part) {
                    _ if !equal => -1,
                    (Some(parts), _) => parts.len(rank) as i64,
                    (None, Some(part)) => part.len() as i64,
                    (None, None) => -1,
                };
            }
            CollArgs::Allgather { parts, .. } => made.bytes = size(parts),
            CollArgs::Alltoall { into, .. } => made.bytes = size(into),
            CollArgs::Reduce {
                own, with, root, ..
            } => {
                made.root = (*root).into();
                made.reduces(own.len(), with);
            }
            CollArgs::Allreduce { own, with, .. }
            | CollArgs::ReduceScatter { own, with, .. }
            | CollArgs::Scan { own, with, .. } => made.reduces(own.len(), with),
        }
        made
    }

    fn reduces(&mut self, bytes: usize, with: &super::Operands) {
        self.bytes = bytes as i64;
        self.operation = match &with.op {
            Op::Predefined(operation) => operation.name().to_owned(),
            Op::User(_) => "a function of the program".to_owned(),
        };
        self.datatype = match with.datatype.is_predefined() {
            true => with.datatype.name(),
            false => format!("a type of {} bytes", with.datatype.size),
        };
    }

    /// What two ranks do not agree in.
    fn differs(&self, other: &Description) -> Option<Class> {
        if self.function != other.function {
            Some(Class::Other)
        } else if self.root != other.root {
            Some(Class::Root)
        } else if self.operation != other.operation {
            Some(Class::Op)
        } else if self.datatype != other.datatype {
            Some(Class::Type)
        } else {
            (self.bytes != other.bytes).then_some(Class::Count)
        }
    }

    fn write(&self, into: &mut [u8]) {
        into[..8].copy_from_slice(&self.root.to_ne_bytes());
        into[8..16].copy_from_slice(&self.bytes.to_ne_bytes());
        let mut at = 16;
        let texts = [&self.function, &self.operation, &self.datatype];
        for (text, room) in texts.into_iter().zip([FUNCTION, OPERATION, TYPE]) {
            let bytes = text.len().min(room);
            into[at..at + bytes].copy_from_slice(&text.as_bytes()[..bytes]);
            at += room;
        }
    }

    fn read(from: &[u8]) -> Description {
        let number =
            |at: usize| i64::from_ne_bytes(from[at..at + 8].try_into().unwrap_or_default());
        let text = |at: usize, room: usize| {
            let text = String::from_utf8_lossy(&from[at..at + room]);
            text.trim_end_matches('\0').to_owned()
        };
        Description {
            root: number(0),
            bytes: number(8),
            function: text(16, FUNCTION),
            operation: text(16 + FUNCTION, OPERATION),
            datatype: text(16 + FUNCTION + OPERATION, TYPE),
        }
    }
}

impl std::fmt::Display for Description {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut words = Vec::new();
        if self.root >= 0 {
            words.push(format!("root {}", self.root));
        }
        if self.bytes >= 0 {
            words.push(format!("{} bytes", self.bytes));
        }
        for text in [&self.datatype, &self.operation] {
            if !text.is_empty() {
                words.push(text.clone());
            }
        }
        write!(formatter, "{}({})", self.function, words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_travel_whole_and_differences_are_told_by_class() {
        let description = |function: &str, root, bytes, datatype: &str| Description {
            function: function.to_owned(),
            root,
            bytes,
            operation: "MPI_SUM".to_owned(),
            datatype: datatype.to_owned(),
        };
        let one = description("MPI_Reduce_scatter_block_init", 3, 1 << 40, "MPI_INT");
        let mut bytes = [0; BYTES];
        one.write(&mut bytes);
        assert_eq!(Description::read(&bytes), one);
        assert_eq!(one.differs(&one), None);
        let reduce = |root, bytes, datatype| description("MPI_Reduce", root, bytes, datatype);
        let first = reduce(0, 8, "MPI_INT");
        assert_eq!(first.differs(&one), Some(Class::Other));
        assert_eq!(first.differs(&reduce(1, 8, "MPI_INT")), Some(Class::Root));
        assert_eq!(first.differs(&reduce(0, 8, "MPI_LONG")), Some(Class::Type));
        assert_eq!(first.differs(&reduce(0, 4, "MPI_INT")), Some(Class::Count));
        assert_eq!(
            first.to_string(),
            "MPI_Reduce(root 0, 8 bytes, MPI_INT, MPI_SUM)"
        );
    }
}
