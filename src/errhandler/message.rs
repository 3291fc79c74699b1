//! The message of the default error handler: everything one needs to find the mistake, in few lines; or in one line for
//! those who set OXMPI_ERROR_DETAILS to no.

use crate::error::Error;
use crate::variables::{Listed, Variable};
use std::fmt::Write;

static ERROR_DETAILS: Variable<bool> = Variable::new(
    "ERROR_DETAILS",
    true,
    "The message of a fatal error has the arguments of the call, the communicator and the reason; no: only the function \
     and the class of the error, in one line.",
)
.with_aliases(&["MPIR_CVAR_PRINT_ERROR_STACK"]);
/// What users can set about errors.
pub static VARIABLES: &[&dyn Listed] = &[&ERROR_DETAILS];

/// What is known about a failed call.
pub struct Failure<'a> {
    /// In MPI_COMM_WORLD; None before MPI_Init.
    pub rank: Option<i32>,
    pub host: &'a str,
    pub pid: u32,
    /// The function with its arguments, as in a program.
    pub call: &'a str,
    /// The communicator, window, file or session, by its name; None when there is none.
    pub object: Option<&'a str>,
    pub error: &'a Error,
}

/// The text to print, some lines, each with its end.
pub fn message(failure: &Failure) -> String {
    compose(failure, ERROR_DETAILS.get())
}

fn compose(failure: &Failure, details: bool) -> String {
    let mut text = String::from("oxmpi: ");
    match failure.rank {
        Some(rank) => text.push_str(&format!("rank {rank}")),
        None => text.push_str("a process that is not initialized"),
    }
    let (host, pid) = (failure.host, failure.pid);
    let error = failure.error;
    if !details {
        let function = failure.call.split('(').next().unwrap_or_default();
        let (name, meaning) = (error.class().name(), error.class().meaning());
        text.push_str(&format!(
            " on {host} (pid {pid}): {function} failed: {name}, {meaning}\n"
        ));
        return text;
    }
    // Writing into a String cannot fail.
    let _ = writeln!(text, " on {host} (pid {pid}): {} failed", failure.call);
    let _ = writeln!(text, "oxmpi:   {}: {error}", error.class().name());
    if let Some(object) = failure.object {
        let _ = writeln!(text, "oxmpi:   on {object}");
    }
    text.push_str("oxmpi:   its error handler ends the job\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;

    #[test]
    fn everything_is_named() {
        let error = Error::new(Class::Rank, "dest is 9; allowed are 0 to 3");
        let failure = Failure {
            rank: Some(2),
            host: "node7",
            pid: 41,
            call: "MPI_Send(buf=0x10, dest=9)",
            object: Some("MPI_COMM_WORLD"),
            error: &error,
        };
        let text = compose(&failure, true);
        for part in [
            "rank 2",
            "node7",
            "pid 41",
            "MPI_Send(buf=0x10, dest=9)",
            "MPI_COMM_WORLD",
            "MPI_ERR_RANK: dest is 9; allowed are 0 to 3",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(text.lines().all(|line| line.starts_with("oxmpi: ")));
        assert_eq!(
            compose(&failure, false),
            "oxmpi: rank 2 on node7 (pid 41): MPI_Send failed: MPI_ERR_RANK, invalid rank\n"
        );
    }
}
