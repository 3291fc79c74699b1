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
use crate::pt2pt::signatures;
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

/// The lines of all ranks, each with the ranks that have it.
fn together(texts: &[(String, Vec<usize>)]) -> String {
    let mut lines: Vec<(&str, Vec<usize>)> = Vec::new();
    for (text, ranks) in texts {
        for line in text.lines() {
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, all)) => all.extend(ranks),
                None => lines.push((line, ranks.clone())),
            }
        }
    }
    let mut text = String::new();
    for (line, mut ranks) in lines {
        ranks.sort_unstable();
        let word = if ranks.len() == 1 { "rank" } else { "ranks" };
        let _ = writeln!(text, "  {word} {}: {line}", in_words(&ranks));
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

/// A line for each kind of thing and place that made it, those of which there are most first; then the messages.
fn lines(refused: &[Group]) -> Vec<String> {
    let mut counts: BTreeMap<(String, Site), usize> = BTreeMap::new();
    for held in leftovers::requests() {
        let site = made::of(held.handle).unwrap_or_default();
        let what = format!("request ({})", state(&held));
        *counts.entry((what, site)).or_default() += 1;
    }
    for handle in made::numbers() {
        if let Some(what) = live(handle) {
            let site = made::of(handle).unwrap_or_default();
            *counts.entry((what.to_owned(), site)).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let line = |((what, site), count): ((String, Site), usize)| {
        let (noun, state) = what.split_once(' ').unwrap_or((&what, ""));
        let place = match (site.function.as_str(), site.place.as_str()) {
            ("", "") => "a place that is not known".to_owned(),
            ("", place) => place.to_owned(),
            (function, place) => format!("{function} at {place}"),
        };
        let gap = if state.is_empty() { "" } else { " " };
        format!(
            "{}{gap}{state}, made by {place}\n",
            counted(count as u64, noun)
        )
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
        name.unwrap_or_else(|| "a freed communicator".to_owned())
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

fn state(held: &Held) -> String {
    let state = match held.phase {
        Phase::Inactive => "inactive",
        Phase::Active => "not complete",
        Phase::Complete | Phase::Free => "complete, not waited for",
    };
    match held.kind {
        Kind::Send(_) | Kind::Receive => {
            let name = comm::name_of_context(held.context);
            let name = name.unwrap_or_else(|| "a freed communicator".to_owned());
            format!("{state}; {}{name}", tag(held.tag))
        }
        Kind::Task | Kind::General => state.to_owned(),
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
        assert_eq!(together(&[]), "");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "byte"), "1 byte");
        assert_eq!(counted(2, "byte"), "2 bytes");
    }
}
