//! Jobs that are judged together: a job and those that it has spawned, which one mpiexec has started (`docs/verdict.md`).
//!
//! Invariants: a rank that may be woken by a process of a job that is not of the family has strangers; what jobs have sent and handled that have
//! ended counts with the others'.

use super::proof::{Exchanged, Records, Seen};
use oxmpi::group::names;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A job, as its mpiexec tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: u64,
    pub program: String,
    /// The job that has spawned it, and which rank there.
    pub spawner: Option<(u64, u32)>,
    /// Whether it has more hosts than one.
    pub is_spread: bool,
    pub ranks: Vec<Seen>,
    pub ended: Ended,
}

/// Jobs that a job has spawned and that have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub ids: Vec<u64>,
    /// Of all their ranks.
    pub records: Records,
    /// Other jobs that have sent some of them, or handled some.
    pub met: Vec<u64>,
    /// One has not said what its ranks have sent and handled.
    pub is_unknown: bool,
}

impl Ended {
    pub fn add(&mut self, other: &Ended) {
        self.ids.extend(&other.ids);
        self.is_unknown |= other.is_unknown;
        self.add_rank(&Exchanged {
            records: other.records,
            jobs: other.met.clone(),
        });
    }

    /// What a rank had sent and handled.
    pub fn add_rank(&mut self, rank: &Exchanged) {
        self.records = self.records.and(rank.records);
        for job in &rank.jobs {
            if !self.met.contains(job) {
                self.met.push(*job);
            }
        }
    }

    /// As a word.
    pub fn word(&self) -> String {
        let list = |ids: &[u64]| {
            let ids = ids.iter().map(|id| format!("{id:x}"));
            ids.collect::<Vec<_>>().join(",")
        };
        let (unknown, ids, met) = (u8::from(self.is_unknown), list(&self.ids), list(&self.met));
        let Records { sent, handled } = self.records;
        format!("{unknown}:{sent}:{handled}:{ids}:{met}")
    }

    /// As [`Ended::word`] has made it.
    pub fn of_word(word: &str) -> Option<Ended> {
        let mut parts = word.split(':');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let (unknown, sent, handled) = (number()?, number()?, number()?);
        let mut list = || {
            let ids = parts.next()?.split(',').filter(|id| !id.is_empty());
            let ids: Result<Vec<u64>, _> = ids.map(|id| u64::from_str_radix(id, 16)).collect();
            ids.ok()
        };
        let (ids, met) = (list()?, list()?);
        Some(Ended {
            ids,
            met,
            records: Records { sent, handled },
            is_unknown: unknown != 0,
        })
    }

    /// One of which nothing is known.
    pub fn add_unknown(&mut self) {
        self.is_unknown = true;
    }
}

impl Job {
    /// One that cannot be asked.
    pub fn unknown() -> Job {
        Job {
            id: 0,
            program: String::new(),
            spawner: None,
            is_spread: false,
            ranks: vec![Seen::Open],
            ended: Ended::default(),
        }
    }
}

/// The members of a family, for numbers and names of their ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    id: u64,
    program: String,
    spawner: Option<(u64, u32)>,
    /// The number of its first rank, and how many it has.
    first: usize,
    size: usize,
}

impl Family {
    /// The family of some jobs, the first of which has spawned the others or their parents.
    pub fn of(jobs: &[Job]) -> Family {
        let mut first = 0;
        let member = |job: &Job| {
            let member = Member {
                id: job.id,
                program: job.program.clone(),
                spawner: job.spawner,
                first,
                size: job.ranks.len(),
            };
            first += member.size;
            member
        };
        Family {
            members: jobs.iter().map(member).collect(),
        }
    }

    /// Of one job.
    #[cfg(test)]
    pub fn of_one(ranks: usize) -> Family {
        Family {
            members: vec![Member {
                id: 1,
                program: String::new(),
                spawner: None,
                first: 0,
                size: ranks,
            }],
        }
    }

    /// The number of a rank of a job.
    pub fn number(&self, job: u64, rank: u32) -> Option<usize> {
        let member = self.members.iter().find(|member| member.id == job)?;
        ((rank as usize) < member.size).then_some(member.first + rank as usize)
    }

    /// The number of a process that a rank of `job` has on its page, beside these `jobs`.
    pub fn number_on_page(&self, job: u64, jobs: &[u64], word: u32) -> Option<usize> {
        match names::of_page(word) {
            (None, rank) => self.number(job, rank),
            (Some(place), rank) => self.number(*jobs.get(place)?, rank),
        }
    }

