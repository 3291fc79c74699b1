//! `OXMPI_CHECK`: what the library looks for mistakes in.

use super::{Kind, Value, Variable};
use std::fmt::{Display, Formatter, Result};

/// Checks that `OXMPI_CHECK` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Check {
    pub collectives: bool,
    pub signatures: bool,
    pub leaks: bool,
    pub buffers: bool,
    pub buffering: bool,
}

pub static CHECK: Variable<Check> = Variable::new(
    "CHECK",
    Check {
        collectives: false,
        signatures: false,
        leaks: false,
        buffers: false,
        buffering: false,
    },
    "Mistakes of the program that are looked for; each costs time. collectives: as OXMPI_CHECK_COLLECTIVES. signatures: as \
     OXMPI_CHECK_SIGNATURES. leaks: in MPI_Finalize a list of what the program has not freed or completed, with the places that made \
     it, and of all messages that nobody received. buffers: a send buffer that changes before its request is completed, and a receive \
     buffer that has bytes of another one in use, fail. all: all of these. buffering: MPI_Send and its like wait for the receive, so that \
     a program that relies on buffering gets stuck.",
)
.same_on_all();

impl Check {
    fn words(self) -> [(&'static str, bool); 5] {
        [
            ("collectives", self.collectives),
            ("signatures", self.signatures),
            ("leaks", self.leaks),
            ("buffers", self.buffers),
            ("buffering", self.buffering),
        ]
    }
}

impl Display for Check {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let set = self.words().into_iter().filter(|(_, is_set)| *is_set);
        let set: Vec<&str> = set.map(|(word, _)| word).collect();
        formatter.write_str(if set.is_empty() { "nothing" } else { "" })?;
        formatter.write_str(&set.join(","))
    }
}

impl Value for Check {
    const ALLOWED: &'static str = "nothing, all, or some of collectives, signatures, leaks, buffers and buffering with commas between";
    /// A bit for each word.
    const KIND: Kind = Kind::Number;

    fn parse(text: &str) -> Option<Check> {
        let mut check = Check::default();
        for word in text.split(',') {
            match word.trim().to_ascii_lowercase().as_str() {
                "collectives" => check.collectives = true,
                "signatures" => check.signatures = true,
                "leaks" => check.leaks = true,
                "buffers" => check.buffers = true,
                "buffering" => check.buffering = true,
                // Programs that rely on buffering are many, and end with it.
                "all" | "yes" | "true" | "on" | "1" => {
                    check = Check {
                        collectives: true,
                        signatures: true,
                        leaks: true,
                        buffers: true,
                        ..check
                    };
                }
                "nothing" | "no" | "false" | "off" | "0" | "" => {}
                _ => return None,
            }
        }
        Some(check)
    }

    fn bits(self) -> u64 {
        let bits = self.words().into_iter().enumerate();
        bits.map(|(at, (_, is_set))| u64::from(is_set) << at).sum()
    }

    fn of_bits(bits: u64) -> Option<Check> {
        let is_set = |at: u32| bits >> at & 1 == 1;
        (bits < 1 << 5).then(|| Check {
            collectives: is_set(0),
            signatures: is_set(1),
            leaks: is_set(2),
            buffers: is_set(3),
            buffering: is_set(4),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_commas() {
        for (text, shown, bits) in [
            ("leaks", "leaks", 4),
            ("Signatures, collectives", "collectives,signatures", 3),
            ("all", "collectives,signatures,leaks,buffers", 15),
            (
                "buffering,all",
                "collectives,signatures,leaks,buffers,buffering",
                31,
            ),
            ("no", "nothing", 0),
            ("", "nothing", 0),
        ] {
            let check = Check::parse(text).unwrap();
            assert_eq!((check.to_string().as_str(), check.bits()), (shown, bits));
            assert_eq!(Check::of_bits(bits), Some(check));
        }
        assert_eq!(Check::parse("leak"), None);
        assert_eq!(Check::of_bits(32), None);
    }
}
