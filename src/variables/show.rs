//! `OXMPI_SHOW`: what the library writes about itself to standard error.

use super::Variable;
use super::flags::flags;

flags! {
    /// Reports that `OXMPI_SHOW` asks for.
    pub struct Show { routes, fabric, variables, communicators, windows }
    // Other libraries' variable is a yes or no.
    "yes" | "true" | "on" | "1" => variables;
    allowed: "nothing, or some of routes, fabric, variables, communicators and windows with commas between; yes or 1: variables"
}

pub static SHOW: Variable<Show> = Variable::new(
    "SHOW",
    Show::NOTHING,
    "What is written to standard error. routes: rank 0 of a communicator says how each collective operation goes: staged, by messages or \
     in two levels; once for each operation, route, number of ranks and power of two of the size. fabric: each rank that opens a fabric \
     says which library, provider and interface, and why. variables: rank 0 writes all settings with the values in force, in MPI_Init. \
     communicators: at MPI_Finalize, and when context ids run out, each rank says where the communicators that live were made, most first. \
     windows: when a window ends, each rank says whether the memory that it gave was shared in place, and why not.",
)
.with_aliases(&["MPIR_CVAR_DEBUG_SUMMARY"]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Value;

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
