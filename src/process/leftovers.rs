//! Requests and objects that the program has not freed by MPI_Finalize, and messages that it has not received: a list with `OXMPI_CHECK=leaks`,
//! otherwise a hint where something is wrong for certain.
//!
//! Invariant: what the program has freed, or cannot free, is in no list. Lines of different ranks are the same where they say the same,
//! so that they come together.

use crate::coll::{self, CollContext};
use crate::comm::{self, Comm};
use crate::datatype::pack::PREFIX;
use crate::engine::leftovers::{self, Held};
use crate::engine::refusal::{self, Group};
use crate::engine::requests::{Kind, Phase};
use crate::handle::{self, ObjectType};
use crate::os::made::{self, Site};
use crate::os::tell;
use crate::pt2pt::{PROC_NULL, signatures};
use crate::variables::check::CHECK;
use crate::{attr, datatype, dynamic, errhandler, group, info, io, op, rma};
use std::collections::BTreeMap;
use std::fmt::Write;

/// More groups of messages are counted only.
const MOST_GROUPS: usize = 8;
/// A program with more communicators left gets a hint.
const MANY_COMMUNICATORS: usize = 1000;

/// Says what is left. `world`: the ranks that have all come to MPI_Finalize, and can be asked.
pub fn report(world: Option<&Comm>, rank: u32) {
    let refused = refusal::take();
    if !CHECK.get().leaks {
        let texts = [refusal::text(&refused, comm::name_of_context), hint()];
        for text in texts.into_iter().flatten() {
            tell(&format!("oxmpi: rank {rank}: MPI_Finalize: {text}\n"));
        }
        return;
    }
    let own = lines(&refused).concat();
    let texts = match world {
        Some(world) => {
            let coll = CollContext::of_finalize(world);
            coll::block_on(coll::gather_texts_on(&coll, &own))
        }
        None => Ok(vec![(own.clone(), vec![rank as usize])]),
    };
    // Where one is lost, each says its own.
    let texts = texts.unwrap_or_else(|_| vec![(own, vec![rank as usize])]);
    let text = together(&texts);
    if !text.is_empty() {
        tell(&format!("oxmpi: left in MPI_Finalize:\n{text}"));
    }
}

/// A line of a list: equal ones of several ranks come together, whatever the partners and sizes of their messages are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    before: String,
    /// Of a message.
    partners: Option<Partners>,
    after: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Partners {
    /// `to` or `from`.
    word: String,
    /// Ranks in ascending order; none: any.
    ranks: Vec<usize>,
    /// The least and the most of one.
    bytes: (u64, u64),
}

impl Line {
    fn of(text: String) -> Line {
        Line {
            before: text,
            ..Line::default()
        }
    }

    /// In one line of text, and back.
    fn encode(&self) -> String {
        let (before, after) = (in_one_line(&self.before), in_one_line(&self.after));
        let Some(partners) = &self.partners else {
            return before + "\n";
        };
        let ranks: Vec<String> = partners.ranks.iter().map(usize::to_string).collect();
        let (least, most) = partners.bytes;
        format!(
            "{before}\t{}\t{}\t{least}\t{most}\t{after}\n",
            partners.word,
            ranks.join(","),
        )
    }

    fn decode(text: &str) -> Line {
        let parts: Vec<&str> = text.split('\t').collect();
        let &[before, word, ranks, least, most, after] = parts.as_slice() else {
            return Line::of(text.to_owned());
        };
        let number = |text: &str| text.parse().unwrap_or(0);
        let ranks = ranks.split(',').filter_map(|rank| rank.parse().ok());
        Line {
            before: before.to_owned(),
            partners: Some(Partners {
                word: word.to_owned(),
                ranks: ranks.collect(),
                bytes: (number(least), number(most)),
            }),
            after: after.to_owned(),
        }
    }

    /// Whether both say the same but for partners and sizes; then this one has those of both.
    fn takes(&mut self, other: &Line) -> bool {
        match (&mut self.partners, &other.partners) {
            _ if self.before != other.before || self.after != other.after => false,
            (None, None) => true,
            (Some(own), Some(others)) if own.word == others.word => {
                // Any rank stays any rank.
                match own.ranks.is_empty() || others.ranks.is_empty() {
                    true => own.ranks.clear(),
                    false => own.ranks.extend(&others.ranks),
                }
                own.ranks.sort_unstable();
                own.ranks.dedup();
                own.bytes.0 = own.bytes.0.min(others.bytes.0);
                own.bytes.1 = own.bytes.1.max(others.bytes.1);
                true
            }
            _ => false,
        }
    }

