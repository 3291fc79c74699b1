//! Options, environment, programs.

use crate::harness::{Folder, MPIEXEC, launcher, mpiexec, mpiexec_words, own_path, role_with};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

pub const TESTS: &[(&str, fn())] = &[
    ("options::ranks_know_their_place", ranks_know_their_place),
    ("options::several_programs", several_programs),
    ("options::programs_from_a_file", programs_from_a_file),
    ("options::environment", environment),
    ("options::working_folder", working_folder),
    ("options::options_of_the_standard", options_of_the_standard),
    ("options::output_files", output_files),
    ("options::labels", labels),
    ("options::binding", binding),
    ("options::refusals", refusals),
    (
        "options::programs_that_cannot_run",
        programs_that_cannot_run,
    ),
    ("options::missing_libraries", missing_libraries),
    (
        "options::scripts_that_name_no_interpreter",
        scripts_that_name_no_interpreter,
    ),
    ("options::other_names_of_the_program", other_names),
    ("options::variables_that_steer", variables_that_steer),
    (
        "options::doctor_without_a_library",
        doctor_without_a_library,
    ),
];

fn shell(options: &str, script: &str) -> crate::harness::Outcome {
    let words: Vec<&str> = options
        .split_whitespace()
        .chain(["sh", "-c", script])
        .collect();
    mpiexec(words).run()
}

fn ranks_know_their_place() {
    let location =
        "echo $OXMPI_RANK/$OXMPI_SIZE $PMI_RANK/$PMI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS";
    for option in ["-n", "--np", "-c", "-ppn", "-N"] {
        let outcome = shell(&format!("{option} 3"), location);
        let lines = ["0/3 0/3 0/3", "1/3 1/3 1/3", "2/3 2/3 2/3"];
        assert_eq!(outcome.good().sorted(), lines, "{option}");
    }
    assert_eq!(shell("", location).good().output, "0/1 0/1 0/1\n");
    let hosts = shell("-hosts localhost:2,127.0.0.1", "echo $PMI_SIZE");
    assert_eq!(hosts.good().sorted(), ["2", "2"]);
}

fn several_programs() {
    let own = own_path();
    let line = format!("-n 1 -env A x {own} : -n 2 {own} : sh -c echo\n");
    let words = line.split_whitespace();
    let outcome = mpiexec(words).env(crate::harness::ROLE, "numbers").run();
    let mut lines = outcome.good().sorted();
    lines.retain(|line| !line.is_empty());
    assert_eq!(
        lines,
        ["Some(0) Some(4)", "Some(1) Some(4)", "Some(1) Some(4)"]
    );
}

fn programs_from_a_file() {
    let folder = Folder::new();
    let file = folder.file(
        "programs",
        "# two programs\n-n 1 sh -c 'echo first $PMI_RANK $G'\n-n 2 \\\n sh -c \"echo second $G\"\n",
    );
    let outcome = mpiexec(["-genv", "G", "g", "-configfile", &file]).run();
    assert_eq!(
        outcome.good().sorted(),
        ["first 0 g", "second g", "second g"]
    );
}

fn environment() {
    let run = |options: &str| {
        let script = "/bin/echo \"$A,$B,$SECRET\"";
        let words = options.split_whitespace().chain(["/bin/sh", "-c", script]);
        let outcome = mpiexec(words.collect::<Vec<_>>()).env("SECRET", "s").run();
        outcome.good().output.trim().to_owned()
    };
    assert_eq!(run("-genv A 1 -env B 2"), "1,2,s");
    assert_eq!(run("-genv A=1 -x B=2 -x SECRET"), "1,2,s");
    assert_eq!(run("-genvnone -env A 1"), "1,,");
    assert_eq!(run("-genvlist SECRET,B"), ",,s");
    assert_eq!(run("-envnone -x SECRET"), ",,s");
}

fn working_folder() {
    let folder = Folder::new();
    let location = folder.0.to_string_lossy().into_owned();
    for option in ["-wdir", "--wd"] {
        let outcome = mpiexec([option, &location, "pwd"]).run();
        assert_eq!(outcome.good().output.trim(), location);
    }
    let script = folder.file("script", "#!/bin/sh\necho here\n");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("chmod");
    let outcome = mpiexec(["-wdir", &location, "./script"]).run();
    assert_eq!(outcome.good().output, "here\n");
    let missing = mpiexec(["-wdir", "/nonexistent", "pwd"]).run();
    assert_eq!(missing.code, 1);
    missing.says("/nonexistent");
}

/// What MPI 5.0, section 11.5, has of mpiexec and no launcher needs.
fn options_of_the_standard() {
    const SHOW: &str = "echo $OXMPI_INITIAL_ERRHANDLER $OXMPI_MEMORY_ALLOC_KINDS";
    let words = "-initial-errhandler MPI_ERRORS_RETURN -memory-alloc-kinds mpi,system";
    let words = words.split(' ').chain(["-n", "1", "sh", "-c", SHOW]);
    let outcome = mpiexec(words).run();
    assert_eq!(outcome.good().output, "mpi_errors_return mpi,system\n");
}

