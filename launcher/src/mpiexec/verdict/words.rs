//! What is said of a job that is stuck: who waits in what, for whom, and which messages are there that nobody has asked for.

use super::family::Family;
use super::told::ToldWait;
use oxmpi::transport::slots::{Message, View};
use oxmpi::transport::waits::{Kind, Object, Wait, Whom};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

/// Lines of each kind.
const LINES: usize = 16;

/// A wait of a thread.
pub struct Waiting {
    pub rank: usize,
    function: String,
    wait: Wait,
    messages: Vec<Message>,
    /// Where in the program, if that is known.
    place: String,
}

impl Waiting {
    /// Those of a rank, each with its place.
    pub fn of(rank: usize, view: &View, places: &mut dyn Iterator<Item = String>) -> Vec<Waiting> {
        let waiting = view.waits.iter().map(|shown| Waiting {
            rank,
            function: shown.waits.function.to_string(),
            wait: shown.waits.wait.clone(),
            messages: shown.messages.clone(),
            place: places.next().unwrap_or_default(),
        });
        waiting.collect()
    }

    pub fn tell(&self) -> ToldWait {
        let message = |it: &Message| (it.source, it.tag, it.context, it.bytes);
        ToldWait {
            function: self.function.clone(),
            words: self.wait.to_words().to_vec(),
            name: self.wait.name.clone(),
            messages: self.messages.iter().map(message).collect(),
            place: self.place.clone(),
        }
    }

    /// That of a rank of a family, where `number` finds those of processes. `None`: nonsense.
    pub fn of_told(
        told: ToldWait,
        rank: usize,
        number: impl Fn(u32) -> Option<u32>,
    ) -> Option<Waiting> {
        let words = told.words.try_into().ok()?;
        let mut wait = Wait::of_words(&words, told.name);
        if let Whom::Some(some) = &wait.whom {
            let some: Option<Vec<u32>> = some.iter().map(|process| number(*process)).collect();
            wait.whom = some.map_or(Whom::Any, |some| Whom::Some(some.into()));
        }
        let message = |(source, tag, context, bytes)| Message {
            source,
            tag,
            context,
            bytes,
        };
        Some(Waiting {
            rank,
            function: told.function,
            wait,
            messages: told.messages.into_iter().map(message).collect(),
            place: told.place,
        })
    }
}

/// All that wait and cannot go on.
pub struct Stuck {
    pub family: Family,
    pub waiting: Vec<Waiting>,
    /// Those that have ended.
    pub gone: BTreeSet<usize>,
    /// Whether others may go on.
    pub is_part: bool,
}

impl Stuck {
    /// Several lines.
    pub fn text(&self) -> String {
        let mut text = match self.is_part {
            false => {
                let others = match self.family.has_spawned() {
                    true => ", with what it has spawned",
                    false => "",
                };
                format!(
                    "mpiexec: the job is stuck{others}: no rank can go on (proved: every rank waits, and nothing is under way)\n"
                )
            }
            true => self.part(),
        };
        let mut add = |lines: Vec<String>| {
            let more = lines.len().saturating_sub(LINES);
            for line in lines.into_iter().take(LINES) {
                let _ = writeln!(text, "  {line}");
            }
            if more > 0 {
                let _ = writeln!(text, "  and {more} more lines like these");
            }
        };
        add(self.family.legend());
        add(self.groups());
        add(self.why().into_iter().collect());
        add(self.unexpected());
        text
    }

    /// Who is stuck while others are not.
    fn part(&self) -> String {
        let ranks: BTreeSet<usize> = self.waiting.iter().map(|waiting| waiting.rank).collect();
        let (verb, why) = match ranks.len() {
            1 => ("is", "it waits for itself"),
            _ => ("are", "each of them waits for others of them"),
        };
        format!(
            "mpiexec: {} {verb} stuck, whatever the others do (proved: {why}; only the end of the job or MPIX_Comm_revoke ends that)\n",
            self.named(&ranks)
        )
    }

