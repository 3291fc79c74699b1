//! Control variables: settings from the environment, each declared as a `static` where it is used and
//! listed by the module that owns it.
//!
//! Invariant: a variable is read from the environment once, at its first use, and never changes after;
//! a value that cannot be read is reported and the default is taken.

pub mod check;
mod flags;
pub mod pretend;
pub mod show;

use crate::error::{Class, Result, fail};
use parking_lot::Mutex;
use std::fmt::Display;
use std::sync::OnceLock;

/// Before the name of each variable in the environment.
pub const PREFIX: &str = "OXMPI_";

/// What tools see of a value's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    /// The bits of an `f64`.
    Real,
    /// The position of one of these words.
    Word(&'static [&'static str]),
}

/// What a variable can be set to.
pub trait Value: Copy + Display + Send + Sync + 'static {
    /// What is allowed, for messages and lists.
    const ALLOWED: &'static str;
    const KIND: Kind;
    fn parse(text: &str) -> Option<Self>;
    /// The value as tools have it, and back.
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Option<Self>;
}

/// A setting; `OXMPI_<name>` in the environment, or the names that other libraries have for the same thing.
pub struct Variable<T: Value> {
    name: &'static str,
    /// Whole names of variables of other libraries, such as MPICH.
    aliases: &'static [&'static str],
    default: T,
    /// What it does, its unit, and when one would change it.
    text: &'static str,
    same_on_all: bool,
    value: OnceLock<T>,
    /// By a tool, in place of what the environment says.
    written: Mutex<Option<T>>,
}

impl<T: Value> Variable<T> {
    /// `text` says what the variable does, and its unit.
    pub const fn new(name: &'static str, default: T, text: &'static str) -> Variable<T> {
        Variable {
            name,
            aliases: &[],
            default,
            text,
            same_on_all: false,
            value: OnceLock::new(),
            written: Mutex::new(None),
        }
    }

    /// Ranks that have different values cannot work together.
    pub const fn same_on_all(mut self) -> Variable<T> {
        self.same_on_all = true;
        self
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

    /// Whether the value in force is the default.
    pub fn is_default(&self) -> bool {
        self.get().bits() == self.default.bits()
    }

    #[cold]
    fn read(&self) -> T {
        // Locked until the value is in force, so that no write that has succeeded is lost.
        let written = self.written.lock();
        *self.value.get_or_init(|| {
            written.unwrap_or_else(|| {
                let (value, mistake) = self.choose(environment);
                MISTAKES.lock().extend(mistake);
                value
            })
        })
    }

    /// The value of the first of the names that is set, and what is wrong with it.
    fn choose(&self, environment: impl Fn(&str) -> Option<String>) -> (T, Option<String>) {
        for name in std::iter::once(self.name().as_str()).chain(self.aliases.iter().copied()) {
            let Some(text) = environment(name) else {
                continue;
            };
            if let Some(value) = T::parse(text.trim()) {
                return (value, None);
            }
            let allowed = T::ALLOWED;
            let mistake = format!(
                "{name} is \"{text}\"; allowed is {allowed}. Taken is {}.",
                self.default
            );
            return (self.default, Some(mistake));
        }
        (self.default, None)
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var_os(name).map(|text| text.to_string_lossy().into_owned())
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
    fn kind(&self) -> Kind;
    fn is_same_on_all(&self) -> bool;
    /// The text, and whether the value must be the same on all ranks.
    fn full_text(&self) -> String {
        let text = self.text();
        match self.is_same_on_all() {
            true => format!("{text} The same on all ranks."),
            false => text.to_owned(),
        }
    }
    /// The value as tools have it; if it has not been read yet, what would be read now.
    fn bits(&self) -> u64;
    /// A value of this variable, given as tools have it, in words.
    fn shown(&self, bits: u64) -> String;
    /// Whether the value never changes any more: it has been read.
    fn is_fixed(&self) -> bool;
    /// Sets the value.
    ///
    /// Errors: MPI_T_ERR_CVAR_SET_NEVER when it [is fixed](Listed::is_fixed), which is so from MPI_Init on at the latest; MPI_T_ERR_INVALID
    /// for one that is not allowed.
    fn set_bits(&self, bits: u64) -> Result<()>;
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

    fn kind(&self) -> Kind {
        T::KIND
    }

    fn is_same_on_all(&self) -> bool {
        self.same_on_all
    }

    fn bits(&self) -> u64 {
        let value = self.value.get().copied();
        let value = value.or_else(|| *self.written.lock());
        value.unwrap_or_else(|| self.choose(environment).0).bits()
    }

    fn shown(&self, bits: u64) -> String {
        T::of_bits(bits).map_or_else(|| "unknown".to_owned(), |value| value.to_string())
    }

    fn is_fixed(&self) -> bool {
        self.value.get().is_some()
    }

    fn set_bits(&self, bits: u64) -> Result<()> {
        let mut written = self.written.lock();
        if self.is_fixed() {
            return fail!(
                Class::TCvarSetNever,
                "{} is {}, and cannot be changed any more",
                self.name(),
                self.shown(self.value.get().unwrap_or(&self.default).bits())
            );
        }
        let Some(value) = T::of_bits(bits) else {
            return fail!(
                Class::TInvalid,
                "the value for {} is not {}",
                self.name(),
                T::ALLOWED
            );
        };
        *written = Some(value);
        Ok(())
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
            variable.full_text(),
            variable.allowed(),
            variable.default(),
        ));
    }
    list
}

