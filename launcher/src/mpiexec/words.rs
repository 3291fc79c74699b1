//! Splits lines of text into words as a shell would: quotes and backslashes, `#` comments, continued lines.

/// Splits one line. Errors: a quote that is not closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err(format!("a quote {letter} is not closed")),
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => match letters.next() {
                            Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                            Some(other) => word.extend(['\\', other]),
                            None => return Err("a quote \" is not closed".into()),
                        },
                        Some(inside) => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            '#' if word.is_none() => break,
            _ if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The lines of a file that say something, with their numbers; a backslash at the end continues a line.
pub fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut begun: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let (number, mut whole) = begun.take().unwrap_or((index + 1, String::new()));
        match line.strip_suffix('\\') {
            Some(part) => {
                whole.push_str(part);
                begun = Some((number, whole));
            }
            None => {
                whole.push_str(line);
                lines.push((number, whole));
            }
        }
    }
    lines.extend(begun);
    lines.retain(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
}

/// The known word that one with a typing mistake most likely means: at most one letter differs in words of three to six letters,
/// two in words of seven to eleven, three in longer ones.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = |length: usize| match length {
        0..3 => 0,
        3..7 => 1,
        7..12 => 2,
        _ => 3,
    };
    known
        .map(|word| (strsim::damerau_levenshtein(word, given), word))
        .filter(|(distance, word)| *distance <= allowed(word.len().min(given.len())))
        .min()
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        let words = split(r#"-n 2 'a b' "c \"d\"" e\ f '' g#h # comment"#).unwrap();
        assert_eq!(words, ["-n", "2", "a b", "c \"d\"", "e f", "", "g#h"]);
        assert!(split("'open").is_err() && split("\"open\\").is_err());
        assert!(split("  ").unwrap().is_empty());
    }

    #[test]
    fn lines_can_be_continued() {
        let lines = logical_lines("# c\n-n 1 \\\n ./a\n\n  # d\n./b");
        assert_eq!(lines, [(2, "-n 1  ./a".into()), (6, "./b".into())]);
    }

    #[test]
    fn only_near_words_are_taken_for_mistakes() {
        let find = |given| nearest(given, ["path", "n", "timeout", "profile"].into_iter());
        assert_eq!(find("timeuot"), Some("timeout"));
        assert_eq!(find("pathh"), Some("path"));
        assert_eq!(find("prot"), None);
        assert_eq!(find("m"), None);
    }
}
