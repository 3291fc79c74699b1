//! Parsing of the command line, by the table of options.

use super::options::{self, Takes};
use super::request::{Answer, Parsing, Program, Read, Request};
use std::ffi::OsString;

impl Parsing<'_> {
    /// Parses options up to the program's name. Returns an answer that needs no program, if one was asked for.
    fn section(&mut self, arguments: &[OsString]) -> Result<Option<Answer>, String> {
        let mut rest = arguments;
        while let Some((argument, after)) = rest.split_first() {
            if argument == "--" {
                self.program.command = after.to_vec();
                break;
            }
            let option = argument.to_str().and_then(|text| text.strip_prefix('-'));
            let (Some(name), Some(argument)) =
                (option.filter(|name| !name.is_empty()), argument.to_str())
            else {
                self.program.command = rest.to_vec();
                break;
            };
            let name = name.strip_prefix('-').unwrap_or(name);
            let (name, attached) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (name, None),
            };
            match name {
                "help" | "h" | "?" => return Ok(Some(Answer::Help)),
                "version" | "V" => return Ok(Some(Answer::Version)),
                "info" => return Ok(Some(Answer::Info)),
                "doctor" => return Ok(Some(Answer::Doctor)),
                "top" => {
                    let after = after.iter().map(|word| word.to_string_lossy().into_owned());
                    let words = attached.map(str::to_owned).into_iter().chain(after);
                    return Ok(Some(Answer::Top(words.collect())));
                }
                _ => {}
            }
            let choice = options::find(name).ok_or_else(|| unknown(argument, name))?;
            let mut given: Vec<String> = attached.map(str::to_owned).into_iter().collect();
            let wanted = match choice.takes {
                Takes::None if attached.is_some() => {
                    return Err(format!("{argument}: this option takes no value"));
                }
                Takes::None => 0,
                Takes::One(_) => 1,
                Takes::Variable => {
                    match attached.or(after.first().and_then(|word| word.to_str())) {
                        Some(first) if first.contains('=') => 1,
                        _ => 2,
                    }
                }
                Takes::Two(_) => 2,
            };
            let more = wanted - given.len().min(wanted);
            if after.len() < more {
                return Err(format!("{argument}: a value is missing"));
            }
            for value in &after[..more] {
                let value = value.to_str();
                given.push(
                    value
                        .ok_or_else(|| format!("{argument}: the value is not UTF-8"))?
                        .to_owned(),
                );
            }
            rest = &after[more..];
            if choice.without_effect {
                let line = format!("{argument} has no effect: {}", choice.help);
                self.request.without_effect.push(line);
            }
            (choice.set)(self, &given).map_err(|error| format!("{argument}: {error}"))?;
        }
        Ok(None)
    }
}

fn unknown(argument: &str, name: &str) -> String {
    let hint = match options::suggestion(name) {
        Some(known) => format!("; did you mean -{known}?"),
        None => " (-help lists the options)".into(),
    };
    format!("unknown option {argument}{hint}")
}

