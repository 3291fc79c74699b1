//! `OXMPI_PRETEND`: what the library takes its surroundings for, to try out programs and the library itself.

use super::{Kind, Value, Variable};
use std::fmt::{Display, Formatter, Result};

/// Settings of `OXMPI_PRETEND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pretend {
    /// Of the ranks of MPI_COMM_WORLD.
    pub nodes: u32,
    /// Of each node; 0: as many as there are.
    pub cores: u32,
    /// The number of the host of this job.
    pub host: u32,
}

const NOTHING: Pretend = Pretend {
    nodes: 1,
    cores: 0,
    host: 0,
};

/// Bits of a number for tools: nodes, cores and host are next to each other.
const BITS: u32 = 20;

pub static PRETEND: Variable<Pretend> = Variable::new(
    "PRETEND",
    NOTHING,
    "To try out programs and the library. nodes=N: the ranks of MPI_COMM_WORLD behave as if they were on so many nodes, about the same \
     number of following ranks on each: MPI_Comm_split_type tells them apart, and collective operations go from node to node, without memory \
     that nodes share. cores=N: the ranks of a node behave as if they might use so many cores, whatever there is: those that wait do not \
     make room for those that share their core, so it is slow where there are fewer. host=N: processes of jobs with another number share no memory \
     with those of this one.",
)
.same_on_all();

impl Pretend {
    fn parts(self) -> [(&'static str, u32, u32); 3] {
        [
            ("nodes", self.nodes, NOTHING.nodes),
            ("cores", self.cores, NOTHING.cores),
            ("host", self.host, NOTHING.host),
        ]
    }
}

impl Display for Pretend {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let set = self.parts().into_iter();
        let set = set.filter(|(_, value, default)| value != default);
        let set: Vec<String> = set
            .map(|(word, value, _)| format!("{word}={value}"))
            .collect();
        formatter.write_str(if set.is_empty() { "nothing" } else { "" })?;
        formatter.write_str(&set.join(","))
    }
}

impl Value for Pretend {
    const ALLOWED: &'static str = "nothing, or some of nodes=N, cores=N and host=N with commas between; the last of a kind counts";
    const KIND: Kind = Kind::Number;

    fn parse(text: &str) -> Option<Pretend> {
        let mut pretend = NOTHING;
        for part in text.split(',').map(str::trim) {
            if part.is_empty() || part.eq_ignore_ascii_case("nothing") {
                continue;
            }
            let (word, number) = part.split_once('=')?;
            let number = number.trim().parse().ok().filter(|it| *it < 1 << BITS)?;
            match word.trim().to_ascii_lowercase().as_str() {
                "nodes" => pretend.nodes = u32::max(number, 1),
                "cores" => pretend.cores = number,
                "host" => pretend.host = number,
                _ => return None,
            }
        }
        Some(pretend)
    }

    fn bits(self) -> u64 {
        let words = [self.nodes, self.cores, self.host].into_iter().rev();
        words.fold(0, |bits, word| bits << BITS | u64::from(word))
    }

    fn of_bits(bits: u64) -> Option<Pretend> {
        let word = |at: u32| (bits >> (at * BITS) & ((1 << BITS) - 1)) as u32;
        (bits < 1 << (3 * BITS) && word(0) > 0).then(|| Pretend {
            nodes: word(0),
            cores: word(1),
            host: word(2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_commas() {
        for (text, shown) in [
            ("nodes=3", "nodes=3"),
            ("host = 2, Cores=64", "cores=64,host=2"),
            ("nodes=2,cores=4,nodes=5", "nodes=5,cores=4"),
            ("nodes=0", "nothing"),
            ("nothing", "nothing"),
            ("", "nothing"),
        ] {
            let pretend = Pretend::parse(text).unwrap();
            assert_eq!(pretend.to_string(), shown, "{text}");
            assert_eq!(Pretend::of_bits(pretend.bits()), Some(pretend));
        }
        for wrong in [
            "2",
            "nodes",
            "nodes=",
            "nodes=-1",
            "nodes=2 cores=3",
            "core=2",
            "cores=1048576",
        ] {
            assert_eq!(Pretend::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Pretend::of_bits(0), None);
        assert_eq!(Pretend::of_bits(1 << 60 | 1), None);
    }
}
