//! Processes of other hosts at a meeting: what they tell each other of their fabrics, and the life lines between them.
//!
//! Invariant: whether two processes are far from each other follows from their cards, and whether their fabrics go together from what
//! all of both groups are told: all come to the same answer.

use super::card::{Card, FarCard, Offered};
use super::codec::{decode, encode};
use super::conversation::Conversation;
use super::port::{self, Deadline};
use super::reception::{Addresses, Reception};
use crate::connections::far::{self, Offer};
use crate::engine::losses::{self, Cause};
use crate::error::{Class, Error, Result, fail};
use crate::os::addresses;
use crate::transport::Loss;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

/// For all life lines of a process, seconds.
const TIME: f64 = 30.0;
/// Cookie and place.
type Greeting = (u128, u32);
const GREETING_BYTES: usize = 16 + 4;
const READY: u8 = b'+';

/// Whether two processes reach each other over the fabric only.
pub fn are_far(one: &Card, other: &Card) -> bool {
    one.name.job != other.name.job && one.host != other.host
}

/// Where the accepting process waits for life lines.
pub struct Waiting {
    reception: Reception,
    cookie: u128,
}

/// Somebody to whom a life line is needed: place in its group, and its card.
pub type Wanted = Vec<(usize, FarCard)>;

/// What this process has for those that are far from it.
pub struct Far {
    pub card: FarCard,
    pub offer: Offer,
    /// If others connect to it.
    pub waiting: Option<Waiting>,
}

impl Far {
    /// Opens the fabric, and a port for life lines if this process `waits` for them.
    ///
    /// Errors: a text for all of both groups.
    pub fn open(conversation: &mut Conversation, waits: bool) -> std::result::Result<Far, String> {
        let (_, compared) = super::joined().map_err(|error| error.text())?;
        let run = |open: far::Open| match conversation.step(move |_| Ok(open())) {
            Ok(net) => net,
            Err(error) => Err(error.text()),
        };
        let offer = far::offer(compared, run)?;
        let uname = rustix::system::uname();
        let mut card = FarCard {
            end: offer.end.clone(),
            machine: addresses::machine(),
            host: uname.nodename().to_string_lossy().into_owned(),
            ..FarCard::default()
        };
        let mut waiting = None;
        if waits {
            let opened = Waiting::open(Addresses::of_settings());
            let opened = opened.map_err(|error| format!("no port can be opened: {error}"))?;
            card.cookie = addresses::random();
            let reception;
            (reception, card.port, card.addresses) = opened;
            let cookie = card.cookie;
            waiting = Some(Waiting { reception, cookie });
        }
        Ok(Far {
            card,
            offer,
            waiting,
        })
    }
}

/// A group: cards, and what each process offers.
pub type Group<'a> = (&'a [Card], &'a [Offered]);

/// Whether messages between two groups can go over the fabric. All of both come to the same answer.
///
/// Errors: MPI_ERR_OTHER, a process has no fabric, or providers or settings of two differ.
pub fn compare(ours: Group<'_>, theirs: Group<'_>) -> Result<()> {
    for (group, of_whom) in [(ours, "this"), (theirs, "the other")] {
        for (rank, offered) in group.1.iter().enumerate() {
            if let Some(Err(text)) = &offered.far {
                return fail!(
                    Class::Other,
                    "rank {rank} of {of_whom} group has no fabric, which messages between hosts need: {text}"
                );
            }
        }
    }
    for (rank, (card, offered)) in ours.0.iter().zip(ours.1).enumerate() {
        for (other, (their_card, theirs)) in theirs.0.iter().zip(theirs.1).enumerate() {
            let (Some(Ok(one)), Some(Ok(two))) = (&offered.far, &theirs.far) else {
                continue;
            };
            if are_far(card, their_card) {
                check(one, two).map_err(|what| {
                    let text = format!(
                        "rank {rank} of this group on {} and rank {other} of the other one on {} {what}",
                        one.host, two.host
                    );
                    Error::new(Class::Other, text)
                })?;
            }
        }
    }
    Ok(())
}