    fn named(&self, ranks: &BTreeSet<usize>) -> String {
        self.family.named(ranks.iter().copied())
    }

    fn name(&self, rank: usize) -> String {
        self.family.named([rank])
    }

    /// Ranks of a job that wait alike, in a line: each job has names of its own for communicators.
    fn groups(&self) -> Vec<String> {
        let mut groups: Vec<([String; 2], BTreeSet<usize>)> = Vec::new();
        for waiting in &self.waiting {
            let what = [
                described(&waiting.function, &waiting.wait),
                waiting.place.clone(),
            ];
            let job = |rank| self.family.job_of(rank);
            let is_alike = |(other, ranks): &&mut ([String; 2], BTreeSet<usize>)| {
                let first = ranks.first().copied();
                *other == what && first.map(job) == Some(job(waiting.rank))
            };
            match groups.iter_mut().find(is_alike) {
                Some((_, ranks)) => {
                    ranks.insert(waiting.rank);
                }
                None => groups.push((what, BTreeSet::from([waiting.rank]))),
            }
        }
        if !self.gone.is_empty() {
            groups.push((["ended".to_owned(), String::new()], self.gone.clone()));
        }
        let lines: Vec<[String; 3]> = groups
            .into_iter()
            .map(|([what, place], ranks)| [format!("{}:", self.named(&ranks)), what, place])
            .collect();
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max();
        let widths = [0, 1].map(|at| width(at).unwrap_or(0));
        let line = |[ranks, what, place]: &[String; 3]| {
            let line = format!("{ranks:0$} {what:1$}  {place}", widths[0], widths[1]);
            line.trim_end().to_owned()
        };
        lines.iter().map(line).collect()
    }

    /// The processes that a rank waits for, where they are known.
    fn awaited(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut all: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for waiting in &self.waiting {
            if let Whom::Some(some) = &waiting.wait.whom {
                let some = some.iter().map(|process| *process as usize);
                let awaited = all.entry(waiting.rank).or_default();
                awaited.extend(some.filter(|rank| !self.takes_part(*rank, &waiting.wait)));
            }
        }
        all
    }

    /// Whether a rank has come to the meeting of all ranks of an object in which another waits, so that this does not wait for it.
    fn takes_part(&self, rank: usize, wait: &Wait) -> bool {
        matches!(
            wait.kind,
            Kind::Collective | Kind::Fence | Kind::FileMeeting
        ) && self.waiting.iter().any(|other| {
            other.rank == rank && other.wait.kind == wait.kind && other.wait.object == wait.object
        })
    }

    /// The shortest circle of ranks that wait for each other, or who is missing.
    fn why(&self) -> Option<String> {
        let awaited = self.awaited();
        let circles = awaited.keys().filter_map(|rank| circle(&awaited, *rank));
        if let Some(circle) = circles.min_by_key(Vec::len) {
            let first = circle[0];
            if circle.len() == 1 {
                return Some(format!("{} waits for itself", self.name(first)));
            }
            let mut line = self.name(first);
            for rank in circle.iter().skip(1).chain([&first]) {
                let _ = write!(line, " waits for {}, which", self.name(*rank));
            }
            let end = line.len() - ", which".len();
            line.truncate(end);
            return Some(line);
        }
        // Whoever is waited for and not in the same operation.
        for waiting in self
            .waiting
            .iter()
            .filter(|it| it.wait.object != Object::None)
        {
            let Whom::Some(some) = &waiting.wait.whom else {
                continue;
            };
            let missing = some.iter().map(|process| *process as usize);
            let missing: BTreeSet<usize> = missing
                .filter(|rank| !self.takes_part(*rank, &waiting.wait))
                .collect();
            if !missing.is_empty() {
                let have_ended = missing.iter().all(|rank| self.gone.contains(rank));
                let verb = match (have_ended, self.function_of(&missing)) {
                    (true, _) if missing.len() == 1 => "has ended".to_owned(),
                    (true, _) => "have ended".to_owned(),
                    (false, Some(function)) => format!("waits in {function}"),
                    (false, None) => "wait elsewhere".to_owned(),
                };
                let (rank, missing) = (self.name(waiting.rank), self.named(&missing));
                return Some(format!("{rank} waits for {missing}, which {verb}"));
            }
        }
        None
    }

