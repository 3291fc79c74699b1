//! The man pages in docs/man, made from the tables of options and variables. `make support` writes them; a test compares.

use crate::mpiexec::manual::{self as mpiexec, Entry};
use oxmpi::process::settings;
use roff::{Inline, Roff, bold, italic, roman};

/// Of the texts; to be changed with them.
const DATE: &str = "2026-11-23";

/// Options of the compiler wrappers: names, what they take, and what they do. `tests/documents` tries each.
const WRAPPER_OPTIONS: &[(&str, &str, &str)] = &[
    ("-cc=", "NAME", "Compile with this C compiler (mpicc)."),
    ("-cxx=", "NAME", "Compile with this C++ compiler (mpicxx)."),
    (
        "-fc=",
        "NAME",
        "Compile with this Fortran compiler (mpifort); -f90= and -f77= mean the same.",
    ),
    (
        "-show",
        "",
        "Print the command and do not run it; also --showme.",
    ),
    ("-compile_info", "", "Print the command that compiles."),
    ("-link_info", "", "Print the command that links."),
    (
        "-showme:",
        "PART",
        "Print a part of the command: command, compile, link, incdirs, libdirs, libs, version or help.",
    ),
    ("-echo", "", "Print the command and run it."),
    (
        "-config=",
        "NAME",
        "Take compiler and flags from PREFIX/etc/WRAPPER-NAME.conf, or from that file in /etc/oxmpi.",
    ),
    (
        "-profile=",
        "NAME",
        "Link with the profiling library libNAME, or as PREFIX/etc/NAME.conf says.",
    ),
    (
        "-abi=standard",
        "",
        "Compile for MPI's standard ABI (libmpi_abi.so.1), as mpicc_abi and mpicxx_abi do.",
    ),
    ("-nativelinking", "", "Do not link with MPI."),
    (
        "-norpath",
        "",
        "Do not put the folder of the library into the program (also OXMPI_RPATH=no). It is then found by LD_LIBRARY_PATH or \
         by the system.",
    ),
    (
        "-help",
        "",
        "Print the options; --help and --version are answered by the compiler.",
    ),
    (
        "-make-modules",
        "",
        "mpifort: compile the modules mpi and mpi_f08 for the compiler that -fc= names. Each compiler needs modules of its own.",
    ),
];

/// Variables of the wrappers.
const WRAPPER_VARIABLES: &[(&str, &str)] = &[
    (
        "OXMPI_CC, MPICH_CC",
        "The C compiler, with arguments if need be: \"ccache gcc\".",
    ),
    ("OXMPI_CXX, MPICH_CXX", "The C++ compiler."),
    (
        "OXMPI_FC, MPICH_FC, MPICH_F90, MPICH_F77",
        "The Fortran compiler.",
    ),
    ("OXMPI_RPATH", "no: as -norpath."),
    (
        "OXMPI_CPPFLAGS, OXMPI_CFLAGS, OXMPI_CXXFLAGS, OXMPI_FCFLAGS, OXMPI_LDFLAGS, OXMPI_LIBS",
        "Flags for each call; also with MPICH_ or OMPI_ in place of OXMPI_.",
    ),
];

/// Commands with what they do.
type Examples = &'static [(&'static str, &'static str)];

struct Page(Roff);

impl Page {
    fn new(name: &str, section: &str, purpose: &str) -> Page {
        let version = format!("oxmpi {}", env!("CARGO_PKG_VERSION"));
        let mut page = Roff::new();
        page.control("TH", [name, section, DATE, &version, "MPI"]);
        let mut page = Page(page);
        page.heading("NAME");
        page.0.text([roman(purpose)]);
        page
    }

    fn heading(&mut self, text: &str) {
        self.0.control("SH", [text]);
    }

    fn subheading(&mut self, text: &str) {
        self.0.control("SS", [text]);
    }

    fn paragraph(&mut self, text: &str) {
        self.0.control("PP", []);
        self.0.text([roman(text)]);
    }

    fn entry(&mut self, head: Vec<Inline>, text: &str) {
        self.0.control("TP", []);
        self.0.text(head);
        self.0.text([roman(text)]);
    }

    fn option(&mut self, entry: &Entry) {
        let mut head = Vec::new();
        for (index, name) in entry.names.iter().enumerate() {
            if index > 0 {
                head.push(roman(", "));
            }
            head.push(bold(format!("-{name}")));
        }
        if !entry.takes.is_empty() {
            head.push(roman(" "));
            head.push(italic(entry.takes));
        }
        self.entry(head, &sentence(entry.help));
    }

