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
}

impl Card {
    pub fn text(&self) -> String {
        let address: String = self
            .address
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!(
            "{}:{:08x}:{:016x}:{address}",
            self.provider, self.word, self.settings
        )
    }

    /// What [`Self::text`] made a text of.
    pub fn of(text: &str) -> Option<Card> {
        let mut parts = text.splitn(4, ':');
        let (provider, word) = (parts.next()?, parts.next()?);
        let (settings, address) = (parts.next()?, parts.next()?);
        if !address.is_ascii() || address.len() % 2 != 0 {
            return None;
        }
        let byte = |at: usize| u8::from_str_radix(&address[at..at + 2], 16).ok();
        Some(Card {
            provider: provider.to_owned(),
            word: u32::from_str_radix(word, 16).ok()?,
            settings: u64::from_str_radix(settings, 16).ok()?,
            address: (0..address.len())
                .step_by(2)
                .map(byte)
                .collect::<Option<_>>()?,
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
        };
        let text = card.text();
        assert_eq!(text, "tcp;ofi_rxm:00abcdef:0000000000001234:0200ff10");
        assert_eq!(Card::of(&text), Some(card));
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
        ] {
            assert_eq!(Card::of(nonsense), None, "{nonsense}");
        }
    }
}
