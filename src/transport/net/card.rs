//! What a process tells the others, by the launcher, so that they can reach it: one word of text.

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// All processes of a job must have the same.
    pub provider: String,
    /// What messages to this process have in them.
    pub word: u32,
    /// Hash of the settings that all processes must have alike, and of the build.
    pub settings: u64,
    pub address: Vec<u8>,
    /// Of the second engine and those that follow.
    pub further: Vec<Vec<u8>>,
}

/// How many characters an address of so many bytes takes.
pub fn characters(bytes: usize) -> usize {
    2 * bytes + 1
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_hexadecimal(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

impl Card {
    pub fn text(&self) -> String {
        let mut text = format!("{}:{:08x}:{:016x}", self.provider, self.word, self.settings);
        for address in std::iter::once(&self.address).chain(&self.further) {
            text.push(':');
            text.push_str(&hexadecimal(address));
        }
        text
    }

    /// What [`Self::text`] made a text of.
    pub fn of(text: &str) -> Option<Card> {
        let mut parts = text.split(':');
        let (provider, word) = (parts.next()?, parts.next()?);
        let (settings, address) = (parts.next()?, parts.next()?);
        Some(Card {
            provider: provider.to_owned(),
            word: u32::from_str_radix(word, 16).ok()?,
            settings: u64::from_str_radix(settings, 16).ok()?,
            address: of_hexadecimal(address)?,
            further: parts.map(of_hexadecimal).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_comes_back_from_its_text() {
        let card = Card {
            provider: "tcp;ofi_rxm".to_owned(),
            word: 0x00ab_cdef,
            settings: 0x1234,
            address: vec![2, 0, 255, 16],
            further: Vec::new(),
        };
        let text = card.text();
        assert_eq!(text, "tcp;ofi_rxm:00abcdef:0000000000001234:0200ff10");
        assert_eq!(Card::of(&text).as_ref(), Some(&card));
        assert_eq!(
            text.len(),
            "tcp;ofi_rxm:00abcdef:0000000000001234".len() + characters(4)
        );
        let further = vec![vec![3], vec![]];
        let of_three = Card { further, ..card };
        let text = of_three.text();
        assert!(text.ends_with(":0200ff10:03:"), "{text}");
        assert_eq!(Card::of(&text), Some(of_three));
        for nonsense in [
            "",
            "net",
            "net:12",
            "net:1:00",
            "net:x:1:00",
            "net:1:x:00",
            "net:1:1:0",
            "net:1:1:0g",
            "net:1:1:é",
            "net:1:1:00:0",
        ] {
            assert_eq!(Card::of(nonsense), None, "{nonsense}");
        }
    }
}