    fn variables<'a>(&mut self, variables: impl Iterator<Item = &'a (&'a str, &'a str)>) {
        for (name, text) in variables {
            self.entry(vec![bold(*name)], text);
        }
    }

    fn examples(&mut self, examples: Examples) {
        self.heading("EXAMPLES");
        for (index, (command, text)) in examples.iter().enumerate() {
            // No paragraph macro directly below a heading.
            match index {
                0 => drop(self.0.text([roman(*text)])),
                _ => self.paragraph(text),
            }
            self.0.control("PP", []);
            self.0.control("RS", ["4"]);
            self.0.control("EX", []);
            self.0.text([roman(*command)]);
            self.0.control("EE", []);
            self.0.control("RE", []);
        }
    }

    fn see_also(&mut self, pages: &[(&str, &str)]) {
        self.heading("SEE ALSO");
        let mut line = Vec::new();
        for (index, (name, section)) in pages.iter().enumerate() {
            if index > 0 {
                line.push(roman(", "));
            }
            line.push(bold(*name));
            line.push(roman(format!("({section})")));
        }
        self.0.text(line);
        self.paragraph(
            "The documents in share/doc/oxmpi, first of all troubleshooting.md and migration.md.",
        );
    }

    fn render(&self) -> String {
        self.0.to_roff()
    }
}

/// Help texts begin in lower case and have no full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|it| it.to_uppercase().collect::<String>());
    let text = first.unwrap_or_default() + letters.as_str();
    match text.ends_with('.') {
        true => text,
        false => text + ".",
    }
}

fn page_of_mpiexec() -> String {
    let mut page = Page::new(
        "MPIEXEC",
        "1",
        "mpiexec, mpirun - start an MPI program on several ranks",
    );
    page.heading("SYNOPSIS");
    let (name, options) = (bold("mpiexec"), italic(" options"));
    page.0.text([
        name.clone(),
        roman(" ["),
        options.clone(),
        roman("] "),
        italic("program"),
        roman(" ["),
        italic("arguments"),
        roman("] [: ["),
        italic("options"),
        roman("] "),
        italic("program"),
        roman(" ["),
        italic("arguments"),
        roman("]]..."),
    ]);
    for word in ["-doctor", "-info", "-help", "-version"] {
        page.0.control("br", []);
        page.0.text([name.clone(), roman(" "), bold(word)]);
    }
    page.heading("DESCRIPTION");
    page.0.text([roman(
        "Starts the ranks of an MPI job on this host, forwards their input and output, and ends with the job. Programs built for \
         MPICH or another library with its ABI, and programs built with oxmpi's mpicc, mpicxx and mpifort, can be started. A colon \
         separates several programs, which share one MPI_COMM_WORLD.",
    )]);
    page.paragraph(
        "Options may be written with one dash or two, and -name=value means -name value. Names of MPICH, Open MPI and Intel MPI are \
         taken. An unknown option is an error.",
    );
    page.heading("OPTIONS");
    for (heading, entries) in mpiexec::sections() {
        page.subheading(heading);
        for entry in &entries {
            page.option(entry);
        }
    }
    page.heading("SIGNALS");
    for (name, text) in [
        (
            "SIGUSR1",
            "Print what each rank waits for: state, function, peer, tag, communicator and time.",
        ),
        (
            "SIGINT, SIGTERM, SIGHUP, SIGQUIT",
            "End the job. SIGINT reaches the ranks first; a second one kills them.",
        ),
        ("SIGALRM", "End the job as at a -timeout."),
        ("SIGTSTP, SIGCONT, SIGUSR2", "Are passed on to the ranks."),
    ] {
        page.entry(vec![bold(name)], text);
    }
    page.heading("EXIT STATUS");
    for (code, text) in [
        ("0", "All ranks ended with 0."),
        (
            "N",
            "A rank ended with N, or called MPI_Abort with N (its low eight bits, 1 where those are 0 and N is not).",
        ),
        ("128 + N", "A rank, or the job, was ended by signal N."),
        (
            "124",
            "The time limit of -timeout or MPIEXEC_TIMEOUT was over.",
        ),
        (
            "126, 127",
            "The program is not executable, or there is none.",
        ),
        ("141", "Nobody reads the standard output any more."),
    ] {
        page.entry(vec![bold(code)], text);
    }
    page.heading("ENVIRONMENT");
    page.0
        .text([roman("The command line goes before these variables.")]);
    page.variables(mpiexec::variables().iter());
    page.examples(&[
        ("mpiexec -n 4 ./demo", "A job of four ranks:"),
        (
            "mpiexec -n 1 ./demo : -n 3 ./demo",
            "Two programs in one job:",
        ),
        (
            "mpiexec -n 4 -l ./demo",
            "Each line of output with its rank:",
        ),
        (
            "mpiexec -n 4 -timeout 60 ./demo",
            "A time limit; at its end mpiexec prints what each rank waits for:",
        ),
        (
            "mpiexec -n 2 -bind-to core -report-bindings ./demo",
            "A core for each rank, printed:",
        ),
        (
            "mpiexec -n 2 -genv OXMPI_SPINS 100 ./demo",
            "A variable for all ranks:",
        ),
        (
            "mpiexec -n 2 -check_mpi ./demo",
            "Check arguments of collective calls and types of messages between ranks:",
        ),
        (
            "mpiexec -doctor",
            "What the library finds on this machine, and what to change:",
        ),
    ]);
    page.see_also(&[("mpicc", "1"), ("oxmpi", "7")]);
    page.render()
}