    /// The ranks of all jobs by number, and behind them what has ended.
    pub fn all(&self, jobs: Vec<Job>) -> Vec<Seen> {
        let mut ended = Ended::default();
        jobs.iter().for_each(|job| ended.add(&job.ended));
        let known: Vec<u64> = jobs.iter().map(|job| job.id).chain(ended.ids).collect();
        let is_known = |job: &u64| *job == 0 || known.contains(job);
        // What strangers have sent to those that have ended, or got from them, nobody counts.
        let is_unknown = ended.is_unknown || !ended.met.iter().all(is_known);
        let mut all = Vec::new();
        for job in jobs {
            let id = job.id;
            all.extend(job.ranks.into_iter().map(|mut seen| {
                if let Seen::Met(met) = &seen {
                    let is_gone = !is_unknown && met.jobs.iter().all(is_known);
                    return match is_gone {
                        true => Seen::Gone(met.records),
                        false => Seen::Open,
                    };
                }
                if let Seen::Passive(passive) = &mut seen {
                    passive.has_strangers |= is_unknown || !passive.jobs.iter().all(is_known);
                    let is_whole = self.members.len() == 1 && passive.are_pairs_whole(self.size());
                    passive.pairs = passive.pairs.take().filter(|_| is_whole);
                    let needs = passive.needs.take();
                    // A stranger that dies may end an operation of a communicator that it is in.
                    let needs = needs.filter(|_| !(passive.has_strangers && passive.is_collective));
                    let number = |word: &u32| {
                        let number = self.number_on_page(id, &passive.jobs, *word)?;
                        Some(number as u32)
                    };
                    passive.needs = needs.and_then(|needs| needs.iter().map(number).collect());
                }
                seen
            }));
        }
        if ended.records != Records::default() {
            all.push(Seen::Gone(ended.records));
        }
        all
    }

    /// How many ranks it has.
    pub fn size(&self) -> usize {
        self.members.iter().map(|member| member.size).sum()
    }

    pub fn has_spawned(&self) -> bool {
        self.members.len() > 1
    }

    /// Ranks by job: the number of the job in the family, and the first rank's.
    fn place(&self, number: usize) -> (usize, usize) {
        let mut members = self.members.iter().enumerate();
        let found = members.find(|(_, member)| number < member.first + member.size);
        found.map_or((0, number), |(at, member)| (at, number - member.first))
    }

    /// Which job a rank is of, by number in the family.
    pub fn job_of(&self, number: usize) -> usize {
        self.place(number).0
    }

