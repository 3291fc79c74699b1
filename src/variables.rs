//! Control variables: settings from the environment, each declared as a `static` where it is used and
//! listed by the module that owns it.
//!
//! Invariant: a variable is read from the environment once, at its first use, and never changes after;
//! a value that cannot be read is reported and the default is taken.

use parking_lot::Mutex;
use std::fmt::Display;
use std::sync::OnceLock;

/// Before the name of each variable in the environment.
pub const PREFIX: &str = "OXMPI_";

/// What a variable can be set to.
pub trait Value: Copy + Display + Send + Sync + 'static {
    /// What is allowed, for messages and lists.
    const ALLOWED: &'static str;
    fn parse(text: &str) -> Option<Self>;
}

/// A setting; `OXMPI_<name>` in the environment, or the names that other libraries have for the same thing.
pub struct Variable<T: Value> {
    name: &'static str,
    /// Whole names of variables of other libraries, such as MPICH.
    aliases: &'static [&'static str],
    default: T,
    /// What it does, its unit, and when one would change it.
    text: &'static str,
    value: OnceLock<T>,
}

impl<T: Value> Variable<T> {
    /// `text` says what the variable does, and its unit.
    pub const fn new(name: &'static str, default: T, text: &'static str) -> Variable<T> {
        Variable {
            name,
            aliases: &[],
            default,
            text,
            value: OnceLock::new(),
        }
    }

    /// When ours is not set, these are read: other libraries' variables of the same meaning, whole names.
    pub const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Variable<T> {
        self.aliases = aliases;
        self
    }

    /// The value in force.
    #[inline]
    pub fn get(&self) -> T {
        match self.value.get() {
            Some(value) => *value,
            None => self.read(),
        }
    }

    #[cold]
    fn read(&self) -> T {
        *self.value.get_or_init(|| {
            self.choose(|name| {
                std::env::var_os(name).map(|text| text.to_string_lossy().into_owned())
            })
        })
    }

    /// The value of the first of the names that is set.
    fn choose(&self, environment: impl Fn(&str) -> Option<String>) -> T {
        for name in std::iter::once(self.name().as_str()).chain(self.aliases.iter().copied()) {
            let Some(text) = environment(name) else {
                continue;
            };
            if let Some(value) = T::parse(text.trim()) {
                return value;
            }
            let allowed = T::ALLOWED;
            MISTAKES.lock().push(format!(
                "{name} is \"{text}\"; allowed is {allowed}. Taken is {}.",
                self.default
            ));
            break;
        }
        self.default
    }
}

static MISTAKES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What was wrong with the settings read since the last call, a sentence each.
pub fn take_mistakes() -> Vec<String> {
    std::mem::take(&mut MISTAKES.lock())
}

/// A variable of any type, for lists.
pub trait Listed: Sync {
    /// As it is set in the environment.
    fn name(&self) -> String;
    /// Other libraries' names.
    fn aliases(&self) -> &'static [&'static str];
    fn default(&self) -> String;
    /// The value in force; reads it if that has not been done.
    fn value(&self) -> String;
    fn allowed(&self) -> &'static str;
    fn text(&self) -> &'static str;
}

impl<T: Value> Listed for Variable<T> {
    fn name(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn default(&self) -> String {
        self.default.to_string()
    }

    fn value(&self) -> String {
        self.get().to_string()
    }

    fn allowed(&self) -> &'static str {
        T::ALLOWED
    }

    fn text(&self) -> &'static str {
        self.text
    }
}

/// The list that people see: name, value and text of each variable, one paragraph each.
pub fn describe(variables: &[&dyn Listed]) -> String {
    let mut list = String::new();
    for variable in variables {
        let aliases = match variable.aliases() {
            [] => String::new(),
            names => format!(" (also {})", names.join(", ")),
        };
        list.push_str(&format!(
            "{}={}{aliases}\n    {}\n    Allowed: {}; default: {}.\n",
            variable.name(),
            variable.value(),
            variable.text(),
            variable.allowed(),
            variable.default(),
        ));
    }
    list
}

impl Value for bool {
    const ALLOWED: &'static str = "yes or no (1 or 0, true or false, on or off)";

    fn parse(text: &str) -> Option<bool> {
        match text.to_ascii_lowercase().as_str() {
            "1" | "yes" | "true" | "on" => Some(true),
            "0" | "no" | "false" | "off" => Some(false),
            _ => None,
        }
    }
}

