//! `OXMPI_SHOW`: what the library writes about itself to standard error.

use super::{Kind, Value, Variable};
use std::fmt::{Display, Formatter, Result};

/// Reports that `OXMPI_SHOW` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Show {
    pub routes: bool,
    pub fabric: bool,
    pub variables: bool,
    pub communicators: bool,
    pub windows: bool,
}

pub static SHOW: Variable<Show> = Variable::new(
    "SHOW",
    Show {
        routes: false,
        fabric: false,
        variables: false,
        communicators: false,
        windows: false,
    },
    "What is written to standard error. routes: rank 0 of a communicator says how each collective operation goes: staged, by messages or \
     in two levels; once for each operation, route, number of ranks and power of two of the size. fabric: each rank that opens a fabric \
     says which library, provider and interface, and why. variables: rank 0 writes all settings with the values in force, in MPI_Init. \
     communicators: at MPI_Finalize, and when context ids run out, each rank says where the communicators that live were made, most first. \
     windows: when a window ends, each rank says whether the memory that it gave was shared in place, and why not.",
)
.with_aliases(&["MPIR_CVAR_DEBUG_SUMMARY"]);

impl Show {
    fn words(self) -> [(&'static str, bool); 5] {
        [
            ("routes", self.routes),
            ("fabric", self.fabric),
            ("variables", self.variables),
            ("communicators", self.communicators),
            ("windows", self.windows),
        ]
    }
}

impl Display for Show {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let set = self.words().into_iter().filter(|(_, is_set)| *is_set);
        let set: Vec<&str> = set.map(|(word, _)| word).collect();
        formatter.write_str(if set.is_empty() { "nothing" } else { "" })?;
        formatter.write_str(&set.join(","))
    }
}

impl Value for Show {
    const ALLOWED: &'static str = "nothing, or some of routes, fabric, variables, communicators and windows with commas between; yes or 1: variables";
    /// A bit for each word.
    const KIND: Kind = Kind::Number;

    fn parse(text: &str) -> Option<Show> {
        let mut show = Show::default();
        for word in text.split(',') {
            match word.trim().to_ascii_lowercase().as_str() {
                "routes" => show.routes = true,
                "fabric" => show.fabric = true,
                // Other libraries' variable is a yes or no.
                "variables" | "yes" | "true" | "on" | "1" => show.variables = true,
                "communicators" => show.communicators = true,
                "windows" => show.windows = true,
                "nothing" | "no" | "false" | "off" | "0" | "" => {}
                _ => return None,
            }
        }
        Some(show)
    }

    fn bits(self) -> u64 {
        let bits = self.words().into_iter().enumerate();
        bits.map(|(at, (_, is_set))| u64::from(is_set) << at).sum()
    }

    fn of_bits(bits: u64) -> Option<Show> {
        let is_set = |at: u32| bits >> at & 1 == 1;
        (bits < 1 << 5).then(|| Show {
            routes: is_set(0),
            fabric: is_set(1),
            variables: is_set(2),
            communicators: is_set(3),
            windows: is_set(4),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_commas() {
        for (text, shown, bits) in [
            ("routes", "routes", 1),
            ("Variables, fabric", "fabric,variables", 6),
            ("1", "variables", 4),
            ("communicators", "communicators", 8),
            ("windows,routes", "routes,windows", 17),
            ("no", "nothing", 0),
            ("", "nothing", 0),
        ] {
            let show = Show::parse(text).unwrap();
            assert_eq!((show.to_string().as_str(), show.bits()), (shown, bits));
            assert_eq!(Show::of_bits(bits), Some(show));
        }
        assert_eq!(Show::parse("route"), None);
        assert_eq!(Show::of_bits(32), None);
    }
}
