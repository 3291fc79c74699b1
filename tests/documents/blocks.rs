//! Reads pages: fenced blocks, links and headings of Markdown, examples of man pages.

/// A fenced block, or an example.
pub struct Block {
    /// Of its first line of text.
    pub line: usize,
    /// What stands behind the fence.
    pub information: String,
    pub text: String,
}

impl Block {
    pub fn language(&self) -> &str {
        self.information
            .split_whitespace()
            .next()
            .unwrap_or_default()
    }

    /// Why it is not run.
    pub fn skipped(&self) -> Option<&str> {
        self.information.split_once("skip=").map(|it| it.1)
    }
}

pub fn blocks(page: &str) -> Vec<Block> {
    let (mut found, mut open) = (Vec::new(), None::<Block>);
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(information), None) => {
                open = Some(Block {
                    line: number + 2,
                    information: information.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    found
}

/// The examples of a man page, between .EX and .EE.
pub fn examples(page: &str) -> Vec<Block> {
    let (mut found, mut open) = (Vec::new(), None::<Block>);
    for (number, line) in page.lines().enumerate() {
        match (line, &mut open) {
            (".EX", _) => {
                open = Some(Block {
                    line: number + 2,
                    information: "sh".to_owned(),
                    text: String::new(),
                });
            }
            (".EE", _) => found.extend(open.take()),
            (_, Some(block)) => block.text += &format!("{}\n", plain(line)),
            (_, None) => {}
        }
    }
    found
}

/// A line of a man page without its marks.
pub fn plain(line: &str) -> String {
    let mut text = line.to_owned();
    for (mark, meaning) in [
        ("\\fB", ""),
        ("\\fI", ""),
        ("\\fR", ""),
        ("\\-", "-"),
        ("\\*(Aq", "'"),
        ("\\&", ""),
        ("\\\\", "\\"),
    ] {
        text = text.replace(mark, meaning);
    }
    text
}

/// The page without fenced blocks, by lines with their numbers.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    page.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((number + 1, line))
    })
}

/// What stands between backquotes, with its line.
pub fn spans(page: &str) -> Vec<(usize, String)> {
    let lines = prose(page);
    let spans = lines.flat_map(|(number, line)| {
        let inside = line.split('`').skip(1).step_by(2);
        inside.map(move |span| (number, span.to_owned()))
    });
    spans.collect()
}

/// Targets of links and pictures, with their lines.
pub fn links(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(page) {
        // Not in code.
        let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        for part in text.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                let target = target.split_whitespace().next().unwrap_or_default();
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// What links name headings by, as GitHub makes it.
pub fn anchors(page: &str) -> impl Iterator<Item = String> {
    prose(page).filter_map(|(_, line)| {
        let text = line.strip_prefix('#')?.trim_start_matches('#').trim();
        let kept = text.to_lowercase();
        let kept = kept
            .chars()
            .filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        Some(kept.map(|it| if it == ' ' { '-' } else { it }).collect())
    })
}

/// The reader, tried: files of tests with a `main` of their own have no unit tests.
pub fn pages_are_read() {
    let page = "# A `b` c!\n\n[x](y.md#a-b-c) `[no](link)`\n\n```sh skip=no time\ncommand\n```\n![p](plots/p.svg \"t\")\n";
    let found = blocks(page);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].language(), found[0].skipped()),
        ("sh", Some("no time"))
    );
    assert_eq!((found[0].text.as_str(), found[0].line), ("command\n", 6));
    let targets: Vec<String> = links(page).into_iter().map(|it| it.1).collect();
    assert_eq!(targets, ["y.md#a-b-c", "plots/p.svg"]);
    assert_eq!(anchors(page).collect::<Vec<_>>(), ["a-b-c"]);
    assert_eq!(spans(page)[0], (1, "b".to_owned()));
    let examples = examples(".EX\nmpiexec \\-n 2 \\*(Aqx\\*(Aq\n.EE\n");
    assert_eq!(examples[0].text, "mpiexec -n 2 'x'\n");
}
