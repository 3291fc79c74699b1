//! Starts keepers on other hosts: by ssh or a program like it, or by srun.

use crate::mpiexec::request::Request;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The argument that makes mpiexec a node keeper.
pub const PART: &str = "-node-keeper";

/// How keepers are started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Launcher {
    /// `PROGRAM [ARGUMENTS] HOST COMMAND`, a call for each host.
    Remote {
        program: String,
        arguments: Vec<String>,
    },
    /// One srun for several hosts.
    Slurm,
}

impl Launcher {
    /// As options, variables or the allocation say.
    ///
    /// Errors: a launcher that there is not.
    pub fn choose(
        request: &Request,
        get: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Launcher, String> {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let agent = || {
            let names = ["plm_ssh_agent", "plm_rsh_agent"].into_iter();
            names
                .flat_map(|name| {
                    ["OMPI_MCA_", "PRTE_MCA_"].map(|beginning| get(&format!("{beginning}{name}")))
                })
                .flatten()
                .next()
        };
        let path = (request.launcher_path.clone())
            .or_else(|| get("HYDRA_LAUNCHER_EXEC"))
            .or_else(|| get("HYDRA_BOOTSTRAP_EXEC"))
            .or_else(agent);
        let name = (request.launcher.clone())
            .or_else(|| get("HYDRA_LAUNCHER"))
            .or_else(|| get("HYDRA_BOOTSTRAP"));
        let more = get("HYDRA_LAUNCHER_EXTRA_ARGS").unwrap_or_default();
        let remote = |program: &str| {
            let mut words = program.split_whitespace().map(str::to_owned);
            let program = words.next().unwrap_or_default();
            let more = more.split_whitespace().map(str::to_owned);
            Launcher::Remote {
                arguments: words.chain(more).collect(),
                program,
            }
        };
        match (name.as_deref(), path) {
            (Some("slurm" | "srun"), _) => Ok(Launcher::Slurm),
            (None | Some("ssh" | "rsh" | "manual" | "user"), Some(path)) => Ok(remote(&path)),
            (None, None) if get("SLURM_JOB_ID").is_some() => Ok(Launcher::Slurm),
            (None, None) => Ok(remote("ssh")),
            (Some(name @ ("ssh" | "rsh")), None) => Ok(remote(name)),
            (Some(name), _) => Err(format!(
                "-launcher {name}: known are ssh, rsh and slurm, or any program by -launcher-exec"
            )),
        }
    }

    /// For messages.
    pub fn name(&self) -> &str {
        match self {
            Launcher::Remote { program, .. } => program,
            Launcher::Slurm => "srun",
        }
    }

    /// The groups of places that one starter serves.
    pub fn groups(&self, places: &[u32]) -> Vec<Vec<u32>> {
        match self {
            Launcher::Remote { .. } => places.iter().map(|place| vec![*place]).collect(),
            Launcher::Slurm if places.is_empty() => Vec::new(),
            Launcher::Slurm => vec![places.to_vec()],
        }
    }

    fn command(&self, own: &Path, hosts: &[&str]) -> Command {
        let path = own.to_string_lossy();
        match self {
            Launcher::Remote { program, arguments } => {
                let mut command = Command::new(program);
                if Path::new(program)
                    .file_name()
                    .is_some_and(|name| name == "ssh")
                {
                    // Nobody is there to answer a question.
                    command.args(["-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
                }
                command.args(arguments).args(hosts);
                command.arg(quoted(&path)).arg(PART);
                command
            }
            Launcher::Slurm => {
                let mut command = Command::new("srun");
                let count = hosts.len().to_string();
                command
                    .args([
                        "--overlap",
                        "--ntasks-per-node=1",
                        "--mpi=none",
                        "--cpu-bind=none",
                    ])
                    .args([
                        "--kill-on-bad-exit=0",
                        "--no-kill",
                        "--quiet",
                        "--input=all",
                    ])
                    .args(["-N", &count, "-n", &count, "-w", &hosts.join(",")])
                    .arg(own)
                    .arg(PART);
                // What the user asked of srun for programs is not meant for keepers.
                for name in [
                    "SLURM_NTASKS_PER_NODE",
                    "SLURM_TASKS_PER_NODE",
                    "SLURM_NPROCS",
                    "SLURM_NTASKS",
                    "SLURM_DISTRIBUTION",
                ] {
                    command.env_remove(name);
                }
                command
            }
        }
    }

    /// Starts the keepers of these hosts; the bytes of their card are written to their standard input. The starter, and its error output.
    pub fn start(&self, card: &[u8], hosts: &[&str]) -> io::Result<(Child, Option<OwnedFd>)> {
        let own = std::env::current_exe()?;
        let mut child = self
            .command(&own, hosts)
            // Ctrl-C is for mpiexec, which tells the keepers.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // One that has ended already says why on its error output.
            let _ = input.write_all(card);
        }
        let error = child.stderr.take().map(OwnedFd::from);
        Ok((child, error))
    }
}

/// For the shell of the other host, if it needs that.
fn quoted(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+,=@".contains(letter);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(request: &Request, variables: &[(&str, &str)]) -> Result<Launcher, String> {
        let get = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Launcher::choose(request, &get)
    }

    #[test]
    fn the_launcher_has_an_order_of_sources() {
        let mut request = Request::default();
        assert_eq!(chosen(&request, &[]).unwrap().name(), "ssh");
        let job = [("SLURM_JOB_ID", "7")];
        assert_eq!(chosen(&request, &job), Ok(Launcher::Slurm));
        let agent = [("PRTE_MCA_plm_ssh_agent", "rsh -K"), job[0]];
        let remote = Launcher::Remote {
            program: "rsh".into(),
            arguments: vec!["-K".into()],
        };
        assert_eq!(chosen(&request, &agent), Ok(remote));
        let hydra = [("HYDRA_LAUNCHER_EXEC", "/x/ssh"), agent[0]];
        assert_eq!(chosen(&request, &hydra).unwrap().name(), "/x/ssh");
        request.launcher_path = Some("mine".into());
        assert_eq!(chosen(&request, &hydra).unwrap().name(), "mine");
        request.launcher = Some("slurm".into());
        assert_eq!(chosen(&request, &hydra), Ok(Launcher::Slurm));
        request.launcher = Some("pbsdsh".into());
        assert!(chosen(&request, &[]).unwrap_err().contains("pbsdsh"));
    }

    #[test]
    fn secrets_are_not_in_the_command_line() {
        let remote = Launcher::Remote {
            program: "/usr/bin/ssh".into(),
            arguments: vec!["-v".into()],
        };
        let command = remote.command(Path::new("/a b/mpiexec"), &["c"]);
        let words: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
        assert_eq!(words[5..], ["-v", "c", "'/a b/mpiexec'", PART]);
        assert_eq!(remote.groups(&[1, 2]), [[1], [2]]);
        assert_eq!(Launcher::Slurm.groups(&[1, 2]), [[1, 2]]);
    }
}
