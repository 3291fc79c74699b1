//! The message of the default error handler: everything one needs to find the mistake, in few lines.

use crate::error::Error;
use std::fmt::Write;

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
    let mut text = String::from("oxmpi: ");
    match failure.rank {
        Some(rank) => text.push_str(&format!("rank {rank}")),
        None => text.push_str("a process that is not initialized"),
    }
    let (host, pid) = (failure.host, failure.pid);
    let error = failure.error;
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
        let text = message(&Failure {
            rank: Some(2),
            host: "node7",
            pid: 41,
            call: "MPI_Send(buf=0x10, dest=9)",
            object: Some("MPI_COMM_WORLD"),
            error: &error,
        });
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
    }
}
