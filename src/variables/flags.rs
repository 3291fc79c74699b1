//! Settings that are words with commas between, each for one thing.

/// A structure with a `bool` for each word, and all that [`Value`](super::Value) needs of it but the words that stand for several.
macro_rules! flags {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident { $($word:ident),* $(,)? }
        $($($other:literal)|+ => $($set:ident)|+;)*
        allowed: $allowed:literal
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $(pub $word: bool,)*
        }

        impl $name {
            const NOTHING: $name = $name { $($word: false,)* };

            fn words(self) -> impl DoubleEndedIterator<Item = (&'static str, bool)> {
                [$((stringify!($word), self.$word),)*].into_iter()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let set = self.words().filter(|(_, is_set)| *is_set);
                let set: Vec<&str> = set.map(|(word, _)| word).collect();
                formatter.write_str(if set.is_empty() { "nothing" } else { "" })?;
                formatter.write_str(&set.join(","))
            }
        }

        impl $crate::variables::Value for $name {
            const ALLOWED: &'static str = $allowed;
            /// A bit for each word.
            const KIND: $crate::variables::Kind = $crate::variables::Kind::Number;

            fn parse(text: &str) -> Option<$name> {
                let mut found = $name::NOTHING;
                for word in text.split(',') {
                    let word = word.trim().to_ascii_lowercase();
                    match word.as_str() {
                        $(stringify!($word) => found.$word = true,)*
                        $($($other)|+ => {
                            $(found.$set = true;)+
                        })*
                        "nothing" | "no" | "false" | "off" | "0" | "" => {}
                        _ => return None,
                    }
                }
                Some(found)
            }

            fn bits(self) -> u64 {
                self.words().rev().fold(0, |bits, (_, is_set)| bits << 1 | u64::from(is_set))
            }

            fn of_bits(bits: u64) -> Option<$name> {
                let mut left = bits;
                let mut next = || {
                    let is_set = left & 1 == 1;
                    left >>= 1;
                    is_set
                };
                let found = $name { $($word: next(),)* };
                (left == 0).then_some(found)
            }
        }
    };
}

pub(super) use flags;