    fn in_words(&self) -> String {
        let Some(Partners { word, ranks, bytes }) = &self.partners else {
            return self.before.clone();
        };
        let bytes = match bytes.0 == bytes.1 {
            true => counted(bytes.0, "byte"),
            false => format!("{} to {} bytes", bytes.0, bytes.1),
        };
        let ranks = match ranks.as_slice() {
            [] => "any rank".to_owned(),
            [one] => format!("rank {one}"),
            _ => format!("ranks {}", in_words(ranks)),
        };
        format!("{}{bytes} {word} {ranks}{}", self.before, self.after)
    }
}

/// What the last session of a process leaves: what communicates, for types and the like may be for a later one. Each rank tells its own.
pub fn report_session(rank: u32) {
    if !CHECK.get().leaks {
        return;
    }
    let is_left = |handle: i32| {
        let kind = handle::object_type(handle);
        matches!(
            kind,
            Some(ObjectType::Comm | ObjectType::Win | ObjectType::File)
        )
    };
    let text = lines_of(&refusal::take(), is_left).concat();
    let text = together(&[(text, vec![rank as usize])]);
    if !text.is_empty() {
        tell(&format!("oxmpi: left in MPI_Session_finalize:\n{text}"));
    }
}

/// At the end of a process, which has sessions open.
pub fn report_sessions(rank: u32) {
    if !CHECK.get().leaks {
        return;
    }
    let is_session = |handle: &i32| handle::object_type(*handle) == Some(ObjectType::Session);
    for handle in made::numbers().into_iter().filter(is_session) {
        if live(handle).is_some() {
            let site = made::of(handle).unwrap_or_default();
            tell(&format!(
                "oxmpi: rank {rank}: a session was not finalized, made by {} at {}\n",
                site.function, site.place
            ));
        }
    }
}

/// Names that the program has given may have line ends and tabs, which mean something else here.
fn in_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The lines of all ranks, each with the ranks that have it.
fn together(texts: &[(String, Vec<usize>)]) -> String {
    let mut lines: Vec<(Line, Vec<usize>)> = Vec::new();
    for (text, ranks) in texts {
        for line in text.lines().map(Line::decode) {
            match lines
                .iter_mut()
                .find_map(|(known, all)| known.takes(&line).then_some(all))
            {
                Some(all) => all.extend(ranks),
                None => lines.push((line, ranks.clone())),
            }
        }
    }
    let mut text = String::new();
    for (line, mut ranks) in lines {
        ranks.sort_unstable();
        ranks.dedup();
        let word = if ranks.len() == 1 { "rank" } else { "ranks" };
        let _ = writeln!(text, "  {word} {}: {}", in_words(&ranks), line.in_words());
    }
    text
}

/// `0-3, 7`
fn in_words(ranks: &[usize]) -> String {
    let mut text = String::new();
    for run in ranks.chunk_by(|one, next| one + 1 == *next) {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = match run {
            [one] => write!(text, "{comma}{one}"),
            _ => write!(text, "{comma}{}-{}", run[0], run[run.len() - 1]),
        };
    }
    text
}

/// Leftovers of one kind and place: noun, what else tells it from others before and behind the partner of a message, the place.
type Key = (String, String, String, Site);

/// A line for each kind of thing and place that made it, those of which there are most first; then the messages.
fn lines(refused: &[Group]) -> Vec<String> {
    lines_of(refused, |_| true)
}