/// Why two processes cannot talk.
fn check(one: &FarCard, two: &FarCard) -> std::result::Result<(), String> {
    if one.end.settings != two.end.settings {
        let shown = |settings: &str| match settings.is_empty() {
            true => "all as by default".to_owned(),
            false => settings.to_owned(),
        };
        return Err(format!(
            "have different settings, which must be the same on both sides: {}, and {}",
            shown(&one.end.settings),
            shown(&two.end.settings)
        ));
    }
    if one.end.provider != two.end.provider {
        return Err(format!(
            "send messages between hosts by different providers: {}, and {}; OXMPI_FABRIC can choose one for both",
            one.end.provider, two.end.provider
        ));
    }
    if one.machine != two.machine && (one.end.is_loopback || two.end.is_loopback) {
        return Err(format!(
            "cannot reach each other: the fabric of {} is that of one machine only (interface lo); OXMPI_INTERFACE can name another",
            if one.end.is_loopback {
                &one.host
            } else {
                &two.host
            }
        ));
    }
    Ok(())
}

/// Connects this process, at this place of its group, with those who wait. To be called where blocking is no harm.
///
/// Errors: MPI_ERR_OTHER, one cannot be reached.
pub fn reach(place: usize, wanted: Wanted) -> Result<Vec<(usize, TcpStream)>> {
    let deadline = Deadline::after(TIME);
    let reach_one = |(other, card): (usize, FarCard)| {
        let greet =
            |stream| Ok(greet(stream, &card, place, deadline).map_err(|why| port::why(&why)));
        let found = port::reach(&card.addresses, card.port, deadline, greet)?;
        found.map(|stream| (other, stream)).map_err(|why| {
            let text = format!(
                "rank {other} of the other group, on {}, cannot be reached by TCP ({why})",
                card.host
            );
            losses::error_of(Cause::Lost(Some(Loss::Unreachable)), text)
        })
    };
    wanted.into_iter().map(reach_one).collect()
}

fn greet(
    mut stream: TcpStream,
    card: &FarCard,
    place: usize,
    deadline: Deadline,
) -> std::io::Result<TcpStream> {
    stream.set_read_timeout(Some(deadline.left().max(Duration::from_millis(1))))?;
    let greeting: Greeting = (card.cookie, place as u32);
    stream.write_all(&encode(&greeting))?;
    let mut answer = [0u8];
    stream.read_exact(&mut answer)?;
    match answer[0] {
        READY => Ok(stream),
        _ => Err(ErrorKind::InvalidData.into()),
    }
}

impl Waiting {
    fn open(addresses: Addresses) -> std::io::Result<(Reception, u16, Vec<IpAddr>)> {
        Reception::open(addresses, 0, |said| GREETING_BYTES - said.len())
    }

    /// Waits until all of these have connected. To be called where blocking is no harm. `may_go_on` is asked from time to time: one that has died,
    /// or has given up because another one has, never comes.
    ///
    /// Errors: of `may_go_on`; MPI_ERR_OTHER, one has not in time.
    pub fn until_reached(
        mut self,
        wanted: Wanted,
        may_go_on: impl Fn() -> Result<()>,
    ) -> Result<Vec<(usize, TcpStream)>> {
        let deadline = Deadline::after(TIME);
        let mut missing: Vec<(usize, String)> = wanted
            .into_iter()
            .map(|(place, card)| (place, card.host))
            .collect();
        let mut found = Vec::new();
        while let Some((place, host)) = missing.first() {
            may_go_on()?;
            if deadline.is_over() {
                return fail!(
                    Class::Other,
                    "rank {place} of the other group, on {host}, has not reached this process by TCP within {TIME} seconds"
                );
            }
            let heard = self.reception.turn().map_err(|error| {
                Error::new(
                    Class::Other,
                    format!("no connection can be accepted: {error}"),
                )
            })?;
            let nobody = heard.is_empty();
            for (stream, greeting) in heard {
                if let Some((place, stream)) = self.hear(stream, &greeting)
                    && let Some(at) = missing.iter().position(|it| it.0 == place)
                {
                    missing.swap_remove(at);
                    found.push((place, stream));
                }
            }
            if nobody {
                let limit = deadline.left().min(Duration::from_millis(200));
                self.reception.wait(std::iter::empty(), limit);
            }
        }
        Ok(found)
    }

