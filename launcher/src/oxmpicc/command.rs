//! The compiler's command line: what goes around the program's own arguments, and how it is shown.

use std::ffi::OsString;

/// The command that compiles. The compiler may come with arguments of its own, as in
/// `MPICH_CC="ccache gcc"`. `always_link` shows the link flags also when no file is named.
pub fn command(
    compiler: &str,
    arguments: &[OsString],
    include: &[OsString],
    link: &[OsString],
    always_link: bool,
) -> Vec<OsString> {
    let mut command: Vec<OsString> = compiler.split_whitespace().map(OsString::from).collect();
    command.extend_from_slice(include);
    command.extend_from_slice(arguments);
    if links(arguments) && (always_link || has_input(arguments)) {
        command.extend_from_slice(link);
    }
    command
}

/// Whether the compiler would go on to link.
pub fn links(arguments: &[OsString]) -> bool {
    const STOPS: [&str; 6] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];
    !arguments
        .iter()
        .any(|argument| STOPS.iter().any(|stop| argument == stop))
}

/// Whether anything is there to link: `mpicc -v` and `mpicc --version` name no file.
pub fn has_input(arguments: &[OsString]) -> bool {
    const WITH_VALUE: [&str; 20] = [
        "-o",
        "-J",
        "-I",
        "-L",
        "-D",
        "-U",
        "-x",
        "-T",
        "-u",
        "-z",
        "-include",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-MF",
        "-MT",
        "-MQ",
        "-Xlinker",
        "-Xpreprocessor",
        "-Xassembler",
    ];
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if WITH_VALUE.contains(&text.as_ref()) {
            arguments.next();
        } else if !text.starts_with('-') || text == "-" || text.starts_with("-l") {
            return true;
        }
    }
    false
}

/// For the shell, with quotes only where they are needed. In `-I"a path"` they begin at the path: CMake's FindMPI reads no others.
pub fn quoted(words: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    let quote = |word: &OsString| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            return word.into_owned();
        }
        let mut options = ["-I", "-L", "-Wl,-rpath,"].into_iter();
        let path = options.find_map(|option| Some((option, word.strip_prefix(option)?)));
        match path {
            Some((option, path)) if !path.contains(['"', '$', '`', '\\']) => {
                format!("{option}\"{path}\"")
            }
            _ => format!("'{}'", word.replace('\'', "'\\''")),
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn links_only_when_the_compiler_would() {
        let link = words("-L/p/lib -lmpi");
        let include = words("-I/p/include");
        let line = |text| quoted(&command("gcc", &words(text), &include, &link, false));
        assert_eq!(line("-o a a.c"), "gcc -I/p/include -o a a.c -L/p/lib -lmpi");
        assert_eq!(line("-c a.c"), "gcc -I/p/include -c a.c");
        assert_eq!(line("--version"), "gcc -I/p/include --version");
        assert_eq!(line("-o a"), "gcc -I/p/include -o a");
    }

    #[test]
    fn a_compiler_with_a_launcher_is_split() {
        assert_eq!(
            command("ccache gcc", &words("-c a.c"), &words("-I/i"), &[], false),
            words("ccache gcc -I/i -c a.c")
        );
    }

    #[test]
    fn words_are_quoted_where_needed() {
        let define = ["-DNAME=\"a b\"", "it's", "x.c"].map(OsString::from);
        assert_eq!(quoted(&define), "'-DNAME=\"a b\"' 'it'\\''s' x.c");
        let paths = ["-I/a b/include", "-L/a$b/lib", "-Wl,-rpath,/a b"].map(OsString::from);
        assert_eq!(
            quoted(&paths),
            "-I\"/a b/include\" '-L/a$b/lib' -Wl,-rpath,\"/a b\""
        );
    }
}
