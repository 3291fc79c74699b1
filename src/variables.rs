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

/// A setting; `OXMPI_<name>` in the environment, or the name that MPICH has for the same thing.
pub struct Variable<T: Value> {
    name: &'static str,
    /// The whole name of MPICH's variable, empty if there is none like it.
    alias: &'static str,
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
            alias: "",
            default,
            text,
            value: OnceLock::new(),
        }
    }

    /// Also reads MPICH's variable of this whole name, when ours is not set.
    pub const fn with_alias(mut self, alias: &'static str) -> Variable<T> {
        self.alias = alias;
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
            let own = format!("{PREFIX}{}", self.name);
            self.choose(&[own.as_str(), self.alias], |name| {
                std::env::var_os(name).map(|text| text.to_string_lossy().into_owned())
            })
        })
    }

    /// The value of the first of these names that is set.
    fn choose(&self, names: &[&str], environment: impl Fn(&str) -> Option<String>) -> T {
        for name in names.iter().filter(|name| !name.is_empty()) {
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
    /// MPICH's name, or empty.
    fn alias(&self) -> &'static str;
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

    fn alias(&self) -> &'static str {
        self.alias
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
        let alias = match variable.alias() {
            "" => String::new(),
            alias => format!(" (also {alias})"),
        };
        list.push_str(&format!(
            "{}={}{alias}\n    {} Allowed: {}; default: {}.\n",
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
///     pub enum Waiting { Spin = "spin", Sleep = "sleep" }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $visible:vis enum $name:ident { $first:ident = $first_word:literal
        $(, $variant:ident = $word:literal)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
            const ALLOWED: &'static str = concat!($first_word $(, ", ", $word)*);

            fn parse(text: &str) -> Option<Self> {
                match text {
                    $first_word => Some($name::$first),
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        enum Colour { Red = "red", Green = "green" }
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
        assert_eq!(Colour::ALLOWED, "red, green");
    }

    #[test]
    fn the_own_name_goes_before_the_alias() {
        let variable = Variable::new("LIMIT", 7_u64, "Bytes.").with_alias("MPIR_CVAR_LIMIT");
        let names = ["OXMPI_LIMIT", "MPIR_CVAR_LIMIT"];
        let alias = |name: &str| (name == names[1]).then(|| "9".to_owned());
        assert_eq!(variable.choose(&names, |_| None), 7);
        assert_eq!(variable.choose(&names, alias), 9);
        assert_eq!(variable.choose(&names, |_| Some("8".to_owned())), 8);
    }

    #[test]
    fn mistakes_are_reported_and_the_default_taken() {
        let variable = Variable::new("COLOUR", Colour::Red, "The colour.");
        let blue = |_: &str| Some("blue".to_owned());
        assert_eq!(variable.choose(&["OXMPI_COLOUR"], blue), Colour::Red);
        let mistakes = take_mistakes();
        let mistake = "OXMPI_COLOUR is \"blue\"; allowed is red, green. Taken is red.";
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
