//! Ranks that an option names.

use oxmpi::launch::MOST_RANKS;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandardInput {
    All,
    Ranks(Vec<u32>),
}

impl Default for StandardInput {
    fn default() -> Self {
        StandardInput::Ranks(vec![0])
    }
}

impl StandardInput {
    /// Whether this rank is among them.
    pub fn has(&self, rank: usize) -> bool {
        match self {
            StandardInput::All => true,
            StandardInput::Ranks(list) => list.contains(&(rank as u32)),
        }
    }

    pub fn parse(text: &str) -> Result<StandardInput, String> {
        match text {
            "all" => return Ok(StandardInput::All),
            "none" => return Ok(StandardInput::Ranks(Vec::new())),
            _ => {}
        }
        let wrong = || format!("'{text}' is neither all, none, nor a list of ranks such as 0,2-4");
        let mut ranks = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| wrong())?;
            let last: u32 = last.trim().parse().map_err(|_| wrong())?;
            if last < first || last >= MOST_RANKS {
                return Err(wrong());
            }
            ranks.extend(first..=last);
            // A list that names ranks again and again takes no more memory for it.
            if ranks.len() > MOST_RANKS as usize {
                ranks.sort_unstable();
                ranks.dedup();
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        Ok(StandardInput::Ranks(ranks))
    }
}