impl Value for bool {
    const ALLOWED: &'static str = "yes or no (1 or 0, true or false, on or off)";
    const KIND: Kind = Kind::Word(&["no", "yes"]);

    fn bits(self) -> u64 {
        self.into()
    }

    fn of_bits(bits: u64) -> Option<bool> {
        (bits < 2).then_some(bits == 1)
    }

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
    const KIND: Kind = Kind::Number;

    fn bits(self) -> u64 {
        self
    }

    fn of_bits(bits: u64) -> Option<u64> {
        Some(bits)
    }

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
    const KIND: Kind = Kind::Real;

    fn bits(self) -> u64 {
        self.to_bits()
    }

    fn of_bits(bits: u64) -> Option<f64> {
        let number = f64::from_bits(bits);
        (number.is_finite() && number >= 0.0).then_some(number)
    }

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

            const KIND: $crate::variables::Kind =
                $crate::variables::Kind::Word(&[$first_word $(, $word)*]);

            fn bits(self) -> u64 {
                self as u64
            }

            fn of_bits(bits: u64) -> Option<Self> {
                const ALL: &[$name] = &[$name::$first $(, $name::$variant)*];
                ALL.get(bits as usize).copied()
            }

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
    fn tools_set_what_has_not_been_read() {
        let colour = Variable::new("TEST_COLOUR", Colour::Red, "The colour.");
        assert_eq!(colour.kind(), Kind::Word(&["red", "green"]));
        assert_eq!(Listed::bits(&colour), 0);
        assert_eq!(colour.set_bits(7).unwrap_err().class(), Class::TInvalid);
        assert!(colour.set_bits(1).is_ok());
        assert!(colour.set_bits(0).is_ok());
        assert_eq!(Listed::bits(&colour), 0);
        assert!(colour.set_bits(1).is_ok() && !colour.is_fixed());
        assert_eq!((colour.get(), Listed::bits(&colour)), (Colour::Green, 1));
        let late = colour.set_bits(0).unwrap_err();
        assert_eq!(late.class(), Class::TCvarSetNever);
        assert!(colour.is_fixed());
        for number in [0.0, 2.5] {
            assert_eq!(f64::of_bits(number.bits()), Some(number));
        }
        assert_eq!(f64::of_bits((-1.0_f64).to_bits()), None);
        assert_eq!(bool::of_bits(2), None);
    }

    #[test]
    fn the_own_name_goes_before_the_aliases() {
        let variable = Variable::new("LIMIT", 7_u64, "Bytes.").with_aliases(&["THEIRS", "OTHERS"]);
        let choose = |set: &[(&str, &str)]| {
            let chosen = variable.choose(|name| {
                let found = set.iter().find(|(set, _)| *set == name);
                found.map(|(_, value)| (*value).to_owned())
            });
            chosen.0
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
        let mistake = "OXMPI_COLOUR is \"blue\"; allowed is red, green or verde. Taken is red.";
        assert_eq!(
            variable.choose(blue),
            (Colour::Red, Some(mistake.to_owned()))
        );
    }

    #[test]
    fn the_list_says_all() {
        static UNSET: Variable<u64> = Variable::new("TEST_UNSET", 3, "Nothing.");
        let list = describe(&[&UNSET]);
        assert!(list.starts_with("OXMPI_TEST_UNSET=3\n"), "{list}");
        assert!(list.contains("Nothing.") && list.contains("default: 3"));
    }
}