    /// "rank 3", "ranks 0, 2-5", "rank 0 of job 1".
    pub fn named(&self, numbers: impl IntoIterator<Item = usize>) -> String {
        let mut parts: Vec<(usize, Vec<usize>)> = Vec::new();
        for number in numbers {
            let (job, rank) = self.place(number);
            match parts.last_mut() {
                Some((last, ranks)) if *last == job => ranks.push(rank),
                _ => parts.push((job, vec![rank])),
            }
        }
        let part = |(job, ranks): &(usize, Vec<usize>)| match job {
            0 => in_ranges(ranks),
            _ => format!("{} of job {job}", in_ranges(ranks)),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(" and ")
    }

    /// What jobs the numbers of jobs mean, a line each; nothing if there is but one.
    pub fn legend(&self) -> Vec<String> {
        let jobs = self.members.iter().enumerate().skip(1);
        let line = |(at, member): (usize, &Member)| {
            let ranks = if member.size == 1 { "rank" } else { "ranks" };
            let mut line = format!("job {at} is {} ({} {ranks})", member.program, member.size);
            if let Some((job, rank)) = member.spawner
                && let Some(number) = self.number(job, rank)
            {
                let _ = write!(line, ", spawned by {}", self.named([number]));
            }
            line
        };
        jobs.map(line).collect()
    }
}

/// "rank 3", "ranks 0, 2-5", of ascending numbers.
fn in_ranges(ranks: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *rank => *last = *rank,
            _ => ranges.push((*rank, *rank)),
        }
    }
    let range = |(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    };
    let ranges: Vec<String> = ranges.iter().map(range).collect();
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{word} {}", ranges.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::proof::Passive;
    use super::*;

    /// The first process of the first other job on a page.
    const OTHER: u32 = 1 << 31;

    fn passive(jobs: &[u64], needs: &[u32]) -> Passive {
        Passive {
            jobs: jobs.to_vec(),
            needs: Some(needs.to_vec()),
            ..Passive::default()
        }
    }

    fn job(id: u64, ranks: &[Passive]) -> Job {
        Job {
            id,
            program: format!("./of{id}"),
            spawner: (id > 7).then_some((7, 1)),
            ranks: ranks.iter().cloned().map(Seen::Passive).collect(),
            ..Job::unknown()
        }
    }

    /// Needs and whether it has strangers, of each.
    fn known(jobs: &[Job]) -> Vec<(Option<Vec<u32>>, bool)> {
        let all = Family::of(jobs).all(jobs.to_vec());
        let known = all.into_iter().filter_map(|seen| match seen {
            Seen::Passive(passive) => Some((passive.needs, passive.has_strangers)),
            _ => None,
        });
        known.collect()
    }

    #[test]
    fn processes_of_a_family_are_numbered_through() {
        let parents = [passive(&[], &[1]), passive(&[0, 8], &[0, OTHER | 1 << 24])];
        let child = passive(&[7], &[0, OTHER | 1]);
        let family = [job(7, &parents), job(8, &[child])];
        let all = [Some(vec![1]), Some(vec![0, 2]), Some(vec![2, 1])];
        assert_eq!(known(&family), all.map(|needs| (needs, false)));
    }

    #[test]
    fn a_job_that_is_not_of_the_family_is_a_stranger() {
        let one = passive(&[9], &[1]);
        let waits_for_it = passive(&[9], &[OTHER]);
        let operation = Passive {
            is_collective: true,
            ..one.clone()
        };
        let ranks = [one, waits_for_it, operation];
        let all = [Some(vec![1]), None, None];
        assert_eq!(
            known(&[job(7, &ranks)]),
            all.clone().map(|needs| (needs, true))
        );
        // One that has ended may end no wait any more, but of one that has not said what it had sent nobody knows.
        let mut family = job(7, &ranks[..2]);
        family.ended.ids.push(9);
        let needs = |strangers| [(Some(vec![1]), strangers), (None, strangers)];
        assert_eq!(known(&[family.clone()]), needs(false));
        family.ended.add_unknown();
        assert_eq!(known(&[family]), needs(true));
    }

    #[test]
    fn what_ended_jobs_have_sent_counts() {
        let mut one = job(7, &[passive(&[], &[0])]);
        let records = Records {
            sent: 3,
            handled: 2,
        };
        one.ended.records = records;
        let all = Family::of(&[one.clone()]).all(vec![one]);
        assert_eq!(all[1..], [Seen::Gone(records)]);
    }

    #[test]
    fn who_has_ended_and_met_a_stranger_may_have_been_sent_anything() {
        let records = Records {
            sent: 3,
            handled: 2,
        };
        let met = |job| {
            Seen::Met(Exchanged {
                records,
                jobs: vec![job],
            })
        };
        let family = |last| {
            let mut parents = job(7, &[passive(&[8], &[0])]);
            parents.ranks.push(last);
            vec![parents, job(8, &[passive(&[7], &[0])])]
        };
        let last = |family: Vec<Job>| Family::of(&family).all(family)[1].clone();
        assert_eq!(last(family(met(8))), Seen::Gone(records));
        assert_eq!(last(family(met(9))), Seen::Open);
        // So with a job that has ended.
        let has_strangers = |met| {
            let mut one = job(7, &[passive(&[], &[0])]);
            one.ended.ids = vec![8];
            one.ended.add_rank(&Exchanged {
                records,
                jobs: vec![met],
            });
            known(&[one])[0].1
        };
        assert_eq!([7, 8, 9].map(has_strangers), [false, false, true]);
    }

    #[test]
    fn what_has_ended_survives_being_a_word() {
        for ids in [vec![], vec![u64::MAX, 1]] {
            let ended = Ended {
                met: ids.clone(),
                ids,
                records: Records {
                    sent: 7,
                    handled: 0,
                },
                is_unknown: true,
            };
            assert_eq!(Ended::of_word(&ended.word()), Some(ended));
        }
        assert_eq!(Ended::of_word("0:1"), None);
    }

    #[test]
    fn ranks_are_named_with_their_jobs() {
        let one = passive(&[], &[]);
        let ranks = || vec![one.clone(); 3];
        let family = Family::of(&[job(7, &ranks()), job(8, &ranks())]);
        assert_eq!(family.named([0, 1, 2]), "ranks 0-2");
        assert_eq!(family.named([1, 3, 5]), "rank 1 and ranks 0, 2 of job 1");
        assert_eq!(
            family.legend(),
            ["job 1 is ./of8 (3 ranks), spawned by rank 1"]
        );
        assert_eq!((family.size(), family.has_spawned()), (6, true));
    }
}