fn output_files() {
    let folder = Folder::new();
    let script = "echo out $PMI_RANK; echo err $PMI_RANK >&2";
    let outcome = mpiexec([
        "-n",
        "2",
        "-outfile-pattern",
        "o.%r",
        "-errfile-pattern",
        "e.%r.%n",
        "sh",
        "-c",
        script,
    ])
    .folder(&folder.0)
    .run();
    assert_eq!(
        (outcome.good().output.as_str(), outcome.error.as_str()),
        ("", "")
    );
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).expect(name);
    assert_eq!(
        (read("o.1"), read("e.0.2")),
        ("out 1\n".into(), "err 0\n".into())
    );
}

fn labels() {
    let script = "printf 'a\\nb'";
    assert_eq!(shell("-n 1 -l", script).good().output, "[0] a\n[0] b\n");
    assert_eq!(
        shell("--tag-output", "echo a").good().output,
        "[1,0]<stdout>: a\n"
    );
    let outcome = shell("-n 2 -prepend-pattern %r/%n: ", "echo a");
    assert_eq!(outcome.good().sorted(), ["0/2:a", "1/2:a"]);
}

fn binding() {
    let affinity = "grep Cpus_allowed_list /proc/self/status";
    let all = shell("-bind-to none", affinity);
    let one = shell("-bind-to user:0", affinity);
    // This machine may forbid processor 0 to us.
    if one.code == 0 {
        assert!(one.output.contains(":\t0\n"), "{one:?}");
    } else {
        one.says("processor 0");
    }
    // More ranks than there can be cores: not bound.
    let crowd = shell("-n 3 -bind-to core:4096", affinity);
    assert_eq!(crowd.good().output, all.good().output.repeat(3));
    shell("-bind-to nonsense", "true").says("nonsense");
    let told = shell("-n 2 -report-bindings", "true");
    told.good().says("rank 1:");
}

fn refusals() {
    for (line, code, text) in [
        ("-bindto core ls", 1, "did you mean -bind-to"),
        ("-n", 1, "a value is missing"),
        ("-n 0 ls", 1, "'0'"),
        ("", 1, "no program"),
        ("-hosts 192.0.2.1 ls", 1, "192.0.2.1"),
        ("no-such-program", 127, "no-such-program"),
        ("/etc/passwd", 126, "not executable"),
        ("-n 99999999 ls", 1, "99999999"),
        ("-n 2 -pset a=0-2 ls", 1, "no rank 2 among 2"),
        ("-n 2 -pset mpi://WORLD=0 ls", 1, "MPI's own"),
        ("-n 2 -pset a=0 -pset a=1 ls", 1, "already"),
        ("-n 2 -pset a ls", 1, "NAME=RANKS"),
    ] {
        let outcome = mpiexec_words(line).run();
        assert_eq!(outcome.code, code, "{line}: {outcome:?}");
        outcome.says(text);
        assert_eq!(outcome.output, "");
    }
}

fn executable(folder: &Folder, text: &[u8]) -> String {
    let path = folder.file("script", text);
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("chmod");
    path
}

fn programs_that_cannot_run() {
    let folder = Folder::new();
    for (text, wanted) in [
        (&b"#!/no/such/interpreter\n"[..], "interpreter"),
        (b"\x7fELF\x01\0\0\0of another machine", "neither a program"),
    ] {
        let outcome = mpiexec(["-n", "2", &executable(&folder, text)]).run();
        assert_eq!(outcome.code, 1, "{outcome:?}");
        outcome.says("rank 0").says("script").says(wanted);
    }
}

/// A program whose library is not found: in the folder of libraries beside mpiexec, nowhere, of another MPI.
fn missing_libraries() {
    let folder = Folder::new();
    let path = |name: &str| folder.0.join(name).to_string_lossy().into_owned();
    std::fs::create_dir(path("bin")).expect("bin");
    std::fs::create_dir(path("lib")).expect("lib");
    std::fs::copy(MPIEXEC, path("bin/mpiexec")).expect("copy");
    let source = folder.file("a.c", "int f(void) { return 0; }\n");
    let main = folder.file("main.c", "int f(void); int main(void) { return f(); }\n");
    let compile = |words: &[&str]| {
        let status = std::process::Command::new("gcc").args(words).status();
        assert!(status.expect("gcc").success());
    };
    let program = |library: &str, name: &str| {
        let soname = format!("-Wl,-soname,{library}");
        let made = path(&format!("lib/{library}"));
        compile(&["-shared", "-fPIC", &soname, "-o", &made, &source]);
        compile(&["-o", &path(name), &main, &made]);
        path(name)
    };
    let run = |words: &[&str]| {
        let outcome = launcher(&path("bin/mpiexec"), words)
            .env_remove("LD_LIBRARY_PATH")
            .run();
        assert_eq!(outcome.code, 127, "{outcome:?}");
        outcome
    };
    let ours = program("liboxmpi-test.so.12", "ours");
    let value = format!("set LD_LIBRARY_PATH={} ", path("lib"));
    let outcome = run(&["-n", "3", &ours]);
    outcome
        .says("does not find liboxmpi-test.so.12")
        .says(&value);
    assert_eq!(outcome.error.matches(&value).count(), 1, "{outcome:?}");
    // A shell or a tool between, and a value that is to be kept.
    run(&["-n", "1", "sh", "-c", "\"$0\"; exit $?", &ours]).says(&value);
    run(&["-genv", "LD_LIBRARY_PATH", "/a", "-n", "1", &ours]).says("/lib:$LD_LIBRARY_PATH ");
    std::fs::remove_file(path("lib/liboxmpi-test.so.12")).expect("remove");
    run(&["-n", "2", &ours]).says("; install it, or add its folder to LD_LIBRARY_PATH");
    // Refused at once where there are several ranks.
    let other = program("libmpi.so.80", "other");
    run(&["-n", "1", &other])
        .says("was built for Open MPI (libmpi.so.80)")
        .says("compile it again");
    let outcome = launcher(&path("bin/mpiexec"), ["-n", "2", &other]).run();
    assert_eq!(outcome.code, 1, "{outcome:?}");
    outcome.says("compile it again");
    // Not every 127 is the loader's.
    assert!(
        !run(&["-n", "2", "sh", "-c", "exit 127"])
            .error
            .contains("cannot be loaded")
    );
}