/// Understands the arguments after the program's name; `read` reads the files of options that they name.
///
/// Errors: a text for the user.
pub fn parse(arguments: &[OsString], read: Read) -> Result<Answer, String> {
    let mut parsing = Parsing {
        request: Request::default(),
        program: Program::default(),
        from_file: Vec::new(),
        config_files: 0,
        read,
    };
    let mut sections: Vec<Vec<OsString>> = arguments
        .split(|argument| argument == ":")
        .map(<[_]>::to_vec)
        .collect();
    let several = sections.len() > 1;
    let mut next = 0;
    while next < sections.len() {
        let section = std::mem::take(&mut sections[next]);
        if let Some(answer) = parsing.section(&section)? {
            return Ok(answer);
        }
        let program = std::mem::take(&mut parsing.program);
        let from_file = std::mem::take(&mut parsing.from_file);
        if !from_file.is_empty() {
            if !program.command.is_empty() {
                return Err(
                    "give programs on the command line or in a -configfile, not both".into(),
                );
            }
            sections.splice(next + 1..next + 1, from_file);
            parsing.request.folder = program.folder.or(parsing.request.folder);
        } else if program.command.is_empty() {
            return Err(match several {
                true => "there is no program between two colons".into(),
                false => "no program given (-help lists the options)".to_owned(),
            });
        } else {
            parsing.request.programs.push(program);
        }
        next += 1;
    }
    if parsing.request.programs.is_empty() {
        return Err("no program given (-help lists the options)".into());
    }
    Ok(Answer::Run(Box::new(parsing.request)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpiexec::request::*;
    use crate::mpiexec::words;

    fn request(line: &str) -> Result<Request, String> {
        request_with(line, &|path| std::fs::read_to_string(path))
    }

    fn request_with(line: &str, read: Read) -> Result<Request, String> {
        let arguments: Vec<OsString> = words::split(line)
            .unwrap()
            .into_iter()
            .map(OsString::from)
            .collect();
        match parse(&arguments, read)? {
            Answer::Run(request) => Ok(*request),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn both_habits_are_understood() {
        let mpich =
            request("-n 4 -genv A B -genv C=D -ppn 2 -l -bind-to core ./a.out -n 7 --x").unwrap();
        assert_eq!(mpich.programs[0].ranks, Some(4));
        assert_eq!(mpich.programs[0].command, ["./a.out", "-n", "7", "--x"]);
        assert_eq!(
            mpich.set,
            [("A".into(), "B".into()), ("C".into(), "D".into())]
        );
        assert_eq!(mpich.label, Label::Rank);
        let open = request(
            "--np 3 -x LD -x P=1=2 --bind-to none --map-by :OVERSUBSCRIBE --mca btl self --oversubscribe \
             --allow-run-as-root --timeout=5 --tag-output -- -odd",
        )
        .unwrap();
        assert_eq!(open.programs[0].command, ["-odd"]);
        assert_eq!(open.also_pass, ["LD"]);
        assert_eq!(open.set, [("P".into(), "1=2".into())]);
        assert_eq!(open.timeout, Some(5.0));
        assert_eq!(open.bind_to.as_deref(), Some("none"));
    }

    #[test]
    fn colons_separate_programs() {
        let two = request("-genv G 1 -n 1 -env A 1 ./a x : -n 2 -wdir /tmp ./b").unwrap();
        assert_eq!(two.programs.len(), 2);
        assert_eq!(two.programs[0].set, [("A".into(), "1".into())]);
        assert_eq!(two.programs[1].folder.as_deref(), Some("/tmp"));
        assert_eq!(two.programs[1].ranks, Some(2));
        assert!(request("-n 1 ./a : -n 2").is_err());
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("-n", "-n: a value is missing"),
            ("-n x ./a", "'x'"),
            ("-n 0 ./a", "'0'"),
            ("-bindto core ./a", "did you mean -bind-to"),
            ("-l=1 ./a", "takes no value"),
            ("-genv ./a", "-genv: a value is missing"),
            ("", "no program"),
            ("-s 3-1 ./a", "3-1"),
            ("-timeout soon ./a", "soon"),
            ("-configfile /nonexistent", "/nonexistent"),
        ] {
            let error = request(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn a_configuration_file_may_name_another_but_not_itself() {
        let files = |path: &str| match path {
            "a" => Ok("-configfile b\n-n 2 ./c".to_owned()),
            "b" => Ok("-n 1 ./d : ./e".to_owned()),
            _ => Ok("-configfile itself".to_owned()),
        };
        let nested = request_with("-configfile a", &files).unwrap();
        let counts: Vec<_> = nested.programs.iter().map(|it| it.ranks).collect();
        assert_eq!(counts, [Some(1), None, Some(2)]);
        let error = request_with("-configfile itself", &files).unwrap_err();
        assert!(error.contains("does one name itself?"), "{error}");
    }

    #[test]
    fn input_goes_to_whom_it_was_asked_for() {
        assert_eq!(StandardInput::parse("all"), Ok(StandardInput::All));
        assert_eq!(
            StandardInput::parse("3,0-1,1"),
            Ok(StandardInput::Ranks(vec![0, 1, 3]))
        );
        assert_eq!(
            StandardInput::parse("none"),
            Ok(StandardInput::Ranks(vec![]))
        );
        let often = ["0-65535"; 5].join(",");
        assert_eq!(
            StandardInput::parse(&often),
            Ok(StandardInput::Ranks((0..MOST_RANKS).collect()))
        );
        assert!(StandardInput::parse("65536").is_err());
    }
}
