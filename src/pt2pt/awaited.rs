//! What waits for requests say of themselves, once they are no longer short.

use super::ANY_SOURCE;
use crate::comm;
use crate::engine::requests::{self, Index, engine_of, index_of};
use crate::engine::waits::{Kind, MOST, Object, Wait, Whom};
use crate::engine::{enter_at, published};

/// A wait for a request, with the name of its object or without.
pub(super) fn request(index: Index, named: bool) -> Wait {
    let mut engine = enter_at(engine_of(index));
    let Some(request) = engine.requests().get(index) else {
        return over();
    };
    let only_sends = request.kind == requests::Kind::Receive && request.others == 0;
    let (owner, context, peer, tag) = (request.owner, request.context, request.peer, request.tag);
    let kind = match request.kind {
        requests::Kind::Receive => Kind::Receive,
        requests::Kind::Send(_) => Kind::Send,
        requests::Kind::Task if context == u32::MAX => {
            return Wait::of(Kind::Buffer, Whom::Any);
        }
        requests::Kind::Task if context & 3 != 0 => Kind::Collective,
        requests::Kind::Task => Kind::Partitioned,
        requests::Kind::General => {
            drop(engine);
            return published::without_messages(context, owner, named);
        }
    };
    // Of an exchange that has received, the send is what is waited for.
    if only_sends && let Some(send) = engine.partner_sends(index).first().copied() {
        drop(engine);
        return self::request(send, named);
    }
    let request = engine.requests().at(index);
    let partners = match request.others {
        0 => Vec::new(),
        _ => engine.partners(index),
    };
    drop(engine);
    let peer = match kind {
        Kind::Collective => ANY_SOURCE,
        _ => peer,
    };
    match comm::find(owner).filter(|comm| comm.has_context(context)) {
        Some(comm) => {
            let wait = comm.wait(kind, peer, tag, named);
            Wait {
                context,
                whom: wait.whom.or(Whom::of(partners)),
                ..wait
            }
        }
        // It was freed: its birth, by which others may still know it, is forgotten here.
        None => Wait {
            object: Object::Communicator(u64::from(context & !3)),
            peer,
            tag,
            context,
            ..Wait::of(kind, Whom::Outside)
        },
    }
}

/// As [`request`], by a handle.
pub(super) fn handle(handle: i32, named: bool) -> Wait {
    index_of(handle).map_or_else(over, |index| request(index, named))
}

/// The first of some handles, and whether there are more.
pub(super) struct First([i32; MOST], bool);

impl First {
    #[inline]
    pub(super) fn of(handles: &[i32]) -> First {
        let mut first = [requests::NULL; MOST];
        let count = handles.len().min(MOST);
        first[..count].copy_from_slice(&handles[..count]);
        First(first, handles.len() > MOST)
    }

    /// A wait for any of the requests.
    pub(super) fn any(&self, named: bool) -> Wait {
        let all = self.0.iter().filter_map(|handle| index_of(*handle));
        let all = all.map(|index| request(index, named));
        let more = self.1.then(Wait::default);
        all.chain(more).reduce(Wait::or).unwrap_or_else(over)
    }
}

/// The request is complete by now.
fn over() -> Wait {
    Wait::of(Kind::Requests, Whom::Nobody)
}
