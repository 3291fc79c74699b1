//! Which variables of the environment mean something, to mpiexec or to the library: the list for `-info`, the page
//! docs/variables.md, and a word about those that mean nothing.
//!
//! Invariant: what is listed works; a variable of ours that is not listed is reported, one of MPICH's launcher or library with -v.

use super::words;
use oxmpi::launch::names;
use oxmpi::process::settings;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What mpiexec takes from the environment where the command line is silent.
pub(super) const HONOURED: &[(&str, &str)] = &[
    (
        "MPIEXEC_TIMEOUT",
        "Seconds after which the job is ended, as -timeout.",
    ),
    (
        "OXMPI_DEADLOCK",
        "report, abort or off: what to do about a job that is stuck, as -deadlock.",
    ),
    ("HYDRA_HOST_FILE", "As -f: a file with the names of hosts."),
    ("HYDRA_LAUNCHER", "As -launcher: ssh, rsh or slurm."),
    ("HYDRA_BOOTSTRAP", "The same."),
    (
        "HYDRA_LAUNCHER_EXEC",
        "As -launcher-exec: the program that reaches other hosts.",
    ),
    ("HYDRA_BOOTSTRAP_EXEC", "The same."),
    (
        "HYDRA_LAUNCHER_EXTRA_ARGS",
        "Further arguments of that program, before the host.",
    ),
    (
        "OMPI_MCA_plm_ssh_agent",
        "As -launcher-exec, in Open MPI's way (also PRTE_MCA_plm_ssh_agent and ..._rsh_agent).",
    ),
    ("HYDRA_BINDING", "As -bind-to."),
    ("HYDRA_BIND", "The same."),
    ("HYDRA_PPN", "As -ppn: ranks of each host."),
    ("OXMPI_SESSIONS", "As -sessions: rank, core or one."),
    ("HYDRA_ENV", "all or none: which variables ranks inherit."),
    ("HYDRA_DEBUG", "1: as -v."),
];

/// Variables that launchers of MPICH's family read and that have no effect here.
const ACCEPTED: &[&str] = &[
    "HYDRA_RMK",
    "HYDRA_DEFAULT_RMK",
    "HYDRA_IFACE",
    "HYDRA_DEMUX",
    "HYDRA_TOPOLIB",
    "HYDRA_BINDLIB",
    "HYDRA_CKPOINTLIB",
    "HYDRA_MEMBIND",
    "HYDRA_MAPPING",
    "HYDRA_RANKMAP",
    "HYDRA_USE_LOCALHOST",
    "HYDRA_PROXY_RETRY_COUNT",
    "HYDRA_PMI_PORT",
    "HYDRA_TOPO_DEBUG",
    "HYDRA_NAMESERVER",
    "HYDRA_ENABLE_X",
];

/// Of the compiler wrappers and of the tests and measurements of this library; and names of files and interfaces, which are no declared variables.
const OF_TOOLS: &[&str] = &[
    "OXMPI_CC",
    "OXMPI_CLUSTER_KIT",
    "OXMPI_CXX",
    "OXMPI_PEERS",
    "OXMPI_STAGE",
    "OXMPI_LIBFABRIC",
    "OXMPI_INTERFACE",
    "OXMPI_MPIEXEC",
    "OXMPI_NAME_DIRECTORY",
];

/// Variables that look as if they meant something here, and mean nothing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// They begin as ours do: most likely a mistake. Each with what was probably meant.
    pub ours: Vec<String>,
    /// Of MPICH's launcher and library: many sites set them for all users.
    pub of_mpich: Vec<String>,
}