fn page_of_wrappers() -> String {
    let purpose = "mpicc, mpicxx, mpifort - compile and link MPI programs in C, C++ and Fortran";
    let mut page = Page::new("MPICC", "1", purpose);
    page.heading("SYNOPSIS");
    for (index, name) in ["mpicc", "mpicxx", "mpifort"].into_iter().enumerate() {
        if index > 0 {
            page.0.control("br", []);
        }
        page.0.text([
            bold(name),
            roman(" ["),
            italic("options"),
            roman("] "),
            italic("compiler-arguments"),
            roman("..."),
        ]);
    }
    page.heading("DESCRIPTION");
    page.0.text([roman(
        "Calls the compiler with what a program needs to compile and link with oxmpi. All arguments but the options below reach the \
         compiler as they are. mpic++ and mpiCC are other names of mpicxx, mpif90 and mpif77 of mpifort. The wrappers find the library \
         beside themselves (../lib, ../include), so an installation may be moved.",
    )]);
    page.heading("OPTIONS");
    for (name, takes, text) in WRAPPER_OPTIONS {
        page.entry(vec![bold(*name), italic(*takes)], text);
    }
    page.heading("ENVIRONMENT");
    page.variables(WRAPPER_VARIABLES.iter());
    page.examples(&[
        ("mpicc -O2 demo.c -o demo", "Compile and link:"),
        ("mpicc -show demo.c -o demo", "What is called for that:"),
        (
            "mpicc -cc=gcc -c demo.c",
            "With another compiler, only compile:",
        ),
        (
            "OXMPI_CC=gcc mpicc demo.c -o demo",
            "The same by a variable:",
        ),
    ]);
    page.see_also(&[("mpiexec", "1"), ("oxmpi", "7")]);
    page.render()
}

fn page_of_variables() -> String {
    let mut page = Page::new(
        "OXMPI",
        "7",
        "oxmpi - an MPI library with MPICH's ABI, and its variables",
    );
    page.heading("DESCRIPTION");
    page.0.text([roman(
        "oxmpi implements MPI 5.0 with the ABI of MPICH (libmpi.so.12). The library reads the variables \
         below in MPI_Init. A number may end in k, m or g, for powers of 1024. A value that cannot be read is reported by rank 0, and the \
         default is taken; mpiexec reports unknown variables that begin with OXMPI_.",
    )]);
    page.heading("VARIABLES");
    for variable in settings::all() {
        let head = vec![
            bold(variable.name()),
            roman(format!(" ({})", variable.default())),
        ];
        let aliases = match variable.aliases() {
            [] => String::new(),
            names => format!(" Also read: {}.", names.join(", ")),
        };
        let text = format!(
            "{} Allowed: {}.{aliases}",
            variable.full_text(),
            variable.allowed()
        );
        page.entry(head, &text);
    }
    page.examples(&[
        ("mpiexec -info", "All variables with the values in force:"),
        (
            "mpiexec -n 2 -genv OXMPI_SHOW variables ./demo",
            "The values that a job has:",
        ),
        (
            "OXMPI_CHECK_SIGNATURES=1 mpiexec -n 2 ./demo",
            "Compare the types of each message with those of its receive:",
        ),
    ]);
    page.see_also(&[("mpiexec", "1"), ("mpicc", "1")]);
    page.render()
}

#[test]
fn the_man_pages_are_current() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/man");
    for (name, text) in [
        ("mpiexec.1", page_of_mpiexec()),
        ("mpicc.1", page_of_wrappers()),
        ("oxmpi.7", page_of_variables()),
    ] {
        let path = format!("{folder}/{name}");
        if std::env::var_os("OXMPI_WRITE_PAGES").is_some() {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "docs/man/{name} is not current: run `make support`"
        );
    }
}
