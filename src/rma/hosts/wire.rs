//! What is in a message to a rank of a window on another host (a *call*), and in its answer.
//!
//! ```text
//! call      head of 8 words, groups of 4 words, data          answer    class of an error or zero, then data or the error's text
//! ```
//!
//! A *group* is equally long pieces of the target's memory at equal distances: a derived datatype goes over the wire as its groups.

use crate::error::{Class, Error, Result, class_of};

/// The context of calls, and that of answers; none of a communicator's. The low bits say that they are the library's own.
pub const CALLS: u32 = 0xffff_0001;
pub const ANSWERS: u32 = 0xffff_0002;

const WORD: usize = size_of::<u64>();
const HEAD: usize = 6;
const GROUP: usize = 4;

/// Bytes in front of an answer's data.
pub const ANSWER_HEAD: usize = WORD;
/// Room that an answer has at least, for the text of an error.
pub const ANSWER_LEAST: usize = 1024;

/// What a call asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Put = 1,
    Get = 2,
    Accumulate = 3,
    GetAccumulate = 4,
    /// Compare-and-swap; the data is what to compare with, and the new element.
    Swap = 5,
    LockExclusive = 6,
    LockShared = 7,
    // What follows has no answer.
    UnlockExclusive = 8,
    UnlockShared = 9,
    Post = 10,
    Complete = 11,
}

const KINDS: [Kind; 11] = [
    Kind::Put,
    Kind::Get,
    Kind::Accumulate,
    Kind::GetAccumulate,
    Kind::Swap,
    Kind::LockExclusive,
    Kind::LockShared,
    Kind::UnlockExclusive,
    Kind::UnlockShared,
    Kind::Post,
    Kind::Complete,
];

/// The head of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub kind: Kind,
    /// The window.
    pub key: u64,
    /// The caller's rank in the window.
    pub rank: u32,
    /// The tag of the answer.
    pub token: i32,
    /// Number of an operation that accumulates.
    pub operation: u32,
    /// Handle of the predefined type of the elements.
    pub basic: i32,
    /// Packed bytes of the elements.
    pub bytes: u64,
}

/// Pieces of the target's memory. Addresses count from the window's first byte there; in a dynamic window they are the target's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    pub first: u64,
    /// Of each piece; of pairs, the packed bytes of one.
    pub bytes: u64,
    /// From one piece to the next, modulo 2^64.
    pub stride: u64,
    pub count: u64,
}

impl Group {
    /// The addresses of the pieces.
    pub fn addresses(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |at| self.first.wrapping_add(at.wrapping_mul(self.stride)))
    }
}

/// Groups that are being put together from pieces.
#[derive(Default)]
pub struct Groups(pub Vec<Group>);

/// Groups of a call, at most.
const MOST: usize = 2048;

impl Groups {
    /// Adds a piece. False: there are too many.
    pub fn add(&mut self, address: u64, bytes: u64) -> bool {
        let is_full = self.0.len() >= MOST;
        if let Some(last) = self.0.last_mut()
            && last.bytes == bytes
        {
            if last.count == 1 {
                last.stride = address.wrapping_sub(last.first);
            }
            if last
                .first
                .wrapping_add(last.count.wrapping_mul(last.stride))
                == address
            {
                last.count += 1;
                return true;
            }
        }
        if is_full {
            return false;
        }
        self.0.push(Group {
            first: address,
            bytes,
            stride: bytes,
            count: 1,
        });
        true
    }
}

/// The bytes of a call; `data` appends `head.bytes` or none.
pub fn encode(head: &Head, groups: &[Group], data: usize) -> Vec<u8> {
    let words = [
        head.key,
        head.kind as u64 | u64::from(head.operation) << 32,
        u64::from(head.rank) | u64::from(head.token as u32) << 32,
        u64::from(head.basic as u32),
        head.bytes,
        groups.len() as u64,
    ];
    let mut bytes = Vec::with_capacity((HEAD + GROUP * groups.len()) * WORD + data);
    let mut add = |word: u64| bytes.extend_from_slice(&word.to_ne_bytes());
    words.into_iter().for_each(&mut add);
    for group in groups {
        [group.first, group.bytes, group.stride, group.count]
            .into_iter()
            .for_each(&mut add);
    }
    bytes
}

/// A call, as it has come.
pub struct Call<'a> {
    pub head: Head,
    pub groups: Vec<Group>,
    pub data: &'a [u8],
}

