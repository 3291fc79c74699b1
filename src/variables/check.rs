//! `OXMPI_CHECK`: what the library looks for mistakes in.

use super::Variable;
use super::flags::flags;

flags! {
    /// Checks that `OXMPI_CHECK` asks for.
    pub struct Check { collectives, signatures, leaks, buffers, buffering }
    // Programs that rely on buffering are many, and end with it.
    "all" | "yes" | "true" | "on" | "1" => collectives | signatures | leaks | buffers;
    allowed: "nothing, all, or some of collectives, signatures, leaks, buffers and buffering with commas between"
}

pub static CHECK: Variable<Check> = Variable::new(
    "CHECK",
    Check::NOTHING,
    "Mistakes of the program that are looked for; each costs time. collectives: as OXMPI_CHECK_COLLECTIVES. signatures: as \
     OXMPI_CHECK_SIGNATURES. leaks: in MPI_Finalize a list of what the program has not freed or completed, with the places that made \
     it, and of all messages that nobody received. buffers: a send buffer that changes before its request is completed, and a receive \
     buffer that has bytes of another one in use, fail. all: all of these. buffering: MPI_Send and its like wait for the receive, so that \
     a program that relies on buffering gets stuck.",
)
.same_on_all();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Value;

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