/// The unknown ones among `present`.
pub fn unknown(present: impl Iterator<Item = String>) -> Unknown {
    let variables = settings::all();
    let own: Vec<String> = variables.iter().map(|variable| variable.name()).collect();
    let known: BTreeSet<&str> = ACCEPTED
        .iter()
        .chain(OF_TOOLS)
        .chain(names::OWN)
        .copied()
        .chain(HONOURED.iter().map(|(name, _)| *name))
        .chain(own.iter().map(String::as_str))
        .chain(variables.iter().flat_map(|it| it.aliases()).copied())
        .collect();
    let present: BTreeSet<String> = present.filter(|name| !known.contains(&**name)).collect();
    let mut unknown = Unknown::default();
    for name in present {
        if let Some(rest) = name.strip_prefix("OXMPI_") {
            // The common beginning would make short names look alike.
            let rests = own.iter().filter_map(|name| name.strip_prefix("OXMPI_"));
            unknown.ours.push(match words::nearest(rest, rests) {
                Some(near) => format!("{name} (did you mean OXMPI_{near}?)"),
                None => name,
            });
        } else if name.starts_with("HYDRA_") || name.starts_with("MPIR_CVAR_") {
            unknown.of_mpich.push(name);
        }
    }
    unknown
}

/// The list at the end of `mpiexec -info`.
pub fn list() -> String {
    let mut text =
        String::from("\nVariables of the library, with what they are set to at this moment:\n");
    text += &oxmpi::variables::describe(&settings::all());
    text += "\nVariables of mpiexec:\n";
    for (name, meaning) in HONOURED {
        let _ = writeln!(text, "{name}\n    {meaning}");
    }
    text
}

/// docs/variables.md.
#[cfg(test)]
fn page() -> String {
    let mut text = String::from(
        "# Variables\n\nSettings of the library and of mpiexec, taken from the environment. `mpiexec -info` lists them with the values in \
         force;\n`OXMPI_SHOW=variables` makes rank 0 print those of a job. A number may end in k, m or g, for powers of 1024. A \
         value that\ncannot be read is reported by rank 0, and the default is taken. mpiexec reports unknown variables that begin with \
         `OXMPI_`,\nand with `-v` those that begin with `MPIR_CVAR_` or `HYDRA_`. This page is made from the declarations in the\nsource \
         (`make support`).\n\n## Of the library\n\n\
         | variable | default | allowed | what it does | other libraries' names that are read too |\n|---|---|---|---|---|\n",
    );
    for variable in settings::all() {
        let aliases: Vec<String> = variable
            .aliases()
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            variable.name(),
            variable.default(),
            variable.allowed(),
            variable.full_text(),
            aliases.join(" "),
        );
    }
    text += "\n## Of mpiexec\n\nThe command line goes before them.\n\n| variable | what it does |\n|---|---|\n";
    for (name, meaning) in HONOURED {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    let accepted: Vec<String> = ACCEPTED.iter().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(
        text,
        "\nAccepted without effect: {}.\n\nThe variables by which mpiexec tells ranks their place are in launch.md.",
        accepted.join(", ")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variables_are_found() {
        let present = [
            "OXMPI_SPIN",
            "HYDRA_FOO",
            "HYDRA_IFACE",
            "HYDRA_PPN",
            "MPIR_CVAR_X",
            "MPIR_CVAR_X",
            "MPIR_CVAR_DEFAULT_THREAD_LEVEL",
            "OXMPI_SPINS",
            "OXMPI_RANK",
            "OXMPI_ZZZZ",
            "I_MPI_ROOT",
            "HOME",
        ];
        let found = unknown(present.into_iter().map(str::to_owned));
        let ours = ["OXMPI_SPIN (did you mean OXMPI_SPINS?)", "OXMPI_ZZZZ"];
        assert_eq!(found.ours, ours);
        assert_eq!(found.of_mpich, ["HYDRA_FOO", "MPIR_CVAR_X"]);
    }

    /// With OXMPI_WRITE_PAGES=1 it writes the page (`make support`).
    #[test]
    fn the_page_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/variables.md");
        if std::env::var_os("OXMPI_WRITE_PAGES").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page(),
            "docs/variables.md is not current: run `make support`"
        );
    }
}