/// As in a shell and with execvp.
fn scripts_that_name_no_interpreter() {
    let folder = Folder::new();
    let script = executable(&folder, b"echo $0 \"$1\" $OXMPI_RANK\nexit 3\n");
    let outcome = mpiexec(["-n", "2", &script, "a b"]).run();
    assert_eq!(outcome.code, 3, "{outcome:?}");
    let lines = [format!("{script} a b 0"), format!("{script} a b 1")];
    assert_eq!(outcome.sorted(), lines);
    let nothing = executable(&folder, b"");
    assert_eq!(mpiexec(["-n", "1", &nothing]).run().good().output, "");
}

fn other_names() {
    let folder = Folder::new();
    let link = folder.0.join("mpichversion");
    std::os::unix::fs::symlink(MPIEXEC, &link).expect("link");
    let outcome = launcher(&link.to_string_lossy(), [""; 0]).run();
    assert!(outcome.good().output.starts_with("MPICH Version:"));
    let link = folder.0.join("mpiexec.hydra");
    std::os::unix::fs::symlink(MPIEXEC, &link).expect("link");
    let outcome = launcher(&link.to_string_lossy(), ["-n", "1", "echo", "a"]).run();
    assert_eq!(outcome.good().output, "a\n");
    let listed = mpiexec(["-info"]).env("OXMPI_SPINS", "77").run();
    for text in [
        "OXMPI_SPINS=77 (also",
        "OXMPI_SINGLETON=false",
        "MPIEXEC_TIMEOUT",
    ] {
        assert!(
            listed.good().output.contains(text),
            "no {text} in {listed:?}"
        );
    }
    for option in ["-version", "--help", "-info"] {
        assert!(
            mpiexec([option]).run().good().output.contains("mpi"),
            "{option}"
        );
    }
}

fn variables_that_steer() {
    let run = |options: &[&str]| {
        let options = [
            options,
            &["-print-rank-map", "-genv", "MPIR_CVAR_NONSENSE", "1"],
        ];
        role_with(2, "hello", &options.concat())
            .env("HYDRA_NONSENSE", "1")
            .env("HYDRA_IFACE", "eth0")
            .env("OXMPI_SPINS", "100")
            .env("OXMPI_SPIN", "100")
            .env("PMI_RANK", "17")
            .env("PMI_FD", "99")
            .run()
    };
    let outcome = run(&[]);
    outcome
        .good()
        .says("no effect: OXMPI_SPIN (did you mean OXMPI_SPINS?)\n");
    // What a site sets for MPICH is no news at each start.
    assert!(!outcome.error.contains("NONSENSE"), "{outcome:?}");
    assert!(outcome.output.contains(":0,1)"), "{outcome:?}");
    let outcome = run(&["-v"]);
    outcome
        .good()
        .says("no effect here: HYDRA_NONSENSE, MPIR_CVAR_NONSENSE\n");
    assert!(!outcome.error.contains("HYDRA_IFACE"));
}

/// The mpiexec that cargo has built lies in no prefix. tests/environment has the doctor of a whole one.
fn doctor_without_a_library() {
    for option in ["-doctor", "--doctor"] {
        let outcome = mpiexec([option]).run();
        assert_eq!(outcome.code, 1, "{outcome:#?}");
        let missing = "PROBLEM library         no libmpi.so.12 in ../lib beside this mpiexec";
        assert!(outcome.output.contains(missing), "{outcome:#?}");
        assert!(
            outcome.output.contains("Jobs may fail here:"),
            "{outcome:#?}"
        );
    }
    let part = mpiexec(["-doctor-part", "rank"]).run();
    assert_eq!(part.code, 1);
    assert!(
        part.error.contains("is for mpiexec -doctor alone"),
        "{part:#?}"
    );
}