impl Value for u64 {
    const ALLOWED: &'static str = "a number, with k, m or g after it for powers of 1024";

    fn parse(text: &str) -> Option<u64> {
        let unit = text.find(|character: char| !character.is_ascii_digit());
        let (number, unit) = text.split_at(unit.unwrap_or(text.len()));
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(1 << shift)
    }
}

impl Value for f64 {
    const ALLOWED: &'static str = "a number, not negative";

    fn parse(text: &str) -> Option<f64> {
        let number = text.parse::<f64>().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    }
}

/// A setting of words: declare an enum with this macro and use it as the type of a `Variable`.
///
/// ```
/// oxmpi::choice! {
///     /// How ranks wait.
///     pub enum Waiting { Spin = "spin", Sleep = "sleep" | "nap" }
/// }
/// ```
///
/// The first word of each is the one that is shown; upper and lower case are the same.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $visible:vis enum $name:ident { $first:ident = $first_word:literal $(| $first_other:literal)*
        $(, $variant:ident = $word:literal $(| $other:literal)*)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $visible enum $name { $first $(, $variant)* }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self {
                    $name::$first => $first_word,
                    $($name::$variant => $word,)*
                })
            }
        }

        impl $crate::variables::Value for $name {
            const ALLOWED: &'static str = concat!($first_word $(, " or ", $first_other)*
                $(, ", ", $word $(, " or ", $other)*)*);

            fn parse(text: &str) -> Option<Self> {
                let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
                if is(&[$first_word $(, $first_other)*]) {
                    return Some($name::$first);
                }
                $(if is(&[$word $(, $other)*]) {
                    return Some($name::$variant);
                })*
                None
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        enum Colour { Red = "red", Green = "green" | "verde" }
    }

    #[test]
    fn numbers_and_words() {
        assert_eq!(u64::parse("64k"), Some(65536));
        assert_eq!(u64::parse("2 MiB"), Some(2 << 20));
        assert_eq!(u64::parse("17"), Some(17));
        for wrong in ["", "-1", "k", "1x", "99999999999999999g"] {
            assert_eq!(u64::parse(wrong), None, "{wrong}");
        }
        assert_eq!(bool::parse("Yes"), Some(true));
        assert_eq!(bool::parse("0"), Some(false));
        assert_eq!(bool::parse("maybe"), None);
        assert_eq!(f64::parse("0.5"), Some(0.5));
        assert_eq!(f64::parse("-1"), None);
        assert_eq!(Colour::parse("green"), Some(Colour::Green));
        assert_eq!(Colour::parse("VERDE"), Some(Colour::Green));
        assert_eq!(Colour::ALLOWED, "red, green or verde");
    }

    #[test]
    fn the_own_name_goes_before_the_aliases() {
        let variable = Variable::new("LIMIT", 7_u64, "Bytes.").with_aliases(&["THEIRS", "OTHERS"]);
        let choose = |set: &[(&str, &str)]| {
            variable.choose(|name| {
                let found = set.iter().find(|(set, _)| *set == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(choose(&[]), 7);
        assert_eq!(choose(&[("OTHERS", "9")]), 9);
        assert_eq!(choose(&[("OTHERS", "9"), ("THEIRS", "6")]), 6);
        assert_eq!(choose(&[("THEIRS", "6"), ("OXMPI_LIMIT", "8")]), 8);
    }

    #[test]
    fn mistakes_are_reported_and_the_default_taken() {
        let variable = Variable::new("COLOUR", Colour::Red, "The colour.");
        let blue = |_: &str| Some("blue".to_owned());
        assert_eq!(variable.choose(blue), Colour::Red);
        let mistakes = take_mistakes();
        let mistake = "OXMPI_COLOUR is \"blue\"; allowed is red, green or verde. Taken is red.";
        assert!(mistakes.iter().any(|text| text == mistake), "{mistakes:?}");
    }

    #[test]
    fn the_list_says_all() {
        static UNSET: Variable<u64> = Variable::new("TEST_UNSET", 3, "Nothing.");
        let list = describe(&[&UNSET]);
        assert!(list.starts_with("OXMPI_TEST_UNSET=3\n"), "{list}");
        assert!(list.contains("Nothing.") && list.contains("default: 3"));
    }
}