    /// Of one rank with one wait.
    fn function_of(&self, ranks: &BTreeSet<usize>) -> Option<&str> {
        let mut waits = self.waiting.iter().filter(|it| ranks.contains(&it.rank));
        let first = waits.next()?;
        waits.next().is_none().then_some(&first.function)
    }

    /// Messages that were sent to ranks that wait, and that they do not want.
    fn unexpected(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for waiting in &self.waiting {
            for message in &waiting.messages {
                let Message {
                    source,
                    tag,
                    context,
                    bytes,
                } = *message;
                let title = self.title_of(context);
                let rank = self.name(waiting.rank);
                let line = format!(
                    "{rank} has a message that no receive asks for: from {source}, tag {tag}, {title} ({bytes} bytes)"
                );
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// What messages' communicator is called, if somebody waits there.
    fn title_of(&self, context: u32) -> String {
        let mut waits = self.waiting.iter().map(|waiting| &waiting.wait);
        let of_context = |wait: &&Wait| {
            let Object::Communicator(birth) = wait.object else {
                return false;
            };
            [birth as u32, (birth >> 32) as u32].contains(&context) && !wait.name.is_empty()
        };
        match waits.find(of_context) {
            Some(wait) => title(wait),
            None => format!("another communicator (context {context})"),
        }
    }
}

/// The shortest circle that a rank is in, itself first.
fn circle(awaited: &BTreeMap<usize, BTreeSet<usize>>, first: usize) -> Option<Vec<usize>> {
    let mut before = BTreeMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(rank) = queue.pop_front() {
        for next in awaited.get(&rank).into_iter().flatten() {
            if *next == first {
                let mut way = vec![rank];
                while let Some(rank) = way.last().and_then(|rank| before.get(rank)) {
                    way.push(*rank);
                }
                way.reverse();
                return Some(way);
            }
            if !before.contains_key(next) {
                before.insert(*next, rank);
                queue.push_back(*next);
            }
        }
    }
    None
}

/// What the object of a wait is called.
fn title(wait: &Wait) -> String {
    let name = wait.name.replace(char::is_control, "?");
    match (wait.object, name.is_empty()) {
        (Object::None, _) => String::new(),
        (_, false) => name,
        (Object::Window(_), _) => "a window".to_owned(),
        (Object::File(_), _) => "a file".to_owned(),
        (Object::Communicator(_), _) => "a communicator without a name".to_owned(),
    }
}

/// A wait in words.
fn described(function: &str, wait: &Wait) -> String {
    let number = |number: i32, any: &str| match number {
        0.. => number.to_string(),
        _ => any.to_owned(),
    };
    let title = title(wait);
    let on = match title.is_empty() {
        true => String::new(),
        false => format!(" on {title}"),
    };
    let message = |direction: &str| {
        let (peer, tag) = (number(wait.peer, "any rank"), number(wait.tag, "any"));
        format!("{direction} {peer}, tag {tag}, {title}")
    };
    let is_wait = function.starts_with("MPI_Wait");
    match wait.kind {
        Kind::Receive if is_wait => format!("{function} for a message {}", message("from")),
        Kind::Send if is_wait => format!("{function} for a send {}", message("to")),
        Kind::Partitioned => format!("{function} for partitions {}", message("of")),
        Kind::Receive | Kind::Probe => format!("{function} {}", message("from")),
        Kind::Send => format!("{function} {}", message("to")),
        Kind::Collective if is_wait => format!("{function} for a nonblocking operation{on}"),
        Kind::Collective if function == "MPI_Finalize" => function.to_owned(),
        Kind::Lock | Kind::Target if wait.peer >= 0 => {
            format!("{function} of target {}{on}", wait.peer)
        }
        Kind::Epoch if wait.peer >= 0 => {
            format!("{function} for MPI_Win_post of rank {}{on}", wait.peer)
        }
        Kind::Requests => format!("{function} for one of several requests"),
        _ => format!("{function}{on}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi::transport::slots::Shown;
    use oxmpi::transport::waits::Waits;

    fn view(function: &'static str, wait: Wait) -> Option<View> {
        Some(View {
            waiting: 1,
            waits: vec![Shown {
                slot: 0,
                looks: 0,
                checks: 0,
                waits: Waits {
                    function: function.into(),
                    wait,
                    ..Waits::default()
                },
                sites: [0; 8],
                messages: Vec::new(),
                closed: true,
            }],
            ..View::default()
        })
    }

    /// By rank; `None`: it has ended.
    fn stuck(views: &[Option<View>], places: Vec<String>) -> Stuck {
        let mut places = places.into_iter();
        let all = views.iter().enumerate();
        let waiting =
            all.filter_map(|(rank, view)| Some(Waiting::of(rank, view.as_ref()?, &mut places)));
        Stuck {
            family: Family::of_one(views.len()),
            waiting: waiting.flatten().collect(),
            gone: (0..views.len())
                .filter(|rank| views[*rank].is_none())
                .collect(),
            is_part: false,
        }
    }

    fn receive(from: u32, tag: i32) -> Wait {
        Wait {
            object: Object::Communicator(4 << 32 | 4),
            peer: from as i32,
            tag,
            context: 4,
            name: "MPI_COMM_WORLD".into(),
            ..Wait::of(Kind::Receive, Whom::of([from]))
        }
    }

    fn barrier(of: impl IntoIterator<Item = u32>) -> Wait {
        Wait {
            object: Object::Communicator(9),
            name: "grid".into(),
            ..Wait::of(Kind::Collective, Whom::of(of))
        }
    }

    #[test]
    fn a_circle_and_a_message_with_another_tag_are_named() {
        let mut waits_in_recv = view("MPI_Recv", receive(3, 9)).unwrap();
        waits_in_recv.waits[0].messages = vec![Message {
            source: 3,
            tag: 8,
            context: 4,
            bytes: 64,
        }];
        let all = [
            view("MPI_Allreduce", barrier([1])),
            Some(waits_in_recv),
            view("MPI_Allreduce", barrier([1])),
            view("MPI_Allreduce", barrier([1])),
        ];
        let places = ["solver.c:214 in residual", "halo.c:88 in exchange"];
        let places = [0, 1, 0, 0].map(|at: usize| places[at].to_owned());
        let text = stuck(&all, places.into()).text();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "  ranks 0, 2, 3: MPI_Allreduce on grid                   solver.c:214 in residual",
                "  rank 1:        MPI_Recv from 3, tag 9, MPI_COMM_WORLD  halo.c:88 in exchange",
                "  rank 1 waits for rank 3, which waits for rank 1",
                "  rank 1 has a message that no receive asks for: from 3, tag 8, MPI_COMM_WORLD (64 bytes)",
            ]
        );
    }

    #[test]
    fn ranks_in_a_barrier_wait_for_those_that_are_missing_there() {
        let all = [
            view("MPI_Barrier", barrier([1, 2, 3])),
            view("MPI_Barrier", barrier([0, 2, 3])),
            view("MPI_Recv", receive(3, 9)),
            view("MPI_Barrier", barrier([0, 1, 2])),
        ];
        let text = stuck(&all, Vec::new()).text();
        assert!(
            text.contains("rank 2 waits for rank 3, which waits for rank 2\n"),
            "{text}"
        );
        let elsewhere = view("MPI_Recv", receive(7, 9));
        let all = [all[0].clone(), all[1].clone(), elsewhere.clone(), elsewhere];
        let text = stuck(&all, Vec::new()).text();
        assert!(
            text.contains("rank 0 waits for ranks 2, 3, which wait elsewhere\n"),
            "{text}"
        );
    }

    #[test]
    fn a_wait_survives_being_told_and_ranks_that_are_stuck_beside_others_are_named() {
        let mut waits = view("MPI_Recv", receive(2, 9)).unwrap();
        waits.waits[0].messages = vec![Message {
            source: 2,
            tag: -1,
            context: 4,
            bytes: 64,
        }];
        let all = [None, Some(waits), view("MPI_Ssend", receive(1, 3))];
        let stuck = stuck(&all, vec!["halo.c:88 in exchange".into()]);
        let waiting = stuck
            .waiting
            .iter()
            .map(|waiting| Waiting::of_told(waiting.tell(), waiting.rank, Some));
        let again = Stuck {
            family: Family::of_one(3),
            waiting: waiting.collect::<Option<_>>().unwrap(),
            gone: BTreeSet::new(),
            is_part: true,
        };
        let text = again.text();
        let first = "mpiexec: ranks 1, 2 are stuck, whatever the others do (proved: each of them waits for others of them; only the end of the job or MPIX_Comm_revoke ends that)\n";
        assert!(text.starts_with(first), "{text}");
        assert!(
            text.contains("MPI_Recv from 2, tag 9, MPI_COMM_WORLD"),
            "{text}"
        );
        assert!(text.contains("halo.c:88 in exchange"), "{text}");
        assert!(
            text.contains("from 2, tag -1, MPI_COMM_WORLD (64 bytes)"),
            "{text}"
        );
        assert!(
            text.contains("rank 1 waits for rank 2, which waits for rank 1"),
            "{text}"
        );
    }

    #[test]
    fn who_is_missing_is_named() {
        let all = [
            view("MPI_Barrier", barrier([2])),
            view("MPI_Barrier", barrier([2])),
            view("MPI_Wait", receive(3, 1)),
            None,
        ];
        let text = stuck(&all, Vec::new()).text();
        assert!(
            text.contains("rank 0 waits for rank 2, which waits in MPI_Wait"),
            "{text}"
        );
        assert!(
            text.contains("rank 3:      ended") || text.contains("rank 3:   "),
            "{text}"
        );
        assert!(
            text.contains("MPI_Wait for a message from 3, tag 1"),
            "{text}"
        );
    }

    #[test]
    fn the_shortest_circle_is_found() {
        let awaited = |all: &[(usize, &[usize])]| -> BTreeMap<usize, BTreeSet<usize>> {
            all.iter()
                .map(|(rank, whom)| (*rank, whom.iter().copied().collect()))
                .collect()
        };
        let all = awaited(&[(0, &[1, 2]), (1, &[2]), (2, &[0])]);
        assert_eq!(circle(&all, 0), Some(vec![0, 2]));
        assert_eq!(circle(&all, 1), Some(vec![1, 2, 0]));
        assert_eq!(circle(&awaited(&[(0, &[0])]), 0), Some(vec![0]));
        assert_eq!(circle(&awaited(&[(0, &[1])]), 0), None);
    }

    #[test]
    fn ranks_are_named_in_ranges() {
        let set = |ranks: &[usize]| Family::of_one(9).named(ranks.iter().copied());
        assert_eq!(set(&[3]), "rank 3");
        assert_eq!(set(&[0, 2, 3, 4, 7, 8]), "ranks 0, 2-4, 7, 8");
    }

    #[test]
    fn of_many_lines_some_are_said() {
        let all: Vec<_> = (0..40)
            .map(|rank| view("MPI_Recv", receive(rank + 1, 0)))
            .collect();
        let text = stuck(&all, Vec::new()).text();
        assert!(text.contains("and 24 more lines like these"), "{text}");
    }
}