impl<'a> Call<'a> {
    /// `None`: this is no call.
    pub fn decode(bytes: &'a [u8]) -> Option<Call<'a>> {
        let (head, rest) = bytes.split_at_checked(HEAD * WORD)?;
        let word = |bytes: &[u8], at: usize| {
            let bytes = bytes[at * WORD..][..WORD].try_into();
            u64::from_ne_bytes(bytes.unwrap_or_default())
        };
        let count = usize::try_from(word(head, 5)).ok()?;
        let (groups, data) = rest.split_at_checked(count.checked_mul(GROUP * WORD)?)?;
        let kind = word(head, 1) as u8;
        let groups = groups.chunks_exact(GROUP * WORD).map(|group| Group {
            first: word(group, 0),
            bytes: word(group, 1),
            stride: word(group, 2),
            count: word(group, 3),
        });
        Some(Call {
            head: Head {
                kind: *KINDS.iter().find(|known| **known as u8 == kind)?,
                key: word(head, 0),
                rank: word(head, 2) as u32,
                token: (word(head, 2) >> 32) as i32,
                operation: (word(head, 1) >> 32) as u32,
                basic: word(head, 3) as i32,
                bytes: word(head, 4),
            },
            groups: groups.collect(),
            data,
        })
    }

    /// Whether the groups are as many bytes as the head says.
    pub fn is_sound(&self) -> bool {
        let sum = self.groups.iter().try_fold(0u64, |sum, group| {
            sum.checked_add(group.bytes.checked_mul(group.count)?)
        });
        sum == Some(self.head.bytes)
    }
}

/// The bytes of an answer.
pub fn answer(result: Result<Vec<u8>>) -> Vec<u8> {
    match result {
        // Its data is behind the head already.
        Ok(mut bytes) => {
            bytes[..WORD].fill(0);
            bytes
        }
        Err(error) => {
            let mut bytes = (error.class().value() as u64).to_ne_bytes().to_vec();
            let text = error.text();
            let mut end = text.len().min(ANSWER_LEAST - WORD);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            bytes.extend_from_slice(&text.as_bytes()[..end]);
            bytes
        }
    }
}

/// Room for an answer with so many bytes of data.
pub fn room(data: usize) -> Vec<u8> {
    vec![0; WORD + data]
}

/// What an answer says; its data is behind the head.
///
/// Errors: those of the target.
pub fn outcome(bytes: &[u8]) -> Result<()> {
    let head = bytes.get(..WORD).and_then(|head| head.try_into().ok());
    match head.map(u64::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(class) => Err(Error::new(
            class_of(class as i32),
            String::from_utf8_lossy(&bytes[WORD..]).into_owned(),
        )),
        None => Err(Error::new(
            Class::Intern,
            "a target has answered nothing".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(kind: Kind) -> Head {
        Head {
            kind,
            key: 7 << 32 | 3,
            rank: 5,
            token: i32::MAX - 1,
            operation: 14,
            basic: 0x4c00_0405,
            bytes: 24,
        }
    }

    #[test]
    fn calls_are_read_as_they_were_written() {
        for kind in KINDS {
            let mut groups = Groups::default();
            for address in [64, 128, 192, 200] {
                assert!(groups.add(address, if address < 200 { 6 } else { 3 }));
            }
            assert!(groups.add(300, 3));
            let mut bytes = encode(&head(kind), &groups.0, 24);
            bytes.extend(0..24);
            let call = Call::decode(&bytes).unwrap();
            assert_eq!((call.head, &call.groups), (head(kind), &groups.0));
            assert_eq!(call.data, (0..24).collect::<Vec<u8>>());
            assert!(call.is_sound());
            for cut in 0..bytes.len() - 24 {
                assert!(Call::decode(&bytes[..cut]).is_none(), "{cut}");
            }
        }
        let mut wrong = encode(&head(Kind::Put), &[], 0);
        assert!(!Call::decode(&wrong).unwrap().is_sound());
        wrong[8] = 99;
        assert!(Call::decode(&wrong).is_none());
    }

    #[test]
    fn groups_have_the_pieces_in_order() {
        let lists: [&[(u64, u64)]; 5] = [
            &[(0, 8)],
            &[(0, 8), (16, 8), (32, 8), (40, 8), (8, 8)],
            &[(100, 4), (96, 4), (92, 4), (92, 8)],
            &[(0, 8), (0, 8), (0, 8)],
            &[(8, 1), (16, 2), (24, 3)],
        ];
        for list in lists {
            let mut groups = Groups::default();
            for (address, bytes) in list {
                assert!(groups.add(*address, *bytes));
            }
            let pieces = groups.0.iter();
            let pieces = pieces.flat_map(|it| it.addresses().map(|address| (address, it.bytes)));
            assert_eq!(pieces.collect::<Vec<_>>(), list);
        }
        let mut groups = Groups::default();
        let added = (0..3 * MOST as u64).take_while(|at| groups.add(at * at * 100, at + 1));
        assert_eq!(added.count(), MOST);
    }

    #[test]
    fn errors_keep_their_class_and_text() {
        let error = Error::new(Class::RmaRange, "é".repeat(1000));
        let bytes = answer(Err(error));
        assert!(bytes.len() <= ANSWER_LEAST);
        let error = outcome(&bytes).unwrap_err();
        assert_eq!(error.class(), Class::RmaRange);
        assert!(error.text().starts_with("ééé"));
        assert!(outcome(&answer(Ok(room(3)))).is_ok());
        assert!(outcome(&[]).is_err());
    }
}