fn lines_of(refused: &[Group], wanted: impl Fn(i32) -> bool) -> Vec<String> {
    let mut counts: BTreeMap<Key, (usize, Option<Partners>)> = BTreeMap::new();
    for held in leftovers::requests() {
        let site = made::of(held.handle).unwrap_or_default();
        let (before, partners, after) = state(&held);
        let key = ("request".to_owned(), before, after, site);
        let (count, all) = counts.entry(key).or_default();
        *count += 1;
        let mut line = Line {
            partners: all.take(),
            ..Line::default()
        };
        let other = Line {
            partners,
            ..Line::default()
        };
        *all = match line.takes(&other) {
            true => line.partners,
            false => other.partners,
        };
    }
    let mut add = |noun: &str, detail: String, site: Site| {
        let key = (noun.to_owned(), detail, String::new(), site);
        counts.entry(key).or_default().0 += 1;
    };
    for handle in made::numbers().into_iter().filter(|it| wanted(*it)) {
        if let Some(what) = live(handle) {
            add(what, String::new(), made::of(handle).unwrap_or_default());
        }
    }
    for (what, name, site) in made::named() {
        add(what, format!(" ({name})"), site);
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let line = |(key, (count, partners)): (Key, (usize, Option<Partners>))| {
        let (noun, before, after, site) = key;
        let place = match (site.function.as_str(), site.place.as_str()) {
            ("", "") => "a place that is not known".to_owned(),
            ("", place) => place.to_owned(),
            (function, place) => format!("{function} at {place}"),
        };
        let before = format!("{}{before}", counted(count as u64, &noun));
        let after = format!("{after}, made by {place}");
        let line = match partners {
            None => Line::of(before + &after),
            partners => Line {
                before,
                partners,
                after,
            },
        };
        line.encode()
    };
    let mut lines: Vec<String> = counts.into_iter().map(line).collect();
    lines.extend(messages(refused));
    lines
}

/// Bytes of the program's, of messages that may have their signatures with them.
fn without_signatures(bytes: u64, count: u64) -> String {
    let signatures = match signatures::on() {
        true => count * PREFIX as u64,
        false => 0,
    };
    counted(bytes.saturating_sub(signatures), "byte")
}

fn messages(refused: &[Group]) -> Vec<String> {
    let name = |context| {
        let name = comm::name_of_context(context);
        name.map_or_else(
            || "a freed communicator".to_owned(),
            |name| in_one_line(&name),
        )
    };
    let mut lines = Vec::new();
    for group in refused {
        let (tag, peer, context) = (group.first.tag, group.first.peer, group.first.context);
        lines.push(format!(
            "{} with tag {tag} to rank {peer} of {}, {} in all, not received\n",
            counted(group.count, "message"),
            name(context),
            without_signatures(group.bytes, group.count),
        ));
    }
    for group in leftovers::messages() {
        lines.push(format!(
            "{} with tag {} from rank {} of {}, {} in all, not received\n",
            counted(group.count, "message"),
            group.tag,
            group.source,
            name(group.context),
            without_signatures(group.bytes, group.count),
        ));
    }
    if lines.len() > MOST_GROUPS {
        let more = lines.len() - MOST_GROUPS;
        lines.truncate(MOST_GROUPS);
        lines.push(format!(
            "messages from or to {more} further ranks, or with other tags, not received\n"
        ));
    }
    lines
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// What a request is: before the bytes and the partner of its message, these, and behind them.
fn state(held: &Held) -> (String, Option<Partners>, String) {
    let state = match held.phase {
        Phase::Inactive => "inactive",
        Phase::Active => "not complete",
        Phase::Complete | Phase::Free => "complete, not waited for",
    };
    let name = || {
        let name = comm::name_of_context(held.context);
        name.unwrap_or_else(|| "a freed communicator".to_owned())
    };
    match held.kind {
        Kind::Send(_) | Kind::Receive => {
            let word = match held.kind {
                Kind::Receive => "from",
                _ => "to",
            };
            let prefix = match signatures::on() {
                true => PREFIX as u64,
                false => 0,
            };
            let bytes = held.bytes.saturating_sub(prefix);
            let partners = Partners {
                word: word.to_owned(),
                ranks: usize::try_from(held.peer).into_iter().collect(),
                bytes: (bytes, bytes),
            };
            let after = format!(", {}{})", tag(held.tag), name());
            if held.peer == PROC_NULL {
                return (
                    format!(" ({state}; MPI_PROC_NULL{after}"),
                    None,
                    String::new(),
                );
            }
            (format!(" ({state}; "), Some(partners), after)
        }
        Kind::Task => {
            let name = comm::find(held.owner).map(comm::Comm::title);
            let name = name.map_or(String::new(), |name| format!("; {name}"));
            (format!(" ({state}{name})"), None, String::new())
        }
        Kind::General => (format!(" ({state})"), None, String::new()),
    }
}

fn tag(tag: i32) -> String {
    match tag < 0 {
        true => "any tag, ".to_owned(),
        false => format!("tag {tag}, "),
    }
}

/// What a handle is that lives, and that the program has to free.
fn live(number: i32) -> Option<&'static str> {
    if handle::kind(number) == handle::Kind::Builtin {
        return None;
    }
    let (word, lives) = match handle::object_type(number)? {
        ObjectType::Comm => {
            let is_own = number != dynamic::parent();
            ("communicator", is_own && comm::get(number).is_some())
        }
        ObjectType::Datatype => {
            let found = datatype::get(number);
            ("datatype", found.is_some_and(|it| !it.is_predefined()))
        }
        ObjectType::Win => ("window", rma::get(number).is_some()),
        ObjectType::File => ("file", io::get(number).is_some()),
        ObjectType::Group => ("group", group::get(number).is_ok()),
        ObjectType::Info => ("info", info::get(number).is_ok()),
        ObjectType::Op => ("operation", op::get(number).is_ok()),
        ObjectType::Errhandler => ("errhandler", errhandler::is_held_by_program(number)),
        ObjectType::Keyval => ("keyval", attr::is_held_by_program(number)),
        ObjectType::Session => ("session", super::session::get(number).is_ok()),
        _ => return None,
    };
    lives.then_some(word)
}

/// A line about active requests, which a correct program does not leave, and about many communicators.
fn hint() -> Option<String> {
    let requests = leftovers::requests();
    let is_active = |it: &&Held| it.phase == Phase::Active && it.kind != Kind::General;
    let active = requests.iter().filter(is_active).count();
    let mut communicators = 0;
    comm::for_each(|number, _| {
        communicators += usize::from(handle::kind(number) != handle::Kind::Builtin);
    });
    let active = (active > 0).then(|| counted(active as u64, "request"));
    let many =
        (communicators > MANY_COMMUNICATORS).then(|| counted(communicators as u64, "communicator"));
    let what: Vec<String> = active.into_iter().chain(many).collect();
    let was = if what == ["1 request"] { "was" } else { "were" };
    let what = (!what.is_empty()).then(|| what.join(" and "))?;
    Some(format!(
        "{what} {was} not completed or freed; OXMPI_CHECK=leaks names the places"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_of_ranks_come_together() {
        let texts = [
            ("a\nb\n".to_owned(), vec![0, 1, 2, 5]),
            ("b\nc\n".to_owned(), vec![3]),
        ];
        assert_eq!(
            together(&texts),
            "  ranks 0-2, 5: a\n  ranks 0-3, 5: b\n  rank 3: c\n"
        );
        let request = |ranks: &[usize], bytes| {
            let line = Line {
                before: "1 request (".to_owned(),
                partners: Some(Partners {
                    word: "from".to_owned(),
                    ranks: ranks.to_vec(),
                    bytes: (bytes, bytes),
                }),
                after: ", tag 7)".to_owned(),
            };
            line.encode()
        };
        let texts = [(request(&[1], 8), vec![0]), (request(&[0, 2], 16), vec![1])];
        assert_eq!(
            together(&texts),
            "  ranks 0-1: 1 request (8 to 16 bytes from ranks 0-2, tag 7)\n"
        );
        let texts = [(request(&[], 1), vec![0]), (request(&[2], 1), vec![1])];
        assert_eq!(
            together(&texts),
            "  ranks 0-1: 1 request (1 byte from any rank, tag 7)\n"
        );
        // A name with a tab and a line end.
        let named = Line {
            before: "1 request (".to_owned(),
            partners: Some(Partners {
                word: "to".to_owned(),
                ranks: vec![1],
                bytes: (4, 4),
            }),
            after: ", tag 7, a\tb\nc)".to_owned(),
        };
        let both = named.encode() + &Line::of("2 ports (d\ne)".to_owned()).encode();
        assert_eq!(
            together(&[(both, vec![0])]),
            "  rank 0: 1 request (4 bytes to rank 1, tag 7, a b c)\n  rank 0: 2 ports (d e)\n"
        );
        assert_eq!(together(&[]), "");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "byte"), "1 byte");
        assert_eq!(counted(2, "byte"), "2 bytes");
    }
}