    /// `None`: a stranger, or somebody who has gone.
    fn hear(&self, mut stream: TcpStream, greeting: &[u8]) -> Option<(usize, TcpStream)> {
        let (cookie, place) = decode::<Greeting>(greeting)?;
        if cookie != self.cookie {
            return None;
        }
        stream.set_nonblocking(false).ok()?;
        stream.write_all(&[READY]).ok()?;
        Some((place as usize, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::far::End;
    use crate::group::names::Name;
    use crate::os::process::Birth;

    fn card(job: u64, host: u64) -> Card {
        Card {
            name: Name { job, rank: 0 },
            host,
            birth: Birth { pid: 1, ticks: 1 },
            home: super::super::card::Remote { fd: 1, inode: 1 },
            ranks: 1,
            seat: 0,
            node: 0,
        }
    }

    fn far_card(provider: &str) -> FarCard {
        FarCard {
            end: End {
                provider: provider.to_owned(),
                ..End::default()
            },
            machine: 7,
            host: "here".to_owned(),
            addresses: vec!["10.0.0.1".parse().unwrap(), "127.0.0.1".parse().unwrap()],
            port: 99,
            cookie: u128::MAX,
        }
    }

    fn offered(told: std::result::Result<FarCard, String>) -> Offered {
        Offered {
            segment: None,
            far: Some(told),
        }
    }

    #[test]
    fn both_sides_of_a_difference_are_named() {
        let (ours, theirs) = ([card(1, 1)], [card(2, 2)]);
        let compared = |one, two| {
            let result = compare((&ours, &[offered(one)]), (&theirs, &[offered(two)]));
            result.err().map(|error| error.text().to_owned())
        };
        assert_eq!(compared(Ok(far_card("net")), Ok(far_card("net"))), None);
        let text = compared(Ok(far_card("net")), Ok(far_card("tcp"))).unwrap();
        assert!(text.contains("net, and tcp"), "{text}");
        let mut set = far_card("net");
        set.end.settings = "OXMPI_X=1".to_owned();
        let text = compared(Ok(far_card("net")), Ok(set)).unwrap();
        assert!(text.contains("default, and OXMPI_X=1"), "{text}");
        let mut elsewhere = far_card("net");
        elsewhere.machine = 8;
        elsewhere.end.is_loopback = true;
        assert!(compared(Ok(far_card("net")), Ok(elsewhere)).is_some());
        let text = compared(Ok(far_card("net")), Err("no library".to_owned())).unwrap();
        assert!(
            text.contains("the other group") && text.contains("no library"),
            "{text}"
        );
        // Those of one host need no fabric.
        let here = [card(2, 1)];
        let near = compare(
            (&ours, &[offered(Ok(far_card("net")))]),
            (&here, &[offered(Ok(far_card("tcp")))]),
        );
        assert!(near.is_ok());
    }

    #[test]
    fn life_lines_are_made_to_those_who_are_wanted() {
        let local = Addresses::one("127.0.0.1".parse().unwrap());
        let (reception, port, addresses) = Waiting::open(local).unwrap();
        let reached = FarCard {
            port,
            addresses,
            cookie: 5,
            ..far_card("net")
        };
        let waiting = Waiting {
            reception,
            cookie: 5,
        };
        // They say nothing, or half of it, and keep nobody waiting.
        let mut strangers: Vec<TcpStream> = (0..200)
            .map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap())
            .collect();
        strangers[0].write_all(&[5]).unwrap();
        let others = std::thread::spawn(move || {
            let stranger = FarCard {
                cookie: 6,
                ..reached.clone()
            };
            assert!(reach(1, vec![(0, stranger)]).is_err());
            [3, 1].map(|place| reach(place, vec![(4, reached.clone())]).unwrap())
        });
        let wanted = vec![(1, far_card("net")), (3, far_card("net"))];
        let mut found = waiting.until_reached(wanted, || Ok(())).unwrap();
        found.sort_by_key(|it| it.0);
        let theirs = others.join().unwrap();
        assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 3]);
        for (place, own) in [(0, 1), (1, 0)] {
            let (there, stream) = &theirs[own][0];
            assert_eq!(
                (*there, stream.local_addr().unwrap()),
                (4, found[place].1.peer_addr().unwrap())
            );
        }
    }

    #[test]
    fn nobody_is_waited_for_when_the_groups_cannot_meet_any_more() {
        let local = Addresses::one("127.0.0.1".parse().unwrap());
        let (reception, ..) = Waiting::open(local).unwrap();
        let waiting = Waiting {
            reception,
            cookie: 5,
        };
        let looks = std::cell::Cell::new(0);
        let lives = || {
            looks.set(looks.get() + 1);
            match looks.get() < 3 {
                true => Ok(()),
                false => fail!(Class::ProcFailed, "it has ended"),
            }
        };
        let wanted = vec![(1, far_card("net"))];
        let told = waiting.until_reached(wanted, lives).err().unwrap();
        assert_eq!(told.class(), Class::ProcFailed, "{told}");
    }
}
